"""``mbr``: minimum Bayes risk decoding, the entries that agree best with their lists."""

from __future__ import annotations

from dataclasses import field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, signature
from ..data.corpus import number_of_references, reference_columns
from ..documented import record
from ..errors import InputError, Option, warn
from ..options.declare import called_with
from ..options.tuning import Mbr
from ..progress import reported
from ..results import UsedMetric
from ..results.studies import MbrChoice, MbrScore, StudyResult
from ..results.studies.mbr import MbrPlan
from .choosing import first_best
from .lists import NBest, additive
from .oracle import model_scores, places, preferred

# Probabilities that are spread over this share of the entries, or more, are nearly uniform.
NEARLY_UNIFORM = 0.9
# Utilities are equal up to this share: they are sums, whose rounding depends on the order of the entries.
ROUNDING = 1e-12
# In place of the utility of an entry that has none.
LOWEST = -1e300


@record(eq=False)
class MinimumRisk:
    """The entries with the best expected utility."""

    lists: NBest = field(repr=False)
    rows: NDArray[np.int64] = field(repr=False)
    """Shape (N,). The chosen entry of each sentence."""
    topbest: NDArray[np.int64] = field(repr=False)
    """Shape (N,). The entries that the decoder or the weights prefer."""
    utilities: NDArray[np.float64] = field(repr=False)
    """Shape (K,). The expected utility of each entry."""
    probabilities: NDArray[np.float64] = field(repr=False)
    """Shape (K,). The probability of each entry in its list."""
    result: StudyResult[MbrPlan]
    """The study ``mbr``, for reports: the tables ``choices`` and ``scores``, which is empty without references."""

    def outputs(self) -> list[str]:
        """The chosen hypotheses: an output that can be compared with others."""
        return self.lists.hypotheses(self.rows)


@called_with(Mbr)
def mbr(options: Mbr) -> MinimumRisk:
    """Choose the entry of each list that agrees best with the others (Kumar & Byrne 2004, N04-1022).

    The expected utility of entry i is Σ_j p_j·u(i, j), where u is the segment score of i with entry j as the only
    reference, and p_j is the probability of j in its list. The entry with the highest expected utility is chosen, or
    the lowest for metrics where lower is better; the first of equals.

    Returns
    -------
    MinimumRisk

    Raises
    ------
    InputError
        If the metric cannot count texts, scores are not K finite numbers, ``scale`` times the scores is too large for
        floating-point numbers, or references do not match the lists.

    Notes
    -----
    A list of n distinct hypotheses has n² pairs. Equal hypotheses are compared once. For BLEU and chrF, each
    hypothesis is tokenized once, and the n-grams that two of them share are common bits: 5 million pairs take a second
    for chrF on one core. Other metrics prepare each hypothesis once as a reference. Memory grows with the texts of a
    list, not with its pairs. NIST takes its information from all distinct hypotheses of all lists.

    Examples
    --------
    >>> lists = NBest.from_texts([["the cat sat", "the cat", "a cat sat", "dogs"]])
    >>> found = mbr(lists, "bleu")
    >>> found.outputs(), found.utilities.round(1).tolist()
    (['the cat sat'], [52.5, 47.7, 45.6, 25.0])
    """
    lists, scores, metrics = options.lists, options.scores, options.metrics
    utility = additive(options.metric)
    if options.references is None and metrics is not None:
        raise InputError("metrics: corpus scores need references: add them, or leave metrics out")
    columns = None if options.references is None else reference_columns(options.references)
    scored = [] if columns is None else [additive(each) for each in ([utility] if metrics is None else metrics)]
    p = probabilities(lists, scores, options.scale)
    if scores is not None and options.scale > 0:
        _warn_if_uniform(lists, p)
    topbest = preferred(lists, scores)
    weights = np.bincount(lists.text_of, p).astype(np.float64, copy=False)
    with reported(options.progress) as watched:
        others, own = utility.utilities_of_lists(lists.core, weights, options.threads, watched)
        if options.exclude_self:
            # An entry that comes several times has copies among the others.
            copies = _of_others(p, lists.text_of)
            rest = _of_others(p, np.repeat(np.arange(lists.n_sentences), np.diff(lists.offsets)))
            rest[rest == 0.0] = np.nan
            utilities = (others[lists.text_of] + copies * own[lists.text_of]) / rest
        else:
            utilities = (others + weights * own)[lists.text_of]
        sign = 1.0 if utility.higher_is_better else -1.0
        rows = first_best(lists.offsets, np.nan_to_num(sign * utilities, nan=LOWEST), ROUNDING)
        choices = {"topbest": topbest, "mbr": rows}
        found = [
            MbrScore(choice, each.name, float(each.score(counts[own_rows].sum(axis=0))))
            for each in scored
            for counts in (lists.count(each, columns or [], workers=options.threads, progress=watched),)
            for choice, own_rows in choices.items()
        ]
    plan = MbrPlan(
        utility=utility.name,
        probabilities="uniform" if scores is None else "softmax",
        scale=None if scores is None else options.scale,
        exclude_self=options.exclude_self,
        sentences=lists.n_sentences,
        entries=len(lists),
    )
    numbers = zip(
        lists.ids.tolist(),
        places(lists, rows).tolist(),
        utilities[rows].tolist(),
        places(lists, topbest).tolist(),
        utilities[topbest].tolist(),
        np.diff(lists.offsets).tolist(),
        np.diff(lists.text_offsets).tolist(),
        lists.hypotheses(rows),
        strict=True,
    )
    n_references = None if columns is None else number_of_references(columns)
    lines = [(utility, utility.segment_signature("1")), *((each, each.signature(n_references)) for each in scored)]
    settings = [f"probabilities:{plan.probabilities}", f"self:{'no' if plan.exclude_self else 'yes'}"]
    if plan.scale is not None:
        settings.insert(1, f"scale:{plan.scale}")
    result = StudyResult(
        study="mbr",
        plan=plan,
        metrics=tuple(UsedMetric(m.name, line, m.higher_is_better, None, m.source) for m, line in lines),
        tables={"choices": tuple(MbrChoice(*each) for each in numbers), "scores": tuple(found)},
        truths={},
        signature=signature.joined(
            ["study:mbr", *settings, *dict.fromkeys(line for _, line in lines), signature.VERSION]
        ),
        version=_core.VERSION,
    )
    return MinimumRisk(lists, rows, topbest, utilities, p, result)


