"""``reshuffle demo``: the built-in corpus."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import InputError, printable
from .params import option

if TYPE_CHECKING:
    from .._core import Progress
    from ..data.corpus import Corpus
    from ..results import Comparison
    from ..results.studies import MetaEvaluation, StudyResult, TuningResult


# What people ask first, and the commands that answer it with the files of the corpus.
TOUR = (
    (
        "Is another system better than the baseline?",
        "compare demo/reference.txt demo/baseline.txt demo/larger.txt demo/tuned.txt demo/rules.txt",
    ),
    (
        "Which segments make the difference?",
        "flips demo/reference.txt demo/baseline.txt demo/tuned.txt -m chrf --threshold 60 --top 3",
    ),
    (
        "May 'tuned' replace the baseline, if it is not worse by 1 BLEU or more?",
        "gate demo/baseline.txt demo/tuned.txt --ref demo/reference.txt --margin bleu=1",
    ),
)


@click.command("demo")
@option("--tour", is_flag=True, help="Show three commands and what they answer, a screen each.")
@option("--write", "directory", metavar="DIR", help="Write the corpus to DIR as text files instead.")
@option("--runs", type=int, metavar="N", help="Compare three systems with N optimizer runs each.")
@option("--judgments", is_flag=True, help="Compare metrics with the votes of simulated people.")
@option("--lists", is_flag=True, help="Tune weights of features on k-best lists.")
def demo_command(tour: bool, directory: str | None, runs: int | None, judgments: bool, lists: bool) -> None:
    """Compare four synthetic systems on a built-in corpus."""
    flags = _flags(runs, judgments, lists) | ({"--tour": True, "--write": directory is not None} if tour else {})
    given = [name for name, is_given in flags.items() if is_given]
    if len(given) > 1:
        raise InputError(f"{given[0]} and {given[1]} cannot be combined: leave out one of them")
    if tour:
        _show_tour()
        return
    if directory is None:
        _show_demo(runs, judgments, lists)
        return
    if lists:
        written, command = _write_lists(directory)
    elif judgments:
        written, command = _write_judgments(directory)
    else:
        written, command = _write_texts(directory, runs)
    click.echo(f"Wrote {written}. Now try:\n  {printable(shlex.join(['reshuffle', *command]))}")


def _write_texts(directory: str, runs: int | None) -> tuple[str, list[str]]:
    """Write the systems, or their runs. Returns what was written, and the command that compares them."""
    from ..data.demo import demo_corpus, write_demo, write_demo_runs

    if runs is None:
        paths = write_demo(directory)
        command, n_files = ["compare", *map(str, paths)], len(paths)
    else:
        reference, outputs = write_demo_runs(directory, runs)
        command, n_files = ["runs", "--refs", str(reference)], 1 + sum(map(len, outputs.values()))
        for name, paths in outputs.items():
            command += ["--baseline" if name == "baseline" else "--system", *map(str, paths)]
    return f"{n_files} files of {demo_corpus().n_segments} lines", command


def _write_judgments(directory: str) -> tuple[str, list[str]]:
    """The same for votes and the texts that they are about."""
    from ..data.demo import demo_corpus, write_demo_judgments

    file, folder, votes = write_demo_judgments(directory)
    command = ["meta", "segments", "--judgments", str(votes), "--refs", str(file), "--systems", str(folder)]
    return f"{2 + len(demo_corpus().systems)} files", [*command, "-m", "sentbleu", "chrf", "ter"]


def _flags(runs: int | None, judgments: bool, lists: bool) -> dict[str, bool]:
    """The options of which there may be only one."""
    return {"--runs": runs is not None, "--judgments": judgments, "--lists": lists}


def _show_tour() -> None:
    """Run the commands of the tour on files in a temporary folder. On a terminal, a key shows the next one."""
    from ..data.demo import write_demo
    from .process import cleanup
    from .root import cli

    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, cleanup(lambda: shutil.rmtree(folder, ignore_errors=True)):
        os.chdir(folder)
        try:
            write_demo("demo")
            for number, (question, command) in enumerate(TOUR, 1):
                click.echo(f"{number} of {len(TOUR)}: {question}\n\n$ reshuffle {command}")
                cli.main(shlex.split(command), prog_name="reshuffle", standalone_mode=False)
                click.echo("" if number < len(TOUR) else "\nTo run them yourself: reshuffle demo --write demo")
                if number < len(TOUR):
                    click.pause("Any key shows the next one.\n")  # does nothing if nobody is there to press it
        finally:
            os.chdir(before)


def _write_lists(directory: str) -> tuple[str, list[str]]:
    """The same for k-best lists."""
    from ..data.demo_lists import write_demo_lists

    dev, dev_refs, test, test_refs, weights = map(str, write_demo_lists(directory))
    command = ["tune", "mert", "--nbest", dev, "--refs", dev_refs, "--init", weights, "--test-set", test, test_refs]
    return "5 files", [*command, "--replications", "5"]


def _show_demo(runs: int | None, judgments: bool, lists: bool) -> None:
    """Compare the systems, or their runs, or metrics with votes, or tune on lists, and show the report."""
    from ..compare import compare
    from ..data.demo import demo_corpus, demo_runs
    from ..runs import compare_runs
    from .job import started
    from .output import Output

    corpus = demo_corpus()
    with started(Output(), []) as job:
        progress = job.progress

        def compute() -> Comparison | StudyResult:
            if judgments:
                return _metrics(corpus, progress)
            if lists:
                return _tuning(progress)
            if runs is None:
                return compare(corpus.references, corpus.systems, progress=progress)
            return compare_runs(corpus.references, demo_runs(runs), progress=progress)

        job.report(compute)
    given = next((name for name, is_given in _flags(runs, judgments, lists).items() if is_given), None)
    same = "" if given is None else f" {given}" if runs is None else f" {given} {runs}"
    click.echo(f"\nTo repeat this with files: reshuffle demo{same} --write demo")
    if not same:
        click.echo("To see two more commands: reshuffle demo --tour")


def _metrics(corpus: Corpus, progress: Progress) -> MetaEvaluation:
    """How well metrics agree with the votes."""
    from ..data.demo import demo_votes
    from ..data.judgments import Judgments
    from ..meta import JudgedSet, segments

    names = list(corpus.systems)
    votes = [(segment - 1, names.index(better), names.index(worse)) for segment, better, worse in demo_votes()]
    segment, better, worse = zip(*votes, strict=True)
    judgments = Judgments.from_votes(names, corpus.n_segments, segment, better, worse).net()
    test_set = JudgedSet.from_texts(
        corpus.references, corpus.systems, ["sentbleu", "chrf", "ter"], judgments=judgments, progress=progress
    )
    return segments(test_set, progress=progress)


def _tuning(progress: Progress) -> TuningResult:
    """The result of tuning on the lists, read as from files."""
    from .. import _core
    from ..data.demo_lists import WEIGHTS, demo_lists
    from ..tune import NBest, tune

    (dev, refs), (test, test_refs) = (
        (NBest(_core.NBest.parse("\n".join(lines).encode(), name), name), references)
        for name, (lines, references) in demo_lists().items()
    )
    found = tune("mert", dev, refs, initial=WEIGHTS, test=(test, test_refs), replications=5, progress=progress)
    return found.result
