"""The command line: options in, a report out. Everything else is the public API."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, get_args

import click

from .. import __version__, types
from ..errors import InputError, shortened
from .params import Name, Numbers, Size
from .process import check_room

GREEDY = ("--refs", "--parses", "--scores")


class Greedy(click.Command):
    """A command whose :data:`GREEDY` options take every file up to the next option; a file may be ``-#NAME``.

    It has a flag for every option of any metric.
    """

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        for made in _metric_flags():
            if made not in self.params:
                self.params.append(made)
        return super().get_params(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # No argument can hold a NUL: before -#NAME it keeps click from seeing options there, and within --scores it
        # stands between the name and the files.
        rest = super().parse_args(ctx, [f"\0{arg}" if arg.startswith("-#") else arg for arg in self._spread(args)])
        for name, value in ctx.params.items():
            if isinstance(value, str):
                ctx.params[name] = _unmarked(value)
            elif isinstance(value, tuple):
                ctx.params[name] = tuple(map(_unmarked, value))
        return rest

    def _spread(self, args: list[str]) -> list[str]:
        """Repeat ``--refs`` or ``--parses`` before each of its files, and join those after ``--scores`` into one value.

        Raises
        ------
        InputError
            If another file follows the one after ``=``.
        """
        spread: list[str] = []
        greedy = closed = ""
        for index, arg in enumerate(args):
            if arg == "--":
                return spread + args[index:]
            if arg.startswith("-") and arg != "-" and not arg.startswith("-#"):
                greedy = arg if arg in GREEDY else ""
                closed = arg if arg.split("=")[0] in GREEDY and "=" in arg else ""
            elif closed:
                # It may be meant for the option or as another system: a wrong guess would change the result.
                option, value = closed.split("=", 1)
                raise InputError(
                    f"{option}= takes one file, but {shortened(arg)!r} follows {closed!r}: for several files write "
                    f"{option} {value} {shortened(arg)}; if it is another argument, put -- or another option before it"
                )
            elif greedy == "--scores" and spread[-1] != greedy:
                spread[-1] += f"\0{arg}"
                continue
            elif greedy and spread[-1] != greedy:
                spread.append(greedy)
            spread.append(arg)
        return spread


def _unmarked(value: str) -> str:
    return value[1:] if value.startswith("\0-#") else value


@cache
def _metric_flags() -> list[click.Option]:
    """A flag for every option of any metric."""
    from .options import flag, flags

    def made(name: str, kind: str, choices: Sequence[str], help_text: str) -> click.Option:
        kinds: dict[str, Any] = {
            "flag": {"is_flag": True},
            "integer": {"type": int},
            "real": {"type": float},
            "reals": {"type": Numbers()},
            "choice": {"type": Name(flag(name), choices)},
            "path": {"metavar": "FILE"},
            "language": {"metavar": "CODE"},
        }
        return click.Option([flag(name), name], default=None, help=help_text, **kinds[kind])

    return [made(each.option.name, each.option.kind, each.choices, each.help) for each in flags()]


def _metric_names() -> list[str]:
    from ..metrics.registry import metric_specs

    return [spec.name for spec in metric_specs()]


def _metric_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "-m",
        "--metric",
        "metrics",
        multiple=True,
        type=Name("metric", _metric_names),
        help="Metric; may be repeated.  [default: bleu, if there are texts]",
    )(command)


def _shared_options(command: Callable[..., Any]) -> Callable[..., Any]:
    options = [
        click.option("-n", "--n-resamples", type=int, default=10_000, show_default=True, help="Shuffles and draws."),
        click.option("--seed", type=int, default=12345, show_default=True, help="Same seed, same result."),
        click.option("--threads", type=int, help="Threads; the result does not depend on it.  [default: all cores]"),
        click.option(
            "--ref",
            "--refs",
            "refs",
            multiple=True,
            metavar="FILE...",
            help="More references: --ref FILE adds one and may be repeated; --refs takes every FILE up to the next "
            "option, so put it last.",
        ),
        click.option(
            "--scores",
            multiple=True,
            metavar="NAME FILE...",
            help="Segment scores of NAME from elsewhere (COMET, ratings …): for each SYS a FILE with a number per "
            "segment, up to the next option; or one FILE#NAME as --segments writes it, with a column that names the "
            "system. Alone, without REF and SYS, the files are the systems.",
        ),
        click.option(
            "--parses",
            multiple=True,
            metavar="FILE...",
            help="Parses in CoNLL-U for depf, when other metrics read texts: a FILE for REF, each further reference "
            "and each SYS, in this order, up to the next option.",
        ),
        click.option(
            "--lower-is-better", multiple=True, metavar="NAME", help="Of the scores called NAME lower ones are better."
        ),
        click.option(
            "--docs",
            "documents",
            metavar="FILE",
            help="The id of each segment's document, one per line, a column or key as FILE#NAME, or an mteval file. "
            "Whole documents are then swapped and drawn.",
        ),
        click.option(
            "--strata",
            metavar="FILE",
            help="The id of each segment's stratum, in a file as for --docs. Draws are then within strata; shuffles "
            "are the same with them as without.",
        ),
        click.option(
            "--input-format",
            type=Name("input format", get_args(types.InputFormat)),
            help="Format of the texts, or of the scores if there are none.  [default: what their names end in tells]",
        ),
        click.option(
            "--max-input",
            type=Size(),
            default="4GiB",
            show_default=True,
            help="Size limit for a compressed file after decompression, such as 500M or 4GiB; files that are not "
            "compressed may have any size.",
        ),
        click.option("-o", "--output", metavar="FILE", help="Write to FILE; - is standard output."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def _format_option(formats: Sequence[str], default: str) -> Callable[..., Any]:
    help_text = f"Output.  [default: {default}]"
    return click.option("--format", "fmt", type=Name("format", formats), help=help_text)


CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class ClosedPipeError(Exception):
    """A broken pipe, in a form that click passes on: click itself turns EPIPE into exit code 1."""


@contextlib.contextmanager
def _broken_pipes() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise ClosedPipeError from error


class Commands(click.Group):
    """Raises :class:`ClosedPipeError` if the reader of the output has closed the pipe."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with _broken_pipes():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        check_room()
        with _broken_pipes():
            return super().invoke(ctx)


