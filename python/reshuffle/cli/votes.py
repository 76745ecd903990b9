"""``reshuffle votes``: ratings of systems from votes."""

from __future__ import annotations

from typing import Any

import click
from attrs import evolve

from ..options.declare import call, options_of
from ..options.display import ComparisonDisplay
from ..options.votes import VotesOptions
from .declared import declared_options, taken_options
from .shared import report_command

# --columns has the columns of the votes here.
DISPLAYED = [name for name in options_of(ComparisonDisplay) if name != "columns"]


@report_command(
    "votes",
    (click.argument("files", metavar="FILE...", nargs=-1, required=True),),
    declared_options(VotesOptions),
    declared_options(ComparisonDisplay, DISPLAYED),
)
def votes_command(files: tuple[str, ...], **options: Any) -> None:
    from ..data.votes import read_votes
    from ..votes import votes
    from .job import started
    from .layout import displayed
    from .output import Output

    output = Output.from_options(options)
    chosen = taken_options(VotesOptions, options, votes=files)
    output = displayed(output, taken_options(ComparisonDisplay, options))
    with started(output, files, chosen.workers) as job:
        table = read_votes(files, columns=chosen.columns, language_pair=chosen.language_pair)
        output.check_systems(table.systems, all_pairs=True)
        chosen = evolve(chosen, votes=table, columns={}, language_pair=None, **job.given)
        job.report(lambda: call(votes, chosen))
