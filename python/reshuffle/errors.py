"""The exception and the warning that users see, and how their messages are worded.

An error is raised where something is found to be wrong, and that is often not where its words are known: the core
numbers systems that a user has named, and a metric's option is a flag on the command line. So a message may be a
template, and what it is about fields. Whoever catches the error and knows better puts other words in the place of a
field (:meth:`InputError.worded`); no text is searched for what may stand in it.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

__all__ = ["InputError", "InputWarning", "Option", "System", "unknown_name", "warn"]


T = TypeVar("T")


class System(int):
    """The number of a system, from 1, in a message: its name until another is known.

    >>> f"{System(2)}"
    'system 2'
    """

    def __str__(self) -> str:
        return f"system {int(self)}"


class Option(str):
    """The name of an option of a metric, or of another argument, in a message."""

    __slots__ = ()


class InputError(ValueError):
    """Something given to reshuffle cannot be used.

    The message says what is wrong, what came, what was expected and, where it helps, what to do. The command line
    prints it and exits with code 2.

    Parameters
    ----------
    message : str
        With fields, a template in which ``{name}`` stands for the field of that name; else as it is.
    **fields
        What the message is about.

    Attributes
    ----------
    fields : mapping of str to object
        For programs that handle errors: for example ``segment`` and ``system``, numbers from 1, or ``option``, a name.
        Empty for messages without fields.

    Examples
    --------
    >>> error = InputError("segment {segment}, {system}: {problem}", segment=3, system=System(1), problem="too long")
    >>> print(error, error.fields["segment"], error.worded(System, lambda system: ["Moses"][system - 1]), sep="; ")
    segment 3, system 1: too long; 3; segment 3, Moses: too long
    """

    fields: Mapping[str, Any]

    def __init__(self, message: str, /, **fields: Any) -> None:
        super().__init__(message.format_map(fields) if fields else message)
        self.fields = fields
        self._template = message

    def worded(self, kind: type[T], words: Callable[[T], str]) -> InputError:
        """The same with other words for the fields of a kind: :class:`System`, :class:`Option`."""
        fields = {name: words(value) if isinstance(value, kind) else value for name, value in self.fields.items()}
        return InputError(self._template, **fields)


# The message for a value of a segment, from 1: of a system, a column of references, documents …
IN_SEGMENT = "{what}, segment {segment}: {problem}"
# For a line of a file, from 1.
IN_FILE = "{file}, line {line}: {problem}"


class InputWarning(UserWarning):
    """The input can be used, but is probably not what was meant.

    ``warnings.filterwarnings("ignore", category=reshuffle.InputWarning)`` silences it. The command line prints each as
    one line on standard error.
    """


def warn(message: str) -> None:
    """Issue an :class:`InputWarning` for the line outside this package that made the call."""
    frame = sys._getframe(1)
    level = 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "reshuffle":
        frame = frame.f_back
        level += 1
    warnings.warn(message, InputWarning, stacklevel=level)


# The most characters of a value and names of a list that a message shows: a line may have megabytes.
MAX_QUOTED = 40
MAX_LISTED = 50


def shortened(text: str) -> str:
    """A text, cut to the length that messages show.

    >>> shortened("short"), shortened("a" * 50) == "a" * 40 + "…"
    ('short', True)
    """
    return text if len(text) <= MAX_QUOTED else text[:MAX_QUOTED] + "…"


def quoted(value: object) -> str:
    """The repr of a value, cut to the length that messages show; all messages quote values this way.

    >>> print(quoted("it's"), quoted("word " * 1000), quoted(list(range(1000))))
    "it's" 'word word word word word word word word …' [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1…
    """
    # A string is cut before repr, so that the closing quote is kept.
    return repr(shortened(value)) if isinstance(value, str) else shortened(repr(value))


def listed(names: Iterable[str]) -> str:
    """A list of names, with long names and long lists cut to what messages show.

    >>> listed(["a", "b" * 50]), listed(map(str, range(100)))[-14:]
    ('a, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb…', '… (100 in all)')
    """
    names = list(names)
    shown = ", ".join(map(shortened, names[:MAX_LISTED]))
    return shown if len(names) <= MAX_LISTED else f"{shown} … ({len(names):,} in all)"


def unknown_name(kind: str, name: str, known: Iterable[str]) -> InputError:
    """The error for a name that no registry holds, with the nearest that one does.

    >>> print(unknown_name("metric", "blue", ["bleu", "ter"]))
    unknown metric 'blue': did you mean 'bleu'? Known: bleu, ter
    """
    import difflib

    known = list(known)
    folded = {other.casefold(): other for other in known}
    nearest = difflib.get_close_matches(name, known, n=1)
    nearest = nearest or [folded[other] for other in difflib.get_close_matches(name.casefold(), folded, n=1)]
    hint = f"did you mean {quoted(nearest[0])}? Known:" if nearest else "known are"
    fields = {"kind": kind, "name": quoted(name), "hint": hint, "known": listed(known)}
    return InputError("unknown {kind} {name}: {hint} {known}", **fields)
