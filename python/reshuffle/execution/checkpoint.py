"""Files of finished blocks, from which an interrupted study goes on.

The records of the file (:mod:`reshuffle.execution.records`) begin with one byte for their kind:

- ``A``, the first one: JSON with what wrote the file, the version of reshuffle and the kind of study.
- ``S``: JSON with a stage, that is a job: its name, its digest and its settings. Stages are counted from 0.
- ``B``: a block, the results of a range of indices of a stage: three 8-byte integers (stage, first, last) and a pickle.

Blocks are found by the digest of the job. So it does not matter how a study is cut into blocks or who computes them,
and a result can only be taken for that of another job if BLAKE2b collides.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import pickle
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NoReturn

from .. import _core
from ..errors import InputError, shortened, warn
from .records import RecordFile

if TYPE_CHECKING:
    from .digest import Described

__all__ = ["Checkpoint", "Stage", "kept"]

ABOUT, STAGE, BLOCK = b"A", b"S", b"B"
RANGE = struct.Struct("<QQQ")  # stage, first, last

# What a message lists of the settings that differ.
MAX_DIFFERENCES = 3


@contextlib.contextmanager
def kept(path: str | os.PathLike[str] | None, kind: str) -> Iterator[Checkpoint | None]:
    """The checkpoint at ``path`` for the body of a public function; None without a path."""
    if path is None:
        yield None
        return
    with Checkpoint.open(path, kind) as checkpoint:
        yield checkpoint


@dataclass(frozen=True)
class _Block:
    """A block in the file: its indices first, …, last − 1, and where its pickle is."""

    first: int
    last: int
    at: int
    length: int


@dataclass(frozen=True)
class _Saved:
    """A stage of the file."""

    name: str
    digest: str
    facts: Mapping[str, str]
    blocks: list[_Block] = field(default_factory=list)

    def record(self) -> bytes:
        """Its record."""
        return STAGE + _json({"name": self.name, "digest": self.digest, "facts": dict(self.facts)})


class Checkpoint:
    """A file of finished blocks, which one process reads and extends: see :meth:`open`. A context manager.

    Nothing is written before the first block is finished, so a file that is refused stays as it was.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from reshuffle.execution.digest import described
    >>> job = described(("squares", 3))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Checkpoint.open(Path(folder) / "study.checkpoint", "example") as checkpoint:
    ...         stage = checkpoint.stage("squares", job, 0, 10)
    ...         stage.add(4, 6, [16, 25])
    ...     with Checkpoint.open(Path(folder) / "study.checkpoint", "example") as checkpoint:
    ...         stage = checkpoint.stage("squares", job, 0, 10)
    ...         stage.finished, stage.load(4, 6), stage.missing
    ([(4, 6)], [16, 25], [(0, 4), (6, 10)])
    """

    def __init__(self, file: RecordFile, kind: str) -> None:
        self.file, self.kind = file, kind
        self._stages: list[_Saved] = []
        self._is_checked = False  # whether the file has blocks of the first stage that was asked for
        self._read()
        self._n_written = len(self._stages)

    @classmethod
    def open(cls, path: str | os.PathLike[str], kind: str) -> Checkpoint:
        """Open a file, or make it.

        Parameters
        ----------
        path : path
        kind : str
            What is computed: the name of the study.

        Raises
        ------
        InputError
            If the file is not a checkpoint, if another version of reshuffle or another kind of study wrote it, if
            another process or thread writes it, or if it cannot be read and written.

        Warns
        -----
        InputWarning
            If the end of the file is damaged. It is dropped, and its blocks are computed again.
        """
        file = RecordFile.open(path)
        try:
            return cls(file, kind)
        except BaseException:
            file.close()
            raise

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a checkpoint stays in the process that opened it")

    def close(self) -> None:
        """Put everything on the disk and close the file. May be called twice."""
        self.file.close()

    def _read(self) -> None:
        """Find the stages and blocks of the file."""
        last = "its beginning"
        begin = self.file.end
        is_first = True
        for at, content in self.file.scan():
            word = self._about(content) if is_first else self._stage_or_block(at, content)
            if word is None:
                self.file.back(begin)
                break
            is_first, last, begin = False, word, self.file.end
        if is_first:
            self.file.back(0)
        dropped = self.file.size - self.file.end
        if dropped:
            warn(f"{self.file.path}: {dropped:,} bytes after {last} are cut or damaged: they are dropped")

    def _about(self, content: bytes) -> str | None:
        """Check what wrote the file. None if the record does not say it."""
        about = _from_json(content[1:]) if content[:1] == ABOUT else {}
        version, kind = about.get("version"), about.get("kind")
        if not isinstance(version, str) or not isinstance(kind, str):
            return None
        if version != _core.VERSION:
            raise InputError(
                f"{self.file.path} was written by reshuffle {shortened(version)}, and this is {_core.VERSION}: finish "
                "the study with that version, or delete the file"
            )
        if kind != self.kind:
            raise InputError(
                f"{self.file.path} has blocks of {shortened(kind)!r}, not of {self.kind!r}: give another file, or "
                "delete this one"
            )
        return "its beginning"

    def _stage_or_block(self, at: int, content: bytes) -> str | None:
        """Take in a record, and return what it is in words; None if it is neither a stage nor a block."""
        if content[:1] == STAGE:
            found = _from_json(content[1:])
            name, digest, facts = found.get("name"), found.get("digest"), found.get("facts")
            if not isinstance(name, str) or not isinstance(digest, str) or not isinstance(facts, dict):
                return None
            self._stages.append(_Saved(name, digest, facts))
            return f"the beginning of {name!r}"
        start = 1 + RANGE.size
        if content[:1] != BLOCK or len(content) < start:
            return None
        stage, first, last = RANGE.unpack_from(content, 1)
        if stage >= len(self._stages) or first >= last:
            return None
        saved = self._stages[stage]
        saved.blocks.append(_Block(first, last, at + start, len(content) - start))
        return f"block {first}–{last - 1} of {saved.name!r}"

    def stage(self, name: str, job: Described, first: int, last: int) -> Stage:
        """The indices first, …, last − 1 of a job.

        ``name`` is for messages. A job may be asked for several times, and with more indices than before.

        :class:`InputError` if the file has blocks, but none of the first job that is asked for.
        """
        found = next((i for i, saved in enumerate(self._stages) if saved.digest == job.digest), None)
        if found is None:
            if self._stages and not self._is_checked:
                raise InputError(self._difference(name, job))
            found = len(self._stages)
            self._stages.append(_Saved(name, job.digest, job.facts))
        self._is_checked = True
        return Stage(self, found, first, last)

    def _difference(self, name: str, job: Described) -> str:
        """How a job differs from the first one in the file, or the first one of the same name."""
        saved = next((saved for saved in self._stages if saved.name == name), self._stages[0])
        facts = {key: (saved.facts.get(key), job.facts.get(key)) for key in {**saved.facts, **job.facts}}
        differences = [
            f"{key} is {shortened(there or 'not given')} there and {shortened(here or 'not given')} here"
            for key, (there, here) in facts.items()
            if there != here
        ]
        reason = "; ".join(differences[:MAX_DIFFERENCES])
        reason = reason or "its settings are the same, but not its data (texts, scores, metrics or null hypotheses)"
        return f"{self.file.path} has blocks of another study: {reason}. Give another file, or delete this one"

    def blocks_of(self, stage: int) -> list[_Block]:
        """The blocks of a stage in the file."""
        return self._stages[stage].blocks

    def add(self, stage: int, first: int, last: int, payload: bytes) -> None:
        """Write a block, and before it what the file lacks: what writes it, and the stages so far."""
        contents = [] if self.file.end else [ABOUT + _json({"version": _core.VERSION, "kind": self.kind})]
        n_stages = len(self._stages)
        contents += [saved.record() for saved in self._stages[self._n_written : n_stages]]
        header = BLOCK + RANGE.pack(stage, first, last)
        at = self.file.append([*contents, header + payload])[-1] + len(header)
        self._n_written = n_stages
        self._stages[stage].blocks.append(_Block(first, last, at, len(payload)))


class Stage:
    """A range of indices of a job in a checkpoint.

    Attributes
    ----------
    finished : list of (int, int)
        The blocks of the file that lie in the range, in order: the indices first, …, last − 1 of each. None overlap.
    missing : list of (int, int)
        The rest of the range.
    """

    def __init__(self, checkpoint: Checkpoint, index: int, first: int, last: int) -> None:
        self._checkpoint, self._index = checkpoint, index
        self._found: dict[tuple[int, int], _Block] = {}
        self.missing: list[tuple[int, int]] = []
        self._is_tried = False  # whether a result of this stage could be read again
        done = first
        for block in sorted(checkpoint.blocks_of(index), key=lambda block: (block.first, block.last)):
            if done <= block.first and block.last <= last:
                if done < block.first:
                    self.missing.append((done, block.first))
                self._found[block.first, block.last] = block
                done = block.last
        if done < last:
            self.missing.append((done, last))

    @property
    def finished(self) -> list[tuple[int, int]]:
        """See above."""
        return list(self._found)

    def load(self, first: int, last: int) -> Any:
        """The result of one of :attr:`finished`."""
        block = self._found[first, last]
        file = self._checkpoint.file
        try:
            return _unpickled(file.content(block.at, block.length))
        except InputError:
            raise
        except Exception as error:  # a pickle that is not ours can raise anything
            raise InputError(
                f"{file.path}: block {first}–{last - 1} cannot be read ({shortened(str(error))}): delete the file"
            ) from None

    def add(self, first: int, last: int, result: Any) -> None:
        """Keep the result of a block of :attr:`missing`, or of a part of one. Blocks may come in any order.

        The result consists of arrays, numbers, strings, tuples, lists, dicts, sets, and dataclasses and named tuples of
        this package. TypeError for others, because nothing else is read again.
        """
        payload = pickle.dumps(result, protocol=5)
        if not self._is_tried:
            try:
                _unpickled(payload)
            except pickle.UnpicklingError as error:
                raise TypeError(f"a result that cannot be kept: {error}") from None
            self._is_tried = True
        self._checkpoint.add(self._index, first, last, payload)


class _Plain(pickle.Unpickler):
    """Reads results only: a file cannot make it call anything else."""

    BUILTINS = frozenset({"complex", "set", "frozenset", "bytearray", "slice", "range"})
    # Where the records are that results consist of.
    OWN = ("reshuffle.results.", "reshuffle.study.")
    NUMPY = frozenset({"ndarray", "dtype", "_reconstruct", "scalar", "_frombuffer"})

    def find_class(self, module: str, name: str) -> Any:
        """The class or function of a name, if results need it."""
        package = module.partition(".")[0]
        if module == "builtins" and name in self.BUILTINS:
            return super().find_class(module, name)
        if package == "numpy" and name in self.NUMPY:
            return super().find_class(_numpy_module(module), name)
        if module.startswith(self.OWN):
            found = super().find_class(module, name)
            if isinstance(found, type) and found.__module__ == module and _is_record(found):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is not a result")


def _is_record(found: type) -> bool:
    return is_dataclass(found) or issubclass(found, tuple | int | float | str)


def _numpy_module(module: str) -> str:
    """The name in this version of a private module of NumPy: NumPy 2 calls ``numpy.core`` ``numpy._core``."""
    _, _, rest = module.removeprefix("numpy.").partition("core")
    if module == f"numpy.core{rest}" or module == f"numpy._core{rest}":
        return f"numpy.{'_core' if find_spec('numpy._core') else 'core'}{rest}"
    return module


def _unpickled(payload: bytes) -> Any:
    return _Plain(io.BytesIO(payload)).load()


def _json(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _from_json(content: bytes) -> dict[str, Any]:
    """The object in a record; empty if there is none."""
    try:
        found = json.loads(content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
