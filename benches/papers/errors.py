"""Error rates of tests: of one, for systems of unequal length, and of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any

from .claims import Figures, Summary, Verdict, markdown_table, number
from .figures import columns, save

__all__ = [
    "CUT",
    "FAMILY",
    "FEWER",
    "LENGTHS",
    "MULTIPLICITY",
    "ONLY_NIST",
    "SIZE",
    "family",
    "fewer_by_ar",
    "lengths",
    "only_nist",
    "plot_size",
    "rejections",
    "shift_pvalue",
    "show_family",
    "show_lengths",
    "show_multiplicity",
    "show_size",
    "summary_family",
    "summary_lengths",
    "summary_multiplicity",
    "summary_size",
]

# Rules that several claims share, and what they decide.
ONLY_NIST = "p of AR is at most .05 under NIST alone; in part if it is smallest under NIST."
FEWER = "AR rejects at most three quarters as often at .05 as both bootstrap tests; in part if as one of them."


def only_nist(p: Mapping[str, float]) -> Verdict:
    """Whether NIST alone finds a difference: p of AR by metric."""
    alone = [name for name, value in p.items() if value <= 0.05] == ["NIST"]
    return "yes" if alone else "in part" if min(p, key=lambda name: p[name]) == "NIST" else "no"


def fewer_by_ar(ar: float, *bootstraps: float) -> Verdict:
    """Whether approximate randomization rejects less often than bootstrap tests."""
    fewer = [ar <= 0.75 * other for other in bootstraps]
    return "yes" if all(fewer) else "in part" if any(fewer) else "no"


# Type-I error.

PAIR = "wmt17-en-de/ref.txt wmt17-en-de/sys/KIT.4950.txt wmt17-en-de/sys/RWTH-nmt-ensemble.4921.txt"
SIZE = (
    f"reshuffle study type1 {PAIR} --null swap --tests ar bootstrap bootstrap-percentile bootstrap-both "
    "bootstrap-shift paired-bootstrap --sizes 500 --simulations 4000 -n 999"
)
LEVELS = (0.01, 0.05, 0.1)


def rejections(outputs: Sequence[Any]) -> Figures:
    """Rejection rates by test and level, and the distributions of p."""
    (output,) = outputs
    rates: dict[str, list[Any]] = {}
    shares: dict[str, list[Any]] = {}
    for rate in output["rates"]:
        interval = rate["confidence_interval"]
        rates.setdefault(rate["test"], []).append([rate["alpha"], rate["rate"], interval["low"], interval["high"]])
    for point in output["pvalues"]:
        shares.setdefault(point["test"], []).append([point["p"], point["share"]])
    return {"rates": rates, "pvalues": shares, "simulations": output["rates"][0]["simulations"]}


def show_size(figures: Figures) -> str:
    rows = [
        [f"`{test}`", *(f"{number(rate)} ({number(low)}–{number(high)})" for _, rate, low, high in of_levels)]
        for test, of_levels in figures["rates"].items()
    ]
    header = ["test", *(f"at {number(level, 2)}" for level in LEVELS)]
    return f"""
{markdown_table(header, rows)}

