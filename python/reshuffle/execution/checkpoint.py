"""Files of finished blocks, from which an interrupted study goes on.

A file is an SQLite database, which one process writes at a time. If that process is killed, only blocks that were not
yet written are lost; if the machine fails, the last ones may be lost, too. While the file is open, another one with the
ending ``-journal`` may be beside it. If a killed process leaves that behind, keep the two together: the next run may
need it to undo an unfinished block.

Blocks are found by the digest of the job. So it does not matter how a study is cut into blocks or who computes them,
and a result can only be taken for that of another job if BLAKE2b collides.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from .. import _core
from ..errors import InputError, counted, shortened, warn

if TYPE_CHECKING:
    from .digest import Described
    from .tables import Columns, Table

# The version and the study that wrote the file; its stages, with the settings that messages name; and its blocks, with
# the rows of the indices first, …, last − 1 of a stage.
SCHEMA = (
    "CREATE TABLE study (version TEXT, kind TEXT)",
    "CREATE TABLE stage (name TEXT, job TEXT, facts TEXT, columns TEXT)",
    "CREATE TABLE block (stage INTEGER, first INTEGER, last INTEGER, rows BLOB, digest BLOB)",
)
BLOCKS = (
    "SELECT columns, first, last, rows, digest FROM block JOIN stage ON stage.rowid = stage WHERE job = ? "
    "ORDER BY block.rowid"
)

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


class _Saved(NamedTuple):
    """A stage of the file."""

    name: str
    job: str
    facts: str


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

    def __init__(self, path: str, kind: str, database: sqlite3.Connection, is_new: bool) -> None:
        self.path, self.kind = path, kind
        self._database, self._is_new = database, is_new
        self._lock = threading.Lock()
        self._is_checked = False  # whether the file has blocks of the first stage that was asked for
        with _errors(path, "opened"):
            # The lock of this transaction is held until the file is closed. No other process needs to read.
            database.executescript("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")
            # A file from somebody else cannot call unsafe functions; `_check` refuses one with triggers or views.
            database.executescript("PRAGMA trusted_schema = OFF; PRAGMA synchronous = NORMAL")
            tables = [sql for (sql,) in database.execute("SELECT sql FROM sqlite_master")]
            self._has_blocks = bool(tables)
            if self._has_blocks:
                self._check(tables)

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
            If the file is not a checkpoint or is damaged, if another version of reshuffle or another kind of study
            wrote it, if another process or thread writes it, or if it cannot be read or written.
        """
        name = os.fspath(path) if isinstance(path, os.PathLike) else path
        if not isinstance(name, str) or not name:
            raise InputError(f"the checkpoint must be the name of a file, got {shortened(repr(path))}")
        is_new = not Path(name).exists()
        if not is_new and not Path(name).is_file():
            raise InputError(f"{name} is not a file: expected the name of a file for the checkpoint")
        with _errors(name, "opened"):
            database = sqlite3.connect(Path(name).absolute(), timeout=0, isolation_level=None, check_same_thread=False)
        try:
            return cls(name, kind, database, is_new)
        except BaseException:
            database.close()
            raise

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a checkpoint stays in the process that opened it")

    def close(self) -> None:
        """Put everything on the disk and close the file; remove it if it is new and empty. May be called twice."""
        with self._lock:
            if self._is_new and not self._has_blocks:
                with contextlib.suppress(OSError):  # Windows does not remove open files
                    Path(self.path).unlink()  # before another process can open it
            self._is_new = False
            self._database.close()

    def _check(self, tables: Sequence[str]) -> None:
        """:class:`InputError` for a file that something else wrote."""
        found = self._database.execute("SELECT * FROM study").fetchall() if SCHEMA[0] in tables else []
        if len(found) != 1:
            raise _not_a_checkpoint(self.path)
        ((version, kind),) = found
        if version != _core.VERSION:
            raise InputError(
                f"{self.path} was written by reshuffle {shortened(str(version))}, and this is {_core.VERSION}: finish "
                "the study with that version, or delete the file"
            )
        if tuple(tables) != SCHEMA:
            raise _not_a_checkpoint(self.path)
        if kind != self.kind:
            raise InputError(
                f"{self.path} has blocks of {shortened(str(kind))!r}, not of {self.kind!r}: give another file, or "
                "delete this one"
            )

    def stage(self, name: str, job: Described, columns: Columns, first: int, last: int) -> Stage:
        """The indices first, …, last − 1 of a job with these columns.

        ``name`` is for messages. A job may be asked for several times, and with more indices than before.

        :class:`InputError` if the file has blocks, but none of the first job that is asked for.

        Warns
        -----
        InputWarning
            If blocks are damaged. They are computed again.
        """
        stages, blocks = [], []
        if self._has_blocks:
            with self._lock, _errors(self.path, "read"):
                stages = list(map(_Saved._make, self._database.execute("SELECT name, job, facts FROM stage")))
                blocks = self._database.execute(BLOCKS, [job.digest]).fetchall()
        if stages and not self._is_checked and job.digest not in [saved.job for saved in stages]:
            raise InputError(self._difference(stages, name, job))
        self._is_checked = True
        tables: dict[tuple[int, int], Table] = {}
        damaged = 0
        for of_columns, start, end, rows, digest in blocks:
            is_block = list(map(type, (start, end, rows))) == [int, int, bytes]
            is_whole = is_block and digest == _digest(job.digest, start, end, rows)
            table = columns.decoded(rows, end - start) if is_whole and of_columns == _json(columns.plain) else None
            if table is None:
                damaged += 1
            else:
                tables[start, end] = table
        if damaged:
            warn(
                f"{self.path}: {counted(damaged, 'block')} of {name!r} have a wrong digest, size or value, so "
                "the file is damaged; they are computed again"
            )
        return Stage(self, name, job, columns, tables, first, last)

    def _difference(self, stages: Sequence[_Saved], name: str, job: Described) -> str:
        """How a job differs from the first one in the file, or the first one of the same name."""
        saved = _facts(next((saved for saved in stages if saved.name == name), stages[0]).facts)
        facts = {key: (saved.get(key), job.facts.get(key)) for key in {**saved, **job.facts}}
        differences = [
            f"{key} is {shortened(there or 'not given')} there and {shortened(here or 'not given')} here"
            for key, (there, here) in facts.items()
            if there != here
        ]
        reason = "; ".join(differences[:MAX_DIFFERENCES])
        reason = reason or "its settings are the same, but not its data (texts, scores, metrics or null hypotheses)"
        return f"{self.path} has blocks of another study: {reason}. Give another file, or delete this one"

    def add(self, stage: Stage, first: int, last: int, rows: bytes) -> None:
        """Write a block, and before it what the file lacks. After an :class:`InputError`, the file is as before."""
        named = [stage.job.digest, _json(stage.columns.plain)]
        with self._lock, _errors(self.path, "written"):
            execute = self._database.execute
            with self._database:  # takes back what was begun, after an error
                execute("BEGIN")
                if not self._has_blocks:
                    for table in SCHEMA:
                        execute(table)
                    execute("INSERT INTO study VALUES (?, ?)", [_core.VERSION, self.kind])
                found = execute("SELECT rowid FROM stage WHERE job = ? AND columns = ?", named).fetchone()
                if found is None:
                    facts = [stage.name, stage.job.digest, _json(dict(stage.job.facts)), named[1]]
                    found = [execute("INSERT INTO stage VALUES (?, ?, ?, ?)", facts).lastrowid]
                block = [*found, first, last, rows, _digest(stage.job.digest, first, last, rows)]
                execute("INSERT INTO block VALUES (?, ?, ?, ?, ?)", block)
            self._has_blocks = True


