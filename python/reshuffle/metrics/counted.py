"""Metrics of :mod:`.in_python`: a :class:`TextMetric` before, and :class:`CountedTexts` after its texts are known.

How many counts a segment has can depend on the texts: three for each label, for example.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _core, signature
from ..data.corpus import Corpus, DocumentIds
from ..errors import InputError, Option
from ..validate import check_name, check_text
from .base import Counts, InCore, Rebuilt, Scores
from .given import CountsOfFormula
from .in_python import IN_PYTHON
from .in_python.base import Spec, Texts, variable
from .native import Named


@dataclass(frozen=True, repr=False)
class TextMetric(Named):
    """A metric that is counted in Python. Create it with :func:`reshuffle.metric`."""

    key: str
    options: Mapping[str, Any]

    waits_for_texts = True

    def __post_init__(self) -> None:
        check_name("metric", self.key, list(IN_PYTHON))
        vars(self).update(options=_checked(self.spec, self.options), name=self.spec.shown)

    __hash__ = Named.__hash__

    @property
    def spec(self) -> Spec:
        """Its description."""
        return IN_PYTHON[self.key]

    @property
    def source(self) -> str | None:
        return self.spec.source or None

    @property
    def reads_parses(self) -> bool:
        return self.spec.reads_parses

    @property
    def uses_documents(self) -> bool:
        """Whether the counts depend on the documents."""
        return self.spec.uses_documents

    def of_texts(self, corpus: Corpus, documents: DocumentIds | None = None) -> CountedTexts:
        """The metric with the counts of these texts. ``documents`` has the id of each segment's document."""
        texts = Texts(self.name, corpus.references, corpus.systems, documents)
        found = self.spec.count(texts, _all_options(self.spec, self.options))
        formula = TextFormula(self.key, self.options, tuple(found.columns))
        return CountedTexts(formula, {name: formula.whole(rows) for name, rows in found.counts.items()})

    def score(self, totals: ArrayLike) -> Scores:
        """Not known before the texts are."""
        raise InputError(f"{self.name} scores texts only: what it counts depends on them")

    def signature(self, n_references: str | None = None) -> str:
        options = self.spec.signature(_all_options(self.spec, self.options))
        return signature.for_metric(self.name, options, n_references)


@dataclass(frozen=True)
class TextFormula(InCore):
    """The formula of the sums of the counts that a :class:`TextMetric` found in texts.

    ``counted`` are the names of the counts; a mean has one, the score.
    """

    key: str
    options: Mapping[str, Any]
    counted: tuple[str, ...]
    core: _core.Metric = field(init=False, repr=False, compare=False)
    is_mean: bool = field(init=False, repr=False, compare=False)
    decimals: int | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        metric = TextMetric(self.key, self.options)
        spec = metric.spec
        if spec.formula is None:
            core = _core.Metric.mean(spec.shown, spec.steps, True)
        else:
            text = spec.formula(self.counted, _all_options(spec, metric.options))
            names = [(variable(i), 1.0) for i in range(len(self.counted))]
            core = _core.Metric.expression(spec.shown, text, names, True)
        # A mean with these decimals is off by at most 1 in the last one: half from the steps, half from its rounding.
        decimals = round(np.log10(spec.steps)) if spec.steps > 1 else None
        vars(self).update(name=metric.name, core=core, is_mean=spec.formula is None, decimals=decimals)

    @classmethod
    def of_columns(cls, key: str, options: Mapping[str, Any], columns: Sequence[str]) -> TextFormula:
        """The formula with these :attr:`columns`."""
        is_mean = IN_PYTHON[key].formula is None
        return cls(key, options, tuple(columns[:-1] if is_mean else columns))

    @property
    def columns(self) -> list[str]:
        """Names of the K counts of a segment."""
        return [*self.counted, *(["segments"] if self.is_mean else [])]

    def whole(self, rows: np.ndarray[Any, Any]) -> Counts:
        """The counts of segments as integers; those of a mean are made from the scores."""
        if not self.is_mean:
            return rows.astype(np.int64, copy=False)
        scores = np.rint(rows * IN_PYTHON[self.key].steps).astype(np.int64)
        return np.stack([scores, np.ones_like(scores)], axis=1)

    def details(self, totals: Counts) -> Mapping[str, float]:
        return IN_PYTHON[self.key].details(self.columns, totals.tolist())

    def signature(self, n_references: str | None = None) -> str:
        return TextMetric(self.key, self.options).signature(n_references)


@dataclass(frozen=True, eq=False)
class CountedTexts(Rebuilt, CountsOfFormula):
    """A :class:`TextMetric` with the counts of texts."""

    formula: TextFormula
    counts: Mapping[str, Counts] = field(repr=False)

    def __post_init__(self) -> None:
        self._take_over(self.formula, "name", "core", "is_mean", "decimals")

    @property
    def key(self) -> str:
        """The name of the metric, as for :func:`reshuffle.metric`."""
        return self.formula.key

    @property
    def uses_documents(self) -> bool:
        return IN_PYTHON[self.key].uses_documents

    @property
    def columns(self) -> list[str]:
        """Names of the K counts of a segment."""
        return self.formula.columns

    def reported_segment_scores(self, names: Sequence[str], counts: Counts) -> Scores:
        return self.formula.reported_segment_scores(names, counts)

    def signature(self, n_references: str | None = None) -> str:
        return self.formula.signature(n_references)


def _all_options(spec: Spec, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with their defaults."""
    return {option.name: option.default for option in spec.options} | dict(options)


def _checked(spec: Spec, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options; :class:`InputError` for one that the metric does not have, or for a bad value."""
    known = {option.name: option for option in spec.options}
    for name, value in options.items():
        check_name(f"{spec.name} option", name, list(known))
        if known[name].choices:
            check_name(Option(name), value, known[name].choices)
        elif value is not None:
            check_text(name, value)
    return dict(options)
