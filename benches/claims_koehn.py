"""The claims of Koehn 2004 (W04-3250)."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Any

from claims import WMT17, Claim, Figures, Paper, Summary, markdown_table, number, rows_of, share
from claims_errors import SIZE, rejections
from claims_lengths import PENALTIES, plot_penalties, scores, show_penalties, summary_penalties
from claims_samples import (
    SAMPLES,
    plot_samples,
    reversals,
    samples,
    show_intervals,
    show_ranges,
    show_reversals,
    show_spread,
    spread,
    summary_intervals,
    summary_ranges,
    summary_reversals,
    summary_spread,
)

__all__ = ["COMPLEMENT", "KOEHN", "TABLE_4"]

SIZES = (100, 300, 600)
VALIDATE = f"reshuffle study validate {WMT17} --sizes {' '.join(map(str, SIZES))} --layouts broad block"
WHOLE, COMPLEMENT = (f"{VALIDATE} --truth {truth}" for truth in ("whole", "complement"))


# Table 2: Student's t.

T_VALUES = """
import json
from scipy.stats import t

sizes, levels = (100, 300, 600, 3000), (0.01, 0.05, 0.10)
print(json.dumps([[[t.ppf(1 - level / 2, n - less) for level in levels] for n in sizes] for less in (0, 1)]))
"""
TABLE_2 = {
    100: (2.6259, 1.9849, 1.6602),
    300: (2.5923, 1.9679, 1.6499),
    600: (2.5841, 1.9639, 1.6474),
    3000: (2.5759, 1.9600, 1.6449),
}


def show_t(figures: Figures) -> str:
    rows = [
        [
            f"{size:,}",
            *(" / ".join(number(value, 4) for value in values) for values in zip(theirs, n, less, strict=True)),
        ]
        for (size, theirs), n, less in zip(TABLE_2.items(), *figures, strict=True)
    ]
    wrong = mismatches(figures)
    return f"""
{markdown_table(["n", "level .01", ".05", ".10"], rows, 0)}

Each cell has the paper's value, t with n degrees of freedom, and t with n − 1. The paper's formula 5 has n degrees of
freedom, although a variance that is estimated from n sentences has n − 1; the interval `t` of reshuffle has n − 1.
For n = 3,000 the paper prints the values of the normal distribution. Its other values are those for n degrees of
freedom, except {len(wrong)}: {", ".join(f"{theirs:.4f} instead of {ours:.4f}" for theirs, ours in wrong)}.
"""


def mismatches(figures: Figures) -> list[tuple[float, float]]:
    """Values of Table 2 for samples below 3,000 that differ from t with n degrees of freedom in the fourth decimal."""
    return [
        (theirs, ours)
        for (size, row), values in zip(TABLE_2.items(), figures[0], strict=True)
        for theirs, ours in zip(row, values, strict=True)
        if size < 3000 and abs(theirs - ours) > 0.00006
    ]


# Table 3: right and wrong conclusions.

# The difference in BLEU of each pair of systems, and the percentages of right and wrong conclusions by sample size.
TABLE_3 = [
    ("Spanish, Portuguese", 1.5, (33, 60, 84, 100), (1, 0, 0, 0)),
    ("Spanish, Danish", 2.0, (31, 65, 96, 100), (0, 0, 0, 0)),
    ("Portuguese, Danish", 0.5, (7, 12, 10, 30), (2, 1, 0, 0)),
    ("Portuguese, Greek", 2.1, (38, 68, 92, 100), (0, 0, 0, 0)),
    ("Danish, Greek", 1.6, (24, 48, 74, 100), (0, 0, 0, 0)),
    ("Danish, German", 4.3, (85, 100, 100, 100), (0, 0, 0, 0)),
    ("Greek, German", 2.7, (65, 97, 100, 100), (0, 0, 0, 0)),
    ("Greek, Finnish", 5.1, (97, 100, 100, 100), (0, 0, 0, 0)),
    ("German, Finnish", 2.4, (53, 91, 100, 100), (0, 0, 0, 0)),
]


def table_3(outputs: Sequence[Any]) -> Figures:
    """Right and wrong conclusions by bins of differences, for broad samples: with the whole pool as truth."""
    return [
        {key: row[key] for key in ("size", "samples", "low", "high", "pairs", "right", "wrong")}
        for row in rows_of(outputs[0], "gaps", layout="broad", test="paired-bootstrap")
    ]


def theirs_in(low: float, high: float | None) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The rows of Table 3 whose difference is in a bin."""
    return [(right, wrong) for _, gap, right, wrong in TABLE_3 if low < gap <= (high or 99)]


