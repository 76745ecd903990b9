"""``reshuffle study sensitivity``."""

from __future__ import annotations

from typing import Any, get_args

import click

from ... import types
from ..command import Command, option
from ..params import NameList
from .options import ALPHAS, ARGUMENTS, DESIGN, SIZES, TESTS, study_options
from .power import EFFECTS, size_adjusted

EXAMPLES = (
    "reshuffle study sensitivity ref.txt baseline.txt new.txt",
    "reshuffle study sensitivity ref.txt baseline.txt *.variant -m bleu nist chrf --sizes 500",
    "reshuffle study sensitivity ref.txt a.txt b.txt -m bleu nist depf --parses ref.conllu a.conllu b.conllu",
)

OWN_TESTS = option(
    "Study",
    "--tests",
    "--test",
    "tests",
    multiple=True,
    type=NameList("test", get_args(types.Test)),
    metavar="NAME...",
    help="Tests, separated by commas or spaces: names of --test of 'reshuffle compare'.  [default: ar bootstrap]",
)


@click.command("sensitivity", cls=Command, examples=EXAMPLES, arguments=ARGUMENTS)
@study_options((OWN_TESTS, *TESTS[1:]), (EFFECTS, size_adjusted(True)), ALPHAS, SIZES, DESIGN[:1])
def sensitivity_command(**options: Any) -> None:
    """Which metric shows the difference of two systems most clearly.

    For each metric: the difference of the two systems divided by its standard error, p-values, and the power of tests
    on mixtures of the two systems; and the differences in power between metrics. The default metrics are bleu and nist.
    """
    from ...data.count_files import is_count_file
    from ...study.power import EFFECTS as EVERY
    from ...study.power import PowerOptions
    from ...study.sensitivity import SENSITIVITY_TESTS, sensitivity_of
    from ..metric_options import MetricChoice
    from .running import flattened, run_study

    effects = flattened(options.pop("effects")) or EVERY
    given = PowerOptions(("eta",), effects, options.pop("size_adjusted"))
    options["tests"] = options["tests"] or (SENSITIVITY_TESTS,)
    if not options["metrics"] and not options["scores"] and not is_count_file(options["reference"] or ""):
        options["metrics"] = [MetricChoice("bleu"), MetricChoice("nist")]
    run_study(options, lambda data, units, settings: sensitivity_of(data, units, settings, given))
