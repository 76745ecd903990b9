"""The claims of Riezler & Maxwell 2005 (W05-0908)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from claims import Claim, Figures, Paper, Summary, markdown_table, number, pvalue

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
    """Scores with standard errors (a quarter of the 95% interval, over 1.96) and p-values by metric."""
    first, *_ = outputs
    found = {}
    for used in first["metrics"]:
        name = used["name"]
        scores = [system["scores"][name] for system in first["systems"]]
        by_name = {system["name"]: score for system, score in zip(first["systems"], scores, strict=True)}
        found[name] = {
            "scores": [by_name[system]["score"] for system in (OLD, NEW)],
            "p": [pairs(output)[name, NEW]["pvalue"] for output in outputs],
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
relations (heads, labels and
dependents) of parses from another parser. `bootstrap-shift` is the paper's bootstrap test exactly as printed,
`bootstrap` the one that is
centred before the absolute value is taken. Here the ratios of the p-values of `bootstrap-shift` and `ar` are
{number(min(ratios), 2)} to
{number(max(ratios), 2)}. In the paper's BLEU pair it is .1/.158 = .63, which one tail instead of two does not explain:
for a normal
distribution, the paper's test would have p = .069 where approximate randomization has .158. The paper reports no
bootstrap test for F.
"""


def summary_table_1(figures: Figures) -> Summary:
    p = [pvalue(ours["p"][0]) for ours in figures.values()]
    order = sorted(figures, key=lambda name: figures[name]["p"][0])
    return Summary(
        "yes" if order[0] == "NIST" else "no", "p of AR: NIST <.0001, BLEU .158, F .424", f"p of AR: {', '.join(p)}"
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
            "p": [pairs(output)[metric, system]["pvalue"] for output in outputs],
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
    return f"""
{markdown_table(header, rows)}

The systems are rerankings of one list of translations; shown are the five whose NIST is closest to that of the default
weights, but for
the closest one (ΔNIST {number(nist[0]["difference"])}). Over all {len(shift)} differences under NIST and BLEU with p
between .002 and .3,
the median of the ratio is {number(median(shift), 2)} for the paper's bootstrap test, and {number(median(centred), 2)}
for the centred
one. So p of the paper's bootstrap is about half that of approximate randomization, as published, because it takes the
absolute value
before it centres: it compares one tail with two. Centred first, the two tests agree.
"""


def summary_table_2(figures: Figures) -> Summary:
    shift, centred = (median(ratios(figures, test)) for test in (1, 2))
    theirs = median(bootstrap / ar for _, ar, bootstrap in TABLE_2)
    return Summary(
        "in part",
        f"p of the bootstrap is {number(theirs, 2)} of that of AR",
        f"{number(shift, 2)} with the paper's test, {number(centred, 2)} if centred",
    )


# Multiplicity.

MULTIPLICITY = """
import json, reshuffle

error = reshuffle.experimentwise_error
print(json.dumps([error(0.015, 5), error(0.05, 105)]))
"""


def show_multiplicity(figures: Figures) -> str:
    few, many = figures
    rows = [
        ["5 tests at .015", "about .07", number(few, 4)],
        ["105 tests (15 systems) at .05", ".9954", number(many, 4)],
    ]
    return f"""
{markdown_table(["1 − (1 − p)^k", "paper", "here"], rows)}

The formula is for independent tests. Comparisons of the same systems are not independent, so their error rate is
smaller.
"""


RIEZLER_MAXWELL = Paper(
    title="Riezler & Maxwell 2005",
    about="""
*On Some Pitfalls in Automatic Evaluation and Significance Testing for MT*,
[W05-0908](https://aclanthology.org/W05-0908). The paper compares
approximate randomization (AR) with a bootstrap test under NIST, BLEU and F, and warns of multiple comparisons.
""",
    claims=(
        Claim(
            name="rm-table-1",
            title="One pair under NIST, BLEU and F",
            paper="""
Table 1 compares a phrase-based system with its reranked output under three metrics. Only NIST finds a difference. From
this the paper
concludes that NIST is the most sensitive of the three.
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
AR, and
the paper concludes that AR is "more conservative".
""",
            prepare=FIRST_400,
            commands=TABLE_2_COMMANDS,
            extract=table_2,
            summary=summary_table_2,
            show=show_table_2,
        ),
        Claim(
            name="rm-multiplicity",
            title="Error rates of many tests",
            paper="Section 4.4 computes the probability of at least one false rejection among k tests.",
            python=MULTIPLICITY,
            extract=lambda outputs: outputs[0],
            summary=lambda figures: Summary("yes", ".07 and .9954", " and ".join(number(f, 4) for f in figures)),
            show=show_multiplicity,
        ),
    ),
    after="""
### Slips in W05-0908

- The text gives "0.15" where .015 is meant: the level at which a family of five tests has an error rate of about .07.
- Type-I errors are described as failures to reject a null hypothesis that is true. They are rejections of one that is
true.
- The number of replicates is not given. p < .0001 needs at least 10,000 of them.
- Figures 1 and 2 loop over r = 0, …, R and b = 0, …, B. Here R and B are the numbers of replicates, and p = (c + 1)/(R
+ 1).
""",
)
