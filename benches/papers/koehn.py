"""The claims of Koehn 2004 (W04-3250)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from .claims import WMT17, Claim, Figures, Paper, Summary, markdown_table, number, rows_of, share
from .errors import SIZE, rejections
from .lengths import PENALTIES, plot_penalties, scores, show_penalties, summary_penalties
from .samples import (
    SAMPLES,
    confidences,
    on_both,
    plot_confidences,
    plot_samples,
    reversals,
    samples,
    show_confidences,
    show_intervals,
    show_ranges,
    show_reversals,
    show_spread,
    spread,
    summary_confidences,
    summary_intervals,
    summary_ranges,
    summary_reversals,
    summary_spread,
)

__all__ = ["COMPLEMENT", "KOEHN", "TABLE_4"]

SIZES, LAYOUTS = (100, 300, 600), ("broad", "block")
VALIDATE = f"reshuffle study validate {WMT17} --sizes {' '.join(map(str, SIZES))} --layouts broad block"
WHOLE, COMPLEMENT = (f"{VALIDATE} --truth {truth}" for truth in ("whole", "complement"))


# Table 1: precisions of n-grams.

PRECISIONS = """
import json
from pathlib import Path
from reshuffle import metric, read_lines

bleu = metric("bleu")
files = sorted(Path("wmt17-en-de/sys").glob("*.txt"))
counts = bleu.suff_stats([read_lines("wmt17-en-de/ref.txt")], [read_lines(file) for file in files]).sum(axis=1)
matches, totals = counts[:, 2:6], counts[:, 6:]
found = zip((file.stem for file in files), bleu.score(counts).tolist(), (100 * matches / totals).tolist())
print(json.dumps(sorted(found, key=lambda row: -row[1])))
"""
TABLE_1 = [("Spanish", 28.9, 14.7), ("Finnish", 20.2, 7.8)]


def relative(figures: Figures) -> list[float]:
    """The best system's BLEU and precisions of 1-grams to 4-grams over those of the worst one."""
    (_, *best), (_, *worst) = figures[0], figures[-1]
    return [a / b for a, b in zip((best[0], *best[1]), (worst[0], *worst[1]), strict=True)]


def n_longest_first(figures: Figures) -> tuple[int, int]:
    """In how many pairs of systems the ratio of 4-gram precisions is the largest of the four, and of how many."""
    pairs = [(a, b) for i, (_, _, a) in enumerate(figures) for _, _, b in figures[i + 1 :]]
    ratios = [[max(x / y, y / x) for x, y in zip(a, b, strict=True)] for a, b in pairs]
    return sum(max(each) == each[3] for each in ratios), len(pairs)


def show_precisions(figures: Figures) -> str:
    rows = [[f"*paper: {name}*", number(bleu, 1), "–", "–", "–", number(four, 1)] for name, bleu, four in TABLE_1]
    (_, *best), (_, *worst) = TABLE_1
    rows.append(["*ratio*", number(best[0] / worst[0], 2), "–", "–", "–", number(best[1] / worst[1], 2)])
    for name, bleu, precisions in (figures[0], figures[-1]):
        rows.append([name, number(bleu, 1), *(number(each, 1) for each in precisions)])
    rows.append(["ratio", *(number(each, 2) for each in relative(figures))])
    first, pairs = n_longest_first(figures)
    return f"""
{markdown_table(["system", "BLEU", *(f"{n}-grams, %" for n in range(1, 5))], rows)}

The best and the worst of {len(figures)} systems. In {first} of all {pairs} pairs, 4-gram precision differs by the
largest factor of the four. BLEU is a geometric mean, so its ratio is between those of the precisions, apart from the
brevity penalty.
"""


