"""``reshuffle study power``."""

from __future__ import annotations

from typing import Any, get_args

import click

from ... import types
from ..command import Command, option
from ..params import NameList, NumberList
from .options import ALPHAS, ARGUMENTS, DESIGN, SIZES, STOPPING, TESTS, study_options

EXAMPLES = (
    "reshuffle study power ref.txt a.txt b.txt --sizes 100 500 2000",
    "reshuffle study power ref.txt a.txt b.txt --tests ar bootstrap-shift --size-adjusted -m bleu chrf -o power.json",
    "reshuffle study power ref.txt a.txt b.txt --models real parametric --alpha 0.05",
    "reshuffle study power --models parametric --difference 0.5 1 2 --sizes 500 2000",
)

EFFECTS = option(
    "Study",
    "--effects",
    "--effect",
    "effects",
    multiple=True,
    type=NumberList(float),
    metavar="ETA...",
    help="Effect sizes η, from 0 (no difference) to 0.5 (the real pair).  [default: 0 0.1 0.2 0.3 0.4 0.5]",
)


def size_adjusted(default: bool) -> Any:
    """The option for size-adjusted power."""
    return option(
        "Study",
        "--size-adjusted/--not-adjusted",
        default=default,
        show_default=True,
        help="Size-adjusted power: choose the level of each test such that its type-I error is alpha, so that tests "
        "with different type-I errors can be compared.",
    )


OPTIONS = (
    option(
        "Study",
        "--models",
        "--model",
        "models",
        multiple=True,
        type=NameList("model", get_args(types.PowerModel)),
        metavar="NAME...",
        help="Models of the true difference: eta (a mixture of no difference and the real pair), real (the real pair), "
        "or parametric (the model of Card et al. 2020, fitted to the pair; test ar only).  [default: eta]",
    ),
    EFFECTS,
    size_adjusted(False),
)
WITHOUT_DATA = (
    option(
        "Study",
        "--difference",
        "--differences",
        "difference",
        multiple=True,
        type=NumberList(float),
        metavar="VALUE...",
        help="Without REF and SYS, for --models parametric: true differences, in BLEU points.  [default: 1]",
    ),
    option("Study", "--p-zero", type=float, metavar="VALUE", help="P₀ of the model of --difference.  [default: 0.13]"),
    option("Study", "--b-zero", type=float, metavar="VALUE", help="b₀ of the model of --difference.  [default: 25.8]"),
)


@click.command("power", cls=Command, examples=EXAMPLES, arguments=ARGUMENTS)
@study_options(OPTIONS, WITHOUT_DATA, TESTS, ALPHAS, SIZES, DESIGN[:1], STOPPING)
def power_command(**options: Any) -> None:
    """How often tests detect a difference.

    Test sets are simulated from the outputs of two systems, mixed so that their true difference is known. Type-M error:
    how many times larger significant differences are than the true one; type-S error: the share of them with the wrong
    sign.
    """
    from ...study.parametric_power import SwapOptions, parametric_power_of
    from ...study.power import EFFECTS as EVERY
    from ...study.power import PowerOptions, power_of
    from .running import flattened, run_study, run_without_data

    models, effects = flattened(options.pop("models")) or ("eta",), flattened(options.pop("effects")) or EVERY
    adjusted = options.pop("size_adjusted")
    parameters = {name: options.pop(name) for name in ("p_zero", "b_zero")}
    model = {name: value for name, value in parameters.items() if value is not None}
    difference = flattened(options.pop("difference"))
    given = PowerOptions(models, effects, adjusted)
    if options["reference"] is None and not options["scores"] and models == ("parametric",):
        swaps = SwapOptions(difference or (1.0,), **model, size_adjusted=adjusted)
        _check_test(flattened(options["tests"]))
        used = ("models", "difference", "p_zero", "b_zero", "size_adjusted", "tests")
        run_without_data(options, lambda settings: parametric_power_of(settings, swaps), used)
        return
    _check_no_model(difference, model)
    run_study(options, lambda data, units, settings: power_of(data, units, settings, given))


def _check_test(tests: Any) -> None:
    """:class:`InputError` for another test than ``ar``."""
    from ...errors import InputError

    if tests not in (None, ("ar",)):
        raise InputError(f"--tests {','.join(tests)}: --models parametric without REF and SYS is for the test ar only")


def _check_no_model(difference: Any, model: dict[str, float]) -> None:
    """:class:`InputError` for options of the model without data."""
    from ...errors import InputError

    used = [*(["--difference"] if difference else []), *(f"--{name.replace('_', '-')}" for name in model)]
    if used:
        raise InputError(
            f"{used[0]} is for --models parametric without REF and SYS; with them, the model is fitted: leave it out"
        )
