"""The claims of later papers about the same tests, and what cannot be checked yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from claims import Claim, Figures, Paper, Summary, markdown_table, number, share
from claims_riezler_maxwell import FIRST_400, RERANKED
from papers_figures import columns, save

__all__ = ["BERG_KIRKPATRICK", "COMING", "ZHANG_VOGEL"]


def significant(output: Mapping[str, Any], metric: str, level: float = 0.05) -> float:
    """The share of pairs with p ≤ level under a metric."""
    return float(mean(pair["pvalue"] <= level for pair in output["comparisons"] if pair["metric"] == metric))


def width(output: Mapping[str, Any], metric: str) -> tuple[float, float]:
    """The mean width of the intervals of all systems' scores, in points and relative to the score."""
    scores = [system["scores"][metric] for system in output["systems"]]
    widths = [score["confidence_interval"]["high"] - score["confidence_interval"]["low"] for score in scores]
    return mean(widths), mean(width / score["score"] for width, score in zip(widths, scores, strict=True))


# Zhang & Vogel 2004.

METRICS = ("BLEU", "NIST", "TER")
EVERY = (16, 8, 4, 2, 1)
SUBSETS = f"""
for k in {" ".join(map(str, EVERY))}; do
  mkdir -p every-$k/sys
  for f in ref.txt $(cd wmt17-en-de && ls sys/*.txt); do awk "NR % $k == 0" wmt17-en-de/$f > every-$k/$f; done
done
"""
BY_SIZE = tuple(
    f"reshuffle compare every-{k}/ref.txt every-{k}/sys/*.txt --all-pairs -m bleu nist ter --test bootstrap "
    "--adjust none -n 2000"
    for k in EVERY
)


def by_size(outputs: Sequence[Any]) -> Figures:
    """Widths of intervals, and shares of pairs with p ≤ .05, by the number of segments and metric."""
    return [
        {
            "segments": output["segments"],
            "pairs": len(output["comparisons"]) // len(METRICS),
            "width": {metric: width(output, metric) for metric in METRICS},
            "significant": {metric: significant(output, metric) for metric in METRICS},
        }
        for output in outputs
    ]


def show_by_size(figures: Figures) -> str:
    rows = [
        [f"{row['segments']:,}"]
        + [f"{number(row['width'][metric][0], 2)} ({100 * row['width'][metric][1]:.1f}%)" for metric in METRICS]
        + [share(row["significant"][metric]) for metric in METRICS]
        for row in figures
    ]
    header = ["segments", *(f"{metric}: width" for metric in METRICS), *(f"{metric}: p ≤ .05" for metric in METRICS)]
    first, last = figures[0], figures[-1]
    expected = (last["segments"] / first["segments"]) ** 0.5
    ratios = [first["width"][metric][0] / last["width"][metric][0] for metric in METRICS]
    return f"""
{markdown_table(header, rows, 0)}

Mean widths of the 95% intervals of 16 systems (in points, and relative to the score), and the share of the
{last["pairs"]} pairs with p ≤ .05. With {last["segments"] / first["segments"]:.0f} times as many segments,
intervals are {", ".join(f"{r:.1f} ({m})" for m, r in zip(METRICS, ratios, strict=True))} times as narrow; 1/√n
predicts {expected:.1f}. NIST
changes with the test set, because it takes its information weights from the references. Halving an interval needs
about four times the
data. TER tells more pairs apart than BLEU and NIST here.
"""


def summary_by_size(figures: Figures) -> Summary:
    first, last = figures[0], figures[-1]
    ours = first["width"]["BLEU"][0] / last["width"]["BLEU"][0]
    root = (last["segments"] / first["segments"]) ** 0.5
    return Summary(
        "yes" if abs(ours / root - 1) < 0.15 else "in part",
        "curves that flatten with the size",
        f"BLEU: {ours:.1f} times narrower with {root**2:.0f} times the segments",
    )


def plot_by_size(figures: Figures, path: Path) -> None:
    """Relative widths, and shares of significant pairs, against the number of segments."""
    figure, (left, right) = columns(2)
    segments = [row["segments"] for row in figures]
    for metric, style in zip(METRICS, ("o-", "s--", "^:"), strict=True):
        left.loglog(segments, [100 * row["width"][metric][1] for row in figures], style, label=metric)
        right.semilogx(segments, [100 * row["significant"][metric] for row in figures], style, label=metric)
    left.set(xlabel="segments", ylabel="width of the interval, % of the score")
    right.set(xlabel="segments", ylabel="pairs with p ≤ .05, %")
    left.legend()
    save(figure, path)


REFERENCES = ("ref-A", "ref-C", "ref-D")
BY_REFERENCES = tuple(
    "reshuffle compare wmt21-en-de/ref-A.txt wmt21-en-de/sys/*.txt "
    + (f"--refs {' '.join(f'wmt21-en-de/{name}.txt' for name in REFERENCES[1:n])} " if n > 1 else "")
    + "-m bleu nist --all-pairs --test bootstrap --adjust none -n 2000"
    for n in (1, 2, 3)
)


