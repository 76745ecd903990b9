"""Every metric of sacreBLEU 2.6.0, through its API, on real systems: every count and every corpus score is equal.

The default run takes two systems of each set and some segments; the slow run takes every system, every segment and
every option.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU as SacreBLEU  # noqa: N811
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER as SacreTER  # noqa: N811

from reshuffle import metric, read_lines
from texts import Columns

Systems: TypeAlias = "dict[str, list[str]]"

WMT19 = ["ref.txt", *(f"ref-{kind}.txt" for kind in ("ar", "arp", "hqall", "hqp", "hqr", "wmtp"))]
TURK = "turkcorpus-simplification-8refs"
REFERENCES: Mapping[str, Sequence[str]] = {
    "wmt17-en-de": ["ref.txt"],
    "wmt19-en-de": WMT19,
    "wmt21-en-de": ["ref-A.txt", "ref-C.txt", "ref-D.txt"],
    "wmt14-en-de": ["ref.txt"],
    TURK: [f"test.8turkers.tok.turk.{i}" for i in range(8)],
    "compare-mt-ted-slk-en": ["ted.ref.detok.eng"],
}
EXTRA = "extra_refs/wmt14-en-de.extra_refs.txt"
# All eleven references where they exist, elsewhere one; and the 500 segments that have eleven.
SETS = [*REFERENCES, "wmt14-en-de of 1 or 11", "wmt14-en-de of 11"]


@dataclass(frozen=True)
class Real:
    """Real systems and their references; every segment has at least one reference."""

    systems: Systems
    references: Columns

    def some(self, n_systems: int, n_segments: int) -> Real:
        """The first and the last system, with segments spread over the set."""
        names = list(self.systems)
        step = max(1, len(self.references[0]) // n_segments)
        chosen = slice(0, step * n_segments, step)
        return Real(
            {name: self.systems[name][chosen] for name in (names[0], names[-1])[:n_systems]},
            [column[chosen] for column in self.references],
        )


@cache
def systems_of(data: Path, name: str) -> Systems:
    if name == "compare-mt-ted-slk-en":
        paths = [data / name / f"ted.{system}.detok.eng" for system in ("sys1", "sys2")]
    else:
        paths = sorted((data / name / "sys").iterdir())
    return {path.name: read_lines(str(path)) for path in paths}


def extra_references(data: Path, segments: int) -> Columns:
    """The ten extra references of wmt14-en-de: lines ``R1-17``, tab, text; 17 is a line of the test set, from 1."""
    columns: Columns = [[None] * segments for _ in range(10)]
    for line in read_lines(str(data / "wmt14-en-de" / EXTRA)):
        label, _, text = line.partition("\t")
        kind, _, number = label.partition("-")
        if kind.startswith("R"):
            columns[int(kind[1:]) - 1][int(number) - 1] = text
    return columns


@cache
def real(data: Path, name: str) -> Real:
    folder, _, choice = name.partition(" of ")
    systems = systems_of(data, folder)
    references: Columns = [list(read_lines(str(data / folder / file))) for file in REFERENCES[folder]]
    if choice:
        references += extra_references(data, len(references[0]))
    if choice == "11":
        kept = [i for i, line in enumerate(references[1]) if line is not None]
        systems = {system: [lines[i] for i in kept] for system, lines in systems.items()}
        references = [[column[i] for i in kept] for column in references]
    return Real(systems, references)


THEIRS: Mapping[str, Callable[..., Any]] = {
    "bleu": partial(SacreBLEU, force=True),
    "chrf": CHRF,
    "chrf++": partial(CHRF, word_order=2),
    "ter": SacreTER,
}


def assert_equal(name: str, texts: Real, **options: Any) -> None:
    """All counts and the score of each system are those of sacreBLEU."""
    ours, theirs = metric(name, **options), THEIRS[name](references=texts.references, **options)
    counts = ours.suff_stats(texts.references, list(texts.systems.values()))
    scores = ours.score(counts.sum(axis=1))
    numbers = [sum(line is not None for line in segment) for segment in zip(*texts.references, strict=True)]
    for hypotheses, rows, score in zip(texts.systems.values(), counts, scores, strict=True):
        found = theirs._extract_corpus_statistics(hypotheses, None)
        expected = np.array(found)
        if name == "ter":  # mean lengths are integers in steps of one by the number of references, up to rounding
            expected = expected * np.lcm.reduce(numbers)
            np.testing.assert_allclose(expected, np.rint(expected), rtol=1e-12, atol=1e-9)
            expected = np.rint(expected)
        np.testing.assert_array_equal(expected, rows)
        assert theirs._aggregate_and_compute(found).score == pytest.approx(score, rel=1e-12, abs=1e-12)


# Every option of each metric, with every value or some values of numeric options.
CHRF_OPTIONS: list[dict[str, Any]] = [
    {"char_order": 3},
    {"beta": 1},
    {"beta": 3},
    {"lowercase": True},
    {"whitespace": True},
    {"eps_smoothing": True},
]
OPTIONS: Mapping[str, list[dict[str, Any]]] = {
    "bleu": [
        {"lowercase": True},
        *({"tokenize": name} for name in ("intl", "zh", "char", "none")),
        *({"smooth_method": name} for name in ("none", "floor", "add-k")),
        {"smooth_method": "floor", "smooth_value": 0.5},
        {"smooth_method": "add-k", "smooth_value": 2},
        {"max_ngram_order": 2},
        {"max_ngram_order": 6},
        {"effective_order": True},
    ],
    "chrf": [*CHRF_OPTIONS, {"word_order": 1}, {"word_order": 3}],
    "chrf++": CHRF_OPTIONS,
    "ter": [
        {"normalized": True},
        {"no_punct": True},
        {"case_sensitive": True},
        {"normalized": True, "no_punct": True, "asian_support": True},
    ],
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("metric_name", THEIRS)
def test_two_systems_of_every_set_equal_sacrebleu(data: Path, metric_name: str, name: str) -> None:
    texts = real(data, name)
    # Fewer segments for metrics that take sacreBLEU longer.
    segments = {"bleu": 100, "chrf": 25, "chrf++": 25, "ter": 15}[metric_name] // min(len(texts.references), 5)
    assert_equal(metric_name, texts.some(2, segments))


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("metric_name", THEIRS)
def test_every_system_of_every_set_equals_sacrebleu_and_two_by_ter(data: Path, metric_name: str, name: str) -> None:
    texts = real(data, name)
    few = texts.some(2, 1000 // min(len(texts.references), 2))
    assert_equal(metric_name, few if metric_name == "ter" else texts)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(
    ("metric_name", "options"),
    [(metric_name, options) for metric_name in OPTIONS for options in OPTIONS[metric_name]],
    ids=lambda value: str(value),
)
def test_every_option_equals_sacrebleu_on_every_set(
    data: Path, metric_name: str, options: dict[str, Any], name: str
) -> None:
    texts = real(data, name)
    segments = {"bleu": 3000, "chrf": 500, "chrf++": 500, "ter": 100}[metric_name] // min(len(texts.references), 5)
    assert_equal(metric_name, texts.some(2, segments), **options)
