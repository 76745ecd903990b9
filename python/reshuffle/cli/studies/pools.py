"""``reshuffle study validate`` and ``samples``: studies of samples of a large test set."""

from __future__ import annotations

from typing import Any, get_args

import click

from ... import types
from ..command import Command, option
from ..options import Decorator
from ..params import Name, NameList, NumberList
from .options import ARGUMENTS, choice_of_tests, study_options


def _sizes(default: str) -> Decorator:
    return option(
        "Study",
        "--sizes",
        "--size",
        "sizes",
        multiple=True,
        type=NumberList(int),
        metavar="N...",
        help=f"Segments (with --docs, documents) in a sample.  [default: {default} at least ten samples]",
    )


LAYOUTS = option(
    "Study",
    "--layouts",
    "--layout",
    "layouts",
    multiple=True,
    type=NameList("layout", get_args(types.SampleLayout)),
    metavar="NAME...",
    help="broad (sample j takes every m-th segment from the j-th on) or block (consecutive segments).  [default: both]",
)
N_SAMPLES = option(
    "Study",
    "--n-samples",
    type=int,
    metavar="N",
    help="The number of samples.  [default: as many as fit]",
)


def _level(meaning: str) -> Decorator:
    return option(
        "Study",
        "--confidence",
        "confidence_level",
        type=float,
        default=0.95,
        show_default=True,
        metavar="LEVEL",
        help=meaning,
    )


TESTS = choice_of_tests("paired-bootstrap")
BINS = option(
    "Study",
    "--bins",
    "bins",
    multiple=True,
    type=NumberList(float),
    metavar="NUMBER...",
    help="Edges of the bins of differences, in points of the metric.  [default: 0 0.5 1 2 3 5]",
)

VALIDATE = (
    _sizes("those of 100, 300, 600 and 3000 that allow"),
    LAYOUTS,
    N_SAMPLES,
    option(
        "Study",
        "--truth",
        type=Name("truth", get_args(types.Truth)),
        default="complement",
        show_default=True,
        metavar="NAME",
        help="Which system counts as better: that with the better score on the rest of the test set (complement), or "
        "on all of it (whole), which contains the sample.",
    ),
    TESTS,
    option(
        "Study",
        "--baseline",
        metavar="NAME",
        help="Compare each system with this one only: a system or its file.  [default: all pairs]",
    ),
    _level("The confidence that a test needs to draw a conclusion."),
    BINS,
)

SAMPLES = (
    _sizes("the largest of 100, 300, 600 and 3000 that allows"),
    LAYOUTS,
    N_SAMPLES,
    option(
        "Study",
        "--interval",
        type=Name("interval", get_args(types.Interval)),
        default="koehn",
        show_default=True,
        metavar="NAME",
        help="Confidence intervals: names of --interval of 'reshuffle compare'.",
    ),
    _level("Confidence level of the intervals; also the share of draws won that a conclusion needs."),
    option(
        "Study",
        "--curve-sizes",
        "curve_sizes",
        multiple=True,
        type=NumberList(int),
        metavar="N...",
        help="Segments in the test sets of the curves.  [default: all, a half, a quarter … down to 50]",
    ),
    option(
        "Study",
        "--n-references",
        "n_references",
        multiple=True,
        type=NumberList(int),
        metavar="N...",
        help="References per segment in the curves: the first N.  [default: 1, 2, … up to all]",
    ),
)

# The defaults of n: 1,000 draws, as in the paper, where 95% means 950 of them.
DRAWS = 1000


def given(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """Take options out that the user has given, with repeated ones as one tuple."""
    from .running import flattened

    found = {name: options.pop(name) for name in names}
    return {
        name: flattened(value) if isinstance(value, tuple) else value
        for name, value in found.items()
        if value not in (None, ())
    }


@click.command(
    "validate",
    cls=Command,
    examples=(
        "reshuffle study validate ref.txt *.out",
        "reshuffle study validate ref.txt *.out --sizes 100 300 --layouts broad --truth whole",
        "reshuffle study validate ref.txt *.out --tests paired-bootstrap ar -o validation.json",
    ),
    arguments=ARGUMENTS,
)
@study_options(VALIDATE, pairs=False, simulations=None, n_resamples=DRAWS)
def validate_command(**options: Any) -> None:
    """How often tests on samples of a large test set draw the right conclusions.

    The test set is split into disjoint samples. On each sample all pairs of systems are tested, and the conclusions are
    compared with what the rest of the test set says.
    """
    from ...study.validation import ValidationSettings, validate_of
    from .running import run_study

    own = given(options, "sizes", "layouts", "n_samples", "truth", "tests", "confidence_level", "bins")
    run_study(
        options,
        lambda data, units, settings: validate_of(
            data, units, ValidationSettings(**own, baseline=settings.baseline), settings.resampling
        ),
    )


@click.command(
    "samples",
    cls=Command,
    examples=(
        "reshuffle study samples ref.txt a.txt b.txt --sizes 300",
        "reshuffle study samples ref.txt *.out --refs ref2.txt ref3.txt --curve-sizes 100 500 1000",
    ),
    arguments=ARGUMENTS,
)
@study_options(SAMPLES, simulations=None, n_resamples=DRAWS)
def samples_command(**options: Any) -> None:
    """Scores and intervals on samples of a large test set, and their precision by size and number of references.

    The test set is split into disjoint samples, whose scores, intervals and conclusions are compared with the scores on
    the whole test set.
    """
    from ...study.samples import SampleSettings, samples_of
    from .running import run_study

    names = ("sizes", "layouts", "n_samples", "interval", "confidence_level", "curve_sizes", "n_references")
    own = given(options, *names)
    run_study(
        options,
        lambda data, units, settings: samples_of(
            data,
            units,
            SampleSettings(**own, baseline=settings.baseline, all_pairs=settings.all_pairs),
            settings.resampling,
        ),
    )
