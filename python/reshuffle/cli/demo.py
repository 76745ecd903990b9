"""``reshuffle demo``: the built-in corpus."""

from __future__ import annotations

import shlex

import click

__all__ = ["demo_command"]


@click.command("demo")
@click.option("--write", "directory", metavar="DIR", help="Write the corpus to DIR as text files instead.")
@click.option("--runs", type=int, metavar="N", help="Compare three systems with N optimizer runs each.")
def demo_command(directory: str | None, runs: int | None) -> None:
    """Compare four synthetic systems on a built-in corpus."""
    from ..data.demo import demo_corpus, write_demo, write_demo_runs

    if directory is None:
        _show_demo(runs)
        return
    lines = demo_corpus().n_segments
    if runs is None:
        paths = write_demo(directory)
        command, n_files = ["compare", *map(str, paths)], len(paths)
    else:
        reference, outputs = write_demo_runs(directory, runs)
        command = ["runs", "--refs", str(reference)]
        for name, paths in outputs.items():
            command += [*(["--baseline"] if name == "baseline" else ["--system", name]), *map(str, paths)]
        n_files = 1 + sum(map(len, outputs.values()))
    click.echo(f"Wrote {n_files} files of {lines} lines. Now try:\n  {shlex.join(['reshuffle', *command])}")


def _show_demo(runs: int | None) -> None:
    """Compare the systems, or their runs, and show the report."""
    from ..compare import compare
    from ..data.demo import demo_corpus, demo_runs
    from .output import Result, destination
    from .progress import progress_bar

    corpus = demo_corpus()
    result: Result
    with destination(None, []) as write:
        with progress_bar() as progress:
            if runs is None:
                result = compare(corpus.references, corpus.systems, progress=progress)
            else:
                from ..runs import compare_runs

                result = compare_runs(corpus.references, demo_runs(runs), progress=progress)
        write(result)
    same = "" if runs is None else f" --runs {runs}"
    click.echo(f"\nTo repeat this with files: reshuffle demo{same} --write demo")
