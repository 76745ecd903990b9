"""``reshuffle study agreement``."""

from __future__ import annotations

from typing import Any, get_args

import click

from ... import types
from ...errors import InputError
from ..command import Command, option
from ..params import Name, NumberList
from .options import ARGUMENTS, choice_of_tests, study_options
from .pools import BINS, given

AGREEMENT = (
    choice_of_tests("ar bootstrap-both bootstrap bootstrap-shift paired-bootstrap"),
    option(
        "Study",
        "--alphas",
        "--alpha",
        "levels",
        multiple=True,
        type=NumberList(float),
        metavar="LEVEL...",
        help="Significance levels.  [default: 0.05]",
    ),
    option(
        "Study",
        "--domains",
        metavar="FILE",
        help="Domain ids, one per segment: check whether the winners on one domain also win on the others.",
    ),
    option(
        "Study",
        "--halves",
        type=Name("layout", get_args(types.SampleLayout)),
        default="broad",
        show_default=True,
        metavar="NAME",
        help="Without --domains, check whether the winners on one half also win on the other: broad (every other "
        "segment) or block (the first and the second half).",
    ),
    BINS,
)


@click.command(
    "agreement",
    cls=Command,
    examples=(
        "reshuffle study agreement ref.txt *.out -m bleu chrf ter",
        "reshuffle study agreement ref.txt *.out --tests ar bootstrap --domains domains.txt",
        "reshuffle study agreement ref.txt *.out --format csv --table tests",
    ),
    arguments=ARGUMENTS,
)
@study_options(AGREEMENT, pairs=False, simulations=None)
def agreement_command(**options: Any) -> None:
    """Whether several tests and metrics agree on which systems differ.

    All pairs of systems are tested. The report shows on how many pairs tests or metrics agree, how large a difference
    must be to be significant, and how often the winner on one part of the test set also wins on another part.
    """
    from ...settings import Units
    from ...study.agreement import AgreementSettings, agreement_of
    from .running import run_study

    if options["strata"] is not None:
        raise InputError("--strata does not apply to studies: leave it out")
    options["strata"] = options.pop("domains")
    own = given(options, "tests", "levels", "halves", "bins")
    if "levels" in own:
        own["alphas"] = own.pop("levels")
    run_study(
        options,
        lambda data, units, settings: agreement_of(
            data, Units(units.documents), AgreementSettings(**own, domains=units.strata), settings.resampling
        ),
        has_domains=True,
    )
