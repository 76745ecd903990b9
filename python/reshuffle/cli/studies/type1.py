"""``reshuffle study type1``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..command import Command
from .options import ALPHAS, ARGUMENTS, DESIGN, MARGINS, NULL_OPTIONS, NULLS, SIZES, STOPPING, TESTS, study_options
from .variants import TRAINING, Training

if TYPE_CHECKING:
    from ...resampling.counting import Data
    from ...results.studies import StudyResult
    from ...settings import Units
    from ...study.settings import StudySettings

EXAMPLES = (
    "reshuffle study type1 ref.txt a.txt b.txt",
    "reshuffle study type1 ref.txt *.out --all-pairs --tests ar,bootstrap,bootstrap-shift -m bleu chrf",
    "reshuffle study type1 ref.txt a.txt b.txt --sizes 100 500 --simulations 10000 -n 199 -o type1.json",
    "reshuffle study type1 test.ref --null variants --train dev.nbest dev.ref --apply test.nbest",
)


@click.command("type1", cls=Command, examples=EXAMPLES, arguments=ARGUMENTS)
@study_options(NULLS, NULL_OPTIONS, TRAINING, TESTS, ALPHAS, SIZES, DESIGN, STOPPING, MARGINS)
def type1_command(**options: Any) -> None:
    """How often tests reject a null hypothesis that is true.

    Each simulation draws a test set from the outputs of two systems, in such a way that the null hypothesis is true,
    and runs every test on it. A valid test rejects in at most a share alpha of the simulations.
    """
    from ...study.type1 import type1_of
    from .running import flattened, null_options, run_study

    nulls = flattened(options.pop("nulls")) or ("swap",)
    training = Training.from_options(options, nulls)
    given = null_options(options)

    def compute(data: Data, units: Units, settings: StudySettings) -> StudyResult:
        trained = given if training is None else replace(given, variants=training.result)
        return type1_of(data, units, settings, nulls, trained)

    run_study(options, compute, made=training)
