"""Judgments that WMT published: votes of its metrics task, without ties, and rankings of up to five outputs in CSV."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ...errors import quoted
from ..evaluations import Votes, integers, renumbered
from ..score_columns import Integers, codes, only
from . import FORMATS
from .base import Source
from .table import Rows, read_rows

# The first segment of votes: "newstest2013" has 3,000 segments, and the files have numbers from 1 to 3000.
BASE = 1
# Names of languages in the files, and their codes.
LANGUAGES = {
    "Chinese": "zh", "Czech": "cs", "English": "en", "Finnish": "fi", "French": "fr", "German": "de", "Hindi": "hi",
    "Hungarian": "hu", "Italian": "it", "Romanian": "ro", "Russian": "ru", "Spanish": "es", "Turkish": "tr",
}  # fmt: skip


def read_rank(source: Source, language_pair: str | None, base: int | None) -> Votes:
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


def read_rnk(source: Source, language_pair: str | None, base: int | None) -> Votes:
    """See :class:`Format`. Segments count from 1."""
    rows = read_rows(source)
    pairs = [f"{one}-{other}" for one, other in zip(rows["srclang"], rows["trglang"], strict=True)]
    known, (code,) = codes([pairs])
    if language_pair is not None:  # also as codes: cs-en
        language_pair = next((name for name in known if _coded(name) == language_pair), language_pair)
    chosen = only(source, "language pair", "language_pair", language_pair, known)
    rows = rows.where(code == known.index(chosen))
    places = [match[1] for name in rows.header if (match := re.fullmatch(r"system(\d+)Id", name))]
    if len(places) < 2:
        source.fail("expected the columns system1Id, system2Id …, with the systems that were ranked", 1)
    prefix = re.compile(rf".+?\.{re.escape(_coded(chosen))}\.")
    systems = [[prefix.sub("", name, count=1) for name in rows[f"system{place}Id"]] for place in places]
    ranks = [integers(rows.fail, f"system{place}rank", rows[f"system{place}rank"], "a rank") for place in places]
    return _votes(rows, "srcIndex", systems, np.stack(ranks), np.stack(ranks) != -1, 1 if base is None else base)


def _coded(pair: str) -> str:
    return "-".join(LANGUAGES.get(language, language.lower()) for language in pair.split("-"))


def read_2008(source: Source, task: str | None, base: int | None) -> Votes:
    """See :class:`Format`. Segments count from 0. Rows of another TYPE than RANK are left out."""
    rows = read_rows(source, may_be_short=True)
    rows = rows.where(np.array([kind == "RANK" for kind in rows["TYPE"]]))
    if not rows.lines:
        source.fail("expected rows whose TYPE is RANK, got none")
    known, (code,) = codes([rows["TASK"]])
    if task is not None:  # also without the name of the workshop
        task = next((name for name in known if name.partition(" ")[2].lower() == task.lower()), task)
    rows = rows.where(code == known.index(only(source, "task", "language_pair", task, known)))
    places = [match[1] for name in rows.header if (match := re.fullmatch(r"SYSTEM_(\d+)", name))]
    systems = [rows[f"SYSTEM_{place}"] for place in places]
    ranks, is_ranked = [], []
    for place, names in zip(places, systems, strict=True):
        name = f"SCORE_{place}_A"
        fields = [field if system else "0" for field, system in zip(rows[name], names, strict=True)]
        ranks.append(integers(rows.fail, name, fields, "a rank"))
        is_ranked.append(np.array(list(map(bool, names))))
    return _votes(rows, "ITEM_ID", systems, np.stack(ranks), np.stack(is_ranked), 0 if base is None else base)


def _votes(
    rows: Rows,
    segment_column: str,
    systems: Sequence[Sequence[str]],
    ranks: Integers,
    is_ranked: NDArray[np.bool_],
    base: int,
) -> Votes:
    """All pairs of each ranking. ``systems`` and ``ranks`` have a row for each place, a column for each ranking."""
    wrong = np.argwhere((ranks < 1) & is_ranked)
    if wrong.size:
        place, row = wrong[0]
        rows.fail(int(row), f"expected a rank from 1, got {ranks[place, row]}")
    segment = integers(rows.fail, segment_column, rows[segment_column]) - base
    ids, columns = codes(systems)
    numbers = np.stack(columns)
    lines = np.array(rows.lines, dtype=np.int64)
    parts = []  # ranking, one system, other system, which is better: 1, -1 or 0
    for one, other in combinations(range(len(ranks)), 2):
        both = np.flatnonzero(is_ranked[one] & is_ranked[other])
        sign = np.sign(ranks[other, both] - ranks[one, both])
        same = both[numbers[one, both] == numbers[other, both]]
        if same.size:
            rows.fail(int(same[0]), f"{quoted(ids[numbers[one, same[0]]])} is ranked twice")
        parts.append(np.stack([both, numbers[one, both], numbers[other, both], sign]))
    ranking, first, second, sign = np.concatenate(parts, axis=1)
    order = np.argsort(ranking, kind="stable")
    known, (first, second) = renumbered(ids, first[order], second[order])
    return Votes(known, segment[ranking[order]], first, second, sign[order], lines[ranking[order]], base)
