"""Clark et al. 2011 (P11-2031) from replications of MERT on k-best lists: two configurations, many runs of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .claims import Claim, Figures, Summary, markdown_table, number
from .figures import columns, save

__all__ = ["REPLICATIONS"]

PROGRAM = """
import gzip
import json
import warnings

import numpy as np

from reshuffle import FromCounts, compare_runs, metric, read_lines, tune

FOLDER = "kbest-wmt11-de-en"
references = {part: read_lines(f"{FOLDER}/{part}.ref") for part in ("dev", "test")}
initial = np.loadtxt(f"{FOLDER}/init.opt")[0]
bleu = metric("bleu", tokenize="none")
metrics = [bleu, metric("ter", variant="tercom"), metric("length", tokenize="none")]


def lists(part, without):  # k-best lists without one of the features
    with gzip.open(f"{FOLDER}/{part}.nbest.gz", "rt", encoding="utf-8") as lines, open("lists", "w") as out:
        for line in lines:
            number, text, features, *_ = line.split(" ||| ")
            kept = [value for i, value in enumerate(features.split()[1:]) if i != without]
            print(number, text, " ".join(kept), sep=" ||| ", file=out)
    return tune.read_nbest("lists")


def tuned(without, preset, n):
    start = [weight for i, weight in enumerate(initial) if i != without]
    test = (lists("test", without), references["test"])
    options = {"metric": bleu, "initial": start, "test": test, "replications": n}
    return tune.tune(tune.Mert(preset=preset), lists("dev", without), references["dev"], **options)


def pvalues(a, b, units, **options):
    runs = {f"A#{i}": counts["A"][run] for i, run in enumerate(a)}
    runs |= {f"B#{i}": counts["B"][run] for i, run in enumerate(b)}
    result = compare_runs(None, {"A": len(a), "B": len(b)}, FromCounts("BLEU", runs, bleu), exchange=units, **options)
    return [found.pvalue for found in result.comparisons]


found = {}
for preset, n in (("moses", 20), ("cdec", 50)):
    systems = {"A": tuned(7, preset, n), "B": tuned(None, preset, n)}
    outputs = {name: system.test.outputs() for name, system in systems.items()}
    dev = {name: {"BLEU": [run.dev_score for run in system.result.runs]} for name, system in systems.items()}
    units = ["run", "segment", "pooled", "cell", "hierarchical"]
    result = compare_runs(references["test"], outputs, metrics, exchange=units, dev_scores=dev, n_resamples=999)
    # Seeds may end at weights that choose the same outputs: how many runs differ, and their standard deviations alone.
    distinct = {}
    for name, of_name in outputs.items():
        first = list({tuple(output): run for run, output in reversed(list(enumerate(of_name)))}.values())
        on = dev[name]["BLEU"], systems[name].test.scores
        distinct[name] = [len(first), *(float(np.std([scores[run] for run in first], ddof=1)) for scores in on)]
    found[preset] = {
        "distinct": distinct,
        "scores": {
            system.name: {name: [of.mean, of.s_sel, of.s_dev, of.s_test] for name, of in system.scores.items()}
            for system in result.systems
        },
        "runs": {
            system.name: [system.scores["BLEU"].dev_runs, system.scores["BLEU"].runs] for system in result.systems
        },
        "p": [[row.metric, row.exchange, row.pvalue] for row in result.comparisons],
        "observed": [
            [row.n_runs, row.mean, row.standard_deviation, row.low, row.high, row.reversed]
            for row in result.observed
            if row.metric == "BLEU"
        ],
    }

