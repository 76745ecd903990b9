"""The tables of ``eval``: plain text and LaTeX, in MultEval's layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .java import rounded
from .metrics import ScoredMetric

# How files written by this command begin.
LATEX_FILE = (
    r"(\\documentclass\[12pt\]\{article\}\n.*)?\\begin\{table\}\[htb\]\n\\begin\{center\}\n\\begin\{footnotesize\}"
)
FIRST_COLUMN, OTHER_COLUMNS = 15, 23
HEADINGS = (
    r"\bf Metric & \bf System & \bf Avg & \bf $\overline{s}_{\text{sel}}$ & \bf $s_{\text{Test}}$ & \bf $p$-value \\"
)


class Cell(NamedTuple):
    """A system under a metric.

    ``s_sel``, the standard deviation of draws, is NaN for one draw; ``s_opt``, that between runs, is None for one run,
    and ``pvalue`` for the baseline.
    """

    runs: Sequence[float]
    mean: float
    s_sel: float
    s_opt: float | None
    pvalue: float | None


def plain_table(names: Sequence[str], metrics: Sequence[ScoredMetric], cells: Sequence[Sequence[Cell]]) -> str:
    """The table on standard output. With one run, stars stand for what one run cannot tell."""
    n_runs = len(cells[0][0].runs)
    header = [f"n={n_runs}", *(f"{metric.name} (s_sel/s_opt/p)" for metric in metrics)]
    rows = [[name, *(_plain(of_metric[place]) for of_metric in cells)] for place, name in enumerate(names)]
    lines = [
        f"{first:<{FIRST_COLUMN}}" + "".join(f"{cell:<{OTHER_COLUMNS}}" for cell in rest)
        for first, *rest in [header, *rows]
    ]
    if n_runs == 1:
        lines.append("  *  Unknown: one run says nothing about optimizer instability. Use several runs.")
        if len(names) > 1:
            lines.append("  ** Not shown: a p-value from one run ignores optimizer instability. Use several runs.")
    return "".join(f"{line}\n" for line in lines)


def _plain(cell: Cell) -> str:
    one_run = cell.s_opt is None
    p = "-" if cell.pvalue is None else "**" if one_run else rounded(cell.pvalue, 2)
    return f"{rounded(cell.mean, 1)} ({rounded(cell.s_sel, 1)}/{'*' if one_run else rounded(cell.s_opt, 1)}/{p})"


def latex_table(
    names: Sequence[str],
    metrics: Sequence[ScoredMetric],
    cells: Sequence[Sequence[Cell]],
    whole_document: bool,
    legacy: bool,
) -> str:
    """The table in LaTeX, with a block for each metric. ``legacy``: p-values are those of MultEval's test."""
    lines = [
        r"\begin{table}[htb]",
        r"\begin{center}",
        r"\begin{footnotesize}",
        r"\begin{tabular}{|l|l|l|l|l|l|}",
        r"\hline",
        HEADINGS,
        r"\hline",
    ]
    for metric, of_systems in zip(metrics, cells, strict=True):
        lines.append(rf"\multirow{{{len(names)}}}{{*}}{{{metric.name}{metric.arrow or ' '}}}")
        for name, cell in zip(names, of_systems, strict=True):
            s_opt = "-" if cell.s_opt is None else rounded(cell.s_opt, 1)
            p = "-" if cell.pvalue is None else rounded(cell.pvalue, 2)
            lines.append(rf"& {name} & {rounded(cell.mean, 1)} & {rounded(cell.s_sel, 1)} & {s_opt} & {p} \\")
        lines.append(r"\hline")
    lines += [
        r"\end{tabular}",
        r"\end{footnotesize}",
        r"\end{center}",
        rf"\caption{{\label{{tab:scores}} {_caption(metrics, len(cells[0][0].runs), legacy)}}}",
        r"\end{table}",
    ]
    if whole_document:
        packages = (r"\usepackage{multirow}", r"\usepackage{amsmath}")
        lines = [r"\documentclass[12pt]{article}", *packages, r"\begin{document}", *lines, r"\end{document}"]
    return "".join(f"{line}\n" for line in lines)


def _caption(metrics: Sequence[ScoredMetric], n_runs: int, legacy: bool) -> str:
    of_runs = "Scores of one run" if n_runs == 1 else f"Means of {n_runs} runs"
    test = "MultEval's test" if legacy else "reshuffle's tests"
    return (
        f"{of_runs}: {'; '.join(metric.about for metric in metrics)}. "
        r"$\overline{s}_{\text{sel}}$: standard deviation of bootstrap draws of segments; "
        r"$s_{\text{Test}}$: standard deviation between optimizer runs; "
        f"$p$: against the baseline, by {test}."
    )
