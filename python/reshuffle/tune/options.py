"""The registry of optimizers: what they are, and their options.

To add one, write an entry in :data:`OPTIMIZERS`, and a function from a problem to weights in ``optimizers.py``. The
command ``reshuffle tune NAME``, its options and their help follow.
"""

# No module that imports numpy: the command line reads this one for its help.
from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InputError, quoted
from ..validate import check_integer, check_name

# The presets of ``mert``.
PRESETS: dict[str, str] = {
    "both": "the given start and 20 random restarts, along all axes and 5 random directions",
    "moses": "the given start and 20 random restarts, along all axes",
    "cdec": "the given start only, along all axes and 5 random directions",
}

# Kinds of options that are real numbers, and what they must be.
REAL = {"positive": "above 0", "nonnegative": "at least 0"}


@dataclass(frozen=True)
class OptimizerOption:
    """An option of an optimizer.

    Attributes
    ----------
    name : str
    kind : str
        ``integer``, ``positive`` or ``nonnegative`` (real numbers), ``flag``, ``choice``, ``texts``, or ``limit``: an
        integer, or None for no limit.
    default : object
    about : str
        What it does, for the help.
    choices : tuple of str
        For ``choice``.
    least : int
        The smallest integer.
    """

    name: str
    kind: str
    default: Any
    about: str
    choices: tuple[str, ...] = ()
    least: int = 0

    def checked(self, value: Any) -> Any:
        """The value; :class:`InputError` if it has another type or is out of range."""
        if value is None and (self.kind == "limit" or self.default is None):
            return None
        if self.kind in ("integer", "limit"):
            return check_integer(self.name, value, self.least)
        if self.kind in REAL:
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                raise InputError(f"{self.name} must be a finite number, got {quoted(value)}")
            if value < 0 or (value == 0 and self.kind == "positive"):
                raise InputError(f"{self.name} must be {REAL[self.kind]}, got {quoted(value)}")
            return float(value)
        if self.kind == "choice":
            check_name(self.name, value, self.choices)
        elif self.kind == "flag":
            if not isinstance(value, bool):
                raise InputError(f"{self.name} must be True or False, got {quoted(value)}")
        elif isinstance(value, str) or not all(isinstance(each, str) for each in value):
            raise InputError(f"{self.name}: expected names, got {quoted(value)}")
        return list(value) if self.kind == "texts" else value


