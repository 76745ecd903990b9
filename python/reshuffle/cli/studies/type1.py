"""``reshuffle study type1``."""

from __future__ import annotations

from typing import Any

import click

from ..command import Command
from .options import ALPHAS, ARGUMENTS, DESIGN, MARGINS, NULL_OPTIONS, NULLS, SIZES, STOPPING, TESTS, study_options

__all__ = ["type1_command"]

EXAMPLES = (
    "reshuffle study type1 ref.txt a.txt b.txt",
    "reshuffle study type1 ref.txt *.out --all-pairs --tests ar,bootstrap,bootstrap-shift -m bleu chrf",
    "reshuffle study type1 ref.txt a.txt b.txt --sizes 100 500 --simulations 10000 -n 199 -o type1.json",
)


@click.command("type1", cls=Command, examples=EXAMPLES, arguments=ARGUMENTS)
@study_options(NULLS, NULL_OPTIONS, TESTS, ALPHAS, SIZES, DESIGN, STOPPING, MARGINS)
def type1_command(**options: Any) -> None:
    """How often tests reject a null hypothesis that is true.

    Each simulation draws a test set from the outputs of two systems, in such a way that the null hypothesis is true,
    and runs every test on it. A valid test rejects in at most a share alpha of the simulations.
    """
    from ...study.type1 import type1_of
    from .running import flattened, null_options, run_study

    nulls, given = flattened(options.pop("nulls")) or ("swap",), null_options(options)
    run_study(options, lambda data, units, settings: type1_of(data, units, settings, nulls, given))
