"""Shared by the modules for ``evaluate``: their inputs, and the standard error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import evaluate
from datasets import Features, Value
from datasets import Sequence as Several

from reshuffle import InputError, NativeMetric, metric

from ..harness import Counted

References = Sequence[str] | Sequence[Sequence[str]]


def info(description: str, url: str) -> Any:
    """The MetricInfo of a module: a prediction is a text, its references are a text or several."""
    text = Value("string", id="sequence")
    return evaluate.MetricInfo(
        description=description,
        citation="",
        inputs_description="predictions: texts. references: for each prediction a text, or a list of texts.",
        features=[
            Features({"predictions": text, "references": Several(text, id="references")}),
            Features({"predictions": text, "references": text}),
        ],
        reference_urls=[url],
    )


def by_segment(references: References) -> list[list[str]]:
    """The references of each segment. Raises :class:`InputError` if there are none."""
    if len(references) == 0:
        raise InputError("there are no predictions, so there is nothing to score")
    return [[item] if isinstance(item, str) else list(item) for item in references]


def columns(references: References) -> list[list[str]]:
    """Columns with one reference for each segment, as sacreBLEU and reshuffle take them."""
    items = by_segment(references)
    numbers = sorted(set(map(len, items)))
    if len(numbers) != 1 or numbers[0] == 0:
        raise InputError(f"predictions need the same number of references, got {numbers[0]} to {numbers[-1]}")
    return [list(column) for column in zip(*items, strict=True)]


def scored(
    key: str,
    options: Mapping[str, Any],
    texts: tuple[Sequence[str], References],
    names: Sequence[str],
    n_resamples: int,
    **only_theirs: Any,
) -> dict[str, Any]:
    """The attributes of these names of sacreBLEU's score, and the standard error if draws are asked for.

    ``options`` are those of sacreBLEU and reshuffle, and ``only_theirs`` those of sacreBLEU alone.
    """
    from reshuffle.compat.sacrebleu import METRICS

    predictions, references = texts[0], columns(texts[1])
    score = METRICS[key.upper()](**options, **only_theirs).corpus_score(predictions, references)
    native = metric(key, **{name: value for name, value in options.items() if value is not None})
    return {**{name: getattr(score, name) for name in names}, **error(native, predictions, references, n_resamples)}


def error(metric: NativeMetric, predictions: Sequence[str], references: list[list[str]], n_resamples: int) -> Any:
    """``standard_error`` as an entry of the result, if draws are asked for."""
    if n_resamples == 0:
        return {}
    (counts,) = metric.suff_stats(references, [list(predictions)])
    return {"standard_error": Counted(metric, counts).bootstrap_error(n_resamples)}
