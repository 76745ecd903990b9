"""The options of ``reshuffle meta``, in groups: each command takes those that apply to it."""

from __future__ import annotations

from typing import Any, get_args

import click

from ... import types
from ...errors import InputError, either, quoted, unknown_name
from ..command import option
from ..habits import EXTERNAL
from ..options import READING, Decorator, any_of, output_options
from ..params import Metric, Name, StrParam

ARGUMENTS = (
    (
        "FILE",
        "Outputs and references: UTF-8 text with one segment per line. Or mteval, tables (FILE#NAME) or JSON lines, as "
        "for 'reshuffle compare'; - is standard input. Counts of 'reshuffle count' (.npz, .npy) can stand in place of "
        "--refs; --systems are then names in them.",
    ),
)

# What columns can be named.
COLUMNS = get_args(types.ScoreColumn)


class ColumnName(StrParam):
    """What a column holds, and its header: ``system=Sys``. Several are separated by commas or follow one option."""

    name = "column"

    def accepts(self, word: str) -> bool:
        """Whether a word after the first names another column."""
        return word.partition("=")[0].replace("-", "_") in COLUMNS and "=" in word

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        found = []
        for part in value.split(","):
            role, equals, header = part.partition("=")
            if not equals or not header:
                raise InputError(
                    f"--columns must be what columns hold and their headers, such as --columns system=SYS score=MQM, "
                    f"got {quoted(value)}"
                )
            key = role.replace("-", "_")
            if key not in COLUMNS:
                raise unknown_name("column of --columns", role, COLUMNS)
            found.append((key, header))
        return tuple(found)


class OutputMetric(Metric):
    """A metric on texts. The scores of others are read by ``--metric-scores``."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and value.lower() in EXTERNAL:
            raise InputError(
                f"{quoted(value)} is not computed here: read its scores from a file: --metric-scores {value}=FILE"
            )
        return super().convert(value, param, ctx)


HUMAN = (
    option(
        "People",
        "--judgments",
        metavar="FILE",
        help="Votes between pairs of outputs. From a .rank file of WMT's metrics task, or WMT's CSV of rankings.",
    ),
    option(
        "People",
        "--judgments-format",
        type=Name("format of judgments", get_args(types.JudgmentFormat)),
        metavar="FORMAT",
        help=f"{any_of(types.JudgmentFormat)}.  [default: by the first line]",
    ),
    option(
        "People",
        "--human",
        metavar="FILE",
        help="Human scores (DA, MQM ...) of segments or systems. From a table with a header (TSV, CSV), JSON lines, or "
        "mt-metrics-eval's *.seg.score and *.sys.score. FILE#NAME names the column or metric.",
    ),
    option(
        "People",
        "--human-format",
        type=Name("format of scores", get_args(types.ScoreFormat)),
        metavar="FORMAT",
        help=f"{any_of(types.ScoreFormat)}.  [default: by name and first line]",
    ),
    option(
        "People",
        "--columns",
        "columns",
        multiple=True,
        type=ColumnName(),
        metavar="WHAT=HEADER...",
        help=f"For tables of scores: what columns with unusual headers hold, as in system=SYS score=MQM. WHAT is "
        f"{either(COLUMNS)}.",
    ),
    option(
        "People",
        "--sysmap",
        metavar="FILE",
        help="The name of the output for each id of a system: id, tab, name on each line. Ids that are not in it are "
        "names of outputs.",
    ),
    option("People", "--language-pair", metavar="NAME",
           help="Read the rows of this language pair, such as cs-en (in WMT's CSV of 2008: of this task)."),
    option("People", "--test-set", metavar="NAME", help="In tables with several test sets: read this one."),
    option("People", "--segment-base", type=int, metavar="N",
           help="The number of the first segment in files of judgments and scores.  [default: by format, mostly 1]"),
    option(
        "People",
        "--repeats",
        type=Name("value of --repeats", get_args(types.Repeats)),
        default="net",
        show_default=True,
        metavar="NAME",
        help="Several votes on the same two outputs: net (one vote, that of the majority) or all (every vote counts).",
    ),
    option(
        "People",
        "--missing-systems",
        type=Name("value of --missing-systems", get_args(types.MissingSystems)),
        default="error",
        show_default=True,
        metavar="NAME",
        help="For judged systems without an output: error, or drop to leave out their judgments.",
    ),
)  # fmt: skip

OUTPUTS = (
    option(
        "Input",
        "--ref",
        "--refs",
        "refs",
        multiple=True,
        greedy=["--refs"],
        metavar="FILE...",
        help="References. --ref FILE adds one; --refs takes all files up to the next option. Several files are several "
        "references of each segment.",
    ),
    option(
        "Input",
        "--systems",
        "systems",
        multiple=True,
        greedy=True,
        metavar="DIR|FILE...",
        help="Output files, or folders with one for each system. Those that no one judged are left out.",
    ),
    option(
        "Input",
        "--metric-scores",
        "metric_scores",
        multiple=True,
        greedy=True,
        metavar="[NAME=]FILE...",
        help="Scores of a metric that another program computed. In the formats of --human; FILE#NAME names the column "
        "or metric. FILE alone: all metrics in it.",
    ),
    option(
        "Input",
        "--lower-is-better",
        multiple=True,
        metavar="NAME",
        help="For the --metric-scores called NAME, lower is better; human stands for --human.",
    ),
    *READING,
)

SETS = (
    option(
        "Input",
        "--manifest",
        metavar="FILE",
        help="A JSON or TOML file with several test sets. Its form: {'sets': {NAME: {'judgments': FILE, 'references': "
        "FILE, 'systems': DIR}}}. The other keys are options of this command, with _ for -, and of metrics.",
    ),
)  # fmt: skip


def metrics_option(default: str) -> tuple[Decorator, ...]:
    """``-m``, whose default is that of the level."""
    return (
        option(
            "Metrics",
            "-m",
            "--metric",
            "--metrics",
            "metrics",
            multiple=True,
            type=OutputMetric(),
            metavar="NAME...",
            help=f"{any_of(types.MetricName)}. Several names may follow one -m. Options follow a name, as in "
            "sentbleu:smoothing=7, or are flags for all metrics that have them; 'reshuffle explain NAME' lists them.  "
            f"[default: {default}, if there are texts]",
        ),
    )


def chosen_table(names: tuple[str, ...]) -> tuple[Decorator, ...]:
    """``--table``, with the tables of a command."""
    return (
        option(
            "Output",
            "--table",
            type=Name("table", names),
            metavar="NAME",
            help=f"The table to write as CSV: {either(names)}.  [default: with -o FILE.csv all, as FILE.results.csv "
            "and so on; results on standard output]",
        ),
    )


output = output_options(get_args(types.Format), "text")

# What the short help of all commands shows.
COMMON = (
    "judgments", "human", "refs", "systems", "metric_scores", "manifest", "metrics", "test", "outputs", "fmt",
)  # fmt: skip
