"""The package's exception and warning, and how values are quoted in their messages.

Code that finds an error often does not know the names that the user typed: the Rust core numbers the systems, and an
option of a metric is a flag on the command line. A message can therefore be a template with named fields, and a caller
that knows the user's names puts them into the fields (:meth:`InputError.with_names`). No code searches a message for
text to replace.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
_Same = TypeVar("_Same", bound="_WithFields")


# Joiners are parts of words in Persian and in Indic scripts, and of emoji.
JOINERS = "\u200c\u200d"


def printable(text: str, keep: str = "") -> str:
    """``text`` with escapes for what a terminal would obey or a reader could not see: names come from files.

    Escaped are control characters (C0, C1 and DEL), characters that set the direction of text or format it otherwise,
    ends of lines and paragraphs, and lone surrogates, except those in ``keep``. The escapes are those of JSON. All
    channels for people use this function: messages, reports, figures, and data on a terminal.

    >>> print(printable("a\\x1b[31mb\\n\\u202ec\\ud800 é 😀"), printable("a\\nb", keep="\\n"))
    a\\u001b[31mb\\n\\u202ec\\ud800 é 😀 a
    b
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep or _is_harmless(c) else _escape(c) for c in text)


def _is_harmless(character: str) -> bool:
    """Whether a character that :meth:`str.isprintable` excludes can be shown: a space, or one of a newer Unicode."""
    return character in JOINERS or unicodedata.category(character) in ("Zs", "Cn", "Co")


def _escape(character: str) -> str:
    short = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}.get(character)
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return short or "".join(rf"\u{units[i : i + 4]}" for i in range(0, len(units), 4))


class System(int):
    """The number of a system in a message, from 1. It prints as ``system 2`` until its name is filled in.

    >>> f"{System(2)}"
    'system 2'
    """

    def __str__(self) -> str:
        return f"system {int(self)}"


class Option(str):
    """The name of a metric's option, or of another argument, in a message."""

    __slots__ = ()


def flag(option: str) -> str:
    """An option as it is written on the command line, unless it has another name there.

    >>> flag("max_ngram_order")
    '--max-ngram-order'
    """
    return "--" + option.replace("_", "-")


# The flags that have other names than their arguments.
SHORT_FLAGS = {"confidence_level": "--confidence", "documents": "--docs", "n_resamples": "-n", "test_set": "--set"}


class Argument(NamedTuple):
    """An argument, perhaps with values to choose from, in a message. It prints as in a call.

    >>> argument = Argument("test", ("ar", "ar-studentized"))
    >>> f"{argument}", argument.flag, f"{Argument('all_pairs')}", Argument("all_pairs").flag
    ("test='ar' or 'ar-studentized'", '--test ar or ar-studentized', 'all_pairs', '--all-pairs')
    >>> margin = Argument("margin", {"bleu": 0.5})
    >>> f"{margin}", margin.flag
    ("margin={'bleu': 0.5}", '--margin bleu=0.5')
    >>> f"{ALL_PAIRS}", ALL_PAIRS.flag
    ('all_pairs=True', '--all-pairs')
    """

    name: str
    values: tuple[str | float, ...] | Mapping[str, float | str] = ()
    as_flag: str = ""
    """What to write on the command line, if it does not follow from the name."""
    as_key: str = ""
    """What to write in a manifest, if it is not as in a call."""

    def __str__(self) -> str:
        if isinstance(self.values, Mapping):
            return f"{self.name}={self.values}"
        return f"{self.name}={either(map(repr, self.values))}" if self.values else self.name

    @property
    def flag(self) -> str:
        """The argument as on the command line."""
        written = self.as_flag or SHORT_FLAGS.get(self.name) or flag(self.name)
        if isinstance(self.values, Mapping):
            return " ".join([written, *(f"{name}={value}" for name, value in self.values.items())])
        return f"{written} {either(map(str, self.values))}" if self.values else written

    def key(self, toml: bool) -> str:
        """The argument as in a manifest: in TOML, with dotted keys for values by name, or in JSON.

        >>> margin, rule = Argument("margin", {"bleu": 0.5, "chrF++": "0.1sd"}), Argument("rule", ("no-regression",))
        >>> print(margin.key(toml=True), "|", rule.key(toml=True))
        margin.bleu = 0.5, margin."chrF++" = "0.1sd" | rule='no-regression'
        >>> print(margin.key(toml=False), "|", rule.key(toml=False))
        "margin": {"bleu": 0.5, "chrF++": "0.1sd"} | "rule": "no-regression"
        """
        values = self.values
        if self.as_key or not values:
            return self.as_key or self.name
        if not toml:
            written = json.dumps(values) if isinstance(values, Mapping) else either(map(json.dumps, values))
            return f"{json.dumps(self.name)}: {written}"
        if not isinstance(values, Mapping):
            return str(self)
        names = [name if re.fullmatch("[A-Za-z0-9_-]+", name) else json.dumps(name) for name in values]
        pairs = zip(names, values.values(), strict=True)
        return ", ".join(f"{self.name}.{name} = {json.dumps(value)}" for name, value in pairs)


