"""One tested difference in words: what ``print`` shows of a test, of a pair of systems, of runs, or of metrics."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch
from typing import Any

import numpy as np

from ..errors import counted, printable
from ..results import ConfidenceInterval, PairedDifference, SignificanceResult
from ..results.studies import MetricDifference, RunDifference
from ..results.verdicts import UNDIRECTED
from .caveats import caveat_kinds, worded
from .cells import decimals_for, difference_and_interval, equation, pvalue_cell, random_replicates
from .computed import alternative_phrase
from .parts import part_name
from .wording import ci, number

# The most caveats with a line each.
MOST_CAVEATS = 4
# The most parts of a formula that fit into one line or two.
MOST_PARTS = 12


@singledispatch
def in_words(record: Any) -> str:
    """What ``print`` shows of a record."""
    raise TypeError(f"no words for {type(record).__name__}")


@in_words.register
def _(result: SignificanceResult) -> str:
    """The difference, p, how p was computed, the caveats of the test, and the signature."""
    if np.ndim(result.pvalue):
        pvalues = np.asarray(result.pvalue)
        tests = f"a batch of {pvalues.size:,} tests ({result.test}, {result.alternative})"
        of_batch = f"{tests}, p from {pvalues.min():.4g} to {pvalues.max():.4g}"
        lines = [f"{result.metric}: {of_batch}", "result.problem(i) is the result of test i."]
    else:
        side = _alternative(result) if result.margin is None else f"margin {number(result.margin)}"
        p = _p(result, random_replicates(result), f"{result.test}, {side}")
        what = f"{result.metric}: {' - '.join(result.names)} = {result.statistic:+.6g}"
        lines = [f"{what}, {p}", replicates_in_words(result) or ""]
    return _text(*lines, *map(worded, result.caveats), f"Signature: {result.signature}")


@in_words.register
def _(pair: PairedDifference) -> str:
    """The difference of two systems, p, what it rests on, its parts and caveats, and the signature."""
    test = pair.test
    decimals = _decimals(pair.difference)
    return _text(
        _difference(f"{pair.system} − {pair.baseline}, {pair.metric}", pair, decimals),
        _p(test, random_replicates(test), f"{test.test}, {_side(test)}"),
        replicates_in_words(test),
        _rests_on(pair),
        _parts(pair, decimals),
        *_caveats(pair.caveats),
        f"Signature: {test.signature}",
    )


@in_words.register
def _(each: RunDifference) -> str:
    """The difference of two systems with several runs, and p."""
    score = "of all outputs of a system taken as one" if each.statistic == "pooled" else "the mean of the runs' scores"
    replicates = f"{'all ' if each.exact else ''}{each.n_resamples:,} replicates" if each.n_resamples else "t test"
    if each.degrees_of_freedom is not None:
        replicates += f", {number(round(each.degrees_of_freedom, 2))} degrees of freedom"
    smallest = f" The smallest p of this test here is {each.smallest_pvalue:.2g}." if each.smallest_pvalue else ""
    needed = "" if each.runs_needed is None else f" To reach alpha it needs {each.runs_needed} runs of each system."
    return _text(
        _difference(f"{each.system} − {each.baseline}, {each.metric}", each, _decimals(each.difference)),
        _p(each, each.n_resamples or None, f"exchange: {each.exchange}; {replicates}"),
        f"Score: {score}.{smallest}{needed}",
        *_caveats(each.caveats),
    )


@in_words.register
def _(each: MetricDifference) -> str:
    """The difference of the agreement of two metrics with people, and p."""
    grouping = "" if each.grouping is None else f", grouping {each.grouping}"
    ties = "" if each.ties is None else f", ties {each.ties}"
    test_set = f", {each.test_set}" if each.test_set else ""
    where = f"{each.coefficient} with people ({each.level}s{grouping}{ties}{test_set})"
    how = each.test if each.n_resamples is None else f"{each.test}, {each.n_resamples:,} replicates"
    if each.degrees_of_freedom is not None:
        how += f", {number(each.degrees_of_freedom)} degrees of freedom"
    return _text(_difference(f"{each.metric_a} − {each.metric_b}, {where}", each, 4), _p(each, each.n_resamples, how))


def _decimals(difference: float) -> int:
    """Three digits of the difference, as the scores of its systems are not known."""
    return decimals_for(abs(difference) * 10)


def _text(*lines: str | None) -> str:
    return "\n".join(printable(line) for line in lines if line)


def _difference(what: str, each: Any, decimals: int) -> str:
    interval: ConfidenceInterval | None = each.confidence_interval
    difference, *ends = difference_and_interval(each.difference, interval, decimals)
    if interval is None:
        return f"{what}: {difference}"
    return f"{what}: {difference}, {ci(interval.confidence_level)} {ends[0]} ({interval.method})"


def _p(each: Any, n_resamples: int | None, how: str) -> str:
    cells = [equation("p", pvalue_cell(each.pvalue, n_resamples))]
    if each.adjusted_pvalue is not None:
        cells.append(equation("adjusted p", pvalue_cell(each.adjusted_pvalue, n_resamples)))
    return f"{', '.join(cells)} ({how})"


def replicates_in_words(result: SignificanceResult) -> str | None:
    """How p was computed from replicates; None for tests in closed form."""
    if result.exact_by == "convolution":
        return "Exact null distribution, by convolution."
    if result.n_resamples is None:
        return None
    n = f"{result.n_resamples:,}"
    shuffles = counted(result.n_resamples, "shuffle")
    names = {
        None: counted(result.n_resamples, "permutation" if result.test == "permutation" else "draw"),
        "exact": f"All {n} shuffles",
        "subgroup": f"A random subgroup of {n} shuffles",
        "replay": counted(result.n_resamples, "user-supplied replicate"),
    }
    parts = [names.get(result.scheme, shuffles)]
    stopping = result.stopping
    if stopping is not None:
        ended = "stopped" if stopping.stopped else "not stopped"
        parts.append(f"{ended} by {stopping.rule} (at most {stopping.max_resamples:,})")
    if result.exceedances is not None:
        few = f"{result.exceedances:,} in the smaller tail"
        parts.append(few if result.tails == 2 else counted(result.exceedances, "exceedance"))
    if result.seed is not None:
        parts.append(f"seed {result.seed}")
    interval = result.pvalue_interval
    if interval is not None:
        parts.append(f"95% CI of p: {interval.low:.4g} to {interval.high:.4g} ({interval.method})")
    return ", ".join(parts) + "."


def _side(test: Any) -> str:
    return _alternative(test) if test.margin is None else f"{test.alternative}, margin {number(test.margin)}"


def _alternative(test: Any) -> str:
    return alternative_phrase(test.alternative) if test.alternative in UNDIRECTED else str(test.alternative)


def _rests_on(pair: PairedDifference) -> str:
    """On which segments or documents the difference rests."""
    of_documents = pair.n_units != pair.n_segments
    units = counted(pair.n_units, "document" if of_documents else "segment")
    text = units
    if pair.influence is not None:
        effective = pair.influence.effective
        text = f"{pair.influence.differing:,} of {units} differ"
        if effective is not None and round(effective) < pair.influence.differing:
            text += f", which tell as much as {effective:,.0f} differences of equal size would"
    parts = [text, *([counted(pair.n_segments, "segment")] if of_documents else [])]
    if pair.intraclass_correlation is not None:
        parts.append(f"intraclass correlation {pair.intraclass_correlation:.3f}")
    if pair.design_effect is not None:
        parts.append(f"design effect {pair.design_effect:.2f}")
    return f"{', '.join(parts)}."


def _parts(pair: PairedDifference, decimals: int) -> str | None:
    """The contributions of the parts of the formula, if they were asked for."""
    shown = [
        f"{part_name(each.part)} {difference_and_interval(each.difference, None, decimals)[0]}"
        for each in pair.contributions or ()
    ]
    more = len(shown) - MOST_PARTS
    if more > 0:
        shown = [*shown[:MOST_PARTS], f"and {more} more"]
    return f"Contributions: {', '.join(shown)}." if shown else None


def _caveats(names: tuple[str, ...]) -> Iterator[str]:
    """What limits p, a line each."""
    kinds = caveat_kinds()
    for name in names[:MOST_CAVEATS]:
        yield f"Caveat ({name}): {kinds[name]['about']}." if name in kinds else f"Caveat: {name}."
    if more := names[MOST_CAVEATS:]:
        yield f"Further caveats, which print(comparison) explains: {', '.join(more)}."
