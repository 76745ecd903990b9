"""``type1``: how often tests reject a null hypothesis that is true."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from attrs import evolve

from ..errors import InputError
from ..inference.margins import check_margins
from ..options.choices import TESTS_WITH_MARGIN
from ..options.declare import called_with
from ..options.studies import Type1
from ..resampling.counting import Data
from ..results.studies import StudyResult
from ..results.studies.type1 import Type1Plan
from .experiments import Experiment, Selection
from .material import Material
from .null_data import NullData, NullOptions, Request
from .nulls import BUILD, NULLS
from .rates import Cell, pvalue_shares, rates
from .settings import StudySettings, started


@called_with(Type1)
def type1(options: Type1) -> StudyResult[Type1Plan]:
    """How often significance tests reject a true null hypothesis: their type-I error on real outputs.

    Each simulation draws a test set from a population in which the null hypothesis is known to be true, and tests the
    difference of the two systems. A test has the right size if it rejects a share α of the simulations at level α.

    Returns
    -------
    StudyResult
        With ``rates`` (:class:`~reshuffle.results.studies.Rate`, whose ``verdict`` compares the interval with the
        level) and ``tables["pvalues"]`` (:class:`~reshuffle.results.studies.PvalueShare`, the distribution of p).

    Raises
    ------
    InputError
        If a name is unknown, a number is out of range, a size is larger than the pool, or the data cannot serve a null;
        if the checkpoint has simulations of another study, or another process writes it.

    Notes
    -----
    Several pairs take turns. Intervals of rates are Clopper and Pearson's, or wider if simulations share shuffles or
    draws. Riezler & Maxwell 2005 (W05-0908) propose both tests and recommend ``ar``; section 4 is about type-I errors.
    Cost: simulations × tests × R scores for each metric, null and size. Memory: 8·k·S·K bytes for the counts and
    8·simulations for each p.

    Examples
    --------
    >>> import numpy as np
    >>> from reshuffle import SegmentScores
    >>> from reshuffle.study import type1
    >>> rng = np.random.default_rng(1)
    >>> quality = SegmentScores("quality", dict(zip("ab", rng.random((2, 200)).round(2))))
    >>> study = type1(metrics=quality, tests=["ar", "bootstrap-shift"], alphas=0.1, simulations=200, n_resamples=99)
    >>> [(rate.test, rate.rate, rate.verdict) for rate in study.rates]
    [('ar', 0.13, 'at its level'), ('bootstrap-shift', 0.305, 'liberal')]
    """
    with started("type1", options) as (data, units, settings):
        settings, nulls = _with_margins(settings, NullOptions.from_options(options))
        _check_margins(data, settings, nulls.null)
        n_parts = sum(len(data.metrics) if NULLS[name].get("per_metric") else 1 for name in nulls.null)
        material = settings.material(data, units, n_parts * settings.n_sizes)
        nulls = nulls.resolved(material.documents is not None)
        request = Request(material, nulls, settings)
        built = {name: BUILD[name](request) for name in nulls.null}
        cells = list(chain.from_iterable(cells_of(material, name, found, settings) for name, found in built.items()))
        tables: dict[str, Iterable[object]] = {
            "rates": [rate for cell in cells for rate in rates(cell, settings.alphas)],
            "pvalues": [share for cell in cells for share in pvalue_shares(cell)],
        }
        truths = {name: found.truth_of(settings) for name, found in built.items()}
        return settings.result(options, tables, truths, material, **nulls.plan())


def _with_margins(settings: StudySettings, nulls: NullOptions) -> tuple[StudySettings, NullOptions]:
    """The settings and the nulls, both with the margins that one of them has."""
    given = [each.margins for each in (settings, nulls) if each.margins]
    if len(given) == 2 and given[0] != given[1]:
        raise InputError(
            f"the tests and the null 'margin' of a study share their margins, got {given[0]} and {given[1]}: write the "
            "same for both, or for one of them only"
        )
    margins = given[0] if given else {}
    return evolve(settings, margins=margins), evolve(nulls, margins=margins)


def _check_margins(data: Data, settings: StudySettings, nulls: Sequence[str]) -> None:
    """:class:`InputError` if a test or a null lacks margins."""
    users = [("test", test) for test in settings.tests if test in TESTS_WITH_MARGIN]
    users += [("null", "margin")] * ("margin" in nulls)
    if users:
        check_margins(settings.margins, data.metrics, *users[0])


def cells_of(material: Material, name: str, null: NullData, settings: StudySettings) -> Iterator[Cell]:
    """Simulate the test sets of a null, for each size, and test them."""
    labels = material.data.labels
    for size in null.sizes(settings):
        for part in null.parts:
            testing = settings.for_metrics(material, part.metrics).testing()
            n = null.simulations(settings, size, part)
            selection = Selection(settings.sampling, size // null.segments_per_draw, null.swapped)
            tested = testing.run(Experiment(part.populations, selection, settings.seed), n)
            for test, of_test in zip(settings.tests, tested.pvalue, strict=True):
                dependence = settings.dependence(test, n, len(part.populations) if null.sampled else None)
                for m, pvalues in zip(part.metrics, of_test, strict=True):
                    yield Cell(test, labels[m], name, size, pvalues, dependence)