@dataclass(frozen=True)
class Optimizer:
    """A way to tune weights.

    Attributes
    ----------
    name, about : str
    source : str
        ACL id or DOI.
    seeded : str or None
        What a seed decides; None if nothing is random, so that replications are variants.
    optimises : str
        What is optimised: ``corpus`` (the score of the corpus metric), ``sentence`` (a loss from scores of sentences),
        or ``background`` (scores of sentences, of BLEU together with earlier ones).
    options : tuple of OptimizerOption
    """

    name: str
    about: str
    source: str
    seeded: str | None
    optimises: str
    options: tuple[OptimizerOption, ...]

    def checked(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The values of all options; :class:`InputError` for an unknown name or a bad value."""
        known = {option.name: option for option in self.options}
        for name in given:
            check_name(f"option of {self.name}", name, list(known))
        return {name: option.checked(given.get(name, option.default)) for name, option in known.items()}


EPOCHS = "Passes over all sentences."

OPTIMIZERS: Mapping[str, Optimizer] = {
    each.name: each
    for each in (
        Optimizer(
            "mert",
            "Minimum error rate training: exact line searches for the best corpus score.",
            "P03-1021",
            "restarts and directions",
            "corpus",
            (
                OptimizerOption(
                    "preset", "choice", "both", "; ".join(f"{name}: {about}" for name, about in PRESETS.items()) + ".",
                    choices=tuple(PRESETS),
                ),
                OptimizerOption("restarts", "integer", None, "Number of random restarts, instead of the preset's."),
                OptimizerOption(
                    "random_directions", "integer", None, "Number of random directions, instead of the preset's."
                ),
                OptimizerOption("max_steps", "integer", 1000, "Maximum number of steps from each start.", least=1),
                OptimizerOption(
                    "margin", "positive", 0.1, "How far to go past the last corner of a line, if the best part "
                    "has no end."
                ),
                OptimizerOption(
                    "min_width", "positive", 1e-9, "Parts of a line that are not wider than this are skipped."
                ),
            ),
        ),
        Optimizer(
            "kbmira",
            "Batch MIRA: large-margin updates, one sentence at a time.",
            "N12-1047",
            "order of sentences",
            "background",
            (
                OptimizerOption("epochs", "integer", 60, EPOCHS, least=1),
                OptimizerOption("c", "positive", 0.01, "Largest step size (C of the paper)."),
                OptimizerOption(
                    "decay", "positive", 0.999, "Factor by which the background shrinks after each sentence."
                ),
                OptimizerOption(
                    "background", "choice", "hope", "The entry whose counts enter the background: the hope, or that "
                    "with the best model score.", choices=("hope", "model"),
                ),
                OptimizerOption(
                    "safe_hope", "flag", False, "Scale model scores down in the choice of the hope, if its own "
                    "is more than five times its BLEU times the reference's length.",
                ),
            ),
        ),
        Optimizer(
            "pro",
            "Pairwise ranking: a logistic regression on which of two entries is better.",
            "D11-1125",
            "sampled pairs",
            "sentence",
            (
                OptimizerOption(
                    "entry_scores", "choice", "metric", "How entries are scored. metric: by --sentence-metric; moses: "
                    "by BLEU with 1 added to matches and totals of all orders, as in Moses' pro.",
                    choices=("metric", "moses"),
                ),
                OptimizerOption(
                    "samples", "limit", 5000, "Pairs of entries drawn for each sentence; all: every pair.", least=1
                ),
                OptimizerOption(
                    "threshold", "nonnegative", 0.05, "Leave out pairs whose scores (0 to 1) differ by less than X."
                ),
                OptimizerOption(
                    "kept", "limit", 50, "Pairs kept for each sentence: those that differ most; all: every one.",
                    least=1,
                ),
                OptimizerOption(
                    "penalty", "positive", 1.0, "Strength of the l2 penalty: factor of half the sum of squared weights."
                ),
                OptimizerOption(
                    "interpolation", "positive", 0.1, "From round 2 on: share of the new weights, the rest being the "
                    "last ones."
                ),
            ),
        ),
        Optimizer(
            "xbleu",
            "Expected sentence BLEU under a log-linear model.",
            "W14-3346",
            "order of sentences",
            "sentence",
            (
                OptimizerOption(
                    "method", "choice", "sgd", "sgd: stochastic gradient descent; lbfgs: L-BFGS, without random "
                    "numbers.", choices=("sgd", "lbfgs"),
                ),
                OptimizerOption(
                    "penalty", "nonnegative", 10.0, "Strength of the l2 penalty: factor of the sum of squared weights."
                ),
                OptimizerOption(
                    "epochs", "integer", 30, f"{EPOCHS} lbfgs makes at most ten times as many iterations.", least=1
                ),
                OptimizerOption("rate", "positive", 0.1, "Initial learning rate of sgd."),
            ),
        ),
        Optimizer(
            "l1",
            "A log-linear reranker with an l1 penalty and incremental feature selection.",
            "W05-0908",
            None,
            "sentence",
            (
                OptimizerOption(
                    "templates", "texts", (), "Features made from the entries: ngram:2 counts bigrams, presence:2 "
                    "says which there are (also of orders 1 to 9); phrase: phrase pairs; words: pairs of source and "
                    "target words.",
                ),
                OptimizerOption(
                    "gamma", "positive", 1.0, "Strength of the l1 penalty: factor of the sum of absolute weights."
                ),
                OptimizerOption("per_step", "integer", 10, "Maximum number of features that a step adds.", least=1),
                OptimizerOption("limit", "limit", None, "Maximum number of selected features; all: no limit.", least=1),
                OptimizerOption("edges", "flag", False, "Put <s> and </s> around entries before n-grams are counted."),
                OptimizerOption(
                    "minimum", "integer", 1, "Leave out made features that differ within fewer than N lists.",
                    least=1,
                ),
                OptimizerOption(
                    "tolerance", "positive", 1e-4, "Largest violation of the conditions of an optimum at which a fit "
                    "ends."
                ),
            ),
        ),
    )
}  # fmt: skip


def find_optimizer(name: str) -> Optimizer:
    """The optimizer with this name; :class:`InputError` with the nearest name if there is none."""
    check_name("optimizer", name, list(OPTIMIZERS))
    return OPTIMIZERS[name]
