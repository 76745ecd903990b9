"""Cases with labels and spans: loops over draws around scikit-learn and seqeval, as people write them."""

from __future__ import annotations

import csv
import importlib.util
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from benches.data import FOLDER, MissingDataError, Texts
from reshuffle import score

from ..agreement import same_scores
from ..race import Contender, Race, Skipped, call
from ..rivals import name

__all__ = ["labels"]

# Labels of words by four taggers, and chunks made from them, beside the numbers of scikit-learn and seqeval.
TAGS = FOLDER.parent / "golden/counts/labels"
SYSTEM = "Stanford-18"
DRAWS, OUR_DRAWS, SEED = 100, 10_000, 12345
# The ends of an interval from 100 draws are known to about this part of its width.
TOLERANCE = 0.35
Sentences = list[list[str]]


def labels(_: Texts) -> list[Race]:
    """Shows the interval of macro-F1 of 6,041 labels, and of the F1 of their chunks, from draws of 300 sentences:
    loops that score each draw by scikit-learn and by seqeval, beside a call that also counts. Scores must be equal, and
    the ends of intervals about equal. Per draw."""
    gold, output = _columns("labels.tsv")
    spans = _columns("bio.tsv")
    ids = [str(i) for i, sentence in enumerate(gold) for _ in sentence]
    flat = [[tag for sentence in column for tag in sentence] for column in (gold, output)]
    lines = [[" ".join(sentence) for sentence in column] for column in spans]
    return [
        _race(
            "macro-F1",
            "scikit-learn",
            _sklearn(gold, output),
            lambda threads: _ours("macro-f1", flat[0], flat[1], ids, threads),
        ),
        _race(
            "span F1", "seqeval", _seqeval(*spans), lambda threads: _ours("span-f1", lines[0], lines[1], None, threads)
        ),
    ]


def _race(what: str, package: str, theirs: Callable[[list[int]], float], ours: Callable[[int | None], Any]) -> Race:
    module = {"scikit-learn": "sklearn"}.get(package, package)
    title = f"{what} of 300 sentences, interval, per draw"
    if importlib.util.find_spec(module) is None:
        return Race(title, [Skipped(package, "is not installed")], _same)
    contenders = [
        Contender(f"loop over {name(package)}", call(partial(_loop, theirs)), at_most=2, things=DRAWS),
        Contender("reshuffle", call(partial(ours, None)), target=300, things=OUR_DRAWS),
        Contender("reshuffle, one thread", call(partial(ours, 1)), things=OUR_DRAWS),
    ]
    return Race(title, contenders, _same)


def _loop(theirs: Callable[[list[int]], float]) -> tuple[float, float, float]:
    """The score and the ends of its percentile interval."""
    chance, every = np.random.default_rng(SEED), [*range(300)]
    draws = [theirs(chance.integers(0, 300, 300).tolist()) for _ in range(DRAWS)]
    low, high = np.quantile(draws, [0.025, 0.975])
    return theirs(every), float(low), float(high)


def _sklearn(gold: Sentences, output: Sentences) -> Callable[[list[int]], float]:
    from sklearn.metrics import f1_score

    expected, found = ([np.array(sentence) for sentence in column] for column in (gold, output))

    def scored(drawn: list[int]) -> float:
        columns = (np.concatenate([column[i] for i in drawn]) for column in (expected, found))
        return float(f1_score(*columns, average="macro"))

    return scored


def _seqeval(gold: Sentences, output: Sentences) -> Callable[[list[int]], float]:
    def scored(drawn: list[int]) -> float:
        from seqeval.metrics import f1_score

        return float(f1_score([gold[i] for i in drawn], [output[i] for i in drawn]))

    return scored


def _ours(
    metric: str, gold: list[str], output: list[str], documents: list[str] | None, threads: int | None
) -> tuple[float, float, float]:
    options: Mapping[str, Any] = {"interval": "percentile", "n_resamples": OUR_DRAWS, "workers": threads}
    found = score(gold, {SYSTEM: output}, metric, documents=documents, **options).scores[0]
    interval = found.confidence_interval
    assert interval is not None
    return found.score, interval.low, interval.high


def _same(expected: tuple[float, float, float], *others: tuple[float, float, float]) -> None:
    for actual in others:
        same_scores(expected[0], actual[0])
        width = expected[2] - expected[1]
        for theirs, ours in zip(expected[1:], actual[1:], strict=True):
            if abs(theirs - ours) > TOLERANCE * width:
                raise AssertionError(f"the ends of intervals differ: {expected} and {actual}")


def _columns(file: str) -> tuple[Sentences, Sentences]:
    """The gold tags and those of a system, by sentence."""
    path = TAGS / file
    if not path.is_file():
        raise MissingDataError(f"no {path}")
    text = path.read_text(encoding="utf-8")
    if file == "bio.tsv":
        blocks = [[row.split("\t") for row in block.split("\n")] for block in text.strip("\n").split("\n\n")]
        gold, output = ([[row[i] for row in block] for block in blocks] for i in (0, 1))
        return gold, output
    found: dict[str, tuple[list[str], list[str]]] = {}
    for row in csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
        own = found.setdefault(row["sentence"], ([], []))
        own[0].append(row["gold"])
        own[1].append(row[SYSTEM])
    return [own[0] for own in found.values()], [own[1] for own in found.values()]
