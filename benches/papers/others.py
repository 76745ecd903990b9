"""The claims of later papers about the same tests, and what cannot be checked yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .claims import Claim, Figures, Paper, Summary, markdown_table, number, rows_of, share
from .figures import columns, save
from .koehn import COMPLEMENT, TABLE_4
from .riezler_maxwell import FIRST_400, RERANKED

__all__ = ["BERG_KIRKPATRICK", "CARD", "COMING", "GRAHAM"]


# Berg-Kirkpatrick et al. 2012.

GAINS = (
    "reshuffle compare wmt17-en-de/ref.txt wmt17-en-de/sys/*.txt --all-pairs -m bleu --test bootstrap --adjust none",
    "reshuffle compare wmt13-fr-en/ref.txt wmt13-fr-en/sys/*.txt --all-pairs -m bleu --test bootstrap --adjust none",
    f"reshuffle compare {RERANKED}/ref.first400.txt first400/default.txt first400/rerank-*.txt -m bleu:tokenize=none "
    "--all-pairs --test bootstrap --adjust none",
)


def gains(outputs: Sequence[Any]) -> Figures:
    """The absolute difference and p of each pair under BLEU, and the minimum detectable differences."""
    return [
        {
            "segments": output["n_segments"],
            "detectable": [output["detectable"][0][key] for key in ("low", "difference", "high")],
            "pairs": [
                [abs(pair["difference"]), pair["test"]["pvalue"]] for pair in output["comparisons"] if near(pair)
            ],
            "n": len(output["comparisons"]),
        }
        for output in outputs
    ]


def near(pair: Mapping[str, Any]) -> bool:
    """Whether a pair is shown: beyond 3 points all are significant."""
    return bool(abs(pair["difference"]) < 3)


NAMES = ("WMT17 English–German", "WMT13 French–English", "rerankings, Russian–English")


def thresholds(of_set: Mapping[str, Any]) -> tuple[float, float]:
    """The smallest gain with p ≤ .05 and the largest one without."""
    pairs = of_set["pairs"]
    return min(gain for gain, p in pairs if p <= 0.05), max(gain for gain, p in pairs if p > 0.05)


def at_3000(of_set: Mapping[str, Any]) -> float:
    """The median of the minimum detectable differences for 3,000 segments: standard errors fall as 1/√n."""
    return float(of_set["detectable"][1] * (of_set["segments"] / 3000) ** 0.5)


def show_gains(figures: Figures) -> str:
    rows = [
        [
            name,
            f"{of_set['segments']:,}",
            str(of_set["n"]),
            *(number(gain, 2) for gain in thresholds(of_set)),
            *(number(difference, 2) for difference in of_set["detectable"]),
            number(at_3000(of_set), 2),
        ]
        for name, of_set in zip(NAMES, figures, strict=True)
    ]
    header = ["BLEU", "segments", "pairs", "smallest gain with p ≤ .05", "largest without"]
    header += ["detectable: smallest", "median", "largest", "median for 3,000 segments"]
    ratios = [of_set["detectable"][2] / of_set["detectable"][0] for of_set in figures]
    return f"""
{markdown_table(header, rows)}

The detectable differences are those that a pair's test finds with 80% power at .05. They depend on how similar two
systems are: on the same test set, the largest is {min(ratios):.1f} to {max(ratios):.1f} times the smallest. The
rerankings are variants of one system. For the same number of segments, they need smaller gains than the systems of
different participants. p-values are two-sided, and not adjusted.
"""


def summary_gains(figures: Figures) -> Summary:
    different, _, variants = map(at_3000, figures)
    return Summary(
        "yes" if variants < different else "no",
        "smaller gains are significant between variants",
        f"detectable with 3,000 segments: {number(variants, 2)} BLEU between variants, {number(different, 2)} between "
        "participants",
        "the median difference that 3,000 segments detect is smaller between variants than between participants.",
    )


def plot_gains(figures: Figures, path: Path) -> None:
    """p against the gain, for each test set."""
    figure, axes = columns(len(NAMES))
    for ax, name, of_set in zip(axes, NAMES, figures, strict=True):
        gain, p = zip(*of_set["pairs"][:150], strict=True)
        ax.semilogy(gain, p, "o", markersize=2)
        ax.axhline(0.05, linewidth=0.6, color="black", linestyle="--")
        ax.set(xlabel="difference in BLEU", ylabel="p", title=name)
    save(figure, path)


def elsewhere(outputs: Sequence[Any]) -> Figures:
    """Conclusions and the share of right ones by band and layout, over all sizes."""
    return {
        layout: [
            [band["low"], band["conclusions"], band["right"]]
            for band in rows_of(outputs[0], "bands", layout=layout, size=None, test="paired-bootstrap")
            if band["low"] in TABLE_4
        ]
        for layout in ("broad", "block")
    }


def show_elsewhere(figures: Figures) -> str:
    rows = [
        ["100 (all)" if low == 1 else f"{100 * low:g}", f"{n:,}", share(right), f"{other:,}", share(less)]
        for (low, n, right), (_, other, less) in zip(figures["broad"], figures["block"], strict=True)
    ]
    header = ["share of draws won, from", "broad: conclusions", "right", "blocks: conclusions", "right"]
    return f"""
{markdown_table(header, rows)}

