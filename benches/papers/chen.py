"""The claims of Chen & Cherry 2014 (W14-3346): smoothed sentence BLEU and people's judgments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from .claims import Claim, Figures, Paper, Summary, markdown_table, number, pvalue
from .judgments import (
    COUNTS,
    GRID,
    JUDGED,
    MANIFEST_2008,
    MANIFESTS,
    SETS,
    TITLES,
    grid,
    show_counts,
    show_grid,
    summary_counts,
    summary_grid,
)
from .smoothings import TUNED_SMOOTHINGS

__all__ = ["CHEN_CHERRY"]

# Tables 2 and 3: corpus BLEU and smoothings 0 to 7. τ, Pearson's r and Spearman's ρ, means over two years.
TAU = {
    "into": (None, 0.165, 0.224, 0.226, 0.224, 0.228, 0.234, 0.230, 0.236),
    "from": (None, 0.119, 0.178, 0.180, 0.178, 0.181, 0.184, 0.182, 0.187),
}
PEARSON = {
    "into": (0.720, 0.759, 0.760, 0.757, 0.760, 0.763, 0.765, 0.754, 0.766),
    "from": (0.712, 0.715, 0.722, 0.725, 0.724, 0.727, 0.731, 0.725, 0.734),
}
SPEARMAN = {
    "into": (0.887,) * 9,
    "from": (0.744, 0.744, 0.748, *(0.744,) * 6),
}
SMOOTHINGS = tuple(map(str, range(8)))
SENTENCE_BLEU = " ".join(f"sentbleu:smoothing={each}" for each in range(8))


# Tables 2 and 3: τ.

SEGMENTS = tuple(f"reshuffle meta segments --manifest {name}.toml -m {SENTENCE_BLEU} --pooled" for name in SETS)


def smoothing(metric: str) -> str:
    """The smoothing in the label of a metric, or ``crp`` for corpus BLEU."""
    found = re.search(r"smooth:(\d)", metric)
    return "crp" if found is None else found[1]


def tau(outputs: Sequence[Any]) -> Figures:
    """τ with intervals by set, test set and smoothing, differences from smoothing 7, and letters."""
    found: dict[str, Any] = {}
    for name, output in zip(SETS, outputs, strict=True):
        values: dict[str, Any] = {}
        for row in output["results"]:
            interval = row["confidence_interval"]
            values.setdefault(row["test_set"], {})[smoothing(row["metric"])] = [
                row["value"], interval["low"], interval["high"], row["n"],
            ]  # fmt: skip
        letters = {smoothing(row["metric"]): row["letters"] for row in output["groups"] if row["test_set"] == "average"}
        found[name] = {"values": values, "letters": letters, "differences": differences(output, "tau")}
    return found


def differences(output: Mapping[str, Any], coefficient: str) -> dict[str, list[float]]:
    """The mean difference between smoothing 7 and each other metric, and its adjusted p."""
    found = {}
    for row in output["comparisons"]:
        if row["test_set"] == "average" and row["coefficient"] == coefficient:
            a, b = smoothing(row["metric_a"]), smoothing(row["metric_b"])
            if "7" in (a, b):
                sign = 1 if a == "7" else -1
                found[b if a == "7" else a] = [sign * row["difference"], row["adjusted_pvalue"]]
    return found


def mean_tau(figures: Figures, direction: str) -> dict[str, float]:
    """The mean of τ over pairs, and then over years, by smoothing."""
    years = [figures[name]["values"]["average"] for name in SETS if name.startswith(direction)]
    return {each: mean(year[each][0] for year in years) for each in SMOOTHINGS}


def show_tau(figures: Figures) -> str:
    into = mean_tau(figures, "into")
    years = {name: figures[name]["values"]["average"] for name in SETS}
    rows = []
    for at, each in enumerate(SMOOTHINGS):
        low, high = years["into-2012"][each][1:3]
        rows.append(
            [
                each,
                number(TAU["into"][at + 1]),
                number(into[each]),
                number(years["into-2012"][each][0]) + f" ({number(low)}–{number(high)})",
                number(years["into-2013"][each][0]),
                number(TAU["from"][at + 1]),
                number(years["from-2012"][each][0]),
            ]
        )
    header = ["smoothing", "paper, into English", "here", "2012 (95% interval)", "2013", "paper, out of", "here, 2012"]
    pairs = [
        [pair, name[-4:], f"{values['7'][3]:,}", *(number(values[each][0]) for each in SMOOTHINGS)]
        for name in SETS
        for pair, values in figures[name]["values"].items()
    ]
    worst = max(SMOOTHINGS, key=lambda each: abs(into[each] - (TAU["into"][int(each) + 1] or 0)))
    others = max(abs(into[each] - (TAU["into"][int(each) + 1] or 0)) for each in SMOOTHINGS if each != worst)
    rest = [
        f"{each}: {number(difference, 4)}, p {pvalue(p)}" for each, (difference, p) in
        figures["into-2012"]["differences"].items()
    ]  # fmt: skip
    return f"""
{markdown_table(header, rows)}