# What several messages advise.
ALL_PAIRS = Argument("all_pairs=True", as_flag="--all-pairs")
NO_AVERAGE = Argument("average=False", as_flag="--no-average")


class _WithFields(Exception):  # noqa: N818 - the base of an error and of a warning
    """A message that can be a template with named fields: see :class:`InputError`."""

    fields: Mapping[str, Any]

    def __init__(self, message: str, /, **fields: Any) -> None:
        # Wherever the message is shown, the names in it are safe.
        super().__init__(printable(message.format_map(fields) if fields else message, keep="\n\t"))
        self.fields = fields
        self._template = message

    def with_names(self: _Same, kind: type[T], name_of: Callable[[T], object]) -> _Same:
        """A copy in which ``name_of`` has replaced every field of one type, such as :class:`System`."""
        fields = {name: name_of(value) if isinstance(value, kind) else value for name, value in self.fields.items()}
        return type(self)(self._template, **fields)

    def with_flags(self: _Same) -> _Same:
        """A copy in which arguments are flags, as users of the command line write them."""
        return self.with_names(Argument, lambda argument: argument.flag)

    def with_keys(self: _Same, flags: Collection[str] = (), *, toml: bool) -> _Same:
        """A copy in which arguments are keys of a manifest in TOML or JSON, but for those named in ``flags``."""
        return self.with_names(Argument, lambda each: each.flag if each.name in flags else each.key(toml))


class InputError(_WithFields, ValueError):
    """An input or argument cannot be used.

    The message says what is wrong, what was found, what was expected and, if possible, how to fix it. The command line
    prints the message and exits with code 2.

    Parameters
    ----------
    message : str
        If there are fields, a template in which ``{name}`` is replaced by the field of that name. Otherwise the message
        itself.
    **fields
        Values for the template.

    Attributes
    ----------
    fields : mapping of str to object
        The values in the message, for programs that handle errors: for example ``segment`` and ``system``, which are
        numbered from 1, or ``option``, a name. Empty for a message without fields.

    Examples
    --------
    >>> error = InputError("segment {segment}, {system}: {problem}", segment=3, system=System(1), problem="too long")
    >>> print(error, error.fields["segment"], error.with_names(System, lambda system: ["Moses"][system - 1]), sep="; ")
    segment 3, system 1: too long; 3; segment 3, Moses: too long
    """

    def with_prefix(self, prefix: str) -> InputError:
        """A copy whose message begins with ``prefix``.

        >>> print(InputError("{n} is odd", n=3).with_prefix("simulations 3–5: "))
        simulations 3–5: 3 is odd
        """
        if self.fields:
            prefix = prefix.replace("{", "{{").replace("}", "}}")
        return type(self)(prefix + self._template, **self.fields)

    def with_field(self, name: str, value: object) -> InputError:
        """A copy that also has this field, which its message does not name."""
        template = self._template if self.fields else self._template.replace("{", "{{").replace("}", "}}")
        return type(self)(template, **{**self.fields, name: value})


