"""Votes on pairs of systems, with ties, and how they are read from files."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from ..documented import record
from ..errors import Argument, InputError, counted, listed, quoted, unknown_name, warn
from ..results.lookup import first_names
from .columns import check_rows
from .files import MAX_INPUT, display_name
from .formats import JUDGMENT_FORMATS, Format, pearmut
from .formats._samples import Samples
from .formats.base import Source, first_line, recognized
from .formats.table import read_rows
from .from_json import DOCTOR
from .score_columns import Integers, any_table, codes, roles_of

# What errors expect in JSON.
NAME = "a non-empty string or a whole number"
# Outcomes of a vote.
FIRST, TIE, SECOND = range(3)
WINNERS: Mapping[str, int] = {
    **dict.fromkeys(("model_a", "system_a", "a", "x", "first", "left", "1"), FIRST),
    **dict.fromkeys(("model_b", "system_b", "b", "y", "second", "right", "2"), SECOND),
    **dict.fromkeys(("tie", "tie (bothbad)", "bothbad", "both_bad", "both bad", "draw", "equal", "same"), TIE),
}
# Not among them, because files differ in what they mean by it.
ZERO, ZERO_MEANS = "0", ", which may be a tie, or the first of two"
# Headers and keys, in lower case, by the role of the column.
ROLES: Mapping[str, tuple[str, ...]] = {
    "first": ("model_a", "system_a", "player_a", "system1", "left", "first", "a"),
    "second": ("model_b", "system_b", "player_b", "system2", "right", "second", "b"),
    "winner": ("winner", "outcome", "vote", "preference"),
    "judge": ("judge", "user", "user_id", "judge_hash", "annotator", "annotator_id", "rater", "judgeid", "person"),
    "ranking": ("ranking", "ranking_id"),
    "prompt": ("prompt_id", "segment", "segment_id", "item", "item_id", "question_id", "prompt"),
}
# What may be drawn as a whole, the most careful choice first.
UNITS = ("judge", "ranking", "prompt")


@record(eq=False)
class VoteTable:
    """Votes on pairs of systems: which of two is better, or neither."""

    systems: tuple[str, ...]
    first: Integers
    """Shape (J,). The systems of each vote, as indices into ``systems``."""
    second: Integers
    outcome: Integers
    """Shape (J,). 0 if the first is better, 1 for a tie, 2 if the second is better."""
    units: Mapping[str, Integers] = field(default_factory=dict)
    """By ``judge``, ``ranking`` or ``prompt``: which one each vote belongs to, as numbers from 0."""
    has_order: bool = False
    """Whether the first was shown first, or on the left."""

    def __repr__(self) -> str:
        units = [counted(len({*own.tolist()}), unit) for unit, own in self.units.items()]
        systems = f"{counted(len(self.systems), 'system')} ({first_names(self.systems)})"
        return f"<VoteTable: {'; '.join([counted(len(self.outcome), 'vote'), systems, *units])}>"

    @classmethod
    def from_columns(
        cls,
        first: Iterable[object],
        second: Iterable[object],
        winner: Iterable[object],
        **units: Iterable[object],
    ) -> VoteTable:
        """From a value for each vote.

        Parameters
        ----------
        first, second : sequence of J str
            The two systems, in the order in which they were shown.
        winner : sequence of J str
            ``model_a`` or ``a``, ``model_b`` or ``b``, ``tie``; or the name of the better system.
        judge, ranking, prompt : sequence of J, optional
            What the vote belongs to.

        Raises
        ------
        InputError
            For a vote on a system and itself, an unknown winner, and a vote that belongs to nothing.

        Examples
        --------
        >>> votes = VoteTable.from_columns(["x", "x"], ["y", "z"], ["model_b", "tie"], judge=["ann", "bob"])
        >>> votes.systems, votes.outcome, votes.units["judge"]
        (('x', 'y', 'z'), array([2, 1]), array([0, 1]))
        """
        columns = {"first": first, "second": second, "winner": winner, **units}
        for name, column in columns.items():
            if name not in ("first", "second", "winner", *UNITS):
                raise unknown_name("unit of votes", name, UNITS)
            if isinstance(column, str) or not isinstance(column, Iterable):
                raise InputError(f"{name}: expected a sequence with a value for each vote, got {quoted(column)}")
        check_rows("", columns)
        texts = {name: ["" if _is_missing(each) else str(each) for each in column] for name, column in columns.items()}
        if len({len(column) for column in texts.values()}) != 1 or not texts["first"]:
            sizes = listed(f"{name}: {len(column):,}" for name, column in texts.items())
            raise InputError(f"expected a value for each vote in all columns, got {sizes}")
        for at, problem in _problems(texts):
            raise InputError(f"vote {at + 1:,}: {problem}")
        return _table(texts, has_order=True)

    def __len__(self) -> int:
        return len(self.outcome)

    @property
    def n_ties(self) -> int:
        """The number of ties."""
        return int((self.outcome == TIE).sum())

    def n_units(self, name: str) -> int:
        """The number of judges, rankings or prompts."""
        return int(self.units[name].max()) + 1

    @property
    def default_units(self) -> str | None:
        """What is drawn as a whole if nobody says otherwise: judges, or else what several votes have in common."""
        numbers = {name: self.n_units(name) for name in UNITS if name in self.units}
        return next((name for name, n in numbers.items() if n > 1 and (name == "judge" or n < len(self))), None)

    def without_ties(self) -> VoteTable:
        """The votes that are not ties."""
        kept = self.outcome != TIE
        units = {name: codes_of(ids[kept]) for name, ids in self.units.items()}
        return VoteTable(self.systems, self.first[kept], self.second[kept], self.outcome[kept], units, self.has_order)


def codes_of(ids: Integers) -> Integers:
    """Numbers from 0 for the distinct ones of some numbers."""
    return np.asarray(np.unique(ids, return_inverse=True)[1], dtype=np.int64).reshape(-1)


# The columns of votes, as texts: a list for each role.
Texts: TypeAlias = Mapping[str, Sequence[str]]


def read_votes(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    columns: Mapping[Any, str] | None = None,
    language_pair: str | None = None,
    max_input: int = MAX_INPUT,
) -> VoteTable:
    """The votes in one file or several; :class:`InputError`, with file and line, for what cannot be read."""
    files = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not files:
        raise InputError("expected a file of votes, got none")
    other = next((each for each in files if not isinstance(each, str | os.PathLike)), None)
    if other is not None:
        raise InputError(f"expected paths, got {quoted(other)}: make votes with reshuffle.VoteTable.from_columns")
    read: list[Texts] = []
    found, ordered = [], []
    for number, path in enumerate(files):
        source = Source.read(os.fspath(path), "a vote on each line", max_input)
        texts, has_order = _read(source, dict(columns or {}), language_pair)
        if texts in read:
            first, second = (display_name(os.fspath(files[i])) for i in (read.index(texts), number))
            warn(f"{first} and {second} have the same votes: was a file passed twice?")
        read.append(texts)
        rankings = {"ranking": [f"{number} {each}" for each in texts["ranking"]]} if "ranking" in texts else {}
        found.append({**texts, **rankings})
        ordered.append(has_order)
    common = [role for role in ROLES if all(role in texts for texts in found)]
    for role in UNITS:
        having = [path for path, texts in zip(files, found, strict=True) if role in texts]
        if having and role not in common:
            lacking = next(path for path, texts in zip(files, found, strict=True) if role not in texts)
            warn(
                f"{display_name(os.fspath(lacking))} has no column of {role}s, so those of "
                f"{display_name(os.fspath(having[0]))} are not used"
            )
    return _table({role: [each for texts in found for each in texts[role]] for role in common}, all(ordered))


def has_votes(source: Source) -> bool:
    """Whether the header or the first object of a file has what a vote needs: two systems and a winner."""
    try:
        return bool(_roles(source, any_table(source).header, {}))
    except InputError:
        return False


def _read(source: Source, columns: Mapping[str, str], language_pair: str | None) -> tuple[Texts, bool]:
    """The votes of a file, and whether it says which system was shown first."""
    line = first_line(source)
    judgments = recognized(source, JUDGMENT_FORMATS)
    if judgments is not None and not columns:
        return _of_judgments(source, JUDGMENT_FORMATS[judgments], language_pair), False
    if language_pair is not None:
        source.fail("there are no language pairs to choose from: leave out {it}", it=Argument("language_pair"))
    if line.lstrip().startswith("["):
        source.fail("expected a JSON object on each line, got an array: write its elements on lines (jq -c '.[]')", 1)
    table = any_table(source)
    if "annotation" in table.header and not table.is_text and not columns:
        return _of_pearmut(source), False
    roles = _roles(source, table.header, columns)
    found = dict(zip(roles, table.columns([*roles.values()]), strict=True))
    texts = {
        role: [each.strip() for each in (column.lines if table.is_text else table.names_in(column, NAME))]
        for role, column in found.items()
    }
    return _checked(source, texts, found["first"].first_lines), True


def _of_judgments(source: Source, file_format: Format, language_pair: str | None) -> Texts:
    """Votes in a format of ``reshuffle meta``."""
    votes = file_format.votes(source, language_pair, None)
    order = np.argsort(votes.sign == 0, kind="stable")  # ties last
    columns = np.where(votes.sign < 0, [votes.second, votes.first], [votes.first, votes.second])[:, order]
    better, worse = ([votes.ids[i] for i in column] for column in columns.tolist())
    texts = {
        "first": better,
        "second": worse,
        "winner": ["model_a" if sign else "tie" for sign in votes.sign[order].tolist()],
        "prompt": list(map(str, votes.segment[order].tolist())),
    }
    if file_format.judge is None:
        return texts
    rows = read_rows(source, may_be_short=True)
    judges = dict(zip(rows.lines, rows[file_format.judge], strict=True))
    lines = votes.lines[order].tolist()
    texts |= {"judge": [judges[line].strip() for line in lines], "ranking": list(map(str, lines))}
    return _checked(source, texts, lines)


def _of_pearmut(source: Source) -> Texts:
    """Scores of several systems side by side: two scores by one person on one item are a vote."""
    scores: dict[tuple[str, str], dict[str, float]] = {}
    for (user, segment, system), sample in pearmut.annotated(source).items():
        value = Samples(source, ()).value(sample, pearmut.SCORE)
        if not math.isnan(value):
            scores.setdefault((user, segment), {})[system] = value
    votes = [
        (one, other, "model_a" if own[one] > own[other] else "model_b" if own[one] < own[other] else "tie", *ids)
        for ids, own in scores.items()
        for one, other in combinations(own, 2)
    ]
    if not votes:
        source.fail("expected scores of two systems by one person on one item, got none, so there are no votes")
    first, second, winner, judge, prompt = map(list, zip(*votes, strict=True))
    ranking = [f"{user} {segment}" for user, segment in zip(judge, prompt, strict=True)]
    return {"first": first, "second": second, "winner": winner, "judge": judge, "ranking": ranking, "prompt": prompt}


def _roles(source: Source, names: Sequence[str], columns: Mapping[str, str]) -> dict[str, str]:
    """The header or key for each role."""
    roles = roles_of(names, ROLES, columns, source.name)
    if not {"first", "second", "winner"} <= roles.keys():
        begins = "" if roles else "this is not a table of votes: "
        source.fail(
            f"{begins}expected columns such as model_a, model_b and winner, got {{names}}: say which these are, as in "
            f"{{columns}}{DOCTOR}",
            1,
            names=listed(names),
            columns=Argument("columns", dict.fromkeys(("first", "second", "winner"), "NAME")),
        )
    return roles


def _checked(source: Source, texts: Texts, lines: Sequence[int]) -> Texts:
    for at, problem in _problems(texts):
        source.fail(problem, lines[at])
    return texts


def _problems(texts: Texts) -> Iterator[tuple[int, str]]:
    """The votes with which something is wrong, counted from 0, and what."""
    units = {name: texts[name] for name in UNITS if name in texts}
    for at, (first, second, winner) in enumerate(zip(texts["first"], texts["second"], texts["winner"], strict=True)):
        if not first or not second:
            yield at, "expected the names of two systems, got an empty one"
        elif first == second:
            yield at, f"{quoted(first)} is compared with itself"
        elif winner not in (first, second) and winner.lower() not in WINNERS:
            known = "expected model_a, model_b, tie or the name of a system as the winner"
            yield at, f"{known}, got {quoted(winner)}{ZERO_MEANS if winner == ZERO else ''}"
        for name, ids in units.items():
            if not ids[at]:
                yield at, f"expected a {name}, got none: say who or what the vote belongs to, or remove the column"


def _is_missing(value: object) -> bool:
    """Whether it is None or NaN, as in data frames."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _table(texts: Texts, has_order: bool) -> VoteTable:
    """From votes that have been checked."""
    outcome = [
        FIRST if winner == first else SECOND if winner == second else WINNERS[winner.lower()]
        for first, second, winner in zip(texts["first"], texts["second"], texts["winner"], strict=True)
    ]
    names, (first, second) = codes([texts["first"], texts["second"]])
    units = {name: codes([texts[name]])[1][0] for name in UNITS if name in texts}
    return VoteTable(tuple(names), first, second, np.array(outcome, dtype=np.int64), units, has_order)
