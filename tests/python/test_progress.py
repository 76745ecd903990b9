"""Progress of a whole job: plans, the bar, and the argument ``progress`` of public functions."""

import contextlib
import io
import itertools
import os
import re
import shlex
import signal
import sys
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import reshuffle
from reshuffle import InputError, Progress, approximate_randomization, bootstrap_test, compare, metric, score, study
from reshuffle import progress as module
from reshuffle.data.demo import demo_corpus
from reshuffle.metrics.base import Counts, Scores
from reshuffle.resampling import Replicates
from test_runtime import counts, long_comparison

POSIX = pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals are POSIX")
CORPUS = demo_corpus()
REFERENCES = list(CORPUS.references[0][:40])
SYSTEMS = {name: list(lines[:40]) for name, lines in CORPUS.systems.items()}
A, B = (counts for counts in metric("bleu").suff_stats([REFERENCES], list(SYSTEMS.values())[:2]))

# --- Plans

stages = st.sampled_from(["counting", "drawing", "shuffling", "else"])
plans = st.lists(
    st.tuples(
        st.sampled_from(["counting BLEU", "counting TER", "drawing", "shuffling (a)", "shuffling (b)"]),
        st.floats(-1, 10) | st.just(float("nan")),
        st.integers(0, 3),
    ),
    max_size=6,
)
calls = st.lists(
    st.tuples(st.just("begin"), stages, st.integers(0, 5)) | st.tuples(st.just("update"), st.integers(0, 6)),
    max_size=20,
)


@given(plans, calls)
def test_the_fraction_never_decreases_and_ends_at_1(plan: Any, job: Any) -> None:
    progress = Progress()
    progress.plan(plan)
    seen = [progress.fraction]
    for name, *arguments in job:
        getattr(progress, name)(*arguments)
        seen.append(progress.fraction)
    progress.finish()
    seen.append(progress.fraction)
    assert seen == sorted(seen)
    assert 0 == seen[0] <= seen[-1] == 1
    progress.plan(plan)  # the next job
    assert progress.fraction == 0


@given(st.lists(st.tuples(stages, st.integers(1, 9), st.integers(1, 3)), min_size=1, max_size=5))
def test_stages_that_come_as_planned_fill_the_job(plan: Any) -> None:
    progress = Progress()
    progress.plan([(f"{name} {i}", cost, n) for i, (name, cost, n) in enumerate(plan)])
    total, done = sum(cost for _, cost, _ in plan), 0.0
    for i, (name, cost, n) in enumerate(plan):
        for _ in range(n):
            for part in range(4):
                if not part:
                    progress.begin(name, 4)
                progress.update(part)
                assert progress.step == f"{name} {i}"
                assert progress.fraction == pytest.approx((done + cost * part / (4 * n)) / total)
            progress.update(4)
            done += cost / n
    assert progress.fraction == pytest.approx(1)


def test_a_stage_is_not_another_whose_name_begins_alike() -> None:
    progress = Progress()
    progress.plan([("counting", 1, 1), ("count", 1, 1)])
    progress.begin("count", 1)
    assert (progress.step, progress.fraction) == ("count", 0.5)
    progress.begin("counting", 1)  # no longer planned
    progress.update(1)
    assert (progress.stage, progress.step, progress.fraction) == ("counting", "counting", 1)


# --- Plans of public functions

WORDS = reshuffle.CorpusFunction(
    "words", lambda hypotheses, references: sum(len(line.split()) for line in hypotheses) / 40
)
SCORES = {name: [float(len(line)) for line in lines] for name, lines in SYSTEMS.items()}
LENGTHS: dict[str, Any] = {name: [[len(line), 1] for line in lines] for name, lines in SYSTEMS.items()}
OWN = reshuffle.FromCounts("own", LENGTHS, lambda totals: totals[..., 0] / totals[..., 1])
SETS = {"news": (REFERENCES, SYSTEMS), "chat": (REFERENCES[:30], {name: lines[:30] for name, lines in SYSTEMS.items()})}


