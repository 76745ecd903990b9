"""``reshuffle count``, and files of counts in place of REF."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError, listed, unknown_name
from .command import Command, option
from .options import ARGUMENTS, INPUT, METRICS, THREADS, all_of

if TYPE_CHECKING:
    from ..metrics.native import NativeMetric
    from ..metrics.stored import CountsFile
    from .job import Job
    from .metric_options import MetricChoice

EXAMPLES = (
    "reshuffle count ref.txt *.out -o counts.npz",
    "reshuffle count ref.txt.gz *.out.gz -m bleu chrf ter --docs docs.txt -o counts.npz",
    "reshuffle compare counts.npz",
    "reshuffle compare counts.npz online-A online-B -m bleu --test ar",
)
REFERENCES, *_, PARSES, DOCUMENTS, STRATA, INPUT_FORMAT, MAX_INPUT = INPUT
OUTPUT = option(
    "Output",
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    help="Write the counts to FILE.npz, or to FILE.npy for one metric without --docs and --strata. numpy.load reads "
    "both: an array (systems, segments, columns) for each metric.",
)


@click.command("count", cls=Command, examples=EXAMPLES, arguments=ARGUMENTS)
@click.argument("reference", metavar="REF")
@click.argument("systems", metavar="SYS...", nargs=-1)
@all_of((REFERENCES, PARSES, DOCUMENTS, STRATA, INPUT_FORMAT, MAX_INPUT), METRICS, (THREADS,), (OUTPUT,))
def count_command(reference: str, systems: tuple[str, ...], output: str, **options: Any) -> None:
    """Count texts once, into a file that takes their place.

    The file replaces REF in compare, score, flips, study, plan, runs and meta, with the same results. SYS are then
    names of its systems, by default all, and -m chooses among its metrics. It has the ids of --docs and --strata. Plain
    texts may be larger than memory (not with -m nist, or --parses).
    """
    from ..counts import check_ending, check_fits_npy
    from ..settings import Resampling
    from .job import Job
    from .output import stream_destination

    check_ending(output)
    unused: dict[str, Any] = {"scores": (), "lower_is_better": (), "missing": "error"}
    defaults = Resampling()
    numbers = {"n_resamples": defaults.n_resamples, "seed": defaults.seed}
    job = Job.from_arguments(reference, systems, {**options, **unused, **numbers}, min_systems=1)
    if job.counts is not None:
        raise InputError(f"{reference} has counts already: expected texts")
    if output.lower().endswith(".npy"):
        check_fits_npy(job.metrics, job.documents, job.strata)
    with stream_destination(output, job.files) as file:
        _count(job, file, output)


def _count(job: Job, file: Any, output: str) -> None:
    """Count the texts of a job, block by block if they allow it."""
    from ..counts import counts_blocks, write_counts
    from ..data.blocks import can_be_read_in_blocks
    from ..resampling.counting import Data
    from .progress import progress_bar

    paths = [str(job.reference), *job.refs, *job.systems]
    in_blocks = can_be_read_in_blocks(paths, job.input_format) and all(counts_blocks(m) for m in job.metrics)
    if in_blocks and not job.parses and not any(m.reads_parses for m in job.metrics):
        _count_blocks(job, file, output)
        return
    given, units = job.read()
    with progress_bar() as progress:
        data = Data.from_arguments(*given)
        ids = {"documents": units.documents, "strata": units.strata}
        write_counts(file, output, data, ids, job.resampling.threads, progress)


def _count_blocks(job: Job, file: Any, output: str) -> None:
    """Count plain texts, which need not fit in memory."""
    from ..counts import BlockChecks, BlockCounting
    from ..data.blocks import TextBlocks
    from .progress import progress_bar

    references = [str(job.reference), *job.refs]
    ids = job.ids()
    texts = TextBlocks([*references, *job.systems], job.max_input)
    counting, checks = BlockCounting(job.metrics, Path(output).parent, job.resampling.threads), BlockChecks(job.metrics)
    try:
        with progress_bar() as progress:
            progress.plan([("counting", 1.0, 1)])
            progress.begin("counting", max(texts.total, 1))
            for block in texts:
                own, others = block[: len(references)], block[len(references) :]
                outputs = dict(zip(job.names, others, strict=True))
                checks.add(own, outputs)
                counting.add(outputs, own)
                progress.update(texts.done)
        checks.finish()
        counting.write(file, output, {"documents": ids.documents, "strata": ids.strata})
    finally:
        counting.close()


def check_no_flags(path: str, options: Mapping[str, Any]) -> None:
    """Raise :class:`InputError` for options of metrics without a metric, if the metrics are those of a file."""
    from .metric_options import flag, flags

    for each in flags():
        if options.get(each.option.name) is not None:
            raise InputError(
                f"{flag(each.option.name)}: the texts of {path} were counted before: leave it out, or choose the "
                "metric that was counted so with -m"
            )


def names_in_counts(path: str, systems: Mapping[str, str] | Sequence[str], folder: Path) -> Any:
    """The names of systems in a file of counts that a manifest or a command names: all of them if there are none.

    Where texts are expected, they were taken for files in ``folder``.
    """
    from ..metrics.stored import open_counts

    if not systems:
        return list(open_counts(path, check=False).systems)

    def name(given: str) -> str:
        return str(Path(given).relative_to(folder)) if Path(given).is_relative_to(folder) else given

    if isinstance(systems, Mapping):
        return {shown: name(given) for shown, given in systems.items()}
    return [name(given) for given in systems]


def chosen_counts(
    path: str,
    systems: Sequence[str],
    names: Sequence[str],
    chosen: Sequence[MetricChoice],
    metrics: Sequence[NativeMetric],
    min_systems: int,
) -> CountsFile:
    """The counts of these systems, by default all, under these metrics, by default all, from a file.

    ``names`` are the systems' names in results, if they are others. ``metrics`` are those of ``chosen``. Only the
    description of the file is read.
    """
    from ..metrics.stored import open_counts

    counts = open_counts(path, check=False)
    repeated = [name for i, name in enumerate(systems) if name in systems[:i]]
    if repeated:
        raise InputError(f"{path}: system {repeated[0]} is named twice")
    if systems:
        counts = counts.chosen(systems, names or None)
    if len(counts.systems) < min_systems:
        wanted = "at least one system" if min_systems == 1 else "at least two systems"
        raise InputError(f"{path}: expected {wanted} after it, or none for all, got {listed(counts.systems) or 'none'}")
    if not chosen:
        return counts
    found = []
    for choice, m in zip(chosen, metrics, strict=True):
        same = [each for each in counts if each.formula.signature() == m.signature() and each.key == m.key]
        if not same and not choice.options and m.options == {}:
            same = [each for each in counts if each.key == choice.name]
        if not same:
            error = unknown_name(f"metric in {path}:", m.signature(), [each.signature() for each in counts])
            raise InputError(f"{error}; 'reshuffle count' counts others")
        found += same
    return replace(counts, metrics=tuple(dict.fromkeys(found)))
