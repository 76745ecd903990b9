"""Null hypotheses of studies: populations of real outputs in which the truth is known.

A null is a function from real systems to populations (:class:`~reshuffle.study.populations.Population`) and an entry
in :data:`NULLS`. It says in words what is true in them; reports repeat these words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from ..documented import record
from ..inference.margins import check_margins
from .document_nulls import of_documents
from .equal_scores import of_equal_scores, of_margins
from .null_data import NullData, Request, swap_probability
from .run_nulls import of_noise, of_runs, of_variants


@record(slots=False)
class Null:
    """An entry of the registry."""

    name: str
    """The name that users type, the name in reports, what is true, and the paper."""
    title: str
    about: str
    source: str
    build: Callable[[Request], NullData]
    """From a request (the material of a study, its pairs of systems, options and a seed) to populations.
    :class:`InputError` if the data cannot serve this null.
    """
    per_metric: bool = False
    """Whether each metric has populations of its own."""


def _of_swaps(request: Request) -> NullData:
    """The real pairs, swapped at random."""
    material = request.material
    populations = [material.population(pair) for pair in request.pairs]
    truth = (
        f"In each {material.unit}, a fair coin decided which output went to which system. So the two systems are "
        "exchangeable, whatever the metric: the null hypothesis of approximate randomization holds exactly, and the "
        "expected scores are equal."
    )
    return NullData.of_all_metrics(populations, swap_probability(0), truth, material.unit)


def _of_margins(request: Request) -> NullData:
    margins = check_margins(request.options.margins, request.material.data.metrics, "null", "margin")
    return of_margins(request, margins)


NULLS: Mapping[str, Null] = {
    null.name: null
    for null in (
        Null(
            "swap",
            "random swaps",
            "in each unit, a fair coin decides which of the two systems has which output",
            "W05-0908, section 4; Noreen 1989",
            _of_swaps,
        ),
        Null(
            "equal-score",
            "equal scores",
            "the scores on all the data are equal, while lengths and variances differ: segments of a third system, or "
            "dropped words, make the better system worse",
            "doi:10.1016/S0167-7152(97)00043-6",
            of_equal_scores,
            per_metric=True,
        ),
        Null(
            "margin",
            "difference at the margin",
            "as equal-score, but the system is worse by the margin: the boundary of the null hypotheses of equivalence "
            "and non-inferiority",
            "doi:10.1007/BF01068419",
            _of_margins,
            per_metric=True,
        ),
        Null(
            "documents",
            "dependent segments",
            "whole documents are drawn and swapped, but tests resample segments; without documents, they can "
            "be simulated with a chosen intraclass correlation",
            "Kish 1965, Survey Sampling",
            partial(of_documents, as_units=False),
        ),
        Null(
            "documents-as-units",
            "documents as units",
            "whole documents are drawn and swapped, and tests resample them",
            "Kish 1965, Survey Sampling",
            partial(of_documents, as_units=True),
        ),
        Null(
            "noise",
            "noisy copies",
            "two copies of one system, each with its own random edits of words",
            "W05-0908, section 4",
            of_noise,
        ),
        Null(
            "replicate",
            "runs of one configuration",
            "two disjoint sets of runs of one system",
            "P11-2031, section 3",
            of_runs,
        ),
        Null(
            "variants",
            "variants assumed to be equivalent",
            "pairs of systems that are assumed to be equivalent",
            "W05-0908, section 4.3",
            of_variants,
        ),
    )
}
