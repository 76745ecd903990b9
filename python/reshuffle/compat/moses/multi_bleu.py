"""The line of ``multi-bleu.perl``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reshuffle import InputError, metric

from ..commands import Printed, read_bytes, say

# The script begins with this length and distance when it looks for the closest reference.
FARTHEST = 9999
ORDERS = 4


def multi_bleu(stem: str, hypotheses: bytes, lowercase: bool) -> str:
    """BLEU of hypotheses against the references in ``stem``, ``stem0``, ``stem1`` …, as the script prints it.

    Texts are bytes in the script, so that they need not be UTF-8, and only ASCII letters have a lower case.
    """
    lines = chopped(hypotheses)
    columns = [chopped(read_bytes(file)) for file in _files(stem)]
    n, covered = len(lines), max(map(len, columns))
    if n > covered:
        say(
            f"moses: warning: there are {n:,} hypotheses, but {covered:,} references: like multi-bleu.perl, this takes "
            f"{FARTHEST:,} words as the length of each missing one"
        )
    if not n:
        return _line([0] * (2 + 2 * ORDERS))
    references: list[list[str | None]] = [[*column[:n], *[None] * (n - len(column))] for column in columns]
    references[0][covered:] = [""] * (n - covered)  # a segment needs at least one reference
    bleu = metric("bleu", tokenize="multi-bleu", smooth_method="none", lowercase=lowercase)
    counts: NDArray[Any] = np.array(bleu.suff_stats(references, [lines])[0])
    hyp_len, ref_len = counts[:, 0], counts[:, 1]
    distance = np.abs(hyp_len - ref_len)
    ref_len[(distance > FARTHEST) | ((distance == FARTHEST) & (ref_len > FARTHEST))] = FARTHEST
    ref_len[covered:] = FARTHEST
    return _line(counts.sum(axis=0).tolist())


def _line(sums: Sequence[int]) -> str:
    """The line for summed counts."""
    hyp_len, ref_len = sums[:2]
    if ref_len == 0:
        return Printed("BLEU = 0, 0/0/0/0 (BP=0, ratio=0, hyp_len=0, ref_len=0)\n")
    matches, totals = sums[2 : 2 + ORDERS], sums[2 + ORDERS :]
    precisions = [match / total if total else 0.0 for match, total in zip(matches, totals, strict=True)]
    penalty = 1.0 if hyp_len >= ref_len else math.exp(1 - ref_len / hyp_len) if hyp_len else 0.0
    score = penalty * math.exp(sum(map(math.log, precisions)) / ORDERS) if all(precisions) else 0.0
    shown = "/".join(f"{100 * precision:.1f}" for precision in precisions)
    ratio = hyp_len / ref_len
    return (
        f"BLEU = {100 * score:.2f}, {shown} (BP={penalty:.3f}, ratio={ratio:.3f}, hyp_len={hyp_len}, "
        f"ref_len={ref_len})\n"
    )


def chopped(data: bytes) -> list[str]:
    """The lines of a file without their last character, which need not be a line end.

    >>> chopped(b"a b\\nc d")
    ['a b', 'c ']
    """
    *lines, last = data.decode("latin-1").split("\n")
    return [*lines, last[:-1]] if last else lines


def _files(stem: str) -> list[str]:
    """The files of the references."""
    if not _exists(stem) and not _exists(f"{stem}0") and _exists(f"{stem}.ref0"):
        stem += ".ref"
    files = []
    for number in count():
        if not _exists(f"{stem}{number}"):
            break
        files.append(f"{stem}{number}")
    if _exists(stem):
        files.append(stem)
    if not files:
        raise InputError(f"there is no reference {stem}, and no {stem}0")
    return files


def _exists(file: str) -> bool:
    try:
        return Path(file).exists()
    except (OSError, ValueError):
        return False
