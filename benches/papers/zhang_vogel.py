"""The claims of Zhang & Vogel 2004 (TMI)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .claims import Claim, Figures, Paper, Summary, markdown_table, number, share
from .figures import columns, save

__all__ = ["ZHANG_VOGEL"]

METRICS = ("BLEU", "NIST", "TER")
BY_SIZE = (
    "reshuffle study samples wmt17-en-de/ref.txt wmt17-en-de/sys/*.txt -m bleu nist ter --all-pairs --sizes 300 "
    "--layouts broad --curve-sizes 188 376 751 1502 3004",
)
BY_REFERENCES = (
    "reshuffle study samples wmt21-en-de/ref-A.txt wmt21-en-de/sys/*.txt --refs wmt21-en-de/ref-C.txt "
    "wmt21-en-de/ref-D.txt -m bleu nist --all-pairs --sizes 100 --layouts broad --curve-sizes 1002 "
    "--n-references 1 2 3",
)
POINT = ("metric", "references", "size", "width", "relative_width", "separated", "pairs")


def curves(outputs: Sequence[Any]) -> Figures:
    """The points of the curves."""
    return [{key: point[key] for key in POINT} for point in outputs[0]["curves"]]


def by_metric(figures: Figures, key: str, value: int) -> dict[str, dict[str, Any]]:
    """The points at a size, or with a number of references, by metric."""
    return {point["metric"]: point for point in figures if point[key] == value}


def curve_rows(figures: Figures, key: str) -> list[list[str]]:
    """A row for each size or number of references."""
    rows = []
    for value in sorted({point[key] for point in figures}):
        points = by_metric(figures, key, value).values()
        widths = [f"{number(point['width'], 2)} ({100 * point['relative_width']:.1f}%)" for point in points]
        rows.append([f"{value:,}", *widths, *(share(point["separated"]) for point in points)])
    return rows


def show_by_size(figures: Figures) -> str:
    first, last = (by_metric(figures, "size", f(point["size"] for point in figures)) for f in (min, max))
    names, times = list(first), last["BLEU"]["size"] / first["BLEU"]["size"]
    header = ["segments", *(f"{name}: width" for name in names), *(f"{name}: separated" for name in names)]
    ratios = ", ".join(f"{first[name]['width'] / last[name]['width']:.1f} ({name})" for name in names)
    return f"""
{markdown_table(header, curve_rows(figures, "size"), 0)}

Mean widths of the 95% intervals of 16 systems, in points and relative to the mean score, and the share of the
{last["BLEU"]["pairs"]} pairs whose interval of the difference excludes 0. With {times:.0f} times as many segments,
intervals are {ratios} times as narrow; 1/√n predicts {times**0.5:.1f}. Halving an interval needs about four times the
data.
"""


def summary_by_size(figures: Figures) -> Summary:
    first, last = (by_metric(figures, "size", f(point["size"] for point in figures))["BLEU"] for f in (min, max))
    ours, times = first["width"] / last["width"], last["size"] / first["size"]
    return Summary(
        "yes" if abs(ours / times**0.5 - 1) < 0.15 else "in part" if ours > 1 else "no",
        "curves that flatten with the size",
        f"BLEU: {ours:.1f} times narrower with {times:.0f} times the segments",
        "intervals of BLEU are narrower by the square root of the factor of segments, within 15%; in part if they are "
        "narrower at all.",
    )


def plot_by_size(figures: Figures, path: Path) -> None:
    """Relative widths, and shares of separated pairs, against the number of segments."""
    figure, (left, right) = columns(2)
    for metric, style in zip(METRICS, ("o-", "s--", "^:"), strict=True):
        points = [point for point in figures if point["metric"] == metric]
        segments = [point["size"] for point in points]
        left.loglog(segments, [100 * point["relative_width"] for point in points], style, label=metric)
        right.semilogx(segments, [100 * point["separated"] for point in points], style, label=metric)
    for ax in (left, right):
        ax.set_xticks(segments, [str(size) for size in segments])
        ax.minorticks_off()
    left.set_yticks([2, 5, 10, 20], ["2", "5", "10", "20"])
    left.set(xlabel="segments", ylabel="width, % of the score")
    right.set(xlabel="segments", ylabel="pairs separated, %")
    left.legend(frameon=False)
    save(figure, path)


def show_by_references(figures: Figures) -> str:
    first, last = (by_metric(figures, "references", n)["BLEU"]["relative_width"] for n in (1, 3))
    header = ["references", "BLEU: width", "NIST: width", "BLEU: separated", "NIST: separated"]
    return f"""
{markdown_table(header, curve_rows(figures, "references"), 0)}

Scores rise with the number of references, so the width relative to the score matters. With three references instead
of one it is {100 * (1 - last / first):.0f}% smaller for BLEU, which with one reference needs
{(first / last) ** 2:.1f} times as many segments. Whether more pairs are separated depends on the references, too:
they differ in style.
"""


def summary_by_references(figures: Figures) -> Summary:
    first, last = (100 * by_metric(figures, "references", n)["BLEU"]["relative_width"] for n in (1, 3))
    return Summary(
        "yes" if last < first else "no",
        "narrower with more references",
        f"BLEU: {first:.1f}% of the score with one, {last:.1f}% with three",
        "the relative width for BLEU is smaller with three references than with one.",
    )


ZHANG_VOGEL = Paper(
    title="Zhang & Vogel 2004",
    about="""
*Measuring Confidence Intervals for the Machine Translation Evaluation Metrics* (TMI 2004). The paper measures how
bootstrap intervals of BLEU and NIST depend on the size of the test set and on the number of references, and how many
differences each metric finds. Its results are curves, so no figures are quoted.
""",
    claims=(
        Claim(
            name="zv-size",
            title="Intervals narrow with the size of the test set",
            paper="Larger test sets have narrower intervals, with diminishing returns, and tell more systems apart.",
            commands=BY_SIZE,
            extract=curves,
            summary=summary_by_size,
            show=show_by_size,
            plot=plot_by_size,
            caption="Relative width of intervals, and share of separated pairs, by number of segments",
        ),
        Claim(
            name="zv-references",
            title="Intervals narrow with the number of references",
            paper="More references make intervals narrower, too.",
            commands=BY_REFERENCES,
            extract=curves,
            summary=summary_by_references,
            show=show_by_references,
        ),
    ),
)
