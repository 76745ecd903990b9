"""The four metrics of MultEval 0.5.1: the counts of reshuffle's metrics, changed to those of MultEval."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reshuffle import Formula, InputError, Metric, NativeMetric, metric

from .arguments import OPTIONS
from .outputs import with_split_tokens

Counts: TypeAlias = NDArray[np.int64]
Scores: TypeAlias = NDArray[np.float64]

ORDERS = 4


# Texts of several outputs or references: normalized lines.
Columns: TypeAlias = Sequence[Sequence[str]]
# A function that counts distinct outputs, from these, columns of references and the number of threads.
Counting: TypeAlias = Callable[[Columns, Columns, "int | None"], Counts]


class ScoredMetric(NamedTuple):
    """A metric as MultEval computes it.

    Attributes
    ----------
    key : str
        As on the command line.
    about : str
        For the caption of the LaTeX table.
    arrow : str
        The direction in which scores improve, as a command of LaTeX; empty if neither is better.
    formula : Metric
        From counts to the score. In n-best lists longer hypotheses come first, as in MultEval.
    counting : Counting
        From distinct outputs (normalized lines) and columns of references to counts, (outputs, segments, K).
    columns : slice
        Those of the counts that the metric needs.
    parts : tuple of str
        The names of what MultEval calls submetrics.
    parts_of : callable
        From counts, (N, K), to the submetrics, (N, parts).
    """

    key: str
    about: str
    arrow: str
    formula: Metric
    counting: Counting
    columns: slice = slice(None)
    parts: tuple[str, ...] = ()
    parts_of: Callable[[Counts], Scores] = lambda counts: np.empty((len(counts), 0))

    def scores(self, counts: ArrayLike) -> Scores:
        """Scores of segments or of sums: (…, K) in, (…) out. MultEval has the same formula for both."""
        return self.formula.score(counts)

    @property
    def name(self) -> str:
        """The name in tables."""
        return self.formula.name


def metrics_named(keys: Sequence[str], options: Namespace) -> list[ScoredMetric]:
    """The metrics with these names on the command line."""
    found: list[ScoredMetric] = []
    if not keys:
        raise InputError(f"--metrics: expected any of {', '.join(METRICS)}, got none")
    for key in keys:
        if key not in METRICS:
            raise InputError(f"--metrics: there is no metric {key!r}; expected any of {', '.join(METRICS)}")
        if key in keys[: len(found)]:
            raise InputError(f"--metrics: {key} is named twice")
        found.append(METRICS[key](options))
    return found


def counts_of(
    metrics: Sequence[ScoredMetric], outputs: Columns, references: Columns, threads: int | None
) -> list[Counts]:
    """The counts of each metric, (outputs, segments, K). What two metrics have in common is counted once."""
    counted: dict[Counting, Counts] = {}
    for each in metrics:
        if each.counting not in counted:
            counted[each.counting] = each.counting(outputs, references, threads)
    return [counted[each.counting][..., each.columns] for each in metrics]


# --- BLEU and length


def _bleu(_: Namespace) -> ScoredMetric:
    return ScoredMetric(
        key="bleu",
        about="BLEU as jBLEU 0.1.1 computes it (mteval-v13a's smoothing, no tokenization)",
        arrow=r" $\uparrow$",
        formula=_native_bleu(),
        counting=_count_split,
        parts=(*(f"bleu{n}p" for n in range(1, ORDERS + 1)), "brevity"),
        parts_of=_cumulative_bleu,
    )


def _length(_: Namespace) -> ScoredMetric:
    return ScoredMetric(
        key="length",
        about="length of the hypotheses in percent of that of the closest references",
        arrow="",
        formula=Formula("Length", lambda totals: 100.0 * (totals[..., 0] / totals[..., 1])),
        counting=_count_split,
        columns=slice(2),  # the lengths
    )


def _native_bleu() -> NativeMetric:
    """BLEU of tokens separated by ASCII white space. MultEval smooths as mteval-v13a does, at corpus level, too."""
    return metric("bleu", tokenize="multi-bleu", smooth_method="mteval")


def _count_split(outputs: Columns, references: Columns, threads: int | None) -> Counts:
    return _native_bleu().suff_stats(
        [with_split_tokens(lines) for lines in references],
        [with_split_tokens(lines) for lines in outputs],
        workers=threads,
    )


def _cumulative_bleu(counts: Counts) -> Scores:
    """BLEU of orders 1 to n as jBLEU prints it, for n from 1 to 4, and the brevity penalty: (N, K) in, (N, 5) out.

    Every order has the weight 1/4 also where n < 4.
    """
    lengths, references = counts[:, 0].astype(float), counts[:, 1]
    matches, totals = counts[:, 2 : 2 + ORDERS].astype(float), counts[:, 2 + ORDERS :]
    smoothed = (totals > 0) & (matches == 0)
    matches = np.where(smoothed, 0.5 ** np.cumsum(smoothed, axis=1), matches)
    logarithms = np.log(np.where(totals > 0, matches / np.maximum(totals, 1), 1.0))
    penalty = np.exp(np.minimum(0.0, 1.0 - references / lengths))
    return np.column_stack([penalty[:, None] * np.exp(np.cumsum(logarithms, axis=1) / ORDERS), penalty])


# --- TER


def _ter(options: Namespace) -> ScoredMetric:
    native = metric("ter", variant="tercom", no_punct=getattr(options, "ter.punctuation"))
    return ScoredMetric(
        key="ter",
        about="TER as Tercom 0.8 computes it",
        arrow=r" $\downarrow$",
        formula=native,
        counting=lambda outputs, references, threads: _whole_edits(native, outputs, references, threads),
    )


def _whole_edits(native: NativeMetric, outputs: Columns, references: Columns, threads: int | None) -> Counts:
    """Edits and mean lengths of references, of which MultEval keeps the integer part for each segment."""
    # Counts are in steps of fractions of a word, so that means are exact: so many steps are one word.
    word = int(native.suff_stats([["a"]] * len(references), [["a"]])[0, 0, 1])
    counts: Counts = native.suff_stats(references, outputs, workers=threads) // word
    return counts


# --- METEOR


def _meteor(options: Namespace) -> ScoredMetric:
    given = _meteor_options(options)
    native = metric("meteor", **given)
    modules = f"the modules {', '.join(given['modules'])}" if "modules" in given else "its default modules"
    task = given.get("task") or "rank"
    punctuation = "without" if "no_punct" in given else "with"
    return ScoredMetric(
        key="meteor",
        about=f"METEOR 1.5 for {given['language']}, task {task}, {modules}, {punctuation} punctuation",
        arrow=r" $\uparrow$",
        formula=native,
        counting=lambda outputs, references, threads: native.suff_stats(references, outputs, workers=threads),
        parts=("prec", "rec", "frag"),
        parts_of=lambda counts: _parts_of_meteor(native, counts),
    )


def _meteor_options(options: Namespace) -> Mapping[str, Any]:
    """The options as those of reshuffle's METEOR."""
    named = {name: getattr(options, option.removeprefix("--")) for name, option in OPTIONS.items()}
    given = {name: value for name, value in named.items() if value is not None}
    if "language" not in given:
        raise InputError(
            "METEOR needs the language of the texts: add --meteor.language, such as --meteor.language en, or leave "
            "METEOR out with --metrics bleu ter length"
        )
    synonyms = getattr(options, "meteor.synonymDirectory")
    if synonyms is not None:
        folder = Path(synonyms)
        if (folder / "index.noun").is_file():
            given.setdefault("wordnet", synonyms)
        elif folder.name == "synonym" and folder.is_dir():
            given.setdefault("meteor_jar", str(folder.parent))
        else:
            raise InputError(
                f"--meteor.synonymDirectory: {synonyms} is neither a folder with WordNet's dictionary files "
                "nor a folder of METEOR that is called synonym"
            )
    if not getattr(options, "meteor.keepPunctuation"):
        given |= {"normalized": True, "no_punct": True}
    return given


def _parts_of_meteor(native: NativeMetric, counts: Counts) -> Scores:
    distinct, places = np.unique(counts, axis=0, return_inverse=True)
    details = [native.details(row) for row in distinct]
    parts = [[row[name] / 100 for name in ("precision", "recall", "penalty")] for row in details]
    return np.array(parts)[places.reshape(-1)]


METRICS: Mapping[str, Callable[[Namespace], ScoredMetric]] = {
    "bleu": _bleu,
    "meteor": _meteor,
    "ter": _ter,
    "length": _length,
}
