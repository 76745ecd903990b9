"""The claims of Riezler & Maxwell 2005 (W05-0908)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import NormalDist, median
from typing import Any

from .claims import Claim, Figures, Paper, Summary, markdown_table, number, pvalue
from .errors import (
    CUT,
    FAMILY,
    LENGTHS,
    MULTIPLICITY,
    ONLY_NIST,
    SIZE,
    family,
    lengths,
    only_nist,
    plot_size,
    rejections,
    shift_pvalue,
    show_family,
    show_lengths,
    show_multiplicity,
    show_size,
    summary_family,
    summary_lengths,
    summary_multiplicity,
    summary_size,
)
from .figures import columns, save
from .rerankers import RERANKERS

__all__ = ["FIRST_400", "RERANKED", "RIEZLER_MAXWELL"]

# Table 1: NIST, BLEU and F of the baseline and of the reranker, and p by approximate randomization and bootstrap.
TABLE_1 = {
    "NIST": ("6.43", "6.58", "<.0001", "<.0001"),
    "BLEU": (".301", ".298", ".158", ".1"),
    "F": (".385", ".383", ".424", "–"),
}
# Table 2: the difference under NIST of five pairs of variants, and p by both tests.
TABLE_2 = [
    (0.031, 0.03, 0.014),
    (0.032, 0.025, 0.013),
    (0.029, 0.05, 0.028),
    (0.028, 0.079, 0.039),
    (0.036, 0.028, 0.013),
]

TESTS = ("ar", "bootstrap-shift", "bootstrap")


# Table 1.

PARSED = "depparse-wmt13-en-fr-derived"
OLD, NEW = "KIT_primary.2656", "uedin-wmt13.2884"
TABLE_1_COMMANDS = tuple(
    f"reshuffle compare {PARSED}/ref.txt {PARSED}/sys/{OLD}.txt {PARSED}/sys/{NEW}.txt -m nist bleu depf "
    f"--parses {PARSED}/ref.conllu {PARSED}/sys/{OLD}.conllu {PARSED}/sys/{NEW}.conllu --test {test}"
    for test in TESTS
)


def pairs(output: Mapping[str, Any]) -> dict[tuple[str, str], Mapping[str, Any]]:
    """The comparisons of a report by metric and system."""
    return {(pair["metric"], pair["system"]): pair for pair in output["comparisons"]}


def table_1(outputs: Sequence[Any]) -> Figures:
    """Scores and p-values by metric."""
    first, *_ = outputs
    found = {}
    for used in first["metrics"]:
        name = used["name"]
        by_name = {score["system"]: score["score"] for score in first["scores"] if score["metric"] == name}
        found[name] = {
            "scores": [by_name[system] for system in (OLD, NEW)],
            "p": [pairs(output)[name, NEW]["test"]["pvalue"] for output in outputs],
        }
    return found


def show_table_1(figures: Figures) -> str:
    rows = []
    for (name, ours), (_, theirs) in zip(figures.items(), TABLE_1.items(), strict=True):
        scale = 1 if name == "NIST" else 100
        scores = [number(score / scale) for score in ours["scores"]]
        p = [pvalue(value) for value in ours["p"]]
        rows.append([name, f"{theirs[0]} → {theirs[1]}", theirs[2], theirs[3], " → ".join(scores), *p])
    header = ["metric", "paper: scores", "AR", "bootstrap", "here: scores", "`ar`", "`bootstrap-shift`", "`bootstrap`"]
    ratios = [ours["p"][1] / ours["p"][0] for ours in figures.values()]
    return f"""
{markdown_table(header, rows)}

