"""Decoders for the loop around an optimizer: another program, or a large fixed list that stands for one."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..data.files import MAX_INPUT
from ..errors import InputError, quoted
from ..leftovers import leftover
from ..validate import check_integer
from .choosing import LinearModel
from .lists import NBest, read_nbest

# From weights to lists. The folder is for its files, and differs between the decodes of a study.
Decoder: TypeAlias = Callable[[Mapping[str, float], Path], NBest]

# How long a decoder may take to end on request.
END_SECONDS = 1.0

# Names that need no quotes in lines of `name value`.
PLAIN_NAME = re.compile(r"[^\s=#\[{:][^\s=:]*")


def write_weights(path: str | os.PathLike[str], weights: Mapping[str, float]) -> None:
    """Write weights as ``name value`` lines, or as JSON if a name has a space or an equals sign.

    :func:`read_weights` reads both.
    """
    file = Path(path)
    if any(not PLAIN_NAME.fullmatch(name) for name in weights):
        text = json.dumps(dict(weights), indent=2, ensure_ascii=False) + "\n"
    else:
        text = "".join(f"{name} {weight!r}\n" for name, weight in weights.items())
    file.write_text(text, encoding="utf-8", newline="\n")


@dataclass(frozen=True, eq=False)
class _Simulated:
    lists: NBest
    k: int
    kind = "simulated"

    def __call__(self, weights: Mapping[str, float], folder: Path) -> NBest:
        return self.lists.selected(_best_k(self.lists.offsets, LinearModel(weights).scores(self.lists), self.k))


def simulated_decoder(lists: NBest, k: int = 100) -> Decoder:
    """A decoder that chooses the best k entries of each sentence of large lists under the weights it is given.

    Of entries with the same score the first ones are chosen. Entries keep their order.

    Examples
    --------
    >>> from pathlib import Path
    >>> from reshuffle import tune
    >>> _ = Path("large.nbest").write_text("0 ||| a ||| x= 1\\n0 ||| b ||| x= 3\\n0 ||| c ||| x= 2\\n")
    >>> decode = tune.simulated_decoder(tune.read_nbest("large.nbest"), k=2)
    >>> decode({"x": 1.0}, Path()).texts()
    ['b', 'c']
    >>> Path("large.nbest").unlink()
    """
    check_integer("k", k, 1)
    return _Simulated(lists, k)


def _best_k(offsets: NDArray[np.int64], scores: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """The rows with the k highest scores of each list, in order."""
    lists = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((-scores, lists))  # stable: the first of equals comes first
    place = np.arange(len(order)) - offsets[lists[order]]
    rows: NDArray[np.int64] = np.sort(order[place < k]).astype(np.int64)
    return rows


@dataclass(frozen=True, eq=False)
class _Command:
    words: tuple[str, ...]
    dense: tuple[str, ...] | None
    first_id: int
    max_input: int
    kind = "command"

    def __call__(self, weights: Mapping[str, float], folder: Path) -> NBest:
        written, lists = folder / "weights", folder / "lists.nbest"
        write_weights(written, weights)
        words = [word.replace("{weights}", str(written)).replace("{nbest}", str(lists)) for word in self.words]
        try:
            with open(folder / "decoder.log", "wb") as log:
                code = _code_of(words, log)
        except OSError as error:
            raise InputError(f"the decoder {quoted(words[0])} cannot be run: {error.strerror or error}") from None
        if code:
            raise InputError(f"the decoder {quoted(words[0])} failed with {_status(code)}{_last(folder)}")
        if not lists.exists():
            raise InputError(f"the decoder {quoted(words[0])} wrote no lists: expected it to write the file {{nbest}}")
        return read_nbest(lists, dense=self.dense, first_id=self.first_id, max_input=self.max_input)


def command_decoder(
    command: str | Iterable[str],
    *,
    dense: Iterable[str] | None = None,
    first_id: int = 0,
    max_input: int = MAX_INPUT,
) -> Decoder:
    """A decoder that is another program.

    Parameters
    ----------
    command : str or sequence of str
        The program and its arguments. ``{weights}`` is replaced by the file with the weights, which the program reads
        (``name value`` on each line), and ``{nbest}`` by the file to which it must write its lists. A string is split
        into words as by a shell, but no shell runs it. On Windows a backslash is one.
    dense, first_id, max_input
        As for :func:`read_nbest`.

    Raises
    ------
    InputError
        If the command is empty or has no ``{nbest}``; when it is called, if the program fails or writes no lists.
    """
    try:
        words = tuple(_split(command) if isinstance(command, str) else command)
    except ValueError as error:
        raise InputError(f"the decoder's command {quoted(str(command))}: {error}") from None
    if not words:
        raise InputError("the decoder's command is empty: expected a program and its arguments")
    for place in ("{weights}", "{nbest}"):
        if not any(place in word for word in words):
            raise InputError(
                f"the decoder's command has no {place}: expected for example 'decode.sh {{weights}} {{nbest}}', got "
                f"{quoted(' '.join(words))}"
            )
    return _Command(words, None if dense is None else tuple(dense), first_id, max_input)


def _split(command: str, *, windows: bool = os.name == "nt") -> Iterable[str]:
    """The words of a command, as ``shlex.split`` finds them. On Windows, backslashes separate folders."""
    words = shlex.shlex(command, posix=True)
    words.whitespace_split, words.commenters = True, ""
    if windows:
        words.escape = ""
    return words


def _code_of(words: Sequence[str], log: IO[bytes]) -> int:
    """Run a program and return its exit code. If this is interrupted, the program ends, with all that it started."""
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # also a group of processes
    )
    with leftover(lambda: _end(process)):
        try:
            return process.wait()
        except BaseException:
            _end(process)
            raise


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a program and the others of its group: on request, and then at once."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        _signal(process, "SIGTERM")
        process.wait(END_SECONDS)
    _signal(process, "SIGKILL")


def _signal(process: subprocess.Popen[bytes], name: str) -> None:
    with contextlib.suppress(OSError):  # there are none left
        if sys.platform == "win32":  # pragma: no cover - it has no groups
            process.kill()
        else:
            os.killpg(process.pid, getattr(signal, name))


def _status(code: int) -> str:
    """How a program ended."""
    if code > 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def _last(folder: Path) -> str:
    """The last line that the program wrote, after a colon."""
    lines = (folder / "decoder.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return f": {lines[-1].strip()[:200]}" if lines else ""
