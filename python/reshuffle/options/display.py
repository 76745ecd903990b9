"""The options of reports of scores and comparisons, which only commands have."""

# Annotations are evaluated here, unlike elsewhere.

from typing import Annotated, ClassVar

from annotated_types import Ge, Le
from attrs import frozen

from .. import types
from .declare import SIZE, Flag, Options

# More decimals than a float has would be those of its binary form.
MAX_DIGITS = 15
Digits = Annotated[int | None, Ge(0), Le(MAX_DIGITS), Flag(metavar="N")]


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Display(Options):
    """How scores are displayed."""

    TITLE: ClassVar[str] = "Output"

    methods: bool = False
    """Add a methods paragraph for a paper, with BibTeX entries. Beside LaTeX and Typst they are in FILE.bib."""
    paper: Annotated[str | None, Flag(metavar="DIR")] = None
    """Also write to DIR what a paper needs: table, methods paragraph, BibTeX entries, figures as PDF, and facts for
    ACL's checklist.
    """
    digits: Digits = None
    """Decimals of scores and differences. By default chosen for each metric."""
    names: Annotated[str | None, Flag(metavar="FILE")] = None
    """Display names: a system, a tab and its name per line; or a JSON object."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class ComparisonDisplay(Display):
    """How comparisons are displayed."""

    pairs: Annotated[bool | None, Flag(("--pairs/--no-pairs",))] = None
    """Tables of pairs, with parts of differences. By default up to 12 tests."""
    groups: types.Groups | None = None
    """With --all-pairs, what shows which systems differ: letters, ranks or both. By default both; letters in LaTeX and
    Typst tables of several metrics.
    """
    columns: Annotated[int | None, Flag(metavar="1|2")] = None
    """In LaTeX and Typst, how many columns of the page a table spans. By default as many as it needs."""
    triangle: bool = False
    """With --all-pairs: differences as a triangular matrix (up to 20 systems)."""
    table: types.Table | None = None
    """The table to write as CSV: systems or pairs. By default with -o FILE.csv both, as FILE.systems.csv and
    FILE.pairs.csv; pairs on standard output.
    """
    since: Annotated[str | None, Flag(metavar="FILE")] = None
    """An earlier result (JSON, HTML): text, Markdown and HTML say what changed."""
    max_texts: Annotated[int | None, SIZE] = None
    """Largest size of the texts in HTML. By default 50MB."""
