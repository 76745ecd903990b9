"""What samples of a large test set show about intervals and the bootstrap: Koehn 2004 (W04-3250), Figs. 2–4, 6–8."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from .claims import WMT17, Figures, Summary, Verdict, markdown_table, number, rows_of
from .figures import columns, save

__all__ = [
    "SAMPLES",
    "confidences",
    "on_both",
    "plot_confidences",
    "plot_samples",
    "reversals",
    "samples",
    "show_confidences",
    "show_intervals",
    "show_ranges",
    "show_reversals",
    "show_spread",
    "spread",
    "summary_confidences",
    "summary_intervals",
    "summary_ranges",
    "summary_reversals",
    "summary_spread",
]

# The spread of the bootstrap and of samples.


def spread(outputs: Sequence[Any]) -> Figures:
    """Standard deviations over samples and draws."""
    return [
        {key: row[key] for key in ("layout", "size", "samples", "quantity", "observed", "bootstrap", "ratio")}
        for row in outputs[0]["spread"]
    ]


def show_spread(figures: Figures) -> str:
    rows = [
        [
            row["layout"],
            str(row["size"]),
            str(row["samples"]),
            row["quantity"],
            number(row["observed"], 2),
            number(row["bootstrap"], 2),
            number(row["ratio"], 2),
        ]
        for row in figures
    ]
    header = ["samples", "size", "number", "of", "SD over samples", "SD of draws", "ratio"]
    return f"""
{markdown_table(header, rows, 1)}

Root mean squares over systems or pairs, in BLEU. For differences on broad samples the bootstrap is right: the ratio
is near 1. For scores of single systems on broad samples it is too large, because such samples have sentences of the
same documents, and so are more alike than fresh test sets. A block has sentences of few documents, and blocks vary
more than the bootstrap says, which draws sentences as if they were independent. A fresh test set has other documents,
too. If documents are known, `--docs` draws them instead of sentences.
"""


def ratio(figures: Figures, layout: str, quantity: str) -> float:
    """The ratio for samples of 300."""
    (found,) = (
        row["ratio"] for row in figures if (row["layout"], row["size"], row["quantity"]) == (layout, 300, quantity)
    )
    return float(found)


def on_both(broad: bool, block: bool) -> Verdict:
    """Whether a claim about samples holds for both layouts, or for one."""
    return "yes" if broad and block else "in part" if broad or block else "no"


def summary_spread(figures: Figures) -> Summary:
    broad, block = (ratio(figures, layout, "differences") for layout in ("broad", "block"))
    return Summary(
        on_both(*(abs(each - 1) <= 0.1 for each in (broad, block))),
        "the bootstrap varies as fresh test sets do",
        f"SD of draws over that of samples: {number(broad, 2)} for broad samples, {number(block, 2)} for blocks",
        "for differences on samples of 300, the ratio is within .1 of 1; in part if this is so for broad samples or "
        "for blocks alone.",
    )


# Samples: Figs. 2 to 4, 6 to 8.

SAMPLES = f"reshuffle study samples {WMT17} --sizes 100 300 --layouts block broad --all-pairs --curve-sizes 3004"
SHOWN = "KIT.4950"


def samples(outputs: Sequence[Any]) -> Figures:
    """The ranges of scores, the share of intervals that miss the score of the pool, and one system's samples."""
    (output,) = outputs
    ranges = [
        {
            "layout": layout,
            "size": size,
            "samples": rows[0]["samples"],
            "shown": next([row["lowest"], row["highest"]] for row in rows if row["system"] == SHOWN),
            "range": mean(row["highest"] - row["lowest"] for row in rows),
            "deviation": mean(row["deviation"] for row in rows),
            "outside": mean(row["outside"] for row in rows),
            "systems": len(rows),
        }
        for layout in ("block", "broad")
        for size in (100, 300)
        if (rows := rows_of(output, "ranges", layout=layout, size=size))
    ]
    scores = {
        layout: [
            [row["score"], row["confidence_interval"]["low"], row["confidence_interval"]["high"]]
            for row in rows_of(output, "scores", layout=layout, size=100, system=SHOWN)
        ]
        for layout in ("block", "broad")
    }
    pool = next(row["pool_score"] for row in output["ranges"] if row["system"] == SHOWN)
    return {"ranges": ranges, "scores": scores, "pool": pool}


def show_ranges(figures: Figures) -> str:
    rows = [
        [
            row["layout"],
            str(row["size"]),
            str(row["samples"]),
            "–".join(number(end, 1) for end in row["shown"]),
            number(row["range"], 1),
            number(row["deviation"], 2),
        ]
        for row in figures["ranges"]
    ]
    header = ["samples", "size", "number", f"BLEU of {SHOWN}", "mean range", "mean standard deviation"]
    return f"""
{markdown_table(header, rows)}

The means are over {figures["ranges"][0]["systems"]} systems. The paper has 100 samples of 300, which makes its ranges
larger. Broad samples have sentences of all documents, so they differ less than blocks.
"""


