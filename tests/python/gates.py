"""Gates on the demo and on invented scores."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reshuffle import Gate, SegmentScores, gate
from reshuffle.cli.main import run
from reshuffle.data.demo import demo_corpus

CORPUS = demo_corpus()
DEMO = {name: list(CORPUS.systems[name]) for name in ("baseline", "tuned", "rules")}


def of_demo(base: str, new: str, *metrics: str, **options: Any) -> Gate:
    return gate(CORPUS.references, {base: DEMO[base], new: DEMO[new]}, list(metrics), n_resamples=999, **options)


def scores(new: NDArray[np.float64] | list[float], base: Any = 0.0, name: str = "points") -> SegmentScores:
    """Scores of a baseline and a new system."""
    return SegmentScores(name, {"base": np.zeros(len(new)) + base, "new": np.asarray(new)})


def noisy(n: int, mean: float, name: str = "points", seed: int = 1) -> SegmentScores:
    """Scores whose differences have a standard deviation of 1."""
    values = np.random.default_rng(seed).normal(size=n)
    return scores((values - values.mean() + mean).round(2), name=name)


def by_system(metric: SegmentScores) -> dict[str, Any]:
    given: Any = metric.scores
    return dict(given)


def labelled(difference: float, n: int = 80, seed: int = 0) -> list[SegmentScores]:
    """Labels of n of 400 segments, whose differences have this mean and a standard deviation of 1, and a judge."""
    rng = np.random.default_rng(seed)
    base, apart = rng.normal(size=(2, 400))
    both = np.array([base, base + apart - apart.mean() + difference])
    people = np.where(rng.permutation(400) < n, both, np.nan)
    judge = both + rng.normal(0, 0.5, both.shape)
    return [
        SegmentScores("people", dict(zip(("base", "new"), people, strict=True)), missing="pairwise"),
        SegmentScores("judge", dict(zip(("base", "new"), judge, strict=True))),
    ]


def command(line: str) -> int:
    return run(["gate", *line.split(), "-n", "999"])
