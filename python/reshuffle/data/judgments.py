"""Judgments: people's votes between pairs of outputs, and how they are read from files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import field, replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..documented import record
from ..errors import Argument, InputError, quoted, unknown_name
from ..options.declare import called_with
from ..options.evaluations import ReadJudgments
from .evaluations import check_segments, numbers_of, renumbered
from .formats import JUDGMENT_FORMATS
from .formats.base import Source, first_line, recognized
from .score_columns import Integers
from .system_names import Naming


@record(eq=False)
class Judgments:
    """People's votes between pairs of outputs of the same segment."""

    systems: tuple[str, ...]
    """The systems that were judged."""
    n_segments: int
    segment: Integers
    """Shape (J,). The segment of each vote, from 0."""
    better: Integers
    """Shape (J,). Indices into ``systems``: which output won and which lost."""
    worse: Integers
    """Shape (J,)."""
    votes: Integers
    """Shape (J,). How many votes the row stands for; 1 for net votes."""
    tied: Integers
    """Shape (T, 3). Segment and two systems. With net votes a row for each pair of outputs without a majority, else a
    row for each tie.
    """
    repeats: str
    """``net``: each pair of outputs of a segment has one vote, that of the majority of the votes that are not ties.
    Pairs with as many votes for as against have none. ``all``: every vote counts.
    """
    n_raw: int
    """Votes and ties in the file, of the systems in ``systems``."""
    n_raw_ties: int
    source: str
    """The file."""
    raw: Judgments | None = field(default=None, repr=False)
    """The same judgments with ``repeats="all"``; None if these are the same."""

    @property
    def n_votes(self) -> int:
        """The number of votes.

        >>> judgments = Judgments.from_votes(["a", "b"], 1, [0, 0, 0], [0, 0, 1], [1, 1, 0])
        >>> judgments.n_votes, judgments.net().n_votes
        (3, 1)
        """
        return int(self.votes.sum())

    @classmethod
    def from_votes(
        cls,
        systems: Iterable[str],
        n_segments: int,
        segment: object,
        better: object,
        worse: object,
        tied: object = (),
        source: str = "votes",
    ) -> Judgments:
        """All votes of one or more people: a value for each vote in ``segment``, ``better`` and ``worse``.

        Raises
        ------
        InputError
            If the arrays differ in length, or an index is out of range.

        Examples
        --------
        >>> votes = Judgments.from_votes(["a", "b"], 2, segment=[1, 1], better=[0, 0], worse=[1, 1])
        >>> votes.segment, votes.votes
        (array([1]), array([2]))
        """
        names = tuple(systems)
        columns = [np.asarray(column, dtype=np.int64) for column in (segment, better, worse)]
        ties = np.asarray(tied, dtype=np.int64).reshape(-1, 3)
        if any(column.ndim != 1 or len(column) != len(columns[0]) for column in columns):
            raise InputError("segment, better and worse must have a value for each vote")
        sizes = (n_segments, len(names), len(names))
        for what, size, *parts in zip(("segment", "better", "worse"), sizes, columns, ties.T, strict=True):
            values = np.concatenate(parts)
            if values.size and not 0 <= values.min() <= values.max() < size:
                raise InputError(f"{what}: expected numbers from 0 to {size - 1}")
        if (columns[1] == columns[2]).any() or (ties[:, 1] == ties[:, 2]).any():
            raise InputError("a system cannot be compared with itself")
        n, (of_segment, winner, loser) = len(names), columns
        keys, counts = np.unique((of_segment * n + winner) * n + loser, return_counts=True)
        distinct = keys // (n * n), keys // n % n, keys % n, counts.astype(np.int64)
        return cls(names, n_segments, *distinct, ties, "all", len(winner), len(ties), source)

    def net(self) -> Judgments:
        """One vote for each pair of outputs of a segment, as Chen & Cherry (2014, W14-3346) count them."""
        if self.repeats == "net":
            return self
        n = len(self.systems)
        key = _pair_key(n, self.segment, self.better, self.worse)
        tied_key = _pair_key(n, *self.tied.T)
        keys, inverse = np.unique(np.concatenate([key, tied_key]), return_inverse=True)
        sign = np.where(self.better < self.worse, self.votes, -self.votes)
        balance = np.bincount(inverse[: len(key)], weights=sign, minlength=len(keys))
        segment, first, second = keys // (n * n), keys // n % n, keys % n
        decided, open_ = balance != 0, balance == 0
        return replace(
            self,
            segment=segment[decided],
            better=np.where(balance > 0, first, second)[decided],
            worse=np.where(balance > 0, second, first)[decided],
            votes=np.ones(int(decided.sum()), dtype=np.int64),
            tied=np.stack([segment[open_], first[open_], second[open_]], axis=1),
            repeats="net",
            raw=self,
        )

    def for_systems(self, systems: Iterable[str]) -> Judgments:
        """The judgments between these systems, with the systems in this order.

        Raises
        ------
        InputError
            If a system was not judged, or is named twice.

        Examples
        --------
        >>> votes = Judgments.from_votes(["a", "b", "c"], 1, [0, 0], [0, 1], [1, 2]).for_systems(["c", "b"])
        >>> votes.systems, votes.better, votes.worse, votes.n_raw
        (('c', 'b'), array([1]), array([0]), 1)
        """
        names = tuple(systems)
        for name in names:
            if name not in self.systems:
                raise unknown_name("system", name, self.systems)
            if names.count(name) > 1:
                raise InputError(f"systems: {quoted(name)} is named twice")
        index = numbers_of([self.systems.index(name) for name in names], len(self.systems))
        return self._chosen(index, np.arange(self.n_segments), systems=names)

    def on_segments(self, segments: NDArray[np.intp]) -> Judgments:
        """The judgments of these segments alone, with new numbers of segments from 0.

        >>> votes = Judgments.from_votes(["a", "b"], 9, [2, 5, 5], [0, 0, 1], [1, 1, 0], tied=[[7, 0, 1]])
        >>> few = votes.on_segments(np.array([5, 7]))
        >>> few.n_segments, few.segment, few.tied, few.n_raw, few.n_raw_ties
        (2, array([0, 0]), array([[1, 0, 1]]), 2, 1)
        """
        index = numbers_of(segments, self.n_segments)
        return self._chosen(np.arange(len(self.systems)), index, n_segments=len(segments))

    def _chosen(self, of_system: Integers, of_segment: Integers, **changed: Any) -> Judgments:
        """With new numbers of systems and segments, −1 for those that are left out."""
        raw = None if self.raw is None else self.raw._chosen(of_system, of_segment, **changed)
        segment, better, worse = of_segment[self.segment], of_system[self.better], of_system[self.worse]
        kept = (segment >= 0) & (better >= 0) & (worse >= 0)
        tied = np.column_stack([of_segment[self.tied[:, 0]], of_system[self.tied[:, 1:]]])
        tied, votes = tied[(tied >= 0).all(axis=1)], self.votes[kept]
        n_raw, n_raw_ties = (int(votes.sum()), len(tied)) if raw is None else (raw.n_raw, raw.n_raw_ties)
        changed |= {"segment": segment[kept], "better": better[kept], "worse": worse[kept], "votes": votes}
        return replace(self, tied=tied, n_raw=n_raw, n_raw_ties=n_raw_ties, raw=raw, **changed)


