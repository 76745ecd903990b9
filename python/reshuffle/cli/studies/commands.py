"""The commands of ``reshuffle study``, and ``reshuffle plan``."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from ...errors import InputError
from ...options import studies as records
from ..command import Command
from ..declared import declared_options, given_values, made
from .options import ARGUMENTS, study_options
from .variants import TRAINING, Training


@click.command(
    "type1",
    cls=Command,
    examples=(
        "reshuffle study type1 ref.txt a.txt b.txt",
        "reshuffle study type1 ref.txt *.out --all-pairs --tests ar,bootstrap,bootstrap-shift -m bleu chrf",
        "reshuffle study type1 ref.txt a.txt b.txt --sizes 100 500 --simulations 10000 -n 199 -o type1.json",
        "reshuffle study type1 test.ref --null variants --train dev.nbest dev.ref --apply test.nbest",
    ),
    arguments=ARGUMENTS,
)
@study_options(records.Type1, TRAINING)
def type1_command(**options: Any) -> None:
    """How often tests reject a null hypothesis that is true.

    Each simulation draws a test set from the outputs of two systems, in such a way that the null hypothesis is true,
    and runs every test on it. A valid test rejects in at most a share alpha of the simulations.
    """
    from ...study import type1
    from .running import run_study

    values = given_values(records.Type1, options)
    training = Training.from_options(options, values.get("null", ("swap",)))
    run_study(type1, made(records.Type1, values), options, made=training)


@click.command(
    "multiplicity",
    cls=Command,
    examples=(
        "reshuffle study multiplicity ref.txt *.out",
        "reshuffle study multiplicity ref.txt *.out --n-systems 5 10 15 --adjust none holm maxt -n 2999",
        "reshuffle study multiplicity ref.txt *.out --variances unequal --tests ar permutation --size 500 "
        "-o family.json",
    ),
    arguments=ARGUMENTS,
)
@study_options(records.Multiplicity)
def multiplicity_command(**options: Any) -> None:
    """Family-wise error rates of adjustments for multiple tests.

    All pairs of systems are tested on simulated test sets in which all systems are equally good. The rate is the share
    of test sets with one or more rejections.
    """
    from ...study import multiplicity
    from .running import run_study

    run_study(multiplicity, made(records.Multiplicity, given_values(records.Multiplicity, options)), options)


# The options of a model without data.
MODEL = ("difference", "p_zero", "b_zero")


@click.command(
    "power",
    cls=Command,
    examples=(
        "reshuffle study power ref.txt a.txt b.txt --sizes 100 500 2000",
        "reshuffle study power ref.txt a.txt b.txt --tests ar bootstrap-shift --size-adjusted -m bleu chrf "
        "-o power.json",
        "reshuffle study power ref.txt a.txt b.txt --models real parametric --alpha 0.05",
        "reshuffle study power --models parametric --difference 0.5 1 2 --sizes 500 2000",
    ),
    arguments=ARGUMENTS,
)
@study_options(records.Power, declared_options(records.ParametricPower, MODEL))
def power_command(**options: Any) -> None:
    """How often tests detect a difference.

    Test sets are simulated from the outputs of two systems, mixed so that their true difference is known. Type-M error:
    how many times larger significant differences are than the true one; type-S error: the share of them with the wrong
    sign. Without REF and SYS, --models parametric has the true differences of --difference.
    """
    from ...study import parametric_power, power
    from .running import run_study, run_without_data

    if options["reference"] is None and not options["scores"] and options["models"] == (("parametric",),):
        if options["tests"] not in ((), (("ar",),)):
            raise InputError("--tests: --models parametric without REF and SYS is for the test ar only: leave it out")
        run_without_data(parametric_power, records.ParametricPower, options, ("models", "tests"))
        return
    for name, flag in zip(MODEL, ("--difference", "--p-zero", "--b-zero"), strict=True):
        if options.pop(name) not in (None, ()):
            raise InputError(
                f"{flag} is for --models parametric without REF and SYS; with them, the model is fitted: leave it out"
            )
    run_study(power, made(records.Power, given_values(records.Power, options)), options)


@click.command(
    "sensitivity",
    cls=Command,
    examples=(
        "reshuffle study sensitivity ref.txt baseline.txt new.txt",
        "reshuffle study sensitivity ref.txt baseline.txt *.variant -m bleu nist chrf --sizes 500",
        "reshuffle study sensitivity ref.txt a.txt b.txt -m bleu nist depf --parses ref.conllu a.conllu b.conllu",
    ),
    arguments=ARGUMENTS,
)
@study_options(records.Sensitivity)
def sensitivity_command(**options: Any) -> None:
    """Which metric shows the difference of two systems most clearly.

    For each metric: the difference of the two systems divided by its standard error, p-values, and the power of tests
    on mixtures of the two systems; and the differences in power between metrics. The default metrics are bleu and nist.
    """
    from ...study import sensitivity
    from .running import run_study

    run_study(sensitivity, made(records.Sensitivity, given_values(records.Sensitivity, options)), options)


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
@study_options(records.Validate)
def validate_command(**options: Any) -> None:
    """How often tests on samples of a large test set draw the right conclusions.

    The test set is split into disjoint samples. On each sample all pairs of systems are tested, and the conclusions are
    compared with what the rest of the test set says.
    """
    from ...study import validate
    from .running import run_study

    run_study(validate, made(records.Validate, given_values(records.Validate, options)), options)


@click.command(
    "samples",
    cls=Command,
    examples=(
        "reshuffle study samples ref.txt a.txt b.txt --sizes 300",
        "reshuffle study samples ref.txt *.out --refs ref2.txt ref3.txt --curve-sizes 100 500 1000",
    ),
    arguments=ARGUMENTS,
)
@study_options(records.Samples)
def samples_command(**options: Any) -> None:
    """Scores and intervals on samples of a large test set, and their precision by size and number of references.

    The test set is split into disjoint samples, whose scores, intervals and conclusions are compared with the scores on
    the whole test set.
    """
    from ...study import samples
    from .running import run_study

    run_study(samples, made(records.Samples, given_values(records.Samples, options)), options)


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
@study_options(records.Agreement)
def agreement_command(**options: Any) -> None:
    """Whether several tests and metrics agree on which systems differ.

    All pairs of systems are tested. The report shows on how many pairs tests or metrics agree, how large a difference
    must be to be significant, and how often the winner on one part of the test set also wins on another part.
    """
    from ...study import agreement
    from .running import check_no_strata, run_study

    check_no_strata(options)
    values = given_values(records.Agreement, options)
    options["strata"] = values.pop("domains", None)
    run_study(agreement, made(records.Agreement, values), options, strata="domains")


@click.command(
    "exchange",
    cls=Command,
    examples=(
        "reshuffle study exchange",
        "reshuffle study exchange --exchange segment cell pooled multeval --runs 3 5 --correlation 0.54 "
        "--run-sd 0 0.77",
        "reshuffle study exchange ref.txt run*.txt --runs 3 --sizes 500 -m bleu -o exchange.json",
    ),
    arguments=(
        (
            "REF, RUN",
            "The reference, and the outputs of runs of one system, in the formats of 'reshuffle compare'. Without "
            "them, scores are simulated.",
        ),
    ),
)
@study_options(records.Exchange)
def exchange_command(**options: Any) -> None:
    """How often tests of optimizer runs reject if configurations do not differ.

    Scores of runs are simulated from a model, or two sets of runs of one real system are compared. A valid test rejects
    in at most a share alpha of the simulations, whatever the variance between runs.
    """
    from ...study import exchange
    from .running import run_study, run_without_data

    if options["reference"] is None and not options["scores"]:
        run_without_data(exchange, records.Exchange, options, of_files=("sampling",))
        return
    values = given_values(records.Exchange, options)
    for name in ("run_sd", "correlation"):
        if name in values:
            flag = f"--{name.replace('_', '-')}"
            raise InputError(f"{flag} is for simulated scores: leave out {flag}, or the files")
    run_study(exchange, made(records.Exchange, values), options)


@click.command(
    "plan",
    cls=Command,
    examples=(
        "reshuffle plan ref.txt a.txt b.txt",
        "reshuffle plan ref.txt a.txt b.txt --difference bleu=1.0 --power 0.8 0.9",
        "reshuffle plan ref.txt *.out -m bleu chrf --difference bleu=1 chrf2=0.5 --sizes 500 1000 2000",
        "reshuffle plan ref.txt a.txt b.txt --difference bleu=0.5 --tests ar bootstrap-both -o plan.html",
        "reshuffle plan --scores rating a.ratings b.ratings --difference rating=2",
    ),
    arguments=ARGUMENTS,
)
@study_options(records.Plan)
def plan_command(**options: Any) -> None:
    """Plan a test set: what it can detect, and how large it must be.

    From outputs of systems like those to be compared: the minimum detectable difference of test sets of several sizes,
    and for given differences, the power and the number of segments needed. Power is that of the default test of
    'reshuffle compare', of equal expected scores, simulated on mixtures of the outputs.
    """
    from ...study import plan
    from .running import run_study

    if options["simulate"] is False:
        context = click.get_current_context()
        for name, flag in (("tests", "--tests"), ("simulations", "--simulations"), ("n_resamples", "-n")):
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise InputError(f"{flag} is for simulated tests: leave it out, or --no-simulate")
    run_study(plan, made(records.Plan, given_values(records.Plan, options)), options)


COMMANDS = {
    command.name or "": command
    for command in (
        type1_command,
        multiplicity_command,
        power_command,
        sensitivity_command,
        validate_command,
        samples_command,
        agreement_command,
        exchange_command,
    )
}