def comparisons() -> Iterator[dict[str, Any]]:
    every = ("ar", "ar-studentized", "bootstrap-both", "bootstrap", "permutation", "anova")
    intervals = ("percentile", "bca", "studentized", "delta", "ar-studentized")
    core, formula, function = ("bleu", "ter"), ("bleu", OWN), ("bleu", WORDS)
    for chosen, tests in ((core, every), (formula, every[:3]), (function, every[::2])):
        options: dict[str, Any] = {"metrics": [*chosen], "n_resamples": 9 if chosen is function else 99}
        for test in tests:
            for adjust in ("none", "holm", "maxt", "minp", "tukey") if chosen is core else ("none", "maxt"):
                yield {**options, "test": test, "adjust": adjust, "interval": None}
            for interval in intervals if chosen is core else intervals[:3]:
                yield {**options, "test": test, "interval": interval}
        for scheme in ("iid", "subgroup"):
            yield {**options, "test": f"ar:scheme={scheme}"}
        for test in ("equivalence", "non-inferiority-studentized"):
            name = chosen[1] if isinstance(chosen[1], str) else chosen[1].name
            for of_scores in ("percentile", None):
                yield {**options, "test": f"{test}:bleu=4,{name}=0.5", "interval": of_scores}


class Watch:
    """Checks that every pass over replicates belongs to the plan, and how far the plan is at the end."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.unplanned: list[str] = []
        self.reached: list[float] = []
        run, batches, leave = Replicates.run, Replicates.batches, module._Job.__exit__

        def watched_run(replicates: Replicates, *args: Any) -> Any:
            results = run(replicates, *args)
            self.check(replicates.progress)
            return results

        def watched_batches(replicates: Replicates, *args: Any) -> Any:
            for number, batch in enumerate(batches(replicates, *args)):
                if not number:
                    self.check(replicates.progress)
                yield batch

        def watched_exit(job: Any, *error: Any) -> None:
            self.reached.append(job.progress.fraction)
            leave(job, *error)

        monkeypatch.setattr(Replicates, "run", watched_run)
        monkeypatch.setattr(Replicates, "batches", watched_batches)
        monkeypatch.setattr(module._Job, "__exit__", watched_exit)

    def check(self, progress: Progress | None) -> None:
        assert progress is not None
        if not progress.step.endswith("*"):
            self.unplanned.append(progress.step)

    def call(self, function: Callable[..., Any], *args: Any, **options: Any) -> None:
        self.unplanned.clear()
        progress = Progress()
        function(*args, progress=progress, **options)
        assert self.unplanned == []
        assert self.reached.pop() == pytest.approx(1)
        assert progress.fraction == 1


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Planned steps are marked by a star at the end of their names."""
    from reshuffle.inference import batches, intervals, significance, steps
    from reshuffle.resampling.replicates import array_steps

    all_steps = steps.JobPlan.steps

    def starred(found: Sequence[tuple[str, float, int]]) -> list[tuple[str, float, int]]:
        return [(f"{name} *", cost, n) for name, cost, n in found]

    monkeypatch.setattr(steps.JobPlan, "steps", lambda job: starred(all_steps(job)))
    for importer in (batches, intervals, significance):
        monkeypatch.setattr(importer, "array_steps", lambda *args: starred(array_steps(*args)))
    return Watch(monkeypatch)


def test_the_plan_of_a_comparison_has_all_its_stages(watch: Watch) -> None:
    supported = 0
    for options in comparisons():
        try:
            watch.call(compare, REFERENCES, SYSTEMS, **options)
        except InputError:  # the test does not support the adjustment or the interval
            continue
        supported += 1
    assert supported > 40


@pytest.mark.parametrize("test", ["ar", "ar-studentized", "bootstrap-both", "bootstrap-kink", "permutation"])
def test_the_plan_of_several_test_sets_has_all_stages(watch: Watch, test: str) -> None:
    called = 0
    for adjust, interval, average in itertools.product(("holm", "maxt"), ("percentile", None), (True, False)):
        options: dict[str, Any] = {"adjust": adjust, "interval": interval, "average": average, "n_resamples": 99}
        with contextlib.suppress(InputError):  # permutation does not support maxt
            watch.call(reshuffle.compare_sets, SETS, ["bleu", "ter"], test=test, **options)
            called += 1
    assert called >= (2 if test == "bootstrap-kink" else 4)  # which has neither maxt nor averages


