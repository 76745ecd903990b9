"""What ``reshuffle explain`` says about each name, from the registries: a module for names that need the same ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Entry:
    """A name and what it stands for."""

    name: str
    about: str
    """One line, for lists."""
    source: str = ""
    """The paper, or empty."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What else there is to say, by heading. Empty texts are left out."""
    options: Sequence[Sequence[str]] = ()
    """Options: how each is written, what it takes, its default, its description."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Other values, for JSON."""
    also: Sequence[str] = ()
    """Other names by which it is found."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", {heading: text for heading, text in self.facts.items() if text})