The systems are two participants of WMT13, English–French, that are close to each other; F is that of dependency
relations (heads, labels and dependents) of parses from another parser. `bootstrap-shift` is the paper's bootstrap
test exactly as printed, `bootstrap` the one that is centred before the absolute value is taken. Here the ratios of
the p-values of `bootstrap-shift` and `ar` are {number(min(ratios), 2)} to {number(max(ratios), 2)}. In the paper's
BLEU pair it is .1/.158 = {number(0.1 / 0.158, 2)}, which one tail instead of two does not explain: in large samples
the paper's test has p = {number(shift_pvalue(NormalDist().inv_cdf(1 - 0.158 / 2)))} where approximate randomization
has .158. The paper reports no bootstrap test for F.
"""


def summary_table_1(figures: Figures) -> Summary:
    p = [f"{name} {pvalue(ours['p'][0])}" for name, ours in figures.items()]
    return Summary(
        only_nist({name: ours["p"][0] for name, ours in figures.items()}),
        "p of AR: NIST <.0001, BLEU .158, F .424",
        f"p of AR: {', '.join(p)}",
        ONLY_NIST,
    )


# Table 2.

RERANKED = "rerank-newstest2012-ru-en"
FIRST_400 = f"mkdir -p first400\nfor f in {RERANKED}/sys/*.txt; do head -n 400 $f > first400/$(basename $f); done"
TABLE_2_COMMANDS = tuple(
    f"reshuffle compare {RERANKED}/ref.first400.txt first400/default.txt first400/rerank-*.txt "
    f"-m nist:tokenize=none bleu:tokenize=none --test {test} --adjust none -n 20000"
    for test in TESTS
)


def table_2(outputs: Sequence[Any]) -> Figures:
    """Differences and p-values of all rerankings under both metrics."""
    ar = pairs(outputs[0])
    return [
        {
            "metric": metric,
            "system": system,
            "difference": pair["difference"],
            "p": [pairs(output)[metric, system]["test"]["pvalue"] for output in outputs],
            "spread": pair["exchangeability"]["ratio"],
        }
        for (metric, system), pair in ar.items()
    ]


def ratios(figures: Figures, test: int) -> list[float]:
    """p of a test over p of approximate randomization, where that is neither tiny nor near 1."""
    return [pair["p"][test] / pair["p"][0] for pair in figures if 0.002 < pair["p"][0] < 0.3]


def show_table_2(figures: Figures) -> str:
    nist = sorted((pair for pair in figures if pair["metric"] == "NIST"), key=lambda pair: abs(pair["difference"]))
    rows = [
        [
            f"1:{number_of}",
            number(theirs[0]),
            number(theirs[1]),
            number(theirs[2]),
            number(theirs[2] / theirs[1], 2),
            pair["system"],
            number(pair["difference"]),
            *(pvalue(value) for value in pair["p"]),
            number(pair["p"][1] / pair["p"][0], 2),
            number(pair["p"][2] / pair["p"][0], 2),
        ]
        for number_of, (theirs, pair) in enumerate(zip(TABLE_2, nist[1:], strict=False), start=2)
    ]
    header = ["paper: pair", "ΔNIST", "AR", "bootstrap", "ratio", "here", "ΔNIST", "`ar`", "`bootstrap-shift`"]
    header += ["`bootstrap`", "shift/AR", "centred/AR"]
    shift, centred = (ratios(figures, test) for test in (1, 2))
    tested = [pair for pair in figures if 0.002 < pair["p"][0] < 0.3]
    even = ratios([pair for pair in tested if pair["spread"] >= 0.95], 2)
    uneven = ratios([pair for pair in tested if pair["spread"] < 0.95], 2)
    return f"""
{markdown_table(header, rows)}

