"""Judgments of WMT's metrics task: ``.rank`` files, one vote on each line, ties removed."""

from __future__ import annotations

import numpy as np

from ...errors import quoted
from ..evaluations import Votes, integers, renumbered
from ..scores import codes, only
from . import FORMATS
from .base import Source
from .table import read_rows

BASE = 1  # "newstest2013" has 3,000 segments, and the files have numbers from 1 to 3000


def read(source: Source, language_pair: str | None, base: int | None) -> Votes:
    """See :class:`Format`."""
    rows = read_rows(source, header=False)
    if len(rows.header) != 5:
        rows.fail(0, f"expected 5 fields ({FORMATS['rank'].about}), got {len(rows.header)}")
    numbers, pairs, better, other_pairs, worse = rows.columns
    if pairs != other_pairs:
        row = next(row for row, (one, other) in enumerate(zip(pairs, other_pairs, strict=True)) if one != other)
        rows.fail(row, f"the outputs are of two language pairs, {quoted(pairs[row])} and {quoted(other_pairs[row])}")
    known = list(dict.fromkeys(pairs))
    chosen = only(source, "language pair", "language_pair", language_pair, known)
    kept = np.arange(len(pairs)) if len(known) == 1 else np.flatnonzero(np.array(pairs) == chosen)
    segments = integers(rows.fail, "the number of the segment", numbers)[kept]
    base = BASE if base is None else base
    ids, (winners, losers) = codes([better, worse])
    winners, losers = winners[kept], losers[kept]
    lines = kept + 1
    same = np.flatnonzero(winners == losers)
    if same.size:
        source.fail(f"{quoted(ids[winners[same[0]]])} cannot be better than itself", int(lines[same[0]]))
    ids, (winners, losers) = renumbered(ids, winners, losers)
    return Votes(ids, segments - base, winners, losers, np.ones_like(winners), lines, base)
