"""Mathematics in the texts of papers: which of their letters are symbols. LaTeX and Typst set these as mathematics."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, NamedTuple

# What a letter must not follow, or be followed by, to be a symbol: it would be part of a word, an option or a file.
_BEFORE, _AFTER = r"(?<![\w'’.@\\-])", r"(?!\w|['’.]\w)"
_SYMBOL = "|".join(
    (
        # Standard deviations of runs, as Clark et al. 2011 write them.
        rf"{_BEFORE}(?P<deviation>s)_(?P<of>sel|test|dev){_AFTER}",
        rf"{_BEFORE}(?P<letter>[bcdjkmnprtzFMRS])(?P<number>[₀-₉]?){_AFTER}(?P<star>(?<=d)\*)?",
        rf"(?P<greek>[Δαδεηκρτ])(?:(?P<kind>[abc]){_AFTER})?",
        r"(?<=\))\^(?P<power>[a-z])\b",
    )
)
_SYMBOLS = re.compile(_SYMBOL)


class Symbol(NamedTuple):
    """A symbol of mathematics: a letter, perhaps with an index or an exponent."""

    letter: str
    below: str = ""
    power: str = ""


def symbols_for_scripts(names: Collection[str] = ()) -> str:
    """The regular expression of names and symbols, as scripts write it.

    The order of names does not matter, so that the same result gives the same page.

    >>> symbols_for_scripts(["p", "B"]) == symbols_for_scripts(["B", "p"])
    True
    """
    return _pattern(names).pattern.replace("(?P<", "(?<")


def split_at_symbols(text: str, names: Collection[str] = ()) -> Iterator[str | Symbol]:
    """The parts of a text in order: symbols, and the texts between them. Names have no symbols.

    >>> [*split_at_symbols("R = 9; p-values", ["R"])]
    ['R = 9; ', Symbol(letter='p', below='', power=''), '-values']
    """
    end = 0
    for found in _pattern(names).finditer(text):
        if found.lastgroup == "name":
            continue
        if found.start() > end:
            yield text[end : found.start()]
        yield _symbol(found.groupdict())
        end = found.end()
    if text[end:]:
        yield text[end:]


def _pattern(names: Collection[str]) -> re.Pattern[str]:
    """Symbols, and before them names, which are longer."""
    if not names:
        return _SYMBOLS
    longest_first = "|".join(re.escape(name) for name in sorted(names, key=lambda name: (-len(name), name)))
    return re.compile(rf"(?<!\w)(?P<name>{longest_first})(?!\w)|{_SYMBOL}")


def _symbol(found: Mapping[str, str | None]) -> Symbol:
    if found["power"]:
        return Symbol("", power=found["power"])
    letter = found["deviation"] or found["letter"] or found["greek"] or ""
    number = found["number"] and str(ord(found["number"]) - ord("₀"))
    return Symbol(letter, found["of"] or number or found["kind"] or "", found["star"] or "")


def names_in(*values: Any) -> frozenset[str]:
    """The texts in results and settings, such as names of systems and metrics, in which a symbol could be seen.

    >>> sorted(names_in({"k": 3}, ["p", "B", ("tau d",)]))
    ['k', 'p', 'tau d']
    """
    texts: set[str] = set()  # most stand in many records
    for value in values:
        _add_texts(value, texts)
    return frozenset(name for text in texts if _SYMBOLS.search(name := " ".join(text.split())))


def _add_texts(value: Any, texts: set[str]) -> None:
    """Add the texts in records, mappings and sequences."""
    if isinstance(value, str):
        texts.add(value)
    elif isinstance(value, tuple | list):
        for each in value:
            _add_texts(each, texts)
    elif value is not None and not isinstance(value, int | float):
        kind: Any = type(value)
        for name in _fields_of(kind):
            _add_texts(getattr(value, name), texts)
        if isinstance(value, Mapping):
            for pair in value.items():
                _add_texts(pair, texts)


@cache
def _fields_of(kind: type) -> tuple[str, ...]:
    """The fields of a record, but for the letters of groups, which no sentence names."""
    named = fields(kind) if is_dataclass(kind) else ()
    return tuple(each.name for each in named if each.name not in ("letters", "letter"))
