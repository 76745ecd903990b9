"""Long calls: Ctrl-C and signals, fork, other Python threads, and memory."""

import errno
import importlib
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

import calls
from known import known
from processes import python
from reshuffle import _core, approximate_randomization, metric
from reshuffle.metrics.base import Counts

BLEU = metric("bleu")
POSIX = pytest.mark.skipif(os.name == "nt", reason="signals and fork are POSIX")


def prompt(wall: float, own: float, limit: float) -> bool:
    """Whether seconds are within a limit. On a busy machine, ``own``, the processor time of the process, has to be."""
    return min(wall, own) < limit and wall < 20 * limit


def counts(segments: int = 500) -> Counts:
    """The counts of two systems."""
    words = np.random.default_rng(0).integers(1, 30, size=(2, segments, 1))
    return np.concatenate([words, words, words // 2, words // 3, words // 4, words // 5, *[words] * 4], axis=-1)


def test_an_interrupt_cannot_fall_into_the_first_array_of_the_core() -> None:
    """The loading of NumPy's interface runs Python code, so that Ctrl-C could raise there. It is over by then."""
    source = """
import builtins
import numpy as np
from reshuffle import _core, metric
core = metric("bleu").core
def interrupted(*args, **options):
    raise KeyboardInterrupt
np.lib.NumpyVersion = builtins.__import__ = interrupted
(counts,) = _core.count([core], [["a b c d"], ["a b c e"]], [["a b c d"]])
print(core.scores(counts[:, 0]).tolist())
"""
    assert python(source).startswith("[100.")


def test_without_numpy_the_import_fails_as_an_import() -> None:
    source = """
import sys
from reshuffle import _core
sys.modules["numpy"] = None
try:
    _core.load_numpy()
except ImportError as error:
    print(error.name)
"""
    assert python(source) == "numpy\n"


# Calls of many blocks, and calls with long steps within one block: (preparation, call).
LONG_STEPS = {
    "shuffle": ("", "approximate_randomization(a, b, 'bleu', n_resamples=10**12)"),
    "shuffle on one thread": ("", "approximate_randomization(a, b, 'bleu', n_resamples=10**12, workers=1)"),
    "formula": ("", "approximate_randomization(a, b, lambda t: t[..., 2] / 1e9, n_resamples=10**9)"),
    "subgroup": ("", "approximate_randomization(a, b, 'bleu', scheme='subgroup', n_resamples=2**40)"),
    "exact": (
        "x, y = a[:, :1] * 500, b[:, :1]",
        "approximate_randomization(x, y, lambda t: t[..., 0] / 1e9, scheme='exact')",
    ),
    "draw": ("", "bootstrap_test(a, b, 'bleu', n_resamples=3 * 10**7)"),
    "count": ("", "metric('bleu').suff_stats([['a b c e'] * 10**6], [['a b c d'] * 10**6] * 10)"),
    # Long within one segment: a search that takes half a minute, and a matrix of ten thousand million cells.
    "search": (
        "x, y = (' '.join('ab'[i] for i in each.ravel()[:1000] % 2) for each in (a, b))",
        "metric('ter', variant='tercom').suff_stats([[y]], [[x]])",
    ),
    "matrix": ("", "metric('wer').suff_stats([['b ' * 400000]], [['a b ' * 200000]])"),
    **{
        f"line of {name}": ("a, b = line(one), line(other)", f"metric('{name}').suff_stats([[b]], [[a]])")
        for name in ("bleu", "nist", "chrf")
    },
    "line of ter": (
        "a, b = line(one[:100_000] % 100), line(other[:100_000] % 100)",
        "metric('ter').suff_stats([[b]], [[a]])",
    ),
    "line of gtm": (
        "a, b = line(one[:200_000] % 50), line(other[:200_000] % 50)",
        "metric('gtm', exponent=2).suff_stats([[b]], [[a]])",
    ),
    "tokens": ("a = line(one)", "_core.tokenize([a] * 20, '13a')"),
    "pairs": (
        "m, p = _core.Metric('chrf', {}), [(i, j) for i in range(400) for j in range(i)]\n"
        "c, t = rng.integers(1, 30, size=(400, 50, 18)), np.zeros((1, len(p)))",
        "resampler = _core.Resampler([(m, _core.Counts([c]))])\n"
        "    resampler.run([_core.Tally(p, 'less', t)], n=10**6, seed=1, progress=progress)",
    ),
    "permutations": (
        "m, p = metric('chrf').core, [(i, j) for i in range(50) for j in range(i)]\n"
        "c, t = rng.integers(1, 30, size=(50, 2000, 18)), np.zeros((1, len(p)))",
        "resampler = _core.Resampler([(m, _core.Counts([c]))], kind='permutations')\n"
        "    resampler.run([_core.PermutedTally(p, t)], n=10**6, seed=1, progress=progress)",
    ),
    "rows of permutations": (
        "c = rng.integers(1, 30, size=(50, 20_000, 18))",
        "counts = _core.Counts([c])\n    while True: _core.Resampler([(None, counts)], kind='permutations')",
    ),
    "labels of permutations": ("", "_core.permutations(1, 0, 3, 10**8)"),
    "differing units": (
        "c = np.zeros((2, 10**6, 10), np.int64)",
        "_core.Counts([c]).differing([(0, 1)] * 10**4, most=1)",
    ),
    "calibration": (
        "m = rng.normal(size=(1, 100, 3000))\nh = np.round(m[0])",
        "_core.meta_calibrate(m, h, 'none', progress=progress)",
    ),
    "long groups of pairs": (
        "m = rng.normal(size=(1, 2, 4 * 10**6))",
        "_core.meta_pair_counts(m, np.round(m[0], 3), 'none', progress=progress)",
    ),
    "short groups of pairs": (
        "m = rng.normal(size=(2, 20, 10**5))",
        "while True: _core.meta_pair_counts(m, m[0], 'item', progress=progress)",
    ),
    # Three gigabytes of results; no page of them is written before it is needed.
    "room for results": (
        "c = rng.integers(1, 30, size=(2, 64, 10))",
        "_core.Resampler([(None, _core.Counts([c]))], kind='draws').run([_core.Sums()], n=2 * 10**7, seed=1)",
    ),
    "limits": ("r = _core.StoppingRule.gandy(0.05, 0.001)", "r.limits(10**7)"),
    # The interrupt comes when all shuffles are made and the ranks are computed.
    "ranks of minP": (
        "m, c = _core.Metric.mean('x', 1.0, True), rng.integers(0, 10**9, size=(2, 64, 2))\n"
        "t, r = np.zeros((1, 1)), np.ones((1, 1), np.uint64)",
        "r = _core.MinP([(0, 1)], 'less', t, t, r, [0])\n"
        "    _core.Resampler([(m, _core.Counts([c]))]).run([r], n=2 * 10**7, seed=1, progress=progress)",
    ),
    "pairs of maxT": (
        "from reshuffle import SegmentScores, compare\n"
        "scores = SegmentScores('x', dict(zip(map(str, range(60)), rng.integers(0, 99, size=(60, 50)))))",
        "compare(metrics=scores, all_pairs=True, test='bootstrap', adjust='maxt', interval=None, n_resamples=200_000,\n"
        "        progress=progress)",
    ),
}

# One of each room of the core; the others are slow tests.
BY_DEFAULT = {"shuffle on one thread", "matrix", "line of ter", "permutations", "calibration", "limits"}
# What the interrupt of a step waits for.
EARLIER_STEPS = {"ranks of minP": "progress.done < 2 * 10**7", "pairs of maxT": "progress.stage != 'adjusting'"}


@POSIX
@pytest.mark.parametrize(
    "step", [pytest.param(step, marks=[] if step in BY_DEFAULT else pytest.mark.slow) for step in LONG_STEPS]
)
def test_ctrl_c_stops_a_long_call_within_a_block(step: str) -> None:
    before, call = LONG_STEPS[step]
    source = f"""
import os, signal, threading, time
import numpy as np
from reshuffle import Progress, _core, approximate_randomization, bootstrap_test, metric
rng, progress = np.random.default_rng(0), Progress()
line = lambda words: " ".join(map(str, words.tolist()))
one, other = rng.integers(0, 50_000, size=(2, 2_000_000))
a, b = rng.integers(1, 30, size=(2, 3000, 10))
{before}
sent = []
def interrupt():
    time.sleep(0.3)
    while {EARLIER_STEPS.get(step, False)}:
        time.sleep(0.001)
    sent.extend([time.monotonic(), time.process_time()])
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    {call}
    print("finished")
except KeyboardInterrupt:
    print(time.monotonic() - sent[0], time.process_time() - sent[1])
"""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True, timeout=120)
    wall, own = map(float, done.stdout.split())
    assert prompt(wall, own, 2)


def long_comparison(folder: Path, *options: str) -> list[str]:
    """A command that takes minutes; writes its input files."""
    for name in ("ref", "a", "b"):
        (folder / name).write_text("".join(f"{name} {i} x y z\n" for i in range(3000)))
    words = f"-m reshuffle compare ref a b -n {10**12} --test ar:scheme=iid --interval delta"
    return [sys.executable, *words.split(), *options]


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_file())


