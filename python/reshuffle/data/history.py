"""The history of a gate: a file to which every run appends a line of JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path

from ..errors import InputError, warn, writing
from ..results.gate import PastGate
from .decoding import Decoder, Hooks, Mismatch, record_of
from .files import display_name, opened


@cache
def _decoder() -> Decoder:
    return record_of(PastGate, Hooks({}, {}))


def read_history(path: str | os.PathLike[str]) -> list[PastGate]:
    """The runs in a file, the earliest first; none if there is no file.

    A damaged end, as an interrupted run leaves it, is cut off, with a warning. :class:`InputError` for a file that
    has other content.
    """
    file, name = Path(path), display_name(os.fspath(path))
    if not file.exists():
        return []
    lines = opened(os.fspath(path), file.read_bytes).split(b"\n")
    runs, problem = runs_but_the_end(lines, name)
    if problem is None:
        return runs
    with writing(name), file.open("r+b") as stream:
        stream.truncate(sum(len(line) + 1 for line in lines[: len(runs)]))
    warn(f"{name}: the end, after line {len(runs)}, is damaged and was cut off")
    return runs


def runs_but_the_end(lines: Sequence[bytes], name: str) -> tuple[list[PastGate], str | None]:
    """As :func:`runs_in`; :class:`InputError` if more than the end of a history is damaged."""
    runs, problem = runs_in(lines)
    at = len(runs) + 1
    is_middle = problem is not None and any(runs_in([line, b""])[0] for line in lines[at:])
    if problem is not None and (is_middle or not runs):
        to_do = "remove the line" if is_middle else "name another file"
        raise InputError(f"{name}, line {at}: expected a line of the history of a gate: {problem}; {to_do}")
    return runs, problem


def runs_in(lines: Sequence[bytes]) -> tuple[list[PastGate], str | None]:
    """The runs up to the first line that is not one, and what is wrong with it. The last line has to end, too."""
    runs: list[PastGate] = []
    for line in lines[:-1]:
        try:
            runs.append(_decoder()(json.loads(line)))
        except Mismatch as mismatch:
            return runs, f"{mismatch.place}: {mismatch.problem}"
        except json.JSONDecodeError as error:  # whose own line is always 1
            return runs, f"{error.msg} (column {error.colno})"
        except (ValueError, RecursionError) as error:
            return runs, str(error)
    return runs, "it has no end" if lines[-1:] not in ([], [b""]) else None


def append_run(path: str | os.PathLike[str], run: PastGate) -> None:
    """Append a line, in one write, so that runs at the same time do not mix."""
    rest = (json.dumps(asdict(run), ensure_ascii=True) + "\n").encode("ascii")
    with writing(display_name(os.fspath(path))), Path(path).open("ab", buffering=0) as stream:
        while rest:  # a full disk takes a part without an error, and then nothing
            rest = rest[stream.write(rest) :]
