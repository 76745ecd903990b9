"""``oracle``: how good and how bad the entries of k-best lists can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, signature
from ..data.corpus import number_of_references, reference_columns
from ..documented import record
from ..errors import InputError, quoted
from ..metrics.base import thread_count
from ..options.declare import called_with
from ..options.tuning import Oracle as OracleOptions
from ..progress import reported
from ..results import UsedMetric
from ..results.studies import ChosenEntry, ListScore, OracleSearch, StudyResult
from ..results.studies.oracle import OraclePlan
from .choosing import first_best
from .lists import NBest, additive

# The choices, in the order of tables, and what decides in each.
CHOICES: Mapping[str, str] = {
    "topbest": "the first entry, or the highest model score",
    "sentence-oracle": "the best sentence score",
    "oracle": "the best corpus score that was found",
    "sentence-worst": "the worst sentence score",
    "worst": "the worst corpus score that was found",
}


@record(eq=False)
class Oracle:
    """The best and the worst entries of k-best lists."""

    lists: NBest = field(repr=False)
    rows: Mapping[str, NDArray[np.int64]] = field(repr=False)
    """Shape (N,). The entries of each choice: ``topbest``, ``sentence-oracle``, ``oracle``, ``sentence-worst`` and
    ``worst``.
    """
    scores: Mapping[str, float]
    """Their corpus scores."""
    result: StudyResult[OraclePlan] = field(repr=False)
    """The study ``oracle``, for reports: the tables ``scores``, ``searches`` and ``entries``."""

    def outputs(self, choice: str = "oracle") -> list[str]:
        """The hypotheses of a choice: an output that can be compared with others."""
        if choice not in self.rows:
            raise InputError(f"choice: expected one of {', '.join(self.rows)}, got {quoted(choice)}")
        return self.lists.hypotheses(self.rows[choice])


@called_with(OracleOptions)
def oracle(options: OracleOptions) -> Oracle:
    """Find the entries with the best and the worst corpus score: the limits of any reranking.

    A corpus score is not a sum over sentences, so choosing the best entry of each sentence (``sentence-oracle``) is not
    the best choice for the corpus. The search for the corpus oracle starts from that choice, from ``topbest``, and from
    ``random_starts`` greedy choices. From each start it moves to the entries that a linear approximation of the score
    prefers, as long as that helps. Then it replaces one entry after another until no replacement of a single entry
    improves the score. For ratios of two counts, such as TER, the linear steps lead to the best of all choices
    (Dinkelbach 1967, doi:10.1287/mnsc.13.7.492). For other metrics the oracle is a lower bound of it; searches from
    different starts with the same end are a good sign.

    Returns
    -------
    Oracle

    Raises
    ------
    InputError
        If lists and references do not match, the metric cannot count entries, or scores are not K finite numbers.

    Notes
    -----
    Cost: a score for each entry and pass; some ten passes for each start. 500 lists of 100 entries and 22 starts take
    half a second on one core. Searches run in parallel, and results do not depend on the number of threads.

    Examples
    --------
    >>> lists = NBest.from_texts([["a b c d", "a b c e"], ["f g", "f g h i"]])
    >>> found = oracle(lists, ["a b c e", "f g h"], "ter")
    >>> [round(found.scores[choice], 2) for choice in ("worst", "topbest", "oracle")], found.outputs()
    ([28.57, 28.57, 14.29], ['a b c e', 'f g'])
    """
    lists, scores, random_starts = options.lists, options.scores, options.random_starts
    counting = additive(options.metric)
    columns = reference_columns(options.references)
    rows = {"topbest": preferred(lists, scores)}
    sign = 1.0 if counting.higher_is_better else -1.0
    searches: list[OracleSearch] = []
    with reported(options.progress) as watched:
        counts = lists.count(counting, columns, workers=options.threads, progress=watched)
        sentence = counting.segment_scores(counts)
        for best, factor in (("oracle", sign), ("worst", -sign)):
            start = f"sentence-{best}"
            rows[start] = first_best(lists.offsets, factor * sentence)
            chosen, ends = _core.tune_oracle(
                lists.offsets,
                counts,
                counting.core,
                np.array([rows["topbest"], rows[start]]),
                worst=best == "worst",
                random_starts=random_starts,
                seed=options.seed,
                threads=thread_count(options.threads),
                progress=watched,
            )
            rows[best] = chosen
            names = ["topbest", start, *(f"greedy {i}" for i in range(1, random_starts + 1))]
            searches += [OracleSearch(best, name, *map(float, both)) for name, both in zip(names, ends, strict=True)]
    rows = {choice: rows[choice] for choice in CHOICES}
    found = {choice: float(counting.score(counts[own].sum(axis=0))) for choice, own in rows.items()}
    entries = tuple(
        ChosenEntry(choice, *each)
        for choice, own in rows.items()
        for each in zip(
            lists.ids.tolist(), places(lists, own).tolist(), sentence[own].tolist(), lists.hypotheses(own), strict=True
        )
    )
    plan = OraclePlan(
        metric=counting.name,
        topbest="first entry" if scores is None else "model score",
        sentences=lists.n_sentences,
        entries=len(lists),
        random_starts=random_starts,
        seed=options.seed,
    )
    line = counting.signature(number_of_references(columns))
    signed = {name: plan[name] for name in ("topbest", "random_starts")}
    result = StudyResult(
        study="oracle",
        plan=plan,
        metrics=(UsedMetric(counting.name, line, counting.higher_is_better, None, counting.source),),
        tables={
            "scores": tuple(ListScore(name, score, score - found["topbest"]) for name, score in found.items()),
            "searches": tuple(searches),
            "entries": entries,
        },
        truths={},
        signature=signature.for_study("oracle", signed, plan.seed, [line]),
        version=_core.VERSION,
    )
    return Oracle(lists, rows, found, result)


def preferred(lists: NBest, scores: ArrayLike | None) -> NDArray[np.int64]:
    """The first entry with the highest model score of each sentence, or without scores the first entry: (N,)."""
    if scores is None:
        return np.ascontiguousarray(lists.offsets[:-1])
    return first_best(lists.offsets, model_scores(lists, scores))


def model_scores(lists: NBest, scores: ArrayLike) -> NDArray[np.float64]:
    """Scores of all entries, such as those of a model; :class:`InputError` unless they are K finite numbers."""
    try:
        array = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"scores: expected {len(lists)} numbers, got {quoted(scores)}") from None
    if array.shape != (len(lists),):
        raise InputError(f"scores: expected one for each of the {len(lists)} entries, got the shape {array.shape}")
    if not np.isfinite(array).all():
        bad = int(np.flatnonzero(~np.isfinite(array))[0])
        raise InputError(f"scores: expected finite numbers, got {array[bad]} for entry {bad}")
    return array


def places(lists: NBest, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of an entry of each sentence in its list, from 1: (N,)."""
    found: NDArray[np.int64] = rows - lists.offsets[:-1] + 1
    return found
