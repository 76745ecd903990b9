"""``reshuffle plan``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import click

from ... import types
from ...errors import InputError
from ..command import Command, option
from ..params import Margin, NameList, NumberList
from .options import ARGUMENTS, TESTS, study_options

EXAMPLES = (
    "reshuffle plan ref.txt a.txt b.txt",
    "reshuffle plan ref.txt a.txt b.txt --difference bleu=1.0 --power 0.8 0.9",
    "reshuffle plan ref.txt *.out -m bleu chrf --difference bleu=1 chrf2=0.5 --sizes 500 1000 2000",
    "reshuffle plan ref.txt a.txt b.txt --difference bleu=0.5 --tests ar bootstrap-both -o plan.html",
    "reshuffle plan --scores rating a.ratings b.ratings --difference rating=2",
)

OPTIONS = (
    option(
        "Plan",
        "--difference",
        "--differences",
        "difference",
        multiple=True,
        type=Margin(),
        metavar="METRIC=VALUE...",
        help="Differences to detect, in points of the metric.",
    ),
    option(
        "Plan",
        "--power",
        "power",
        multiple=True,
        type=NumberList(float),
        metavar="P...",
        help="Target power: the probability of detecting a difference.  [default: 0.8]",
    ),
    option(
        "Plan",
        "--sizes",
        "--size",
        "sizes",
        multiple=True,
        type=NumberList(int),
        metavar="N...",
        help="Segments (with --docs, documents) of the planned test sets.  [default: 1/4, 1/2, 1, 2 and 4 times the "
        "size of the data]",
    ),
    option("Plan", "--alpha", type=float, default=0.05, show_default=True, metavar="LEVEL", help="Significance level."),
    option(
        "Plan",
        "--family-size",
        type=int,
        metavar="N",
        help="Number of tests adjusted together; each is planned at level alpha/N.  [default: the number of pairs]",
    ),
)
SIMULATE = (
    option(
        "Plan",
        "--simulate/--no-simulate",
        default=True,
        help="Simulate the power of --tests on test sets drawn from the data, or use that of a z-test (quick).  "
        "[default: simulate]",
    ),
    option(
        "Plan",
        "--tests",
        "--test",
        "tests",
        multiple=True,
        type=NameList("test", get_args(types.Test)),
        metavar="NAME...",
        help="Simulated tests: names of --test of 'reshuffle compare'.  [default: bootstrap-both]",
    ),
)


@click.command("plan", cls=Command, examples=EXAMPLES, arguments=ARGUMENTS)
@study_options(OPTIONS, TESTS[1:], SIMULATE, simulations=2000)
def plan_command(**options: Any) -> None:
    """Plan a test set: what it can detect, and how large it must be.

    From outputs of systems like those to be compared: the minimum detectable difference of test sets of several sizes,
    and for given differences, the power and the number of segments needed. Power is that of the default test of
    'reshuffle compare', of equal expected scores, simulated on mixtures of the outputs.
    """
    from ...study.design import DesignOptions, plan_of
    from .running import flattened, run_study

    differences: dict[str, tuple[float, ...]] = {}
    for name, value in options.pop("difference"):
        differences[name] = (*differences.get(name, ()), value)
    powers, alpha = flattened(options.pop("power")), options.pop("alpha")
    family_size, simulate = options.pop("family_size"), options.pop("simulate")
    given = DesignOptions(differences, powers or DesignOptions().powers, family_size, simulate)
    if not simulate:
        _check_not_simulated()
    options["tests"] = options["tests"] or (("bootstrap-both",),)
    run_study(options, lambda data, units, settings: plan_of(data, units, replace(settings, alphas=(alpha,)), given))


def _check_not_simulated() -> None:
    """Raise :class:`InputError` for an option of the simulation with ``--no-simulate``."""
    context = click.get_current_context()
    for name, flag in (("tests", "--tests"), ("simulations", "--simulations"), ("n_resamples", "-n")):
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise InputError(f"{flag} is for simulated tests: leave it out, or --no-simulate")
