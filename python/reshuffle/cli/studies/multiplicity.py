"""``reshuffle study multiplicity``."""

from __future__ import annotations

from typing import Any, get_args

import click

from ... import types
from ..command import Command, option
from ..options import any_of
from ..params import Name, NameList, NumberList
from .options import ARGUMENTS, SIZES, choice_of_tests, study_options

EXAMPLES = (
    "reshuffle study multiplicity ref.txt *.out",
    "reshuffle study multiplicity ref.txt *.out --n-systems 5 10 15 --adjust none holm maxt -n 2999",
    "reshuffle study multiplicity ref.txt *.out --variances unequal --tests ar permutation --size 500 -o family.json",
)

FAMILIES = (
    option(
        "Study",
        "--variances",
        multiple=True,
        type=NameList("value of --variances", get_args(types.Variances)),
        metavar="NAME...",
        help="How all systems are made equally good: equal (outputs are permuted, so systems are exchangeable) "
        "or unequal (better systems are degraded to the score of the worst, so variances differ).  [default: both]",
    ),
    option(
        "Study",
        "--n-systems",
        multiple=True,
        type=NumberList(int),
        metavar="N...",
        help="Compare the first N systems.  [default: all]",
    ),
    choice_of_tests("ar bootstrap-both bootstrap permutation", "; permutation is the randomised Tukey test"),
    option(
        "Study",
        "--adjustments",
        "--adjust",
        "adjustments",
        multiple=True,
        type=NameList("adjustment", [name for name in get_args(types.Adjustment) if name != "auto"]),
        metavar="NAME...",
        help="Adjustments for multiple tests: none, or names of --adjust of 'reshuffle compare'.  [default: all]",
    ),
    option(
        "Study",
        "--alphas",
        "--alpha",
        "alphas",
        multiple=True,
        type=NumberList(float),
        metavar="LEVEL...",
        help="Significance levels.  [default: 0.05]",
    ),
    option(
        "Study",
        "--equalize",
        type=Name("value of --equalize", get_args(types.Equalize)),
        metavar="NAME",
        help=f"For --variances unequal, how better systems are degraded: {any_of(types.Equalize)}.  [default: "
        "drop-words if the metrics count words]",
    ),
)


@click.command("multiplicity", cls=Command, examples=EXAMPLES, arguments=ARGUMENTS)
@study_options(FAMILIES, SIZES, pairs=False)
def multiplicity_command(**options: Any) -> None:
    """Family-wise error rates of adjustments for multiple tests.

    All pairs of systems are tested on simulated test sets in which all systems are equally good. The rate is the share
    of test sets with one or more rejections.
    """
    from ...study.multiplicity import FAMILY_ALPHAS, FAMILY_TESTS, MultiplicitySettings, multiplicity_of
    from .running import flattened, run_study

    options["tests"] = options["tests"] or (FAMILY_TESTS,)
    options["alphas"] = options["alphas"] or (FAMILY_ALPHAS,)
    own = MultiplicitySettings(
        flattened(options.pop("variances")) or MultiplicitySettings.variances,
        flattened(options.pop("n_systems")),
        flattened(options.pop("adjustments")),
        options.pop("equalize"),
    )
    run_study(options, lambda data, units, settings: multiplicity_of(data, units, settings, own))
