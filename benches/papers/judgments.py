"""The judgments of Chen & Cherry 2014 (W14-3346), and the parameters of smoothings that were chosen by them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from .claims import Figures, Summary, markdown_table, number, pvalue

__all__ = [
    "COUNTS",
    "GRID",
    "JUDGED",
    "MANIFESTS",
    "MANIFEST_2008",
    "SETS",
    "TITLES",
    "grid",
    "show_counts",
    "show_grid",
    "summary_counts",
    "summary_grid",
]

# Table 1: systems and judgments of segment pairs, by direction and year.
TABLE_1 = {
    "into-2008": (43, 7_804),
    "into-2012": (49, 34_909),
    "into-2013": (94, 281_666),
    "from-2012": (54, 47_875),
    "from-2013": (95, 220_808),
}
# The parameters that the paper chose on 2008.
CHOSEN = {"1": 0.1, "4": 5, "6": 5, "7": 5}

SETS = ("into-2012", "into-2013", "from-2012")
TITLES = {
    "into-2008": "into English, 2008",
    "into-2012": "into English, 2012",
    "into-2013": "into English, 2013",
    "from-2012": "out of English, 2012",
    "from-2013": "out of English, 2013",
}

MANIFESTS = r"""
manifest() {  # folders, keys of the judgments, language pairs
  echo '[sets]'
  for pair in "${@:3}"; do
    echo "$pair = {references = '$1-$pair/ref.txt', systems = '$1-$pair/sys', ${2//PAIR/$pair}}"
  done
}
wmt12="judgments = 'wmt12-judgments/wmt12.RNK_results.csv', language_pair = 'PAIR'"
wmt13="judgments = 'wmt13-PAIR/judgments/PAIR.rank', sysmap = 'wmt13-PAIR/judgments/sysmap.tsv'"
manifest wmt12 "$wmt12" cs-en de-en es-en fr-en > into-2012.toml
manifest wmt12 "$wmt12" en-cs en-de en-es en-fr > from-2012.toml
manifest wmt13 "$wmt13" cs-en de-en fr-en > into-2013.toml
"""

# Programs read these sets with this function.
JUDGED = """
import json
from pathlib import Path
from reshuffle import meta, metric, read_lines

PAIRS = {
    "into-2012": ["cs-en", "de-en", "es-en", "fr-en"],
    "into-2013": ["cs-en", "de-en", "fr-en"],
    "from-2012": ["en-cs", "en-de", "en-es", "en-fr"],
}


def texts(folder):
    outputs = {path.stem: read_lines(str(path)) for path in sorted(Path(folder, "sys").glob("*.txt"))}
    return [read_lines(f"{folder}/ref.txt")], outputs


def judged(name, pair, repeats="net"):
    if name == "into-2013":
        folder = f"wmt13-{pair}"
        files = {"path": f"{folder}/judgments/{pair}.rank", "sysmap": f"{folder}/judgments/sysmap.tsv"}
    else:
        folder = f"wmt12-{pair}"
        files = {"path": "wmt12-judgments/wmt12.RNK_results.csv", "language_pair": pair}
    references, outputs = texts(folder)
    return references, outputs, meta.read_judgments(**files, systems=list(outputs), repeats=repeats)
"""


# Table 1.

COUNTS = f"""{JUDGED}

counts = {{}}
for name, pairs in PAIRS.items():
    read = [judged(name, pair) for pair in pairs]
    counts[name] = {{
        "outputs": sum(len(outputs) for _, outputs, _ in read),
        "systems": sum(len(judgments.systems) for *_, judgments in read),
        "raw": sum(judgments.n_raw for *_, judgments in read),
        "net": sum(judgments.n_votes for *_, judgments in read),
    }}
