"""``reshuffle meta segments``."""

from __future__ import annotations

from typing import Any, get_args

import click

from ... import types
from ...options.meta import Segments
from ..command import Command
from ..declared import declared_options
from ..options import EXECUTOR, all_of
from .options import ARGUMENTS, COMMON, chosen_table, file_options, metrics_option, output

TABLES = tuple(name for name in get_args(types.MetaTable) if name != "systems")


@click.command(
    "segments",
    cls=Command,
    examples=(
        "reshuffle meta segments --judgments cs-en.rank --sysmap sysmap.tsv --refs ref.txt --systems sys",
        "reshuffle meta segments --judgments cs-en.rank --refs ref.txt --systems sys -m sentbleu ter",
        "reshuffle meta segments --human mqm.tsv --refs ref.txt --systems sys --metric-scores COMET=c.tsv",
        "reshuffle meta segments --human da.csv --columns score=Z --metric-scores all.tsv -o meta.html",
        "reshuffle meta segments --manifest sets.toml -m sentbleu chrf --format latex -o table.tex",
    ),
    arguments=ARGUMENTS,
    common=(*COMMON, "coefficients"),
    context_settings={"allow_extra_args": True},
)
@all_of(
    file_options(), metrics_option("sentbleu"), declared_options(Segments), (EXECUTOR,), chosen_table(TABLES),
    output,
)  # fmt: skip
@click.pass_context
def segments_command(context: click.Context, /, **options: Any) -> None:
    """Do the scores of segments agree with people?

    Coefficients of agreement for each metric, with intervals; tests of all pairs of metrics; and a ranking in which
    metrics that do not differ significantly share a letter.
    """
    from ...meta import segments
    from .running import chosen, run_meta

    run_meta(segments, chosen(Segments, context.args, options), options, "sentbleu", TABLES)
