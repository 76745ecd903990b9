"""The options of ``reshuffle tune``: those of all optimizers, and those made from the registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import click

from ... import types
from ...errors import InputError, either, quoted
from ...tune.options import Optimizer, OptimizerOption
from ..command import option
from ..habits import EXTERNAL
from ..options import READING, Decorator, any_of, executor_option
from ..params import IntParam, Metric, Name, WordList

ARGUMENTS = (
    (
        "NBEST",
        "K-best lists, as Moses, Marian, cdec, Joshua or Z-MERT write them: id ||| hypothesis ||| features; also "
        "compressed by gzip, bzip2 or xz.",
    ),
    (
        "REF",
        "References: UTF-8 text with one segment per line, mteval, tables (FILE#NAME) or JSON lines, as for 'reshuffle "
        "compare'.",
    ),
)

# The metrics that read texts.
OF_TEXTS = [name for name in get_args(types.MetricName) if name != "depf"]


class Limit(IntParam):
    """A number, or ``all`` for no limit."""

    name = "limit"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value is None or isinstance(value, int):
            return value
        if value == "all":
            return "all"
        try:
            return int(value)
        except ValueError:
            flag = param.opts[0] if param is not None else "expected"
            raise InputError(f"{flag} must be a whole number or all, got {quoted(value)}") from None


INPUT = (
    option(
        "Input",
        "--nbest",
        multiple=True,
        greedy=True,
        metavar="NBEST...",
        help="The lists to tune on. Several files are lists of the same sentences, which are joined.",
    ),
    option(
        "Input",
        "--ref",
        "--refs",
        "refs",
        multiple=True,
        greedy=["--refs"],
        metavar="REF...",
        help="Their references. --ref REF adds one; --refs takes all files up to the next option. Several files are "
        "several references of each segment.",
    ),
    option(
        "Input",
        "--init",
        metavar="FILE",
        help="Initial weights, whose scores are shown as Start; mert, kbmira and xbleu search from there. Lines 'name "
        "value' or 'name= value ...', JSON, moses.ini, or init.opt of Moses (weights in the order of features, then "
        "lower and upper limits of random restarts).",
    ),
    option(
        "Input",
        "--dev",
        greedy=True,
        type=WordList(),
        metavar="NBEST REF...",
        help="Development lists and their references, for the scores and s_dev.  [default: those that are tuned on]",
    ),
    option(
        "Input",
        "--test",
        greedy=True,
        type=WordList(),
        metavar="NBEST REF...",
        help="Test lists and their references.",
    ),
    option("Input", "--first-id", type=int, default=0, show_default=True, metavar="N",
           help="The id that lists give to the first sentence."),
    *READING,
)  # fmt: skip

SOURCES = (
    option("Input", "--sources", metavar="FILE",
           help="The source of each sentence, for the templates phrase and words."),
    option("Input", "--dev-sources", metavar="FILE", help="The same for --dev."),
    option("Input", "--test-sources", metavar="FILE", help="The same for --test."),
)  # fmt: skip


class CountedMetric(Metric):
    """A metric that counts texts: scores of another program cannot be counted for each entry."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and value.lower() in EXTERNAL:
            raise InputError(
                f"{quoted(value)} does not sum counts of texts: lists are tuned for a metric that does: "
                f"{either(OF_TEXTS)}"
            )
        return super().convert(value, param, ctx)


METRIC = (
    option(
        "Metrics",
        "-m",
        "--metric",
        "metric",
        type=CountedMetric(),
        metavar="NAME",
        help=f"The corpus metric: {either(OF_TEXTS)}. Options follow the name, as in bleu:tokenize=none, or are flags, "
        "as in --tokenize none.  [default: bleu]",
    ),
)