# Sends the signal when Python looks for the module, in the middle of the import.
HOOK = """
import os, signal, sys

class Hook:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["SIGNAL_AT_IMPORT_OF"]:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), int(os.environ["SIGNAL"]))

sys.meta_path.insert(0, Hook())
"""


@POSIX
@pytest.mark.parametrize(
    ("module", "number"),
    [
        ("click", signal.SIGINT),
        ("reshuffle.results", signal.SIGTERM),
        pytest.param("numpy.linalg", signal.SIGINT, marks=pytest.mark.slow),
        pytest.param("reshuffle._core", signal.SIGINT, marks=pytest.mark.slow),
        pytest.param("numpy", signal.SIGINT, marks=pytest.mark.slow),
        pytest.param("numpy", signal.SIGTERM, marks=pytest.mark.slow),
    ],
)
def test_a_signal_during_imports_leaves_no_traceback(tmp_path: Path, module: str, number: signal.Signals) -> None:
    command = long_comparison(tmp_path, "-o", "report")
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook/sitecustomize.py").write_text(HOOK)
    path = os.pathsep.join([str(tmp_path / "hook"), *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**os.environ, "PYTHONPATH": path, "SIGNAL_AT_IMPORT_OF": module, "SIGNAL": str(int(number))}
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=env, check=False, timeout=60)
    expected = (130, "\nreshuffle: interrupted\n") if number == signal.SIGINT else (-number, "")
    assert (done.returncode, done.stderr) == expected
    assert files(tmp_path) == ["a", "b", "ref"]