def by_references(outputs: Sequence[Any]) -> Figures:
    """Widths of intervals and shares of significant pairs, by the number of references."""
    return [
        {
            "references": output["references"],
            "score": mean(system["scores"]["BLEU"]["score"] for system in output["systems"]),
            "width": {metric: width(output, metric) for metric in METRICS[:2]},
            "significant": {metric: significant(output, metric) for metric in METRICS[:2]},
        }
        for output in outputs
    ]


def show_by_references(figures: Figures) -> str:
    rows = [
        [str(row["references"]), number(row["score"], 1)]
        + [f"{number(row['width'][metric][0], 2)} ({100 * row['width'][metric][1]:.1f}%)" for metric in METRICS[:2]]
        + [share(row["significant"][metric]) for metric in METRICS[:2]]
        for row in figures
    ]
    header = ["references", "mean BLEU", "BLEU: width", "NIST: width", "BLEU: p ≤ .05", "NIST: p ≤ .05"]
    first, last = (figures[at]["width"]["BLEU"][1] for at in (0, -1))
    saved = (last / first) ** 2
    return f"""
{markdown_table(header, rows, 0)}

Scores rise with the number of references, so the width relative to the score matters. With three references instead of
one it is
{100 * (1 - last / first):.0f}% smaller for BLEU, as much as {1 / saved:.1f} times as many segments would give.
"""


def summary_by_references(figures: Figures) -> Summary:
    first, *_, last = (100 * row["width"]["BLEU"][1] for row in figures)
    return Summary(
        "yes" if last < first else "no",
        "narrower with more references",
        f"BLEU: ±{first / 2:.1f}% with one, ±{last / 2:.1f}% with three",
    )


ZHANG_VOGEL = Paper(
    title="Zhang & Vogel 2004",
    about="""
*Measuring Confidence Intervals for the Machine Translation Evaluation Metrics* (TMI 2004). The paper measures how
bootstrap intervals of BLEU
and NIST depend on the size of the test set and on the number of references, and how many differences each metric
finds. Its results are
curves, so no figures are quoted.
""",
    claims=(
        Claim(
            name="zv-size",
            title="Intervals narrow with the size of the test set",
            paper="Larger test sets have narrower intervals, with diminishing returns, and tell more systems apart.",
            prepare=SUBSETS,
            commands=BY_SIZE,
            extract=by_size,
            summary=summary_by_size,
            show=show_by_size,
            plot=plot_by_size,
            caption="Relative width of intervals, and share of significant pairs, by number of segments",
        ),
        Claim(
            name="zv-references",
            title="Intervals narrow with the number of references",
            paper="More references make intervals narrower, too.",
            commands=BY_REFERENCES,
            extract=by_references,
            summary=summary_by_references,
            show=show_by_references,
        ),
    ),
)


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
            "segments": output["segments"],
            "detectable": [output["detectable"][0][key] for key in ("low", "difference", "high")],
            "pairs": [[abs(pair["difference"]), pair["pvalue"]] for pair in output["comparisons"] if near(pair)],
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
systems are: on the same
test set, the largest is {min(ratios):.1f} to {max(ratios):.1f} times the smallest. The rerankings are variants of one
system. For the same
number of segments, they need smaller gains than the systems of different participants. p-values are two-sided, and not
adjusted.
"""


def summary_gains(figures: Figures) -> Summary:
    different, _, variants = map(at_3000, figures)
    return Summary(
        "yes" if variants < different else "no",
        "smaller gains are significant between variants",
        f"detectable with 3,000 segments: {number(variants, 2)} BLEU between variants, {number(different, 2)} between "
        "participants",
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


BERG_KIRKPATRICK = Paper(
    title="Berg-Kirkpatrick et al. 2012",
    about="""
*An Empirical Investigation of Statistical Significance in NLP*, [D12-1091](https://aclanthology.org/D12-1091). The
paper relates gains to
p-values over many pairs of systems, and asks whether significant winners also win on another domain. Its bootstrap
test counts draws with
d_b > 2·d: the centred `bootstrap`, one-sided.
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
    ),
)


COMING = Paper(
    title="What cannot be checked yet",
    about="""
- **Clark et al. 2011** ([P11-2031](https://aclanthology.org/P11-2031)): variance between optimizer runs, and tests
  over runs. This needs tests for several runs of a system, which reshuffle does not have. The paper's METEOR scores
  cannot be reproduced in any case, because that version of METEOR cannot be obtained.
- **Chen & Cherry 2014** ([W14-3346](https://aclanthology.org/W14-3346)): the smoothings are [there](counting.md), but
  correlations with human judgments and tuning are not. No judgments of 2013 out of English, and none of
  Russian–English, are available.
- **Riezler & Maxwell 2005**, F of the rerankings: no parses of reranked translations are available.
- **Koehn 2004**, Figure 1: this needs GTM, and lists of translations of one model at several word penalties.
""",
    claims=(),
)
