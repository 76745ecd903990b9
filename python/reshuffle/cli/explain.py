"""``reshuffle explain``: everything that is chosen by name, as text, Markdown or JSON, made from the registries.

``entries/`` has what there is to say about each name.
"""

from __future__ import annotations

import io
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from .. import types
from ..errors import InputError, either, nearest, quoted, shortened
from ..lazy import lazy
from ..names import metric_key
from .entries import Entry, entries_of, wording_of
from .habits import name_advice

if TYPE_CHECKING:
    from ..report import Terminal


@dataclass(frozen=True)
class Kind:
    """A kind of things that are chosen by name."""

    key: str
    """Its name in JSON and in ``entries.toml``, which ``reshuffle explain`` also takes."""
    noun: str
    """What one is, and the heading of all."""
    title: str
    chosen_by: str
    """The option or command with which one is chosen."""
    names: Sequence[str] = ()
    """Their names, if they are known without the entries."""

    @lazy
    def entries(self) -> list[Entry]:
        """All of them."""
        return entries_of(self.key)

    def is_called(self, name: str) -> bool:
        """Whether the kind has this name."""
        return name.casefold() in (self.key, self.key.removesuffix("s"))

    @property
    def known(self) -> Sequence[str]:
        """The names of all entries."""
        return self.names or [name for entry in self.entries for name in (entry.name, *entry.also)]


SCHEMES = dict.fromkeys((*get_args(types.Scheme), *get_args(types.StudyScheme)))
ADJUSTMENTS = (*get_args(types.Adjustment), *get_args(types.SequentialAdjustment)[1:])

# In the order of use: words of reports, what the options of the main commands take, and what studies have. A name that
# several kinds have is explained in this order.
USED = (
    Kind("terms", "word", "Terms used in reports", "in results"),
    Kind("columns", "head of a column", "Heads of columns", "in tables"),
    Kind("caveats", "kind of note", "Notes below reports", "caveats in CSV and JSON"),
    Kind("metrics", "metric", "Metrics", "-m", get_args(types.MetricName)),
    Kind("tokenizers", "tokenizer", "Tokenizers", "--tokenize", get_args(types.Tokenizer)),
    Kind("tests", "significance test", "Tests", "--test", get_args(types.TestChoice)),
    Kind("schemes", "scheme", "Schemes of shuffles", "--test ar:scheme=NAME", [*SCHEMES]),
    Kind("stopping", "stopping rule", "Stopping rules of shuffles", "--test ar:stopping=NAME",
         get_args(types.Stopping)),
    Kind("intervals", "confidence interval", "Intervals", "--interval", get_args(types.IntervalChoice)),
    Kind("adjustments", "adjustment for multiple tests", "Adjustments", "--adjust", ADJUSTMENTS),
    Kind("families", "family of tests", "Families", "--family", get_args(types.Family)),
    Kind("rules", "rule of gates", "Rules of gates", "reshuffle gate --rule", get_args(types.GateRule)),
    Kind("exchanges", "exchange unit of runs", "Exchange units of runs", "reshuffle runs --exchange",
         get_args(types.Exchange)),
    Kind("looks", "test while data arrive", "Tests while data arrive", "reshuffle watch --method",
         get_args(types.SequentialMethod)[1:]),
)  # fmt: skip
OF_STUDIES = (
    Kind("studies", "study", "Studies", "reshuffle study", get_args(types.Study)),
    Kind("nulls", "null hypothesis of studies", "Null hypotheses of studies", "--null", get_args(types.Null)),
    Kind("models", "model of the true difference", "Models of the true difference in studies of power", "--models",
         get_args(types.PowerModel)),
    Kind("coefficients", "coefficient of agreement with people", "Coefficients of agreement with people",
         "reshuffle meta --coefficient", get_args(types.MetaCoefficient)),
    Kind("meta_tests", "test of two metrics", "Tests of two metrics", "reshuffle meta --test",
         get_args(types.MetaTest)),
    Kind("optimizers", "optimizer of weights", "Optimizers of weights", "reshuffle tune",
         get_args(types.OptimizerName)),
)  # fmt: skip
KINDS = (*USED, *OF_STUDIES)

# Not in the lists of all names, because --help has them: commands, and options, for which all commands are imported.
COMMANDS = Kind("commands", "command", "Commands", "reshuffle COMMAND")
OPTIONS = Kind("options", "option", "Options", "reshuffle COMMAND --help")


# The word for all entries of all kinds.
EVERYTHING = "everything"


