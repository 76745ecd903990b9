"""The optimizers as functions from a problem, their options and seeds to weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from ..errors import InputError, listed
from ..options.declare import call, taken
from ..options.tuning import L1, FitKbmira, FitL1, FitMert, FitPro, FitXbleu, Kbmira, Mert, Pro, Xbleu
from .choosing import LinearModel, Model
from .l1 import closest, fit_l1, l1_variants
from .linear import Learned, kbmira, mert, pro, xbleu
from .problem import Problem


@dataclass(frozen=True, eq=False)
class Fitted:
    """What an optimizer found."""

    models: Sequence[Model]
    """One for each seed."""
    trace: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)
    """What is known of the course of the optimization, by its name. Lists are in the order of steps."""


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


def _fit_mert(problem: Problem, options: Mert, seeds: Sequence[int]) -> Fitted:
    own = taken(
        FitMert, options, lists=problem.lists, counts=problem.counts, metric=problem.metric, initial=problem.start(),
        low=problem.low, high=problem.high, seeds=seeds, **_watched(problem),
    )  # fmt: skip
    return _fitted(problem, call(mert, own), "score of start")


def _watched(problem: Problem) -> dict[str, Any]:
    return {"workers": problem.threads or None, "progress": problem.progress}


def _fit_kbmira(problem: Problem, options: Kbmira, seeds: Sequence[int]) -> Fitted:
    gains = None if problem.gains_bleu else problem.scores * np.repeat(problem.lengths, np.diff(problem.lists.offsets))
    own = taken(
        FitKbmira, options, lists=problem.lists, counts=problem.counts, metric=problem.metric, gains=gains,
        initial=problem.start(), seeds=seeds, **_watched(problem),
    )  # fmt: skip
    return _fitted(problem, call(kbmira, own), "score after epoch")


def _fit_pro(problem: Problem, options: Pro, seeds: Sequence[int]) -> Fitted:
    later = problem.previous is not None
    own = taken(
        FitPro, options, lists=problem.lists,
        scores=problem.bleu_plus_one if options.entry_scores == "moses" else problem.scores,
        interpolation=options.interpolation if later else 1.0, previous=problem.start() if later else None, seeds=seeds,
        **_watched(problem),
    )  # fmt: skip
    return _fitted(problem, call(pro, own), "pairs", "loss", "gradient", "steps")


def _fit_xbleu(problem: Problem, options: Xbleu, seeds: Sequence[int]) -> Fitted:
    own = taken(
        FitXbleu, options, lists=problem.lists, scores=problem.scores, lengths=problem.lengths, initial=problem.start(),
        seeds=seeds, **_watched(problem),
    )  # fmt: skip
    learned = call(xbleu, own)
    if len(learned.weights) < len(seeds):  # without random numbers, all runs are the same
        learned = Learned(*(np.repeat(rows, len(seeds), axis=0) for rows in (learned.weights, learned.trace)))
    return _fitted(problem, learned, "objective after epoch")


def _variants(options: L1, n: int) -> list[L1]:
    """The options of n rerankers that are taken to be equally good; those given if there is only one."""
    if n == 1:
        return [options]
    if not any(template.startswith("ngram:") for template in options.templates):
        raise InputError(
            "nothing in l1 is random: its replications are variants with redundant features, which need a template "
            f"that counts n-grams, such as ngram:2; got {listed(options.templates) or 'no templates'}"
        )
    found = l1_variants(n, templates=options.templates, per_step=options.per_step)
    return [evolve(options, templates=each.templates, per_step=each.per_step) for each in found]


def _fit_l1(problem: Problem, options: L1, seeds: Sequence[int]) -> Fitted:
    given = {"lists": problem.lists, "targets": closest(problem.lists, problem.scores), "sources": problem.sources}
    every = [taken(FitL1, each, **given, **_watched(problem)) for each in _variants(options, len(seeds))]
    found = [call(fit_l1, own) for own in every]
    trace: dict[str, list[list[float]]] = {
        "selected": [[step.selected for step in each.steps] for each in found],
        "not zero": [[step.nonzero for step in each.steps] for each in found],
        "objective after step": [[step.objective for step in each.steps] for each in found],
    }
    return Fitted(found, trace)


# The options are those of the optimizer.
Fit: TypeAlias = Callable[[Problem, Any, Sequence[int]], Fitted]


@dataclass(frozen=True)
class Fitter:
    """How an optimizer is run."""

    fit: Fit
    reads: Callable[[Problem, Any], Sequence[str]] | None
    """The attributes of the problem that it reads, besides features and weights. None if it reads texts."""
    variants: Callable[[Any, int], Sequence[Any]] | None = None
    """Without random numbers: from options and the number of runs to the options of each run."""


FITTERS: Mapping[str, Fitter] = {
    "mert": Fitter(_fit_mert, lambda problem, options: ("counts",)),
    "kbmira": Fitter(
        _fit_kbmira, lambda problem, options: ("counts", *(() if problem.gains_bleu else ("scores", "lengths")))
    ),
    "pro": Fitter(
        _fit_pro, lambda problem, options: ("bleu_plus_one",) if options.entry_scores == "moses" else ("scores",)
    ),
    "xbleu": Fitter(_fit_xbleu, lambda problem, options: ("scores", "lengths")),
    "l1": Fitter(_fit_l1, None, _variants),
}