counts = {name: system.test.counts for name, system in systems.items()}
ranked = {name: np.argsort(system.test.scores, kind="stable").tolist() for name, system in systems.items()}
low, median, high = ({name: order[k] for name, order in ranked.items()} for k in (0, (n - 1) // 2, -1))
cases = {"A high, B low": (high, low), "median, median": (median, median), "A low, B high": (low, high)}
single = {case: pvalues([a["A"]], [b["B"]], ["segment"])[0] for case, (a, b) in cases.items()}
random, draws = np.random.default_rng(12345), {}
warnings.simplefilter("ignore")  # draws with replacement repeat runs
for size, n_draws, units in (
    (3, 250, ["pooled", "hierarchical"]),
    (5, 250, ["pooled", "hierarchical"]),
    (50, 50, ["pooled"]),
):
    drawn = [pvalues(*random.integers(n, size=(2, size)), units, n_resamples=999, seed=i) for i in range(n_draws)]
    draws[size] = dict(zip(units, np.quantile(drawn, [0.025, 0.975], axis=0).T.tolist()))
print(json.dumps({"presets": found, "single": single, "draws": draws}))
"""


def figures_of(outputs: Sequence[Any]) -> Figures:
    """What the program found."""
    return outputs[0]


# Table 1 and Figures 1 and 2.

# By experiment, metric and system: mean, s_sel, s_dev, s_test.
TABLE_1: Mapping[str, Sequence[str]] = {
    "BLEU": ("18.5 / .3 / .0 / .1", "18.7 / .3 / .0 / .2"),
    "METEOR": ("49.0 / .2 / – / .2", "50.0 / .2 / – / .1"),
    "TER": ("65.5 / .4 / – / .3", "64.9 / .4 / – / .4"),
}


def cells(values: Sequence[float | None]) -> str:
    return " / ".join(number(value, 2) for value in values)


def show_scores(figures: Figures) -> str:
    presets = figures["presets"]
    rows = []
    for name, theirs in TABLE_1.items():
        for at, system in enumerate("AB"):
            ours = [cells(presets[preset]["scores"][system].get(name, ())) or "–" for preset in ("cdec", "moses")]
            rows.append([name, system, theirs[at], *ours])
    header = ["metric", "system", "paper: WMT", "here: `cdec`, 50 runs", "`moses`, 20 runs"]
    observed = [
        [f"{n}", number(sd, 2), f"{number(low, 2)} to {number(high, 2)}", f"{100 * reverse:.1f}%"]
        for n, _, sd, low, high, reverse in presets["cdec"]["observed"]
    ]
    difference = presets["cdec"]["observed"][0][1]
    s_dev, s_test = ([presets["cdec"]["scores"][system]["BLEU"][k] for system in "AB"] for k in (2, 3))
    means = {preset: [found["scores"][system]["BLEU"][0] for system in "AB"] for preset, found in presets.items()}
    same = [
        f"{found['distinct'][system][0]} of {len(found['runs'][system][0])} of {system} under `{preset}`"
        for preset, found in presets.items()
        for system in "AB"
        if found["distinct"][system][0] < len(found["runs"][system][0])
    ]
    of_different = {system: presets["moses"]["distinct"][system][1:] for system in "AB"}
    alone = [f"{number(dev, 2)} / {number(test, 2)} ({system})" for system, (dev, test) in of_different.items()]
    restarts = [more - less for more, less in zip(means["moses"], means["cdec"], strict=True)]
    return f"""
{markdown_table(header, rows, 2)}

Each cell: mean / s_sel / s_dev / s_test. System B has the 12 features of the lists, A lacks the eighth of them. Both
were tuned by MERT with BLEU on the 500 lists of the development set, with another seed for each run: `cdec` searches
from one start along random directions, `moses` from 20 random restarts as well. Scores are those of the 499 sentences
of the test set. The eighth feature was chosen after looking: of the twelve, its lack changes test BLEU by about as much
as the paper's two systems differ (.2), in ten `cdec` runs of each. So the size of the difference says nothing here.

- Scores vary more between runs on the test set than on the one they were tuned on, s_test {number(min(s_test), 2)} to
  {number(max(s_test), 2)} and s_dev {number(min(s_dev), 2)} to {number(max(s_dev), 2)}, as in the paper.
- s_dev is a lower bound: the lists are fixed, while the paper's decoder makes new ones in each of its rounds, which
  also differ between runs.
- s_sel is larger than in the paper, because 499 sentences are fewer than its WMT test set.
- Restarts make A better by {number(restarts[0], 2)} BLEU and B by {number(restarts[1], 2)}, so most of the difference
  of A and B under `cdec` is one of local optima.
- Seeds may end at weights that choose the same outputs. Runs with an output that no earlier run has:
  {", ".join(same) or "all"}. The table counts all runs, because each seed is a replication. Of the different outputs
  under `moses` alone, s_dev and s_test are {" and ".join(alone)}.
- METEOR 1.2 cannot be obtained, and the cells of BTEC (300 runs) need its data, so neither has figures here.

How far a difference of so many runs is from the mean difference {number(difference, 2)} BLEU (Figure 2 in the paper,
whose shares are not printed), for `cdec`:

{markdown_table(["runs", "standard deviation", "central 95%", "other sign"], observed)}
"""


def summary_scores(figures: Figures) -> Summary:
    scores = figures["presets"]["cdec"]["scores"]
    s_dev, s_test = ([scores[system]["BLEU"][k] for system in "AB"] for k in (2, 3))
    return Summary(
        "yes" if all(test > dev for dev, test in zip(s_dev, s_test, strict=True)) else "no",
        "BLEU (WMT): s_dev .0 and .0, s_test .1 and .2",
        f"BLEU: s_dev {number(s_dev[0], 2)} and {number(s_dev[1], 2)}, s_test {number(s_test[0], 2)} and "
        f"{number(s_test[1], 2)}",
        "s_test of BLEU is larger than s_dev for both systems under `cdec`.",
    )


def plot_scores(figures: Figures, path: Path) -> None:
    """Histograms of the runs' scores, and the observed difference against the number of runs."""
    figure, (dev, test, observed) = columns(3)
    preset = figures["presets"]["cdec"]
    for ax, at, title in ((dev, 0, "development set"), (test, 1, "test set")):
        values = [preset["runs"][system][at] for system in "AB"]
        ax.hist(values, bins=12, label=["A", "B"], color=["0.35", "0.75"])
        ax.set(xlabel=f"BLEU, {title}", ylabel="runs")
    test.legend(frameon=False)
    n, middle, _, low, high, _ = zip(*preset["observed"], strict=True)
    errors = [[m - a for m, a in zip(middle, low, strict=True)], [b - m for m, b in zip(middle, high, strict=True)]]
    observed.errorbar(range(len(n)), middle, yerr=errors, fmt="o", color="0.2", capsize=2)
    observed.axhline(0, color="grey", linewidth=0.6)
    observed.set(xlabel="runs of each system", ylabel="B − A, BLEU (central 95%)")
    observed.set_xticks(range(len(n)), [str(each) for each in n])
    save(figure, path)


# Table 2.

CASES = {
    "1: A high, B low": (".25", ".95"),
    "1: median, median": (".15", ".13"),
    "1: A low, B high": (".0003", ".003"),
}
DRAWS = {"3": ("–", "–"), "5": (".001–.034", ".001–.38"), "50": (".001–.001", ".001–.33")}


def p_of(value: float) -> str:
    """A p-value with the decimals that Table 2 has: more where it is small."""
    return number(value, 4 if value < 0.0095 else 3)


def reversed_by(figures: Figures) -> tuple[float, float]:
    """A − B in BLEU for the worst run of A and the best of B, and the other way round."""
    (_, a), (_, b) = (figures["presets"]["cdec"]["runs"][system] for system in "AB")
    return min(a) - max(b), max(a) - min(b)


def show_pvalues(figures: Figures) -> str:
    rows = [
        [case, *theirs, p_of(figures["single"][case.partition(": ")[2]]), "–", "–"] for case, theirs in CASES.items()
    ]
    for n, theirs in DRAWS.items():
        own = figures["draws"][n]
        ours = ["–".join(map(p_of, own[unit])) if unit in own else "–" for unit in ("pooled", "hierarchical")]
        rows.append([f"{n}, at random", *theirs, "–", *ours])
    header = ["replicates", "paper: BTEC", "paper: WMT", "here: `segment`", "`pooled`", "`hierarchical`"]
    whole: dict[str, dict[str, float]] = {}
    for name, unit, p in figures["presets"]["cdec"]["p"]:
        whole.setdefault(name, {})[unit] = p
    units = list(whole["BLEU"])
    tested = [[name, *(p_of(of_unit[unit]) for unit in units)] for name, of_unit in whole.items()]
    worst, best = figures["single"]["A high, B low"], figures["single"]["A low, B high"]
    pooled, wide = figures["draws"]["5"]["pooled"], figures["draws"]["5"]["hierarchical"]
    return f"""
{markdown_table(header, rows)}

p of A against B under BLEU, for the runs of `cdec` above. High and low are the runs with the best and worst BLEU on the
test set. The other rows have the 2.5% and 97.5% quantiles of p over 250 draws of n runs of each system *with
replacement* (50 draws where n = 50), with 999 shuffles each; the paper's reading of its test is `pooled`.

- By the choice of single runs alone, B is {number(-reversed_by(figures)[0], 2)} BLEU better than A (p = {p_of(best)}),
  or {number(reversed_by(figures)[1], 2)} worse (p = {p_of(worst)}).
- With five runs `pooled` still spreads from {p_of(pooled[0])} to {p_of(pooled[1])}, as for WMT in the paper;
  `hierarchical`, which also takes the choice of runs and of sentences as random, from {p_of(wide[0])} to
  {p_of(wide[1])}.
- p of the paper's WMT test is as high as .33 with 50 runs, here at most {p_of(figures["draws"]["50"]["pooled"][1])}.
  `pooled` takes the 50 outputs of a sentence as independent, so it is sure of a difference of
  {number(figures["presets"]["cdec"]["observed"][0][1], 2)} BLEU of which `segment` and `hierarchical` are not. Runs on
  fixed lists presumably resemble each other more than the paper's, for each of which the decoder made lists.

p of all 50 runs against all 50, by what is exchanged:

{markdown_table(["metric", *(f"`{unit}`" for unit in units)], tested)}
"""


def summary_pvalues(figures: Figures) -> Summary:
    single, (lowest, highest) = figures["single"], reversed_by(figures)
    either = [lowest < 0 and single["A low, B high"] <= 0.05, highest > 0 and single["A high, B low"] <= 0.05]
    return Summary(
        "yes" if all(either) else "in part" if any(either) else "no",
        "WMT: p from .003 to .95; five runs .001–.38",
        f"B better with p {p_of(single['A low, B high'])} or A with p {p_of(single['A high, B low'])}; five runs "
        + "–".join(map(p_of, figures["draws"]["5"]["pooled"])),
        "by the choice of single runs, either system can have the higher BLEU, with p ≤ .05; in part if one of them.",
    )


REPLICATIONS = (
    Claim(
        name="clark-mert",
        title="Tuning varies more on the test set than on its own",
        paper="Table 1, from replications of tuning: two configurations, each tuned by MERT with many seeds. s_test is "
        "larger than s_dev.",
        python=PROGRAM,
        extract=figures_of,
        summary=summary_scores,
        show=show_scores,
        plot=plot_scores,
        caption="BLEU of 50 runs of two configurations, and the difference that experiments with fewer runs observe",
    ),
    Claim(
        name="clark-mert-p",
        title="The choice among 50 runs decides p",
        paper="Table 2, from the same replications: p of single runs that were chosen by their score, and of several "
        "random ones.",
        python=PROGRAM,
        extract=figures_of,
        summary=summary_pvalues,
        show=show_pvalues,
    ),
)
