"""The command line: options in, a report out. Everything else is the public API."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from . import _core
from ._core import Progress
from .catalogue import CATALOGUE_FORMATS, about_option, flag, with_flags
from .compare import compare, score, segment_scores
from .corpus import Corpus, read_corpus, system_names
from .demo import demo_corpus, write_demo
from .errors import (
    MAX_RESAMPLES,
    MAX_SEED,
    MAX_THREADS,
    InputError,
    check_integer,
    check_level,
    check_name,
)
from .files import STDIN, display_name
from .given import GivenCounts, OwnTexts, SegmentScores
from .inputs import (
    INPUTS,
    Column,
    check_parses,
    read_columns,
    read_documents,
    read_numbers,
    read_scores,
    read_strata,
    split_name,
)
from .intervals import INTERVALS
from .metrics import NativeMetric, OptionSpec, metric, metric_specs
from .multiplicity import ADJUSTMENTS
from .report import FORMATS, SEGMENT_FORMATS, Terminal, render, render_segments
from .results import Comparison, SegmentTable
from .schemes import SCHEMES
from .significance import ALTERNATIVES, TESTS
from .stopping import STOPPING

# A bar for less would only flicker.
BAR_DELAY_SECONDS = 0.3


if TYPE_CHECKING:
    StrParam = click.ParamType[str]
else:  # generic at run time only in later releases of click
    StrParam = click.ParamType


class Name(StrParam):
    """One of the names in a registry; the error for another tells the nearest."""

    name = "name"

    def __init__(self, kind: str, known: Sequence[str]) -> None:
        self.kind = kind
        self.known = list(known)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "|".join(self.known)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if self.kind == "metric":
            value = _known_case(value, self.known)
        check_name(self.kind, value, self.known)
        return str(value)


class Numbers(StrParam):
    """Numbers with commas between them."""

    name = "numbers"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "X,X,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return [float(number) for number in value.split(",")]
        except ValueError:
            option = param.opts[0] if param is not None else "expected"
            raise InputError(f"{option} must be numbers with commas between them, got {value!r}") from None


GREEDY = ("--refs", "--parses", "--scores")


class Greedy(click.Command):
    """A command whose :data:`GREEDY` options take every file up to the next option; a file may be ``-#NAME``."""

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
        """Every file after ``--refs`` or ``--parses`` with the option once more, all after ``--scores`` as one."""
        spread: list[str] = []
        greedy = ""
        for index, arg in enumerate(args):
            if arg == "--":
                return spread + args[index:]
            if arg.startswith("-") and arg != STDIN and not arg.startswith("-#"):
                greedy = arg if arg in GREEDY else ""
            elif greedy == "--scores" and spread[-1] != greedy:
                spread[-1] += f"\0{arg}"
                continue
            elif greedy and spread[-1] != greedy:
                spread.append(greedy)
            spread.append(arg)
        return spread


def _unmarked(value: str) -> str:
    return value[1:] if value.startswith("\0-#") else value


@dataclass(frozen=True)
class Flag:
    """An option that one or more metrics have under one name."""

    option: OptionSpec
    metrics: list[str]
    choices: list[str]
    help: str


def _flags() -> list[Flag]:
    """Every option of any metric, once, whatever it means to each."""
    takers: dict[str, list[tuple[str, OptionSpec]]] = {}
    for spec in metric_specs():
        for option in spec.options:
            takers.setdefault(option.name, []).append((spec.name, option))

    def merged(of_metrics: list[tuple[str, OptionSpec]]) -> Flag:
        meanings: dict[str, list[str]] = {}
        for metric_name, option in of_metrics:
            default = "" if option.kind == "flag" or option.default is None else f"  [default: {option.default}]"
            meanings.setdefault(about_option(option.about) + default, []).append(metric_name)
        told = [f"{', '.join(names)}: {meaning}" for meaning, names in meanings.items()]
        choices = dict.fromkeys(choice for _, option in of_metrics for choice in option.choices)
        return Flag(of_metrics[0][1], [name for name, _ in of_metrics], list(choices), "; ".join(told))

    return [merged(of_metrics) for of_metrics in takers.values()]