tasks = ["All-English News", "Czech-English News", "Czech-English Commentary", "French-English News"]
tasks += ["French-English Europarl", "German-English News", "German-English Europarl", "Hungarian-English News"]
read = [meta.read_judgments("wmt08-judgments/wmt08-human-judgments.csv", language_pair=task) for task in tasks]
counts["into-2008"] = {{
    "tasks": {{
        task: [len(each.systems), each.n_raw, each.n_raw_ties, each.n_votes]
        for task, each in zip(tasks, read, strict=True)
    }}
}}
print(json.dumps(counts))
"""


# The tasks of 2008 without which the others into English have about as many net votes as the paper counts.
NOT_COUNTED = ("Czech-English Commentary", "Hungarian-English News")


def of_2008(figures: Figures, left_out: Sequence[str] = NOT_COUNTED) -> list[int]:
    """Votes, ties and net votes of the tasks of 2008 into English, without some of them."""
    tasks = [row for task, row in figures["into-2008"]["tasks"].items() if task not in left_out]
    return [sum(row[at] for row in tasks) for at in (1, 2, 3)]


def nearest(figures: Figures) -> list[tuple[str, ...]]:
    """Without which tasks the others of 2008 into English have the number of net votes nearest to the paper's."""
    tasks = list(figures["into-2008"]["tasks"])
    choices = [left_out for n in range(len(tasks)) for left_out in combinations(tasks, n)]
    off = {left_out: abs(of_2008(figures, left_out)[2] - TABLE_1["into-2008"][1]) for left_out in choices}
    return [left_out for left_out in choices if off[left_out] == min(off.values())]


def deviations(figures: Figures) -> dict[str, float]:
    """By how much net votes differ from the paper's counts that can be checked, relative to these."""
    net = {name: figures[name]["net"] for name in ("into-2012", "from-2012")} | {"into-2008": of_2008(figures)[2]}
    return {name: found / TABLE_1[name][1] - 1 for name, found in net.items()}


def show_counts(figures: Figures) -> str:
    rows = []
    for name in ("into-2012", "from-2012", "into-2013"):
        found, (systems, votes) = figures[name], TABLE_1[name]
        judged = f"{found['systems']} of {found['outputs']}" if found["systems"] != found["outputs"] else systems
        cells = [TITLES[name], str(systems), f"{votes:,}", str(judged), f"{found['raw']:,}", f"{found['net']:,}"]
        rows.append([*cells, number(found["net"] / votes)])
    raw, _, net = of_2008(figures)
    news = [task for task in figures["into-2008"]["tasks"] if not task.endswith("News") or task in NOT_COUNTED]
    news_raw, news_ties, news_net = of_2008(figures, news)
    all_net, less = of_2008(figures, ())[2], -100 * deviations(figures)["into-2008"]
    either = ", or without ".join(" and ".join(each) for each in nearest(figures))
    theirs = TABLE_1["into-2008"]
    rows.append(
        [TITLES["into-2008"], str(theirs[0]), f"{theirs[1]:,}", "–", f"{raw:,}", f"{net:,}",
         number(net / theirs[1])]
    )  # fmt: skip
    header = ["judgments", "paper: systems", "pairs", "here: systems", "votes", "net votes", "net/paper"]
    return f"""
{markdown_table(header, rows)}

A ranking of five outputs gives up to ten votes. Counting one net vote for each segment and pair of systems, that of the
majority, comes within
{100 * max(map(abs, deviations(figures).values())):.2f}% of the
paper's counts of 2012 and 2008; counting every vote does not. So net votes are the paper's reading, and the default
here.

Of 2013 there are judgments for Czech, German and French into English here. The paper's 94 systems must include those of
Spanish and Russian, whose judgments are not among the data; neither are any of 2013 out of English. So the
cells of 2012 can be computed in full, those of 2013 into English for three pairs, and none of 2013 out of English.

The paper does not say which tasks of 2008 it has. All tasks into English but Czech commentary and Hungarian news have
{net:,} net votes, {less:.2f}% fewer than the paper's {theirs[1]:,}. This choice was found by trying, and of so many
choices some is always near. The nearest are those without {either}. All tasks have {all_net:,}, those of news from
Czech, French, German and mixed sources {news_net:,}. The {news_raw:,} votes and {news_ties:,} ties of the latter,
{news_raw + news_ties:,} together, come near the paper's count, too, but would be another reading than that of 2012.
"""


def summary_counts(figures: Figures) -> Summary:
    net = [figures[name]["net"] for name in ("into-2012", "from-2012")]
    close = [abs(each) < 0.005 for each in deviations(figures).values()]
    return Summary(
        "yes" if all(close) else "in part" if any(close) else "no",
        "2012: 34,909 and 47,875; 2008: 7,804",
        f"net votes of 2012: {net[0]:,} and {net[1]:,}; of 2008, without two tasks: {of_2008(figures)[2]:,}",
        "both counts of net votes of 2012 are within half a percent of the paper's, and that of some choice of tasks "
        "of 2008; in part if one is.",
    )


