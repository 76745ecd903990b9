"""The options of ``compare`` and ``score``, in the groups and the order of their help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_args

import click

from .. import types
from ..errors import either
from ..options.comparisons import CompareSets, Score
from .command import option
from .declared import declared_options
from .params import ExecutorName, Metric, Name, Size

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

ARGUMENTS = (
    (
        "REF, SYS",
        "UTF-8 text with one segment per line, mteval (.sgm, .xml), tables (.tsv, .csv), JSON lines (.jsonl) or parses "
        "(.conllu), also compressed by gzip, bzip2 or xz; - is standard input. FILE#NAME is a column of a table, a key "
        "of JSON lines, or a system or reference of an mteval file.",
    ),
)
COUNTS = (
    (
        "COUNTS [SYS...]",
        "Instead of REF and SYS: counts (.npz, .npy) of 'reshuffle count', and the names of systems in them.  "
        "[default: all]",
    ),
)


def any_of(names: object) -> str:
    """The names of a Literal, for a help text."""
    return either(get_args(names))


def input_options(use_of_documents: str, has_strata: bool = True) -> tuple[Decorator, ...]:
    """``use_of_documents`` says what a command does with documents."""
    return (
        option(
            "Input",
            "--ref",
            "--refs",
            "refs",
            multiple=True,
            greedy=["--refs"],
            metavar="FILE...",
            help="More references; --refs takes all files up to the next option.",
        ),
        option(
            "Input",
            "--scores",
            multiple=True,
            greedy=True,
            joined=True,
            metavar="NAME FILE...",
            help="Segment scores of another metric (COMET, human ratings): a FILE for each SYS, named like it; or one "
            "for all, a table (.tsv, .csv) or a file of comet-score. Without REF and SYS, each FILE is a system.",
        ),
        option(
            "Input",
            "--by-position",
            is_flag=True,
            help="The files of --scores, or the systems in one, are in the order of SYS.",
        ),
        option(
            "Input",
            "--lower-is-better",
            multiple=True,
            metavar="NAME",
            help="For the --scores called NAME, lower is better.",
        ),
        option(
            "Input",
            "--missing",
            type=Name("value of --missing", get_args(types.Missing)),
            default="error",
            show_default=True,
            metavar="NAME",
            help="For missing --scores (empty, NaN, NA, None or null): error, or pairwise to compare two systems on "
            "the segments that both have.",
        ),
        option(
            "Input",
            "--unmatched",
            type=Name("value of --unmatched", get_args(types.Unmatched)),
            default="error",
            show_default=True,
            metavar="NAME",
            help="For samples that some logs lack (--scores of inspect_ai, lm-eval or Pearmut): error, or drop.",
        ),
        option(
            "Input",
            "--parses",
            multiple=True,
            greedy=True,
            metavar="FILE...",
            help="For depf beside other metrics: CoNLL-U of references, then every SYS.",
        ),
        option(
            "Input",
            "--docs",
            "documents",
            metavar="FILE",
            help=f"Document ids, one per segment (text, FILE#NAME or mteval): {use_of_documents}.",
        ),
        option(
            "Input",
            "--strata",
            metavar="FILE",
            hidden=not has_strata,
            help="Stratum ids, one per segment: draw within strata in the bootstrap.",
        ),
        option(
            "Input",
            "--input-format",
            type=Name("input format", get_args(types.InputFormat)),
            metavar="FORMAT",
            help=f"{any_of(types.InputFormat)}.  [default: by file extension]",
        ),
        option(
            "Input",
            "--max-input",
            type=Size(),
            default="4GiB",
            show_default=True,
            metavar="SIZE",
            help="Largest size of a compressed file after decompression.",
        ),
    )


INPUT = input_options("resample whole documents")

SETS = (
    option(
        "Input",
        "--set",
        "sets",
        multiple=True,
        greedy=True,
        joined=True,
        noun="word",
        metavar="NAME REF SYS...",
        help="A test set, instead of REF and SYS; repeat the option for each. Systems must have the same names in all "
        "test sets.",
    ),
    option(
        "Input",
        "--manifest",
        metavar="FILE",
        help="A JSON or TOML file with several test sets: {'sets': {NAME: {'references': FILE, 'systems': {NAME: FILE, "
        "...}}}}. Test sets may also have scores, documents, strata, metrics and metric options.",
    ),
)

METRICS = (
    option(
        "Metrics",
        "-m",
        "--metric",
        "--metrics",
        "metrics",
        multiple=True,
        type=Metric(),
        metavar="NAME...",
        help=f"{any_of(types.MetricName)}. Several names may follow one -m, up to the first word that is not a metric "
        "(write ./ter for a file called ter). Options follow a name, as in bleu:tokenize=intl,lowercase, or are flags "
        "for all metrics that have them, as in --lowercase; 'reshuffle metrics NAME' lists them.  [default: bleu]",
    ),
)


THREADS = option("Resampling", "--threads", type=int, metavar="N", help="Threads to use.  [default: all cores]")


def executor_option(group: str) -> Decorator:
    """``--executor``, in a group of options."""
    return option(
        group,
        "--executor",
        type=ExecutorName(),
        metavar="NAME",
        help="threads, processes, or dask://HOST:PORT (a Dask cluster).  [default: threads]",
    )


EXECUTOR = executor_option("Resampling")


def output_options(formats: Sequence[str], default: str) -> tuple[Decorator, ...]:
    *first, last = formats
    return (
        option("Output", "-o", "--output", "outputs", metavar="FILE", multiple=True,
               help="Write the report to FILE; - is standard output. Repeatable."),
        option("Output", "--format", "fmt", type=Name("format", formats), metavar="NAME",
               help=f"{', '.join(first)} or {last}.  [default: by the ending of FILE; without one, {default}]"),
    )  # fmt: skip


PAIRS = (
    option(
        "Output",
        "--pairs/--no-pairs",
        default=None,
        help="Show tables of pairs, with the parts of each difference.  [default: if there are at most 12 tests]",
    ),
    option(
        "Output",
        "--triangle",
        is_flag=True,
        help="With --all-pairs: differences as a triangular matrix (up to 20 systems).",
    ),
)

TABLE = (
    option(
        "Output",
        "--table",
        type=Name("table", get_args(types.Table)),
        metavar="NAME",
        help="The table to write as CSV: systems or pairs.  [default: with -o FILE.csv both, as FILE.systems.csv and "
        "FILE.pairs.csv; pairs on standard output]",
    ),
)

DISPLAY = (
    option(
        "Output",
        "--methods",
        is_flag=True,
        help="Append a methods paragraph for a paper, with BibTeX entries.",
    ),
    option(
        "Output",
        "--digits",
        type=int,
        metavar="N",
        help="Decimals of scores and differences.  [default: chosen for each metric]",
    ),
    option(
        "Output",
        "--names",
        metavar="FILE",
        help="Display names: a system, a tab and its name per line; or a JSON object.",
    ),
)

TEXTS = (
    option(
        "Output",
        "--max-texts",
        type=Size(),
        metavar="SIZE",
        help="Largest size of the texts in HTML.  [default: 20MB]",
    ),
)

SEGMENTS = (
    option(
        "Output",
        "--segments",
        is_flag=True,
        help=f"Write the score of every segment (with --docs, of every document), as {any_of(types.SegmentFormat)}.",
    ),
)


FLIPS = (
    option(
        "Flips",
        "--threshold",
        type=float,
        required=True,
        metavar="SCORE",
        help="A segment passes if its score is at least SCORE (at most SCORE if lower is better).",
    ),
    option(
        "Flips",
        "--baseline",
        metavar="NAME",
        help="The system, or its file, to compare with.  [default: the first]",
    ),
    option("Flips", "--system", metavar="NAME", help="The other system, or its file.  [default: the second]"),
    option(
        "Flips",
        "--top",
        type=int,
        default=10,
        show_default=True,
        metavar="N",
        help="List the N segments with the largest influence on the difference.",
    ),
)


def all_of(*groups: Sequence[Decorator]) -> Decorator:
    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed([decorator for group in groups for decorator in group]):
            command = decorator(command)
        return command

    return decorate


def compare_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """All options of ``reshuffle compare``."""
    systems = click.argument("systems", metavar="SYS SYS...", nargs=-1)
    reference = click.argument("reference", metavar="REF", required=False)
    output = output_options(get_args(types.Format), "text")
    declared = declared_options(CompareSets)
    options = all_of(INPUT, SETS, METRICS, declared, (EXECUTOR,), PAIRS, TABLE, TEXTS, DISPLAY, output)
    return reference(systems(options(command)))


def score_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """All options of ``reshuffle score``."""
    systems = click.argument("systems", metavar="SYS...", nargs=-1)
    reference = click.argument("reference", metavar="REF", required=False)
    output = output_options((*get_args(types.Format), *get_args(types.SegmentFormat)), "text; tsv with --segments")
    options = all_of(INPUT, METRICS, declared_options(Score), SEGMENTS, DISPLAY, output)
    return reference(systems(options(command)))


def flip_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """All options of ``reshuffle flips``."""
    systems = click.argument("systems", metavar="BASELINE SYS", nargs=-1)
    reference = click.argument("reference", metavar="REF", required=False)
    inputs = input_options("compare documents instead of segments", has_strata=False)
    options = all_of(inputs, METRICS, FLIPS, (THREADS,), output_options(get_args(types.FlipFormat), "text"))
    return reference(systems(options(command)))
