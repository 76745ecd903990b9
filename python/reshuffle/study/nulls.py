"""Null hypotheses of studies: populations of real outputs in which the truth is known.

A null is a function from real systems to populations (:class:`~reshuffle.study.populations.Population`), in
:data:`BUILD`, and an entry in nulls.toml. It says in words what is true in them; reports repeat these words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from ..documented import record
from ..inference.margins import check_margins
from ..toml import loads
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


BUILD: Mapping[str, Callable[[Request], NullData]] = {
    "swap": _of_swaps,
    "equal-score": of_equal_scores,
    "margin": _of_margins,
    "documents": partial(of_documents, as_units=False),
    "documents-as-units": partial(of_documents, as_units=True),
    "noise": of_noise,
    "replicate": of_runs,
    "variants": of_variants,
}
NULLS: Mapping[str, Null] = {
    name: Null(name, **entry, build=BUILD[name])
    for name, entry in loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}