_BY_DEFAULT = "sentbleu for bleu and nist, else that of -m; flags such as --smoothing 3 apply to it, too"
SENTENCE_METRIC: Mapping[str, Decorator] = {
    kind: option(
        "Metrics",
        "--sentence-metric",
        type=CountedMetric(),
        metavar="NAME",
        help=f"{about} as in sentbleu:smoothing=3.  [default: {default}]",
    )
    for kind, about, default in (
        ("sentence", "The metric of single entries,", _BY_DEFAULT),
        (
            "background",
            "The score of single entries, instead of BLEU together with the background,",
            "BLEU with the background for bleu; sentbleu for nist, else that of -m",
        ),
    )
}

_SEEDED = (
    "How many runs, each with a seed of its own.",
    "The seeds of the runs are derived from it. The same seed gives the same result, on any machine and number of "
    "threads.",
)
_VARIANTS = (
    "How many runs. The first is as given; the others are variants with redundant features and more features per step, "
    "and need a template ngram:N.",
    "Without effect: nothing is random.",
)


def replications(optimizer: Optimizer) -> Sequence[Decorator]:
    """The options of the runs, and what a seed decides for this optimizer."""
    runs, seed = _VARIANTS if optimizer.seeded is None else _SEEDED
    return (
        option("Replications", "--replications", type=int, default=1, show_default=True, metavar="N", help=runs),
        option("Replications", "--seed", type=int, default=12345, show_default=True, metavar="N", help=seed),
        option("Replications", "--threads", type=int, metavar="N", help="Threads to use.  [default: all cores]"),
        # An optimizer without random numbers reads texts, which workers do not have.
        *([] if optimizer.seeded is None else [executor_option("Replications")]),
    )


LOOP = (
    option("Decoder", "--rounds", type=int, default=1, show_default=True, metavar="N",
           help="Rounds of tuning. The decoder runs between them, and its lists are joined with the earlier ones."),
    option(
        "Decoder",
        "--decoder",
        metavar="COMMAND",
        help="A program that reads weights ('name value' lines) from the file {weights} and writes lists to the file "
        "{nbest}: 'decode.sh {weights} {nbest}'. Without --nbest it also writes the first lists, with the weights of "
        "--init.",
    ),
    option(
        "Decoder",
        "--simulate",
        metavar="NBEST",
        help="Large lists instead of a decoder: each round adds their best --size entries under the weights.",
    ),
    option("Decoder", "--size", type=int, metavar="K", help="With --simulate: entries per sentence.  [default: 100]"),
)  # fmt: skip

SAVE = (
    option(
        "Output",
        "--save",
        metavar="DIR",
        help="Write the weights (weights.1 ...) and the chosen entries (dev.1 ..., test.1 ...) of each run to this new "
        "or empty folder: outputs for 'reshuffle runs --system NAME DIR/test.*'.",
    ),
)

TABLE = (
    option(
        "Output",
        "--table",
        type=Name("table", get_args(types.TuneTable)),
        metavar="NAME",
        help=f"The table to write as CSV: {any_of(types.TuneTable)}.  [default: with -o FILE.csv all, as FILE.runs.csv "
        "and so on; runs on standard output]",
    ),
)

METAVARS = {"integer": "N", "limit": "N|all", "positive": "X", "nonnegative": "X", "choice": "NAME", "texts": "NAME..."}


def own_options(optimizer: Optimizer) -> Sequence[Decorator]:
    """A flag for each option of an optimizer."""
    return [_own(each) for each in optimizer.options]


def _own(each: OptimizerOption) -> Decorator:
    flag = f"--{each.name.replace('_', '-')}"
    if each.kind == "flag":
        return option("Optimizer", flag, is_flag=True, help=each.about)
    kinds: dict[str, Any] = {"integer": int, "limit": Limit(), "positive": float, "nonnegative": float}
    kinds["choice"] = Name(flag, each.choices)
    default = "all" if each.kind == "limit" and each.default is None else each.default
    shown = "" if default in (None, ()) else f"  [default: {default}]"
    more: dict[str, Any] = {"multiple": True, "greedy": True} if each.kind == "texts" else {"type": kinds[each.kind]}
    # Without a default here: only options that are given are passed on.
    return option("Optimizer", flag, metavar=METAVARS[each.kind], help=f"{each.about}{shown}", **more)