def range_of(figures: Figures, layout: str, key: str, size: int = 300) -> Any:
    """A field of the summary of samples of one layout and size."""
    return next(row[key] for row in figures["ranges"] if (row["layout"], row["size"]) == (layout, size))


def summary_ranges(figures: Figures) -> Summary:
    block, broad = (
        "–".join(number(end, 1) for end in range_of(figures, layout, "shown")) for layout in ("block", "broad")
    )
    wider = range_of(figures, "block", "range") > 1.5 * range_of(figures, "broad", "range")
    return Summary(
        "yes" if wider else "no",
        "samples of 300: 21–37 and 27–31 BLEU",
        f"{block} and {broad} BLEU",
        "the mean range of blocks of 300 is at least 1.5 times that of broad samples.",
    )


def plot_samples(figures: Figures, path: Path) -> None:
    """Scores of samples of 100 segments with their intervals, sorted."""
    figure, axes = columns(2)
    for ax, (layout, scores) in zip(axes, figures["scores"].items(), strict=True):
        centre, low, high = zip(*sorted(scores), strict=True)
        at = range(1, len(scores) + 1)
        below, above = ([abs(a - b) for a, b in zip(centre, ends, strict=True)] for ends in (low, high))
        ax.errorbar(at, centre, yerr=[below, above], fmt="o", markersize=2, linewidth=0.7)
        ax.axhline(figures["pool"], color="black", linewidth=0.6)
        ax.set(title=f"{layout} samples of 100", xlabel="sample, sorted", ylabel="BLEU")
    bottom, top = (f(ax.get_ylim()[end] for ax in axes) for end, f in enumerate((min, max)))
    for ax in axes:
        ax.set_ylim(bottom, top)
    save(figure, path)


def show_intervals(figures: Figures) -> str:
    rows = [
        [row["layout"], str(row["size"]), f"{row['samples']} × {row['systems']}", f"{100 * row['outside']:.1f}%"]
        for row in figures["ranges"]
    ]
    return f"""
{markdown_table(["samples", "size", "samples × systems", "score of the pool outside"], rows)}

In the paper 3 of 100 intervals of broad samples miss the score of all sentences. A 95% interval should miss it in 5%
of samples. Broad samples share their documents, and the pool contains them, so intervals miss less often; blocks are
of few documents, and miss more often. Neither is what a user has, a test set of some documents out of many: for
these, `--docs` resamples documents.
"""


def summary_intervals(figures: Figures) -> Summary:
    broad, block = (range_of(figures, layout, "outside", 100) for layout in ("broad", "block"))
    return Summary(
        on_both(broad <= 0.075, block <= 0.075),
        "3 of 100 true scores outside",
        f"{100 * broad:.1f}% of broad samples of 100 segments, {100 * block:.1f}% of blocks",
        "at most 7.5% of the intervals on samples of 100 miss the score of the pool; in part if this is so for broad "
        "samples or for blocks alone.",
    )


# Around the difference of Spanish and Danish in the paper, 2.0 BLEU, and below and above.
BINS = ((0, 0.5), (0.5, 1), (1, 1.5), (1.5, 2.5), (2.5, 100))
# The paper's pairs in Figs. 7 and 8, their difference in BLEU, the differences here that are near it, and the shares of
# right and of wrong conclusions from 100 broad samples of 300.
SHOWN_PAIRS = {
    "Spanish, Danish": (2.0, (1.5, 2.5), 0.65, 0.0),
    "Portuguese, Danish": (0.5, (0.25, 0.75), 0.12, 0.01),
}


def differences_in(output: Any, low: float, high: float, layout: str, size: int) -> list[dict[str, Any]]:
    """The differences on samples of the pairs whose difference on the pool is in a bin."""
    gaps = {frozenset((row["better"], row["worse"])): row["gap"] for row in output["pairs"]}
    return [
        row
        for row in rows_of(output, "differences", layout=layout, size=size)
        if low < gaps[frozenset((row["system"], row["baseline"]))] <= high
    ]


def reversals(outputs: Sequence[Any]) -> Figures:
    """The share of samples on which the worse system scores higher, by the difference on the pool, layout and size."""
    found = []
    for low, high in BINS:
        for layout in ("broad", "block"):
            for size in (100, 300):
                rows = differences_in(outputs[0], low, high, layout, size)
                by = [abs(row["difference"]) for row in rows if row["reversal"]]
                found.append([low, high, layout, size, len(rows), len(by) / len(rows), max(by, default=0.0)])
    return found


def show_reversals(figures: Figures) -> str:
    rows = []
    for low, high in BINS:
        cells = [row for row in figures if row[0] == low]
        texts = [
            f"{100 * rate:.1f}% of {n:,}" + (f" (by up to {most:.2f})" if rate else "") for *_, n, rate, most in cells
        ]
        rows.append([f"{low:g} to {high:g}" if high < 100 else f"over {low:g}", *texts])
    header = ["difference in BLEU", *(f"{layout}, {size}" for layout in ("broad", "block") for size in (100, 300))]
    return f"""
{markdown_table(header, rows)}

The share of samples on which the system that is worse on the whole pool scores higher, over all pairs. The broad
samples of 300 with a difference of 1.5 to 2.5 BLEU are like for like: the paper has 100 of one pair, here are ten of
each pair. On blocks, which have sentences of few documents, the better system loses more often.
"""


