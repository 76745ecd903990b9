"""A report before it has a format: what a result says, in the order in which a person reads it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeAlias

from ..documented import record
from ..types import Groups
from .cells import Table
from .methods import Methods


@record(slots=False)
class Paragraph:
    """Sentences about the table above them."""

    sentences: Sequence[str]
    about: str = ""
    """The test set that they are about. Formats with all sentences below the tables name it."""


# What labels of figures begin with.
FIGURE = "fig:"

Block: TypeAlias = Table | Paragraph


@record(slots=False)
class Page:
    """An HTML page: a template, and what it shows."""

    template: str
    scripts: Sequence[str]
    data: str
    """The JSON of the result."""
    values: Mapping[str, Any]
    """What stands for the names in the template."""


@record(slots=False)
class Picture:
    """A figure of a paper, as a PDF file."""

    content: bytes
    caption: str
    wide: bool
    """Whether it spans both columns of a page."""
    what: str = ""
    """What it shows, after "shows", for a sentence that refers to it."""
    groups: Sequence[Groups] = ()
    """Which of ranks and letters it has."""


@record(slots=False)
class References:
    """A sentence of a paper that refers to its tables or figures: their labels in LaTeX, and what they give or show.

    >>> References(["tab:a"], "gives", "the scores").says, References(["fig:a", "fig:b"], "shows", "them").says
    ('gives the scores', 'show them')
    """

    labels: Sequence[str]
    verb: str
    what: str

    @property
    def says(self) -> str:
        """What follows the labels."""
        return f"{self.verb if len(self.labels) == 1 else self.verb.removesuffix('s')} {self.what}"

    def named(self, reference: Callable[[str], str]) -> str:
        """The labels, as a format refers to them.

        >>> References(["tab:a"], "gives", "").named("({})".format)
        'Table~(tab:a)'
        >>> References(["fig:a", "fig:b"], "shows", "").named("({})".format)
        'Figures~(fig:a) and~(fig:b)'
        >>> References(["fig:a", "fig:b", "fig:c"], "shows", "").named("({})".format)
        'Figures~(fig:a)–(fig:c)'
        """
        first, *others = map(reference, self.labels)
        kind = "Figure" if self.labels[0].startswith(FIGURE) else "Table"
        if not others:
            return f"{kind}~{first}"
        return f"{kind}s~{first}{'–' if len(others) > 1 else ' and~'}{others[-1]}"


@record(slots=False)
class Document:
    """What every format for people writes."""

    blocks: Sequence[Block]
    """The most important table first."""
    notes: Sequence[str]
    """Sentences: what symbols mean, how the numbers were computed, and what to be careful about."""
    signature: str
    methods: Methods | None = None
    """The methods paragraph of a paper, if it is part of the report."""
    page: Callable[[], Page] | None = None
    """Makes the HTML page, for results that have one."""
    headline: str = ""
    """The verdict, for results that have one: a sentence above everything else."""
    marker: str = ""
    """In Markdown, a hidden word by which a program finds the comment that it has to update."""
    link: str | None = None
    """In Markdown, the address of the HTML page."""
    names: Collection[str] = ()
    """In papers, the names whose letters are no symbols of mathematics."""

    @property
    def tables(self) -> list[Table]:
        """The tables, in order."""
        return [block for block in self.blocks if isinstance(block, Table)]

    @property
    def sentences(self) -> list[str]:
        """What was found and the notes, for formats that have all sentences below the tables."""
        return [*self.found, *self.notes]

    @property
    def found(self) -> list[str]:
        """The headline and the sentences of all paragraphs, each with what it is about."""
        return [*filter(None, [self.headline]), *self.below_headline]

    @property
    def below_headline(self) -> list[str]:
        """The same without the headline."""
        paragraphs = [block for block in self.blocks if isinstance(block, Paragraph)]
        return [f"{each.about}: {text}" if each.about else text for each in paragraphs for text in each.sentences]
