"""A log-linear reranker with an ℓ1 penalty and incremental feature selection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..documented import record
from ..errors import InputError, quoted, warn
from ..metrics.base import thread_count
from ..options.declare import called_with
from ..options.tuning import FitL1
from ..progress import reported
from ..validate import check_integer
from .choosing import LinearModel, first_best, template_features
from .lists import NBest, joined


@record
class SelectionStep:
    """A step of the selection: features were added, and all weights optimized."""

    selected: int
    """How many features have been selected so far."""
    nonzero: int
    """How many weights are not 0."""
    steepest: float
    """The largest absolute derivative of the loss among the features that were added."""
    loss: float
    """The loss without and with the penalty, in nats."""
    objective: float
    iterations: int
    """How many Newton steps it took."""


@record
class Variant:
    """Options of :func:`fit_l1` for one of several rerankers that should be equally good."""

    templates: tuple[str, ...]
    per_step: int


@record(eq=False)
class Reranker:
    """Weights of a log-linear model. :func:`fit_l1` makes it."""

    weights: dict[str, float]
    """The weights that are not 0, in the order in which the features were selected."""
    templates: tuple[str, ...]
    edges: bool
    gamma: float
    steps: tuple[SelectionStep, ...] = field(repr=False)
    loss: float
    """The loss without and with the penalty, in nats."""
    objective: float
    violation: float
    """By how much the weights of selected features violate the conditions of an optimum."""
    violation_outside: float
    """By how much the largest derivative of the other features exceeds γ, or 0: the weights are the optimum over all
    features unless a limit ended the selection.
    """

    def scores(self, lists: NBest, sources: Sequence[str] | None = None) -> NDArray[np.float64]:
        """The weighted sum of the features of each entry: (K,). Features that the lists lack are 0."""
        return LinearModel(self.weights).scores(lists, sources)

    def choose(self, lists: NBest, sources: Sequence[str] | None = None) -> NDArray[np.int64]:
        """The entry of each sentence with the highest score, the first of equals: (N,) numbers of rows."""
        return LinearModel(self.weights).choose(lists, sources)


def closest(lists: NBest, scores: ArrayLike, *, higher_is_better: bool = True) -> NDArray[np.int64]:
    """The entry of each sentence that is closest to the reference, the first of equals: the targets of :func:`fit_l1`.

    Parameters
    ----------
    lists : NBest
    scores : (K,) array_like
        Scores of entries as sentences, for example ``lists.sentence_scores("sentbleu", references)``.
    higher_is_better : bool
        False for error rates.

    Returns
    -------
    (N,) ndarray of int64
        Numbers of rows.

    Raises
    ------
    InputError
        If there is not one finite score for each entry.
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != (len(lists),) or not np.isfinite(values).all():
        raise InputError(f"scores: expected {len(lists)} finite numbers, one for each entry, got {quoted(scores)}")
    return first_best(lists.offsets, values if higher_is_better else -values)


