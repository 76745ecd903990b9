"""Checks that files contain the same segments, and sorting of segments with ids into the same order."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from ..errors import InputError, InputWarning, MisreadWarning, counted, quoted, warn
from .formats.base import Column


def check_parses(parses: Column, texts: Column) -> None:
    """Raise :class:`InputError` unless every parse has the words of its text, ignoring white space.

    >>> parses = Column("a.conllu", ["1-2\\tdu\\t…\\n1\\tde\\t…\\n2\\tle\\t…\\n3\\tpain\\t…"], [1], format="conllu")
    >>> check_parses(parses, Column("a.txt", ["du pain"], [1]))
    >>> check_parses(parses, Column("a.txt", ["du vin"], [1]))
    Traceback (most recent call last):
    reshuffle.errors.InputError: a.conllu, line 1: the parse does not match a.txt, line 1: expected 'vin', got 'pain'
    """
    if len(parses.lines) != len(texts.lines):
        raise InputError(
            f"{parses.name} has {counted(len(parses.lines), 'sentence')}, {texts.name} has {len(texts.lines):,} "
            "segments: every segment needs a sentence; for a segment without words, write only a comment line"
        )
    for segment, (parse, text) in enumerate(zip(parses.lines, texts.lines, strict=True), 1):
        if text is None:
            continue
        got, expected = _text_of(parse), "".join(text.split())
        if got != expected:
            same = next(i for i, (a, b) in enumerate(zip(got + "\0", expected + "\1", strict=False)) if a != b)
            shown = [repr(words[same : same + 20]) if words[same:] else "the end" for words in (expected, got)]
            raise InputError(
                f"{parses.place(segment)}: the parse does not match {texts.place(segment)}: expected {shown[0]}, got "
                f"{shown[1]}"
            )


def _text_of(parse: str) -> str:
    """The text of a parse without white space: multiword tokens instead of their words, and no empty nodes."""
    forms: list[str] = []
    covered = 0
    for line in parse.split("\n"):
        if line.startswith("#"):
            continue
        number, form = line.split("\t", 2)[:2]
        start, _, end = number.partition("-")
        if end.isdecimal():
            covered = int(end)
            forms.append(form)
        elif start.isdecimal() and int(start) > covered:
            forms.append(form)
    return "".join("".join(forms).split())


def aligned(columns: Sequence[Column]) -> list[Column]:
    """Sort the columns that have ids into the order of the first of them, or of the first with the same ids.

    Other columns are unchanged.

    Raises
    ------
    InputError
        If a segment of one column is missing in another, or files with ids are in different orders beside a file
        without ids.

    Warns
    -----
    InputWarning
        If the ids in two tables are not the same: then their rows are matched by position.

    Examples
    --------
    >>> one = Column("ref.sgm", ["x", "y"], [1, 2], [("d", "1"), ("d", "2")])
    >>> two = Column("sys.sgm", ["Y", "X"], [1, 2], [("d", "2"), ("d", "1")])
    >>> aligned([one, two])[1].lines
    ['X', 'Y']
    """
    first = next((column for column in columns if column.ids is not None), None)
    in_documents = [column if first is None or column is first else _aligned(first, column) for column in columns]
    found: list[Column] = []
    plain = next((column.name for column in in_documents if column.keys is None), None)
    for column, own in zip(columns, in_documents, strict=True):
        if own is not column and own.keys is not None and first is not None and plain is not None:
            raise unclear_order(first.name, column.name, plain)
    for column in in_documents:
        wanted = _like(column, [each for each in found if each.keys is not None])
        order = order_by((column.name, column.keys), (wanted.name, wanted.keys))
        if order is not None and plain is not None:
            raise unclear_order(wanted.name, column.name, plain)
        found.append(column if order is None else column.in_order(order))
    return found


def _like(column: Column, keyed: Sequence[Column]) -> Column:
    """The first of some columns with ids that has those of another column; if none has, the first of all."""
    if not keyed or column.keys is None or column.keys == keyed[0].keys:
        return next(iter(keyed), column)
    own = {*column.keys}
    return next((each for each in keyed if own == {*(each.keys or ())}), keyed[0])


def unclear_order(one: str, other: str, plain: str) -> InputError:
    """The error for files in different orders beside a file without ids."""
    return InputError(
        f"{one} and {other} have the same ids in different orders, and {plain} has no ids, so it is not clear which "
        "order it follows: sort one of these two like the other, or use files that all have ids"
    )


def order_by(own: tuple[str, Sequence[str] | None], wanted: tuple[str, Sequence[str] | None]) -> list[int] | None:
    """The order that matches the segments of one file with those of another; None if they match by position.

    Each is the name of a file and the ids of its segments, or None. A warning says that ids differ; :class:`InputError`
    if ids that both files have are in different rows and the files do not have the same ids, each once, or if an id
    occurs once in one file and twice in the other. Numbers may begin with 0 here and 1 there.

    >>> order_by(("a", ["x", "y"]), ("b", ["y", "x"])), order_by(("a", ["x", "y"]), ("b", None))
    ([1, 0], None)
    >>> order_by(("a", ["7", "12"]), ("b", ["12.0", "7.0"])), order_by(("a", ["MMLU/7", "x"]), ("b", ["x", "mmlu/7"]))
    ([1, 0], [1, 0])
    """
    (name, ids), (other, others) = own, wanted
    if ids is None or others is None or list(ids) == list(others) or len(ids) != len(others):
        return None
    rows, theirs = _rows(ids), _rows(others)
    if (len(rows) <= len(ids) // 2) != (len(theirs) <= len(ids) // 2):  # ids of documents are no ids of rows
        numbers, others = without_parts(ids), without_parts(others)
        return order_by((name, numbers), (other, others)) if sorted(numbers) == sorted(others) else None
    if rows.keys() != theirs.keys():
        plain, plain_others = in_one_spelling([ids, others])
        if {*plain} == {*plain_others}:
            return order_by((name, plain), (other, plain_others))
    twice = [(file, key) for file, each in ((name, rows), (other, theirs)) for key, at in each.items() if at < 0]
    if not twice and rows.keys() == theirs.keys():
        return [rows[key] for key in others]
    both = [(key, rows[key], at) for key, at in theirs.items() if min(at, rows.get(key, -1)) >= 0]
    moved = [(key, at + 1, to + 1) for key, at, to in both if at != to]
    doubled = [(file, key) for file, key in twice if max(rows.get(key, -1), theirs.get(key, -1)) >= 0]
    repeated = {key for key, at in rows.items() if at < 0 and theirs.get(key, 0) < 0}
    for at, (one, two) in enumerate(zip(ids, others, strict=True), 1):
        if one != two and one in repeated and two in repeated:
            raise InputError(
                f"segment {at:,} has the id {quoted(one)} in {name} and {quoted(two)} in {other}, and these occur "
                "several times in both files, so it is not clear which rows belong together: sort both alike, or give "
                "every row an id of its own"
            )
    is_shifted = _only_begin_elsewhere(ids, others)
    if (moved and not is_shifted) or doubled:
        file, wrong = [*doubled, *twice, *((other, key) for key in others if key not in rows)][0]
        problem = f"{file} has the id {quoted(wrong)}" + (" twice" if twice else f", which {name} lacks")
        for key, at, to in moved[:1]:
            problem += f", and {quoted(key)} is segment {at:,} of {name} and segment {to:,} of {other}"
        raise InputError(
            f"{problem}: give both files the same ids, each once, or remove the ids from one to match segments by "
            "position"
        )
    at = next(at for at, (one, two) in enumerate(zip(ids, others, strict=True)) if one != two)
    warn(
        f"segment {at + 1:,} has the id {quoted(others[at])} in {other} and {quoted(ids[at])} in {name}: the ids "
        "are not the same, so segments are matched by position: if that is meant, remove the ids from one",
        InputWarning if is_shifted else MisreadWarning,
    )
    return None


def without_parts(ids: Sequence[str]) -> list[str]:
    """Ids without the names of the benchmarks that number them: 7 of law/7."""
    return [key.rpartition("/")[2] for key in ids]


def _plain(key: str) -> str:
    """An id in lower case, and without what pandas or people add to a whole number: 7 of 7.0 and 007, q7 of Q007."""
    whole = re.fullmatch(r"(.*?)0*([0-9]+)(\.0+)?", key)
    return (key if whole is None else whole[1] + whole[2]).casefold()


def in_one_spelling(ids: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """The ids of several files, each as the first file that has it spells it: 7 for 7.0, and MMLU/7 for mmlu/7.

    They stay as they are if a file spells one of them in two ways.

    >>> in_one_spelling([["MMLU/7"], ["mmlu/8", "mmlu/7"]]), in_one_spelling([["a", "A"], ["a"]])
    ([['MMLU/7'], ['mmlu/8', 'MMLU/7']], [['a', 'A'], ['a']])
    """
    if len({*map(frozenset, ids)}) < 2:
        return [*ids]
    plain = [[*map(_plain, own)] for own in ids]
    if any(len({*one}) != len({*own}) for one, own in zip(plain, ids, strict=True)):
        return [*ids]
    first: dict[str, str] = {}
    return [[*map(first.setdefault, *each)] for each in zip(plain, ids, strict=True)]


def _rows(ids: Sequence[str]) -> dict[str, int]:
    """The row of each id; -1 of one that several rows have."""
    rows: dict[str, int] = {}
    for at, key in enumerate(ids):
        rows[key] = -1 if key in rows else at
    return rows


def _only_begin_elsewhere(ids: Sequence[str], others: Sequence[str]) -> bool:
    """Whether ids are numbers in one order that only begin elsewhere, as 0, 1, 2 and 1, 2, 3 do."""
    if not all(map(str.isdecimal, [*ids, *others])):
        return False
    return len({int(one) - int(two) for one, two in zip(ids, others, strict=True)}) == 1


def in_numeric_order(ids: Sequence[str]) -> bool:
    """Whether ids are ascending whole numbers.

    >>> in_numeric_order(["8", "9", "10"]), in_numeric_order(["2", "1"])
    (True, False)
    """
    return all(map(str.isdecimal, ids)) and [*map(int, ids)] == sorted(map(int, ids))


def _aligned(first: Column, column: Column) -> Column:
    if column.ids is None or first.ids is None or column.ids == first.ids:
        return column
    index = {key: i for i, key in enumerate(column.ids)}
    _check_same(first, column, first.ids, index)
    _check_same(column, first, column.ids, set(first.ids))
    return column.in_order([index[key] for key in first.ids])


def _check_same(
    having: Column, lacking: Column, ids: Sequence[tuple[str, str]], known: Collection[tuple[str, str]]
) -> None:
    """Raise :class:`InputError` unless ``known``, the ids of ``lacking``, include all ``ids`` of ``having``."""
    missing = [(segment, key) for segment, key in enumerate(ids, 1) if key not in known]
    if not missing:
        return
    segment, (document, number) = missing[0]
    if having.keys is not None:
        what = f"the segment {quoted(having.keys[segment - 1])}"
    elif all(other != document for other, _ in known):
        what = f"the document {quoted(document)}"
    else:
        what = f"segment {quoted(number)} of the document {quoted(document)}"
    more = f" ({len(missing):,} segments are missing)" if len(missing) > 1 else ""
    raise InputError(f"{lacking.name} lacks {what}, which is in {having.place(segment)}{more}")
