"""What ``reshuffle explain`` says about each name, from the registries: a module for names that need the same ones."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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
        object.__setattr__(self, "about", addressed(self.about))
        object.__setattr__(self, "source", addressed(self.source))
        object.__setattr__(self, "facts", {heading: addressed(text) for heading, text in self.facts.items() if text})