The share of {figures["simulations"]:,} simulated test sets of 500 segments in which p is at most the level, with 95%
intervals. In each segment a coin decides which output belongs to which system, so the null hypothesis is true.
Approximate randomization and the centred bootstrap reject as often as they should: neither is more conservative than
the other. The paper's bootstrap (`bootstrap-shift`) takes |d_b| before it subtracts the mean of |d_b|. This compares
one tail with a threshold for two, so it rejects about twice as often as its level. In large samples it would reject
{number(shift_size(0.05))} at .05 and {number(shift_size(0.1))} at .10. The paper does not simulate type-I errors: it
concludes from the p-values of Table 2 that the bootstrap makes more of them, which is right for the test as printed,
but not for bootstrap tests in general.
"""


def rate_at(figures: Figures, test: str, level: float = 0.05) -> float:
    """The rejection rate of a test."""
    return float(next(rate for alpha, rate, *_ in figures["rates"][test] if alpha == level))


def summary_size(figures: Figures) -> Summary:
    ar, centred, shift = (rate_at(figures, test) for test in ("ar", "bootstrap", "bootstrap-shift"))
    return Summary(
        fewer_by_ar(ar, shift, centred),
        "AR makes fewer type-I errors than the bootstrap",
        f"at .05: AR {number(ar)}, the paper's bootstrap {number(shift)}, centred {number(centred)}",
        FEWER,
    )


def plot_size(figures: Figures, path: Path) -> None:
    """The distribution of p under the null hypothesis."""
    figure, (ax,) = columns(1)
    for (test, points), style in zip(
        figures["pvalues"].items(), ("-", "--", (0, (4, 2, 1, 2)), ":", "-", "--"), strict=True
    ):
        ax.plot(*zip(*[(p, share) for p, share in points if p <= 0.5], strict=True), linestyle=style, label=test)
    ax.plot([0, 0.5], [0, 0.5], color="grey", linewidth=0.6)
    ax.set(xlabel="level", ylabel="share of p ≤ level", xlim=(0, 0.5), ylim=(0, 1))
    ax.legend(fontsize=6, frameon=False)
    save(figure, path)


def shift_pvalue(z: float) -> float:
    """p of the paper's bootstrap in large samples, if the difference is z standard errors.

    Draws d_b are normal around z: |d_b| − E|d_b| ≥ |z|.
    """
    normal, z = NormalDist(), abs(z)
    centre = 2 * normal.pdf(z) + z * (1 - 2 * normal.cdf(-z))
    return 1 - normal.cdf(centre) + normal.cdf(-2 * z - centre)


def shift_size(level: float) -> float:
    """How often the paper's bootstrap rejects in large samples: the z at which its p is the level, by bisection."""
    low, high = 0.0, 9.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if shift_pvalue(middle) > level else (low, middle)
    return 2 * NormalDist().cdf(-low)


# Unequal lengths.

CUT = """
cat > cut.py <<'END'
import random
from pathlib import Path

words = [line.split() for line in Path("wmt17-en-de/sys/LIUM-NMT.4900.txt").read_text("utf-8").split("\\n")[:-1]]
known = [line.split() for line in Path("wmt17-en-de/ref.txt").read_text("utf-8").split("\\n")[:-1]]
wrong = [(i, j) for i, line in enumerate(words) for j, word in enumerate(line) if word not in known[i]]
cut = set(random.Random(1).sample(wrong, sum(map(len, words)) // 25))
lines = [" ".join(word for j, word in enumerate(line) if (i, j) not in cut) for i, line in enumerate(words)]
Path("short.txt").write_text("".join(f"{line}\\n" for line in lines), "utf-8")
END
python cut.py
"""
LENGTHS = (
    "reshuffle study type1 wmt17-en-de/ref.txt wmt17-en-de/sys/LIUM-NMT.4900.txt short.txt --null "
    "equal-score:equalize=drop-words --tests ar ar-studentized bootstrap bootstrap-percentile bootstrap-both "
    "--sizes 500 --alphas 0.05 --simulations 2000 -n 399",
    "reshuffle score wmt17-en-de/ref.txt wmt17-en-de/sys/LIUM-NMT.4900.txt -m bleu length",
    "reshuffle score wmt17-en-de/ref.txt short.txt -m bleu length",
)


def lengths(outputs: Sequence[Any]) -> Figures:
    """Rejection rates at .05, and the lengths relative to the reference before scores were made equal."""
    study, *scores = outputs
    rates = [
        [rate["test"], rate["rate"], rate["confidence_interval"]["low"], rate["confidence_interval"]["high"]]
        for rate in study["rates"]
    ]
    of_systems = [{each["metric"]: each["score"] for each in output["scores"]} for output in scores]
    return {"rates": rates, "systems": of_systems, "truth": next(iter(study["truths"].values()))}


def show_lengths(figures: Figures) -> str:
    rows = [
        [f"`{test}`", f"{number(rate)} ({number(low)}–{number(high)})"] for test, rate, low, high in figures["rates"]
    ]
    (full, short) = figures["systems"]
    return f"""
{markdown_table(["test", "rejects at .05"], rows)}

`short.txt` is a system's output from which words that are not in the reference were cut, as if it had been tuned to
another length. Before scores are made equal, its length is {number(short["length"], 3)} of the reference and its BLEU
{number(short["BLEU"], 2)}; those of the whole output are {number(full["length"], 3)} and {number(full["BLEU"], 2)}.
The study then drops words of the better one until BLEU is equal on the whole set, and draws test sets of 500
segments. The two outputs of a segment are not exchangeable: the brevity penalty concerns only one of them.
Approximate randomization tests exchangeability, and rejects it, but users read this as a difference of scores.
Dividing by a standard error (`ar-studentized`) cures most of it, and `bootstrap-both`, the default, all of it. [Size
and power](../evidence/size.md#size-and-power) has more such pairs.
"""


