"""What ``reshuffle explain`` says about each name: texts of ``entries.toml``, filled in from the registries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from ...lazy import lazy
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
    """A name, what a registry has under it, and how ``entries.toml`` words things of this kind."""

    name: str
    record: Any
    wording: Mapping[str, Any]

    @lazy
    def about(self) -> str:
        """One line, for lists."""
        fields = self.wording.get("about", ["about"])
        return addressed(": ".join(filter(None, (self._of(field, "") for field in fields))))

    @lazy
    def source(self) -> str:
        """The paper, or empty."""
        return addressed(self._of("source", ""))

    @lazy
    def facts(self) -> Mapping[str, str]:
        """What else there is to say, by heading."""
        if isinstance(self.record, str):
            return {}
        known = {place.partition(":")[2]: _found(place) for place in self.wording.get("uses", ())}
        known |= {"name": self.name, "each": self.record, "options": self.options}
        texts = {}
        for heading, parts in self.wording.get("facts", {}).items():
            rendered = (
                _template(part).render(known).strip() for part in ([parts] if isinstance(parts, str) else parts)
            )
            texts[heading] = addressed(" ".join(filter(None, rendered)))
        return {heading: text for heading, text in texts.items() if text}

    @lazy
    def options(self) -> Sequence[Sequence[str]]:
        """Options: how each is written, what it takes, its default, its description."""
        place = self.wording.get("options")
        if place is None:
            return []
        from .options import options_after, rows

        return rows(options_after(place, self.name) if place.startswith("--") else self._of(place, {}))

    @property
    def data(self) -> Mapping[str, Any]:
        """Other values, for JSON."""
        values = {field: self._of(field, None) for field in self.wording.get("data", ())}
        return {field: value for field, value in values.items() if value is not None}

    @property
    def also(self) -> Sequence[str]:
        """Other names by which it is found."""
        called = self._of(self.wording.get("also", ""), "").replace(" ", "-")
        return [*self._of("also", ()), *filter(None, [called])]

    def _of(self, field: str, default: Any) -> Any:
        """A field of the record. A text is all that is known of its name."""
        if isinstance(self.record, str):
            return self.record if field == "about" else default
        return (
            self.record.get(field, default) if isinstance(self.record, dict) else getattr(self.record, field, default)
        )


def entries_of(kind: str) -> list[Entry]:
    """The entries of a kind."""
    wording = wording_of(kind)
    registries = [found() if callable(found) else found for found in map(_found, wording["records"])]
    records = {name: record for registry in registries for name, record in registry.items()}
    return [Entry(name, record, wording) for name, record in records.items()]


def wording_of(kind: str) -> Mapping[str, Any]:
    """What ``entries.toml`` has of a kind."""
    wording: Mapping[str, Any] = _wordings()[kind]
    return wording


@cache
def _wordings() -> Mapping[str, Any]:
    return loads((HERE / "entries.toml").read_text("utf-8"))


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
