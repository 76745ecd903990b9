"""``reshuffle demo``: the built-in corpus."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import click

from ..errors import InputError, printable
from .help import WithHelp
from .params import option

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


@click.command("demo", cls=WithHelp)
@option("--tour", is_flag=True, help="Show three commands and what they answer, a screen each.")
@option("--write", "directory", metavar="DIR", help="Write the corpus to DIR as text files instead.")
@option("--runs", type=int, metavar="N", help="Compare three systems with N optimizer runs each.")
@option("--judgments", is_flag=True, help="Compare metrics with the votes of simulated people.")
@option("--lists", is_flag=True, help="Tune weights of features on k-best lists.")
def demo_command(tour: bool, directory: str | None, runs: int | None, judgments: bool, lists: bool) -> None:
    flags = {"--runs": runs is not None, "--judgments": judgments, "--lists": lists}
    chosen = [name for name, is_given in flags.items() if is_given]
    given = [*chosen, "--tour", *(["--write"] if directory is not None else [])] if tour else chosen
    if len(given) > 1:
        raise InputError(f"{given[0]} and {given[1]} cannot be combined: leave out one of them")
    write = _write_lists if lists else _write_judgments if judgments else partial(_write_texts, runs=runs)
    if tour:
        _show_tour()
    elif directory is not None:
        written, command = write(directory)
        click.echo(f"Wrote {written}. Now try:\n  {printable(shlex.join(['reshuffle', *command]))}")
    else:
        with _temporary_folder():
            _run(write("demo")[1])
        same = "".join(f" {flag}" for flag in chosen) + (f" {runs}" if runs is not None else "")
        click.echo(f"\nTo repeat this with files: reshuffle demo{same} --write demo")
        if not same:
            click.echo("To see three commands and what they answer: reshuffle demo --tour")


def _write_texts(directory: str, runs: int | None) -> tuple[str, list[str]]:
    """Write the systems, or their runs. Returns what was written, and the command that reads it; so do the others."""
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
    """Write votes and the texts that they are about."""
    from ..data.demo import demo_corpus, write_demo_judgments

    file, folder, votes = write_demo_judgments(directory)
    command = ["meta", "segments", "--judgments", str(votes), "--refs", str(file), "--systems", str(folder)]
    return f"{2 + len(demo_corpus().systems)} files", [*command, "-m", "sentbleu", "chrf", "ter"]


def _write_lists(directory: str) -> tuple[str, list[str]]:
    """Write k-best lists."""
    from ..data.demo_lists import write_demo_lists

    dev, dev_refs, test, test_refs, weights = map(str, write_demo_lists(directory))
    command = ["tune", "mert", "--nbest", dev, "--refs", dev_refs, "--init", weights, "--test-set", test, test_refs]
    return "5 files", [*command, "--replications", "5"]


@contextlib.contextmanager
def _temporary_folder() -> Iterator[None]:
    """Work in a temporary folder during the body."""
    from .process import cleanup

    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, cleanup(lambda: shutil.rmtree(folder, ignore_errors=True)):
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _run(command: Sequence[str]) -> None:
    from .root import cli

    cli.main(list(command), prog_name="reshuffle", standalone_mode=False)


def _show_tour() -> None:
    """Run the commands of the tour. On a terminal, a key shows the next one."""
    from ..data.demo import write_demo

    with _temporary_folder():
        write_demo("demo")
        for number, (question, command) in enumerate(TOUR, 1):
            click.echo(f"{number} of {len(TOUR)}: {question}\n\n$ reshuffle {command}")
            _run(shlex.split(command))
            click.echo("" if number < len(TOUR) else "\nTo run them yourself: reshuffle demo --write demo")
            if number < len(TOUR):
                click.pause("Press any key for the next one.\n")  # does nothing if nobody is there to press it
