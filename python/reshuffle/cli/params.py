"""Types of command-line parameters, and the key of the command line in click's context."""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from ..errors import InputError, listed, quoted, shortened
from ..names import names_in
from ..types import MetricName
from ..validate import check_n_resamples, check_name
from .habits import habits, name_advice

if TYPE_CHECKING:
    from .metric_options import MetricChoice

    StrParam = click.ParamType[str]
    MetricParam = click.ParamType[MetricChoice]
else:  # generic at run time only in later releases of click
    StrParam = MetricParam = click.ParamType

# The key of the command line in `click.Context.meta`.
COMMAND_LINE = "reshuffle.command_line"


class Words(NamedTuple):
    """What an option takes: the words up to the next option, or up to the first one that it does not accept."""

    accepts: Callable[[str], bool]
    """Whether a word after the first still belongs to the option."""
    joined: bool = False
    """Whether the words are one value of the option, a tuple, instead of a value each."""
    noun: str | None = None
    """What a word is, such as ``file``. If it is None, the option may also be written as ``--option=WORD`` before other
    arguments.
    """


class Option(click.Option):
    """An option of any command: given twice, it is an error unless it takes several values, and not silently the last.

    Flags may be repeated, as long as they do not contradict each other.

    Parameters
    ----------
    group : str
        The group of the help, for commands whose help has groups.
    greedy : sequence of str, or bool
        Those names of the option that take every word up to the next option; True for all names.
    noun : str
        What such a word is, for messages.

    With the type :class:`WordList`, these words are one value of the option.
    """

    def __init__(
        self,
        *args: Any,
        group: str = "Output",
        greedy: Sequence[str] | bool = (),
        noun: str = "file",
        **attributes: Any,
    ) -> None:
        super().__init__(*args, **attributes)
        self.group = group
        if isinstance(greedy, bool):
            greedy = self.opts if greedy else ()
        joined = isinstance(self.type, WordList)
        self.takes = {name: Words(lambda word: True, joined, noun) for name in greedy}

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """As click, but the parser keeps the values of every occurrence."""
        multiple, self.multiple = self.multiple, True
        try:
            super().add_to_parser(parser, ctx)
        finally:
            self.multiple = multiple

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, ParameterSource]:
        """As click, from the only value of the option."""
        values = None if self.multiple or self.name is None else opts.get(self.name)
        if not isinstance(values, list):
            return super().consume_value(ctx, opts)
        first, last = values[0], values[-1]
        if len(values) > 1 and not (self.is_flag and first == last):
            if self.is_flag:
                names = " and ".join([*self.opts, *self.secondary_opts])
                raise InputError(f"{names} contradict each other: leave out one of them")
            one, other = (quoted(" ".join(value) if isinstance(value, tuple) else value) for value in (first, last))
            raise InputError(f"{self.opts[0]} is used twice, with {one} and {other}: leave out one of them")
        return super().consume_value(ctx, {**opts, str(self.name): last})