def summary_precisions(figures: Figures) -> Summary:
    bleu, *precisions = relative(figures)
    (_, *best), (_, *worst) = TABLE_1
    rising = precisions == sorted(precisions) and precisions[-1] > bleu
    return Summary(
        "yes" if rising else "no",
        f"best over worst: BLEU {number(best[0] / worst[0], 2)}, 4-gram precision {number(best[1] / worst[1], 2)}",
        f"BLEU {number(bleu, 2)}, 1-gram precision {number(precisions[0], 2)}, 4-gram {number(precisions[3], 2)}",
        "the ratio of precisions rises with n, and that of 4-grams is above that of BLEU.",
    )


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
    """Right and wrong conclusions by bins of differences and layouts: with the whole pool as truth."""
    return [
        {key: row[key] for key in ("layout", "size", "samples", "low", "high", "pairs", "right", "wrong")}
        for row in rows_of(outputs[0], "gaps", test="paired-bootstrap")
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
            cells.append(f"{mean(r[at] for r, _ in published):.0f}%" if published else "–")
            for layout in LAYOUTS:
                ours = in_bin(figures, layout, size, low)
                cells.append(share(ours["right"]))
                if ours["wrong"] >= 0.005:
                    cells[-1] += f", {share(ours['wrong'])} wrong"
        pairs = next(row["pairs"] for row in figures if row["low"] == low)
        rows.append([f"{low:g} to {high:g}" if high else f"over {low:g}", f"{len(published)} / {pairs}", *cells])
    header = [
        "difference in BLEU",
        "pairs: paper / here",
        *(text for size in SIZES for text in (f"{size}: paper", *LAYOUTS)),
    ]
    samples = ", ".join(f"{next(r['samples'] for r in figures if r['size'] == size)} of {size}" for size in SIZES)
    return f"""
{markdown_table(header, rows)}

The share of samples in which the better system wins at least 950 of 1,000 draws; "wrong" where the worse one does.
The paper's columns are means over its pairs in each bin. The pool has 3,004 segments instead of 30,000, so there are
fewer samples ({samples}, of each layout), but 120 pairs of systems instead of nine. Samples of 3,000 would be the
whole pool. Broad samples have sentences of all documents of the pool, blocks those of few. Of differences of 2 to 3
BLEU, {share(in_bin(figures, "block", 300)["right"])} of blocks of 300 lead to the right conclusion and
{share(in_bin(figures, "block", 600)["right"])} of blocks of 600, beside
{share(in_bin(figures, "broad", 300)["right"])} of broad samples of 300 and
{mean(right[1] for right, _ in theirs_in(2.0, 3.0)):.0f}% of the paper's samples of 300.
"""


def in_bin(figures: Figures, layout: str, size: int, low: float = 2.0) -> Mapping[str, Any]:
    """The shares of right and wrong conclusions from samples about the differences of a bin."""
    (found,) = (row for row in figures if (row["layout"], row["low"], row["size"]) == (layout, low, size))
    return dict(found)


def summary_table_3(figures: Figures) -> Summary:
    theirs = [mean(right[at] for right, _ in theirs_in(2.0, 3.0)) for at in (0, 1)]
    ours = {layout: [in_bin(figures, layout, size)["right"] for size in SIZES] for layout in LAYOUTS}
    enough = theirs[1] / 100
    return Summary(
        on_both(*(few < enough <= more for few, more, _ in ours.values())),
        f"2–3 BLEU: {theirs[0]:.0f}% right with 100 sentences, {theirs[1]:.0f}% with 300",
        "; ".join(f"{layout}: {share(few)} and {share(more)}" for layout, (few, more, _) in ours.items())
        + f" ({share(ours['block'][2])} with 600)",
        f"at 2 to 3 BLEU, at least {theirs[1]:.0f}% of the samples of 300, the paper's share, lead to the right "
        "conclusion, and fewer of those of 100; in part if this is so for broad samples or for blocks alone.",
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
    below = next(right for low, _, right in figures["whole"] if low == 0.9)
    return Summary(
        "yes" if at_95["whole"] >= 0.95 else "in part" if at_95["whole"] > below else "no",
        "98% of conclusions with confidence 95–99% are right",
        f"{share(at_95['whole'])}; {share(at_95['complement'])} if the truth is that of the other segments",
        "at least 95% of the conclusions in the band from 95 to 99% are right, in part if more than in the next band "
        "below.",
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
        "a system wins 95% of the draws in at most 7.5% of the test sets without a difference.",
    )


KOEHN = Paper(
    title="Koehn 2004",
    about="""
*Statistical Significance Tests for Machine Translation Evaluation*, [W04-3250](https://aclanthology.org/W04-3250).
The paper introduces bootstrap intervals and the paired bootstrap for BLEU, and validates both on samples of a large
test set.
""",
    apart={
        "samples": (
            "koehn-table-4",
            "koehn-spread",
            "koehn-ranges",
            "koehn-intervals",
            "koehn-reversals",
            "koehn-confidence",
        )
    },
    claims=(
        Claim(
            name="koehn-table-1",
            title="Systems differ most in the precision of their longest n-grams",
            paper="""
Table 1 has the precisions of the best and the worst system. Spanish (28.9 BLEU) and Finnish (20.2) have 4-gram
precisions of 14.7 and 7.8: BLEU rests on the longest n-grams.
""",
            python=PRECISIONS,
            extract=lambda outputs: outputs[0],
            summary=summary_precisions,
            show=show_precisions,
        ),
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
Figure 4: of 100 broad samples of 300 sentences, one (no. 10) reverses the order of the Spanish and the Danish system,
which differ by 2.0 BLEU; it does so by .07.
""",
            commands=(SAMPLES,),
            extract=reversals,
            summary=summary_reversals,
            show=show_reversals,
        ),
        Claim(
            name="koehn-confidence",
            title="At 2 BLEU most samples of 300 allow a conclusion, at half a point few",
            paper="""
Figures 7 and 8 show the confidence of the paired bootstrap on each of 100 broad samples of 300 sentences. At 2.0 BLEU
(Spanish against Danish) 65 samples lead to the right conclusion with 95% confidence, at .5 (Portuguese against Danish)
12 do, and one to the wrong one.
""",
            commands=(SAMPLES,),
            extract=confidences,
            summary=summary_confidences,
            show=show_confidences,
            plot=plot_confidences,
            caption="Share of draws that the better of two systems wins on each sample, for two sizes of differences",
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
                "in part" if mismatches(figures) else "yes",
                "1.9849 for n = 100 at .05",
                f"{number(figures[0][0][1], 4)} with the paper's degrees of freedom",
                "all values for samples below 3,000 are within .00006 of those of n degrees of freedom; in part "
                "otherwise.",
            ),
            show=show_t,
        ),
    ),
    after="""
## Slips in W04-3250

- The text has "300 broad samples" where 100 samples of 300 sentences are meant, and "six" systems in a table of
  three.
- Formula 5 has n degrees of freedom instead of n − 1.
""",
)
