"""One test, or a batch of tests, in words."""

from __future__ import annotations

import numpy as np

from ..errors import printable
from ..results import SignificanceResult
from .cells import pvalue_cell, random_replicates
from .notes import counted, number, worded


def significance_as_text(result: SignificanceResult) -> str:
    """The difference, p, how p was computed, and the signature, on a line each."""
    lines = _batch(result) if np.ndim(result.pvalue) else _one(result)
    return "\n".join(map(printable, [*lines, f"Signature: {result.signature}"]))


def _batch(result: SignificanceResult) -> list[str]:
    pvalues = np.asarray(result.pvalue)
    return [
        f"{result.metric}: a batch of {pvalues.size:,} tests ({result.test}, {result.alternative}), p from "
        f"{pvalues.min():.4g} to {pvalues.max():.4g}",
        "result.problem(i) is the result of test i.",
        *map(worded, result.caveats),
    ]


def _one(result: SignificanceResult) -> list[str]:
    p = equation("p", pvalue_cell(result.pvalue, random_replicates(result)))
    if result.adjusted_pvalue is not None:
        p += ", " + equation("adjusted p", pvalue_cell(result.adjusted_pvalue, random_replicates(result)))
    difference = f"{result.metric}: a - b = {result.statistic:+.6g}"
    replicates = replicates_in_words(result)
    return [
        f"{difference}, {p} ({result.test}, {_alternative(result)})",
        *([] if replicates is None else [replicates]),
        *map(worded, result.caveats),
    ]


def _alternative(result: SignificanceResult) -> str:
    return str(result.alternative) if result.margin is None else f"margin {number(result.margin)}"


def equation(name: str, cell: str) -> str:
    """``p = 0.05``, or ``p < 0.0001``."""
    return f"{name} < {cell[1:]}" if cell.startswith("<") else f"{name} = {cell}"


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