class Stage:
    """A range of indices of a job in a checkpoint.

    Attributes
    ----------
    name, job, columns
        As in :meth:`Checkpoint.stage`.
    finished : dict of (int, int) to Table
        The blocks of the file that lie in the range, in order: the rows of the indices first, …, last − 1 of each. None
        overlap.
    missing : list of (int, int)
        The rest of the range.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        name: str,
        job: Described,
        columns: Columns,
        tables: Mapping[tuple[int, int], Table],
        first: int,
        last: int,
    ) -> None:
        self._checkpoint, self.name, self.job, self.columns = checkpoint, name, job, columns
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
        if table.dtype != self.columns.dtype or table.shape != (last - first,):
            raise TypeError(f"expected {last - first} rows of {self.columns.dtype}, got {table.shape} of {table.dtype}")
        self._checkpoint.add(self, first, last, table.tobytes())


@contextlib.contextmanager
def _errors(path: str, done: str) -> Iterator[None]:
    """:class:`InputError` for errors of SQLite, but not for those of a caller who uses a closed file."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.Error as error:
        if "locked" in str(error):
            raise InputError(f"{path} is in use by another study: wait for it, end it, or give another file") from None
        if "not a database" in str(error):
            raise _not_a_checkpoint(path) from None
        if isinstance(error, sqlite3.OperationalError):
            raise InputError(f"the checkpoint {path} cannot be {done}: {error}") from None
        raise InputError(f"the checkpoint {path} is damaged ({error}): delete it, and run again") from None


def _not_a_checkpoint(path: str) -> InputError:
    return InputError(f"{path} is not a checkpoint of reshuffle: give the name of one, or of a new file")


def _digest(*values: object) -> bytes:
    """A digest of a block. Damage may have changed the types of what was read."""
    return hashlib.blake2b(repr(values).encode(), digest_size=16).digest()


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _facts(text: str) -> Mapping[str, Any]:
    """The settings of a stage; empty if damage has made them unreadable."""
    with contextlib.suppress(ValueError, TypeError, RecursionError):
        found = json.loads(text)
        if isinstance(found, dict):
            return {key: str(fact) for key, fact in found.items()}
    return {}