@POSIX
@pytest.mark.parametrize(
    "delay", [0.8, *(pytest.param(delay, marks=pytest.mark.slow) for delay in (0.1, 0.2, 0.3, 0.5, 1.5))]
)
def test_ctrl_c_on_the_command_line_leaves_no_traceback_and_no_file(tmp_path: Path, delay: float) -> None:
    # The entry point reports that it has started, as Python's own start-up is out of our hands.
    command = long_comparison(tmp_path, "-o", "report")
    source = "import os, reshuffle.__main__ as m; leave = m.leave; "
    source += "m.leave = lambda command: leave(lambda: [os.write(1, b'begun'), command()][1]); m.main()"
    command[1:3] = ["-c", source]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) as child:
        assert known(child.stdout).read(5) == b"begun"
        time.sleep(delay)
        begun, used, earlier = time.monotonic(), psutil.Process(child.pid).cpu_times(), os.times()
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=60)
        took, ended = time.monotonic() - begun, os.times()
    assert (child.returncode, err) == (130, b"\nreshuffle: interrupted\n")
    assert files(tmp_path) == ["a", "b", "ref"]
    whole = ended.children_user + ended.children_system - earlier.children_user - earlier.children_system
    assert prompt(took, whole - used.user - used.system, 1)


@POSIX
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminated_run_leaves_no_file_and_exits_by_the_signal(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "report").write_text("old")
    command = long_comparison(tmp_path, "-o", "report")
    with subprocess.Popen(command, stderr=subprocess.PIPE, cwd=tmp_path) as child:
        deadline = time.monotonic() + 30
        while files(tmp_path) == ["a", "b", "ref", "report"] and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(files(tmp_path)) == 5  # the fifth is the unfinished report
        child.send_signal(number)
        _, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (-number, b"")
    assert files(tmp_path) == ["a", "b", "ref", "report"]
    assert (tmp_path / "report").read_text() == "old"


