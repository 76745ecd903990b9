"""Accuracy, F1, Matthews correlation and Cohen's kappa of labels: a line of text is a label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..registry import option
from .base import Found, Options, Spec, Texts, variable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WITHOUT = option("without", "a label that is no class of its own, such as O or none, and is left out", "text")
LABELS = option(
    "labels",
    "classes of the mean: those in the gold labels, or also those that only the system has",
    "choice",
    ["both", "gold"],
    "both",
)


def _codes(texts: Texts) -> tuple[list[str], list[NDArray[np.int64]]]:
    """The labels of the reference and of all systems, sorted, and each column as indices."""
    import numpy as np

    columns = [texts.only_reference, *texts.systems.values()]
    known = sorted({label for column in columns for label in {*column}})
    texts.check_labels(known)
    index = {label: i for i, label in enumerate(known)}
    return known, [np.array([index[label] for label in column], dtype=np.int64) for column in columns]


def _accuracy(texts: Texts, options: Options) -> Found:
    import numpy as np

    def hits(lines: Sequence[str]) -> NDArray[np.bool_]:
        equal = [[line == gold for line, gold in zip(lines, column, strict=True)] for column in texts.references]
        any_of_them: NDArray[np.bool_] = np.array(equal).max(axis=0)
        return any_of_them

    return Found(("hit",), {name: hits(lines).astype(np.float64) for name, lines in texts.systems.items()})


def _micro(texts: Texts, options: Options) -> Found:
    """Correct, predicted and gold labels, without the one that is left out."""
    import numpy as np

    without = options["without"]
    gold = texts.only_reference
    is_gold = [label != without for label in gold]

    def counts(lines: Sequence[str]) -> NDArray[np.int64]:
        predicted = [label != without for label in lines]
        correct = [own and line == label for own, line, label in zip(predicted, lines, gold, strict=True)]
        return np.array([correct, predicted, is_gold], dtype=np.int64).T

    return Found(("correct", "predicted", "gold"), {name: counts(lines) for name, lines in texts.systems.items()})


def micro_formula(columns: Sequence[str], options: Options) -> str:
    """F1 of three sums: correct, predicted and gold."""
    return "2*a/(b+c)"


def by_class(names: Sequence[str]) -> list[str]:
    """The names of three counts of each class."""
    return [f"{what} {name}" for name in names for what in ("correct", "predicted", "gold")]


def micro_details(columns: Sequence[str], totals: Sequence[int]) -> dict[str, float]:
    """Precision, recall and the three sums."""
    correct, predicted, gold = totals
    ratios = {"precision": correct / max(predicted, 1), "recall": correct / max(gold, 1)}
    return ratios | dict(zip(columns, totals, strict=True))


def macro_details(columns: Sequence[str], totals: Sequence[int]) -> dict[str, float]:
    """The F1 of each class."""
    sums = [totals[i : i + 3] for i in range(0, len(totals), 3)]
    scores = [2 * correct / max(predicted + gold, 1) for correct, predicted, gold in sums]
    return {name.removeprefix("correct "): score for name, score in zip(columns[::3], scores, strict=True)}


def macro_formula(columns: Sequence[str], options: Options) -> str:
    """The mean of F1 over the classes that occur, from sums as :func:`by_class` names them."""
    names = [variable(i) for i in range(len(columns))]
    classes = list(zip(names[::3], names[1::3], names[2::3], strict=True))
    scores = ",".join(f"{correct}/({predicted}+{gold})" for correct, predicted, gold in classes)
    in_gold = options.get("labels") == "gold"
    occur = ",".join(f"({gold}>0)" if in_gold else f"({predicted}+{gold}>0)" for _, predicted, gold in classes)
    return f"2*sum({scores})/sum({occur})"


def _macro(texts: Texts, options: Options) -> Found:
    """Three counts of each label: :func:`by_class`."""
    import numpy as np

    labels, (gold, *outputs) = _codes(texts)
    kept = [i for i, label in enumerate(labels) if label != options["without"]]
    place = np.full(len(labels), -1)
    place[kept] = np.arange(len(kept))
    rows = np.arange(len(gold))

    def counts(output: NDArray[np.int64]) -> NDArray[np.int64]:
        found = np.zeros((len(gold), len(kept), 3), dtype=np.int64)
        for own, what in ((output[output == gold], 0), (output, 1), (gold, 2)):
            at = rows[output == gold] if what == 0 else rows
            is_kept = place[own] >= 0
            found[at[is_kept], place[own][is_kept], what] = 1
        return found.reshape(len(gold), -1)

    columns = by_class([labels[i] for i in kept])
    return Found(columns, {name: counts(own) for name, own in zip(texts.systems, outputs, strict=True)})


def _agreement(texts: Texts, options: Options) -> Found:
    """Correct labels, all labels, and how often each label is predicted and how often it is gold."""
    import numpy as np

    labels, (gold, *outputs) = _codes(texts)
    rows = np.arange(len(gold))

    def counts(output: NDArray[np.int64]) -> NDArray[np.int64]:
        found = np.zeros((len(gold), 2 + 2 * len(labels)), dtype=np.int64)
        found[:, 0] = output == gold
        found[:, 1] = 1
        found[rows, 2 + 2 * output] = 1
        found[rows, 3 + 2 * gold] = 1
        return found

    columns = ["correct", "labels", *(f"{what} {label}" for label in labels for what in ("predicted", "gold"))]
    return Found(columns, {name: counts(own) for name, own in zip(texts.systems, outputs, strict=True)})


def _products(columns: Sequence[str], first: int, second: int) -> str:
    """The sum over the labels of the product of two of their counts: 0 is predicted, 1 is gold."""
    pairs = [(variable(i + first), variable(i + second)) for i in range(2, len(columns), 2)]
    return f"sum({','.join(f'{one}^2' if one == other else f'{one}*{other}' for one, other in pairs)})"


def _mcc_formula(columns: Sequence[str], options: Options) -> str:
    sides = "*".join(f"(b^2-{_products(columns, side, side)})" for side in (0, 1))
    return f"(a*b-{_products(columns, 0, 1)})/sqrt({sides})"


def _kappa_formula(columns: Sequence[str], options: Options) -> str:
    by_chance = _products(columns, 0, 1)
    return f"(a*b-{by_chance})/(b^2-{by_chance})"


CASE = [("case", "mixed")]
ACCURACY = Spec(
    "accuracy",
    "share of lines that equal a reference",
    shown="accuracy",
    counts="score",
    count=_accuracy,
    fixed=CASE,
)
MICRO_F1 = Spec(
    "micro-f1",
    "F1 of all labels together, which is the accuracy unless a label is left out",
    options=[WITHOUT],
    shown="micro-F1",
    counts="correct, predicted, gold",
    count=_micro,
    fixed=CASE,
    formula=micro_formula,
    details=micro_details,
)
MACRO_F1 = Spec(
    "macro-f1",
    "mean over the labels of the F1 of each",
    options=[WITHOUT, LABELS],
    shown="macro-F1",
    counts="correct, predicted and gold of each label",
    count=_macro,
    fixed=CASE,
    formula=macro_formula,
    details=macro_details,
)
MCC = Spec(
    "mcc",
    "Matthews correlation of labels, also of more than two",
    "doi:10.1016/j.compbiolchem.2004.09.006",
    shown="MCC",
    counts="correct, labels; predicted and gold of each label",
    count=_agreement,
    fixed=CASE,
    formula=_mcc_formula,
)
KAPPA = Spec(
    "kappa",
    "Cohen's kappa: agreement with the gold labels beyond chance",
    "doi:10.1177/001316446002000104",
    shown="kappa",
    counts="correct, labels; predicted and gold of each label",
    count=_agreement,
    fixed=CASE,
    formula=_kappa_formula,
)
