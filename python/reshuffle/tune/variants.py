"""Rerankers that should be equally good: trained on one file of lists, applied to another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import InputError, listed
from ..metrics.base import MetricLike
from ..metrics.native import NativeMetric
from ..progress import AnyProgress
from ..validate import check_integer
from .l1 import Reranker, Variant, closest, fit_l1, l1_variants
from .lists import NBest, additive


@dataclass(frozen=True, eq=False)
class TrainedVariants:
    """Rerankers that should be equally good, and what they choose. :func:`train_variants` makes it.

    Attributes
    ----------
    outputs : dict of list of str
        What each variant chooses from the lists to which it was applied: N hypotheses by name.
    rerankers : tuple of Reranker
    variants : tuple of Variant
        The options by which the rerankers differ.
    plan : dict
        The options of :func:`train_variants`, and the number of lists, for the plan of a study.
    about : str
        How the systems were made, in words.
    """

    outputs: dict[str, list[str]] = field(repr=False)
    rerankers: tuple[Reranker, ...] = field(repr=False)
    variants: tuple[Variant, ...]
    plan: Mapping[str, Any]
    about: str


def names_of_variants(n: int) -> list[str]:
    """The names of the systems.

    >>> names_of_variants(2)
    ['variant 1', 'variant 2']
    """
    return [f"variant {number}" for number in range(1, n + 1)]


def train_variants(
    lists: NBest,
    references: Sequence[str] | Sequence[Sequence[str | None]],
    apply_to: NBest,
    *,
    n: int = 6,
    sentence_metric: MetricLike = "sentbleu",
    templates: Sequence[str] = ("ngram:2", "ngram:3"),
    per_step: int = 10,
    limit: int = 100,
    gamma: float = 1.0,
    threads: int = 0,
    progress: AnyProgress = None,
) -> TrainedVariants:
    """Train equivalent rerankers on lists, and apply them to other lists (Riezler & Maxwell 2005, section 4.3).

    Pairs of them are the systems of the null ``variants`` of :func:`reshuffle.study.type1`. :func:`l1_variants` says
    how they differ. All end with the same number of features.

    Parameters
    ----------
    lists : NBest
        The lists for training.
    references : N references, or columns of N references each
        Of the lists for training.
    apply_to : NBest
        The lists from which the variants choose. They need the same dense features.
    n : int
        The number of variants, at least 2.
    sentence_metric : str or Metric
        The entry with the best score under this metric is the one to be preferred.
    templates : sequence of str
        N-grams of :func:`template_features`.
    per_step : int
        The number of features that the first variant adds in a step. Variant i adds i − 1 more.
    limit : int
        The number of features of each variant. Weights that the penalty sets to 0 are among them.
    gamma : float
        As for :func:`fit_l1`.
    threads, progress
        As for :func:`fit_l1`.

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
    check_integer("n", n, 2)
    check_integer("limit", limit, 1)
    by = additive(sentence_metric)
    if set(lists.names) != set(apply_to.names):
        different = sorted(set(lists.names) ^ set(apply_to.names))
        raise InputError(
            f"{lists.source} and {apply_to.source} must have the same dense features, but only one of them has "
            f"{listed(different)}"
        )
    lists.check_choice()
    targets = closest(
        lists, lists.sentence_scores(by, references, threads=threads or None), higher_is_better=by.higher_is_better
    )
    variants = l1_variants(n, templates=templates, per_step=per_step)
    rerankers, outputs = [], {}
    for name, variant in zip(names_of_variants(n), variants, strict=True):
        reranker = fit_l1(
            lists, targets, templates=variant.templates, per_step=variant.per_step, limit=limit, gamma=gamma,
            threads=threads, progress=progress,
        )  # fmt: skip
        _check_selected(name, reranker, limit)
        rerankers.append(reranker)
        outputs[name] = apply_to.hypotheses(reranker.choose(apply_to))
    plan = {
        "n": n, "lists": lists.n_sentences, "sentence_metric": _spelled(by), "templates": list(templates),
        "per_step": per_step, "limit": limit, "gamma": float(gamma),
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