def show_table_3(figures: Figures) -> str:
    rows = []
    for low, high in dict.fromkeys((row["low"], row["high"]) for row in figures):
        published = theirs_in(low, high)
        cells = []
        for at, size in enumerate(SIZES):
            (ours,) = (row for row in figures if (row["low"], row["size"]) == (low, size))
            cells.append(f"{mean(r[at] for r, _ in published):.0f}%" if published else "–")
            cells.append(
                f"{share(ours['right'])}" + (f", {share(ours['wrong'])} wrong" if ours["wrong"] >= 0.005 else "")
            )
        pairs = next(row["pairs"] for row in figures if row["low"] == low)
        rows.append([f"{low:g} to {high:g}" if high else f"over {low:g}", f"{len(published)} / {pairs}", *cells])
    header = [
        "difference in BLEU",
        "pairs: paper / here",
        *(text for size in SIZES for text in (f"{size}: paper", "here")),
    ]
    samples = ", ".join(f"{next(r['samples'] for r in figures if r['size'] == size)} of {size}" for size in SIZES)
    return f"""
{markdown_table(header, rows)}

The share of samples in which the better system wins at least 950 of 1,000 draws; "wrong" where the worse one does.
The paper's columns are means over its pairs in each bin. The pool has 3,004 segments instead of 30,000, so there are
fewer samples (broad: {samples}), but 120 pairs of systems instead of nine. Samples of 3,000 would be the whole pool.
"""


def right_at(figures: Figures, size: int, low: float = 2.0) -> float:
    """The share of right conclusions in a bin."""
    (found,) = (row["right"] for row in figures if (row["low"], row["size"]) == (low, size))
    return float(found)


def summary_table_3(figures: Figures) -> Summary:
    theirs = [mean(right[at] for right, _ in theirs_in(2.0, 3.0)) for at in (0, 1)]
    ours = [right_at(figures, size) for size in (100, 300)]
    return Summary(
        "yes" if ours[1] > 0.8 > ours[0] + 0.1 else "no",
        f"2–3 BLEU: {theirs[0]:.0f}% right with 100 sentences, {theirs[1]:.0f}% with 300",
        f"{share(ours[0])} and {share(ours[1])}",
    )


# Table 4: accuracy by confidence.

TABLE_4 = {
    1.0: (1042, 100), 0.999: (738, 100), 0.99: (245, 99), 0.95: (394, 98), 0.9: (363, 95), 0.8: (520, 88),
    0.7: (324, 77), 0.6: (253, 72), 0.5: (261, 52),
}  # fmt: skip


def table_4(outputs: Sequence[Any]) -> Figures:
    """Conclusions and the share of right ones by band, over all sizes of broad samples, with both truths."""
    found: dict[str, Any] = {}
    for truth, output in zip(("whole", "complement"), outputs, strict=True):
        bands = rows_of(output, "bands", layout="broad", size=None, test="paired-bootstrap")
        found[truth] = [[band["low"], band["conclusions"], band["right"]] for band in bands if band["low"] in TABLE_4]
    gaps = [row["gap"] for row in rows_of(outputs[0], "pairs", layout="broad", size=SIZES[0])]
    return {**found, "close": mean(gap < 1 for gap in gaps)}


def show_table_4(figures: Figures) -> str:
    rows = [
        [
            "100 (all)" if low == 1 else f"{100 * low:g}",
            f"{theirs[0]:,}",
            f"{theirs[1]}%",
            f"{n:,}",
            share(whole),
            share(rest),
        ]
        for (low, theirs), (_, n, whole), (_, _, rest) in zip(
            TABLE_4.items(), figures["whole"], figures["complement"], strict=True
        )
    ]
    close = figures["close"]
    header = [
        "share of draws won, from",
        "paper: conclusions",
        "right",
        "here: conclusions",
        "right",
        "right, unbiased",
    ]
    return f"""
{markdown_table(header, rows)}

The lower ends of the bands are in percent. As in the paper, samples of all sizes and all pairs are counted together,
and the truth is the sign of the difference on the whole pool (`--truth whole`). The pool contains the sample, so this
flatters the test; the last column takes the truth from the rest of the pool (`--truth complement`), which is unbiased
but itself uncertain for close pairs. The confidence is that of the system that is better in the sample, so it is
one-sided. How many conclusions of some confidence are right depends on how close the systems are: here {share(close)}
of the pairs differ by less than one point, in the paper one of nine.
"""


def summary_table_4(figures: Figures) -> Summary:
    at_95 = {truth: next(right for low, _, right in figures[truth] if low == 0.95) for truth in ("whole", "complement")}
    return Summary(
        "yes" if at_95["whole"] >= 0.95 else "in part",
        "98% of conclusions with confidence 95–99% are right",
        f"{share(at_95['whole'])}; {share(at_95['complement'])} if the truth is that of the other segments",
    )


# The paired bootstrap as a two-sided test.


def show_two_sided(figures: Figures) -> str:
    rows = [
        [
            f"`{test}`",
            *(f"{number(rate)} ({number(low)}–{number(high)})" for _, rate, low, high in figures["rates"][test]),
        ]
        for test in ("paired-bootstrap", "bootstrap-percentile")
    ]
    wrong = next(rate for alpha, rate, *_ in figures["rates"]["paired-bootstrap"] if alpha == 0.05)
    return f"""
{markdown_table(["test", "at .01", "at .05", "at .10"], rows)}

The share of {figures["simulations"]:,} simulated test sets of 500 segments with p ≤ level; the null hypothesis is
true. The data choose which system is called better, so p of the paired bootstrap is one-sided in the direction that
looks best. "95% confidence that one of the systems is better" is wrong in {share(wrong)} of the cases in which
neither is. Doubled, it becomes the test `bootstrap-percentile`.
"""


