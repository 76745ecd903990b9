"""Jobs that are computed in pieces: by threads, processes, loky and a real Dask cluster of two worker processes."""

import contextlib
import importlib.util
import multiprocessing
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import psutil
import pytest
from numpy.typing import NDArray

from counts import bleu_counts
from known import known
from processes import wait_for_ends
from reshuffle import FromCounts, InputError, SegmentScores, metric
from reshuffle._core import Progress
from reshuffle.errors import WorkerError
from reshuffle.execution import Execution, executors, run_job, worker
from reshuffle.execution.executors import NamedWorkers, process_pool
from reshuffle.study import testing as study_testing
from reshuffle.study.experiments import Experiment, Population, Selection
from told import assert_raises


@dataclass(frozen=True)
class Squares:
    """A job whose items take a time, and may fail or end their process."""

    seconds: float = 0.0
    fails_at: int | None = None
    error: type[Exception] = ValueError
    dies_at: int | None = None
    once: str = ""  # a file: the process ends only if it can be created
    block: int = 1
    data: NDArray[Any] = field(default_factory=lambda: np.zeros(0))
    items: ClassVar[str] = "numbers"

    def run(self, first: int, last: int, threads: int | None, progress: Progress | None) -> NDArray[np.int64]:
        if progress is not None:
            progress.begin("squaring", last - first)
        time.sleep(self.seconds * (last - first))
        if self.fails_at is not None and first <= self.fails_at < last:
            raise self.error("no square")
        if self.dies_at is not None and first <= self.dies_at < last and self._first_time():
            os.kill(os.getpid(), signal.SIGKILL)
        if progress is not None:
            progress.update(last - first)
        return np.arange(first, last) ** 2 + int(self.data.sum())

    def _first_time(self) -> bool:
        with contextlib.suppress(FileExistsError):
            Path(self.once).touch(exist_ok=False)
            return True
        return False


def joined(parts: list[NDArray[np.int64]]) -> list[int]:
    return [int(each) for part in parts for each in part]


@pytest.fixture(scope="module")
def loky() -> Iterator[Any]:
    executor = pytest.importorskip("loky").ProcessPoolExecutor(2)
    yield executor
    executor.shutdown(kill_workers=True)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


DASK = pytest.mark.interop("distributed")


SLOW_LOKY = pytest.param("loky", marks=pytest.mark.slow)