@called_with(FitL1)
def fit_l1(options: FitL1) -> Reranker:
    """Train a log-linear reranker whose features are selected on the way.

    The objective is −Σ ln p(target) + γ‖w‖₁, a sum over lists. From weights of 0, each step adds the features with the
    largest derivatives of the loss, if they exceed γ, and optimizes all weights (Riezler & Maxwell 2005, section 3;
    Perkins, Lacker & Theiler 2003). Without a limit the result is the optimum over all features, whatever ``per_step``
    is. Nothing is random: results are the same bytes for any number of threads.

    Returns
    -------
    Reranker

    Raises
    ------
    InputError
        If a target is not in the list of its sentence, or an option is out of range.

    Notes
    -----
    Each step takes two passes over all values, and Newton steps on the columns of the selected features, whose values
    are copied (12 bytes each). A Newton step takes O(n²) per list and memory for n non-zero weights.

    Examples
    --------
    >>> from pathlib import Path
    >>> from reshuffle import tune
    >>> _ = Path("dev.nbest").write_text("0 ||| a b ||| lm= -1\\n0 ||| a c ||| lm= -2\\n")
    >>> lists = tune.read_nbest("dev.nbest")
    >>> reranker = tune.fit_l1(lists, [1], gamma=0.1)
    >>> {name: round(weight, 3) for name, weight in reranker.weights.items()}
    {'lm': -2.197}
    >>> lists.hypotheses(reranker.choose(lists))
    ['a c']
    >>> Path("dev.nbest").unlink()
    """
    lists, templates = options.lists, options.templates
    within = _within(lists, options.targets)
    sparse = lists.sparse
    if templates:
        made = template_features(
            lists, templates, sources=options.sources, edges=options.edges, minimum=options.minimum
        )
        sparse = made if sparse is None else joined(sparse, made)
    with reported(options.progress) as watched:
        weights, selected, steps, (inside, outside) = _core.tune_l1(
            lists.offsets, lists.dense, None if sparse is None else sparse.rows, within, gamma=options.gamma,
            per_step=list(options.per_step), limit=options.limit, tolerance=options.tolerance,
            threads=thread_count(options.threads), progress=watched,
        )  # fmt: skip
    if inside > options.tolerance:
        warn(
            "the fit ended before its optimum, whose conditions its weights violate by {violation:.2g}, more than the "
            "tolerance of {tolerance:g}: scale features to similar sizes",
            violation=inside,
            tolerance=options.tolerance,
        )
    names = [*lists.names, *([] if sparse is None else sparse.names)]
    kept = {names[i]: float(weights[i]) for i in selected if weights[i] != 0.0}
    done = tuple(SelectionStep(*step) for step in steps)
    loss = done[-1].loss if done else float(np.log(np.diff(lists.offsets)).sum())
    objective = done[-1].objective if done else loss
    return Reranker(kept, templates, options.edges, options.gamma, done, loss, objective, inside, outside)


def _within(lists: NBest, targets: ArrayLike) -> NDArray[np.int64]:
    """Targets as numbers within their lists."""
    rows = np.asarray(targets)
    n = lists.n_sentences
    if rows.shape != (n,) or rows.dtype.kind not in "iu":
        raise InputError(f"targets: expected {n} numbers of rows, one for each sentence, got {quoted(targets)}")
    wrong = np.flatnonzero((rows < lists.offsets[:-1]) | (rows >= lists.offsets[1:]))
    if len(wrong):
        i = int(wrong[0])
        first, last = int(lists.offsets[i]), int(lists.offsets[i + 1]) - 1
        raise InputError(f"targets: sentence {i + 1} has the rows {first} to {last}, got {int(rows[i])}")
    return rows.astype(np.int64) - lists.offsets[:-1]


def l1_variants(
    n: int = 6, *, templates: Sequence[str] = ("ngram:2", "ngram:3"), per_step: int = 10
) -> tuple[Variant, ...]:
    """Options for n rerankers that differ, but none of which is better by design (Riezler & Maxwell 2005, section 4.3).

    The first one has no redundant features. The others also choose from redundant ones, the presence of each n-gram
    beside its count, and add a slightly different number of features in each step. Train all with the same limit.

    Examples
    --------
    >>> for variant in l1_variants(3, templates=["ngram:2"], per_step=20):
    ...     print(variant.templates, variant.per_step)
    ('ngram:2',) 20
    ('ngram:2', 'presence:2') 21
    ('ngram:2', 'presence:2') 22
    """
    check_integer("n", n, 1)
    check_integer("per_step", per_step, 1)
    orders = [template.removeprefix("ngram:") for template in templates if template.startswith("ngram:")]
    if not orders:
        raise InputError(f"templates: expected one that counts n-grams, such as ngram:2, got {quoted(list(templates))}")
    redundant = (*templates, *(f"presence:{order}" for order in orders))
    others = (Variant(redundant, per_step + i) for i in range(1, n))
    return (Variant(tuple(templates), per_step), *others)
