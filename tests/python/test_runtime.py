"""What surrounds a call: Ctrl-C, fork, threads of Python, progress, memory, processes."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from reshuffle import Progress, _core, approximate_randomization, bootstrap_test, metric
from reshuffle.metrics import Counts, Scores

BLEU = metric("bleu")
POSIX = pytest.mark.skipif(os.name == "nt", reason="signals and fork are POSIX")


def counts(segments: int = 500) -> Counts:
    """Two systems' counts."""
    words = np.random.default_rng(0).integers(1, 30, size=(2, segments, 1))
    return np.concatenate([words, words, words // 2, words // 3, words // 4, words // 5, *[words] * 4], axis=-1)


CALLS = {
    "shuffle": "approximate_randomization(a, b, m, n_resamples=10**12)",
    "formula": "approximate_randomization(a, b, lambda t: t[..., 2] / 1e9, n_resamples=10**9)",
    "subgroup": "approximate_randomization(a, b, m, scheme='subgroup', n_resamples=2**40)",
    "law": "approximate_randomization(a[:, :1] * 500, b[:, :1], lambda t: t[..., 0] / 1e9, scheme='exact')",
    "draw": "bootstrap_test(a, b, m, n_resamples=3 * 10**7)",
    "count": "m.suff_stats([['a b c d'] * 10**6] * 10, [['a b c e'] * 10**6])",
    # Within one segment: a search that takes half a minute, a matrix of ten thousand million cells.
    "search": "metric('ter', variant='tercom').suff_stats([[' '.join('ab'[i] for i in a.ravel()[:1000] % 2)]], "
    "[[' '.join('ab'[i] for i in b.ravel()[:1000] % 2)]])",
    "matrix": "metric('wer').suff_stats([['a b ' * 200000]], [['b ' * 400000]])",
}


@POSIX
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_stops_a_long_call_within_half_a_second(call: str, threads: int) -> None:
    source = f"""
import time, numpy as np
from reshuffle import *
m = metric("bleu")
a, b = np.random.default_rng(0).integers(1, 30, size=(2, 3000, 10))
import functools
approximate_randomization = functools.partial(approximate_randomization, threads={threads})
bootstrap_test = functools.partial(bootstrap_test, threads={threads})
print("started", flush=True)
try:
    {CALLS[call]}
    print("finished")
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "started\n"
        time.sleep(1.0)
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        answer = child.stdout.readline()
    assert answer != "finished\n"
    assert float(answer) - sent < 0.5


# What is long within one block: (made before, called, when to interrupt).
STRETCHES = {
    "line of bleu": ("a, b = line(one), line(other)", "metric('bleu').suff_stats([[a]], [[b]])"),
    "line of nist": ("a, b = line(one), line(other)", "metric('nist').suff_stats([[a]], [[b]])"),
    "line of chrf": ("a, b = line(one), line(other)", "metric('chrf').suff_stats([[a]], [[b]])"),
    "line of ter": (
        "a, b = line(one[:100_000] % 100), line(other[:100_000] % 100)",
        "metric('ter').suff_stats([[a]], [[b]])",
    ),
    "tokens": ("a = line(one)", "_core.tokenize([a] * 20, '13a')"),
    "pairs": (
        "m, p = _core.Metric('chrf', {}), [(i, j) for i in range(400) for j in range(i)]\n"
        "c, t = rng.integers(1, 30, size=(400, 50, 18)), np.zeros((1, len(p)))",
        "_core.shuffle_tally([(m, c)], p, 'less', t, n=10**6, seed=1, progress=progress)",
    ),
    "differing units": ("c = np.zeros((2, 10**6, 10), np.int64)", "_core.differing_units(c, [(0, 1)] * 10**4, most=1)"),
    "limits": ("r = _core.StoppingRule.gandy(0.05, 0.001)", "r.limits(10**7)"),
    # Interrupted when all shuffles are made, and their ranks are found.
    "ranks of minP": (
        "m, c = _core.Metric.mean('x', 1.0, True), rng.integers(0, 10**9, size=(2, 64, 2))\n"
        "t, r = np.zeros((1, 1)), np.ones((1, 1), np.uint64)",
        "_core.shuffle_min_p([(m, c)], [(0, 1)], 'less', t, r, n=2 * 10**7, seed=1, progress=progress)",
    ),
}


@POSIX
@pytest.mark.parametrize("stretch", STRETCHES)
def test_ctrl_c_stops_what_is_long_within_a_block(stretch: str) -> None:
    before, call = STRETCHES[stretch]
    source = f"""
import os, signal, threading, time
import numpy as np
from reshuffle import Progress, _core, metric
rng, progress = np.random.default_rng(0), Progress()
line = lambda words: " ".join(map(str, words.tolist()))
one, other = rng.integers(0, 50_000, size=(2, 4_000_000))
{before}
sent = []
def interrupt():
    time.sleep(0.5)
    while {stretch == "ranks of minP"} and progress.done < 2 * 10**7:
        time.sleep(0.001)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    {call}
    print("finished")
except KeyboardInterrupt:
    print(time.monotonic() - sent[0])
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True, timeout=120)
    assert float(done.stdout) < 2.0


@POSIX
def test_ctrl_c_on_the_command_line_leaves_no_traceback_and_no_file(tmp_path: Path) -> None:
    for name in ("ref", "a", "b"):
        (tmp_path / name).write_text("".join(f"{name} {i} x y z\n" for i in range(3000)))
    command = [sys.executable, "-m", "reshuffle", "compare", "ref", "a", "b", "-n", str(10**8), "-o", "report"]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    time.sleep(2)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (130, "\nreshuffle: interrupted\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "ref"]


def test_a_segment_that_does_not_fit_the_memory_is_an_error_that_names_it() -> None:
    resource = pytest.importorskip("resource")
    assert resource is not None
    source = """
import resource
from reshuffle import *
resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))
one, other = (" ".join(f"w{i * step % 200_003}" for i in range(200_000)) for step in (1, 7))
for name in ("per", "ter"):
    try:
        print(metric(name).suff_stats([["x", other]], [["x", one]], threads=1)[0].tolist())
    except InputError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    per, ter = done.stdout.splitlines()
    assert per == "[[0, 1], [3, 200000]]"
    assert ter.startswith("segment 2 is too long: a table of 625003125 numbers does not fit the memory")


def test_memory_of_a_segment_grows_with_its_references_and_not_with_their_square() -> None:
    source = """
import resource
from reshuffle import *
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
references = [[" ".join(f"r{r}w{w}" for w in range(20))] for r in range(2000)]
before = peak()
for name in ("ter", "wer", "per"):
    metric(name).suff_stats([["a b"]], references, threads=1)
print(peak() - before)
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    # A row of a table for every word of all references in each of them would be 640 MB.
    assert int(done.stdout) < 30_000


def _pvalue(seed: int) -> float:
    a, b = counts()
    return approximate_randomization(a, b, BLEU, n_resamples=20_000, seed=seed, threads=2).pvalue


@POSIX
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_fork_after_a_call_can_call_too() -> None:
    expected = [_pvalue(seed) for seed in range(4)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert expected == pool.map_async(_pvalue, range(4)).get(timeout=60)


def test_many_python_threads_at_once_get_what_one_gets() -> None:
    expected = [_pvalue(seed) for seed in range(16)]
    with ThreadPoolExecutor(8) as executor:
        assert expected == list(executor.map(_pvalue, range(16)))


LINE = " ".join(map(str, range(300_000)))

# One call each: between two calls other threads may run whatever a call holds.
LONG: dict[str, Callable[[], object]] = {
    "shuffle": lambda: _core.shuffle_tally(
        [(BLEU.core, counts(3000))], [(0, 1)], "less", np.zeros((1, 1)), n=10**6, seed=1, threads=1
    ),
    "draw": lambda: _core.draw_scores([(BLEU.core, counts(3000))], n=10**5, seed=1, threads=1),
    "count": lambda: BLEU.core.count([["a b c d e"] * 200_000], [["a b c e d"] * 200_000], threads=1),
    "tokenize": lambda: _core.tokenize([LINE] * 10, "13a"),
    "words": lambda: _core.stream_words(1, "draw", 0, 10**8),
    "coins": lambda: _core.coin_law(np.full(3000, 1000, dtype=np.uint64)),
    "limits": lambda: _core.StoppingRule.gandy(0.05, 0.001).limits(10**6),
    "differing": lambda: _core.differing_units(np.zeros((2, 10**5, 10), np.int64), [(0, 1)] * 200, most=1),
}


@pytest.mark.parametrize("call", LONG)
def test_other_python_threads_run_during_a_single_call(call: str) -> None:
    begun, during = threading.Event(), threading.Event()
    ticks = 0

    def tick() -> None:
        nonlocal ticks
        begun.set()
        while not during.wait(0.001):
            ticks += 1

    ticker = threading.Thread(target=tick)
    # A thread that waits for the interpreter asks for it after so long: not at all while the call converts arguments.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(10.0)
    try:
        ticker.start()
        begun.wait()
        before = ticks
        LONG[call]()
        ran = ticks - before
    finally:
        sys.setswitchinterval(interval)
        during.set()
        ticker.join()
    # With the interpreter held there is one tick at most, however long it takes.
    assert ran > 3


def test_other_python_threads_run_while_replicates_are_scored() -> None:
    totals = np.ones((2_000_000, 10), dtype=np.int64)
    for scored in (BLEU.core.scores, BLEU.core.segment_scores):
        ticks, stop = 0, threading.Event()

        def tick(stop: threading.Event = stop) -> None:
            nonlocal ticks
            while not stop.is_set():
                ticks += 1
                time.sleep(0.001)

        ticker = threading.Thread(target=tick)
        ticker.start()
        before = ticks
        begun = time.monotonic()
        scored(totals)
        # With the interpreter held there is one tick at most, however long it takes.
        during, took = ticks - before, time.monotonic() - begun
        stop.set()
        ticker.join()
        assert during > 3, (during, took)


def test_progress_grows_and_ends_at_the_total() -> None:
    progress = Progress()
    assert (progress.stage, progress.total, progress.done) == ("", 0, 0)
    seen: list[int] = []
    stop = threading.Event()

    def look() -> None:
        while not stop.wait(0.01):
            seen.append(progress.done)

    looker = threading.Thread(target=look)
    looker.start()
    a, b = counts(3000)
    approximate_randomization(a, b, BLEU, n_resamples=3_000_000, progress=progress)
    assert (progress.stage, progress.total, progress.done) == ("shuffling", 3_000_000, 3_000_000)
    bootstrap_test(a, b, BLEU, n_resamples=1000, progress=progress)
    stop.set()
    looker.join()
    assert (progress.stage, progress.done) == ("drawing", 1000)
    shuffling = seen[: seen.index(max(seen))]
    assert shuffling == sorted(shuffling)
    assert len(set(shuffling)) > 3


def test_progress_of_a_formula_counts_all_its_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reshuffle.resampling.BATCH_CELLS", 2000)
    progress = Progress()
    seen = []

    def score(totals: Counts) -> Scores:
        seen.append(progress.done)
        return totals[..., 2] / 1e6

    a, b = counts(100)
    approximate_randomization(a, b, score, n_resamples=350, progress=progress)
    assert (progress.stage, progress.total, progress.done) == ("shuffling", 350, 350)
    assert sorted(set(seen)) == [0, 100, 200, 300]


def test_memory_of_a_test_does_not_grow_with_the_number_of_shuffles() -> None:
    source = """
import resource, numpy as np
from reshuffle import *
a, b = np.random.default_rng(0).integers(1, 30, size=(2, 3000, 10))
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
approximate_randomization(a, b, "bleu", n_resamples=10_000, threads=2)
before = peak()
approximate_randomization(a, b, "bleu", n_resamples=2_000_000, threads=2)
print(peak() - before)
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    # 2,000,000 statistics would take 15,625 KiB, their flips 735,000. What is allowed is the allocator's noise.
    assert int(done.stdout) < 4_000


def test_a_metric_survives_pickling() -> None:
    lowercase = metric("bleu", lowercase=True)
    again = pickle.loads(pickle.dumps(lowercase))
    assert again == lowercase
    assert again.signature() == lowercase.signature()
    assert repr(again) == "metric('bleu', lowercase=True)"


@POSIX
def test_a_bar_shows_the_progress_of_long_work_on_a_terminal(tmp_path: Path) -> None:
    import pexpect

    for name in ("ref", "a", "b"):
        (tmp_path / name).write_text("".join(f"{name} {i} x y z\n" for i in range(3000)))
    command = ["-m", "reshuffle", "compare", "ref", "a", "b", "-n", "1000000"]
    child = pexpect.spawn(sys.executable, command, cwd=str(tmp_path), dimensions=(24, 100), timeout=60)
    child.expect("drawing")
    child.expect("Signature: ")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
