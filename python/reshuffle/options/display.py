"""The options of reports of scores and comparisons, and of figures: those that a result decides on."""

# Annotations are evaluated here, unlike elsewhere.

from typing import Annotated, ClassVar

from annotated_types import Ge, Le
from attrs import frozen
from typing_extensions import Doc

from .. import types
from .declare import SIZE, Flag, Options

# More decimals than a float has would be those of its binary form.
Digits = Annotated[
    int | None,
    Ge(0),
    Le(15),
    Flag(metavar="N"),
    Doc("Decimals of scores and differences. By default chosen for each metric."),
]
NamesFile = Annotated[
    str | None, Flag(metavar="FILE"), Doc("Display names: a system, a tab and its name per line; or a JSON object.")
]


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Display(Options):
    """How a command displays scores."""

    TITLE: ClassVar[str] = "Output"

    methods: bool = False
    """Add a methods paragraph for a paper. BibTeX entries follow it; for LaTeX and Typst they are in FILE.bib."""
    paper: Annotated[str | None, Flag(metavar="DIR")] = None
    """Also write files for a paper to the folder DIR: tables, a paragraph, figures, BibTeX entries, and facts for
    ACL's checklist.
    """
    digits: Digits = None
    names: NamesFile = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Shown(Options):
    """What reports of comparisons show."""

    TITLE: ClassVar[str] = "Output"

    digits: Digits = None
    pairs: Annotated[bool | None, Flag(("--pairs/--no-pairs",))] = None
    """Tables of pairs, with parts of differences. By default up to 12 tests."""
    groups: types.Groups | None = None
    """Mark which systems differ: letters, ranks or both (if all pairs were compared). By default both; letters in
    LaTeX and Typst tables of several metrics.
    """
    columns: Annotated[int | None, Ge(1), Le(2), Flag(metavar="1|2")] = None
    """Columns of the page that a table spans (in LaTeX and Typst). By default as many as it needs."""
    triangle: bool = False
    """The differences of all pairs as a triangular matrix (up to 20 systems)."""
    max_texts: Annotated[int | None, Ge(0), SIZE] = None
    """Largest size of texts in HTML, in bytes of UTF-8. By default 50MB."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class ComparisonDisplay(Shown, Display):
    """How a command displays comparisons."""

    table: types.Table | None = None
    """The table to write as CSV: systems or pairs. By default with -o FILE.csv both, as FILE.systems.csv and
    FILE.pairs.csv; pairs on standard output.
    """
    since: Annotated[str | None, Flag(metavar="FILE")] = None
    """Say what changed since an earlier result (JSON, HTML). In text, Markdown and HTML."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class ShownSet(Options):
    """What only saved results have."""

    test_set: Annotated[str | None, Flag(("--set",), "NAME")] = None
    """Show only this one of several test sets. By default all, and their average."""


Name = Annotated[str | None, Flag(metavar="NAME")]
Inches = Annotated[float | None, Flag(metavar="INCHES")]


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class AnyFigure(Options):
    """What all figures have."""

    metric: Annotated[str | None, Flag(("-m", "--metric"), "NAME")] = None
    """The metric to plot. By default all, each in a panel."""
    test_set: Annotated[str | None, Flag(("--set",), "NAME")] = None
    """The test set to plot. By default the average over test sets."""
    width: Inches = None
    """Width of the figure. By default 3.03 (an ACL column), or 6.3 (both columns) if that is too narrow."""
    height: Inches = None
    """Height of the figure. By default as needed."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class ComparisonFigure(Options):
    """What only figures of comparisons have."""

    pair: Annotated[tuple[str, str] | None, Flag(metavar="SYS BASELINE")] = None
    """A system and its baseline (for null), as named in RESULT. By default the only pair."""
    baseline: Name = None
    """The system that is subtracted from the others (for forest). By default that of RESULT, else the best system."""
    names: NamesFile = None
    digits: Digits = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class StudyFigure(Options):
    """What only figures of studies have."""

    null: Name = None
    """For studies: the null hypothesis to plot. By default the only one."""
    size: int | None = None
    """For studies: the size of test sets. By default the only one."""
    test: Name = None
    """For figures of studies with one test. By default the only one."""
    alpha: Annotated[float | None, Flag(metavar="LEVEL")] = None
    """For figures of studies with one level."""
    layout: Name = None
    """For studies of samples: broad or block. By default the only one."""
    system: Name = None
    """For figures of studies with one system. By default the only one."""
    runs: int | None = None
    """For studies of runs: the number of runs. By default the only one."""
    coefficient: Name = None
    """For reshuffle meta: the coefficient. By default all, each in a panel."""
    grouping: Name = None
    """For reshuffle meta: none, sys or item. By default all, each in a panel."""
    smoothing: Name = None
    """For tune-smoothing: 1, 4, 6 or 7. By default the only one."""
    correlation: float | None = None
    """For studies of runs: the correlation between runs."""
    quantity: Name = None
    """For tune: what course shows. By default the only one."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Figure(StudyFigure, ComparisonFigure, AnyFigure):
    """The options of the command."""