class WorkerError(RuntimeError):
    """A worker of an executor failed, or ended. The message names the part of the job that it had.

    The command line prints the message and exits with code 4.
    """

    def __init__(self, message: str) -> None:
        super().__init__(printable(message, keep="\n\t"))


# Template for a bad value in one segment, numbered from 1, of a system, a column of references, a list of ids …
SEGMENT_MESSAGE = "{what}, segment {segment}: {problem}"


class InputWarning(_WithFields, UserWarning):
    """The input can be used, but is probably a mistake. Its message can have fields, as that of :class:`InputError`.

    ``warnings.filterwarnings("ignore", category=reshuffle.InputWarning)`` silences these warnings. The command line
    prints each as one line on standard error.
    """


class InputNote(InputWarning):
    """How the input was read, where there may be doubt. The command line does not call it a warning."""


class MisreadWarning(InputWarning):
    """The input was probably misread, so that the result would answer another question.

    ``reshuffle gate`` makes it an error, because nobody reads warnings in logs of CI.
    """


def warn(message: str, category: type[InputWarning] = InputWarning, /, **fields: Any) -> None:
    """Issue an :class:`InputWarning` that points to the caller's line outside this package."""
    frame = sys._getframe(1)
    level = 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "reshuffle":
        frame = frame.f_back
        level += 1
    warnings.warn(category(message, **fields), stacklevel=level)


# Limits on what a message quotes, because one line of a file can be megabytes long: characters of a value, and names in
# a list.
MAX_QUOTED = 40
MAX_LISTED = 50


def shortened(text: str, most: int = MAX_QUOTED) -> str:
    """``text``, truncated to ``most`` characters.

    >>> shortened("short"), shortened("a" * 50) == "a" * 40 + "…"
    ('short', True)
    """
    return text if len(text) <= most else text[:most] + "…"


def quoted(value: object) -> str:
    """The repr of ``value``, truncated to ``MAX_QUOTED`` characters. All messages quote values with it.

    >>> print(quoted("it's"), quoted("word " * 1000), quoted(list(range(1000))))
    "it's" 'word word word word word word word word …' [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 1…
    """
    if hasattr(value, "columns") and hasattr(value, "shape"):
        return f"a {type(value).__name__}"
    # Truncate a string before repr, so that the closing quote is kept. The repr of a table has several lines.
    return repr(shortened(value)) if isinstance(value, str) else shortened(" ".join(repr(value).split()))


def listed(names: Iterable[str], most: int = MAX_LISTED) -> str:
    """``names`` separated by commas, with long names and a long list truncated.

    >>> listed(["a", "b" * 50]), listed(map(str, range(100)), 2)
    ('a, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb…', '0, 1 … (100 in all)')
    """
    names = list(names)
    shown = ", ".join(map(shortened, names[:most]))
    return shown if len(names) <= most else f"{shown} … ({len(names):,} in all)"


def listed_files(paths: Iterable[str]) -> str:
    """The same for paths, of which the ends tell them apart.

    >>> listed_files(["a.txt", "folder/" * 9 + "b.txt"])
    'a.txt, …older/folder/folder/folder/folder/b.txt'
    """
    return listed(path if len(path) <= MAX_QUOTED else f"…{path[1 - MAX_QUOTED :]}" for path in paths)


