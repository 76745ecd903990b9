"""The claims of Clark et al. 2011 (P11-2031), and the p-values of the authors' tool MultEval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .claims import Claim, Figures, Paper, Summary, markdown_table, number, rows_of
from .replications import REPLICATIONS

__all__ = ["CLARK"]

FOLDER = "multeval-newstest2010-optreps"
FILES = (
    f"--refs {FOLDER}/ref.txt --baseline {FOLDER}/baseline/opt?.txt --system sys1 {FOLDER}/sys1/opt?.txt"
)  # fmt: skip
METRICS = "-m bleu:tokenize=none ter:variant=tercom length:tokenize=none"
UNITS = ("run", "segment", "pooled", "cell", "hierarchical", "multeval")
RUNS = (
    f"reshuffle runs {FILES} {METRICS} --exchange {' '.join(UNITS)}",
    f'reshuffle runs {FILES} -m meteor --meteor-jar "$RESHUFFLE_METEOR_JAR" --exchange {" ".join(UNITS)}',
)
SYSTEMS = {"baseline": "A", "sys1": "B"}


# Table 1: means and standard deviations.

# By experiment, metric and system: mean, s_sel, s_dev, s_test. None where the paper has no value.
TABLE_1: Mapping[str, Mapping[str, Sequence[tuple[float | None, ...]]]] = {
    "BTEC": {
        "BLEU": ((48.4, 1.6, 0.2, 0.5), (49.9, 1.5, 0.1, 0.4)),
        "METEOR": ((63.3, 0.9, None, 0.4), (63.8, 0.9, None, 0.5)),
        "TER": ((30.2, 1.1, None, 0.6), (28.7, 1.0, None, 0.2)),
    },
    "WMT": {
        "BLEU": ((18.5, 0.3, 0.0, 0.1), (18.7, 0.3, 0.0, 0.2)),
        "METEOR": ((49.0, 0.2, None, 0.2), (50.0, 0.2, None, 0.1)),
        "TER": ((65.5, 0.4, None, 0.3), (64.9, 0.4, None, 0.4)),
    },
}


def table_1(outputs: Sequence[Any]) -> Figures:
    """Mean, s_sel and s_test of each system, by metric."""
    return {
        metric["name"]: {
            SYSTEMS[system["name"]]: [system["scores"][metric["name"]][key] for key in ("mean", "s_sel", "s_test")]
            for system in output["systems"]
        }
        for output in outputs
        for metric in output["metrics"]
    }


def show_table_1(figures: Figures) -> str:
    rows = []
    for metric in ("BLEU", "METEOR", "TER", "length"):
        for at, system in enumerate("AB"):
            theirs = [
                " / ".join(_one(value) for value in TABLE_1[name][metric][at]) if metric in TABLE_1[name] else "–"
                for name in ("BTEC", "WMT")
            ]
            mean, s_sel, s_test = figures[metric][system]
            decimals = 4 if metric == "length" else 2
            ours = f"{number(mean, decimals)} / {number(s_sel, decimals)} / – / {number(s_test, decimals)}"
            rows.append([metric, system, *theirs, ours])
    header = ["metric", "system", "paper: BTEC", "paper: WMT", "here"]
    return f"""
{markdown_table(header, rows, 2)}

Each cell: mean / s_sel / s_dev / s_test. The paper has 300 replications of tuning for BTEC and 50
for WMT (German–English). Here are the three runs of two systems that MultEval's authors published with their tool,
on newstest2010, with scores near those of the paper's WMT systems: BLEU and length on the tokens as they are, TER as
Tercom 0.8 has it.

- s_test is of the order that the paper reports, and differs between systems: three runs say little about it. By chance
  one system's runs are close together, and the other's are not.
- The cells of BTEC cannot be reproduced: neither outputs nor data are public. s_dev cannot be, because the outputs on
  the development set are not published.
- METEOR: the paper used version 1.2, which cannot be obtained. Ours is METEOR 1.5 with all modules (`--meteor-jar`
  names its jar), whose scores are lower throughout; only the order of A and B and the size of the standard deviations
  can be compared. Length is not in the paper.