def _pair_key(n: int, segment: Integers, one: Integers, other: Integers) -> Integers:
    """A number for each segment and pair of systems, whichever is better."""
    key: Integers = (segment * n + np.minimum(one, other)) * n + np.maximum(one, other)
    return key


@called_with(ReadJudgments)
def read_judgments(options: ReadJudgments) -> Judgments:
    """Read people's votes between pairs of outputs.

    Returns
    -------
    Judgments

    Raises
    ------
    InputError
        If the file cannot be read or violates its format, with file and line; if a system has no output, with the most
        similar name of one; if a segment is out of range; if there are several language pairs, and none is chosen.

    Notes
    -----
    WMT's README files say from which number segments count. A test compares ``.rank`` files with sentence BLEU: it
    agrees with people only if the first segment is 1.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("a.rank").write_text("1\\ten-de\\tsys1\\ten-de\\tsys2\\n" * 3 + "2\\ten-de\\tsys2\\ten-de\\tsys1\\n")
    >>> judgments = read_judgments("a.rank", sysmap={"sys1": "UEDIN", "sys2": "online-A"})
    >>> judgments.systems, judgments.n_votes, judgments.n_raw
    (('UEDIN', 'online-A'), 2, 4)
    >>> Path("a.rank").unlink()
    """
    naming = Naming.from_options(options)
    source = Source.read(os.fspath(options.path), "a line for each judgment", options.max_input)
    name = options.input_format or recognized(source, JUDGMENT_FORMATS) or _unknown(source)
    votes = JUDGMENT_FORMATS[name].votes(source, options.language_pair, options.segment_base)
    if not votes.segment.size:
        source.fail("expected judgments, got none")
    n_segments = check_segments(source, votes.segment, votes.lines, votes.base, options.n_segments)
    names, numbers = naming.resolve(source, votes)
    index = np.array(numbers, dtype=np.int64)
    first, second = index[votes.first], index[votes.second]
    kept = (first >= 0) & (second >= 0)
    judged, (first, second) = renumbered(names, first[kept], second[kept])
    segment, sign = votes.segment[kept], votes.sign[kept]
    rows = np.stack([segment, np.where(sign < 0, second, first), np.where(sign < 0, first, second)])
    chosen, better, worse = rows[:, sign != 0]
    found = Judgments.from_votes(judged, n_segments, chosen, better, worse, rows[:, sign == 0].T, source.name)
    return found.net() if options.repeats == "net" else found


def _unknown(source: Source) -> NoReturn:
    """Raise the error for a file that has none of the formats."""
    known = "; ".join(f"{name}: {each.about}" for name, each in JUDGMENT_FORMATS.items())
    problem = "expected judgments ({known}), got {got}; scores of outputs are not judgments: use {reader} for them"
    source.fail(
        problem, 1, known=known, got=quoted(first_line(source)), reader=Argument("read_scores", as_flag="--human")
    )
