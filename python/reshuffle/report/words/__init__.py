"""Words of reports that are data: a TOML file for each subject, which can be read and changed without the code."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

from ...errors import unknown_name
from ...toml import loads
from ..wording import OPTION, ci, counted, few, joined, number, percent, rounded_down

# How a template writes a value, as in {alpha:number}, besides formats of Python's own.
WAYS: Mapping[str, Callable[[Any], str]] = {
    "number": number,
    "floor": rounded_down,
    "percent": percent,
    "ci": ci,
    "and": joined,
    "or": " or ".join,
    "few": few,
}


@cache
def words(subject: str) -> Mapping[str, Any]:
    """The texts of ``SUBJECT.toml``, by kind and name."""
    return loads((Path(__file__).parent / f"{subject}.toml").read_text("utf-8"))


def words_of(subject: str, kind: str, name: str) -> Any:
    """The entry of a name, which may be read from JSON of another version."""
    entries = words(subject)[kind]
    if name not in entries:
        raise unknown_name(kind, name, entries)
    return entries[name]


class Template(Formatter):
    """A sentence in parts: ``{braces}`` name a part or a value. ``{n:segment}`` is a number with its noun.

    Where a part depends on values, each condition has a text: that of the first condition that holds is used, if any.

    >>> parts = {"sentence": "{n:segment} {are} at {alpha:number}", "are": {"n = 1": "is", "else": "are"}}
    >>> Template(parts).filled("sentence", {"n": 2, "alpha": 0.1})
    '2 segments are at 0.1'
    >>> filled("{skewness:.2g}, {effective:.3g}", {"skewness": 120.3, "effective": 5674.2})
    '120, 5,670'
    """

    def __init__(self, parts: Mapping[str, Any]) -> None:
        self.parts = parts

    def filled(self, part: str, values: Mapping[str, Any]) -> str:
        """A part with the values in it."""
        return self.text(self.parts[part], values)

    def text(self, texts: str | Mapping[str, str], values: Mapping[str, Any]) -> str:
        """A text, or that of the first condition that holds, with the values in it; empty if none holds."""
        if not isinstance(texts, str):
            texts = next((text for condition, text in texts.items() if _holds(condition, values)), "")
        return self.vformat(texts.translate(OPTION), (), values)

    def get_value(self, key: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
        """What a name in braces stands for."""
        return self.filled(key, kwargs) if key in self.parts else kwargs[key]

    def format_field(self, value: Any, format_spec: str) -> str:
        """A value in the template; of two, which are the ends of a range, one if both look the same."""
        if format_spec in WAYS:
            return WAYS[format_spec](value)
        if format_spec and isinstance(value, (list, tuple)):
            return " to ".join(dict.fromkeys(f"{each:{format_spec}}" for each in value))
        # One letter is a format of Python's own, such as g.
        is_noun = len(format_spec) > 1 and format_spec.replace(" ", "").isalpha()
        found = counted(value, format_spec) if is_noun else format(value, format_spec)
        # Digits that are rounded away are zeros, not an exponent.
        return f"{float(found):,.0f}" if "e+" in found and format_spec.endswith("g") else found


def filled(text: str, values: Mapping[str, Any]) -> str:
    """A template that is a single text, with the values in it.

    >>> filled("{n:draw} of {unit}s", {"n": 1000, "unit": "segment"})
    '1,000 draws of segments'
    """
    return Template({"": text}).filled("", values)


def sentence(subject: str, kind: str, part: str, /, **values: Any) -> str:
    """A part of a table of ``SUBJECT.toml``, with the values in it, and with other parts of the table."""
    return Template(words(subject)[kind]).filled(part, values)


def said(subject: str, kind: str, values: Mapping[str, Any]) -> Iterator[str]:
    """Those sentences of a kind whose conditions hold, in the order of the file. Phrases in them are its ``phrase``."""
    template = Template(words(subject)["phrase"])
    return filter(None, (template.text(texts, values) for texts in words(subject)[kind].values()))


def _holds(condition: str, values: Mapping[str, Any]) -> bool:
    """Whether all that ``and`` joins is so: ``name`` is true, or it is ``= other`` or ``< other``, a value or JSON.

    >>> _holds("a and b < 3", {"a": True, "b": 2}), _holds("b = c", {"b": 2, "c": 1}), _holds("a", {})
    (True, False, False)
    """
    return condition == "else" or all(
        _is_so(*each.split(maxsplit=2), values=values) for each in condition.split(" and ")
    )


def _is_so(name: str, sign: str = "", other: str = "", *, values: Mapping[str, Any]) -> bool:
    if not sign or name not in values:  # what is missing is not true
        return bool(values.get(name))
    value = values[name]
    than = values[other] if other in values else json.loads(other)
    return bool(value < than if sign == "<" else value == than)
