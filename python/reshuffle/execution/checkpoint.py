"""Files of finished blocks, from which an interrupted study goes on.

The records of the file (:mod:`reshuffle.execution.records`) begin with one byte for their kind:

- ``A``, the first one: JSON with what wrote the file, the version of reshuffle and the kind of study.
- ``S``: JSON with a stage, that is a job: its name, its digest, its settings, and the names, types and shapes of its
  columns. Stages are counted from 0.
- ``B``: a block, the rows of a range of indices of a stage: three 8-byte integers (stage, first, last) and the bytes of
  the rows.

Blocks are found by the digest of the job. So it does not matter how a study is cut into blocks or who computes them,
and a result can only be taken for that of another job if BLAKE2b collides.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard

from .. import _core
from ..errors import InputError, counted, shortened, warn
from .records import RecordFile

if TYPE_CHECKING:
    from .digest import Described
    from .tables import Columns, Table

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
    """A block in the file: its indices first, …, last − 1, and where its rows are."""

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
    columns: Any  # as Columns.plain, if it is a stage of a job of ours
    blocks: list[_Block] = field(default_factory=list)

    def record(self) -> bytes:
        """Its record."""
        about = {"name": self.name, "digest": self.digest, "facts": dict(self.facts), "columns": self.columns}
        return STAGE + _json(about)


class Checkpoint:
    """A file of finished blocks, which one process reads and extends: see :meth:`open`. A context manager.

    Nothing is written before the first block is finished, so a file that is refused stays as it was.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from reshuffle.execution.digest import described
    >>> from reshuffle.execution.tables import NUMBER, Column, Columns
    >>> job, columns = described(("squares", 3)), Columns({"square": Column(NUMBER)})
    >>> rows = columns.empty(2)
    >>> rows["square"] = [16, 25]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Checkpoint.open(Path(folder) / "study.checkpoint", "example") as checkpoint:
    ...         stage = checkpoint.stage("squares", job, columns, 0, 10)
    ...         stage.add(4, 6, rows)
    ...     with Checkpoint.open(Path(folder) / "study.checkpoint", "example") as checkpoint:
    ...         stage = checkpoint.stage("squares", job, columns, 0, 10)
    ...         list(stage.finished), stage.finished[4, 6]["square"], stage.missing
    ([(4, 6)], array([16., 25.]), [(0, 4), (6, 10)])
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
            if not isinstance(name, str) or not isinstance(digest, str) or not _is_facts(facts):
                return None
            self._stages.append(_Saved(name, digest, facts, found.get("columns")))
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

    def stage(self, name: str, job: Described, columns: Columns, first: int, last: int) -> Stage:
        """The indices first, …, last − 1 of a job with these columns.

        ``name`` is for messages. A job may be asked for several times, and with more indices than before.

        :class:`InputError` if the file has blocks, but none of the first job that is asked for.
        """
        same = [i for i, saved in enumerate(self._stages) if saved.digest == job.digest]
        if not same and self._stages and not self._is_checked:
            raise InputError(self._difference(name, job))
        self._is_checked = True
        own = next((i for i in same if self._stages[i].columns == columns.plain), None)
        if own is None:
            own = len(self._stages)
            self._stages.append(_Saved(name, job.digest, job.facts, columns.plain))
        tables: dict[tuple[int, int], Table] = {}
        damaged = 0
        for i in same:
            for block in self._stages[i].blocks:
                content = self.file.content(block.at, block.length)
                table = columns.decoded(content, block.last - block.first) if i == own else None
                if table is None:
                    damaged += 1
                else:
                    tables[block.first, block.last] = table
        if damaged:
            warn(
                f"{self.file.path}: {counted(damaged, 'block')} of {name!r} cannot be results of this "
                "study, by size or by value: the file is damaged, and they are computed again"
            )
        return Stage(self, own, columns, tables, first, last)

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
    finished : dict of (int, int) to Table
        The blocks of the file that lie in the range, in order: the rows of the indices first, …, last − 1 of each. None
        overlap.
    missing : list of (int, int)
        The rest of the range.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        index: int,
        columns: Columns,
        tables: Mapping[tuple[int, int], Table],
        first: int,
        last: int,
    ) -> None:
        self._checkpoint, self._index, self._columns = checkpoint, index, columns
        self.finished: dict[tuple[int, int], Table] = {}
        self.missing: list[tuple[int, int]] = []
        done = first
        for start, end in sorted(tables):
            if done <= start and end <= last:
                if done < start:
                    self.missing.append((done, start))
                self.finished[start, end] = tables[start, end]
                done = end
        if done < last:
            self.missing.append((done, last))

    def add(self, first: int, last: int, table: Table) -> None:
        """Keep the rows of a block of :attr:`missing`, or of a part of one. Blocks may come in any order.

        TypeError if the table has other columns than the job, or another number of rows, because it would not be read.
        """
        if table.dtype != self._columns.dtype or table.shape != (last - first,):
            raise TypeError(
                f"expected {last - first} rows of {self._columns.dtype}, got {table.shape} of {table.dtype}"
            )
        self._checkpoint.add(self._index, first, last, table.tobytes())


def _is_facts(value: object) -> TypeGuard[dict[str, str]]:
    return isinstance(value, dict) and all(isinstance(fact, str) for fact in value.values())


def _json(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def _from_json(content: bytes) -> dict[str, Any]:
    """The object in a record; empty if there is none."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):  # a number with thousands of digits, or thousands of nested brackets
        return {}
    return found if isinstance(found, dict) else {}
