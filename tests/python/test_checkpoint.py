"""Files of finished blocks: what is read again after any damage, which files are refused, and what a job is."""

import contextlib
import functools
import os
import pickle
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from budgets import budget
from reshuffle import InputError, InputWarning, _core, metric
from reshuffle.execution.checkpoint import SCHEMA, Checkpoint, Stage
from reshuffle.execution.digest import Described, described
from reshuffle.execution.tables import FLAG, NUMBER, PROBABILITY, SIGN, Column, Columns, Table
from reshuffle.study.experiments import Selection
from told import assert_raises

JOB = described(("example", 1))
COLUMNS = Columns(
    {"p": Column(PROBABILITY, (2,)), "index": Column(NUMBER), "sign": Column(SIGN, (1, 3)), "exact": Column(FLAG)}
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "study.checkpoint"


def result_of(first: int, last: int) -> Table:
    """Rows that no other range has."""
    table = COLUMNS.empty(last - first)
    table["index"] = np.arange(first, last) / 7
    table["p"], table["sign"], table["exact"] = [0.25, 1], [[-1, 0, 1]], 1
    return table


def stage_of(checkpoint: Checkpoint, name: str = "simulating", job: Described = JOB, n: int = 10) -> Stage:
    return checkpoint.stage(name, job, COLUMNS, 0, n)


def fill(path: Path, ranges: Sequence[tuple[int, int]], n: int = 1000) -> None:
    """Write blocks."""
    with Checkpoint.open(path, "example") as checkpoint:
        stage = stage_of(checkpoint, n=n)
        for first, last in ranges:
            stage.add(first, last, result_of(first, last))


def read(path: Path, n: int = 1000) -> list[tuple[int, int]]:
    """What can be read again."""
    with Checkpoint.open(path, "example") as checkpoint:
        stage = stage_of(checkpoint, n=n)
        for block, table in stage.finished.items():
            assert result_of(*block).tobytes() == table.tobytes()
        covered = sorted([*stage.finished, *stage.missing])
        assert [first for first, _ in covered] == [0, *(last for _, last in covered[:-1])]
        assert covered[-1][1] == n
        return list(stage.finished)


RANGES = [(10 * i, 10 * i + 10) for i in (3, 0, 1, 5, 2)]


@given(data=st.data())
def test_any_damage(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    """Cut or overwritten anywhere: the file is refused, or blocks that are damaged are computed again."""
    path = tmp_path_factory.mktemp("damage") / "study.checkpoint"
    fill(path, RANGES)
    whole = path.read_bytes()
    if data.draw(st.booleans()):
        path.write_bytes(whole[: data.draw(st.integers(1, len(whole) - 1))])
    else:
        changed = bytearray(whole)
        for _ in range(data.draw(st.integers(1, 20))):
            changed[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
        path.write_bytes(changed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = read(path)
        except InputError as error:
            assert re.search(r"delete (it|this one|the file)|is not a checkpoint|cannot be (opened|read)", str(error))  # noqa: PT017
            return
    assert {w.category for w in caught} <= {InputWarning}
    assert set(found) <= set(RANGES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        fill(path, [*(block for block in RANGES if block not in found), (100, 110)])
        assert read(path) == sorted([*RANGES, (100, 110)])


def database(*statements: str) -> bytes:
    """The bytes of a database."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "database")
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            for each in statements:
                connection.execute(each)
        return path.read_bytes()


OURS = f"INSERT INTO study VALUES ('{_core.VERSION}', 'example')"


OTHER_FILES = {
    "text": b"some text\n",
    "zeros": b"\0" * 1000,
    "other table": database("CREATE TABLE tracks (title)"),
    "no study": database(SCHEMA[0]),
    "more tables": database(*SCHEMA, OURS, "CREATE TABLE other (a)"),
    "fewer tables": database(*SCHEMA[::2], OURS),
    "0.0.1": database(SCHEMA[0], "INSERT INTO study VALUES ('0.0.1', 'example')"),
}


def test_other_files_and_places_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in OTHER_FILES.items():
        Path(name).write_bytes(content)
    assert_raises("python_errors_of_checkpoints", globals())
    with pytest.raises(InputError, match=r"was written by reshuffle 0\.0\.1, and"):
        Checkpoint.open("0.0.1", "example")
    assert {name: Path(name).read_bytes() for name in OTHER_FILES} == OTHER_FILES
    if os.name != "nt":
        with pytest.raises(InputError, match="is not a file"):
            Checkpoint.open("/dev/null", "example")


def test_nothing_is_left_behind(path: Path) -> None:
    with Checkpoint.open(path, "example") as checkpoint:
        stage_of(checkpoint)
    assert not path.exists()
    path.touch()
    with Checkpoint.open(path, "example") as checkpoint:
        stage_of(checkpoint)
    assert path.exists()  # not ours


def test_one_writer_in_a_process(path: Path) -> None:
    with Checkpoint.open(path, "example") as checkpoint:
        stage_of(checkpoint).add(0, 2, result_of(0, 2))
        for _ in range(2):  # the refused one does not end the lock
            with pytest.raises(InputError, match="is in use by another study"):
                Checkpoint.open(path, "example")
            assert open_elsewhere(path) == "InputError"
    assert open_elsewhere(path) == "opened"
    Checkpoint.open(path, "example").close()


def open_elsewhere(path: Path) -> str:
    """Open a checkpoint in another process."""
    code = (
        "import sys\n"
        "from reshuffle.execution.checkpoint import Checkpoint\n"
        "try:\n    Checkpoint.open(sys.argv[1], 'example').close()\n    print('opened')\n"
        "except Exception as error:\n    print(type(error).__name__)"
    )
    return subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_forked_process_holds_no_lock(path: Path) -> None:
    """A worker that outlives its parent does not keep out the next run."""
    code = (
        "import os, signal, sys\n"
        "from reshuffle.execution.checkpoint import Checkpoint\n"
        "Checkpoint.open(sys.argv[1], 'example')\n"
        "if (child := os.fork()) == 0:\n    sys.stdin.read()\n    os._exit(0)\n"
        "print(child, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    with subprocess.Popen([sys.executable, "-c", code, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        process.wait(60)
        Checkpoint.open(path, "example").close()
        process.stdin.close()  # ends the child


def test_disk_full(path: Path) -> None:
    """What was finished stays, and the rest can be written when there is space."""
    fill(path, [(0, 10)])
    with Checkpoint.open(path, "example") as checkpoint:
        stage = stage_of(checkpoint, n=1000)
        (pages,) = checkpoint._database.execute("PRAGMA page_count").fetchone()
        checkpoint._database.execute(f"PRAGMA max_page_count = {pages}").fetchone()
        with pytest.raises(InputError, match=r"study\.checkpoint cannot be written: database or disk is full"):
            stage.add(10, 900, result_of(10, 900))
        checkpoint._database.execute("PRAGMA max_page_count = 1000000").fetchone()
        stage.add(10, 20, result_of(10, 20))
    assert read(path) == [(0, 10), (10, 20)]


@pytest.mark.parametrize(
    ("rows", "column", "value"),
    [
        (0, "", 0), (9, "", 0), (10, "p", np.nan), (10, "p", np.nextafter(1, 2)), (10, "p", -0.5),
        (10, "index", np.nan), (10, "sign", 2), (10, "exact", -1),
    ],
)  # fmt: skip
def test_bytes_that_are_no_results_are_dropped(path: Path, rows: int, column: str, value: float) -> None:
    """Also with a good digest: whoever wrote a file, its bytes are numbers of the types and ranges of the job."""
    table = result_of(0, rows)
    if column:
        table[column] = value
    content = table.tobytes()
    with Checkpoint.open(path, "example") as checkpoint:
        stage = stage_of(checkpoint)
        stage.add(2, 4, result_of(2, 4))
        checkpoint.add(stage, 0, 10, content)
        checkpoint.add(stage, 4, 14, content)
    with pytest.warns(InputWarning, match="2 blocks of 'simulating' have a wrong digest, size or value") as caught:
        assert read(path) == [(2, 4)]
    assert len(caught) == 1


@pytest.mark.parametrize(
    "change",
    [
        """UPDATE stage SET columns = replace(columns, '["p"', '["q"')""",
        "UPDATE stage SET columns = '{}'",
        "UPDATE block SET first = 'one'",
        "UPDATE block SET last = 1e300",
        "UPDATE block SET rows = NULL",
        "UPDATE block SET rows = 'text'",
        "UPDATE block SET digest = 5",
    ],
)
def test_changed_records_are_dropped(path: Path, change: str) -> None:
    """Those of a job whose columns have other names, types or shapes, and what nobody but somebody else writes."""
    fill(path, [(0, 10)], 10)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(change).rowcount == 1
    with pytest.warns(InputWarning, match="computed again"):
        assert read(path, 10) == []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        fill(path, [(0, 10)], 10)
        assert read(path, 10) == [(0, 10)]


def test_the_settings_of_a_damaged_stage_are_not_needed(path: Path) -> None:
    for facts in ("[" * 20000, "5", b"\xff", None):
        path.unlink(missing_ok=True)
        fill(path, [(0, 10)])
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE stage SET facts = ?", [facts])
        with Checkpoint.open(path, "example") as checkpoint, pytest.raises(InputError, match="blocks of another study"):
            stage_of(checkpoint, job=described(("other", 1)))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=budget(50))
@given(VALUES, VALUES)
def test_digests_of_values(one: Any, other: Any) -> None:
    """Equal exactly if the values are written alike."""
    copied = pickle.loads(pickle.dumps(one))
    assert described(copied).digest == described(one).digest
    assert (described(one).digest == described(other).digest) == (repr(one) == repr(other))


def test_digest_of_arrays() -> None:
    array = np.arange(24, dtype=np.int64).reshape(4, 6)
    same = [array, np.asfortranarray(array), np.arange(48).reshape(4, 12)[:, ::2] // 2]
    same += [array.astype(dtype) for dtype in (">i8", np.int16, np.uint32)]
    digests = {described(each).digest for each in same}
    assert len(digests) == 1
    for other in (array.astype(float), array.astype(np.uint64), array.reshape(6, 4), array + 1, array[:3]):
        assert described(other).digest not in digests
    assert described(np.int64(5)) == described(5) == described(np.uint8(5))
    assert described([0.5] * 100).digest != described([0.25] * 100).digest
    assert described(["a"] * 100).digest != described(["a"] * 99 + ["b"]).digest
    assert described(["ab", "c"] * 50).digest != described(["a", "bc"] * 50).digest


def test_digest_of_big_array_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.random.default_rng(2).integers(0, 9, (100, 7))
    expected = described(array)
    monkeypatch.setattr("reshuffle.execution.digest.PIECE", 64)
    assert described(np.asfortranarray(array)) == expected


@dataclass(frozen=True)
class Job:
    tests: tuple[str, ...]
    n_resamples: int
    counts: NDArray[np.int64]
    selection: Selection
    threads: int | None = None
    unused: int = field(default=0, init=False)

    @functools.cached_property
    def total(self) -> int:
        return int(self.counts.sum())


def test_what_counts_in_a_job() -> None:
    job = Job(("ar", "bootstrap"), 999, np.arange(6).reshape(2, 3), Selection("fixed", None, 0.5))
    before = described(job)
    assert job.total == 15  # a computed attribute
    assert described(job) == described(replace(job, threads=7)) == before
    assert dict(before.facts) == {
        "tests": "ar, bootstrap", "n_resamples": "999", "sampling": "fixed", "size": "None", "swapped": "0.5"
    }  # fmt: skip
    assert described(replace(job, n_resamples=1000)).digest != before.digest


def test_metrics_and_functions() -> None:
    bleu = described((metric("bleu"), 1))
    assert bleu == described((metric("bleu"), 1))
    assert bleu.digest != described((metric("bleu", lowercase=True), 1)).digest
    assert bleu.facts["metric"].startswith("BLEU|")
    adding = [described(lambda x, n=n: x + n) for n in (1, 1, 2)]
    assert adding[0] == adding[1] != adding[2]
    assert described(lambda x: x * 3) != described(lambda x: x * 4)
    assert described(functools.partial(round, ndigits=2)) != described(functools.partial(round, ndigits=3))
    assert described(np.random.default_rng(1)) == described(np.random.default_rng(1))
    with pytest.raises(InputError, match="cannot be described: expected an object that"):
        described([threading.Lock()])


def test_a_cycle_ends() -> None:
    cycles: list[list[Any]] = [[1], [2]]
    for cycle in cycles:
        cycle.append(cycle)
    assert described(cycles[0]).digest != described(cycles[1]).digest
