"""What samples of a large test set show about intervals and the bootstrap: Koehn 2004 (W04-3250), Figs. 2–4 and 6."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from claims import WMT17, Figures, Summary, markdown_table, number, rows_of
from papers_figures import columns, save

__all__ = [
    "SAMPLES",
    "plot_samples",
    "reversals",
    "samples",
    "show_intervals",
    "show_ranges",
    "show_reversals",
    "show_spread",
    "spread",
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


def summary_spread(figures: Figures) -> Summary:
    broad, block = (ratio(figures, layout, "differences") for layout in ("broad", "block"))
    return Summary(
        "in part",
        "the bootstrap varies as fresh test sets do",
        f"SD of draws over that of samples: {number(broad, 2)} for broad samples, {number(block, 2)} for blocks",
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
    return Summary("yes" if wider else "no", "samples of 300: 21–37 and 27–31 BLEU", f"{block} and {broad} BLEU")


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
        "yes" if broad <= 0.075 else "no",
        "3 of 100 true scores outside",
        f"{100 * broad:.1f}% of broad samples of 100 segments, {100 * block:.1f}% of blocks",
    )


BINS = ((0, 0.5), (0.5, 1), (1, 2), (2, 3), (3, 100))


def reversals(outputs: Sequence[Any]) -> Figures:
    """The share of broad samples on which the worse system scores higher, by the difference on the pool and size."""
    (output,) = outputs
    gaps = {frozenset((row["better"], row["worse"])): row["gap"] for row in output["pairs"]}
    found = []
    for low, high in BINS:
        for size in (100, 300):
            rows = [
                row
                for row in rows_of(output, "differences", layout="broad", size=size)
                if low < gaps[frozenset((row["system"], row["baseline"]))] <= high
            ]
            reversed_by = [abs(row["difference"]) for row in rows if row["reversal"]]
            found.append([low, high, size, len(rows), len(reversed_by) / len(rows), max(reversed_by, default=0.0)])
    return found


def show_reversals(figures: Figures) -> str:
    rows = []
    for low, high in BINS:
        cells = [row for row in figures if row[0] == low]
        texts = [f"{100 * rate:.1f}%" + (f" (by up to {most:.2f})" if rate else "") for *_, rate, most in cells]
        rows.append([f"{low:g} to {high:g}" if high < 100 else f"over {low:g}", *texts])
    return f"""
{markdown_table(["difference in BLEU", "samples of 100", "samples of 300"], rows)}

The share of broad samples on which the system that is worse on the whole pool scores higher, over all pairs. The
paper's samples of 3,000 sentences would be the whole pool here.
"""


def summary_reversals(figures: Figures) -> Summary:
    (rate,) = (row[4] for row in figures if row[0] == 1 and row[2] == 300)
    return Summary(
        "yes" if rate < 0.1 else "no",
        "1 of 10 samples of 3,000 at 1.5 BLEU",
        f"{100 * rate:.1f}% of samples of 300 at 1 to 2 BLEU",
    )
