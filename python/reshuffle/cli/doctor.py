"""``reshuffle doctor``: what is installed, what is missing and how to get it; and what a file is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..data.reading import path_is, split_name
from ..errors import InputError, InputWarning, Option, counted, flag, printable
from ..grouping import grouped
from .help import WithHelp
from .params import option

if TYPE_CHECKING:
    from .file_kinds import Found


# The groups of requirements that only developers install, and packages that users may have besides reshuffle, too.
FOR_DEVELOPERS = r"extra == .(test|interop|docs|lint|bench)\b"
WORKS_WITH = ("sacrebleu", "pandas", "polars")


@click.command("doctor", cls=WithHelp)
@click.argument("files", metavar="[FILE...]", nargs=-1)
@option("--json", "as_json", is_flag=True, help="Write an object in JSON.")
def doctor_command(files: tuple[str, ...], as_json: bool) -> None:
    if files:
        from .file_trials import examined, found_together

        found: dict[str, list[Found]] = {}
        problems: list[InputError] = []
        for file in files:
            try:
                found[file] = examined(file if path_is(file) else split_name(file)[0])
            except InputError as error:
                problems.append(error)
        if together := found_together(found):
            # A command that takes them all is enough.
            alone = {file: [replace(each, commands=()) for each in kinds] for file, kinds in found.items()}
            found = {**(found if as_json or not together.commands else alone), "Together": [together]}
        if as_json and found:
            shown = {file: [asdict(each) for each in kinds] for file, kinds in found.items()}
            click.echo(json.dumps(shown, indent=2, ensure_ascii=False))
        elif found:
            click.echo("\n\n".join(_about_file(file, kinds) for file, kinds in found.items()))
        for problem in problems[:-1]:
            click.echo(f"reshuffle: error: {printable(str(problem.with_flags()))}", err=True)
        if problems:
            raise problems[-1]
        return
    found_here = health()
    click.echo(json.dumps(found_here, indent=2, ensure_ascii=False) if as_json else "\n".join(_lines(found_here)))


def _about_file(file: str, found: list[Found]) -> str:
    """What a file is, and below it the commands, which are not broken so that they can be copied."""
    from .explain import WIDTH, wrapped
    from .output import terminal

    lines = [f"{printable(file)}:"]
    for each in found:
        about = f"{each.kind} ({each.format})" if each.format else each.kind
        first = (f"Not {each.kind}", each.problem) if each.problem else ("Is", about)
        rows = [first, ("Holds", each.contents), *(("Caution", text) for text in each.watch)]
        lines += [wrapped(name, printable(text), terminal().width or WIDTH) for name, text in rows if text]
        lines += [f"    {printable(command)}" for command in each.commands]
    return "\n".join(lines)


def health() -> dict[str, Any]:
    """What reshuffle runs with: versions, what works of what is optional, and how to get the rest."""
    import platform

    from .. import __version__, _core

    problems = {name: _problem(check) for name, check in _optional()}
    return {
        "reshuffle": __version__,
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": platform.platform(),
        "vector_instructions": _core.simd(),
        "threads": _core.threads(),
        "generator": _core.GENERATOR,
        "unicode": _core.UNICODE_VERSION,
        "packages": dict(_packages()),
        "usable": [name for name, problem in problems.items() if not problem],
        "missing": {name: problem for name, problem in problems.items() if problem},
    }


def _packages() -> Iterator[tuple[str, str]]:
    """The installed packages that reshuffle needs or can work with, with their versions; not those of developers."""
    import re
    from importlib import metadata

    needed = [each for each in metadata.requires("reshuffle") or () if not re.search(FOR_DEVELOPERS, each)]
    names = (re.split(r"[^\w.-]", each)[0] for each in needed)
    for name in dict.fromkeys([*names, *WORKS_WITH]):
        try:
            yield name, metadata.version(name)
        except metadata.PackageNotFoundError:
            continue


def _optional() -> Iterator[tuple[str, Callable[[], object]]]:
    """What is optional, and what raises an error that says how to get it."""
    from ..data.formats import _zip
    from ..data.retrieval import imported_measures
    from ..execution.executors import imported_dask
    from ..metrics.meteor import warn_of_gaps
    from ..metrics.named import metric
    from ..metrics.tokenizers import EXTERNAL, load
    from ..report.frames import imported
    from ..report.plots import check_matplotlib

    for name in EXTERNAL:
        yield name, partial(load, name)
    yield "METEOR", lambda: warn_of_gaps(metric("meteor").core)
    yield "figures", check_matplotlib
    yield "search (--qrels)", imported_measures
    yield "inspect_ai logs", lambda: _zip.READ_BY_PYTHON or _zip.read_by_package()
    yield "Dask clusters", partial(imported_dask, "HOST:PORT")
    yield "pandas", partial(imported, "pandas")
    yield "polars", partial(imported, "polars")


def _problem(check: Callable[[], object]) -> str:
    """Why something cannot be used, and how to get it; empty if it can."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other packages, while they are imported
        warnings.simplefilter("error", InputWarning)
        try:
            check()
        except (InputError, InputWarning) as problem:
            return str(problem.with_names(Option, flag).with_flags())
        except ImportError as problem:  # also of a package that is installed and broken
            return str(problem)
    return ""


def _lines(health: Mapping[str, Any]) -> Iterator[str]:
    from .completion import switch
    from .explain import WIDTH, wrapped
    from .output import terminal

    line, file = switch()
    rows: dict[str, Any] = {
        "Versions": f"reshuffle {health['reshuffle']}, Python {health['python']}, {health['system']}",
        "Computes with": f"{health['vector_instructions']} vector instructions (RESHUFFLE_SIMD chooses others), "
        f"{counted(health['threads'], 'thread')} (--workers), {health['generator']}",
        "Text": f"Unicode {health['unicode']}",
        "Packages": ", ".join(f"{name} {version}" for name, version in health["packages"].items()),
        "Optional": ", ".join(health["usable"]) or "nothing",
    }
    width = terminal().width or WIDTH
    yield from (wrapped(heading, printable(text), width) for heading, text in rows.items())
    by_problem = grouped((problem, name) for name, problem in health["missing"].items())
    if by_problem:
        yield from ("", "What is missing, and how to get it:")
    yield from (wrapped(", ".join(names), printable(problem), width) for problem, names in by_problem.items())
    yield from ("", f"If the Tab key does not complete names, add this line to {file}:", f"  {line}")
