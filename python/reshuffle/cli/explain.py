"""``reshuffle explain``: everything that is chosen by name, as text, Markdown or JSON, made from the registries.

``entries/`` has what there is to say about each name.
"""

from __future__ import annotations

import io
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from .. import _core
from ..errors import InputError, either, nearest, quoted, shortened, unknown_name
from ..names import metric_key
from ..report import Terminal
from .entries import EVERY, KINDS, Entry, Kind
from .habits import name_advice

# The word for all entries of all kinds.
EVERYTHING = "everything"


def chosen(names: Sequence[str]) -> list[tuple[Kind, Sequence[Entry]]]:
    """The entries with these names, or of these kinds, in the order of the names; all by kind for none or "everything".

    A metric may be named as reports do, and a name with its kind (``nulls:margin``). A name with its hyphens is an
    option alone. :class:`~reshuffle.InputError` for a name that nothing has.
    """
    if not names or EVERYTHING in names:
        return [(kind, kind.entries) for kind in KINDS]
    metrics = next(kind.known for kind in KINDS if kind.key == "metrics")
    found: dict[str, tuple[Kind, Sequence[Entry]]] = {}
    for written in names:
        if written.startswith("-"):
            options = next(kind for kind in EVERY if kind.key == "options")
            option = [each for each in options.entries if _is(written.removeprefix("--"), (each.name, *each.also))]
            if option:
                found[written] = (options, option)
                continue
        given = written.lstrip("-") or written
        of_kind, colon, own_name = given.partition(":")
        only = [kind for kind in EVERY if colon and kind.is_called(of_kind)]
        name = own_name if only else given
        # No option and no caveat, for which much is imported, has the name of a metric.
        is_metric = metric_key(name) in metrics
        kinds = only or ([kind for kind in KINDS if kind.key != "caveats"] if is_metric else EVERY)
        called = {kind: own for kind in kinds if (own := _called(kind, name))}
        if not called and not only:
            called = {kind: own for kind in KINDS if (own := _called(kind, _head(name)))}
        if not called and not only:  # what reports call a test, which its entry has
            called = {kind: own for kind in KINDS if (own := [each for each in kind.entries if _is(name, each.also)])}
        if not called and colon and not only:
            called = _option_of(of_kind, own_name.partition("=")[0])
        whole = " ".join(names)
        if not called and len(names) > 1 and any(_called(kind, whole) for kind in EVERY):  # without quotes
            return chosen([whole])
        if not called:
            # Parts of the heads of columns, such as "for", are hardly meant.
            heads = [each for kind in EVERY if kind.key == "columns" for each in kind.known]
            whole_heads = [each.name for kind in EVERY if kind.key == "columns" for each in kind.entries]
            known = [each for kind in EVERY for each in (*kind.known, kind.key)]
            raise _unknown(name, [each for each in known if each not in heads or each in whole_heads])
        # The list of a whole kind comes before an option of that name.
        for kind, own in sorted(called.items(), key=lambda item: not item[0].is_called(name)):
            found[f"{kind.key} {own[0].name} {len(own)}"] = (kind, own)
    return list(found.values())


def _called(kind: Kind, name: str) -> Sequence[Entry]:
    """All entries of a kind with this name; else its entries with this name. Imports no registry if there are none."""
    if kind.is_called(name):
        return kind.entries
    return [each for each in kind.entries if _is(name, (each.name, *each.also))] if _is(name, kind.known) else []


def _option_of(owner: str, option: str) -> dict[Kind, Sequence[Entry]]:
    """The option that follows the name of a metric, a test or the like and a colon; none if that has no options."""
    options = next(kind for kind in EVERY if kind.key == "options")
    known = []
    for kind in KINDS:
        for entry in _called(kind, owner) if kind.options else ():
            for written, takes, default, about in entry.options:
                name = written.removeprefix("--")
                if _is(option, (name,)):
                    values = "; default ".join([takes, *([default] if default != "–" else [])])
                    place = f"{kind.chosen_by} {entry.name}:{name}=VALUE ({values})"
                    record = {"about": about, "written": place}
                    return {options: [Entry(f"{entry.name}:{name}", options, record)]}
                known.append(name)
    if known:
        raise unknown_name(f"option of {owner}", option, known)
    return {}


def _is_listed(kind: Kind, names: Sequence[str]) -> bool:
    """Whether one of the names is that of the kind, which stands for a line about each of its entries."""
    return any(kind.is_called(name) for name in names)


def _is(name: str, known: Sequence[str]) -> bool:
    """Whether a name is one of those that are known; a metric may be named as reports do."""
    written, key = name.casefold().replace(" ", "-"), metric_key(name)
    return any(each.casefold() in (written, written.replace("_", "-")) or each == key for each in known)