def summary_two_sided(figures: Figures) -> Summary:
    rate = next(rate for alpha, rate, *_ in figures["rates"]["paired-bootstrap"] if alpha == 0.05)
    return Summary(
        "no" if rate > 0.075 else "yes",
        "95% confidence",
        f"wins 95% of draws in {number(rate)} of test sets without a difference",
    )


KOEHN = Paper(
    title="Koehn 2004",
    about="""
*Statistical Significance Tests for Machine Translation Evaluation*, [W04-3250](https://aclanthology.org/W04-3250).
The paper introduces bootstrap intervals and the paired bootstrap for BLEU, and validates both on samples of a large
test set.
""",
    claims=(
        Claim(
            name="koehn-table-3",
            title="300 sentences suffice at 2 to 3 BLEU, 100 do not",
            paper="""
Table 3 splits 30,000 sentences into samples of 100, 300, 600 and 3,000, runs the paired bootstrap on each for nine
pairs of systems, and counts the conclusions at 95% that are right.
""",
            commands=(WHOLE,),
            extract=table_3,
            summary=summary_table_3,
            show=show_table_3,
        ),
        Claim(
            name="koehn-table-4",
            title="Conclusions are as reliable as their confidence",
            paper="Table 4 shows how many conclusions are right, by the share of draws that the better system wins.",
            commands=(WHOLE, COMPLEMENT),
            extract=table_4,
            summary=summary_table_4,
            show=show_table_4,
        ),
        Claim(
            name="koehn-spread",
            title="The bootstrap varies as fresh test sets do",
            paper="""
The paired bootstrap assumes that draws from one test set vary as fresh test sets would. Blocks of 300 consecutive
sentences have BLEU from 21 to 37, broad samples (every hundredth sentence) only from 27 to 31.
""",
            commands=(COMPLEMENT,),
            extract=spread,
            summary=summary_spread,
            show=show_spread,
        ),
        Claim(
            name="koehn-ranges",
            title="Blocks vary more than broad samples",
            paper="""
Figures 2 and 3: blocks of 300 consecutive sentences have scores from 21 to 37, broad samples (sentences j, j + 100, j
+ 200, …) from 27 to 31.
""",
            commands=(SAMPLES,),
            extract=samples,
            summary=summary_ranges,
            show=show_ranges,
            plot=plot_samples,
            caption="BLEU of one system on samples of 100 segments with 95% intervals, and on the whole set (line)",
        ),
        Claim(
            name="koehn-intervals",
            title="Bootstrap intervals cover the true score",
            paper="""
Figure 6: 95% intervals from 1,000 draws (the 26th and the 975th) of 100 broad samples; three of them do not contain
the score of all 30,000 sentences.
""",
            commands=(SAMPLES,),
            extract=samples,
            summary=summary_intervals,
            show=show_intervals,
        ),
        Claim(
            name="koehn-reversals",
            title="The better system seldom loses on a sample",
            paper="""
Figure 4: of ten broad samples of 3,000 sentences, one reverses the order of two systems that differ by 1.5 BLEU, by
.07.
""",
            commands=(SAMPLES,),
            extract=reversals,
            summary=summary_reversals,
            show=show_reversals,
        ),
        Claim(
            name="koehn-two-sided",
            title="The share of draws won is a confidence",
            paper="""
Section 6 of the paper reads 95% of draws won as 95% confidence that one system is better than the other.
""",
            commands=(SIZE,),
            extract=rejections,
            summary=summary_two_sided,
            show=show_two_sided,
        ),
        Claim(
            name="koehn-lengths",
            title="BLEU depends more than GTM on the length of outputs",
            paper="""
Figure 1 varies the word penalty of two systems, and plots their BLEU and GTM against the ratio of output length to
reference length.
""",
            python=PENALTIES,
            extract=scores,
            summary=summary_penalties,
            show=show_penalties,
            plot=plot_penalties,
            caption="BLEU and GTM of one model by the length ratio of its output, in percent of the largest score",
        ),
        Claim(
            name="koehn-t",
            title="Values of Student's t",
            paper="Table 2 has the factors of the interval for a mean of sentence scores, formula 5.",
            python=T_VALUES,
            extract=lambda outputs: outputs[0],
            summary=lambda figures: Summary(
                "in part",
                "1.9849 for n = 100 at .05",
                f"{number(figures[0][0][1], 4)} with the paper's degrees of freedom",
            ),
            show=show_t,
        ),
    ),
    after="""
### Slips in W04-3250

- The text has "300 broad samples" where 100 samples of 300 sentences are meant, and "six" systems in a table of
  three.
- Formula 5 has n degrees of freedom instead of n − 1.
""",
)