def counted(n: int, noun: str) -> str:
    """A number and a noun, which is in the plural unless the number is 1.

    >>> counted(1, "segment"), counted(3004, "segment")
    ('1 segment', '3,004 segments')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def first_three(phrases: Sequence[str]) -> str:
    """The first three phrases, and how many more there are.

    >>> first_three(["x has 1", "y has 2"]), first_three(list("abcde"))
    ('x has 1, y has 2', 'a, b, c and 2 more')
    """
    more = f" and {len(phrases) - 3:,} more" if len(phrases) > 3 else ""
    return ", ".join(phrases[:3]) + more


def either(names: Iterable[str]) -> str:
    """Names to choose from, as a phrase.

    >>> either(["ar"]), either(["ar", "bootstrap", "sign-test"])
    ('ar', 'ar, bootstrap or sign-test')
    """
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last


# Names with as many letters in common are the same with a slip.
ALMOST_EQUAL = 0.9


def nearest(name: str, known: Iterable[str], n: int = 1, cutoff: float = 0.6) -> list[str]:
    """The most similar known names, the nearest first: one with nearly the same letters, the only one that begins so,
    or similar ones, in any case.

    >>> nearest("Elo", ["log", "elo"]), nearest("nonsense", ["log", "elo"]), nearest("uedin", ["xmu", "uedin-nmt.4722"])
    (['elo'], [], ['uedin-nmt.4722'])
    >>> nearest("passed", ["pass@1", "pass@2"])
    ['pass@1']
    """
    import difflib

    folded, wanted = {other.casefold(): other for other in map(str, known)}, str(name).casefold()
    begun = [full for other, full in folded.items() if wanted and other.startswith(wanted)]
    matcher, nearness = difflib.SequenceMatcher(b=wanted), {}
    for other in folded:
        matcher.set_seq1(other)
        if matcher.real_quick_ratio() >= cutoff and matcher.quick_ratio() >= cutoff:
            nearness[other] = matcher.ratio()
    if n == 1 == len(begun) and max(nearness.values(), default=0) < ALMOST_EQUAL:
        return begun
    # Equally near ones in their own order: of pass@1 to pass@9 the first.
    close = [other for other, ratio in nearness.items() if ratio >= cutoff]
    return [folded[other] for other in sorted(close, key=nearness.__getitem__, reverse=True)[:n]]


def unknown_name(kind: object, name: str, known: Iterable[str]) -> InputError:
    """The error for a name that is not in ``known``. It suggests the most similar known name, if there is one.

    >>> print(unknown_name("metric", "blue", ["bleu", "ter"]), unknown_name("key", "blue", ["bleu"]), sep="; ")
    unknown metric 'blue': did you mean 'bleu'? Known: bleu, ter; unknown key 'blue': did you mean 'bleu'?
    """
    known = list(map(str, known))
    near = nearest(name, known)
    meant = f": did you mean {quoted(near[0])}?" if near else ";"
    every = "" if near == known else " Known: {known}" if near else " known: {known}"
    message = "unknown {kind} {name}{meant}" + every
    return InputError(message, kind=kind, name=quoted(name), meant=meant, known=listed(known))


# More arguments are not listed.
MOST_ARGUMENTS = 24


def meant_argument(name: str, known: Iterable[str], near: str | None = None) -> str:
    """The end of a TypeError for an argument that does not exist: ``near`` or the most similar one, or all if few.

    >>> meant_argument("digit", ["digits", "names"]), meant_argument("x", ["digits", "names"])
    (": did you mean 'digits'?", ': its arguments are digits, names')
    """
    known = list(known)
    found = [near] if near else nearest(name, known)
    if found:
        # Advice that is no name is code.
        return f": did you mean {found[0]!r}?" if found[0].isidentifier() else f": use {found[0]}"
    return f": its arguments are {listed(known)}" if 0 < len(known) <= MOST_ARGUMENTS else ""


@contextlib.contextmanager
def writing(name: str) -> Iterator[None]:
    """Turn errors of the system while a file or folder is written into :class:`InputError`."""
    try:
        yield
    except BrokenPipeError:  # the reader has closed the pipe
        raise
    except OSError as error:
        hint = ": make its folder first" if isinstance(error, FileNotFoundError) else ""
        raise InputError(f"{name} cannot be written: {error.strerror or error}{hint}") from None
