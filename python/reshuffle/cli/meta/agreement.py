"""``reshuffle meta segments`` and ``systems``, which differ in their options and their default metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import click

from ... import types
from ...options.meta import Evaluation, Segments, Systems
from ..declared import declared_options
from ..options import EXECUTOR, report_command, table_options
from .options import ARGUMENTS, COMMON, INSTEAD, file_options, metrics_option


def _command(
    name: str, record: type[Evaluation], default: str, tables: tuple[str, ...], about: str, examples: Sequence[str]
) -> click.Command:
    """The command that calls the function of :mod:`reshuffle.meta` with this name."""

    @report_command(
        name,
        file_options(),
        metrics_option(default),
        declared_options(record),
        (EXECUTOR, *table_options(tables)),
        help=about,
        examples=examples,
        arguments=ARGUMENTS,
        common=(*COMMON, "coefficients"),
        instead=INSTEAD,
    )
    def command(**options: Any) -> None:
        from ... import meta
        from .running import run_meta

        run_meta(getattr(meta, name), record, options, default, tables)

    return command


segments_command = _command(
    "segments",
    Segments,
    "sentbleu",
    tuple(name for name in get_args(types.MetaTable) if name != "systems"),
    """Do the scores of segments agree with people?

    Coefficients of agreement for each metric, with intervals; tests of all pairs of metrics; and a ranking in which
    metrics that do not differ significantly share a letter.
    """,
    (
        "reshuffle meta segments --judgments cs-en.rank --sysmap sysmap.tsv --refs ref.txt --systems sys",
        "reshuffle meta segments --judgments cs-en.rank --refs ref.txt --systems sys -m sentbleu ter",
        "reshuffle meta segments --human mqm.tsv --refs ref.txt --systems sys --metric-scores COMET=c.tsv",
        "reshuffle meta segments --human da.csv --columns score=Z --metric-scores all.tsv -o meta.html",
        "reshuffle meta segments --manifest sets.toml -m sentbleu chrf --format latex -o table.tex",
    ),
)
systems_command = _command(
    "systems",
    Systems,
    "bleu",
    get_args(types.MetaTable),
    """Do the scores of systems agree with people?

    Coefficients of agreement for each metric, with intervals; tests of all pairs of metrics; and a ranking in which
    metrics that do not differ significantly share a letter. Human scores of segments are averaged.
    """,
    (
        "reshuffle meta systems --judgments cs-en.rank --refs ref.txt --systems sys -m bleu chrf",
        "reshuffle meta systems --human da.tsv --refs ref.txt --systems sys -m bleu ter --test williams",
        "reshuffle meta systems --human mqm.tsv --refs ref.txt --systems sys --metric-scores COMET=c.tsv",
    ),
)