# The parameters of smoothings 1, 4, 6 and 7.

MANIFEST_2008 = r"""
task() {  # name, folder of the outputs
  echo "'$1' = {references = 'wmt08-fr-en/ref.txt', systems = '$2', missing_systems = 'drop'," \
    "judgments = 'wmt08-judgments/wmt08-human-judgments.csv', language_pair = '$1'}"
}
mkdir all
for pair in cz de fr; do
  for file in wmt08-$pair-en/sys/*.txt; do cp $file all/$(basename $file .txt)_$pair.txt; done
done
{
  echo '[sets]'
  task 'Czech-English News' wmt08-cz-en/sys
  task 'German-English News' wmt08-de-en/sys
  task 'French-English News' wmt08-fr-en/sys
  task 'All-English News' all
} > into-2008.toml
"""
GRID = "reshuffle meta tune-smoothing --manifest into-2008.toml --pooled"
NAMES = {"1": "ε of smoothing 1", "4": "K of smoothing 4", "6": "α of smoothing 6", "7": "K of smoothing 7"}


def grid(outputs: Sequence[Any]) -> Figures:
    """Of each smoothing, value, τ, interval and p against the best one, on average and pooled; and the votes."""
    (output,) = outputs
    found: dict[str, Any] = {
        "votes": {row["test_set"]: row["n"] for row in output["grid"] if row["test_set"] not in ("average", "pooled")}
    }
    for name in ("average", "pooled"):
        of_name: dict[str, Any] = found.setdefault(name, {})
        for row in output["grid"]:
            if row["test_set"] == name:
                of_name.setdefault(row["smoothing"], []).append([row["value"], row["tau"], row["adjusted_pvalue"]])
    return found


def best_value(curve: Sequence[Sequence[float]]) -> Sequence[float]:
    """The point with the largest τ."""
    return max(curve, key=lambda point: point[1])


def chosen(curve: Sequence[Sequence[float]], each: str) -> Sequence[float]:
    """The point of the paper's value."""
    return next(point for point in curve if point[0] == CHOSEN[each])


def lost(figures: Figures) -> float:
    """The largest loss of τ by the paper's value of a parameter."""
    return max(best_value(curve)[1] - chosen(curve, each)[1] for each, curve in figures["average"].items())


def show_grid(figures: Figures) -> str:
    rows = []
    for each, name in NAMES.items():
        curve = figures["average"][each]
        shown = ", ".join(f"{value:g}: {number(found)}" for value, found, _ in curve)
        best, paper, pooled = best_value(curve), chosen(curve, each), best_value(figures["pooled"][each])
        p = "–" if paper[2] is None else pvalue(paper[2])
        rows.append(
            [name, shown, f"{paper[0]:g}", number(paper[1]), p, f"{best[0]:g}", number(best[1]), f"{pooled[0]:g}"]
        )
    header = ["parameter", "τ, mean of four tasks", "paper", "τ", "p", "best here", "τ", "best, pooled"]
    return f"""
{markdown_table(header, rows, 2)}

News of 2008 from Czech, French and German, and the task that mixes source languages: {sum(figures["votes"].values()):,}
net votes on the systems whose outputs are public. p is that of the difference between the paper's value and the
best one here,
adjusted for the grid. The paper's values lose at most {number(lost(figures))}, which is not significant: any ε up
to .2 has
nearly the same τ, and any K from 4 on.
"""


def summary_grid(figures: Figures) -> Summary:
    best = {each: best_value(curve)[0] for each, curve in figures["average"].items()}
    shown = ", ".join(f"{name.split()[0]}{each} = {best[each]:g}" for each, name in NAMES.items())
    return Summary(
        "yes" if lost(figures) < 0.005 else "no",
        "ε = .1, K = 5, α = 5",
        f"best: {shown}; the paper's values lose at most {number(lost(figures))}",
        "no parameter of the paper loses .005 of the mean τ or more against the best one here.",
    )