def _head(name: str) -> str:
    """The head of a column without what is particular to a table: the level, a number, an arrow, or which p it is.

    >>> [_head(head) for head in ("99% CI", "adj. p, welch", "α=0.05", "M, α=0.1", "prec_12", "5 runs", "TER ↓")]
    ['CI', 'welch', 'α', 'M', 'prec_n', 'n runs', 'TER']
    """
    name = re.sub(r"^(adj\. )?p, | [↑↓]$|(, α)?=[\d.,]+$|^[\d.]+% ", "", name)
    return re.sub(r"(?<=_)\d+$|^\d[\d,]*(?= )|(?<=for )[\d.]+$", "n", name) or name


def _unknown(name: str, known: Sequence[str]) -> InputError:
    """The error for a name that nothing has: a list of more than a hundred names would not help."""
    for kind in KINDS:
        advice = name_advice(kind.key.removesuffix("s"), name)
        if advice is not None:
            return advice
    words, every = name.lower(), [each for kind in KINDS for each in kind.entries]
    about = [each for each in every if " " in words and words in each.about.lower()]
    about.sort(key=lambda each: each.about.lower().index(words))
    begun = [each for each in known if len(words) > 2 and each.casefold().startswith(words)]
    within = [each for each in known if words in each.casefold().split("-")]
    near = [each.name for each in about[:3]] or begun[:3] or within[:3] or nearest(name, known, 3)
    meant = f": did you mean {either(map(quoted, near))}?" if near else ":"
    return InputError(f"unknown name {quoted(shortened(name))}{meant} 'reshuffle explain' lists all names")


Section: TypeAlias = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""Title, header and rows of a table."""

OPTION_HEADER = ["Option", "Takes", "Default", "About"]
# The width of lines where the output is no terminal, and of the column of headings.
WIDTH, HEADINGS = 100, 17


def _list(kind: Kind, entries: Sequence[Entry]) -> Section:
    """All entries of a kind, a row each."""
    sources = {"Source": [entry.source or "–" for entry in entries]} if any(entry.source for entry in entries) else {}
    table = {
        "Name": [entry.name for entry in entries],
        kind.heading: [entry.about for entry in entries],
        **{heading: [str(entry.data[key]) for entry in entries] for heading, key in kind.columns.items()},
        **sources,
    }
    unicode = f"; character classes from Unicode {_core.UNICODE_VERSION}" if kind.key == "tokenizers" else ""
    return f"{kind.title} ({kind.chosen_by}){unicode}", [*table], list(zip(*table.values(), strict=True))


def _options(entry: Entry) -> Section:
    """The options of a metric, a row each."""
    source = f" ({entry.source})" if entry.source else ""
    return f"{entry.name}: {entry.about}{source}", OPTION_HEADER, entry.options


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
            # Where there is room, an address is not broken; else it is folded, not cut.
            longest = max(len(word) for row in rows for word in row[index].split()) if name == "Source" else 0
            min_width = longest if (terminal.width or WIDTH) >= WIDTH else None
            table.add_column(Text(name), no_wrap=index == 0, min_width=min_width, overflow="fold")
        for row in rows:
            table.add_row(*map(Text, row))
        console.print(table)

    explained: set[str] = set()
    for kind, entries in chosen(names):
        if EVERYTHING in names or _is_listed(kind, names):
            show(_list(kind, entries))
            continue
        for entry in entries:
            if kind.part == "studies" and entry.name in explained:
                also = f"Also a {kind.noun} ({kind.chosen_by}): 'reshuffle explain {kind.key}:{entry.name}'."
                console.print(Text(f"{also}\n"))
                continue
            explained.add(entry.name)
            console.print(Text(f"{entry.name}: {kind.noun} ({kind.chosen_by})", style="bold"))
            for heading, text in _facts(entry):
                console.print(Text(wrapped(heading, text, terminal.width or WIDTH)), soft_wrap=True)
            if entry.options:
                show(("", OPTION_HEADER, entry.options))
            else:
                console.print()
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().rstrip("\n").splitlines())


def _overview(width: int) -> str:
    """The names of all kinds, and how to read more."""
    kinds = [wrapped(kind.key, f"{kind.title} ({kind.chosen_by}): {', '.join(kind.names)}", width) for kind in KINDS]
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
    metrics: Sequence[Entry] = []
    for kind, entries in chosen(names):
        if kind.key == "metrics":
            metrics = entries
            parts += [part for entry in entries for part in _as_markdown(_options(entry))]
        elif names and not _is_listed(kind, names):
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
    found: dict[str, list[Any]] = {}
    for kind, entries in chosen(names):
        found.setdefault(kind.key, []).extend(
            {"name": entry.name, "about": entry.about}
            | ({"source": entry.source} if entry.source else {})
            | dict(entry.data)
            | ({"facts": dict(entry.facts)} if entry.facts else {})
            for entry in entries
        )
    return json.dumps({**found, "unicode": _core.UNICODE_VERSION}, indent=2, ensure_ascii=False) + "\n"


CATALOGUE_FORMATS: Mapping[str, Callable[[Terminal, Sequence[str]], str]] = {
    "text": as_text,
    "json": as_json,
    "markdown": as_markdown,
}