"""


def _one(value: float | None) -> str:
    """A value with the one decimal of the paper; – for a cell that it does not have."""
    return "–" if value is None else number(value, 1)


def summary_table_1(figures: Figures) -> Summary:
    (_, sel_a, test_a), (_, sel_b, test_b) = (figures["BLEU"][system] for system in "AB")
    share = max(test_a, test_b) / max(sel_a, sel_b)
    return Summary(
        "yes" if share >= 0.5 else "in part" if share >= 0.2 else "no",
        "BLEU (WMT): s_sel .3, s_test .1 and .2",
        f"BLEU: s_sel {number(sel_a, 2)}, s_test {number(test_a, 2)} and {number(test_b, 2)}",
        "the larger s_test of BLEU is at least half of the larger s_sel; in part if it is at least a fifth.",
    )


# Table 2: p-values.

DRAWS = """
import json, warnings
import numpy as np
from reshuffle import FromCounts, compare_runs, metric, read_lines

warnings.simplefilter("ignore")  # draws with replacement repeat runs
FOLDER = "multeval-newstest2010-optreps"
texts = {
    f"{name}{i}": read_lines(f"{FOLDER}/{path}/opt{i}.txt")
    for name, path in (("A", "baseline"), ("B", "sys1"))
    for i in range(3)
}
bleu = metric("bleu", tokenize="none")
counts = dict(zip(texts, bleu.suff_stats([read_lines(f"{FOLDER}/ref.txt")], list(texts.values()))))


def pvalues(a, b, units, **options):
    runs = {f"A#{i}": counts[f"A{run}"] for i, run in enumerate(a)}
    runs |= {f"B#{i}": counts[f"B{run}"] for i, run in enumerate(b)}
    result = compare_runs(None, {"A": len(a), "B": len(b)}, FromCounts("BLEU", runs, bleu), exchange=units, **options)
    return [found.pvalue for found in result.comparisons]


def ranked(name):  # runs from the lowest to the highest BLEU
    return sorted(range(3), key=lambda i: bleu.score(counts[f"{name}{i}"].sum(axis=0)))


(low_a, median_a, high_a), (low_b, median_b, high_b) = ranked("A"), ranked("B")
singles = {"A high, B low": (high_a, low_b), "median, median": (median_a, median_b), "A low, B high": (low_a, high_b)}
single = {case: pvalues([a], [b], ["segment"])[0] for case, (a, b) in singles.items()}

units, random, draws = ["pooled", "segment", "hierarchical"], np.random.default_rng(12345), {}
for n in (3, 5):
    found = [pvalues(*random.integers(3, size=(2, n)), units, n_resamples=999, seed=i) for i in range(250)]
    draws[n] = dict(zip(units, np.quantile(found, [0.025, 0.975], axis=0).T.tolist()))
print(json.dumps({"single": single, "draws": draws, "ranks": [ranked("A"), ranked("B")]}))
"""
# By case: p for BTEC and for WMT.
TABLE_2 = {
    "A high, B low": (".25", ".95"),
    "median, median": (".15", ".13"),
    "A low, B high": (".0003", ".003"),
}
TABLE_2_DRAWS = {"5": (".001–.034", ".001–.38"), "50": (".001–.001", ".001–.33")}


def table_2(outputs: Sequence[Any]) -> Figures:
    """p of single runs, the quantiles of p over draws, and p of all runs by exchange unit."""
    *runs, drawn = outputs
    whole = {
        metric["name"]: {
            row["exchange"]: row["pvalue"] for row in rows_of(output, "comparisons", metric=metric["name"])
        }
        for output in runs
        for metric in output["metrics"]
    }
    return {**drawn, "all": whole}


def show_table_2(figures: Figures) -> str:
    rows = [[f"1: {case}", *theirs, p_of(figures["single"][case]), "–", "–"] for case, theirs in TABLE_2.items()]
    for n in ("3", "5", "50"):
        theirs = TABLE_2_DRAWS.get(n, ("–", "–"))
        own = figures["draws"].get(n)
        ours = (
            ["–"] * 3
            if own is None
            else ["–".join(map(p_of, own[unit])) for unit in ("segment", "pooled", "hierarchical")]
        )
        rows.append([f"{n}, at random", *theirs, *ours])
    header = ["replicates", "paper: BTEC", "paper: WMT", "here: `segment`", "`pooled`", "`hierarchical`"]
    units = [[metric, *(p_of(of_metric[unit]) for unit in UNITS)] for metric, of_metric in figures["all"].items()]
    low, high = figures["draws"]["5"]["pooled"]
    return f"""
{markdown_table(header, rows)}