def test_the_plans_of_other_functions_have_all_stages(watch: Watch) -> None:
    def own(totals: Any) -> Any:
        return totals[..., 2] / 9

    few: Any = {"n_resamples": 99}
    for interval in ("percentile", "studentized", "delta"):
        watch.call(score, REFERENCES, SYSTEMS, ["bleu", "chrf"], interval=interval, **few)
    a, b = (counts.reshape(4, 10, -1) for counts in (A, B))
    for chosen in ("bleu", own):
        for x, y in ((A, B), (a, b)):
            for options in ({}, {"scheme": "iid"}, {"scheme": "subgroup"}, {"test": "ar-studentized"}):
                watch.call(approximate_randomization, x, y, chosen, **few, **options)
            watch.call(bootstrap_test, x, y, chosen, **few)
            for method in ("percentile", "studentized", "bca", "ar-studentized"):
                watch.call(reshuffle.bootstrap_interval, x, chosen, b=y, interval=method, **few)
            watch.call(reshuffle.standard_error, x, chosen, b=y, method="bootstrap", **few)
        for test in (approximate_randomization, bootstrap_test):
            watch.call(test, A, B, chosen, keep_null_distribution=True, **few)


def test_counting_names_its_metrics_if_they_are_few() -> None:
    progress = Progress()
    two, other_lines = ["bleu", "chrf"], [metric("bleu", tokenize="mteval-intl"), "ter"]
    calls: list[tuple[str, Callable[..., Any], Any, dict[str, Any]]] = [
        ("BLEU, chrF2", score, two, {}),
        ("BLEU, chrF2", reshuffle.segment_scores, two, {}),
        ("4 metrics", score, [*two, "ter", "length"], {}),
        ("TER", score, other_lines, {}),  # the core is given other lines
        ("chrF2", reshuffle.flips, "chrf", {"system": "tuned", "baseline": "larger", "threshold": 50}),
    ]
    for step, call, chosen, options in calls:
        progress.plan([])
        call(REFERENCES, SYSTEMS, chosen, progress=progress, **options)
        assert (progress.step, progress.fraction) == (f"counting {step}", 1)
    metric("bleu").suff_stats([REFERENCES], SYSTEMS, progress=progress)
    assert (progress.step, progress.fraction) == ("counting", 1)


def test_simulations_say_how_many_of_them_are_done() -> None:
    progress = Progress()
    options: Any = {"tests": "t-test", "sizes": [10, 20], "simulations": 4, "sampling": "replace"}
    study.type1(metrics=reshuffle.SegmentScores("rating", SCORES), progress=progress, **options)
    assert progress.step == "simulating (2 of 2)"
    study.type1(metrics=reshuffle.SegmentScores("rating", SCORES), progress=progress, **{**options, "sizes": [10]})
    assert progress.step == "simulating"


# --- What another thread sees


def test_another_thread_sees_progress_grow_to_the_total() -> None:
    # A million shuffles are 5 steps of progress. A busy machine misses some of them: then it gets more to do.
    a, b = counts(3000)
    n_resamples, seen = 1_000_000, list[int]()
    while len({*seen}) <= 3 and n_resamples < 100_000_000:
        progress = Progress()
        assert (progress.stage, progress.total, progress.done) == ("", 0, 0)
        options: Any = {"n_resamples": n_resamples, "workers": 2, "progress": progress}
        job = threading.Thread(target=approximate_randomization, args=(a, b, "bleu"), kwargs=options)
        job.start()
        seen = [progress.done]
        while job.is_alive():
            job.join(0.01)
            seen.append(progress.done)
        assert seen == sorted(seen)
        assert (progress.stage, progress.total, progress.done) == ("shuffling", n_resamples, n_resamples)
        n_resamples *= 2
    assert len({*seen}) > 3
    bootstrap_test(a, b, "bleu", n_resamples=1000, progress=progress)
    assert (progress.stage, progress.done) == ("drawing", 1000)


def test_progress_of_a_formula_counts_all_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reshuffle.resampling.samples.BATCH_CELLS", 2000)
    progress = Progress()
    seen = []

    def score(totals: Counts) -> Scores:
        seen.append(progress.done)
        return totals[..., 2] / 1e6

    a, b = counts(100)
    approximate_randomization(a, b, score, n_resamples=350, progress=progress)
    assert (progress.stage, progress.total, progress.done) == ("shuffling", 350, 350)
    assert sorted(set(seen)) == [0, 100, 200, 300]


# --- The argument


