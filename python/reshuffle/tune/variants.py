"""Rerankers that should be equally good: trained on one file of lists, applied to another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from ..documented import record
from ..errors import InputError, listed
from ..metrics.native import NativeMetric
from ..options.declare import call, called_with, chosen, taken
from ..options.tuning import FitL1, TrainVariants
from .l1 import Reranker, Variant, closest, fit_l1, l1_variants
from .lists import additive


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
