"""The options of ``reshuffle plot``. The result decides which of them a figure has."""

# Annotations are evaluated here, unlike elsewhere.

from typing import Annotated

from attrs import frozen
from typing_extensions import Doc

from .declare import Flag, Options
from .display import Digits

Name = Annotated[str | None, Flag(metavar="NAME")]
Inches = Annotated[float | None, Flag(metavar="INCHES")]


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class AnyFigure(Options):
    """What all figures have."""

    metric: Annotated[Name, Doc("The metric to plot. By default the only one.")] = None
    test_set: Annotated[
        str | None, Flag(("--set",), "NAME"), Doc("The test set to plot. By default the average over test sets.")
    ] = None
    width: Annotated[
        Inches,
        Doc("Width of the figure. By default 3.03 (an ACL column), or 6.3 (both columns) if that is too narrow."),
    ] = None
    height: Annotated[Inches, Doc("Height of the figure. By default as needed.")] = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class ComparisonFigure(Options):
    """What only figures of comparisons have."""

    pair: Annotated[
        tuple[str, str] | None,
        Flag(metavar="SYS BASELINE"),
        Doc("For null: a system and its baseline, as named in RESULT. By default the only pair."),
    ] = None
    baseline: Annotated[
        Name,
        Doc(
            "For forest: the system that is subtracted from the others. By default that of RESULT, else the best "
            "system."
        ),
    ] = None
    names: Annotated[
        str | None,
        Flag(metavar="FILE"),
        Doc("Display names: on each line a system, a tab and the name to display; or a JSON object."),
    ] = None
    digits: Annotated[Digits, Doc("Decimals of scores and differences. By default by metric.")] = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class StudyFigure(Options):
    """What only figures of studies have."""

    null: Annotated[Name, Doc("For studies: the null hypothesis to plot. By default the only one.")] = None
    size: Annotated[int | None, Doc("For studies: the size of test sets. By default the only one.")] = None
    test: Annotated[Name, Doc("For figures of studies with one test. By default the only one.")] = None
    alpha: Annotated[float | None, Flag(metavar="LEVEL"), Doc("For figures of studies with one level.")] = None
    layout: Annotated[Name, Doc("For studies of samples: broad or block. By default the only one.")] = None
    system: Annotated[Name, Doc("For figures of studies with one system. By default the only one.")] = None
    runs: Annotated[int | None, Doc("For studies of runs: the number of runs. By default the only one.")] = None
    coefficient: Annotated[Name, Doc("For reshuffle meta: the coefficient. By default the only one.")] = None
    grouping: Annotated[Name, Doc("For reshuffle meta: none, sys or item. By default the only one.")] = None
    smoothing: Annotated[Name, Doc("For tune-smoothing: 1, 4, 6 or 7. By default the only one.")] = None
    correlation: Annotated[float | None, Doc("For studies of runs: the correlation between runs.")] = None
    quantity: Annotated[Name, Doc("For tune: what course shows. By default the only one.")] = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Figure(StudyFigure, ComparisonFigure, AnyFigure):
    """The options of the command."""