def test_without_a_terminal_no_bar_is_started(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    started: list[Any] = []
    monkeypatch.setattr(threading.Thread, "start", started.append)
    monkeypatch.setattr(module, "BAR_DELAY_SECONDS", 0.0)
    expected = approximate_randomization(A, B, "bleu", n_resamples=99)
    for progress in (None, False, True):
        assert approximate_randomization(A, B, "bleu", n_resamples=99, progress=progress) == expected
    monkeypatch.setattr(sys, "stderr", None)
    assert approximate_randomization(A, B, "bleu", n_resamples=99, progress=True) == expected
    assert started == []
    assert capfd.readouterr() == ("", "")


def test_the_bar_of_a_notebook_needs_widgets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not module.in_notebook()
    shells = {name: type(name, (), {}) for name in ("ZMQInteractiveShell", "TerminalInteractiveShell")}
    for name, shell in shells.items():
        ipython: Any = types.ModuleType("IPython")
        ipython.get_ipython = shell
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        for spec in (None, object()):
            monkeypatch.setattr("importlib.util.find_spec", lambda package, spec=spec: spec)
            assert module.in_notebook() == (name == "ZMQInteractiveShell" and spec is not None)


# --- The bar

BAR = """
import time
import rich.progress  # its import must not take longer than the call
import reshuffle, reshuffle.progress
from reshuffle.data.demo import demo_corpus
reshuffle.progress.BAR_DELAY_SECONDS = 0.0
reshuffle.progress.REFRESH_SECONDS = 0.01
corpus = demo_corpus()
def slow(hypotheses, references):
    time.sleep(0.002)
    return float(len(hypotheses[0]))
slow = reshuffle.CorpusFunction("slow", slow)
reshuffle.compare(corpus.references, corpus.systems, ["bleu", slow], n_resamples=200, progress=True)
print("end of the test")
"""


def spawned(program: str, *arguments: str, **options: Any) -> Any:
    """A program in a terminal of 60 lines, with what it writes in ``logfile_read``."""
    import pexpect

    # readline, which pytest imports, puts COLUMNS into the environment that C sees.
    given = {"dimensions": (60, 200), "timeout": 60, "encoding": "utf-8", "env": dict(os.environ)}
    child = pexpect.spawn(program, [*arguments], **given | options)
    child.logfile_read = io.StringIO()
    return child


def ended(child: Any) -> str:
    """All that a program wrote, after its end."""
    import pexpect

    child.expect(pexpect.EOF)
    child.close()
    return str(child.logfile_read.getvalue())


def shown() -> str:
    """What a terminal shows during the call of BAR."""
    child = spawned(sys.executable, "-c", BAR)
    text = ended(child)
    assert child.exitstatus == 0
    return text.partition("end of the test")[0]


@POSIX
def test_a_terminal_shows_one_bar_that_never_goes_back() -> None:
    text = shown()
    if "%" not in text:
        text = shown()  # about one run in a hundred shows no bar at all
    percentages = [int(number) for number in re.findall(r"(\d+)%", text)]
    assert percentages == sorted(percentages)
    assert len(set(percentages)) > 2, text
    assert percentages[-1] > 50
    assert "drawing" in text
    assert re.search(r"0:\d\d:\d\d", text)  # time remaining
    assert not re.search(r"[\r\n](\x1b\[[0-9;?]*\w)* ?(\x1b\[[0-9;?]*\w)*━", text)  # every line says what is done
    assert text.endswith("\x1b[2K")  # erased


class Screen:
    """A terminal with the few control sequences that the bar uses; holds the text shown after some output."""

    CODE = re.compile(r"\x1b\[(\??[\d;]*)([A-Za-z])|(.)", re.DOTALL)

    def __init__(self, written: str) -> None:
        self.rows, self.row, self.column, self.cursor = [""], 0, 0, True
        for arguments, command, character in self.CODE.findall(written):
            if character:
                self.write(character)
            elif command == "A":
                self.row -= int(arguments or 1)
            elif command == "K":
                assert arguments == "2"
                self.rows[self.row] = ""
            elif command in "hl":
                assert arguments == "?25"
                self.cursor = command == "h"
            else:
                assert command == "m", (arguments, command)

    def write(self, character: str) -> None:
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.row += 1
            self.rows += [""] * (self.row + 1 - len(self.rows))
        else:
            line = self.rows[self.row].ljust(self.column)
            self.rows[self.row] = line[: self.column] + character + line[self.column + 1 :]
            self.column += 1

    @property
    def text(self) -> str:
        return "\n".join(row.rstrip() for row in self.rows)


@POSIX
@pytest.mark.parametrize(
    ("command", "end"),
    [
        ("compare", "done"),
        ("segments", "SIGINT"),
        *(pytest.param(*words.split(), marks=pytest.mark.slow) for words in ("score done", "score error")),
        *(pytest.param("compare", end, marks=pytest.mark.slow) for end in ("error", "SIGTERM")),
    ],
)
def test_the_progress_bar_is_erased_at_the_end(
    tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch, command: str, end: str
) -> None:
    # The bar appears at once for every step, and the error comes late.
    source = """
import sys, time, reshuffle.cli.job as jobs, reshuffle.progress as bars
from reshuffle import InputError
from reshuffle.cli.main import main
bars.BAR_DELAY_SECONDS = 0.0
*words, end, steps = sys.argv[1:]
report = jobs.Job.report
def slowly(job, compute):
    def computed():
        result = compute()
        job.progress.begin("slowly", 100)
        for done in range(int(steps)):
            job.progress.update(done)
            time.sleep(0.02)
        if end == "error":
            raise InputError("too late")
        return result
    return report(job, computed)
jobs.Job.report = slowly
main(words)
"""
    for name in ("ref", "a", "b"):
        (tmp_path / name).write_text("".join(f"{name} {i} x y z\n" for i in range(20)))
    args = {"compare": ["compare", "ref", "a", "b"], "score": ["score", "ref", "a", "--confidence", "0.9"]}
    options = args.get(command, ["score", "ref", "a", "--segments"])
    steps = "15" if end in ("done", "error") else "1000"
    child = spawned(sys.executable, "-c", source, *options, end, steps, cwd=str(tmp_path))
    child.expect("slowly")
    if end in ("SIGINT", "SIGTERM"):
        child.kill(getattr(signal, end))
    screen = Screen(ended(child))
    assert screen.cursor
    assert "slowly" not in screen.text
    assert "━" not in screen.text
    if end == "done":
        monkeypatch.chdir(tmp_path)
        expected = run(*options)
        report = "".join(line.rstrip() + "\n" for line in (expected.out + expected.err).splitlines())
        assert screen.text.split() == report.expandtabs().split()
        assert screen.text.startswith(report[:10].split("\t")[0])
    else:
        codes = {"error": (2, None), "SIGINT": (130, None), "SIGTERM": (None, signal.SIGTERM)}
        assert (child.exitstatus, child.signalstatus) == codes[end]
        messages = {"error": "reshuffle: error: too late\n", "SIGINT": "\nreshuffle: interrupted\n", "SIGTERM": ""}
        assert screen.text.rstrip("\n") == messages[end].rstrip("\n")


@POSIX
def test_warnings_stand_above_the_progress_bar_with_breaks_between_words() -> None:
    source = """
import time, reshuffle.progress as bars
from reshuffle.cli.job import progress_bar
from reshuffle.cli.main import _warnings_as_lines
from reshuffle.errors import warn
bars.BAR_DELAY_SECONDS = 0.0
with _warnings_as_lines():
    warn("early")
    with progress_bar() as progress:
        progress.plan([("slowly", 1, 1)])
        while bars.Bar._shown is None:
            time.sleep(0.01)
        warn("abcdefghi " * 39 + "end")
        time.sleep(0.2)
    warn("late")
"""
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    child = spawned(sys.executable, "-c", source, env=environment)
    said = ["abcdefghi " * 18, "abcdefghi " * 20, "abcdefghi end"]
    lines = ["early", *said, "late"]
    start = "reshuffle: warning: "
    lines[0], lines[1], lines[-1] = start + lines[0], start + lines[1], start + lines[-1]
    assert Screen(ended(child)).text.rstrip().splitlines() == [line.rstrip() for line in lines]


@POSIX
def test_the_progress_bar_does_not_go_into_the_file_of_the_report(tmp_path: Path) -> None:
    source = (
        "import reshuffle.progress as bars; bars.BAR_DELAY_SECONDS = 0.0; from reshuffle.cli.main import main; main()"
    )
    compare = shlex.join(long_comparison(tmp_path)[3:]).replace(str(10**12), "50000")
    command = compare.replace("compare", "score").replace(" --test ar:scheme=iid", "").replace("delta", "percentile")
    shell = f"{sys.executable} -c {shlex.quote(source)} {command} > report"
    child = spawned("bash", "-c", shell, cwd=str(tmp_path))
    child.expect("drawing")
    assert Screen(ended(child)).text.strip() == ""
    assert child.exitstatus == 0
    assert (tmp_path / "report").read_text().startswith("BLEU: 3,000 segments")
