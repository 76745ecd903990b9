"""The optimizers as functions from a problem, the values of all options and seeds to weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, listed
from .choosing import LinearModel, Model
from .l1 import closest, fit_l1, l1_variants
from .mert import mert
from .online import Learned, kbmira, pro, xbleu
from .problem import Problem


@dataclass(frozen=True, eq=False)
class Fitted:
    """What an optimizer found.

    Attributes
    ----------
    models : list of Model
        One for each seed.
    trace : mapping of str to list of numbers for each model
        What is known of the course of the optimization, by its name. Lists are in the order of steps.
    """

    models: Sequence[Model]
    trace: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)


def _linear(problem: Problem, weights: NDArray[np.float64]) -> list[LinearModel]:
    """Models from rows of weights, without sparse features whose weight is 0."""
    names, dense = problem.names, len(problem.lists.names)
    return [
        LinearModel({name: float(w) for i, (name, w) in enumerate(zip(names, row, strict=True)) if w or i < dense})
        for row in weights
    ]


def _fitted(problem: Problem, learned: Learned, *names: str) -> Fitted:
    """Models, and the trace under one name, or a name for each number."""
    if len(names) == 1:
        return Fitted(_linear(problem, learned.weights), {names[0]: learned.trace.tolist()})
    columns = {name: learned.trace[:, i : i + 1].tolist() for i, name in enumerate(names)}
    return Fitted(_linear(problem, learned.weights), columns)


def _fit_mert(problem: Problem, options: Mapping[str, Any], seeds: Sequence[int]) -> Fitted:
    learned = mert(
        problem.lists, problem.counts, metric=problem.metric, initial=problem.start(), low=problem.low,
        high=problem.high, seeds=seeds, threads=problem.threads, progress=problem.progress, **options,
    )  # fmt: skip
    return _fitted(problem, learned, "score of start")


def _fit_kbmira(problem: Problem, options: Mapping[str, Any], seeds: Sequence[int]) -> Fitted:
    # Without a metric of sentences, BLEU of the corpus so far is what an entry gains.
    own = problem.metric.key == "bleu" and not problem.asked
    gains = None if own else problem.scores * np.repeat(problem.lengths, np.diff(problem.lists.offsets))
    learned = kbmira(
        problem.lists, problem.counts, metric=problem.metric, gains=gains, initial=problem.start(), seeds=seeds,
        threads=problem.threads, progress=problem.progress, **options,
    )  # fmt: skip
    return _fitted(problem, learned, "score after epoch")


def _fit_pro(problem: Problem, options: Mapping[str, Any], seeds: Sequence[int]) -> Fitted:
    later = problem.previous is not None
    own = {name: value for name, value in options.items() if name != "entry_scores"}
    own["interpolation"] = options["interpolation"] if later else 1.0
    scores = problem.bleu_plus_one if options["entry_scores"] == "moses" else problem.scores
    learned = pro(
        problem.lists, scores, seeds=seeds, previous=problem.start() if later else None, threads=problem.threads,
        progress=problem.progress, **own,
    )  # fmt: skip
    return _fitted(problem, learned, "pairs", "loss", "gradient", "steps")


def _fit_xbleu(problem: Problem, options: Mapping[str, Any], seeds: Sequence[int]) -> Fitted:
    learned = xbleu(
        problem.lists, problem.scores, problem.lengths, initial=problem.start(), seeds=seeds, threads=problem.threads,
        progress=problem.progress, **options,
    )  # fmt: skip
    if len(learned.weights) < len(seeds):  # without random numbers, all runs are the same
        learned = Learned(*(np.repeat(rows, len(seeds), axis=0) for rows in (learned.weights, learned.trace)))
    return _fitted(problem, learned, "objective after epoch")


def _variants(options: Mapping[str, Any], n: int) -> list[dict[str, Any]]:
    """The options of n rerankers that are taken to be equally good; those given if there is only one."""
    if n == 1:
        return [dict(options)]
    if not any(template.startswith("ngram:") for template in options["templates"]):
        raise InputError(
            "nothing in l1 is random: its replications are variants with redundant features, which need a template "
            f"that counts n-grams, such as ngram:2; got {listed(options['templates']) or 'no templates'}"
        )
    found = l1_variants(n, templates=options["templates"], per_step=options["per_step"])
    return [{**options, "templates": list(each.templates), "per_step": each.per_step} for each in found]


def _fit_l1(problem: Problem, options: Mapping[str, Any], seeds: Sequence[int]) -> Fitted:
    targets = closest(problem.lists, problem.scores)
    found = fit_l1(
        problem.lists, targets, sources=problem.sources, threads=problem.threads, progress=problem.progress, **options,
    )  # fmt: skip
    trace: dict[str, list[list[float]]] = {
        "selected": [[step.selected for step in found.steps]],
        "not zero": [[step.nonzero for step in found.steps]],
        "objective after step": [[step.objective for step in found.steps]],
    }
    return Fitted([found], trace)


Fit: TypeAlias = Callable[[Problem, Mapping[str, Any], Sequence[int]], Fitted]

FITS: Mapping[str, Fit] = {
    "mert": _fit_mert,
    "kbmira": _fit_kbmira,
    "pro": _fit_pro,
    "xbleu": _fit_xbleu,
    "l1": _fit_l1,
}


def _reads_mert(problem: Problem, options: Mapping[str, Any]) -> Sequence[str]:
    return ("counts",)


def _reads_kbmira(problem: Problem, options: Mapping[str, Any]) -> Sequence[str]:
    return ("counts",) if problem.metric.key == "bleu" and not problem.asked else ("counts", "scores", "lengths")


def _reads_pro(problem: Problem, options: Mapping[str, Any]) -> Sequence[str]:
    return ("bleu_plus_one",) if options["entry_scores"] == "moses" else ("scores",)


def _reads_xbleu(problem: Problem, options: Mapping[str, Any]) -> Sequence[str]:
    return "scores", "lengths"


# The attributes of a problem that an optimizer reads, besides features and weights. Those that read texts are missing.
READS: Mapping[str, Callable[[Problem, Mapping[str, Any]], Sequence[str]]] = {
    "mert": _reads_mert,
    "kbmira": _reads_kbmira,
    "pro": _reads_pro,
    "xbleu": _reads_xbleu,
}

# For optimizers without random numbers: from options and the number of runs to the options of each run.
VARIANTS: Mapping[str, Callable[[Mapping[str, Any], int], Sequence[Mapping[str, Any]]]] = {"l1": _variants}
