"""The methods paragraph of a paper about systems with several runs each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...errors import counted, printable
from ...grouping import grouped
from ...results import UsedTest
from ...results.studies import RunComparison
from ..computed import adjusted_sentence, alternative_phrase
from ..methods import Cite, Detail, metrics_phrase
from ..wording import joined, number
from ..words import words
from .run_sentences import adjustments, intervals
from .run_values import deciding, exchange_phrase, has_several, of_unit
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
        yield from _others(result, result.plan.exchange[1:], cite)
        yield from map(Detail, _pvalues(result))
        yield from intervals(result, sentence=True)


def _tested(result: RunComparison, unit: str, cite: Cite) -> Iterator[str]:
    """The test that decides."""
    plan = result.plan
    against = "between all pairs of systems" if plan.baseline is None else f"from {printable(plan.baseline)}"
    by = f"{exchange_phrase(result)}{cite(_source(unit))}"
    how = f"{alternative_phrase(plan.alternative)}{_replicates(result, unit)}"
    yield f"Differences {against} were tested by {by}, {how}."
    yield f"The null hypothesis is that {of_unit(result, result.truths[unit].rstrip('.'))}."
    called, alpha = "difference is called significant if", number(plan.alpha)
    adjusted = [each.removeprefix("p ") for each in adjustments(result, [unit])]
    if adjusted:
        yield f"The p-values were {adjusted[0]}, and a {called} the adjusted p is at most {alpha}."
    else:
        yield f"A {called} p is at most {alpha}."


def _source(unit: str) -> str | None:
    source: str | None = words("runs")["exchange"].get(unit, {}).get("source")
    return source


def _others(result: RunComparison, units: Sequence[str], cite: Cite) -> Iterator[str]:
    """The tests whose p tables have beside it, and how p is adjusted."""
    if not units:
        return
    named = {unit: of_unit(result, exchange_phrase(result, unit).partition(" (")[0]) for unit in units}
    tests = joined(f"{by} ({unit}{_replicates(result, unit)}){cite(_source(unit))}" for unit, by in named.items())
    adjusted = [*adjustments(result, units)]
    were = f"; their p-values were {adjusted[0].removeprefix('p ')}" if adjusted else ""
    yield f"For comparison, the differences were also tested by {tests}{were}."


def _pvalues(result: RunComparison) -> Iterator[str]:
    """How p and adjusted p are computed, once for tests with the same formula."""
    plan = result.plan
    two_sided = plan.alternative == "two-sided"
    than = {
        "as": "at least as large in absolute value as" if two_sided else "at least as far in the direction tested as",
        "beyond": "larger in absolute value than" if two_sided else "farther in the direction tested than",
    }

    def formula(unit: str) -> str:
        about, own = words("runs")["exchange"].get(unit, {}), of_name(result.comparisons, exchange=unit)
        if "compared" in about:
            return f"For the p-value of {{}}, {about['compared']}."
        exact = {each.exact for each in own}
        shares = ["(c + 1)/(R + 1)"] * (False in exact) + ["c/R for all R exchanges"] * (True in exact)
        return f"The p-value of {{}} is {' or '.join(shares)}, where c is the number of {about['counted']}."

    for text, units in grouped((formula(unit), unit) for unit in plan.exchange).items():
        yield of_unit(result, text.format(joined(units), **than))
    n_tests = len(deciding(result)) // (1 if plan.family == "all" else len(result.metrics))
    for unit, how in plan.adjustments.items():
        if unit == result.default_exchange and how != "none":
            # Studentized statistics have a common scale, and the others are standardized as those of shuffles.
            scaled = UsedTest("ar-studentized" if unit == "run" else "ar", "", "", "replicates", adjustment=how)
            yield adjusted_sentence(scaled, n_tests, len(plan.systems))


def _replicates(result: RunComparison, unit: str) -> str:
    """The replicates of a test, and their seed."""
    tests = of_name(result.comparisons, exchange=unit)
    random = {each.n_resamples for each in tests if not each.exact} - {0}
    exact = {each.n_resamples for each in tests if each.exact}
    shown = [f"R = {max(random):,} replicates and seed {result.plan.seed}"] if random else []
    shown += [f"all {max(exact):,} exchanges{' where these are few' if random else ''}"] if exact else []
    return f", with {joined(shown)}" if shown else ""
