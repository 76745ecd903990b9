"""The commands of comparisons: options in, a report out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast, get_args

import click
from attrs import evolve
from click.shell_completion import CompletionItem

from .. import types
from ..errors import InputError, printable
from ..options.comparisons import CompareSets, Score, SegmentScoring
from ..options.declare import call, options_of, taken
from ..options.display import ComparisonDisplay, Display, ShownSet
from ..options.files import FlipFiles, SetFiles, Sets
from ..options.flips import FlipOptions
from .declared import declared_options, given_values, made, taken_options
from .help import WithHelp
from .params import Name, option
from .shared import (
    METRICS,
    all_of,
    any_of,
    file_options,
    full_option,
    output_options,
    report_command,
    table_option,
)

if TYPE_CHECKING:
    from ..results import Comparison, SegmentTable, SetComparison

# A command imports what it runs in its body: --help and completion should not wait for numpy.


@report_command(
    "compare",
    file_options(SetFiles),
    declared_options(Sets),
    METRICS,
    declared_options(CompareSets),
    declared_options(ComparisonDisplay),
    systems="SYS SYS...",
    output=output_options(tables=get_args(types.Table)),
)
def compare_command(reference: str | None, systems: tuple[str, ...], **options: Any) -> None:
    from ..comparing import compared
    from ..sets import common_texts, compared_sets
    from ..settings import ComparisonSettings
    from .inputs.sets import checked_sets, read_sets
    from .job import started
    from .layout import displayed
    from .output import Output

    output = Output.from_options(options)
    values = given_values(CompareSets, options)
    output = displayed(output, taken_options(ComparisonDisplay, options), "texts" in values.get("include", ()))
    include = dict.fromkeys((*values.get("include", ()), *(("parts",) if output.needs_parts else ())))
    chosen = made(CompareSets, {"sets": {}, **values, "include": include})
    testing = ComparisonSettings.from_options(chosen)
    inputs = checked_sets(reference, systems, options, chosen.threads)
    if inputs.is_one and (chosen.missing_systems != "error" or not chosen.average):
        option = "--missing-systems" if chosen.average else "--no-average"
        raise InputError(f"{option} is for several test sets: add --set or --manifest, or leave it out")
    if inputs.is_one and chosen.family in ("set", "sets"):
        alone = "all" if chosen.family == "set" else "metric"
        raise InputError(
            f"--family {chosen.family} is for several test sets: add --set or --manifest, or use --family {alone}"
        )
    with started(output, inputs.paths, chosen.workers) as job:
        of_files = (each.system(chosen.baseline) for each in inputs.sets.values())
        baseline = next((name for name in of_files if name != chosen.baseline), chosen.baseline)
        testing = evolve(testing, baseline=baseline)
        sets = read_sets(inputs)
        if not testing.all_pairs:
            next(iter(inputs.sets.values())).note_baseline(chosen.baseline)
        names = dict.fromkeys(name for each in sets.values() for name in each.data.names)
        in_all = [name for name in names if all(name in each.data.names for each in sets.values())]
        output.check_systems([*names], testing.all_pairs, compared=len(in_all))
        if "texts" in testing.include:
            output.check_texts(common_texts(sets))
        resampling = job.resampling(chosen)

        def compute() -> Comparison | SetComparison:
            if inputs.is_one:
                (only,) = sets.values()
                return compared(only.data, only.units, testing, resampling)
            return compared_sets(sets, testing, resampling, chosen.average, chosen.missing_systems)

        job.report(compute)


@report_command(
    "score",
    file_options(SetFiles),
    METRICS,
    declared_options(Score),
    (
        option(
            "--segments",
            is_flag=True,
            help="Write the score of every segment (with --docs, of every document), as "
            f"{any_of(types.SegmentFormat)}.",
        ),
    ),
    declared_options(Display),
    systems="SYS...",
    output=output_options((*get_args(types.Format), *get_args(types.SegmentFormat)), "text; tsv with --segments"),
)
def score_command(reference: str | None, systems: tuple[str, ...], segments: bool, **options: Any) -> None:
    from ..compare import segment_scores
    from ..comparing import scored
    from ..sets import SetData
    from ..settings import ComparisonSettings
    from .inputs.sets import given_files
    from .inputs.test_set import Input
    from .job import started
    from .layout import displayed
    from .output import Output

    wanted = taken_options(Score, options)
    interval, confidence_level = wanted.interval, wanted.confidence_level
    scoring = ComparisonSettings.for_scores(interval, confidence_level)
    files = given_files(SetFiles, options, reference, systems)
    test_set = Input.checked(files, least=1, threads=wanted.threads)
    test_set.check_source()
    known, default = (types.SegmentFormat, "tsv") if segments else (types.Format, "text")
    if segments and wanted.executor is not None:
        raise InputError("--workers: segments are scored by this process: give a number of threads")
    _check_score_format(options["fmt"], segments, {"--interval": interval, "--confidence": confidence_level})
    output = Output.from_options(options, get_args(known), default)
    display = taken_options(Display, options)
    for name, value in (("digits", display.digits), ("names", display.names), ("paper", output.paper)):
        if segments and value is not None:
            raise InputError(
                f"--segments writes a table of segments, with all digits and the names of the input: leave out --{name}"
            )
    output = displayed(output, display)
    if scoring.interval is None:
        _check_no_ids(files, segments or any(m.uses_documents for m in test_set.metrics))
    with started(output, test_set.paths, wanted.workers) as job:
        found = test_set.read(stored_ids=not segments and scoring.interval is not None)

        def compute() -> SegmentTable | Comparison:
            if segments:
                own = taken(SegmentScoring, found, workers=wanted.threads, progress=job.progress)
                return call(segment_scores, own)
            data, units = SetData.of(found)
            output.check_systems(data.names)
            return scored(data, units, scoring, job.resampling(wanted))

        result = job.report(compute)
    if segments:  # tsv and jsonl have no place for it
        click.echo(f"Signature: {printable(result.signature)}", err=True)


def _check_no_ids(files: SetFiles, documents_matter: bool) -> None:
    """Raise :class:`InputError` for ids that scores without intervals do not depend on."""
    for flag, of, path in (("--docs", "documents", files.documents), ("--strata", "strata", files.strata)):
        if path is None or (documents_matter and of == "documents"):
            continue
        among = ", or add --segments for scores of documents" if of == "documents" else ""
        raise InputError(
            f"{flag} without --confidence or --interval: only intervals depend on {of}; leave it out{among}"
        )


def _check_score_format(fmt: str | None, segments: bool, interval_options: dict[str, Any]) -> None:
    """Raise :class:`InputError` if the output format does not suit ``--segments`` or its absence."""
    for flag, value in interval_options.items():
        if segments and value is not None:
            raise InputError(f"--segments has no intervals: leave out {flag}")
    of_segments, others = get_args(types.SegmentFormat), get_args(types.Format)
    if fmt is not None and segments and fmt not in of_segments:
        raise InputError(f"--segments writes {' or '.join(of_segments)}, not {fmt}")
    if fmt is not None and not segments and fmt not in others:
        raise InputError(f"--format {fmt} needs --segments: add it, or choose {', '.join(others)}")


@report_command(
    "flips",
    file_options(FlipFiles),
    METRICS,
    declared_options(FlipOptions),
    systems="BASELINE SYS",
    output=output_options(get_args(types.FlipFormat)),
)
def flips_command(reference: str | None, systems: tuple[str, ...], **options: Any) -> None:
    from ..flips import flips
    from .inputs.sets import given_files
    from .inputs.test_set import Input
    from .job import started
    from .output import Output

    chosen = taken_options(FlipOptions, options)
    files = given_files(FlipFiles, options, reference, systems)
    test_set = Input.checked(files, least=2, threads=chosen.threads)
    test_set.check_source()
    if len(test_set.known_metrics) + len(files.numbers) != 1:
        names = [*(metric.key for metric in test_set.known_metrics), *files.numbers]
        raise InputError(f"flips are computed for one metric, got {len(names)} ({', '.join(names)}): choose one")
    with started(Output.from_options(options, get_args(types.FlipFormat)), test_set.paths) as job:
        found = test_set.read(stored_ids=False)
        test_set.note_baseline(chosen.baseline)
        pair = {"system": test_set.system(chosen.system), "baseline": test_set.system(chosen.baseline)}
        (metric,) = cast("tuple[Any]", found.metrics)
        whole = taken(FlipOptions, chosen, found, **pair, metric=metric, progress=job.progress)
        job.report(lambda: call(flips, whole))


@click.command("show", cls=WithHelp)
@click.argument("result", metavar="RESULT")
@all_of(
    output_options(get_args(types.GateFormat)),
    declared_options(ComparisonDisplay, [name for name in options_of(ComparisonDisplay) if name != "table"]),
    declared_options(ShownSet),
    (
        table_option(default="with -o FILE.csv all of them, as FILE.NAME.csv; on standard output the main one"),
        full_option("what the short forms of the results of runs and gate leave out"),
    ),
)
def show_command(result: str, **options: Any) -> None:
    from .show import show

    show(result, options)


@click.command(
    "verify",
    cls=WithHelp,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("result", metavar="RESULT")
@click.argument("words", metavar="[COMMAND...]", nargs=-1, type=click.UNPROCESSED)
def verify_command(result: str, words: tuple[str, ...]) -> int:
    from .verify import verify

    return verify(result, words)


def _every_name(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from .explain import chosen

    every = chosen(())
    found = {kind.key: kind.title for kind, _ in every}
    found |= {entry.name: entry.about for _, entries in every for entry in entries}
    return [CompletionItem(name, help=about) for name, about in found.items() if name.startswith(incomplete)]


@click.command("explain", cls=WithHelp, context_settings={"ignore_unknown_options": True})
@click.argument("names", metavar="[NAME...]", nargs=-1, shell_complete=_every_name)
@option(
    "--format",
    "fmt",
    type=Name("format", get_args(types.CatalogueFormat)),
    default="text",
    show_default=True,
    help="text, json or markdown.",
)
def explain_command(names: tuple[str, ...], fmt: str) -> None:
    from .explain import CATALOGUE_FORMATS
    from .output import terminal

    click.echo(CATALOGUE_FORMATS[fmt](terminal(), names), nl=False)