def chosen(names: Sequence[str]) -> list[tuple[Kind, list[Entry]]]:
    """The entries with these names, or of these kinds, in the order of the names; all by kind for none or "everything".

    A metric may be named as reports do, and a name with its kind (``nulls:margin``). :class:`~reshuffle.InputError` for
    a name that nothing has.
    """
    names = [name.lstrip("-") or name for name in names]
    if not names or EVERYTHING in names:
        return [(kind, kind.entries) for kind in KINDS]
    every = [*USED, OPTIONS, COMMANDS, *OF_STUDIES]
    metrics = next(kind.known for kind in KINDS if kind.key == "metrics")
    found: dict[str, tuple[Kind, list[Entry]]] = {}
    for given in names:
        of_kind, colon, own_name = given.partition(":")
        only = [kind for kind in every if colon and kind.is_called(of_kind)]
        name = own_name if only else given
        # No option and no caveat, for which much is imported, has the name of a metric.
        is_metric = metric_key(name) in metrics
        kinds = only or ([kind for kind in KINDS if kind.key != "caveats"] if is_metric else every)
        meant = [kind for kind in kinds if kind.is_called(name) or any(_same(each, name) for each in kind.known)]
        if not meant and not only:
            name = _head(name)
            meant = [kind for kind in KINDS if any(_same(each, name) for each in kind.known)]
        if not meant and not only:  # what reports call a test, which its entry has
            meant = [kind for kind in KINDS if any(_same(each, given) for one in kind.entries for each in one.also)]
            name = given if meant else name
        if not meant:
            raise _unknown(own_name if only else given, [each for kind in every for each in (*kind.known, kind.key)])
        # The list of a whole kind comes before an option of that name.
        for kind in sorted(meant, key=lambda kind: not kind.is_called(name)):
            own = [
                entry
                for entry in kind.entries
                if kind.is_called(name) or any(_same(each, name) for each in (entry.name, *entry.also))
            ]
            found[f"{kind.key} {own[0].name} {len(own)}"] = (kind, own)
    return list(found.values())


def _head(name: str) -> str:
    """The head of a column without what is particular to a table: the level, a number, an arrow, or which p it is.

    >>> [_head(head) for head in ("99% CI", "adj. p, welch", "α=0.05", "M, α=0.1", "prec_12", "5 runs", "TER ↓")]
    ['CI', 'welch', 'α', 'M', 'prec_n', 'n runs', 'TER']
    """
    name = re.sub(r"^(adj\. )?p, | [↑↓]$|(, α)?=[\d.,]+$|^[\d.]+% ", "", name)
    return re.sub(r"(?<=_)\d+$|^\d[\d,]*(?= )|(?<=for )[\d.]+$", "n", name) or name


def _same(known: str, name: str) -> bool:
    return known.casefold() == name.casefold().replace(" ", "-") or known == metric_key(name)


def _unknown(name: str, known: Sequence[str]) -> InputError:
    """The error for a name that nothing has: a list of more than a hundred names would not help."""
    for kind in KINDS:
        advice = name_advice(kind.key.removesuffix("s"), name)
        if advice is not None:
            return advice
    words, every = name.lower(), [each for kind in KINDS for each in kind.entries]
    about = [each for each in every if " " in words and words in each.about.lower()]
    about.sort(key=lambda each: each.about.lower().index(words))
    near = [each.name for each in about[:3]] or nearest(name, known, 3)
    meant = f": did you mean {either(map(quoted, near))}?" if near else ":"
    return InputError(f"unknown name {quoted(shortened(name))}{meant} 'reshuffle explain' lists all names")


Section: TypeAlias = tuple[str, list[str], list[list[str]]]
"""Title, header and rows of a table."""

OPTION_HEADER = ["Option", "Takes", "Default", "About"]
# The width of lines where the output is no terminal, and of the column of headings.
WIDTH, HEADINGS = 100, 17


def _list(kind: Kind, entries: Sequence[Entry]) -> Section:
    """All entries of a kind, a row each."""
    wording = wording_of(kind.key)
    columns = wording.get("columns", {})
    sources = {"Source": [entry.source or "–" for entry in entries]} if any(entry.source for entry in entries) else {}
    table = {
        "Name": [entry.name for entry in entries],
        wording.get("heading", "About"): [entry.about for entry in entries],
        **{heading: [str(entry.data[key]) for entry in entries] for heading, key in columns.items()},
        **sources,
    }
    unicode = f"; character classes from Unicode {_unicode()}" if kind.key == "tokenizers" else ""
    return (
        f"{kind.title} ({kind.chosen_by}){unicode}",
        [*table],
        [list(row) for row in zip(*table.values(), strict=True)],
    )


def _unicode() -> str:
    from .. import _core  # --help does not need it

    return _core.UNICODE_VERSION


def _options(entry: Entry) -> Section:
    """The options of a metric, a row each."""
    source = f" ({entry.source})" if entry.source else ""
    return f"{entry.name}: {entry.about}{source}", OPTION_HEADER, [list(row) for row in entry.options]


def _facts(entry: Entry) -> Iterable[tuple[str, str]]:
    yield "What", entry.about
    yield from entry.facts.items()
    if entry.source:
        yield "Source", entry.source


