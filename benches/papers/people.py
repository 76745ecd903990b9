"""Agreement of metrics with people on newer judgments, and Riezler & Maxwell's question asked of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from .claims import Claim, Figures, Paper, Summary, markdown_table, number, pvalue, share
from .judgments import MANIFESTS, SETS, TITLES

__all__ = ["PEOPLE"]


def interval_of(row: Mapping[str, Any], digits: int = 3) -> str:
    """A value with its interval."""
    interval = row["interval"]
    return f"{number(row['value'], digits)} ({number(interval[0], digits)}–{number(interval[1], digits)})"


def value_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a result that are kept."""
    interval = result["confidence_interval"]
    kept = {"value": result["value"], "n": result["n"]}
    return kept if interval is None else {**kept, "interval": [interval["low"], interval["high"]]}


# Riezler & Maxwell's question, asked of people.

METRICS = "-m sentbleu nist chrf chrf:word_order=2 ter per gtm"
SENSITIVITY = tuple(
    f"reshuffle meta segments --manifest {name}.toml {METRICS}"
    + (" meteor:modules=exact,stem" if "into" in name else "")
    for name in SETS
)


def sensitivity(outputs: Sequence[Any]) -> Figures:
    """τ with intervals and letters by set and metric, and all differences."""
    found = {}
    for name, output in zip(SETS, outputs, strict=True):
        groups = {row["metric"]: row for row in output["groups"] if row["test_set"] == "average"}
        results = [row for row in output["results"] if row["test_set"] == "average"]
        compared = [row for row in output["comparisons"] if row["test_set"] == "average"]
        found[name] = {
            "metrics": {
                row["metric"]: {**value_of(row), "letters": groups[row["metric"]]["letters"]} for row in results
            },
            "pairs": [
                [row[key] for key in ("metric_a", "metric_b", "difference", "adjusted_pvalue")] for row in compared
            ],
        }
    return found


def against(figures: Figures, name: str, a: str, b: str) -> tuple[float, float]:
    """The difference between two metrics and its p."""
    for first, second, difference, p in figures[name]["pairs"]:
        if {first, second} == {a, b}:
            return (difference if first == a else -difference), p
    raise KeyError((a, b))


def show_sensitivity(figures: Figures) -> str:
    metrics = sorted(figures[SETS[0]]["metrics"], key=lambda each: -figures[SETS[0]]["metrics"][each]["value"])
    rows = []
    for each in metrics:
        cells = [each]
        for name in SETS:
            row = figures[name]["metrics"].get(each)
            cells += ["–", ""] if row is None else [interval_of(row), row["letters"]]
        rows.append(cells)
    header = ["metric"]
    for name in SETS:
        header += [f"τ {TITLES[name]}", "group"]
    nist = [against(figures, name, "NIST", "sentBLEU") for name in SETS]
    shown = "; ".join(
        f"{TITLES[name]} {number(difference)}, p {pvalue(p)}" for name, (difference, p) in zip(SETS, nist, strict=True)
    )
    return f"""
{markdown_table(header, rows)}

Means over language pairs of τ, with 95% intervals by drawing segments; metrics that share a letter do not differ
significantly
(all pairs, on the same swaps, adjusted by maxT). The difference between NIST and sentence BLEU is: {shown}. METEOR
has the
modules for exact matches and stems alone here. A metric whose differences between systems are large in
[standard errors](riezler-maxwell-2005.md#nist-is-more-sensitive-than-bleu-and-f) need not
order the outputs of a segment as people do;
this table asks
for the latter.
"""


def summary_sensitivity(figures: Figures) -> Summary:
    best = [max(figures[name]["metrics"], key=lambda m: figures[name]["metrics"][m]["value"]) for name in SETS]
    nist = [against(figures, name, "NIST", "sentBLEU")[0] for name in SETS]
    return Summary(
        "yes" if set(best) == {"NIST"} else "in part" if min(nist) > 0 else "no",
        "NIST is more sensitive than BLEU and F",
        f"τ of NIST minus that of sentence BLEU: {', '.join(number(each) for each in nist)}; the best is "
        f"{' or '.join(dict.fromkeys(best))}",
        "NIST has the largest τ on all three sets; in part if its τ is above that of sentence BLEU on all.",
    )


# Direct assessment of segments, 2017.

# Pearson's r of sentBLEU in the metrics task of 2017, segments into English.
WMT17 = {
    "cs-en": 0.435, "de-en": 0.432, "fi-en": 0.571, "lv-en": 0.393, "ru-en": 0.484, "tr-en": 0.538, "zh-en": 0.512
}  # fmt: skip

