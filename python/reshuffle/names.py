"""Names that users type: of metrics, also as reports print them, and lists of names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

# Options that Python adds to metrics with a tokenizer.
WITH_TOKENIZE = ("tokenizer_model", "trg_lang")
# Metrics that are counted in Python: the names in :data:`reshuffle.metrics.in_python.IN_PYTHON`.
IN_PYTHON = ("exact", "f1", "accuracy", "micro-f1", "macro-f1", "mcc", "kappa", "span-f1")


@cache
def _keys() -> Mapping[str, str]:
    """The name in the registry by each name in lower case: that one, and the name in reports without options."""
    from . import _core  # the help of commands does not need it

    keys = [metric.name for metric in _core.metrics()]
    of_core = {_core.Metric(key, {}).name.casefold(): key for key in keys}
    return of_core | {key.casefold(): key for key in (*keys, *IN_PYTHON)}


def names_in(value: str) -> list[str]:
    """The names in a list whose names are separated by commas or spaces; the value itself if it has none.

    >>> names_in("exact,stem"), names_in("exact stem"), names_in("")
    (['exact', 'stem'], ['exact', 'stem'], [''])
    """
    return value.replace(",", " ").split() or [value]


def metric_key(name: str) -> str:
    """The name of a metric in the registry, from that name or the one that reports print, in any case.

    A name that no metric has is returned as it is.

    >>> metric_key("BLEU"), metric_key("chrF2++"), metric_key("chrf"), metric_key("COMET")
    ('bleu', 'chrf++', 'chrf', 'COMET')
    """
    return _keys().get(str(name).casefold(), name)


def printed_name(key: str) -> str:
    """What reports call a metric of the registry without options; other names are returned as they are.

    >>> printed_name("asr-wer"), printed_name("wer"), printed_name("COMET")
    ('WER', 'WER', 'COMET')
    """
    from . import _core

    return _core.Metric(key, {}).name if any(metric.name == key for metric in _core.metrics()) else key


def is_metric(name: str) -> bool:
    """Whether a metric of the registry has this name."""
    return name.casefold() in _keys()


def higher_is_better(name: str) -> bool:
    """Whether higher scores of a metric of the registry are better.

    >>> higher_is_better("BLEU"), higher_is_better("ter"), higher_is_better("accuracy")
    (True, False, True)
    """
    from . import _core

    key = metric_key(name)
    return key in IN_PYTHON or _core.Metric(key, {}).higher_is_better


def has_formula(name: str) -> bool:
    """Whether a metric with this name has a formula of sums that does not depend on the texts."""
    return is_metric(name) and metric_key(name) not in IN_PYTHON


def with_option(option: str, metrics: Sequence[object] = ()) -> str | None:
    """The first of these metrics, or else of all, that has an option; None if there is none.

    >>> with_option("tokenize", ["chrF2", "TER"]), with_option("beta"), with_option("bset")
    ('bleu', 'chrf', None)
    """
    from . import _core

    takers = [
        spec.name
        for spec in _core.metrics()
        for names in [[each.name for each in spec.options]]
        if option in names or (option in WITH_TOKENIZE and "tokenize" in names)
    ]
    keys = [metric_key(each) for each in metrics if isinstance(each, str)]
    return next((key for key in keys if key in takers), next(iter(takers), None))


def metric_option_error(function: str, options: Mapping[str, Any], known: Sequence[str]) -> str | None:
    """The error for an option of a metric that was passed to a function that takes metrics; None if there is none."""
    chosen = options.get("metrics", options.get("metric", ()))
    metrics = [chosen] if isinstance(chosen, str) else chosen if isinstance(chosen, Sequence) else ()
    for name, value in options.items():
        metric = None if name in known else with_option(name, metrics)
        if metric is not None:
            written = name.replace("_", "-") if value is True else f"{name.replace('_', '-')}={value}"
            return (
                f"{function}() got an unexpected keyword argument {name!r}, which is an option of metrics: write "
                f"metrics=reshuffle.metric({metric!r}, {name}={value!r}), on the command line -m {metric}:{written}"
            )
    return None
