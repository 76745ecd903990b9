"""The commands of ``reshuffle study``, and ``plan``, ``watch`` and ``human``: tables, from which they are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from ...errors import InputError
from ...options import studies as records
from ...options.declare import options_of
from ...options.files import HumanFiles, Unstratified, WatchFiles
from ...options.human import HumanOptions
from ...options.watch import WatchOptions
from .. import options as shared
from ..declared import Decorator, declared_options, given_values, made
from ..options import COUNTS, EXECUTOR, METRICS, file_options, metrics_option, report_command, table_options
from .variants import TRAINING, Training

ARGUMENTS = (("REF, SYS", shared.TEXTS), *COUNTS)

# The options that ``--help`` shows of each study that has them.
COMMON = (
    "scores", "documents", "metrics", "tests", "alphas", "sizes", "simulations", "n_resamples", "seed", "checkpoint",
    "outputs", "fmt",
)  # fmt: skip


class Study(NamedTuple):
    """A study on the command line."""

    record: Any
    """Its options."""
    about: str
    """The help."""
    examples: Sequence[str]
    common: Sequence[str]
    """Options that ``--help`` shows; ``--help-all`` shows all."""
    arguments: Sequence[tuple[str, str]] = ARGUMENTS
    """The arguments and what they are."""
    systems: str | None = "SYS SYS..."
    """What stands for the outputs in the usage; None for studies without data."""
    files: type[Unstratified] = Unstratified
    """The files of the outputs."""
    least: int = 2
    """How many systems there must be."""
    metrics: Sequence[Decorator] = METRICS
    others: Sequence[Decorator] = (EXECUTOR,)
    """Options beside those of the record."""
    module: str = "study"
    """Where the function with the name of the command is."""
    prepare: Callable[[dict[str, Any], dict[str, Any]], Mapping[str, Any]] | None = None
    """Checks the given values of the record, and the other options. Returns keyword arguments of
    :func:`~reshuffle.cli.studies.running.run_study`.
    """
    without_data: Callable[[dict[str, Any]], bool] | None = None
    """Computes the study if the options have no files, and returns whether it did."""


def command_of(name: str, study: Study) -> click.Command:
    """The command that calls the function of this name."""

    @report_command(
        name,
        () if study.systems is None else (*file_options(study.files), *study.metrics),
        declared_options(study.record),
        (*study.others, *table_options()),
        systems=study.systems,
        help=study.about,
        examples=study.examples,
        arguments=study.arguments if study.systems else (),
        common=study.common,
    )
    def command(**options: Any) -> None:
        from . import running

        function = getattr(import_module(f"reshuffle.{study.module}"), name)
        if study.systems is None:
            running.run_without_data(function, study.record, options)
            return
        if study.without_data is not None and study.without_data(options):
            return
        values = given_values(study.record, options)
        more = {} if study.prepare is None else study.prepare(values, options)
        running.run_study(function, made(study.record, values), options, study.files, study.least, **more)

    return command


def _has_data(options: Mapping[str, Any]) -> bool:
    return options["reference"] is not None or bool(options["scores"])


def _variants(values: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Type-I error: systems that the command trains itself."""
    return {"made": Training.from_options(options, values.get("null", ("swap",)))}


# The options of a model of power without data.
MODEL = ("difference", "p_zero", "b_zero")


