"""What ``reshuffle explain`` says about each name: texts of ``kinds.toml``, filled in from the registries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

from ... import types
from ...lazy import lazy
from ...options.declare import several
from ...toml import loads

HERE = Path(__file__).parent
# A paper's id in the ACL Anthology, where it is not part of an address.
ACL_ID = re.compile(r"(?<![/\w.])(?:[A-Z]\d\d-\d{4}|\d{4}\.[a-z\d]+-[a-z\d]+\.\d+)\b")


def addressed(text: str) -> str:
    """A text with the addresses of papers for their ids in the ACL Anthology.

    >>> addressed("W05-0908, Fig. 1; 2021.wmt-1.57")
    'https://aclanthology.org/W05-0908, Fig. 1; https://aclanthology.org/2021.wmt-1.57'
    """
    return ACL_ID.sub(r"https://aclanthology.org/\g<0>", text)


@dataclass(frozen=True)
class Entry:
    """A name of a kind, and what a registry has under it."""

    name: str
    kind: Kind
    record: Any

    @lazy
    def about(self) -> str:
        """One line, for lists."""
        return addressed(": ".join(filter(None, (self._of(field, "") for field in self.kind.about))))

    @lazy
    def source(self) -> str:
        """The paper, or empty."""
        return addressed(self._of("source", ""))

    @lazy
    def facts(self) -> Mapping[str, str]:
        """What else there is to say, by heading. Empty if the registry has only a line of text."""
        if isinstance(self.record, str):
            return {}
        known = {place.partition(":")[2]: _found(place) for place in self.kind.uses}
        known |= {"name": self.name, "each": self.record, "options": self.options}
        texts = {}
        for heading, parts in self.kind.facts.items():
            rendered = [_template(part).render(known).strip() for part in several(parts)]
            texts[heading] = addressed(" ".join(filter(None, rendered)))
        return {heading: text for heading, text in texts.items() if text}

    @lazy
    def options(self) -> Sequence[Sequence[str]]:
        """Options: how each is written, what it takes, its default, its description."""
        if not self.kind.options:
            return []
        from .options import options_after, rows

        is_flag = self.kind.options.startswith("--")
        return rows(options_after(self.kind.options, self.name) if is_flag else self._of(self.kind.options, {}))

    @property
    def data(self) -> Mapping[str, Any]:
        """Other values, for JSON."""
        values = {field: self._of(field, None) for field in self.kind.data}
        return {field: value for field, value in values.items() if value is not None}

    @property
    def also(self) -> Sequence[str]:
        """Other names by which it is found."""
        called = self._of(self.kind.also, "").replace(" ", "-")
        return [*self._of("also", ()), *filter(None, [called])]

    def _of(self, field: str, default: Any) -> Any:
        """A field of the record."""
        record = {"about": self.record} if isinstance(self.record, str) else self.record
        return record.get(field, default) if isinstance(record, dict) else getattr(record, field, default)


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of things that are chosen by name: a table of ``kinds.toml``."""

    key: str
    """Its name in JSON, which ``reshuffle explain`` also takes."""
    noun: str
    """What one is, and the heading of all."""
    title: str
    chosen_by: str
    """The option or command with which one is chosen."""
    records: Sequence[str]
    """The registries (``MODULE:NAME``), functions that make one, or files of TOML. A later one replaces entries of the
    earlier ones.
    """
    types: Sequence[str] = ()
    """The types whose names they are, in :mod:`reshuffle.types`: known without the registries."""
    part: str = ""
    """``commands``: left out of the list of all names, because ``--help`` has them. ``studies``: of an entry that
    another kind has, too, only a line is shown.
    """
    about: Sequence[str] = ("about",)
    """The fields in the line about each."""
    also: str = ""
    """A field that is another name of each, besides those in a field ``also``."""
    options: str = ""
    """The field with the options of each, or the option (``--test``) by which one with options is chosen."""
    data: Sequence[str] = ()
    """The fields in JSON."""
    heading: str = "About"
    """In lists, the heading of the line about each."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """In lists, the headings of other fields, which are in ``data``."""
    uses: Sequence[str] = ()
    """What else the texts need (``MODULE:NAME``)."""
    facts: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    """The texts, by heading."""

    @lazy
    def names(self) -> Sequence[str]:
        """Their names: without the entries, where types have them."""
        of_types = dict.fromkeys(name for each in self.types for name in get_args(getattr(types, each)))
        return [*of_types] or [entry.name for entry in self.entries]

    @lazy
    def entries(self) -> Sequence[Entry]:
        """All of them."""
        registries = [found() if callable(found) else found for found in map(_found, self.records)]
        records = {name: record for registry in registries for name, record in registry.items()}
        return [Entry(name, self, record) for name, record in records.items()]

    @property
    def known(self) -> Sequence[str]:
        """Their names; also other names of entries, unless types list the names."""
        return self.names if self.types else [*self.names, *(name for entry in self.entries for name in entry.also)]

    def is_called(self, name: str) -> bool:
        """Whether the kind has this name."""
        return name.casefold() in (self.key, self.key.removesuffix("s"))


EVERY = tuple(Kind(key, **table) for key, table in loads((HERE / "kinds.toml").read_text("utf-8")).items())
# Without options and commands, which would import all commands.
KINDS = tuple(kind for kind in EVERY if kind.part != "commands")


@cache
def _template(text: str) -> Any:
    import jinja2  # lists do not need it

    return jinja2.Template(text)


def _found(place: str) -> Any:
    """What ``MODULE:NAME`` names in the package, or the contents of a file of TOML here."""
    if place.endswith(".toml"):
        return loads((HERE / place).read_text("utf-8"))
    module, _, name = place.partition(":")
    return getattr(import_module(f"{__package__.partition('.')[0]}.{module}"), name)
