"""Metrics by name, and what functions take as metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from ..documented import listing
from ..errors import InputError, quoted
from ..names import IN_PYTHON, is_metric, metric_key, names_in
from ..types import CountedInPython, MetricName
from ..validate import check_name
from .base import Formula, Metric, MetricLike
from .native import NativeMetric
from .registry import metric_specs

if TYPE_CHECKING:
    from .black_box import CorpusFunction
    from .counted import TextMetric
    from .given import PrecomputedCounts

# What names choose, as after -m.
NamedMetric: TypeAlias = "NativeMetric | TextMetric"
# What is compared, when the texts are known, and what functions take.
AnyMetric: TypeAlias = "NativeMetric | PrecomputedCounts | CorpusFunction"
ChosenMetric: TypeAlias = "AnyMetric | TextMetric"
Metrics: TypeAlias = "MetricName | str | ChosenMetric | Sequence[MetricName | str | ChosenMetric]"


@overload
def metric(name: CountedInPython, **options: Any) -> TextMetric: ...
@overload
def metric(name: MetricName | str, **options: Any) -> NativeMetric: ...
@listing(MetricName)
def metric(name: MetricName | str, **options: Any) -> NativeMetric | TextMetric:
    """Create a metric from its name and options. ``reshuffle explain NAME`` explains them.

    Parameters
    ----------
    name : str
        {names}.
        In any case, also as reports have it: ``BLEU``, ``chrF2++``.
    **options
        Those of the metric (docs/metrics.md), such as ``lowercase=True``. ``sources`` are the source texts, one for
        each segment, for ``sari``; functions with an argument ``source`` take them from there.

    Raises
    ------
    InputError
        If the name, an option or its value is unknown. The message suggests the most similar known name.

    Notes
    -----
    Metrics of answers, labels and spans (``exact`` to ``span-f1``) are counted when their texts are known, so they have
    no ``suff_stats`` and no formula of their own.

    Examples
    --------
    >>> metric("bleu", lowercase=True, tokenize="none").signature()
    'BLEU|case:lc|eff:no|tok:none|smooth:exp'
    >>> metric("bleu", trg_lang="zh").signature()
    'BLEU|case:mixed|eff:no|tok:zh|smooth:exp'
    """
    key = metric_key(name)
    known = [*(spec.name for spec in metric_specs()), *IN_PYTHON]
    _check_without_options(name, known)
    if isinstance(name, str) and len(several := names_in(name)) > 1 and all(map(is_metric, several)):
        raise InputError(f"{quoted(name)}: several metrics are a list, {several}")
    if isinstance(name, str) and len(name.split()) > 3:  # the outputs of a second system
        raise InputError(f"{quoted(name)} is no metric; all systems are one argument: {{'a': outputs, 'b': outputs}}")
    check_name("metric", key, known)
    if key not in IN_PYTHON:
        sources = options.pop("sources", None)
        return NativeMetric(key, options, sources)
    from .counted import TextMetric  # most programs use metrics of the core only

    return TextMetric(key, options)


def _check_without_options(name: str, known: Sequence[str]) -> None:
    """Raise :class:`InputError` if a metric has options after its name, as on the command line.

    >>> _check_without_options("ter:normalized,no-punct", ["ter"])
    Traceback (most recent call last):
    reshuffle.errors.InputError: 'ter:normalized,no-punct': options are arguments, as in metric("ter", normalized=True)
    """
    written, _, options = str(name).partition(":")
    if not options or metric_key(written) not in known:
        return
    option, equals, value = options.partition(",")[0].partition("=")
    is_number = value.replace(".", "", 1).isdigit()
    shown = (value if is_number else f'"{value}"') if equals else "True"
    example = f'metric("{metric_key(written)}", {option.replace("-", "_")}={shown})'
    raise InputError(f"{quoted(name)}: options are arguments, as in {example}")


def resolve(like: MetricLike) -> Metric:
    """The metric for a name, a function of summed counts, or a metric."""
    if isinstance(like, Metric):
        return like
    if isinstance(like, str):
        return metric(like)
    if callable(like):
        return Formula(getattr(like, "__name__", "score"), like)
    hint = ": if these are the counts of a second system, write b= before them" if hasattr(like, "__len__") else ""
    raise InputError(f"a metric is a name, a Metric or a function of summed counts, got {quoted(like)}{hint}")