ASSESSED = """
import csv, json
import numpy as np
from reshuffle import meta, metric


def table(name, column):
    return meta.ScoreTable(name, ("outputs",), np.array([[float(row[column]) for row in rows]]), None, True)


sets = []
for pair in ["cs-en", "de-en", "fi-en", "lv-en", "ru-en", "tr-en", "zh-en"]:
    with open(f"wmt17-da-seg/testset_{pair}.tsv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\\t", quoting=csv.QUOTE_NONE))
    references, outputs = ([row[column] for row in rows] for column in ("reference", "translation"))
    metrics = [metric("sentbleu", tokenize="none"), metric("chrf"), metric("chrf", word_order=2), metric("ter")]
    metrics += [metric("gtm"), metric("meteor", modules=["exact", "stem"])]
    human, published = table("DA", "HUMAN_score"), table("sentBLEU of WMT17", "sentBLEU")
    sets.append(
        meta.JudgedSet.from_texts([references], {"outputs": outputs}, metrics, human=human, scores=published, name=pair)
    )
result = meta.segments(sets, coefficients="pearson", groupings="none")
print(result.render("json"))
"""


def assessed(outputs: Sequence[Any]) -> Figures:
    """r by metric and pair, with intervals of the means, and letters."""
    (output,) = outputs
    groups = {row["metric"]: row["letters"] for row in output["groups"] if row["test_set"] == "average"}
    found: dict[str, Any] = {}
    for row in output["results"]:
        found.setdefault(row["metric"], {"letters": groups[row["metric"]]})[row["test_set"]] = value_of(row)
    return found


def show_assessed(figures: Figures) -> str:
    published = figures["sentBLEU of WMT17"]
    rows = [["*published*", *(number(value) for value in WMT17.values()), "–", ""]]
    for each, row in sorted(figures.items(), key=lambda item: -item[1]["average"]["value"]):
        cells = [number(row[pair]["value"]) for pair in WMT17]
        rows.append([each, *cells, interval_of(row["average"]), row["letters"]])
    same = [pair for pair, value in WMT17.items() if abs(published[pair]["value"] - value) < 0.0006]
    other = [pair for pair in WMT17 if pair not in same]
    reason = ", ".join(f"{pair} with {published[pair]['n']}" for pair in other)
    return f"""
{markdown_table(["metric", *WMT17, "mean", "group"], rows)}

Pearson's r with standardized direct assessment. The scores in the column of the data reproduce the published r for
{len(same)} of {len(WMT17)} pairs to all three digits. The data lack segments of the other ({reason} segments
instead of 560).
Metrics computed here and the published scores are in one table: intervals are drawn, and all pairs tested, on the same
segments. Texts are
tokenized and lower-cased already, and `sentBLEU` of this package is smoothing 7, the published one another.
"""


def summary_assessed(figures: Figures) -> Summary:
    published = figures["sentBLEU of WMT17"]
    same = sum(abs(published[pair]["value"] - value) < 0.0006 for pair, value in WMT17.items())
    best = max(figures, key=lambda each: figures[each]["average"]["value"])
    return Summary(
        "yes" if same == len(WMT17) else "in part" if same else "no",
        "r of sentBLEU for seven pairs, .393 to .571",
        f"the same for {same} pairs; mean r {number(published['average']['value'])}, of {best} "
        f"{number(figures[best]['average']['value'])}",
        "the published scores give the published r for all pairs, to three digits; in part if for some.",
    )


# MQM, 2021.

MQM = (
    "--human wmt21-en-de/judgments/mqm_newstest2021_ende.avg_seg_scores.tsv --sysmap sysmap.tsv --missing-systems drop "
    "--refs wmt21-en-de/ref-A.txt --systems wmt21-en-de/sys"
)
RATED = (
    f"reshuffle meta segments {MQM} -m sentbleu nist chrf chrf:word_order=2 ter gtm "
    "--coefficient pearson kendall-b acc23",
    f"reshuffle meta systems {MQM} -m bleu sentbleu nist chrf chrf:word_order=2 ter gtm "
    "--coefficient pearson accuracy soft-accuracy",
)


# Pairs of outputs of a segment that are tied for people, mean over segments.
TIED = """
import json
from pathlib import Path
import numpy as np
from reshuffle import meta

human = meta.read_scores(
    "wmt21-en-de/judgments/mqm_newstest2021_ende.avg_seg_scores.tsv",
    systems=[path.stem for path in Path("wmt21-en-de/sys").glob("*.txt")],
    sysmap={"Nemo": "NVIDIA-NeMo"},
    unknown="drop",
).segments
rated = human[:, ~np.isnan(human).any(axis=0)]
a, b = np.triu_indices(len(rated), 1)
print(json.dumps({"tied": (rated[a] == rated[b]).mean(), "without errors": (rated == 0).mean()}))
"""


