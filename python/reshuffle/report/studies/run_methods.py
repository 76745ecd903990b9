"""The methods paragraph of a paper about systems with several runs each."""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import counted, printable
from ...results.studies import RunComparison
from ..computed import alternative_phrase
from ..methods import Cite, metrics_phrase
from ..wording import joined, number
from ..words import words
from .run_sentences import adjustments, intervals
from .run_values import exchange_phrase, has_several, of_unit
from .wording import of_name

CLARK = "P11-2031"


def methods(result: RunComparison, cite: Cite) -> Iterator[str]:
    """The runs and their scores, the test that decides, its replicates and seed, and what is called significant."""
    plan = result.plan
    runs = joined(f"{counted(n, 'run')} of {printable(name)}" for name, n in plan.systems.items())
    size = counted(plan.segments, "segment")
    if plan.unit != "segment":
        size += f" in {counted(plan.units, plan.unit)}"
    yield f"The outputs of {runs} were scored by {metrics_phrase(result.metrics, cite)} on {size}."
    if has_several(result):
        yield (
            f"How much scores vary between runs (s_test) and between test sets (s_sel) was estimated{cite(CLARK)}, "
            f"s_sel from R = {plan.n_resamples:,} bootstrap draws of {plan.unit}s with seed {plan.seed}."
        )
    if result.comparisons:
        yield from _tested(result, result.default_exchange or "", cite)
        yield from intervals(result)


def _tested(result: RunComparison, unit: str, cite: Cite) -> Iterator[str]:
    """The test that decides."""
    plan = result.plan
    against = "between all pairs of systems" if plan.baseline is None else f"from {printable(plan.baseline)}"
    by = f"{exchange_phrase(result)}{cite(words('runs')['exchange'].get(unit, {}).get('source'))}"
    how = f"{alternative_phrase(plan.alternative)}{_replicates(result, unit)}"
    yield f"Differences {against} were tested by {by}, {how}."
    yield f"The null hypothesis is that {of_unit(result, result.truths[unit].rstrip('.'))}."
    called, alpha = "difference is called significant if", number(plan.alpha)
    adjusted = [each.removeprefix("p ") for each in adjustments(result, [unit])]
    if adjusted:
        yield f"The p-values were {adjusted[0]}, and a {called} the adjusted p is at most {alpha}."
    else:
        yield f"A {called} p is at most {alpha}."


def _replicates(result: RunComparison, unit: str) -> str:
    """The replicates of the test that decides, and their seed."""
    tests = of_name(result.comparisons, exchange=unit)
    random = {each.n_resamples for each in tests if not each.exact} - {0}
    exact = {each.n_resamples for each in tests if each.exact}
    shown = [f"R = {max(random):,} replicates and seed {result.plan.seed}"] if random else []
    shown += [f"all {max(exact):,} exchanges{' where these are few' if random else ''}"] if exact else []
    return f", with {joined(shown)}" if shown else ""
