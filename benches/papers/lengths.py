"""Scores of one model at several word penalties: Figure 1 of Koehn 2004."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .claims import Figures, Summary, markdown_table, number
from .figures import columns, save

__all__ = ["PENALTIES", "plot_penalties", "scores", "show_penalties", "summary_penalties"]

LISTS = "kbest-wmt11-de-en"

# The weights are rounded: the choice of the first translation does not depend on more digits.
PENALTIES = f"""
import gzip, json
from reshuffle import metric, read_lines

# Tuned on dev.nbest.gz by k-best MIRA. The last feature is the word penalty: -log10(e) for each word.
WEIGHTS = [0.089, 0.251, -1.183, -11.831, -0.464, -0.388, -0.189, -0.234, 0.076, -0.104, -0.163, -1.0]
lists = {{}}
with gzip.open("{LISTS}/test.nbest.gz", "rt", encoding="utf-8") as lines:
    for line in lines:
        segment, text, features, _ = line.split(" ||| ")
        values = map(float, features.removeprefix("F=").split())
        lists.setdefault(int(segment), []).append((text, list(values)))
references = [read_lines("{LISTS}/test.ref")]
metrics = [metric("bleu", tokenize="none"), metric("gtm"), metric("gtm", exponent=2)]


def scores(penalty):
    weights = [*WEIGHTS[:-1], WEIGHTS[-1] + penalty]
    value = lambda candidate: sum(w * x for w, x in zip(weights, candidate[1]))
    outputs = [max(lists[segment], key=value)[0] for segment in sorted(lists)]
    bleu, *gtm = (m.suff_stats(references, [outputs])[0].sum(axis=0) for m in metrics)
    ratio = bleu[0] / bleu[1]  # hyp_len / ref_len
    return [penalty, float(ratio), *(float(m.score(totals)) for m, totals in zip(metrics, [bleu, *gtm]))]


print(json.dumps([scores(penalty) for penalty in (-4, -2, -1, -0.5, 0, 0.25, 0.5, 1, 1.5, 2, 3, 4, 6)]))
"""
HEADER = ["shift of the weight", "length ratio", "BLEU", "GTM, e = 1", "GTM, e = 2"]
# How short the outputs of the summary are: the penalty that makes the ratio .984, and the one that makes it .889.
FROM, TO = 0.25, 6


def scores(outputs: Sequence[Any]) -> Figures:
    """For each shift of the word penalty the length ratio, BLEU, and GTM with e = 1 and 2."""
    return outputs[0]


def changes(figures: Figures) -> list[tuple[float, float]]:
    """Length ratio, BLEU, and GTM with e = 1 and 2, of the longer and the shorter outputs."""
    longer, shorter = (next(row[1:] for row in figures if row[0] == penalty) for penalty in (FROM, TO))
    return list(zip(longer, shorter, strict=True))


def percent(before: float, after: float) -> str:
    """A relative change in percent."""
    return f"{100 * (after / before - 1):.0f}%".replace("-", "−")


def summary_penalties(figures: Figures) -> Summary:
    (longer, shorter), bleu, gtm, _ = changes(figures)
    holds = bleu[1] / bleu[0] < gtm[1] / gtm[0] < 1
    return Summary(
        "yes" if holds else "no",
        "BLEU and GTM of two systems against the length ratio",
        f"from a ratio of {number(longer)} to {number(shorter)}: BLEU {percent(*bleu)}, GTM {percent(*gtm)}",
        "both lose by shorter outputs, and BLEU the larger share.",
    )


def show_penalties(figures: Figures) -> str:
    rows = [
        [f"{penalty:g}".replace("-", "−"), number(ratio), *(f"{x:.2f}" for x in of)] for penalty, ratio, *of in figures
    ]
    (longer, shorter), *pairs = changes(figures)
    said = [
        f"{name} from {before:.2f} to {after:.2f} ({percent(before, after)})"
        for name, (before, after) in zip(("BLEU", "GTM with e = 1", "with e = 2"), pairs, strict=True)
    ]
    return f"""
{markdown_table(HEADER, rows, 0)}

One model, of which only the weight of the word penalty changes: the first translation of each of 499 lists of 100
translations. From a length ratio of {number(longer)} to {number(shorter)}, {", ".join(said)}. More than half of what
BLEU loses is its brevity penalty. GTM is a harmonic mean of precision and recall, so that what recall loses is in
part balanced by precision. The weights were tuned for BLEU on the development lists (k-best MIRA, Cherry & Foster
2012, [N12-1047](https://aclanthology.org/N12-1047)). The paper does not say which exponent its GTM has.
"""


def plot_penalties(figures: Figures, path: Path) -> None:
    """Scores against the length ratio, in percent of the largest."""
    figure, (ax,) = columns(1)
    _, ratios, *of = zip(*figures, strict=True)
    for name, values, marker in zip(("BLEU", "GTM, e = 1", "GTM, e = 2"), of, "osv", strict=True):
        ax.plot(ratios, [100 * value / max(values) for value in values], marker=marker, label=name)
    ax.set(xlabel="length ratio", ylabel="score in % of the largest")
    ax.legend()
    save(figure, path)
