"""The options of ``reshuffle plot``. The result decides which of them a figure has."""

# Annotations are evaluated here, unlike elsewhere.

from typing import Annotated

from attrs import frozen

from .declare import Flag, Options
from .display import Digits, NamesFile

Name = Annotated[str | None, Flag(metavar="NAME")]
Inches = Annotated[float | None, Flag(metavar="INCHES")]


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class AnyFigure(Options):
    """What all figures have."""

    metric: Annotated[str | None, Flag(("-m", "--metric"), "NAME")] = None
    """The metric to plot. By default all in comparisons, each in a panel, and the only one in studies."""
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
    """For null: a system and its baseline, as named in RESULT. By default the only pair."""
    baseline: Name = None
    """For forest: the system that is subtracted from the others. By default that of RESULT, else the best system."""
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
    """For reshuffle meta: the coefficient. By default the only one."""
    grouping: Name = None
    """For reshuffle meta: none, sys or item. By default the only one."""
    smoothing: Name = None
    """For tune-smoothing: 1, 4, 6 or 7. By default the only one."""
    correlation: float | None = None
    """For studies of runs: the correlation between runs."""
    quantity: Name = None
    """For tune: what course shows. By default the only one."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Figure(StudyFigure, ComparisonFigure, AnyFigure):
    """The options of the command."""