def rated(outputs: Sequence[Any]) -> Figures:
    """Values with intervals and letters by metric and coefficient, at both levels."""
    *reports, ties = outputs
    found: dict[str, Any] = {"people": ties}
    for level, output in zip(("segment", "system"), reports, strict=True):
        groups = {(row["metric"], row["coefficient"], row["grouping"]): row["letters"] for row in output["groups"]}
        of_level = found.setdefault(level, {})
        for row in output["results"]:
            key = (row["metric"], row["coefficient"], row["grouping"])
            name = row["coefficient"] + (f" {row['grouping']}" if row["grouping"] else "")
            of_level.setdefault(row["metric"], {})[name] = {
                **value_of(row), "letters": groups.get(key, ""), "epsilon": row["epsilon"],
            }  # fmt: skip
    return found


def table_of(of_level: Mapping[str, Any], coefficients: Sequence[str]) -> str:
    """A table of metrics and coefficients with intervals and letters."""
    rows = []
    for each, row in of_level.items():
        cells = [each]
        for coefficient in coefficients:
            found = row[coefficient]
            shown = interval_of(found) if "interval" in found else number(found["value"])
            cells.append(f"{shown} {found['letters']}".strip())
        rows.append(cells)
    return markdown_table(["metric", *coefficients], rows)


def show_rated(figures: Figures) -> str:
    segment, system = figures["segment"], figures["system"]
    best, worst = (extreme(row["acc23 item"]["value"] for row in segment.values()) for extreme in (max, min))
    epsilon = next(iter(segment.values()))["acc23 item"]["epsilon"]
    values = [row["soft-accuracy"]["value"] for row in system.values()]
    hard = [row["accuracy"]["value"] for row in system.values()]
    missed = [
        f"`{coefficient}` of {name}"
        for name, row in system.items()
        for coefficient, found in row.items()
        if not found["interval"][0] <= found["value"] <= found["interval"][1]
    ]
    return f"""
Scores of segments:

{table_of(segment, ["pearson none", "kendall-b item", "acc23 item"])}

Scores of systems:

{table_of(system, ["pearson", "accuracy", "soft-accuracy"])}

Each value has its 95% interval by drawing segments, and the letter of its group (all pairs of metrics, adjusted by
maxT). Eight systems; people and metrics score them on the 527 segments that were judged, of 1,002
(`--scored-segments all` would let metrics score all, which people did not see).
Surface metrics say next to nothing about single segments of such systems: people find no
error in
{share(figures["people"]["without errors"])} of the outputs, and {number(figures["people"]["tied"], 4)} of the pairs
of outputs are
tied for them. With ties calibrated, acc23 is {number(worst, 4)} to {number(best, 4)}: calibration calls nearly
everything a tie (ε
of sentence BLEU is {epsilon:.0f} points), and a metric that ties all pairs would have
{number(figures["people"]["tied"], 4)}. Of pairs
of systems, accuracy takes {len(set(hard))} values for {len(hard)} metrics, soft accuracy
{len(set(values))}. Intervals of scores of
systems lie low, and do not contain the value of {" and ".join(missed) or "none"}:
a draw of segments adds noise to the rankings by
people and by the metric alike, so drawn test sets agree less than all segments do.
"""


def summary_rated(figures: Figures) -> Summary:
    system = figures["system"]
    hard, soft = ({row[name]["value"] for row in system.values()} for name in ("accuracy", "soft-accuracy"))
    return Summary(
        "yes" if len(soft) > len(hard) else "no",
        "soft accuracy has fewer ties between metrics than accuracy",
        f"{len(soft)} values for {len(system)} metrics, accuracy {len(hard)}",
        "soft accuracy has more distinct values than accuracy.",
    )


# Direct assessment of systems, 2019.

DA19 = "--human wmt19-en-de/judgments/DA-syslevel-wmt19.csv --language-pair en-de --refs wmt19-en-de/ref.txt"
SURFACE = "-m bleu sentbleu chrf ter nist gtm --coefficient pearson spearman accuracy"
OUTLIER = "en_de_task.6790"
WITHOUT = f"mkdir without\ncp wmt19-en-de/sys/*.txt without\nrm without/{OUTLIER}.txt"
OUTLIERS = (
    f"reshuffle meta systems {DA19} --systems wmt19-en-de/sys {SURFACE} --test none",
    f"reshuffle meta systems {DA19} --systems without --missing-systems drop {SURFACE} --test none",
)


