"""What reports tell, what refused commands and calls say, and what is warned of: the texts in ``tests/data/told``.

After an intended change of wording, run the tests with ``RESHUFFLE_UPDATE_DOCS=1`` and read the diff.
"""

import os
import re
import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import reshuffle
from reshuffle import InputError, InputWarning, __version__
from reshuffle.cli.main import run

__all__ = [
    "assert_noted",
    "assert_raises",
    "assert_refused",
    "assert_told",
    "assert_warned",
    "beyond_the_first",
    "command",
]

FOLDER = Path(__file__).resolve().parents[1] / "data/told"
# The names that an error lists, of which the first will do.
KNOWN = re.compile(r"([Kk]nown: [^,\n]+, [^,\n]+), [^\n]+")
# What argparse lists, in quotation marks in earlier releases of Python only.
CHOICES = re.compile(r"\(choose from [^\n]+\)")


def assert_told(file: str, texts: Mapping[str, str]) -> None:
    """The texts of all cases are those of the file, each below the name of its case."""
    assert_same(file, "\n".join(f"=== {case}\n{text.strip()}\n" for case, text in texts.items()))


def beyond_the_first(texts: Mapping[str, str]) -> dict[str, str]:
    """The first text, and the lines of each other text that the first does not have, with the number of the others."""
    (name, first), *others = texts.items()
    usual, told = first.splitlines(), {name: first}
    for case, text in others:
        lines = [line for line in text.splitlines() if line]
        own = [line for line in lines if line not in usual]
        told[f"{case} (lines as above: {len(lines) - len(own)})"] = "\n".join(own)
    return told


def assert_refused(file: str, run: Callable[..., Any], program: str = "reshuffle") -> None:
    """Each command of the file ends with exit code 2 and the error that is below it, and nothing else.

    A new command is a line of the file that begins with ``$``; an update writes its error. Before it may be lines that
    write or change a file: ``$ printf 'text' > name`` and ``$ sed -i 's/old/new/' name``.
    """
    told = []
    for line, words in commands_of(file, program):
        told.append(line)
        if words is not None:
            outcome = run(*words)
            *_, error = outcome.err.splitlines()
            assert (outcome.code, outcome.out) == (2, ""), line
            assert error.startswith(f"{program}: error: "), line
            told.append(CHOICES.sub("(choose from …)", KNOWN.sub(r"\1, …", outcome.err.strip())))
    assert_same(file, "\n".join(told))


def assert_noted(file: str, run: Callable[..., Any]) -> None:
    """Each command of the file succeeds, with the notes and warnings that are below it, as refused ones have errors."""
    told = []
    for line, words in commands_of(file, "reshuffle"):
        told.append(line)
        if words is not None:
            outcome = run(*words)
            assert (outcome.code, outcome.out != "") == (0, True), line
            told += outcome.err.splitlines()
    assert_same(file, "\n".join(told))


def commands_of(file: str, program: str) -> Iterator[tuple[str, list[str] | None]]:
    """The lines of commands, with the arguments of the program; None for those that write and change files."""
    for line in (FOLDER / f"{file}.txt").read_text("utf-8").splitlines():
        words = shlex.split(line) if line.startswith((f"$ {program}", "$ printf ", "$ sed ")) else []
        if words[1:2] == ["printf"]:
            Path(words[4]).write_text(words[2].replace(r"\n", "\n").replace(r"\t", "\t"), "utf-8")
            yield line, None
        elif words[1:2] == ["sed"]:
            (_, old, new, _), path = words[3].split("/"), Path(words[4])
            path.write_text(path.read_text("utf-8").replace(old, new, 1), "utf-8")
            yield line, None
        elif words:
            yield line, words[2:]


def assert_raises(file: str, names: Mapping[str, Any]) -> None:
    """Each expression of the file, about these names and the package, raises the error that is below it.

    A new expression is a line of the file that begins with ``>>>``; an update writes its error.
    """
    told = []
    for line in (FOLDER / f"{file}.txt").read_text("utf-8").splitlines():
        if line.startswith(">>> "):
            with pytest.raises((InputError, TypeError, AttributeError, MemoryError)) as raised:
                eval(line[4:], {"reshuffle": reshuffle, **names})
            told += [line, KNOWN.sub(r"\1, …", f"{raised.type.__name__}: {raised.value}")]
    assert_same(file, "\n".join(told))


def assert_warned(file: str, names: Mapping[str, Any]) -> None:
    """Each expression of the file, about these names and the package, gives the warnings that are below it, or none.

    Each warning points to the line that called the package. A new expression is a line that begins with ``>>>``.
    """
    told = []
    for line in (FOLDER / f"{file}.txt").read_text("utf-8").splitlines():
        if line.startswith(">>> "):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                eval(compile(line[4:], names["__file__"], "eval"), {"reshuffle": reshuffle, **names})
            assert all(issubclass(each.category, InputWarning) for each in caught), line
            assert {each.filename for each in caught} <= {names["__file__"]}, line
            told += [line, *(str(each.message) for each in caught)]
    assert_same(file, "\n".join(told))


def command(words: Sequence[str]) -> int:
    """Run a command in this process; its error is raised as users of the command line read it."""
    try:
        return run(words)
    except InputError as error:
        raise error.with_flags() from None


def assert_same(file: str, found: str) -> None:
    found = re.sub(rf"reshuffle[- ]{re.escape(__version__)}", "reshuffle", found)
    path = FOLDER / f"{file}.txt"
    if "RESHUFFLE_UPDATE_DOCS" in os.environ:
        path.write_text(f"{found.rstrip()}\n", "utf-8")
    assert path.read_text("utf-8").splitlines() == found.splitlines()