def as_text(terminal: Terminal, names: Sequence[str]) -> str:
    """For the terminal: an explanation of each name, or lists of all; without names, only the names of all."""
    if not names:
        return _overview(terminal.width or WIDTH)
    from rich import box
    from rich.table import Table
    from rich.text import Text

    out = io.StringIO()
    console = terminal.console(out)

    def show(section: Section) -> None:
        title, header, rows = section
        table = Table(title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
        for index, name in enumerate(header):
            table.add_column(Text(name), no_wrap=index == 0)
        for row in rows:
            table.add_row(*map(Text, row))
        console.print(table)

    explained: set[str] = set()
    for kind, entries in chosen(names):
        if EVERYTHING in names or kind.key in names:
            show(_list(kind, entries))
            continue
        for entry in entries:
            if kind in OF_STUDIES and entry.name in explained:
                also = f"Also a {kind.noun} ({kind.chosen_by}): 'reshuffle explain {kind.key}:{entry.name}'."
                console.print(Text(f"{also}\n"))
                continue
            explained.add(entry.name)
            console.print(Text(f"{entry.name}: {kind.noun} ({kind.chosen_by})", style="bold"))
            for heading, text in _facts(entry):
                console.print(Text(wrapped(heading, text, terminal.width or WIDTH)), soft_wrap=True)
            if entry.options:
                show(("", OPTION_HEADER, [list(row) for row in entry.options]))
            else:
                console.print()
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().rstrip("\n").splitlines())


def _overview(width: int) -> str:
    """The names of all kinds, and how to read more."""
    own = [", ".join(dict.fromkeys(kind.names or (each.name for each in kind.entries))) for kind in KINDS]
    kinds = [
        wrapped(kind.key, f"{kind.title} ({kind.chosen_by}): {names}", width)
        for kind, names in zip(KINDS, own, strict=True)
    ]
    more = {
        "NAME": "What a name stands for, with a metric's options. NAME may also be a command or an option.",
        "tests": "A line about each name of a kind, here of tests.",
        EVERYTHING: "A line about each name of all kinds.",
    }
    usage = (wrapped(word, about, width) for word, about in more.items())
    return "\n".join(["Names, by kind:", *kinds, "", "reshuffle explain ...", *usage, ""])


def wrapped(heading: str, text: str, width: int) -> str:
    """A heading, and beside it a text, whose lines are folded."""
    first = f"  {heading:{HEADINGS}}"
    indent = " " * len(first)
    lines = [
        textwrap.fill(
            line, width, initial_indent=indent if at else first, subsequent_indent=indent, break_long_words=False,
            break_on_hyphens=False,
        )
        for at, line in enumerate(text.split("\n"))
    ]  # fmt: skip
    return "\n".join(lines)


def as_markdown(terminal: Terminal, names: Sequence[str]) -> str:
    """The page docs/metrics.md, or its sections about these names."""
    parts = ["# Metrics, tests and other names", "Generated by `reshuffle explain --format markdown`."]
    metrics: list[Entry] = []
    for kind, entries in chosen(names):
        if kind.key == "metrics":
            metrics = entries
            parts += [part for entry in entries for part in _as_markdown(_options(entry))]
        elif names and kind.key not in names:
            parts += [part for entry in entries for part in _explained(kind, entry)]
        else:
            parts += _as_markdown(_list(kind, entries))
    if not names:
        parts.append("## Columns and signatures")
    for m in metrics:
        parts.append(f"A row of `{m.name}` holds: {m.facts['Counts']}. Signature: `{m.facts['Signature']}`.")
    return "\n\n".join(parts) + "\n"


def _as_markdown(section: Section) -> list[str]:
    title, header, rows = section
    lines = [header, ["---"] * len(header), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return [f"## {title}", "\n".join("| " + " | ".join(line) + " |" for line in lines)]


def _explained(kind: Kind, entry: Entry) -> list[str]:
    facts = "\n".join(f"- {heading}: {text}" for heading, text in _facts(entry))
    return [f"## {entry.name}: {kind.noun} ({kind.chosen_by})", facts]


def as_json(terminal: Terminal, names: Sequence[str]) -> str:
    """An object with a list for each kind of names, and the version of Unicode."""
    found: dict[str, Any] = {
        kind.key: [
            {"name": entry.name, "about": entry.about}
            | ({"source": entry.source} if entry.source else {})
            | dict(entry.data)
            | ({"facts": dict(entry.facts)} if entry.facts else {})
            for entry in entries
        ]
        for kind, entries in chosen(names)
    }
    return json.dumps({**found, "unicode": _unicode()}, indent=2, ensure_ascii=False) + "\n"


CATALOGUE_FORMATS: Mapping[str, Callable[[Terminal, Sequence[str]], str]] = {
    "text": as_text,
    "json": as_json,
    "markdown": as_markdown,
}