def _fitted(values: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Power: no options of a model that is fitted to the data."""
    for name, flag in zip(MODEL, ("--difference", "--p-zero", "--b-zero"), strict=True):
        if options.pop(name) not in (None, ()):
            raise InputError(
                f"{flag} is for --models parametric without REF and SYS; with them, the model is fitted: leave it out"
            )
    return {}


def _parametric(options: dict[str, Any]) -> bool:
    """Power of a model without data."""
    if _has_data(options) or options["models"] != (("parametric",),):
        return False
    from ...study import parametric_power
    from .running import run_without_data

    if options["tests"] not in ((), (("ar",),)):
        raise InputError("--tests: --models parametric without REF and SYS is for the test ar only: leave it out")
    run_without_data(parametric_power, records.ParametricPower, options, ("models", "tests"))
    return True


def _of_runs(values: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Exchange: no options of simulated scores beside files."""
    for name in ("run_sd", "correlation"):
        if name in values:
            flag = f"--{name.replace('_', '-')}"
            raise InputError(f"{flag} is for simulated scores: leave out {flag}, or the files")
    return {}


def _simulated_scores(options: dict[str, Any]) -> bool:
    """Exchange on scores that are simulated."""
    if _has_data(options):
        return False
    from ...study import exchange
    from .running import run_without_data

    run_without_data(exchange, records.Exchange, options, of_files=("sampling",))
    return True


def _simulation(values: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Plan: no options of simulations without any."""
    if values.get("simulate") is False:
        context = click.get_current_context()
        for name, flag in (("tests", "--tests"), ("simulations", "--simulations"), ("n_resamples", "-n")):
            if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                raise InputError(f"{flag} is for simulated tests: leave it out, or --no-simulate")
    return {}


STUDIES: Mapping[str, Study] = {
    "type1": Study(
        records.Type1,
        """How often tests reject a null hypothesis that is true.

        Each simulation draws a test set from the outputs of two systems, in such a way that the null hypothesis is
        true, and runs every test on it. A valid test rejects in at most a share alpha of the simulations.
        """,
        examples=(
            "reshuffle study type1 ref.txt a.txt b.txt",
            "reshuffle study type1 ref.txt *.out --all-pairs --tests ar,bootstrap,bootstrap-shift -m bleu chrf",
            "reshuffle study type1 ref.txt a.txt b.txt --sizes 100 500 --simulations 10000 -n 199 -o type1.json",
            "reshuffle study type1 test.ref --null variants --train dev.nbest dev.ref --apply test.nbest",
        ),
        common=(*COMMON, "null", "all_pairs"),
        others=(*TRAINING, EXECUTOR),
        prepare=_variants,
    ),
    "multiplicity": Study(
        records.Multiplicity,
        """Family-wise error rates of adjustments for multiple tests.

        All pairs of systems are tested on simulated test sets in which all systems are equally good. The rate is the
        share of test sets with one or more rejections.
        """,
        examples=(
            "reshuffle study multiplicity ref.txt *.out",
            "reshuffle study multiplicity ref.txt *.out --n-systems 5 10 15 --adjust none holm maxt -n 2999",
            "reshuffle study multiplicity ref.txt *.out --variances unequal --tests ar permutation --size 500 "
            "-o family.json",
        ),
        common=(*COMMON, "variances", "n_systems", "adjustments"),
    ),
    "power": Study(
        records.Power,
        """How often tests detect a difference.

        Test sets are simulated from the outputs of two systems, mixed so that their true difference is known. Type-M
        error: how many times larger significant differences are than the true one; type-S error: the share of them with
        the wrong sign. Without REF and SYS, --models parametric has the true differences of --difference.
        """,
        examples=(
            "reshuffle study power ref.txt a.txt b.txt --sizes 100 500 2000",
            "reshuffle study power ref.txt a.txt b.txt --tests ar bootstrap-shift --size-adjusted -m bleu chrf "
            "-o power.json",
            "reshuffle study power ref.txt a.txt b.txt --models real parametric --alpha 0.05",
            "reshuffle study power --models parametric --difference 0.5 1 2 --sizes 500 2000",
        ),
        common=(*COMMON, "models", "effects", "size_adjusted", "difference"),
        others=(*declared_options(records.ParametricPower, MODEL), EXECUTOR),
        prepare=_fitted,
        without_data=_parametric,
    ),
    "sensitivity": Study(
        records.Sensitivity,
        """Which metric shows the difference of two systems most clearly.

        For each metric: the difference of the two systems divided by its standard error, p-values, and the power of
        tests on mixtures of the two systems; and the differences in power between metrics. The default metrics are bleu
        and nist.
        """,
        examples=(
            "reshuffle study sensitivity ref.txt baseline.txt new.txt",
            "reshuffle study sensitivity ref.txt baseline.txt *.variant -m bleu nist chrf --sizes 500",
            "reshuffle study sensitivity ref.txt a.txt b.txt -m bleu nist depf --parses ref.conllu a.conllu b.conllu",
        ),
        common=(*COMMON, "effects", "size_adjusted"),
    ),
    "validate": Study(
        records.Validate,
        """How often tests on samples of a large test set draw the right conclusions.

        The test set is split into disjoint samples. On each sample all pairs of systems are tested, and the conclusions
        are compared with what the rest of the test set says.
        """,
        examples=(
            "reshuffle study validate ref.txt *.out",
            "reshuffle study validate ref.txt *.out --sizes 100 300 --layouts broad --truth whole",
            "reshuffle study validate ref.txt *.out --tests paired-bootstrap ar -o validation.json",
        ),
        common=(*COMMON, "layouts", "truth", "confidence_level"),
    ),
    "samples": Study(
        records.Samples,
        """Scores and intervals on samples of a large test set, and their precision by size and number of references.

        The test set is split into disjoint samples, whose scores, intervals and conclusions are compared with the
        scores on the whole test set.
        """,
        examples=(
            "reshuffle study samples ref.txt a.txt b.txt --sizes 300",
            "reshuffle study samples ref.txt *.out --refs ref2.txt ref3.txt --curve-sizes 100 500 1000",
        ),
        common=(*COMMON, "layouts", "curve_sizes", "n_references"),
    ),
    "agreement": Study(
        records.Agreement,
        """Whether several tests and metrics agree on which systems differ.

        All pairs of systems are tested. The report shows on how many pairs tests or metrics agree, how large a
        difference must be to be significant, and how often the winner on one part of the test set also wins on another
        part.
        """,
        examples=(
            "reshuffle study agreement ref.txt *.out -m bleu chrf ter",
            "reshuffle study agreement ref.txt *.out --tests ar bootstrap --domains domains.txt",
            "reshuffle study agreement ref.txt *.out --format csv --table tests",
        ),
        common=(*COMMON, "domains", "halves"),
        prepare=lambda values, options: {"domains": values.pop("domains", None)},  # ids that are read from a file
    ),
    "exchange": Study(
        records.Exchange,
        """How often tests of optimizer runs reject if configurations do not differ.

        Scores of runs are simulated from a model, or two sets of runs of one real system are compared. A valid test
        rejects in at most a share alpha of the simulations, whatever the variance between runs.
        """,
        examples=(
            "reshuffle study exchange",
            "reshuffle study exchange --exchange segment cell pooled multeval --runs 3 5 --correlation 0.54 "
            "--run-sd 0 0.77",
            "reshuffle study exchange ref.txt run*.txt --runs 3 --sizes 500 -m bleu -o exchange.json",
        ),
        common=(*COMMON, "exchange", "runs", "run_sd", "correlation"),
        arguments=(
            (
                "REF, RUN",
                "The reference, and the outputs of runs of one system, in the formats of 'reshuffle compare'. Without "
                "them, scores are simulated.",
            ),
        ),
        systems="RUN RUN...",
        prepare=_of_runs,
        without_data=_simulated_scores,
    ),
    "gate": Study(
        records.Gate,
        """How often a gate allows and rejects, and how often tests decide while data arrive.

        Segment scores of two systems are simulated, on one task (a metric on a test set) or several. The new system is
        as good as the baseline, or worse by exactly the margin on one task or on all. If the error rates
        hold, an equal system is rejected, and a worse one allowed, in no more than a share alpha of the simulations.
        """,
        examples=(
            "reshuffle study gate",
            "reshuffle study gate --tasks 20 --margin 4 --sizes 500 -n 399",
            "reshuffle study gate --methods betting sign naive once --differences 10% --sizes 2000 --tasks 1",
        ),
        common=(*COMMON, "methods", "tasks", "correlation", "margin", "differences"),
        systems=None,
    ),
}

PLAN = Study(
    records.Plan,
    """Plan a test set: what it can detect, and how large it must be.

    From outputs of systems like those to be compared: the minimum detectable difference of test sets of several sizes,
    and for given differences, the power and the number of segments needed. Power is simulated on
    mixtures of the outputs, for the tests that --tests names (by default bootstrap-both, as in 'reshuffle compare').
    """,
    examples=(
        "reshuffle plan ref.txt a.txt b.txt",
        "reshuffle plan ref.txt a.txt b.txt --difference bleu=1.0 --power 0.8 0.9",
        "reshuffle plan ref.txt *.out -m bleu chrf --difference bleu=1 chrf2=0.5 --sizes 500 1000 2000",
        "reshuffle plan ref.txt a.txt b.txt --difference bleu=0.5 --tests ar bootstrap-both -o plan.html",
        "reshuffle plan --scores rating a.ratings b.ratings --difference rating=2",
    ),
    common=(*COMMON, "difference", "power", "alpha", "simulate"),
    prepare=_simulation,
)

WATCH = Study(
    WatchOptions,
    """Test while data arrive, however often you look.

    Give all segments so far, in the order in which they came, as often as you like. The probability of any wrong
    verdict is at most --alpha (for corpus metrics about that) over all looks together, which 'reshuffle compare' cannot
    promise.
    """,
    examples=(
        "reshuffle watch --scores accuracy old.txt new.txt --bounds 0 1",
        "reshuffle watch ref.txt old.txt new.txt -m bleu chrf -o watch.html",
        "reshuffle watch ref.txt old.txt new.txt --method obrien-fleming --looks 5 --planned 3000",
    ),
    common=(*shared.COMMON, *options_of(WatchOptions)),
    arguments=(*shared.ARGUMENTS, *COUNTS),
    systems="BASELINE SYS...",
    files=WatchFiles,
    others=(),
    module="watch",
)


def _labelled(values: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Human: labels, and a metric of texts if there are texts."""
    if not options["scores"]:
        raise InputError("no labels: give them as --scores NAME FILE, empty or NaN where there are none")
    if options["reference"] is not None and not options["metrics"]:
        raise InputError(
            "there are texts, but no metric that scores them: add one to predict the labels, such as -m chrf"
        )
    return {}


HUMAN = Study(
    HumanOptions,
    """Compare systems by people's labels of some segments and a metric that scores all.

    One of --scores has people's labels, with missing scores where there are none. The other metrics predict them. The
    better they do so, the more certain the estimate; how much the metric was worth is shown in labels.
    """,
    examples=(
        "reshuffle human --scores MQM a.mqm b.mqm --scores COMET a.comet b.comet",
        "reshuffle human ref.txt a.txt b.txt -m chrf --scores MQM a.mqm b.mqm",
        "reshuffle human --scores ann ann.tsv --scores bob bob.tsv --scores judge judge.tsv --human ann bob",
        "reshuffle human --scores people labels.tsv --scores judge judge.tsv -o human.html",
    ),
    common=(*shared.COMMON, *options_of(HumanOptions)),
    arguments=shared.ARGUMENTS,
    systems="BASELINE SYS...",
    files=HumanFiles,
    least=1,
    metrics=metrics_option("none"),
    others=(),
    prepare=_labelled,
    module="human",
)

COMMANDS = {name: command_of(name, study) for name, study in STUDIES.items()}
plan_command = command_of("plan", PLAN)
watch_command = command_of("watch", WATCH)
human_command = command_of("human", HUMAN)