@POSIX
@pytest.mark.skipif(sys.platform != "linux", reason="limits on the address space are Linux's")
@pytest.mark.parametrize("megabytes", [60, 140])
def test_too_little_memory_to_start_gives_one_sentence(tmp_path: Path, megabytes: int) -> None:
    command = shlex.join(long_comparison(tmp_path))
    shell = ["bash", "-c", f"ulimit -v {megabytes * 1024}; exec {command}"]
    done = subprocess.run(shell, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=60)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("reshuffle: error: not enough memory: ")
    assert done.stderr.count("\n") == 1
    # Commands that do not need numpy still run.
    shell[2] = f"ulimit -v {megabytes * 1024}; exec {sys.executable} -m reshuffle --version"
    assert subprocess.run(shell, capture_output=True, check=False, cwd=tmp_path, timeout=60).returncode == 0


def _cycle() -> ImportError:
    """numpy's error when a library cannot be loaded, with a cycle of causes."""
    first, second = ImportError("no numpy"), ImportError("x.so: failed to map segment from shared object")
    first.__cause__, second.__context__ = second, first
    return first


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "fewer systems, metrics or replicates (-n) need less"),
        (MemoryError("1 numbers are too large"), "1 numbers are too large"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "fewer systems"),
        (RuntimeError("can't start new thread"), "fewer systems"),
        (_cycle(), "fewer systems"),
    ],
)
def test_running_out_of_memory_gives_one_sentence_and_exit_code_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Any, error: Exception, message: str
) -> None:
    def fail(*args: object, **options: object) -> None:
        raise error

    monkeypatch.chdir(tmp_path)
    args = long_comparison(tmp_path, "-o", "report")[3:]
    monkeypatch.setattr(importlib.import_module("reshuffle.comparing"), "compared", fail)
    outcome = run(*args)
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (3, "", 1)
    assert outcome.err.startswith(f"reshuffle: error: not enough memory: {message}")
    assert files(tmp_path) == ["a", "b", "ref"]