Means over language pairs, and of both years into English. Out of English the paper's figures are means of 2012 and
2013, ours of 2012 alone. Except for smoothing {worst}, no mean into English differs from the paper's by more than
{number(others)}.
Smoothing {worst} is {number(into[worst])} here and {number(TAU["into"][int(worst) + 1])} in the paper, where it
comes before
smoothings 1 to 4. [Other readings](#choices-that-the-paper-leaves-open) change it.

{markdown_table(["pair", "year", "net votes", *(f"S{each}" for each in SMOOTHINGS)], pairs, 1)}

`average` is the mean over pairs, and `pooled` takes all votes of a year as one test set. The order is that of the paper
except for smoothing 6: 0 is last by far, and 4, 5 and 7 come before 1 to 3. The differences between smoothing 7 and
the others into
English in 2012, with p of all pairs adjusted by maxT: {"; ".join(rest)}. Smoothings that share a letter do not differ
significantly: {", ".join(f"{each} {found}" for each, found in sorted(figures["into-2012"]["letters"].items()))} (2012);
{", ".join(f"{each} {found}" for each, found in sorted(figures["into-2013"]["letters"].items()))} (2013).
"""


def summary_tau(figures: Figures) -> Summary:
    into, out = mean_tau(figures, "into"), mean_tau(figures, "from")
    best = all(max(found, key=lambda each: found[each]) == "7" for found in (into, out))
    last = all(min(found, key=lambda each: found[each]) == "0" for found in (into, out))
    return Summary(
        "yes" if best and last else "in part" if best or last else "no",
        "τ into English: smoothing 0 .165, 1 .224, 5 .234, 7 .236",
        f"smoothing 0 {number(into['0'])}, 1 {number(into['1'])}, 5 {number(into['5'], 4)}, 7 {number(into['7'], 4)}",
        "smoothing 7 has the largest τ and smoothing 0 the smallest, into and out of English; in part if only one of "
        "them has.",
    )


# What the paper leaves open.

CHOICES = f"""{JUDGED}

def found(options, repeats, ties):
    metrics = [metric("sentbleu", smoothing=str(each), **options) for each in range(8)]
    values = {{}}
    for name in ["into-2012", "into-2013"]:
        sets = []
        for pair in PAIRS[name]:
            references, outputs, judgments = judged(name, pair, repeats)
            sets.append(meta.JudgedSet.from_texts(references, outputs, metrics, judgments=judgments, name=pair))
        results = meta.segments(sets, ties=ties, test=None, interval=None).results
        values[name] = [result.value for result in results if result.test_set == "average"]
    return values


choices = {{
    "13a, net votes, ties half": ({{}}, "net", "half"),
    "lower-cased": ({{"lowercase": True}}, "net", "half"),
    "intl tokenizer": ({{"tokenize": "intl"}}, "net", "half"),
    "no tokenizer": ({{"tokenize": "none"}}, "net", "half"),
    "every vote": ({{}}, "all", "half"),
    "ties discordant (WMT12)": ({{}}, "net", "discordant"),
    "ties left out (WMT13)": ({{}}, "net", "ignore"),
    "strict reading": ({{"smoothing_reading": "strict"}}, "net", "half"),
    "S6: prior of unsmoothed precisions": ({{"smoothing_prior": "raw"}}, "net", "half"),
    "S6: precisions of at least .01": ({{"smoothing_floor": 0.01}}, "net", "half"),
}}
print(json.dumps({{choice: found(*settings) for choice, settings in choices.items()}}))
"""


def mean_of_choice(values: Mapping[str, Sequence[float]]) -> list[float]:
    """The mean of both years into English."""
    return [mean(years) for years in zip(values["into-2012"], values["into-2013"], strict=True)]


def distance(values: Sequence[float]) -> float:
    """The mean absolute difference from the paper's τ into English."""
    return mean(abs(found - (theirs or 0)) for found, theirs in zip(values, TAU["into"][1:], strict=True))


def show_choices(figures: Figures) -> str:
    rows = [["**paper**", *(number(value) for value in TAU["into"][1:]), "–"]]
    for choice, values in figures.items():
        found = mean_of_choice(values)
        rows.append([choice, *(number(value) for value in found), number(distance(found))])
    header = ["choice", *(f"S{each}" for each in SMOOTHINGS), "mean distance"]
    return f"""
{markdown_table(header, rows)}

τ into English, mean of 2012 and 2013, with one choice changed at a time. Letter case hardly matters. Texts must be
tokenized: without, S0 loses .03 and the others .01, so the paper tokenized too. Every vote instead of net votes
lowers τ by .02, more than most smoothings differ. Ties matter for S0 alone, because most sentences without a match of
four words get 0: if ties are discordant, its τ is negative, and if they are left out, S0 would be the best. Only half a
vote for each side gives the paper's order. In the strict reading,
outputs without a match score 0 under all smoothings. The paper
does not say whether the prior of smoothing 6 is smoothed. Where no two words match in a row, the prior is 0
unless precisions have a floor: one of .01 brings τ to the paper's value, the tiny default does
not.
"""


def summary_choices(figures: Figures) -> Summary:
    first, *rest = figures
    own = distance(mean_of_choice(figures[first]))
    near = min(distance(mean_of_choice(figures[choice])) for choice in rest if not choice.startswith("S6"))
    return Summary(
        "yes" if own <= near + 0.001 else "in part",
        "a tie of the metric is half a vote; one vote for each segment and pair",
        f"mean distance from the paper's τ {number(own)}; with other choices from {number(near)} on",
        "no other choice for all smoothings is nearer to the paper's τ by more than .001; in part otherwise.",
    )


# Tables 2 and 3: scores of systems.

OFFICIAL = {"into-2012": "wins", "into-2013": "expected-wins", "from-2012": "wins"}
SYSTEMS = tuple(
    f"reshuffle meta systems --manifest {name}.toml -m bleu {SENTENCE_BLEU} --coefficient pearson spearman "
    f"--human-score {OFFICIAL[name]} --scored-segments all --test perm-both"
    for name in SETS
)
CORRELATED = f"""{JUDGED}

metrics = [metric("bleu"), metric("sentbleu", smoothing="7")]
metrics += [metric("bleu", lowercase=True), metric("bleu", tokenize="none")]
found = {{}}
for name, pairs in PAIRS.items():
    sets = []
    for pair in pairs:
        references, outputs, judgments = judged(name, pair)
        sets.append(meta.JudgedSet.from_texts(references, outputs, metrics, judgments=judgments, name=pair))
    for human in meta.HUMAN_SCORES:
        options = {{"human_scores": human, "scored_segments": "all", "test": None, "interval": None}}
        result = meta.systems(sets, coefficients=["pearson", "spearman"], **options)
        found.setdefault(name, {{}})[human] = [each.value for each in result.results if each.test_set == "average"]
print(json.dumps(found))
"""


def correlations(outputs: Sequence[Any]) -> Figures:
    """r and ρ with intervals by set, coefficient and metric; differences from smoothing 7; and other human scores."""
    *reports, other = outputs
    found: dict[str, Any] = {"other": other}
    for name, output in zip(SETS, reports, strict=True):
        values: dict[str, Any] = {}
        for row in output["results"]:
            if row["test_set"] == "average":
                interval = row["confidence_interval"]
                values.setdefault(row["coefficient"], {})[smoothing(row["metric"])] = [
                    row["value"], interval["low"], interval["high"],
                ]  # fmt: skip
        found[name] = {
            "values": values,
            "bleu": {
                row["test_set"]: row["value"]
                for row in output["results"]
                if smoothing(row["metric"]) == "crp" and row["coefficient"] == "spearman"
            },
            "differences": differences(output, "pearson"),
        }
    return found


def mean_correlation(figures: Figures, coefficient: str, direction: str) -> dict[str, float]:
    """The mean over pairs, and then over years, by smoothing; ``crp`` is corpus BLEU."""
    years = [figures[name]["values"][coefficient] for name in SETS if name.startswith(direction)]
    return {each: mean(year[each][0] for year in years) for each in ("crp", *SMOOTHINGS)}


def unchanged(values: Mapping[str, Sequence[float]]) -> int:
    """In how many of the 14 cases, seven smoothings and two directions, ρ is that of smoothing 0 to three digits."""
    return sum(number(of[at]) == number(of[0]) for of in values.values() for at in range(1, 8))


def ranks(figures: Figures) -> dict[str, list[float]]:
    """ρ by direction, of smoothings 0 to 7."""
    return {
        direction: [mean_correlation(figures, "spearman", direction)[each] for each in SMOOTHINGS]
        for direction in ("into", "from")
    }


def published_ranks() -> dict[str, list[float]]:
    """The paper's ρ by direction, of smoothings 0 to 7."""
    return {direction: list(of[1:]) for direction, of in SPEARMAN.items()}


def show_correlations(figures: Figures) -> str:
    rows = []
    for at, each in enumerate(("crp", *SMOOTHINGS)):
        row = ["corpus BLEU" if each == "crp" else f"smoothing {each}"]
        for coefficient, published in (("pearson", PEARSON), ("spearman", SPEARMAN)):
            for direction in ("into", "from"):
                row += [
                    number(published[direction][at]),
                    number(mean_correlation(figures, coefficient, direction)[each]),
                ]
        rows.append(row)
    header = ["metric", "r into: paper", "here", "r out of: paper", "2012", "ρ into: paper", "here", "ρ out of: paper"]
    other = [
        [f"`{human}`", *(number(mean(figures["other"][name][human][at] for name in names)) for at in (0, 2, 3, 4, 6, 7)
          for names in [("into-2012", "into-2013")]), number(figures["other"]["from-2012"][human][0])]
        for human in figures["other"]["into-2012"]
    ]  # fmt: skip
    other_header = ["human score", "r into: BLEU", "lower-cased", "no tokenizer", "ρ into: BLEU", "lower-cased"]
    other_header += ["no tokenizer", "r out of, 2012: BLEU"]
    low, high = figures["from-2012"]["values"]["pearson"]["crp"][1:]
    spread = {
        direction: max(found[each] for each in SMOOTHINGS) - min(found[each] for each in SMOOTHINGS)
        for direction in ("into", "from")
        for found in [mean_correlation(figures, "pearson", direction)]
    }
    others = [
        (TITLES[name], each, *pair)
        for name in SETS
        for each, pair in figures[name]["differences"].items()
        if each != "crp"
    ]
    significant = [f"{each} ({title}: {number(d, 4)}, p {pvalue(p)})" for title, each, d, p in others if p < 0.05]
    found = (
        f"these smoothings alone differ significantly from smoothing 7: {'; '.join(significant)}"
        if significant
        else f"no smoothing differs significantly from smoothing 7 (smallest p {pvalue(min(p for *_, p in others))})"
    )
    theirs = {d: max(PEARSON[d][1:]) - min(PEARSON[d][1:]) for d in ("into", "from")}
    moved = {direction: max(abs(each - of[0]) for each in of) for direction, of in ranks(figures).items()}
    bleu = ", ".join(
        f"{pair} {number(value, 2)}" for pair, value in figures["into-2012"]["bleu"].items() if pair != "average"
    )
    return f"""
{markdown_table([*header, "2012"], rows)}

Scores of systems by Eq. 13, the mean of sentences weighted by reference length, beside corpus BLEU, on whole test sets,
for which BLEU is reported (`--scored-segments all`); WMT's official human score of the year. In the paper ρ is that of
smoothing 0 in {unchanged(published_ranks())} of 14 cases (seven smoothings, two directions), here in
{unchanged(ranks(figures))}: smoothings change ρ by up to {number(moved["into"])} into English and
{number(moved["from"])} out of English. The choice among all eight moves r by {number(spread["into"])} and
{number(spread["from"])}, in the paper by {number(theirs["into"])} and {number(theirs["from"])}, and Eq. 13 is a little
above corpus BLEU. By PERM-BOTH, which swaps
scores of segments and compares their means, {found}. These p are
adjusted by maxT for all pairs of metrics. ρ into English is near the paper's {number(SPEARMAN["into"][0])}, while r is
higher here, also in 2012 alone,
where nothing is missing. The paper does not name its human score. Others change little:

{markdown_table(other_header, other)}

Neither the human score, nor letter case, nor tokenization brings r to {number(PEARSON["into"][0])}. Corpus BLEU
of 2012
has ρ of {bleu} by `wins`. Out of English, the paper has 2013 as well; of 2012, the 95% interval of r for corpus BLEU is
{number(low)}–{number(high)} if segments are drawn.
"""


def summary_correlations(figures: Figures) -> Summary:
    of = ranks(figures)
    same = unchanged(of)
    return Summary(
        "yes" if same >= unchanged(published_ranks()) else "in part" if same >= 7 else "no",
        f"ρ is that of smoothing 0 in {unchanged(published_ranks())} of 14 cases",
        f"in {same} of 14; ρ into English from {number(min(of['into']))} to {number(max(of['into']))}",
        "ρ is that of smoothing 0, to three digits, in as many of the 14 cases as in the paper; in part if in half of "
        "them.",
    )


CHEN_CHERRY = Paper(
    title="Chen & Cherry 2014",
    about="""
*A Systematic Comparison of Smoothing Techniques for Sentence-Level BLEU*,
[W14-3346](https://aclanthology.org/W14-3346). The paper compares seven smoothings by their agreement with the
judgments of WMT. These are public, except for half of those of 2013, so this is the one paper whose own figures can be
reproduced. How the paper's formulas are read is [explained
elsewhere](../counting.md#sentence-level-bleu). Its experiments
with tuning need a decoder; here they are repeated on fixed lists.
""",
    apart={
        "choices and systems": ("chen-choices", "chen-systems"),
        "tuning": ("chen-tuning", "chen-tuning-sparse"),
    },
    claims=(
        Claim(
            name="chen-counts",
            title="The judgments are net votes",
            paper="Table 1 counts systems and judgments of pairs of outputs.",
            python=COUNTS,
            extract=lambda outputs: outputs[0],
            summary=summary_counts,
            show=show_counts,
        ),
        Claim(
            name="chen-grid",
            title="Parameters of the smoothings",
            paper="ε, K and α were chosen on judgments of 2008, into English, by τ: ε = .1, K = 5, α = 5.",
            prepare=MANIFEST_2008,
            commands=(GRID,),
            extract=grid,
            summary=summary_grid,
            show=show_grid,
        ),
        Claim(
            name="chen-tau",
            title="Smoothing 7 agrees best with people",
            paper="""
Tables 2 and 3: without smoothing, τ is far lower than with any, and smoothing 7 is the best, before 5, 6, 4 and the
others.
""",
            prepare=MANIFESTS,
            commands=SEGMENTS,
            extract=tau,
            summary=summary_tau,
            show=show_tau,
        ),
        Claim(
            name="chen-choices",
            title="Choices that the paper leaves open",
            paper="""
The paper does not say how texts were tokenized, or whether letter case counts. It gives a tie of the metric half to
each side,
unlike WMT of its years.
""",
            python=CHOICES,
            extract=lambda outputs: outputs[0],
            summary=summary_choices,
            show=show_choices,
        ),
        Claim(
            name="chen-systems",
            title="The smoothing does not change the ranks of systems",
            paper="""
Tables 2 and 3, last columns: Pearson's r (the paper writes γ) and Spearman's ρ of the scores of systems. ρ is the
same for all
smoothings in nearly all cases.
""",
            prepare=MANIFESTS,
            commands=SYSTEMS,
            python=CORRELATED,
            extract=correlations,
            summary=summary_correlations,
            show=show_correlations,
        ),
        *TUNED_SMOOTHINGS,
    ),
)
