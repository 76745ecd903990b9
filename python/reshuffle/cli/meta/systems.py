"""``reshuffle meta systems``."""

from __future__ import annotations

from typing import Any, get_args

import click

from ... import types
from ...options.meta import Systems
from ..command import Command
from ..declared import declared_options
from ..options import EXECUTOR, all_of
from .options import ARGUMENTS, COMMON, chosen_table, file_options, metrics_option, output

TABLES = get_args(types.MetaTable)


@click.command(
    "systems",
    cls=Command,
    examples=(
        "reshuffle meta systems --judgments cs-en.rank --refs ref.txt --systems sys -m bleu chrf",
        "reshuffle meta systems --human da.tsv --refs ref.txt --systems sys -m bleu ter --test williams",
        "reshuffle meta systems --human mqm.tsv --refs ref.txt --systems sys --metric-scores COMET=c.tsv",
    ),
    arguments=ARGUMENTS,
    common=(*COMMON, "coefficients"),
    context_settings={"allow_extra_args": True},
)
@all_of(file_options(), metrics_option("bleu"), declared_options(Systems), (EXECUTOR,), chosen_table(TABLES), output)
@click.pass_context
def systems_command(context: click.Context, /, **options: Any) -> None:
    """Do the scores of systems agree with people?

    Coefficients of agreement for each metric, with intervals; tests of all pairs of metrics; and a ranking in which
    metrics that do not differ significantly share a letter. Human scores of segments are averaged.
    """
    from ...meta import systems
    from .running import chosen, run_meta

    run_meta(systems, chosen(Systems, context.args, options), options, "bleu", TABLES)