def option(*names: str, **attributes: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """As :func:`click.option`, with the class :class:`Option`."""
    return click.option(*names, cls=Option, **attributes)


def starting(names: Iterable[str], incomplete: str, before: str = "") -> list[CompletionItem]:
    """The names that a shell offers for an incomplete one. ``before`` is what is written before it in the same word."""
    return [CompletionItem(f"{before}{name}") for name in names if name.startswith(incomplete)]


class Name(StrParam):
    """One of the names in a registry. The error for any other name suggests the nearest.

    If names may have options, what follows a colon is left to who reads these.
    """

    name = "name"

    def __init__(self, kind: str, known: Sequence[str], has_options: bool = False) -> None:
        self.kind = kind
        self.known = known
        self.has_options = has_options

    def without_options(self, word: str) -> str:
        """The name without what follows a colon, if that may be options."""
        return word.partition(":")[0] if self.has_options else word

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        name = self.without_options(str(value))
        advice = None if name in self.known else name_advice(self.kind, str(name), self.known)
        if advice is not None:
            raise advice
        alone, colon, _ = name.partition(":")
        if colon and alone in self.known and name not in self.known:
            raise InputError(f"{self.kind}s have no options here: write {alone} instead of {quoted(name)}")
        if self.kind == "interval" and re.fullmatch(r"[\d.]+%?", name):
            raise InputError(f"unknown interval {quoted(name)}: for the level write --confidence 0.99")
        if name not in self.known and Path(name).is_file():
            raise InputError(f"expected a {self.kind} here, got the file {name}; known: {listed(self.known)}")
        check_name(self.kind, name, self.known)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return starting(self.known, incomplete)


class WordList(click.ParamType):  # type: ignore[type-arg]
    """All words up to the next option, as one value: a tuple."""

    name = "words"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if isinstance(value, tuple) else (value,)


class Named(WordList):
    """A name and the words after it: ``--set NAME REF SYS SYS`` is ``(NAME, (REF, SYS, SYS))``."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        words = super().convert(value, param, ctx)
        return name_and_words(param.opts[0] if param is not None else "expected", words, "files")


# The most words of a command line to show in an error.
MAX_SHOWN = 6


def name_and_words(option: str, words: Sequence[str], what: str) -> tuple[str, tuple[str, ...]]:
    """The first word and the others. ``what`` says what these are, in errors.

    :class:`InputError` for an empty name, and for a file in its place: it would silently be left out.
    """
    name, *rest = words
    if not name:
        raise InputError(f"{option}: expected a name and {what}, got an empty name")
    if is_input(name):
        free = name_of_scores(words) if option == "--scores" else "NAME"
        written = " ".join(map(shortened, [option, free, name, *rest][:MAX_SHOWN]))
        about = ", with a NAME of your choice" if free == "NAME" else ""
        more = " ..." if len(rest) + 3 > MAX_SHOWN else ""
        raise InputError(
            f"{option} {shortened(name)}: expected a name before {what}, but {shortened(name)} is a file: write "
            f"{written}{more}{about}"
        )
    return name, tuple(rest)


def name_of_scores(files: Sequence[str]) -> str:
    """The first column or key with numbers that all files have; NAME if there is none."""
    from ..data.score_columns import columns_of_scores, opened

    with contextlib.suppress(InputError):
        tables = [opened(file)[0] for file in files if file != "-"]
        known = [columns_of_scores(table, table.perhaps_scores()) for table in tables]
        return next((shlex.quote(name) for name in (known or [[]])[0] if all(name in each for each in known)), "NAME")
    return "NAME"


def is_input(word: str) -> bool:
    """Whether a word is standard input or an existing file, perhaps with the name of one of its columns."""
    from ..data.reading import path_is, split_name  # not at start-up

    return word == "-" or path_is(split_name(word)[0], lambda path: path.exists() and not path.is_dir())


class Workers(StrParam):
    """What computes: a number of threads, a name of an executor, or the address of a Dask scheduler."""

    name = "workers"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if re.fullmatch(r"[-+]?\d{1,20}", str(value)):
            return int(value)
        from ..execution import NamedWorkers

        return NamedWorkers.from_text(value) if isinstance(value, str) else value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from ..execution.executors import DASK, PROCESSES

        return starting((PROCESSES, DASK), incomplete)


class Metric(MetricParam):
    """A metric, perhaps with options: ``bleu:tokenize=intl``.

    ``external`` says what is wrong with a metric of another program here, where no option reads its scores by name.
    """

    name = "metric"

    def __init__(self, external: str = "") -> None:
        self.external = external

    def accepts(self, word: str) -> bool:
        """Whether a word after the first names another metric, instead of a file."""
        from .metric_options import is_metric

        return is_metric(word) or (name_advice("metric", word) is not None and not Path(word).exists())

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> MetricChoice:
        from .metric_options import MetricChoice, is_metric, parse_metric

        if isinstance(value, MetricChoice):
            return value
        if self.external and value.lower() in habits("another metric"):
            raise InputError(f"{quoted(value)} {self.external.format(name=value)}")
        advice = None if is_metric(value) else name_advice("metric", value.partition(":")[0])
        if advice is not None:
            raise advice
        return parse_metric(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return starting(get_args(MetricName), incomplete)


class NameList(Name):
    """Names of a registry, separated by commas or, in quotes, by spaces.

    An option of this type that may be repeated also takes the known names that follow it.
    """

    name = "names"

    def accepts(self, word: str) -> bool:
        """Whether a word after the first continues the list: also if it is a misspelled name, and no file."""
        from difflib import get_close_matches

        parts = [self.without_options(part) for part in word.split(",")]
        if any(part in self.known for part in parts):
            return True
        return not Path(word).exists() and any(get_close_matches(part, self.known, cutoff=0.8) for part in parts)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        return tuple(Name.convert(self, part, param, ctx) for part in self._parts(value))

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        return starting(self.known, last, before + comma)

    def _parts(self, value: str) -> list[str]:
        """The names. After one with options, what is no name is the next option: ``documents:size=9,icc=0.1``."""
        parts: list[str] = []
        for part in names_in(value):
            goes_on = parts and ":" in parts[-1] and self.without_options(part) not in self.known
            parts[-1:] = [f"{parts[-1]},{part}"] if goes_on else [*parts[-1:], part]
        return parts


class Parsed(click.ParamType):  # type: ignore[type-arg]
    """Reads a value from text by a function that raises ValueError. What is no text has been read before.

    ``expected`` says what the text must be; if it is empty, the function says it. ``accepts`` says whether a word after
    the first still belongs to the option.
    """

    def __init__(
        self, name: str, read: Callable[[str], Any], expected: str, accepts: Callable[[str], bool] | None = None
    ) -> None:
        self.name, self.read, self.expected = name, read, expected
        if accepts is not None:
            self.accepts = accepts

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        flag = param.opts[0] if param is not None else "expected"
        try:
            return self.read(value)
        except InputError as error:
            raise error if self.expected else error.with_prefix(f"{flag}: ") from None
        except ValueError:
            raise InputError(f"{flag} must be {self.expected}, got {quoted(value)}") from None

    def reads(self, word: str) -> bool:
        """Whether the function can read a word."""
        try:
            self.read(word)
        except ValueError:
            return False
        return True


WHOLE = {int: "whole number", float: "number"}


def number(kind: type[int] | type[float]) -> Parsed:
    """A number."""
    return Parsed("number", kind, f"a {WHOLE[kind]}")


def number_list(kind: type[int] | type[float]) -> Parsed:
    """Numbers separated by commas. An option of this type also takes the numbers that follow it."""
    found = Parsed(
        "numbers", lambda text: tuple(map(kind, text.split(","))), f"{WHOLE[kind]}s separated by commas or spaces"
    )
    found.accepts = found.reads
    return found


def of_metric(number: Callable[[str], Any] = float, only: str | None = None, examples: str = "bleu=0.5") -> Parsed:
    """A metric and its value, which is a number unless ``number`` makes something else of the text: ``bleu=0.5``.

    ``only`` is the name for a value without one.
    """

    def pair(text: str) -> Any:
        name, equals, value = text.rpartition("=")
        known = (name or None) if equals else only
        if known is None:
            raise ValueError(text)
        return known, number(value)

    found = Parsed("number", pair, f"a metric and a number, such as {examples}")
    found.accepts = lambda word: "=" in word and found.reads(word)  # a file may have a name with an equals sign
    return found


def headers(roles: Sequence[str]) -> Parsed:
    """What a column holds, and its header: ``system=Sys``. Several are separated by commas or follow one option."""

    def accepts(word: str) -> bool:
        return word.partition("=")[0].replace("-", "_") in roles and "=" in word

    def read(text: str) -> tuple[tuple[str, str], ...]:
        pairs = [part.partition("=")[::2] for part in text.split(",")]
        if not all(header for _, header in pairs):
            raise ValueError(text)
        found = tuple((role.replace("-", "_"), header) for role, header in pairs)
        for key, _ in found:
            check_name("column of --columns", key, roles)
        return found

    return Parsed("column", read, "what columns hold and their headers, such as system=SYS score=MQM", accepts)


def flattened(values: tuple[tuple[Any, ...], ...] | None) -> tuple[Any, ...] | None:
    """The values of an option that may be repeated, each of which may be a tuple; None without values.

    >>> flattened((("ar", "bootstrap"), ("t-test",))), flattened(("a", "b")), flattened(())
    (('ar', 'bootstrap', 't-test'), ('a', 'b'), None)
    """
    return tuple(one for each in values for one in (each if isinstance(each, tuple) else (each,))) if values else None


def replicates() -> Parsed:
    """A number of replicates, or ``auto``."""

    def read(text: str) -> int | str:
        try:
            found: int | str = int(text)
        except ValueError:
            found = text
        check_n_resamples("-n", found)
        return found

    return Parsed("replicates", read, "a whole number or auto")


def number_or(word: str) -> Parsed:
    """A whole number, or a word such as ``all``."""
    return Parsed("number", lambda text: text if text == word else int(text), f"a whole number or {word}")


def size() -> Parsed:
    """A number of bytes."""

    def read(text: str) -> int:
        from ..data.files import parse_size

        return parse_size(text)

    return Parsed("size", read, "")