def probabilities(lists: NBest, scores: ArrayLike | None = None, scale: float = 1.0) -> NDArray[np.float64]:
    """The probability of each entry in its list: the softmax of ``scale`` times the score, or equal ones.

    >>> probabilities(NBest.from_texts([["a", "b"], ["c"]]), [0.0, np.log(3), -1e9]).round(9).tolist()
    [0.25, 0.75, 1.0]
    """
    sizes = np.diff(lists.offsets)
    if scores is None:
        equal: NDArray[np.float64] = np.repeat(1.0 / sizes, sizes)
        return equal
    starts, array = lists.offsets[:-1], model_scores(lists, scores)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = scale * array
        below = scaled - np.repeat(np.maximum.reduceat(scaled, starts), sizes)
    if not np.isfinite(below).all():
        raise InputError(
            f"scale: {scale:g} times the scores, which are up to {np.abs(array).max():g} in magnitude, is too large "
            "for floating-point numbers: expected a smaller number"
        )
    shares = np.exp(below)
    found: NDArray[np.float64] = shares / np.repeat(np.add.reduceat(shares, starts), sizes)
    return found


def _of_others(p: NDArray[np.float64], group_of: NDArray[np.signedinteger]) -> NDArray[np.float64]:
    """The sum of the probabilities of the other entries in the group of each entry.

    Those of an entry with more than half of it are summed: a difference from 1 would lose their digits.

    >>> _of_others(np.array([1.0, 1e-20, 0.25, 0.75]), np.array([0, 0, 1, 1])).tolist()
    [1e-20, 1.0, 0.75, 0.25]
    """
    largest = np.lexsort((p, group_of))[np.cumsum(np.bincount(group_of)) - 1]
    smaller = p.copy()
    smaller[largest] = 0.0
    sums = np.bincount(group_of, smaller)
    others: NDArray[np.float64] = (sums + p[largest])[group_of] - p
    most = p[largest] > sums
    others[largest[most]] = sums[most]
    return others


def _warn_if_uniform(lists: NBest, p: NDArray[np.float64]) -> None:
    """Warn if the probabilities are spread over nearly all entries, so that the model scores hardly count.

    The number of entries over which those of a list are spread is the exponential of their entropy.
    """
    sizes = np.diff(lists.offsets)
    entropies = -np.add.reduceat(p * np.log(np.where(p > 0, p, 1.0)), lists.offsets[:-1])
    several = sizes > 1
    if not several.any():
        return
    spread, size = float(np.exp(entropies[several]).mean()), float(sizes[several].mean())
    if spread >= NEARLY_UNIFORM * size:
        warn(
            "the probabilities are nearly uniform, so model scores hardly count: on average they are spread over "
            "{spread:.1f} of the {size:.1f} entries of a list (the exponential of their entropy): choose a larger "
            "{scale} on a development set",
            spread=spread,
            size=size,
            scale=Option("scale"),
        )