@click.group(
    cls=Commands,
    context_settings=CONTEXT,
    epilog="Start with 'reshuffle demo'; 'reshuffle COMMAND --help' has examples.",
)
@click.version_option(__version__, "--version", prog_name="reshuffle", message="%(prog)s %(version)s")
def cli() -> None:
    """Is the difference between these systems more than chance?

    Scores machine translation systems and tests their differences by resampling segments.
    """


@cli.command(
    "compare",
    cls=Greedy,
    epilog="""\b
Examples:
  reshuffle compare ref.txt baseline.txt new.txt
  reshuffle compare ref.txt *.out --baseline online-B --test bootstrap -n 100000
  reshuffle compare ref.txt a.txt.gz b.txt.gz --all-pairs --format json -o result.json
  reshuffle compare ref.txt *.out --all-pairs --stopping gandy -n 1000000 --interval delta
  reshuffle compare ref1.txt a.txt b.txt --refs ref2.txt ref3.txt
  reshuffle compare ref.txt a.txt b.txt -m bleu -m chrf --scores COMET comet.tsv#a comet.tsv#b
  reshuffle compare --scores rating a.ratings b.ratings
  reshuffle compare ref.conllu a.conllu b.conllu -m depf
  reshuffle compare ref.txt a.txt b.txt -m bleu -m depf --parses ref.conllu a.conllu b.conllu
  reshuffle compare all.tsv#ref all.tsv#a all.tsv#b --docs all.tsv#document""",
)
@click.argument("reference", metavar="REF", required=False)
@click.argument("systems", metavar="SYS SYS...", nargs=-1)
@_metric_option
@click.option(
    "--test", type=Name("test", get_args(types.Test)), default="ar", show_default=True, help="Significance test."
)
@click.option(
    "--scheme",
    type=Name("scheme", get_args(types.Scheme)),
    default="auto",
    show_default=True,
    help="How 'ar' goes through shuffles: -n random ones, 2^m that are a group, or all of them; 'auto' takes all where "
    "that costs no more than -n random ones.",
)
@click.option(
    "--stopping",
    type=Name("stopping rule", get_args(types.Stopping)),
    help="Of test ar: no more shuffles than each test needs, -n at most. 'besag-clifford': stop at 20 that reach the "
    "difference; 'gandy': stop when p <= alpha or not is decided, with an error of at most 0.001.",
)
@click.option(
    "--alternative",
    type=Name("alternative", get_args(types.Alternative)),
    default="two-sided",
    show_default=True,
    help="'greater': the system scores higher than the baseline.",
)
@click.option(
    "--baseline", metavar="NAME", help="System to compare the others with, by name or file.  [default: first]"
)
@click.option("--all-pairs", is_flag=True, help="Compare every pair of systems instead.")
@click.option(
    "--adjust",
    type=Name("adjustment", get_args(types.Adjustment)),
    help="Adjust p for all pairs under a metric; 'reshuffle metrics' says what each is.  [default: no]",
)
@click.option(
    "--interval",
    type=Name("interval", get_args(types.Interval)),
    default="percentile",
    show_default=True,
    help="Confidence interval; 'reshuffle metrics' says what each is.",
)
@click.option(
    "--confidence", "confidence_level", type=float, default=0.95, show_default=True, help="Level of the intervals."
)
@click.option(
    "--alpha", type=float, help="Level of the tests: p of at most this has a star.  [default: 1 - confidence]"
)
@_shared_options
@_format_option(get_args(types.Format), "text")
def compare_command(
    reference: str | None,
    systems: tuple[str, ...],
    baseline: str | None,
    interval: str,
    confidence_level: float,
    alpha: float | None,
    fmt: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """Test whether systems differ by more than chance.

    REF and SYS are UTF-8 text files with one segment per line, or mteval files (.sgm, .xml), tables (.tsv), JSON lines
    (.jsonl) or parses (.conllu), plain or compressed by gzip, bzip2 or xz; - is standard input. FILE#NAME takes a
    column of a table, a key of JSON lines or a system or reference of an mteval file. Every SYS is compared with the
    baseline, the first one unless --baseline names another. p is the probability of a difference as large as the one
    observed if it made no difference which system produced which output.
    """
    from ..compare import Data, compared
    from ..settings import Comparing, Levels
    from .job import CALLED, Job
    from .output import destination, progress_bar

    levels = Levels.of(interval, confidence_level, alpha, called=CALLED)
    job = Job.of(reference, systems, options, at_least=2)
    with destination(output, job.files) as write:
        given, units = job.read()
        testing = Comparing(baseline=job.system(baseline), **options)
        with progress_bar() as progress:
            resampling = replace(job.resampling, progress=progress)
            comparison = compared(Data.of(*given), units, testing, levels, resampling)
        write(comparison, fmt or "text")


@cli.command(
    "score",
    cls=Greedy,
    epilog="""\b
Examples:
  reshuffle score ref.txt system.txt
  reshuffle score ref.txt system.txt --confidence 0.95
  reshuffle score all.tsv#ref all.tsv#a all.tsv#b --segments -o segments.tsv
  zcat system.txt.gz | reshuffle score ref.txt - --lowercase --format json""",
)
@click.argument("reference", metavar="REF", required=False)
@click.argument("systems", metavar="SYS...", nargs=-1)
@_metric_option
@click.option(
    "--interval",
    type=Name("interval", get_args(types.Interval)),
    help="Give intervals of this kind.  [default: percentile, if --confidence is given]",
)
@click.option(
    "--confidence",
    "confidence_level",
    type=float,
    help="Give intervals at this level.  [default: 0.95, if --interval is given]",
)
@click.option(
    "--segments",
    is_flag=True,
    help="Write the score of every segment (with --docs: of every document) instead, as tsv or jsonl.",
)
@_shared_options
@_format_option((*get_args(types.Format), *get_args(types.SegmentFormat)), "text; tsv with --segments")
def score_command(
    reference: str | None,
    systems: tuple[str, ...],
    interval: str | None,
    confidence_level: float | None,
    segments: bool,
    fmt: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """Score systems, with the parts that make up the score.

    Files are as for 'reshuffle compare'.
    """
    from ..compare import Data, scored, segment_scores
    from ..settings import Levels
    from .job import CALLED, Job
    from .output import Result, destination, progress_bar

    levels = Levels.asked(interval, confidence_level, called=CALLED)
    job = Job.of(reference, systems, options, at_least=1)
    fmt = _score_format(fmt, segments, {"--interval": interval, "--confidence": confidence_level})
    for option, of, path in (("--docs", "documents", job.documents), ("--strata", "strata", job.strata)):
        if segments and of == "documents":
            continue
        if path is not None and levels is None:
            among = ", or add --segments for scores of documents" if of == "documents" else ""
            raise InputError(
                f"{option} without --confidence or --interval: only intervals depend on {of}; leave it out{among}"
            )
    result: Result
    with destination(output, job.files) as write:
        given, units = job.read()
        with progress_bar() as progress:
            resampling = replace(job.resampling, progress=progress)
            if segments:
                threads = resampling.threads
                result = segment_scores(*given, documents=units.documents, threads=threads, progress=progress)
            else:
                result = scored(Data.of(*given), units, levels, resampling)
        write(result, fmt)
    if segments:  # neither tsv nor jsonl has a place for it
        click.echo(f"Signature: {result.signature}", err=True)


def _score_format(fmt: str | None, segments: bool, of_intervals: dict[str, Any]) -> str:
    """The format of scores, or an error for one that is not for segments if these are asked for, or the other way."""
    for option, value in of_intervals.items():
        if segments and value is not None:
            raise InputError(f"--segments gives no intervals: leave out {option}")
    fmt = fmt or ("tsv" if segments else "text")
    of_segments, others = get_args(types.SegmentFormat), get_args(types.Format)
    if segments and fmt not in of_segments:
        raise InputError(f"--segments writes {' or '.join(of_segments)}, not {fmt}")
    if not segments and fmt not in others:
        raise InputError(f"--format {fmt} is for scores of segments: add --segments, or choose {', '.join(others)}")
    return fmt


@cli.command("metrics")
@click.argument("names", metavar="[NAME...]", nargs=-1, type=Name("metric", _metric_names))
@click.option(
    "--format",
    "fmt",
    type=Name("format", get_args(types.CatalogueFormat)),
    default="text",
    show_default=True,
    help="Output.",
)
def metrics_command(names: tuple[str, ...], fmt: str) -> None:
    """List metrics, tokenizers, tests and intervals, or the options of the metrics named."""
    from .listing import CATALOGUE_FORMATS
    from .output import terminal

    click.echo(CATALOGUE_FORMATS[fmt](terminal(), names), nl=False)


@cli.command("demo")
@click.option("--write", "directory", metavar="DIR", help="Write the corpus to DIR as text files instead.")
def demo_command(directory: str | None) -> None:
    """Compare four made-up systems on an embedded corpus."""
    from ..compare import compare
    from ..data.demo import demo_corpus, write_demo
    from .output import destination, progress_bar

    if directory is None:
        corpus = demo_corpus()
        with destination(None, []) as write:
            with progress_bar() as progress:
                comparison = compare(corpus.references, corpus.systems, progress=progress)
            write(comparison, "text")
        click.echo("\nTo repeat this with files: reshuffle demo --write demo")
        return
    paths = [str(path) for path in write_demo(directory)]
    command = shlex.join(["reshuffle", "compare", *paths])
    click.echo(f"Wrote {len(paths)} files of {demo_corpus().n_segments} lines. Now try:\n  {command}")