The systems are rerankings of one list of translations; shown are the five whose NIST is closest to that of the
default weights, without the closest one (ΔNIST {number(nist[0]["difference"])}). Over all {len(shift)} differences
under NIST and BLEU with p between .002 and .3, the median of the ratio is {number(median(shift), 2)} for the paper's
bootstrap test, and {number(median(centred), 2)} for the centred one. So p of the paper's bootstrap is about half that
of approximate randomization, as published, because it takes the absolute value before it centres: it compares one
tail with two. The centred test agrees with approximate randomization where outputs are exchangeable. Rerankings
differ in length, so some of these are not: over shuffles, their differences vary less than their standard error, and
p of AR is too small. The median of the centred ratio is {number(median(even), 2)} where the shuffles' standard
deviation is at least .95 of the standard error ({len(even)} differences), and {number(median(uneven), 2)} where it is
less ({len(uneven)}).
"""


def summary_table_2(figures: Figures) -> Summary:
    shift, centred = (median(ratios(figures, test)) for test in (1, 2))
    theirs = median(bootstrap / ar for _, ar, bootstrap in TABLE_2)
    near = [abs(ratio - theirs) <= 0.1 for ratio in (shift, centred)]
    return Summary(
        "yes" if all(near) else "in part" if any(near) else "no",
        f"p of the bootstrap is {number(theirs, 2)} of that of AR",
        f"{number(shift, 2)} with the paper's test, {number(centred, 2)} if centred",
        "the median ratio is within .1 of the paper's for both bootstrap tests, in part if for one of them.",
    )


# Sensitivity of metrics.

SENSITIVITY = (
    f"reshuffle study sensitivity {PARSED}/ref.txt {PARSED}/sys/{OLD}.txt {PARSED}/sys/{NEW}.txt -m nist bleu depf "
    f"--parses {PARSED}/ref.conllu {PARSED}/sys/{OLD}.conllu {PARSED}/sys/{NEW}.conllu --tests ar --alphas 0.05 "
    "--simulations 1000",
    *(
        f"reshuffle compare {name}/ref.txt {name}/sys/*.txt -m nist bleu --all-pairs --test ar-studentized "
        "--adjust none -n 99 --interval delta"
        for name in ("wmt17-en-de", "wmt13-fr-en", "wmt12-es-en")
    ),
)


def sensitivity(outputs: Sequence[Any]) -> Figures:
    """Power by metric and η on the parsed pair, and |difference|/standard error of all pairs of three test sets."""
    parsed, *others = outputs
    power: dict[str, list[Any]] = {}
    for rate in parsed["power"]:
        interval = rate["confidence_interval"]
        power.setdefault(rate["metric"], []).append([rate["effect"], rate["rate"], interval["low"], interval["high"]])
    standardized: list[dict[str, float]] = []
    for output in others:
        of_set: dict[tuple[str, str], dict[str, float]] = {}
        for pair in output["comparisons"]:
            names = (pair["system"], pair["baseline"])
            of_set.setdefault(names, {})[pair["metric"]] = abs(pair["difference"]) / pair["test"]["standard_error"]
        standardized += of_set.values()
    return {
        "power": power,
        "simulations": parsed["power"][0]["simulations"],
        "size": parsed["power"][0]["size"],
        "pairs": [[pair["NIST"], pair["BLEU"]] for pair in standardized],
    }


def show_sensitivity(figures: Figures) -> str:
    names = list(figures["power"])
    rows = [
        [number(points[0][0], 1), *(f"{number(rate)} ({number(low)}–{number(high)})" for _, rate, low, high in points)]
        for points in zip(*figures["power"].values(), strict=True)
    ]
    close = [pair for pair in figures["pairs"] if max(pair) < 6]
    clearer = sum(nist > bleu for nist, bleu in close)
    return f"""
{markdown_table(["η", *names], rows, 0)}