def _metric_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """A flag for every option of any metric."""
    for made in reversed(_flags()):
        name = made.option.name
        kinds: dict[str, Any] = {
            "flag": {"is_flag": True},
            "integer": {"type": int},
            "real": {"type": float},
            "reals": {"type": Numbers()},
            "choice": {"type": Name(flag(name), made.choices)},
            "path": {"metavar": "FILE"},
        }
        command = click.option(flag(name), name, default=None, help=made.help, **kinds[made.option.kind])(command)
    return command


def _metric_option(command: Callable[..., Any]) -> Callable[..., Any]:
    metrics = [spec.name for spec in metric_specs()]
    return click.option(
        "-m",
        "--metric",
        "metrics",
        multiple=True,
        metavar="|".join(metrics),
        help="Metric; may be repeated.  [default: bleu, if there are texts]",
    )(command)


def _shared_options(command: Callable[..., Any]) -> Callable[..., Any]:
    options = [
        click.option("-n", "--n-resamples", type=int, default=10_000, show_default=True, help="Shuffles and draws."),
        click.option("--seed", type=int, default=12345, show_default=True, help="Same seed, same result."),
        click.option("--threads", type=int, help="Threads; the result does not depend on it.  [default: all cores]"),
        click.option(
            "--refs",
            multiple=True,
            metavar="FILE...",
            help="More references: every FILE up to the next option. Put it last.",
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
            help="Parses in CoNLL-U for depf, beside texts for other metrics: of REF, of all --refs, then of each SYS, "
            "every FILE up to the next option.",
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
            type=Name("input format", list(INPUTS)),
            help="Format of the texts, or of the scores if there are none.  [default: what their names end in tells]",
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


@click.group(context_settings=CONTEXT, epilog="Start with 'reshuffle demo'; 'reshuffle COMMAND --help' has examples.")
@click.version_option(_core.VERSION, "--version", prog_name="reshuffle", message="%(prog)s %(version)s")
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
@click.option("--test", type=Name("test", list(TESTS)), default="ar", show_default=True, help="Significance test.")
@click.option(
    "--scheme",
    type=Name("scheme", SCHEMES),
    default="auto",
    show_default=True,
    help="How 'ar' goes through shuffles: -n random ones, 2^m that are a group, or all of them; 'auto' takes all where "
    "that takes milliseconds.",
)
@click.option(
    "--stopping",
    type=Name("stopping rule", list(STOPPING)),
    help="Of test ar: no more shuffles than each test needs, -n at most. 'besag-clifford': stop at 20 that reach the "
    "difference; 'gandy': stop when p <= 1 - confidence or not is decided, with an error of at most 0.001.",
)
@click.option(
    "--alternative",
    type=Name("alternative", ALTERNATIVES),
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
    type=Name("adjustment", list(ADJUSTMENTS)),
    help="Adjust p for all pairs under a metric; 'reshuffle metrics' says what each is.  [default: no]",
)
@click.option(
    "--interval",
    type=Name("interval", list(INTERVALS)),
    default="percentile",
    show_default=True,
    help="Confidence interval; 'reshuffle metrics' says what each is.",
)
@click.option(
    "--confidence", "confidence_level", type=float, default=0.95, show_default=True, help="Level of the intervals."
)
@_shared_options
@_format_option(list(FORMATS), "text")
@_metric_flags
def compare_command(
    reference: str | None,
    systems: tuple[str, ...],
    baseline: str | None,
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
    job = Job.of(reference, systems, options, at_least=2)
    with _destination(output, job.files) as write:
        texts, metrics, documents, strata = job.read()
        baseline = job.system(baseline)
        with _bar() as progress:
            comparison = compare(
                *texts, metrics, baseline=baseline, progress=progress, documents=documents, strata=strata, **options
            )
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
    type=Name("interval", list(INTERVALS)),
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
    help="Write the score of every segment instead, or with --docs of every document, as tsv or jsonl.",
)
@_shared_options
@_format_option([*FORMATS, *SEGMENT_FORMATS], "text; tsv with --segments")
@_metric_flags
def score_command(
    reference: str | None,
    systems: tuple[str, ...],
    segments: bool,
    fmt: str | None,
    output: str | None,
    **options: Any,
) -> None:
    """Score systems, with the parts that make up the score.

    Files are as for 'reshuffle compare'.
    """
    job = Job.of(reference, systems, options, at_least=1)
    fmt = _score_format(fmt, segments, options)
    for option, of, path in (("--docs", "documents", job.documents), ("--strata", "strata", job.strata)):
        if segments and of == "documents":
            continue
        if path is not None and options["confidence_level"] is None and options["interval"] is None:
            among = ", or --segments for scores of documents" if of == "documents" else ""
            raise InputError(
                f"{option} without --confidence or --interval: only intervals depend on {of}; leave it out{among}"
            )
    with _destination(output, job.files) as write:
        texts, metrics, documents, strata = job.read()
        with _bar() as progress:
            if segments:
                table = segment_scores(
                    *texts, metrics, documents=documents, threads=options["threads"], progress=progress
                )
                write(table, fmt)
            else:
                write(score(*texts, metrics, documents=documents, strata=strata, progress=progress, **options), fmt)
    if segments:  # neither tsv nor jsonl has a place for it
        click.echo(f"Signature: {table.signature}", err=True)


def _score_format(fmt: str | None, segments: bool, options: dict[str, Any]) -> str:
    """The format of scores, or an error for one that is not for segments if these are asked for, or the other way."""
    for name, option in (("interval", "--interval"), ("confidence_level", "--confidence")):
        if segments and options[name] is not None:
            raise InputError(f"--segments gives no intervals: leave out {option}")
    fmt = fmt or ("tsv" if segments else "text")
    if segments and fmt not in SEGMENT_FORMATS:
        raise InputError(f"--segments is written as {' or '.join(SEGMENT_FORMATS)}, not as {fmt}")
    if not segments and fmt not in FORMATS:
        raise InputError(f"--format {fmt} is for scores of segments: add --segments, or choose {', '.join(FORMATS)}")
    return fmt


@cli.command("metrics")
@click.argument("names", metavar="[NAME...]", nargs=-1, type=Name("metric", [spec.name for spec in metric_specs()]))
@click.option(
    "--format",
    "fmt",
    type=Name("format", list(CATALOGUE_FORMATS)),
    default="text",
    show_default=True,
    help="Output.",
)
def metrics_command(names: tuple[str, ...], fmt: str) -> None:
    """List metrics, tokenizers, tests and intervals, or the options of the metrics named."""
    click.echo(CATALOGUE_FORMATS[fmt](_terminal(), names), nl=False)


@cli.command("demo")
@click.option("--write", "directory", metavar="DIR", help="Write the corpus to DIR as text files instead.")
def demo_command(directory: str | None) -> None:
    """Compare four made-up systems on an embedded corpus."""
    if directory is None:
        corpus = demo_corpus()
        with _bar() as progress:
            comparison = compare(corpus.references, corpus.systems, progress=progress)
        click.echo(render(comparison, "text", _terminal()), nl=False)
        click.echo("\nTo repeat this with files: reshuffle demo --write demo")
        return
    paths = [str(path) for path in write_demo(directory)]
    command = shlex.join(["reshuffle", "compare", *paths])
    click.echo(f"Wrote {len(paths)} files of {demo_corpus().n_segments} lines. Now try:\n  {command}")


@dataclass(frozen=True)
class Job:
    """What the command line asks to be scored: files of texts and parses, metrics, files of scores."""

    reference: str | None
    refs: Sequence[str]
    systems: Sequence[str]
    parses: Sequence[str]
    metrics: Sequence[NativeMetric]
    scores: Mapping[str, Sequence[str]]
    lower_is_better: Sequence[str]
    documents: str | None
    strata: str | None
    input_format: str | None
    threads: int | None

    @classmethod
    def of(cls, reference: str | None, systems: Sequence[str], options: dict[str, Any], at_least: int) -> Job:
        """Check all that can be checked before a file is read; takes what it uses out of ``options``."""
        refs, parses, lower = options.pop("refs"), options.pop("parses"), options.pop("lower_is_better")
        scores: dict[str, list[str]] = {}
        for given in options.pop("scores"):
            name, *files = given.split("\0")
            if not name:
                raise InputError("--scores takes a name and files, got an empty name")
            if not files:
                raise InputError(f"--scores {name}: expected a name and a file for each system, got the name alone")
            if name in scores:
                raise InputError(f"--scores {name} is given twice")
            scores[name] = files
        for name in lower:
            if not scores:
                raise InputError(f"--lower-is-better {name} is about --scores {name}, and no --scores are given")
            check_name("scores", name, list(scores))
        names = options.pop("metrics") or (["bleu"] if reference is not None else [])
        metrics = _metrics(names, options)
        _check_numbers(options)
        if reference is None:
            if refs:
                raise InputError("no REF: --refs takes every file up to the next option, so put it last")
            if metrics:
                raise InputError(f"-m {names[0]} needs texts: give REF and SYS; scores from elsewhere need no -m")
            if not scores:
                raise InputError("no reference and no systems: give REF and SYS, or scores from elsewhere by --scores")
            systems = next(iter(scores.values()))
        # One file of scores alone may hold those of several systems; only reading it tells.
        if reference is not None or len(systems) > 1:
            _check_systems(systems, refs, at_least)
        for name, files in scores.items():
            if len(files) not in (1, len(systems)):
                raise _wrong_number_of_files(name, files, systems)
        if parses:
            _check_parses(reference, metrics)
        ids = options.pop("documents"), options.pop("strata")
        input_format, threads = options.pop("input_format"), options["threads"]
        return cls(reference, refs, systems, parses, metrics, scores, lower, *ids, input_format, threads)

    @property
    def files(self) -> list[str]:
        """Everything that will be read."""
        texts = [] if self.reference is None else [self.reference, *self.refs, *self.systems]
        ids = [path for path in (self.documents, self.strata) if path is not None]
        return [*texts, *self.parses, *self._score_files, *ids]

    @property
    def _score_files(self) -> list[str]:
        return [file for files in self.scores.values() for file in files]

    @property
    def names(self) -> list[str]:
        """What the systems are called."""
        return system_names(self.systems)

    def system(self, name: str | None) -> str | None:
        """A system by its name or file."""
        if name is None or name in self.names:
            return name
        return dict(zip(self.systems, self.names, strict=True)).get(name, name)

    def read(
        self,
    ) -> tuple[tuple[Any, Any], list[NativeMetric | GivenCounts], Sequence[str] | None, Sequence[str] | None]:
        """References and systems, None without texts; the metrics; the ids of documents and of strata, if asked for."""
        if self.files.count(STDIN) > 1:
            raise InputError("standard input (-) can be read only once")
        texts: tuple[Any, Any] = (None, None)
        metrics: list[NativeMetric | GivenCounts] = list(self.metrics)
        if self.reference is not None:
            references = [self.reference, *self.refs]
            corpus = read_corpus(
                references, self.systems, self.input_format, documents=self.documents, strata=self.strata
            )
            texts, documents, strata = (corpus.references, corpus.systems), corpus.documents, corpus.strata
            if self.parses:
                metrics = [self._on_parses(m, corpus) if m.key in _of_parses() else m for m in self.metrics]
            self._check_kinds(metrics, corpus.sources)
        else:
            documents, strata = self._ids(read_documents, self.documents), self._ids(read_strata, self.strata)
        given = [
            SegmentScores(name, self._scores(name, files), higher_is_better=name not in self.lower_is_better)
            for name, files in self.scores.items()
        ]
        return texts, [*metrics, *given], documents, strata

    def _ids(self, read: Callable[[str, str | None], Sequence[str]], path: str | None) -> Sequence[str] | None:
        """Ids beside scores from elsewhere; the format given is theirs if they stand in the same file."""
        if path is None:
            return None
        is_of_scores = split_name(path)[0] in {split_name(file)[0] for file in self._score_files}
        return read(path, self.input_format if is_of_scores else None)

    def _on_parses(self, m: NativeMetric, corpus: Corpus) -> OwnTexts:
        """A metric on the parses, if these are parses of the texts."""
        n = len(corpus.references)
        if len(self.parses) != len(corpus.sources):  # a file of references may hold several
            raise InputError(
                f"--parses: expected a file for each of {n} references and {len(self.systems)} systems, "
                f"got {len(self.parses)}"
            )
        parses = read_columns(self.parses, "conllu")
        for parsed, text in zip(parses, corpus.sources, strict=True):
            if text.format != "conllu":
                check_parses(parsed, text)
        # The parse of a reference that is missing is missing, too.
        references = [
            [None if line is None else parse for line, parse in zip(column, parsed.lines, strict=True)]
            for column, parsed in zip(corpus.references, parses[:n], strict=True)
        ]
        systems = dict(zip(corpus.systems, (parsed.lines for parsed in parses[n:]), strict=True))
        return OwnTexts(m, references, systems, self.threads)

    def _scores(self, name: str, files: Sequence[str]) -> dict[str, list[float]]:
        """Scores of segments by system: from a file for each, or from one that names the systems itself."""
        # --input-format is about texts where there are any; numbers beside them are told by their endings.
        input_format = self.input_format if self.reference is None else None
        if len(files) > 1:
            return dict(zip(self.names, (read_numbers(file, input_format) for file in files), strict=True))
        by_system = read_scores(files[0], input_format)
        if None not in by_system:
            return {str(system): scores for system, scores in by_system.items()}
        if len(self.systems) > 1:
            raise _wrong_number_of_files(name, files, self.systems)
        return {self.names[0]: by_system[None]}

    def _check_kinds(self, metrics: Sequence[NativeMetric | GivenCounts], columns: Sequence[Column]) -> None:
        for m in metrics:
            if not isinstance(m, NativeMetric):
                continue
            of_parses = m.key in _of_parses()
            for column in columns:
                if of_parses != (column.format == "conllu"):
                    wanted, came = ("parses in CoNLL-U", "text") if of_parses else ("text", "parses in CoNLL-U")
                    hint = "; --parses gives it parses beside texts" if of_parses else ""
                    raise InputError(
                        f"{m.name} reads {wanted}, but {column.name} holds {came}; formats are told by the ending or "
                        f"by --input-format{hint}"
                    )


def _of_parses() -> set[str]:
    return {spec.name for spec in metric_specs() if spec.of_parses}


def _check_parses(reference: str | None, metrics: Sequence[NativeMetric]) -> None:
    if reference is None:
        raise InputError("no REF: --parses takes every file up to the next option, so put it last")
    if not any(m.key in _of_parses() for m in metrics):
        raise InputError(f"--parses means nothing to {', '.join(m.key for m in metrics)}: add -m depf, or leave it out")


def _wrong_number_of_files(name: str, files: Sequence[str], systems: Sequence[str]) -> InputError:
    return InputError(
        f"--scores {name}: expected a file for each of {len(systems)} systems, got {len(files)}; it takes "
        "every file up to the next option, so put it last"
    )


def _metrics(names: Sequence[str], options: dict[str, Any]) -> list[NativeMetric]:
    """Takes the metrics' own options out of ``options`` and gives each metric those that it has."""
    takers = {made.option.name: made.metrics for made in _flags()}
    known = [spec.name for spec in metric_specs()]
    names = [_known_case(name, known) for name in names]
    for name in names:
        check_name("metric", name, known)
    given = {option: options.pop(option) for option in takers}
    given = {option: value for option, value in given.items() if value is not None}
    for option in given:
        if not set(takers[option]).intersection(names):
            raise InputError(
                f"{flag(option)} means nothing to {', '.join(names) or 'scores from elsewhere'}: leave it out"
            )
    return [_metric(name, {o: v for o, v in given.items() if name in takers[o]}) for name in names]


def _metric(name: str, options: dict[str, Any]) -> NativeMetric:
    try:
        return metric(name, **options)
    except InputError as error:
        names = [option.name for spec in metric_specs() if spec.name == name for option in spec.options]
        raise InputError(with_flags(str(error), names)) from None


def _known_case(name: str, known: Sequence[str]) -> str:
    """BLEU is bleu: there are no two metrics whose names differ in case alone."""
    return name.lower() if name.lower() in known else name


def _check_numbers(options: dict[str, Any]) -> None:
    """Before any file is read: a mistyped number should not cost a wait."""
    check_integer("-n", options["n_resamples"], 1, MAX_RESAMPLES)
    check_integer("--seed", options["seed"], 0, MAX_SEED)
    if options["threads"] is not None:
        check_integer("--threads", options["threads"], 1, MAX_THREADS)
    if options["confidence_level"] is not None:
        check_level("--confidence", options["confidence_level"])


def _check_systems(systems: Sequence[str], refs: Sequence[str], at_least: int) -> None:
    if len(systems) >= at_least:
        return
    wanted = "no system: give the output of at least one" if at_least == 1 else "expected at least two systems"
    hint = "; --refs takes every file up to the next option, so put it last" if refs else ""
    raise InputError(f"{wanted}, got {', '.join(map(display_name, systems)) or 'none'}{hint}")


Result = Comparison | SegmentTable
Writer = Callable[[Result, str], object]


def _rendered(result: Result, fmt: str, terminal: Terminal | None = None) -> Iterator[str]:
    """In pieces: a string of all segments of all systems would be large."""
    if isinstance(result, SegmentTable):
        yield from render_segments(result, fmt)
    else:
        yield render(result, fmt, terminal)


def _echo(result: Result, fmt: str) -> None:
    for piece in _rendered(result, fmt, _terminal()):
        click.echo(piece, nl=False)


@contextlib.contextmanager
def _destination(output: str | None, inputs: Sequence[str]) -> Iterator[Writer]:
    """Where the report goes. A file appears whole or not at all, and only if all went well."""
    if output in (None, STDIN):
        yield _echo
        return
    if not output:
        raise InputError("-o takes the name of a file, got an empty one")
    target = Path(os.path.realpath(output))
    shown = display_name(output)
    for path, _ in map(split_name, inputs):
        if path != STDIN and target.exists() and Path(path).exists() and target.samefile(path):
            raise InputError(f"{shown} is one of the inputs: it would be overwritten; choose another name for -o")
    if target.is_dir():
        raise InputError(f"{shown} is a directory: -o takes the name of a file")
    if target.exists() and not target.is_file():  # a pipe, a terminal, /dev/null: nothing to replace
        try:
            with _open(target, "w", shown) as stream:
                yield lambda result, fmt: stream.writelines(_rendered(result, fmt))
        except OSError as error:
            raise InputError(f"{shown} cannot be written: {error.strerror or error}") from None
        return
    if target.exists() and not os.access(target, os.W_OK):
        raise InputError(f"{shown} cannot be written: Permission denied")
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with _open(part, "x", shown) as stream:
            yield lambda result, fmt: stream.writelines(_rendered(result, fmt))
        if target.exists():
            part.chmod(target.stat().st_mode & 0o7777)
        part.replace(target)
    except OSError as error:
        raise InputError(f"{shown} cannot be written: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)


def _open(path: Path, mode: str, shown: str) -> Any:
    try:
        return path.open(mode, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"{shown} cannot be written: {error.strerror or error}") from None


def _terminal() -> Terminal:
    """What standard output can show."""
    if sys.stdout is None or not sys.stdout.isatty():
        return Terminal()
    return Terminal(os.get_terminal_size(sys.stdout.fileno()).columns or 80, "NO_COLOR" not in os.environ)


@contextlib.contextmanager
def _bar() -> Iterator[Progress]:
    """A progress bar on standard error while the body runs, if that takes long and somebody is watching."""
    progress = Progress()
    if not sys.stderr.isatty():
        yield progress
        return
    finished = threading.Event()
    watcher = threading.Thread(target=_draw_bar, args=(progress, finished), daemon=True)
    watcher.start()
    try:
        yield progress
    finally:
        finished.set()
        watcher.join()


def _draw_bar(progress: Progress, finished: threading.Event) -> None:
    if finished.wait(BAR_DELAY_SECONDS):
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        stage, task = "", None
        while True:
            if progress.stage != stage or task is None:
                if task is not None:
                    bars.remove_task(task)
                stage = progress.stage
                task = bars.add_task(stage)
            bars.update(task, total=progress.total or None, completed=progress.done)
            if finished.wait(0.1):
                return


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code: 0, 2 for bad input, 130 for Ctrl-C."""
    if hasattr(sys.stdout, "reconfigure"):
        # UTF-8 in, UTF-8 out, whatever the locale: a report redirected to a file is the same everywhere.
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        code = cli.main(args, prog_name="reshuffle", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except InputError as error:
        _fail(str(error))
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.ClickException as error:
        _fail(error.format_message())
    except (KeyboardInterrupt, click.Abort):
        click.echo("reshuffle: interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # Whoever reads has had enough; what is still buffered must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:  # of standard output: files have had their sentence
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _fail(f"standard output cannot be written: {error.strerror or error}")
    sys.exit(code or 0)


def _fail(message: str) -> NoReturn:
    click.echo(f"reshuffle: error: {message}", err=True)
    sys.exit(2)