Winners on samples of 100, 300 and 600 segments are compared with those on the other segments. Broad samples have
sentences of the same documents as the other segments; blocks are of other documents, the nearest thing to another
domain in these data. All texts are news, so the effect is smaller than between domains.
"""


def summary_elsewhere(figures: Figures) -> Summary:
    broad, block = (next(right for low, _, right in figures[layout] if low == 0.95) for layout in ("broad", "block"))
    return Summary(
        "yes" if block < broad else "no",
        "significance says less about other domains",
        f"winners of 95–99% of draws are right in {share(broad)} on the same documents, {share(block)} on others",
        "of the winners of 95 to 99% of the draws, fewer win on other documents than on the same ones.",
    )


BERG_KIRKPATRICK = Paper(
    title="Berg-Kirkpatrick et al. 2012",
    about="""
*An Empirical Investigation of Statistical Significance in NLP*, [D12-1091](https://aclanthology.org/D12-1091). The
paper relates gains to p-values over many pairs of systems, and asks whether significant winners also win on another
domain. Its bootstrap test counts draws with d_b > 2·d: the centred `bootstrap`, one-sided.
""",
    claims=(
        Claim(
            name="bk-gain",
            title="Smaller gains are significant between similar systems",
            paper="""
For each task there is a gain that roughly implies significance, but it is smaller for similar systems than for
independent ones, and for larger test sets.
""",
            prepare=FIRST_400,
            commands=GAINS,
            extract=gains,
            summary=summary_gains,
            show=show_gains,
            plot=plot_gains,
            caption="p against the difference in BLEU, for the pairs of three test sets (at most 150 each)",
        ),
        Claim(
            name="bk-domain",
            title="Significant winners win less often on other texts",
            paper="""
Parsers that win significantly on one domain win less reliably on another one, and the less the larger p is.
""",
            commands=(COMPLEMENT,),
            extract=elsewhere,
            summary=summary_elsewhere,
            show=show_elsewhere,
        ),
    ),
)


# Graham et al. 2014.

TESTS = "--tests ar bootstrap bootstrap-shift paired-bootstrap"
AGREEMENTS = (
    f"reshuffle study agreement wmt12-es-en/ref.txt wmt12-es-en/sys/*.txt -m bleu {TESTS}",
    f"reshuffle study agreement wmt17-en-de/ref.txt wmt17-en-de/sys/*.txt -m bleu {TESTS}",
    f"reshuffle study agreement {RERANKED}/ref.first400.txt first400/rerank-*.txt -m bleu:tokenize=none {TESTS}",
)
LIBERAL = ("bootstrap-shift", "paired-bootstrap")


def agreement(outputs: Sequence[Any]) -> Figures:
    """The agreement of every two tests, over the pairs of all test sets."""
    found: dict[tuple[str, str], list[int]] = {}
    for output in outputs:
        for row in output["tests"]:
            if row["metric"] == row["other_metric"]:
                counts = found.setdefault((row["test"], row["other_test"]), [0, 0, 0, 0])
                for at, key in enumerate(("both", "neither", "only_first", "only_second")):
                    counts[at] += row[key]
    return [[*tests, *counts] for tests, counts in found.items()]


def show_agreement(figures: Figures) -> str:
    rows = [
        [f"`{first}`", f"`{second}`", *map(str, counts), share((counts[0] + counts[1]) / sum(counts))]
        for first, second, *counts in figures
    ]
    header = ["test", "other test", "both", "neither", "only the first", "only the second", "agreement"]
    mixed = [row for row in figures if row[0] not in LIBERAL and row[1] in LIBERAL]
    more, less = (sum(row[at] for row in mixed) for at in (5, 4))
    return f"""
{markdown_table(header, rows, 2)}

The numbers of pairs of systems ({sum(figures[0][2:])} in three test sets) with p ≤ .05 under BLEU. Most pairs differ
so much that any test finds it. Between `ar` or `bootstrap` and one of the tests with too many type-I errors
(`bootstrap-shift` and `paired-bootstrap`) there are {more + less} disagreements; in {more} of these the latter
rejects. So a test that rejects twice as often as it should is hardly seen in a comparison of very different systems,
and is seen where systems are close, which is where tests are needed. Human judgments, by which the paper decides
which test is more accurate, are not used here.
"""


def least(figures: Figures) -> float:
    """The smallest agreement of two tests."""
    return float(min((both + neither) / (both + neither + a + b) for *_, both, neither, a, b in figures))


GRAHAM = Paper(
    title="Graham et al. 2014",
    about="""
*Randomized Significance Tests in Machine Translation*, [W14-3333](https://aclanthology.org/W14-3333). The paper
compares bootstrap tests and approximate randomization by human judgments.
""",
    claims=(
        Claim(
            name="graham-agreement",
            title="It matters little which randomized test is used",
            paper="The paper finds little practical difference between the tests.",
            prepare=FIRST_400,
            commands=AGREEMENTS,
            extract=agreement,
            summary=lambda figures: Summary(
                "yes" if least(figures) > 0.9 else "in part",
                "little practical difference",
                f"two tests agree on at least {share(least(figures))} of the pairs",
                "every two tests agree on more than 90% of the pairs; in part if some do not.",
            ),
            show=show_agreement,
        ),
    ),
)


# Card et al. 2020.

DESIGN = (
    "reshuffle study power --models parametric --difference 0.25 0.5 1 2 --sizes 2000 --tests ar --alphas 0.05 "
    "--simulations 1000"
)


def design(outputs: Sequence[Any]) -> Figures:
    """Power, type-M and type-S errors by true difference, and the power in closed form."""
    keys = ("difference", "rate", "type_m", "type_s", "approximation")
    return [[row[key] for key in keys] for row in outputs[0]["power"]]


def show_design(figures: Figures) -> str:
    rows = [
        [
            number(difference, 2),
            "about .75" if difference == 1 else "–",
            number(power),
            number(normal),
            number(m, 2),
            number(s),
        ]
        for difference, power, m, s, normal in figures
    ]
    header = ["true difference in BLEU", "paper: power", "power", "closed form", "type-M error", "type-S error"]
    weakest = figures[0]
    return f"""
{markdown_table(header, rows)}

The paper's model: swapping the outputs of a segment changes the difference with probability 1 − P₀, by a
Laplace-distributed amount; P₀ = .13 and b₀ = 25.8, test sets of 2,000 segments, AR at .05. The closed form is that of
a normal estimate with the model's standard error. Type-M error is the mean size of the significant differences
relative to the true one, type-S error the share of them with the wrong sign. If the true difference is
{number(weakest[0], 2)} BLEU, the differences that are significant are {weakest[2]:.1f} times too large on average.
With the files of two systems, `--models parametric` fits the model to a pair of systems.
"""


def power_at_1(figures: Figures) -> float:
    """The power for a difference of 1 BLEU."""
    return float(next(power for difference, power, *_ in figures if difference == 1))


CARD = Paper(
    title="Card et al. 2020",
    about="""
*With Little Power Comes Great Responsibility*, [2020.emnlp-main.745](https://aclanthology.org/2020.emnlp-main.745).
The paper estimates the power of common designs. For machine translation it simulates test sets from a model of the
effects of swaps.
""",
    claims=(
        Claim(
            name="card-power",
            title="2,000 sentences have 75% power at 1 BLEU",
            paper="Test sets of 2,000 sentences have about 75% power to detect a difference of 1 BLEU (abstract).",
            commands=(DESIGN,),
            extract=design,
            summary=lambda figures: Summary(
                "yes" if abs(power_at_1(figures) - 0.75) < 0.03 else "no",
                "about .75",
                number(power_at_1(figures)),
                "the power at 1 BLEU is within .03 of .75.",
            ),
            show=show_design,
        ),
    ),
)


COMING = Paper(
    title="What cannot be checked yet",
    about="""
- **Clark et al. 2011** ([P11-2031](https://aclanthology.org/P11-2031)): the cells of Tables 1 and 2 for BTEC, whose
  data and outputs are not public; MERT with a decoder between its rounds; and METEOR 1.2, which cannot be obtained.
- **Chen & Cherry 2014** ([W14-3346](https://aclanthology.org/W14-3346)): the cells of 2013 out of English, and of
  Spanish and Russian into English, whose judgments are not among our data; and the figures of Tables 5 to 8 for Chinese
  and Arabic, which need the decoder and its sparse features.
- **Riezler & Maxwell 2005**, F of rerankings of 100-best lists: no parses of these translations are available.
""",
    claims=(),
)