p of A against B under BLEU. High and low are the runs with the best and the worst BLEU on the test set, with one run
each, so that only segments can be exchanged (R = 10,000). The other rows have the 2.5% and 97.5% quantiles of p over
250 draws of n runs of each system *with replacement*, R = 999, as the paper has them: its reading of the test is
`pooled`. The pools are 300 and 50 runs in the paper, and 3 here, so a draw of 5 repeats runs and 50 are not drawn.

- The claim holds: with one run each, p can be anything from {p_of(figures["single"]["A low, B high"])} to
  {p_of(figures["single"]["A high, B low"])}, by the choice of the runs alone.
- With five runs `pooled` is between {p_of(low)} and {p_of(high)}. The spread is smaller than in the paper because three
  runs differ less than fifty, and `pooled` is too small in any case ([measured](#clark-size)).

p of all three runs against all three, by what is exchanged:

{markdown_table(["metric", *(f"`{unit}`" for unit in UNITS)], units)}

`run` cannot be below .1 with the paper's recommended minimum of three replications.
""".replace("(#clark-size)", "(#exchanging-single-outputs-does-not-cover-the-variance-of-runs)")


def p_of(value: float) -> str:
    """A p-value with the decimals that Table 2 has: more where it is small."""
    return number(value, 4 if value < 0.01 else 3)


def summary_table_2(figures: Figures) -> Summary:
    single = figures["single"]
    return Summary(
        "yes" if single["A low, B high"] < 0.05 < single["A high, B low"] else "no",
        "WMT: p from .003 to .95, by the choice of runs",
        f"p from {p_of(single['A low, B high'])} to {p_of(single['A high, B low'])}",
        "p is below .05 with the worst run of A and the best of B, and above it the other way round.",
    )


# Figure 2: observed differences.

FIGURE_2 = ("n_runs", "mean", "standard_deviation", "low", "high", "reversed", "experiments")


def figure_2(outputs: Sequence[Any]) -> Figures:
    """The observed differences by the number of runs, for BLEU."""
    return [{key: row[key] for key in FIGURE_2} for row in rows_of(outputs[0], "observed", metric="BLEU")]


def show_figure_2(figures: Figures) -> str:
    rows = [
        [
            f"{row['n_runs']}",
            number(row["standard_deviation"], 2),
            f"{number(row['low'], 2)} to {number(row['high'], 2)}",
            f"{100 * row['reversed']:.1f}%",
        ]
        for row in figures
    ]
    return f"""
{markdown_table(["runs", "standard deviation", "central 95%", "other sign"], rows)}

The difference B − A in BLEU that an experiment with so many runs of each system would have observed, by drawing runs
with replacement. Its mean is {number(figures[0]["mean"], 2)}. The paper has this distribution as a figure, around .2
BLEU; its shares are not printed, so none are quoted. Here, all are of the same three runs of each system, with which
nine differences are possible for one run.
"""


def summary_figure_2(figures: Figures) -> Summary:
    by_runs = {row["n_runs"]: row for row in figures}
    narrower = by_runs[5]["standard_deviation"] < by_runs[1]["standard_deviation"] / 2
    return Summary(
        "yes" if narrower and by_runs[1]["reversed"] > by_runs[5]["reversed"] else "no",
        "one run may show a decline; a few runs rarely do",
        f"other sign: {100 * by_runs[1]['reversed']:.0f}% of experiments with one run, "
        f"{100 * by_runs[5]['reversed']:.1f}% with five",
        "with five runs the standard deviation is less than half of that with one, and the other sign is rarer.",
    )


# MultEval's p-values.

MULTEVAL = """
import json, warnings
from reshuffle import compare_runs, metric, read_lines

warnings.simplefilter("ignore")  # some runs are given several times
folder = "multeval-newstest2010-optreps"
paths = {"B": "baseline", "S": "sys1", "T": "sys2"}
lines = {f"{name}{i}": read_lines(f"{folder}/{path}/opt{i}.txt") for name, path in paths.items() for i in range(3)}
reference = [read_lines(f"{folder}/ref.txt")]
metrics = [metric("bleu", tokenize="none"), metric("ter", variant="tercom"), metric("length", tokenize="none")]
cases = ["B012 S012", "B0 S1", "B0 B1", "B1 S1", "B01 S12", "B012 S120", "B000 S111", "B012 T012"]
found = {}
for case in cases:
    a, b = ([lines[name[0] + run] for run in name[1:]] for name in case.split())
    result = compare_runs(reference, {"a": a, "b": b}, metrics, exchange=["multeval", "cell", "segment"])
    found[case] = {f"{row.exchange} {row.metric}": row.pvalue for row in result.comparisons}
print(json.dumps(found))
"""
# The p-values of MultEval 0.5.1: ranges over runs of the tool, which has no seed.
PUBLISHED = [
    ("B012 S012", "BLEU", 0.0001, 0.0004),
    ("B012 S012", "TER", 0.0001, 0.0001),
    ("B012 S012", "length", 0.088, 0.095),
    ("B012 S120", "length", 0.085, 0.085),
    ("B01 S12", "BLEU", 0.0145, 0.0150),
    ("B0 S1", "BLEU", 0.616, 0.625),
    ("B0 S1", "TER", 0.247, 0.257),
    ("B1 S1", "BLEU", 0.936, 0.940),
    ("B0 B1", "BLEU", 0.343, 0.356),
    ("B0 B1", "length", 0.0082, 0.0103),
    ("B000 S111", "TER", 0.047, 0.047),
    ("B012 T012", "BLEU", 0.0001, 0.0001),
]


def multeval(outputs: Sequence[Any]) -> Figures:
    """p by case, exchange unit and metric."""
    return outputs[0]


def agree(figures: Figures) -> list[bool]:
    """Whether our p is in MultEval's range, or within four standard errors of 10,000 shuffles of it."""
    return [
        low - 4 * (low * (1 - low) / 10_000) ** 0.5 - 1e-4
        <= figures[case][f"multeval {metric}"]
        <= high + 4 * (high * (1 - high) / 10_000) ** 0.5 + 1e-4
        for case, metric, low, high in PUBLISHED
    ]


def show_multeval(figures: Figures) -> str:
    rows = []
    for case, metric, low, high in PUBLISHED:
        theirs = p_of(low) if low == high else f"{p_of(low)}–{p_of(high)}"
        ours = [p_of(figures[case][f"{unit} {metric}"]) for unit in ("multeval", "cell", "segment")]
        rows.append([case.replace(" ", " against "), metric, theirs, *ours])
    return f"""
{markdown_table(["runs", "metric", "MultEval 0.5.1", "`multeval`", "`cell`", "`segment`"], rows, 2)}

B, S and T are the baseline, sys1 and sys2 of MultEval's example; B012 are its runs 0, 1 and 2. MultEval has no seed:
ranges are those of several runs with 10,000 shuffles. `multeval` repeats its shuffles, `cell` is the same test without
its errors, and `segment` has one coin for all runs of a segment.

- sys2 is the baseline byte for byte. MultEval gives .0001, because it counts only shuffles that are *more* extreme; p
  is 1 with any other unit.
- Three copies of a run (B000) look like more evidence than one; so does another order of the same runs (S120) change p.
- No p-values of MultEval for METEOR are at hand.
"""


def summary_multeval(figures: Figures) -> Summary:
    same = agree(figures)
    return Summary(
        "yes" if all(same) else "in part" if any(same) else "no",
        f"{len(same)} p-values of MultEval 0.5.1",
        f"{sum(same)} agree within Monte Carlo error",
        "all p-values are in MultEval's range or within four standard errors of 10,000 shuffles; in part if some are.",
    )


# The size of exchange units.

SIZE = (
    f"reshuffle study exchange --exchange {' '.join(UNITS)} --runs 3 5 --correlation 0 0.54 --run-sd 0 0.775 1 2.333 "
    "--simulations 2000",
)
CELLS = [(3, 0.54, 0.0), (3, 0.54, 0.775), (5, 0.54, 0.0), (5, 0.0, 0.0), (5, 0.0, 1.0), (5, 0.0, 2.333)]


def sizes(outputs: Sequence[Any]) -> Figures:
    """The rate of each unit, with the expected one, for the cells that are shown."""
    return [
        [*cell, row["exchange"], row["rate"], row["expected"]]
        for cell in CELLS
        for row in rows_of(
            outputs[0], "exchange_sizes", **dict(zip(("runs", "correlation", "run_sd"), cell, strict=True))
        )
    ]


def show_sizes(figures: Figures) -> str:
    rates = {
        (unit, n, correlation, run_sd): (rate, expected) for n, correlation, run_sd, unit, rate, expected in figures
    }
    rows = []
    for cell in CELLS:
        shown = []
        for unit in UNITS:
            key = (unit, *cell)
            rate, expected = rates[key]
            shown.append(" / ".join([number(rate), *([] if expected is None else [number(expected)])]))
        n, correlation, run_sd = cell
        rows.append([f"{n}", number(correlation, 2), number(run_sd, 2), *shown])
    return f"""
{markdown_table(["runs", "ρ", "τ", *(f"`{unit}`" for unit in UNITS)], rows, 3)}

Rejection rates at .05 of 2,000 simulated test sets with 200 segments / the rate for many segments by a formula. The two
systems have equal expected scores; ρ is the correlation between the segment differences of their runs (on MultEval's
example .52 for sentence BLEU, .61 for TER and .71 for lengths), and τ is the standard deviation between runs in
sampling standard deviations of a score: 1 and 2.333 are .3 and .7 beside a sampling error of .3.

- `pooled`, the paper's test, takes the outputs of a segment by different runs as independent, so it rejects too often
  if they resemble each other, and like `segment` and `cell` if runs differ: it is a test of these outputs.
- `run` keeps its level whatever the variance between runs if ρ is 0. With ρ > 0 the systems differ on these segments,
  and it finds that: it is a test for this test set. With three runs it never rejects.
- `hierarchical` has both sources of variation, and keeps its level.
"""


def summary_sizes(figures: Figures) -> Summary:
    rates = {(unit, n, correlation, run_sd): rate for n, correlation, run_sd, unit, rate, _ in figures}
    pooled, hierarchical = (rates[unit, 3, 0.54, 0.0] for unit in ("pooled", "hierarchical"))
    return Summary(
        "no" if pooled > 0.1 else "yes",
        "the test accounts for optimizer instability",
        f"type-I error at .05, 3 runs: `pooled` {number(pooled)}, `hierarchical` {number(hierarchical)}",
        "the paper's test, `pooled`, rejects in at most 10% with three runs, ρ = .54 and τ = 0.",
    )


CLARK = Paper(
    title="Clark et al. 2011",
    about="""
*Better Hypothesis Testing for Statistical Machine Translation: Controlling for Optimizer Instability*,
[P11-2031](https://aclanthology.org/P11-2031). The paper measures how much scores of a system vary between replications
of tuning, and proposes a test over several replications.
""",
    apart={"the test": ("clark-multeval", "clark-size"), "replications": ("clark-mert", "clark-mert-p")},
    claims=(
        Claim(
            name="clark-table-1",
            title="Replications of tuning differ in their scores",
            paper="Table 1: the standard deviation between replications (s_test) is of the order of that from the "
            "choice of the test set (s_sel). That it is larger than on the development set (s_dev) is "
            "[another claim](#tuning-varies-more-on-the-test-set-than-on-its-own).",
            commands=RUNS,
            extract=table_1,
            summary=summary_table_1,
            show=show_table_1,
        ),
        Claim(
            name="clark-table-2",
            title="One replication can show any p-value",
            paper="Table 2: p of the same two systems, for single replications that were chosen by their score on the "
            "test set, and for several random ones.",
            commands=RUNS,
            python=DRAWS,
            extract=table_2,
            summary=summary_table_2,
            show=show_table_2,
        ),
        Claim(
            name="clark-figure-2",
            title="A few replications narrow the distribution of the difference",
            paper="Figure 2: with one replication the observed difference may be far from the expected one, or even "
            "have the other sign; the distribution soon narrows with more replications.",
            commands=RUNS[:1],
            extract=figure_2,
            summary=summary_figure_2,
            show=show_figure_2,
        ),
        Claim(
            name="clark-multeval",
            title="The p-values of MultEval",
            paper="The authors' tool, MultEval 0.5.1, has stratified approximate randomization over replications.",
            python=MULTEVAL,
            extract=multeval,
            summary=summary_multeval,
            show=show_multeval,
        ),
        Claim(
            name="clark-size",
            title="Exchanging single outputs does not cover the variance of runs",
            paper="Section 3: approximate randomization is stratified by segment, and exchanges the outputs of all "
            "replications of a segment, to account for the instability of the optimizer. The paper does not measure "
            "the type-I error of this test.",
            commands=SIZE,
            extract=sizes,
            summary=summary_sizes,
            show=show_sizes,
        ),
        *REPLICATIONS,
    ),
)
