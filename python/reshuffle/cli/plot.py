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


@click.command(
    "plot",
    cls=WithHelp,
    common=("output", "metric", "test_set", "pair", "baseline", "width", "height", "names", "digits"),
)
@click.argument("result", metavar="RESULT")
@click.argument("kind", metavar="KIND", type=_Figure("figure", FIGURES), required=False)
@option("-o", "--output", metavar="FILE", help="Write the figure to FILE.pdf, .svg or .png.")
@all_of(declared_options(Figure))
def plot_command(result: str, kind: str | None, output: str | None, **options: Any) -> None:
    """Plot a saved result for a paper.

    RESULT is a report in JSON or HTML (reshuffle compare … -o result.json). KIND is one of these, or a figure of study,
    plan, runs, meta or tune (--help-all); without KIND, an error names those that RESULT has.

    \b
      ranking    scores with intervals, ranks, and which systems do not differ
      forest     differences from one system, with intervals and p-values
      matrix     p-values of all pairs
      null       null distribution of one pair, with the observed difference
      densities  bootstrap distributions of the scores\f

    Figures of studies:

    \b
      rates        type1: rejection rates divided by their levels, with intervals
      qq           type1: distribution of p against that of an exact test
      families     multiplicity: family-wise error rates of adjustments, with intervals
      power        power: by the true difference, with intervals
      sizes        power: by the size of the test set, with intervals
      detectable   plan: minimum detectable difference by the size of the test set
      sensitivity  sensitivity: power under each metric
      bands        validate: right conclusions by confidence
      gaps         validate: right conclusions by the difference on the whole test set
      curves       samples: separated pairs by test set size and number of references
      differences  samples: differences from the baseline on each sample
      scores       samples: scores on each sample, with intervals
      gains        agreement: 1 - p against the gain of the better system
      agreement    agreement: share of pairs on which tests and metrics agree
      exchange     exchange: type-I error by the standard deviation between runs, with intervals
      runs         runs: the score of each run, with s_sel and s_test
      histogram    runs: distribution of the runs' scores
      observed     runs: differences that experiments with other numbers of runs would observe
      forest       meta: agreement of each metric with people, with intervals
      matrix       meta: p-values of all pairs of metrics
      scatter      meta: scores of systems by a metric and by people
      grid         meta tune-smoothing: Kendall's tau by the value of a parameter
      replications tune: the test score of each run by its development score
      course       tune: scores by epoch, start or step

    Needs matplotlib: pip install 'reshuffle[plots]'. Figures are readable in black and white, and PDF files
    embed their fonts.
    """
    from .plotting import plot

    plot(result, kind, output, taken_options(Figure, options))