Power of AR at .05 on test sets of {figures["size"]} segments ({figures["simulations"]:,} simulations, with 95%
intervals), if the two systems of [Table 1](#only-nist-finds-a-difference) keep their own outputs with probability ½ +
η and are swapped otherwise: η = 0 is no difference, and η = .5 the real pair. The level is adjusted so that every
metric rejects 5% at η = 0. One pair of systems cannot rank metrics, and p-values of one test set even less. For the
{len(close)} pairs of WMT17 English–German, WMT13 French–English and WMT12 Spanish–English that differ by less than 6
standard errors under both metrics, the difference is more standard errors under NIST than under BLEU for {clearer},
and fewer for {len(close) - clearer}; the median of the ratio is
{number(median(nist / bleu for nist, bleu in close if bleu), 2)}.
"""


def summary_sensitivity(figures: Figures) -> Summary:
    at_half = {name: points[-1][1] for name, points in figures["power"].items()}
    best = max(at_half, key=lambda name: at_half[name])
    close = [pair for pair in figures["pairs"] if max(pair) < 6]
    more = sum(nist > bleu for nist, bleu in close) / len(close)
    return Summary(
        "yes" if best == "NIST" and more > 0.6 else "in part" if best == "NIST" or more > 0.6 else "no",
        "NIST is more sensitive than BLEU and F",
        f"power {', '.join(f'{name} {number(rate, 2)}' for name, rate in at_half.items())}; "
        f"NIST clearer than BLEU for {100 * more:.0f}% of close pairs",
        "NIST has the most power at η = .5, and the difference is more standard errors under NIST than under BLEU for "
        "more than 60% of the close pairs; in part if one of these is true.",
    )


def plot_sensitivity(figures: Figures, path: Path) -> None:
    """Power against η for each metric."""
    figure, (ax,) = columns(1)
    for (name, points), style in zip(figures["power"].items(), ("o-", "s--", "^:"), strict=True):
        ax.plot([point[0] for point in points], [point[1] for point in points], style, label=name)
    ax.axhline(0.05, color="grey", linewidth=0.6)
    ax.set(xlabel="η", ylabel="size-adjusted power at .05", ylim=(0, 1))
    ax.legend(frameon=False)
    save(figure, path)


RIEZLER_MAXWELL = Paper(
    title="Riezler & Maxwell 2005",
    about="""
*On Some Pitfalls in Automatic Evaluation and Significance Testing for MT*,
[W05-0908](https://aclanthology.org/W05-0908). The paper compares approximate randomization (AR) with a bootstrap test
under NIST, BLEU and F, and warns of multiple comparisons.
""",
    apart={"tables": ("rm-table-1", "rm-table-2", "rm-reranker", "rm-variants")},
    claims=(
        Claim(
            name="rm-table-1",
            title="Only NIST finds a difference",
            paper="""
Table 1 compares a phrase-based system with its reranked output under three metrics. Only NIST finds a difference.
""",
            commands=TABLE_1_COMMANDS,
            extract=table_1,
            summary=summary_table_1,
            show=show_table_1,
        ),
        Claim(
            name="rm-table-2",
            title="p-values of the bootstrap are half those of AR",
            paper="""
Table 2 compares a system with five variants that should be equivalent. p of the bootstrap test is about half of p of
AR, and the paper concludes that AR is "more conservative".
""",
            prepare=FIRST_400,
            commands=TABLE_2_COMMANDS,
            extract=table_2,
            summary=summary_table_2,
            show=show_table_2,
        ),
        *RERANKERS,
        Claim(
            name="rm-sensitivity",
            title="NIST is more sensitive than BLEU and F",
            paper="""
From Table 1, the paper concludes that NIST is the metric to use for small differences.
""",
            commands=SENSITIVITY,
            extract=sensitivity,
            summary=summary_sensitivity,
            show=show_sensitivity,
            plot=plot_sensitivity,
            caption="Power against the effect under NIST, BLEU and F",
        ),
        Claim(
            name="rm-size",
            title="The bootstrap makes more type-I errors than AR",
            paper="""
From the p-values of Table 2, the paper concludes that the bootstrap test is more likely to make type-I errors, and
recommends AR.
""",
            commands=(SIZE,),
            extract=rejections,
            summary=summary_size,
            show=show_size,
            plot=plot_size,
            caption="Share of p-values up to each level under the null hypothesis. Four of the six lines coincide",
        ),
        Claim(
            name="rm-lengths",
            title="AR for systems of unequal length",
            paper="""
The paper recommends AR without conditions. Its null hypothesis is that outputs are exchangeable, which is more than
that scores are equal.
""",
            prepare=CUT,
            commands=LENGTHS,
            extract=lengths,
            summary=summary_lengths,
            show=show_lengths,
        ),
        Claim(
            name="rm-multiplicity",
            title="Error rates of many tests",
            paper="Section 4.4 computes the probability of at least one false rejection among k tests.",
            python=MULTIPLICITY,
            extract=lambda outputs: outputs[0],
            summary=summary_multiplicity,
            show=show_multiplicity,
        ),
        Claim(
            name="rm-family",
            title="Comparing 15 systems finds false differences",
            paper="""
Section 4.4: if all 105 pairs of 15 systems are tested at .05, at least one false difference is nearly certain.
""",
            commands=(FAMILY,),
            extract=family,
            summary=summary_family,
            show=show_family,
        ),
    ),
    after="""
## Slips in W05-0908

- The text gives "0.15" where .015 is meant: the level at which a family of five tests has an error rate of about .07.
- Type-I errors are described as failures to reject a null hypothesis that is true. They are rejections of one that is
  true.
- The number of replicates is not given. p < .0001 needs at least 10,000 of them.
- Figures 1 and 2 loop over r = 0, …, R and b = 0, …, B. Here R and B are the numbers of replicates, and p = (c +
  1)/(R + 1).
""",
)