@pytest.fixture(params=["threads", "processes", SLOW_LOKY, pytest.param("cluster", marks=DASK)])
def executor(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


def experiment(sampling: Literal["replace", "fixed"] = "replace", in_core: bool = True) -> Experiment:
    counts = bleu_counts(3, 2, 60, 0.1)
    share = FromCounts("share", {"a": counts[0], "b": counts[1]}, lambda sums: sums[..., 2] / sums[..., 6])
    return Experiment([Population("a, b", [metric("bleu") if in_core else share], [counts])], Selection(sampling), 5)


STUDIES: dict[str, tuple[Experiment, list[str], dict[str, Any]]] = {
    "of the core": (experiment(), ["ar", "bootstrap", "ar-studentized"], {}),
    "shared weights": (experiment("fixed"), ["ar", "bootstrap"], {"scheme": "subgroup", "weight_sets": 5}),
    "orbit": (experiment("fixed"), ["ar", "bootstrap"], {"scheme": "orbit"}),
    "a lambda, which is sent by cloudpickle": (experiment(in_core=False), ["ar"], {}),
}


@pytest.mark.parametrize("name", STUDIES)
def test_studies_have_the_same_bytes_whatever_computes_them(executor: Any, name: str) -> None:
    if name.startswith("a lambda") and not isinstance(executor, ThreadPoolExecutor):
        pytest.importorskip("cloudpickle")
    own, tests, options = STUDIES[name]
    n = 83 if len(tests) > 1 else 9
    here = study_testing.Testing(tests, 99, execution=Execution(threads=1), **options).run(own, n, first=4)
    there = study_testing.Testing(tests, 99, execution=Execution(executor), **options).run(own, n, first=4)
    assert there.pvalue.tobytes() == here.pvalue.tobytes()
    assert there.statistic.tobytes() == here.statistic.tobytes()


def test_results_are_ordered_by_index_and_progress_counts_items(executor: Any) -> None:
    progress = Progress()
    parts = run_job(Squares(1e-4), 500, Execution(executor, progress=progress), stage="squaring", first=20)
    assert joined(parts) == [i**2 for i in range(20, 520)]
    assert len(parts) > 4
    assert (progress.stage, progress.total, progress.done) == ("squaring", 500, 500)


@pytest.mark.parametrize("error", [ValueError, InputError])
def test_a_task_that_fails_is_named_by_its_range(executor: Any, error: type[Exception]) -> None:
    job = Squares(1e-3, fails_at=130, error=error, block=10)
    expected = InputError if error is InputError else WorkerError
    with pytest.raises(expected, match=r"numbers (\d+)–(\d+) failed in a worker: .*no square") as caught:
        run_job(job, 200, Execution(executor), stage="squaring")
    first, last = (int(word) for word in str(caught.value).split()[1].split("–"))
    assert first <= 130 <= last
    assert first % 10 == 0
    if error is ValueError:
        assert "ValueError: no square" in str(caught.value)
        assert "in run" in str(caught.value.__cause__)
    # The executor can still be used.
    assert joined(run_job(Squares(), 5, Execution(executor), stage="squaring")) == [0, 1, 4, 9, 16]


@pytest.mark.parametrize("kind", ["processes", SLOW_LOKY])
def test_a_killed_worker_of_a_pool_is_one_sentence(kind: str, tmp_path: Path) -> None:
    pool: Any = process_pool(1) if kind == "processes" else pytest.importorskip("loky").ProcessPoolExecutor(1)
    try:
        with pytest.raises(WorkerError, match=r"a worker process ended before it finished numbers? [\d–]+: .*--resume"):
            run_job(Squares(1e-3, dies_at=40, once=str(tmp_path / "once")), 100, Execution(pool), stage="squaring")
        # A broken pool takes no more tasks.
        with pytest.raises(WorkerError, match="a worker process ended"):
            run_job(Squares(), 100, Execution(pool), stage="squaring")
    finally:
        pool.shutdown()


@pytest.mark.filterwarnings("ignore")
@DASK
def test_dask_computes_the_tasks_of_a_killed_worker_again(cluster: Any, tmp_path: Path) -> None:
    job = Squares(1e-3, dies_at=140, once=str(tmp_path / "once"), data=np.ones(100_000))
    assert joined(run_job(job, 400, Execution(cluster), stage="squaring")) == [i**2 + 100_000 for i in range(400)]
    assert (tmp_path / "once").exists()
    cluster.wait_for_workers(2, timeout=60)


def test_what_cannot_be_computed_elsewhere_is_one_sentence(processes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    job: Any = Squares(data=threading.Lock())  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"cannot be pickled .*leave out the executor"):
        run_job(job, 5, Execution(processes), stage="squaring")
    own = experiment(in_core=False)
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    with pytest.raises(InputError, match="install cloudpickle"):
        study_testing.Testing(["ar"], 99, execution=Execution(processes)).run(own, 5)
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(InputError, match=r"takes no tasks .*shutdown"):
        run_job(Squares(), 5, Execution(pool), stage="squaring")


class Counting(Executor):
    """Runs tasks one after the other, later, and counts what is in flight and how much is sent."""

    _max_workers = 3

    def __init__(self, run: Callable[..., Any] = lambda task, *arguments: task(*arguments)) -> None:
        self.waiting: list[tuple[Future[Any], Any]] = []
        self.most, self.run = 0, run
        self.tasks: list[tuple[Any, ...]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.tasks.append(args)
        self.waiting.append((future, lambda: self.run(fn, *pickle.loads(pickle.dumps(args)))))
        self.most = max(self.most, len(self.waiting))
        return future

    def one(self) -> None:
        future, call = self.waiting.pop(0)
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(call())
            except BaseException as error:
                future.set_exception(error)


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Counting]:
    """An executor that computes a task whenever the loop waits."""
    import concurrent.futures

    monkeypatch.setattr(worker, "_kept", None)

    def made(**options: Any) -> Counting:
        pool = Counting(**options)

        def wait(pending: Any, *args: Any) -> Any:
            pool.one()
            return [future for future in pending if future.done()], None

        monkeypatch.setattr(concurrent.futures, "wait", wait)
        return pool

    return made


def test_at_most_four_tasks_for_each_worker_are_in_flight(one_by_one: Any) -> None:
    pool = one_by_one()
    assert joined(run_job(Squares(1e-4), 900, Execution(pool), stage="squaring")) == [i**2 for i in range(900)]
    assert pool.most == 12


def test_a_job_travels_once_and_the_next_with_the_same_arrays_only_without_them(one_by_one: Any) -> None:
    pool, data = one_by_one(), np.ones(1_000_000)
    run_job(Squares(data=data), 50, Execution(pool), stage="squaring")
    assert max(len(pickle.dumps(task)) for task in pool.tasks) < 1000
    parcel = pool.tasks[0][0]
    folder = Path(parcel.folder)
    assert sorted(each.stat().st_size > 7_000_000 for each in folder.iterdir()) == [False, True]
    array = folder / parcel.digests[1]
    written = array.stat().st_mtime_ns
    assert joined(run_job(Squares(data=data, block=2), 3, Execution(pool), stage="squaring")) == [
        10**6 + i for i in (0, 1, 4)
    ]
    assert pool.tasks[-1][0].digests[1] == parcel.digests[1]
    assert array.stat().st_mtime_ns == written
    run_job(Squares(), 3, Execution(pool), stage="squaring")
    assert len(list(folder.iterdir())) == 1
    del pool.tasks[:]


def test_a_worker_that_does_not_see_the_files_gets_them_with_one_task(one_by_one: Any, tmp_path: Path) -> None:
    """Two workers, elsewhere: each computes with its own memory, and finds no files."""
    memories: list[Any] = [None, None]
    turn = 0

    def elsewhere(task: Any, parcel: Any, *arguments: Any) -> Any:
        nonlocal turn
        turn += 1
        at = turn % 2
        here, worker._kept = worker._kept, memories[at]
        name, worker._name = worker._name, lambda: f"worker {at}"
        try:
            return task(worker.Parcel(parcel.digests, str(tmp_path)), *arguments)
        finally:
            memories[at], worker._kept, worker._name = worker._kept, here, name

    pool = one_by_one(run=elsewhere)
    parts = run_job(Squares(1e-4, data=np.ones(20_000)), 300, Execution(pool), stage="squaring")
    assert joined(parts) == [i**2 + 20_000 for i in range(300)]
    with_pieces = [task for task in pool.tasks if task[3]]
    assert 2 <= len(with_pieces) <= 4
    assert sum(len(piece) for piece in with_pieces[0][4:]) >= 160_000


def test_a_file_of_another_job_is_not_taken_for_a_piece(tmp_path: Path) -> None:
    piece = b"x" * 100
    (tmp_path / worker.digest_of(b"y")).write_bytes(piece)
    (tmp_path / worker.digest_of(piece)).write_bytes(piece)
    assert worker._read(str(tmp_path), worker.digest_of(b"y")) is None
    found = known(worker._read(str(tmp_path), worker.digest_of(piece)))
    assert bytes(found) == piece


def test_another_version_in_the_worker_is_refused() -> None:
    answer = worker.run_task(worker.Parcel((), None, "0.0.1"), 0, 1)
    assert isinstance(answer, worker.Failed)
    assert "the job is from 0.0.1: install the same version" in answer.text


def test_ctrl_c_cancels_the_tasks_of_the_job_only(one_by_one: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import concurrent.futures

    pool = one_by_one()
    other = pool.submit(int, "7")

    def interrupted(*args: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(concurrent.futures, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_job(Squares(), 100, Execution(pool), stage="squaring")
    assert [future.cancelled() for future, _ in pool.waiting] == [False] + 12 * [True]
    pool.one()
    assert other.result() == 7


RATED = SegmentScores("x", {"a": [1, 2], "b": [3, 4]})


def test_names_of_executors_and_what_is_none() -> None:
    assert_raises("python_errors_of_executors", globals())


def refused(address: str, message: str) -> None:
    with pytest.raises(InputError, match=message), NamedWorkers.from_text(f"dask://{address}").opened():
        pass


def test_a_scheduler_that_does_not_answer_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "CONNECT_SECONDS", 0.2)
    if importlib.util.find_spec("distributed"):
        refused("127.0.0.1:9", r"no Dask scheduler answers at 127\.0\.0\.1:9: .*dask scheduler")
    monkeypatch.setitem(sys.modules, "distributed", None)
    refused("localhost:8786", r"pip install 'reshuffle\[cluster\]'")


@DASK
def test_another_server_at_the_address_is_one_sentence() -> None:
    """Its first bytes are no length of a message of Dask's, but would be a very long one."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"HTTP/1.0 400 Bad request\r\n\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        host, port = server.getsockname()
        refused(f"{host}:{port}", "no Dask scheduler answers at")
        thread.join(60)


@DASK
def test_a_scheduler_without_workers_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    monkeypatch.setattr(executors, "WORKER_SECONDS", 0.2)
    with distributed.LocalCluster(n_workers=0, host="127.0.0.1", dashboard_address=":0") as empty:
        refused(empty.scheduler_address.removeprefix("tcp://"), "has no workers: start some with 'dask worker")


@DASK
def test_a_scheduler_that_ends_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Not bad input: the command line exits with code 4. Nothing is logged, also while the client closes."""
    import distributed

    monkeypatch.setattr(executors, "CONNECT_SECONDS", 2)
    cluster = distributed.LocalCluster(
        n_workers=1, processes=False, protocol="tcp://", host="127.0.0.1", dashboard_address=":0"
    )
    with (
        cluster,
        NamedWorkers.from_text(f"dask://{cluster.scheduler_address.removeprefix('tcp://')}").opened() as client,
    ):
        assert joined(run_job(Squares(), 3, Execution(client), stage="squaring")) == [0, 1, 4]
        cluster.close()
        with pytest.raises(WorkerError, match=r"cannot be sent to the workers of the Dask client .*are the scheduler"):
            run_job(Squares(block=2), 9, Execution(client), stage="squaring")
    assert "Traceback" not in capfd.readouterr().err


def parent_of_pool(connection: Any) -> None:
    pool = process_pool(2)
    connection.send([pool.submit(os.getpid).result() for _ in range(4)])
    time.sleep(60)


def test_workers_end_with_a_parent_that_is_killed() -> None:
    ours, theirs = multiprocessing.Pipe()
    parent = multiprocessing.get_context("spawn").Process(target=parent_of_pool, args=(theirs,))
    parent.start()
    workers = [psutil.Process(each) for each in set(ours.recv())]
    assert workers
    parent.kill()
    parent.join()
    wait_for_ends(workers)


def started(files: Path, temporary: Path, *arguments: str) -> subprocess.Popen[str]:
    """A long study in a process group of its own."""
    words = ("study", "type1", "reference.txt", "baseline.txt", "tuned.txt", "--simulations", "10000000", *arguments)
    return subprocess.Popen(
        [sys.executable, "-m", "reshuffle", *words], cwd=files, env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def workers_of(process: subprocess.Popen[str], temporary: Path) -> list[Any]:
    """The workers of a command, once they compute."""
    for _ in range(1200):
        every = psutil.Process(process.pid).children(recursive=True)
        found = [each for each in every if any("spawn_main" in word for word in each.cmdline())]
        busy = [each for each in found if sum(each.cpu_times()) > 1]
        if len(found) == len(busy) == 2 and list(temporary.glob("reshuffle-*/*")):
            return found
        assert process.poll() is None, process.stderr and process.stderr.read()
        time.sleep(0.05)
    raise AssertionError("the workers do not compute")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("whole_group", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_ctrl_c_ends_the_command_and_its_workers(demo_files: Path, tmp_path: Path, whole_group: bool) -> None:
    """Terminals send SIGINT to all processes of the group, ``kill -INT`` to one."""
    process = started(demo_files, tmp_path, "--workers", "processes:2")
    workers = workers_of(process, tmp_path)
    (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors.strip()) == (130, "reshuffle: interrupted")
    wait_for_ends(workers)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_killed_worker_ends_the_command_with_one_sentence(demo_files: Path, tmp_path: Path) -> None:
    process = started(demo_files, tmp_path, "--workers", "processes:2", "--resume", str(tmp_path / "checkpoint"))
    workers = workers_of(process, tmp_path)
    workers[0].kill()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 4
    assert "reshuffle: error: a worker process ended before it finished simulation" in errors
    assert "run it again with the same checkpoint (--resume)" in errors
    assert "Traceback" not in errors
    wait_for_ends(workers)
    assert [each.name for each in tmp_path.iterdir()] == ["checkpoint"]
