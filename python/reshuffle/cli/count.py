"""``reshuffle count``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from ..options.comparisons import Watched
from ..options.files import SetFiles
from .command import Command
from .declared import declared_options, taken_options
from .params import option
from .shared import METRICS, all_of

if TYPE_CHECKING:
    from .inputs.test_set import Input
INPUT = ("references", "parses", "documents", "strata", "input_format", "max_input")
OUTPUT = option(
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    help="Write the counts to FILE.npz (or FILE.npy, for one metric without --docs and --strata). Both can be read by "
    "numpy.load, as an array (systems, segments, columns) for each metric.",
)


@click.command("count", cls=Command)
@click.argument("reference", metavar="REF")
@click.argument("systems", metavar="SYS...", nargs=-1)
@all_of(declared_options(SetFiles, INPUT), METRICS, declared_options(Watched, ["workers"]), (OUTPUT,))
def count_command(reference: str, systems: tuple[str, ...], output: str, **options: Any) -> None:
    from ..counts import check_ending, check_fits_npy
    from .inputs.sets import given_files
    from .inputs.test_set import Input
    from .output import stream_destination

    check_ending(output)
    threads = taken_options(Watched, options).threads
    files = given_files(SetFiles, options, reference, systems)
    texts = Input.checked(files, least=1, threads=threads)
    if texts.counts is not None:
        raise InputError(f"{reference} has counts already: expected texts")
    if output.lower().endswith(".npy"):
        check_fits_npy(texts.metrics, files.documents, files.strata)
    with stream_destination(output, texts.paths) as file:
        _count(texts, file, output)


def _count(texts: Input, file: Any, output: str) -> None:
    """Count texts, block by block if they allow it."""
    from ..counts import counts_blocks, write_counts
    from ..data.blocks import can_be_read_in_blocks
    from ..sets import SetData
    from .job import progress_bar

    paths = [*texts.files.references, *texts.systems.values()]
    in_blocks = can_be_read_in_blocks(paths, texts.files.input_format) and all(counts_blocks(m) for m in texts.metrics)
    if in_blocks and not texts.files.parses and not any(m.reads_parses or m.reads_sources for m in texts.metrics):
        _count_blocks(texts, file, output)
        return
    found = SetData.of(texts.read())
    with progress_bar() as progress:
        ids = {"documents": found.units.documents, "strata": found.units.strata}
        write_counts(file, output, found.data, ids, texts.threads, progress)


def _count_blocks(given: Input, file: Any, output: str) -> None:
    """Count plain texts, which need not fit in memory."""
    from ..counts import BlockChecks, BlockCounting
    from ..data.blocks import TextBlocks
    from ..metrics.native import NativeMetric, block_step
    from .job import progress_bar

    references, ids = given.files.references, given.ids()
    metrics = [m for m in given.metrics if isinstance(m, NativeMetric)]
    texts = TextBlocks([*references, *given.systems.values()], given.files.max_input)
    counting, checks = BlockCounting(metrics, Path(output).parent, given.threads), BlockChecks(metrics)
    try:
        with progress_bar() as progress:
            progress.plan([block_step(metrics)])
            progress.begin("counting", max(texts.total, 1))
            for block in texts:
                own, others = block[: len(references)], block[len(references) :]
                outputs = dict(zip(given.names, others, strict=True))
                checks.add(own, outputs)
                counting.add(outputs, own)
                progress.update(texts.done)
        checks.finish()
        counting.write(file, output, {"documents": ids.documents, "strata": ids.strata})
    finally:
        counting.close()
