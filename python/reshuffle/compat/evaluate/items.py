"""Shared by the modules for ``evaluate``: their inputs, and what those with scores of sacreBLEU do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import evaluate
from datasets import Features, Value
from datasets import Sequence as Several

from reshuffle import InputError, metric

from ..harness import Counted

# Options that sacreBLEU and reshuffle call otherwise, and those that only sacreBLEU has.
THEIR_NAMES = {
    "use_effective_order": "effective_order",
    "ignore_punct": "no_punct",
    "support_zh_ja_chars": "asian_support",
}
ONLY_THEIRS = ("force",)

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


class OfSacrebleu(evaluate.Metric):  # type: ignore[misc] # evaluate's types are unknown
    """A module with scores of sacreBLEU, which reshuffle counts: each has its options, and attributes of the score."""

    key: ClassVar[str]
    name_of_score: ClassVar[str]
    options: ClassVar[Sequence[str]]
    """Those of ``compute``, as evaluate calls them."""
    results: ClassVar[Sequence[str]]

    def _info(self) -> Any:
        return info(f"{self.name_of_score}, counted by reshuffle", "https://github.com/mjpost/sacrebleu")

    def _compute(
        self, predictions: Sequence[str], references: References, n_resamples: int = 0, **options: Any
    ) -> dict[str, Any]:
        from reshuffle.compat.sacrebleu import METRICS

        for name in options:
            if name not in self.options:
                known = ", ".join([*self.options, "n_resamples"])
                raise TypeError(f"compute() got an unexpected keyword argument {name!r}; there are {known}")
        given = {THEIR_NAMES.get(name, name): value for name, value in options.items() if value is not None}
        columns_of = columns(references)
        score = METRICS[self.key.upper()](**given).corpus_score(predictions, columns_of)
        found = {name: getattr(score, name) for name in self.results}
        if n_resamples:
            native = metric(self.key, **{name: value for name, value in given.items() if name not in ONLY_THEIRS})
            (counts,) = native.suff_stats(columns_of, [list(predictions)])
            found["standard_error"] = Counted(native, counts).bootstrap_error(n_resamples)
        return found