def summary_lengths(figures: Figures) -> Summary:
    rates = {test: rate for test, rate, *_ in figures["rates"]}
    return Summary(
        "no" if rates["ar"] > 0.075 else "yes",
        "AR is recommended without conditions",
        f"equal BLEU, lengths on both sides of the reference: AR rejects {number(rates['ar'])} at .05, the default "
        f"{number(rates['bootstrap-both'])}",
        "AR rejects in at most 7.5% of the test sets at .05.",
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


def summary_multiplicity(figures: Figures) -> Summary:
    same = [round(figures[0], 2) == 0.07, round(figures[1], 4) == 0.9954]
    return Summary(
        "yes" if all(same) else "in part" if any(same) else "no",
        ".07 and .9954",
        " and ".join(number(each, 4) for each in figures),
        "the formula gives both of the paper's values, rounded as there; in part if one.",
    )


FAMILY = (
    "reshuffle study multiplicity wmt17-en-de/ref.txt wmt17-en-de/sys/*.txt --n-systems 15 --variances equal unequal "
    "--tests bootstrap-both permutation --adjustments none maxt tukey --sizes 500 --simulations 200 -n 399"
)


def family(outputs: Sequence[Any]) -> Figures:
    """Family-wise error rates at .05."""
    keys = ("test", "adjustment", "variances", "systems", "pairs", "rate", "independent", "simulations")
    return [
        {
            **{key: row[key] for key in keys},
            "low": row["confidence_interval"]["low"],
            "high": row["confidence_interval"]["high"],
        }
        for row in outputs[0]["family_wise"]
    ]


def show_family(figures: Figures) -> str:
    columns_of = list(dict.fromkeys((row["systems"], row["variances"]) for row in figures))
    rows = []
    for test, adjustment in dict.fromkeys((row["test"], row["adjustment"]) for row in figures):
        cells = []
        for of_column in columns_of:
            found = [row for row in figures if (row["test"], row["adjustment"]) == (test, adjustment)]
            row = next((row for row in found if (row["systems"], row["variances"]) == of_column), None)
            cells.append("–" if row is None else f"{number(row['rate'])} ({number(row['low'])}–{number(row['high'])})")
        rows.append([f"`{test}`, `{adjustment}`", *cells])
    formula = {row["systems"]: (row["pairs"], row["independent"]) for row in figures}
    predicted = " and ".join(f"{number(rate, 4)} for {pairs} pairs" for pairs, rate in formula.values())
    names = {"equal": "exchangeable", "unequal": "equal scores"}
    return f"""
{markdown_table(["test, adjustment", *(f"{k} systems, {names[variances]}" for k, variances in columns_of)], rows)}

The share of {figures[0]["simulations"]} simulated test sets of 500 segments in which at least one of all pairs of
systems has p ≤ .05, although no systems differ, with 95% intervals. For independent tests, the paper's formula gives
{predicted}. Pairs of the same systems are not independent, so without adjustment the rate is lower, but far above
.05. "Exchangeable": the outputs of each segment are permuted. "Equal scores": words were dropped until all systems
have the BLEU of the worst one. Step-down maxT with the default test keeps the rate near .05 in both.
"""


def of_family(figures: Figures, test: str, adjustment: str) -> float:
    """The rate for 15 exchangeable systems."""
    return float(
        next(
            row["rate"]
            for row in figures
            if (row["test"], row["adjustment"], row["systems"], row["variances"]) == (test, adjustment, 15, "equal")
        )
    )


def summary_family(figures: Figures) -> Summary:
    none, adjusted = (of_family(figures, "bootstrap-both", adjustment) for adjustment in ("none", "maxt"))
    return Summary(
        "yes" if none >= 0.95 else "in part" if none > 0.5 else "no",
        "at least one false difference among 105 pairs: .9954",
        f"{number(none)}; {number(adjusted)} with maxT",
        "the rate of the default test without adjustment is at least .95, nearly certain; in part if it is over .5.",
    )