def reversed_near_2(figures: Figures, layout: str) -> tuple[int, float]:
    """The number of samples of 300 of pairs that differ by about 2.0 BLEU, and the share of reversals."""
    (found,) = ((n, rate) for low, _, of, size, n, rate, _ in figures if (low, of, size) == (1.5, layout, 300))
    return found


def summary_reversals(figures: Figures) -> Summary:
    (n, broad), (_, block) = (reversed_near_2(figures, layout) for layout in ("broad", "block"))
    return Summary(
        on_both(broad <= 0.05, block <= 0.05),
        "1 of 100 broad samples of 300 at 2.0 BLEU",
        f"{100 * broad:.1f}% of {n:,} broad samples of 300 at 1.5 to 2.5 BLEU, {100 * block:.1f}% of blocks",
        "at most 5% of the samples of 300 of pairs with 1.5 to 2.5 BLEU reverse the order; in part if this is so for "
        "broad samples or for blocks alone.",
    )


def confidences(outputs: Sequence[Any]) -> Figures:
    """The share of draws that the better system wins on each sample of 300, and shares of right and wrong conclusions.

    By the paper's pair and the layout, for the pairs here whose difference is near.
    """
    found: dict[str, Any] = {}
    for name, (_, (low, high), *_) in SHOWN_PAIRS.items():
        for layout in ("broad", "block"):
            rows = differences_in(outputs[0], low, high, layout, 300)
            won = sorted(1 - row["confidence"] if row["reversal"] else row["confidence"] for row in rows)
            right, wrong = (mean(row["conclusion"] == each for row in rows) for each in ("right", "wrong"))
            found.setdefault(name, {})[layout] = {"won": won, "right": right, "wrong": wrong}
    return found


def show_confidences(figures: Figures) -> str:
    rows = []
    for name, (gap, (low, high), right, wrong) in SHOWN_PAIRS.items():
        cells = [f"{name}, {gap} BLEU", f"{100 * right:.0f}%, {100 * wrong:.0f}%", f"{low:g} to {high:g}"]
        for layout in ("broad", "block"):
            of = figures[name][layout]
            cells.append(f"{100 * of['right']:.0f}%, {100 * of['wrong']:.1f}% of {len(of['won']):,}")
        rows.append(cells)
    header = ["paper: pair", "right, wrong", "here: differences", "broad: right, wrong", "blocks: right, wrong"]
    return f"""
{markdown_table(header, rows, 1)}

The share of samples of 300 in which the truly better system wins at least 95% of the draws ("right"), and in which the
other one does ("wrong"). The figure has the share of draws that the better system wins on each sample; conclusions are
those beyond the dashed lines.
"""


def concludes(figures: Figures, layout: str) -> bool:
    """Whether most samples of a layout show a difference of about 2 BLEU, few one of .5, and hardly any are wrong."""
    large, small = (figures[name][layout] for name in SHOWN_PAIRS)
    return bool(large["right"] > 0.5 > small["right"] and max(large["wrong"], small["wrong"]) <= 0.05)


def summary_confidences(figures: Figures) -> Summary:
    shown = []
    for layout in ("broad", "block"):
        of_pairs = [figures[name][layout] for name in SHOWN_PAIRS]
        rates = [f"{100 * of['right']:.0f}% ({100 * of['wrong']:.1f}% wrong)" for of in of_pairs]
        shown.append(f"{layout}: {', '.join(rates)}")
    return Summary(
        on_both(*(concludes(figures, layout) for layout in ("broad", "block"))),
        "right from 65% of broad samples at 2.0 BLEU, 12% (1% wrong) at .5",
        f"near 2.0 and .5 BLEU, {'; '.join(shown)}",
        "more than half of the samples show a difference of about 2 BLEU, fewer than half one of about .5, and at most "
        "5% lead to a wrong conclusion; in part if this is so for broad samples or for blocks alone.",
    )


def plot_confidences(figures: Figures, path: Path) -> None:
    """The share of draws that the better system wins on each sample, sorted."""
    figure, axes = columns(2)
    for ax, (name, of_layouts) in zip(axes, figures.items(), strict=True):
        low, high = SHOWN_PAIRS[name][1]
        for (layout, found), style in zip(of_layouts.items(), ("-", ":"), strict=True):
            n = len(found["won"])
            at = [100 * (i + 0.5) / n for i in range(n)]
            ax.plot(at, [100 * won for won in found["won"]], style, label=f"{layout} samples")
        for level in (5, 95):
            ax.axhline(level, color="black", linewidth=0.6, linestyle="--")
        ax.set(title=f"{low:g} to {high:g} BLEU", xlabel="samples of 300, sorted, %")
        ax.set(ylabel="draws that the better system wins, %", ylim=(-3, 103))
        ax.legend(loc="lower right", bbox_to_anchor=(1, 0.1))
    save(figure, path)
