"""``reshuffle meta segments`` and ``systems``, which differ in their options and their default metric."""

from __future__ import annotations

from typing import Any, get_args

import click

from ... import types
from ...options.meta import Evaluation, Segments, Systems
from ..declared import declared_options
from ..examples import about
from ..options import EXECUTOR, report_command, table_options
from .options import ARGUMENTS, COMMON, INSTEAD, file_options, metrics_option


def _command(name: str, record: type[Evaluation], default: str, tables: tuple[str, ...]) -> click.Command:
    """The command that calls the function of :mod:`reshuffle.meta` with this name."""

    @report_command(
        f"meta {name}",
        file_options(),
        metrics_option(default),
        declared_options(record),
        (EXECUTOR, *table_options(tables)),
        help=about(f"meta {name}"),
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
    "segments", Segments, "sentbleu", tuple(name for name in get_args(types.MetaTable) if name != "systems")
)
systems_command = _command("systems", Systems, "bleu", get_args(types.MetaTable))