@POSIX
def test_an_ignored_signal_stays_ignored(tmp_path: Path) -> None:
    # As under nohup, and for background commands of a shell.
    command = long_comparison(tmp_path)
    command[command.index(str(10**12))] = "400000"
    shell = ["bash", "-c", f"trap '' HUP INT; exec {' '.join(command)}"]
    with subprocess.Popen(shell, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as child:
        for _ in range(20):
            time.sleep(0.05)
            for number in (signal.SIGHUP, signal.SIGINT):
                child.send_signal(number)
        out, err = child.communicate(timeout=120)
    assert (child.returncode, err) == (0, "")
    assert out.startswith("BLEU: 3,000 segments")


@POSIX
def test_the_command_line_restores_signal_handlers() -> None:
    from reshuffle.cli.main import main

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    with pytest.raises(SystemExit):
        main(["--version"])
    assert before == [signal.getsignal(number) for number in numbers]


def test_the_error_names_a_segment_that_does_not_fit_in_memory() -> None:
    pytest.importorskip("resource")
    source = """
import resource
from reshuffle import *
resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))
one, other = (" ".join(f"w{i * step % 200_003}" for i in range(200_000)) for step in (1, 7))
for name in ("per", "ter"):
    try:
        print(metric(name).suff_stats([["x", one]], [["x", other]], workers=1)[0].tolist())
    except InputError as error:
        print(error)
"""
    per, ter = python(source).splitlines()
    assert per == "[[0, 1], [3, 200000]]"
    assert ter.startswith("segment 2 is too long: a table of 625003125 numbers does not fit in memory")


def test_only_the_first_call_imports_modules() -> None:
    """After it, no thread is inside an import when a process forks, which a child would wait for forever."""
    source = """
import sys, threading
import reshuffle
def call():
    systems = [["a b c d"] * 9, ["a b c e"] * 9]
    reshuffle.compare(["a b c d"] * 9, systems, ["bleu", "chrf", "ter"], interval="bca", n_resamples=99)
call()
before = set(sys.modules)
thread = threading.Thread(target=call)
thread.start()
thread.join()
print(*set(sys.modules) - before)
"""
    assert python(source) == "\n"


# Twice the time of the command alone would be enough; a child that waits for a lock never ends.
BESIDE_A_LONG_CALL = """
import os, sys, threading, time, warnings
import numpy as np
from reshuffle import CorpusFunction, compare

warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of fork beside threads: this is about it
inside, leave = threading.Event(), threading.Event()

def slow(hypotheses, references):
    inside.set()
    leave.wait(60)
    return len(hypotheses)

def short():
    systems = [["a b c d"] * 9, ["a b c e"] * 9]
    return compare(["a b c d"] * 9, systems, test="ar", interval="bca", n_resamples=99)

expected = short().comparisons[0].test.pvalue
long = threading.Thread(target=compare, args=(["x"] * 9, [["y"] * 9, ["z"] * 9], CorpusFunction("slow", slow)))
long.daemon = True
long.start()
assert inside.wait(30)  # within CountSample.scores
{what}
leave.set()
os._exit(0)
"""


FORKED_WHILE_DRAWING = """
import os, threading, warnings
from reshuffle import Progress, compare
warnings.simplefilter("ignore", DeprecationWarning)
lines, a, b = ["a b c d e"] * 500, ["a b c d x"] * 250 + ["a b"] * 250, ["a c d e y"] * 500
progress = Progress()
long = threading.Thread(target=compare, args=(lines, [a, b]), daemon=True,
                        kwargs={"n_resamples": 10**7, "test": "bootstrap", "progress": progress})
long.start()
while progress.stage != "drawing" or not progress.done:
    pass
child = os.fork()
if child == 0:
    os._exit(0 if compare(lines, [a, b], test="ar", n_resamples=99).comparisons[0].test.pvalue <= 1 else 1)
status = os.waitpid(child, 0)[1]
assert long.is_alive()
os._exit(status != 0)
"""

# A comparison is held while it computes scores: a call that shared a lock with it would hang.
BESIDE = {
    "another thread": "assert short().comparisons[0].test.pvalue == expected",
    "a child": """
child = os.fork()
if child == 0:
    os._exit(0 if short().comparisons[0].test.pvalue == expected else 1)
assert os.waitpid(child, 0)[1] == 0""",
}


@POSIX
@pytest.mark.parametrize("who", [*BESIDE, "a child while drawing"])
def test_a_comparison_does_not_wait_for_another_one(who: str) -> None:
    source = BESIDE_A_LONG_CALL.format(what=BESIDE[who]) if who in BESIDE else FORKED_WHILE_DRAWING
    child = subprocess.Popen([sys.executable, "-c", source], start_new_session=True)
    try:
        assert child.wait(timeout=60) == 0
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def test_concurrent_python_threads_get_the_same_results_as_one() -> None:
    a, b = counts()

    def pvalue(seed: int) -> float:
        return float(approximate_randomization(a, b, BLEU, n_resamples=20_000, seed=seed, workers=2).pvalue)

    expected = [pvalue(seed) for seed in range(16)]
    with ThreadPoolExecutor(8) as executor:
        assert expected == list(executor.map(pvalue, range(16)))


LINE = " ".join(map(str, range(300_000)))

# A single call each: between two calls other threads always run, even if each call holds the interpreter.
LONG: dict[str, Callable[[], object]] = {
    "shuffle": lambda: calls.shuffle_tally(
        [(BLEU.core, counts(3000))], [(0, 1)], "less", np.zeros((1, 1)), n=2 * 10**5, seed=1, threads=1
    ),
    "draw": lambda: calls.draw_scores([(BLEU.core, counts(3000))], n=3 * 10**4, seed=1, threads=1),
    "count": lambda: _core.count([BLEU.core], [["a b c d e"] * 200_000], [["a b c e d"] * 200_000], threads=1),
    "scores": lambda: BLEU.core.scores(np.ones((2_000_000, 10), dtype=np.int64)),
    "segment scores": lambda: BLEU.core.segment_scores(np.ones((2_000_000, 10), dtype=np.int64)),
    "tokenize": lambda: _core.tokenize([LINE] * 10, "13a"),
    "random values": lambda: _core.stream_values(1, "draw", 0, 2 * 10**7),
    "exact": lambda: _core.subset_sum_distribution(np.full(1500, 1000, dtype=np.uint64)),
    "limits": lambda: _core.StoppingRule.gandy(0.05, 0.001).limits(3 * 10**5),
    "differing": lambda: _core.Counts([np.zeros((2, 10**5, 10), np.int64)]).differing([(0, 1)] * 200, most=1),
}


@pytest.mark.parametrize("call", LONG)
def test_other_python_threads_run_during_a_single_call(call: str) -> None:
    begun, end = threading.Event(), threading.Event()
    ticks = 0

    def tick() -> None:
        nonlocal ticks
        begun.set()
        while not end.wait(0.001):
            ticks += 1

    ticker = threading.Thread(target=tick)
    # With this switch interval, the ticker does not get the interpreter while the call converts its arguments.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(10.0)
    during: list[int] = []
    try:
        ticker.start()
        begun.wait()
        # On a busy machine the ticker may miss a call; several in a row only if they held the interpreter.
        while len(during) < 10 and max(during, default=0) <= 3:
            before = ticks
            LONG[call]()
            during.append(ticks - before)
    finally:
        sys.setswitchinterval(interval)
        end.set()
        ticker.join()
    # If the call held the interpreter, there would be at most one tick.
    assert max(during) > 3, during


# What is done before the memory is measured, what is done then, and how many KiB it may need.
MEMORY = {
    # 500,000 statistics would take 3,906 KiB, and their flips 61,000. The limit allows for noise of the allocator.
    "shuffles": (
        "a, b = np.random.default_rng(0).integers(1, 30, size=(2, 1000, 10))\n"
        "approximate_randomization(a, b, 'bleu', n_resamples=10_000, workers=2)",
        "approximate_randomization(a, b, 'bleu', n_resamples=500_000, workers=2)",
        2_500,
    ),
    # A table with a row for every word of all references, for each reference, would take 640 MB.
    "references of a segment": (
        "references = [[' '.join(f'r{r}w{w}' for w in range(20))] for r in range(2000)]",
        "for name in ('ter', 'wer', 'per', 'gtm'): metric(name).suff_stats(references, [['a b']], workers=1)",
        30_000,
    ),
}


@pytest.mark.parametrize(("before", "call", "most"), MEMORY.values(), ids=MEMORY)
def test_memory_does_not_grow_with_the_number_of_shuffles_or_references(before: str, call: str, most: int) -> None:
    source = f"""
import resource, numpy as np
from reshuffle import *
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
{before}
before = peak()
{call}
print(peak() - before)
"""
    assert int(python(source)) < most
