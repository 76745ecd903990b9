"""``reshuffle plot``: its arguments and help."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import click

from .. import types
from ..errors import InputError
from ..options.display import Figure
from .declared import declared_options, taken_options
from .help import WithHelp
from .params import Name, option
from .shared import all_of

# Names that several studies share are there once.
FIGURES = tuple(dict.fromkeys((*get_args(types.PlotKind), *get_args(types.StudyPlotKind))))


class _Figure(Name):
    """The name of a figure. Those that a result has are known when it is read."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        result = None if ctx is None else ctx.params.get("result")
        if result in self.known and Path(value).is_file():
            raise InputError(f"the file comes first: write 'reshuffle plot {value} {result}'")
        return super().convert(value, param, ctx) if value in self.known or Path(value).is_file() else value


@click.command("plot", cls=WithHelp)
@click.argument("result", metavar="RESULT")
@click.argument("kind", metavar="KIND", type=_Figure("figure", FIGURES), required=False)
@option("-o", "--output", metavar="FILE", help="Write the figure to FILE.pdf, .svg or .png.")
@all_of(declared_options(Figure))
def plot_command(result: str, kind: str | None, output: str | None, **options: Any) -> None:
    from .plotting import plot

    plot(result, kind, output, taken_options(Figure, options))