def outliers(outputs: Sequence[Any]) -> Figures:
    """Values by metric and coefficient, with all systems and without the outlier."""
    found: dict[str, Any] = {}
    for which, output in zip(("all", "without"), outputs, strict=True):
        for row in output["results"]:
            found.setdefault(row["metric"], {}).setdefault(row["coefficient"], {})[which] = value_of(row)
    return found


def show_outliers(figures: Figures) -> str:
    rows = []
    for each, row in figures.items():
        cells = [each]
        for coefficient in ("pearson", "spearman", "accuracy"):
            for which in ("all", "without"):
                found = row[coefficient][which]
                cells.append(interval_of(found, 2) if "interval" in found else number(found["value"]))
        rows.append(cells)
    header = ["metric", "r: all 22", "without", "ρ: all 22", "without", "accuracy: all 22", "without"]
    return f"""
{markdown_table(header, rows)}

One of the 22 systems is far worse than the others for people (−1.77 standard deviations, the next one −.40) and for all
metrics. With it r is above .95 for each metric, without it much less, while ρ and accuracy hardly change: r of all
systems says that
metrics find the outlier.
"""


def summary_outliers(figures: Figures) -> Summary:
    drop = [row["pearson"]["all"]["value"] - row["pearson"]["without"]["value"] for row in figures.values()]
    accuracy = [row["accuracy"]["all"]["value"] - row["accuracy"]["without"]["value"] for row in figures.values()]
    return Summary(
        "yes" if min(drop) > 0.03 and min(drop) > max(accuracy) else "in part" if mean(drop) > 0 else "no",
        "outliers inflate Pearson's r",
        f"r falls by {number(min(drop), 2)} to {number(max(drop), 2)} without one of 22 systems",
        "without the outlier, r falls by more than .03 for every metric, and by more than the accuracy of any; in part "
        "if r falls on average.",
    )


PEOPLE = Paper(
    title="Metrics and people",
    about="""
Claims about the agreement of metrics with people, on judgments from 2012 to 2021. The coefficients and tests are
explained on
[the statistics page](../statistics/people.md).
""",
    claims=(
        Claim(
            name="people-sensitivity",
            title="The more sensitive metric is NIST",
            paper="""
Riezler & Maxwell 2005 call NIST the more sensitive metric because it found a difference between two systems. Here
the question is
asked of people: how well does each metric order the outputs of a segment as they do, and do metrics differ?
""",
            prepare=MANIFESTS,
            commands=SENSITIVITY,
            extract=sensitivity,
            summary=summary_sensitivity,
            show=show_sensitivity,
        ),
        Claim(
            name="people-wmt17",
            title="Published correlations of sentence BLEU",
            paper="""
Bojar, Graham & Kamran 2017 ([W17-4755](https://aclanthology.org/W17-4755)) print r of sentence BLEU with direct
assessment of
single segments. The data include the scores of that sentence BLEU.
""",
            python=ASSESSED,
            extract=assessed,
            summary=summary_assessed,
            show=show_assessed,
        ),
        Claim(
            name="people-wmt21",
            title="Soft accuracy separates metrics better than accuracy",
            paper="""
Deutsch, Foster & Freitag 2023 ([2023.emnlp-main.798](https://aclanthology.org/2023.emnlp-main.798)) calibrate ties
of metrics;
Thompson et al. 2024 ([2024.wmt-1.118](https://aclanthology.org/2024.wmt-1.118)) replace accuracy on pairs of
systems, which takes few
values, by soft accuracy. Both are meant for judgments such as those of WMT21: errors that experts marked (MQM).
""",
            prepare=r"printf 'Nemo\tNVIDIA-NeMo\n' > sysmap.tsv",
            commands=RATED,
            python=TIED,
            extract=rated,
            summary=summary_rated,
            show=show_rated,
        ),
        Claim(
            name="people-wmt19",
            title="Outliers inflate the correlation of systems",
            paper="""
Mathur, Baldwin & Cohn 2020 ([2020.acl-main.448](https://aclanthology.org/2020.acl-main.448)): Pearson's r of
systems is high because of
outliers, such as those of WMT19.
""",
            prepare=WITHOUT,
            commands=OUTLIERS,
            extract=outliers,
            summary=summary_outliers,
            show=show_outliers,
        ),
    ),
)
