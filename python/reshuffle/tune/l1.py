"""A log-linear reranker with an ℓ1 penalty and incremental feature selection, and variants that are equally good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..documented import record
from ..errors import InputError, listed, quoted, warn
from ..metrics.base import thread_count
from ..metrics.native import NativeMetric
from ..options.declare import call, called_with, chosen, taken
from ..options.tuning import FitL1, TrainVariants
from ..progress import reported
from ..validate import check_integer
from .choosing import LinearModel, first_best, template_features
from .lists import NBest, additive, joined
from .oracle import model_scores


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


@record(slots=False, eq=False)
class Reranker(LinearModel):
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
    values = model_scores(lists, scores)
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


@record(eq=False)
class TrainedVariants:
    """Rerankers that should be equally good, and what they choose. :func:`train_variants` makes it."""

    outputs: dict[str, list[str]] = field(repr=False)
    """What each variant chooses from the lists to which it was applied: N hypotheses by name."""
    rerankers: tuple[Reranker, ...] = field(repr=False)
    variants: tuple[Variant, ...]
    """The options by which the rerankers differ."""
    plan: Mapping[str, Any]
    """The options of :func:`train_variants`, and the number of lists, for the plan of a study."""
    about: str
    """How the systems were made, in words."""


def names_of_variants(n: int) -> list[str]:
    """The names of the systems.

    >>> names_of_variants(2)
    ['variant 1', 'variant 2']
    """
    return [f"variant {number}" for number in range(1, n + 1)]


@called_with(TrainVariants)
def train_variants(options: TrainVariants) -> TrainedVariants:
    """Train equivalent rerankers on lists, and apply them to other lists (Riezler & Maxwell 2005, section 4.3).

    Pairs of them are the systems of the null ``variants`` of :func:`reshuffle.study.type1`. :func:`l1_variants` says
    how they differ. All end with the same number of features.

    Returns
    -------
    TrainedVariants

    Raises
    ------
    InputError
        If features of the lists differ, references do not match, or a variant has too few features whose derivative
        exceeds γ.

    Notes
    -----
    Costs as much as n calls of :func:`fit_l1`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from reshuffle import study, tune
    >>> texts = [["the cat sat here", "a cat sat"], ["this is it", "this was it here"]] * 20
    >>> lines = [f"{i} ||| {text} ||| lm= -{k}" for i, each in enumerate(texts) for k, text in enumerate(each)]
    >>> _ = Path("all.nbest").write_text("\\n".join(lines) + "\\n")
    >>> lists, refs = tune.read_nbest("all.nbest"), ["a cat sat", "this is it"] * 20
    >>> made = tune.train_variants(lists, refs, lists, n=2, templates=["ngram:2"], per_step=2, limit=4)
    >>> [reranker.steps[-1].selected for reranker in made.rerankers]
    [4, 4]
    >>> found = study.type1(refs, made.outputs, null=study.Variants(made), tests="ar", simulations=10)
    >>> found.rates[0].rate  # both choose the same
    0.0
    >>> Path("all.nbest").unlink()
    """
    lists, apply_to = options.lists, options.apply_to
    by = additive(options.sentence_metric)
    if set(lists.names) != set(apply_to.names):
        different = sorted(set(lists.names) ^ set(apply_to.names))
        raise InputError(
            f"{lists.source} and {apply_to.source} must have the same dense features, but only one of them has "
            f"{listed(different)}"
        )
    lists.check_choice()
    scores = lists.sentence_scores(by, options.references, workers=options.threads)
    targets = closest(lists, scores, higher_is_better=by.higher_is_better)
    variants = l1_variants(options.n, templates=options.templates, per_step=options.per_step)
    rerankers, outputs = [], {}
    for name, variant in zip(names_of_variants(options.n), variants, strict=True):
        own = taken(FitL1, options, targets=targets, templates=variant.templates, per_step=variant.per_step)
        reranker = call(fit_l1, own)
        _check_selected(name, reranker, options.limit)
        rerankers.append(reranker)
        outputs[name] = apply_to.hypotheses(reranker.choose(apply_to))
    plan = {
        "n": options.n, "lists": lists.n_sentences, "sentence_metric": _spelled(by),
        **chosen(options, "templates", "per_step", "limit", "gamma"),
    }  # fmt: skip
    return TrainedVariants(outputs, tuple(rerankers), variants, plan, _about(variants, plan, rerankers))


def _check_selected(name: str, reranker: Reranker, limit: int) -> None:
    """:class:`InputError` unless the limit ended the selection: otherwise the order of selection would not matter."""
    selected = reranker.steps[-1].selected if reranker.steps else 0
    if selected < limit:
        raise InputError(
            f"{name}: only {selected:,} features have a derivative above gamma = {reranker.gamma:g}, so limit = "
            f"{limit:,} is not reached and variants could not differ: choose a smaller limit or gamma"
        )


def _spelled(metric: NativeMetric) -> str:
    """A metric with its options, as on the command line.

    >>> from reshuffle import metric
    >>> _spelled(metric("sentbleu", smoothing="2"))
    'sentbleu:smoothing=2'
    """
    return ":".join([metric.key, *(f"{name}={value}" for name, value in sorted(metric.options.items()))])


def _about(variants: Sequence[Variant], plan: Mapping[str, Any], rerankers: Sequence[Reranker]) -> str:
    first, *others = variants
    added = list(dict.fromkeys(f"{variant.per_step}" for variant in others))
    redundant = [template for template in others[0].templates if template not in first.templates]
    nonzero = [len(reranker.weights) for reranker in rerankers]
    return (
        f"They are {len(variants)} log-linear rerankers with an ℓ1 penalty (γ = {plan['gamma']:g}), trained on "
        f"{plan['lists']:,} lists towards the entry with the best {plan['sentence_metric']} and applied to others. The "
        f"first chose from {listed(first.templates)} beside the features of the lists, and added {first.per_step} "
        f"features in a step; the others chose also from redundant features ({listed(redundant)}) and added "
        f"{added[0] if len(added) == 1 else f'{added[0]} to {added[-1]}'}. All stopped at {plan['limit']:,} features, "
        f"of which {min(nonzero):,} to {max(nonzero):,} have a weight."
    )
