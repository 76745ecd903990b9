"""Replicates, counts and replications that the workers of an executor compute: the bytes of one process."""

import contextlib
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import reshuffle
from budgets import budget
from meta_material import random_matrices, random_votes
from reshuffle import (
    CorpusFunction,
    FromCounts,
    InputError,
    OwnTexts,
    SegmentScores,
    TestSet,
    compare,
    compare_runs,
    compare_sets,
    meta,
    metric,
    tune,
)
from reshuffle.data.demo import demo_corpus
from reshuffle.execution.executors import NamedWorkers
from reshuffle.metrics.base import Formula
from reshuffle.resampling import CountSample, Draws, Histograms, MaxT, PermutedTally, Replicates, Series, Spread, Tally
from reshuffle.resampling.reductions import PermutedHistograms
from reshuffle.resampling.replicates import ReplicatesJob
from reshuffle.settings import Resampling
from tuning_files import references, write_all

PAIRS = [(0, 1), (2, 0), (1, 2)]


class Copying(Executor):
    """Runs each task at once, on copies of all that would be sent to another process and back."""

    _max_workers = 3

    def __init__(self) -> None:
        self.tasks = 0

    def submit(self, task: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        self.tasks += 1
        task, arguments = pickle.loads(pickle.dumps((task, arguments)))
        future: Future[Any] = Future()
        future.set_result(pickle.loads(pickle.dumps(task(*arguments))))
        return future


def share(totals: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(100 * np.log1p(totals[..., 0]) / np.maximum(totals[..., 1], 1))


def words(hypotheses: list[str], references: list[list[str | None]]) -> float:
    return sum(len(line.split()) for line in hypotheses) / len(hypotheses)


def samples_of(seed: int, n_units: int = 70) -> list[CountSample]:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 30, (3, n_units, 10))
    scores = SegmentScores("rating", {str(i): rng.normal(size=n_units) for i in range(3)})
    native = CountSample.from_counts(metric("bleu"), counts)
    own = FromCounts("own", {str(i): counts[i] for i in range(3)}, "bleu")
    return [
        native,
        CountSample.from_counts(Formula("share", share), np.ascontiguousarray(counts[:, :, :2])),
        CountSample.from_counts(scores, scores.counts_of(["0", "1", "2"])),
        CountSample.from_counts(own, counts),
    ]


def reductions_of(kind: str, n: int) -> list[Any]:
    thresholds: NDArray[np.float64] = np.linspace(0, 3, 3 * n).reshape(n, 3).astype(np.float64)
    if kind == "draws":
        return [Draws()]
    if kind == "permutations":
        return [PermutedTally(PAIRS, thresholds), PermutedHistograms(compared=PAIRS)]
    families = np.arange(n)
    return [
        Tally("two-sided", thresholds),
        Tally("less", -thresholds),
        MaxT("greater", 1 + thresholds, thresholds, families),
        Spread(),
        Series(),
        Histograms(half=True),
    ]


def bytes_of(result: Any) -> Any:
    """A result as something whose equality is that of all bits."""
    if isinstance(result, np.ndarray):
        return result.tolist() if result.dtype.hasobject else (result.dtype.str, result.shape, result.tobytes())
    if isinstance(result, tuple):
        return [bytes_of(each) for each in result]
    return result


@settings(max_examples=budget(12), deadline=None)
@given(
    kind=st.sampled_from(["shuffles", "draws", "permutations"]),
    cuts=st.sets(st.integers(1, 29), max_size=6),
    n=st.integers(1857, 1920),
    seed=st.integers(0, 2**64 - 1),
    codes=st.booleans(),
)
def test_any_split_of_the_replicates_gives_the_same_bytes(
    kind: str, cuts: set[int], n: int, seed: int, codes: bool
) -> None:
    samples = samples_of(3)
    chosen = np.random.default_rng(1).integers(0, 2**11, 70).astype(np.uint64) if codes and kind == "shuffles" else None
    one = Replicates(samples, Resampling(n, seed, 2), chosen)
    other = Replicates(samples, Resampling(n, seed, executor=Copying()), chosen)
    ends = [0, *(64 * cut for cut in sorted(cuts)), n]

    def in_parts(job: ReplicatesJob[Any], n: int, execution: Any, *, stage: str) -> list[Any]:
        job = pickle.loads(pickle.dumps(job))
        return [pickle.loads(pickle.dumps(job.run(*each, 1, None))) for each in pairwise(ends)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("reshuffle.execution.run_job", in_parts)
        reductions, pairs = reductions_of(kind, len(samples)), PAIRS if kind == "shuffles" else ()
        expected, got = one.run(reductions, pairs), other.run(reductions, pairs)
    for a, b in zip(expected, got, strict=True):
        assert bytes_of(a) == bytes_of(b)


CORPUS = demo_corpus()
REFERENCES = CORPUS.references[0][:120]
SYSTEMS = {name: lines[:120] for name, lines in CORPUS.systems.items()}
RATINGS = SegmentScores(
    "rating",
    {name: [len(line) % 7 if len(line) % 11 else None for line in lines] for name, lines in SYSTEMS.items()},
    missing="pairwise",
)
COUNTS = {name: np.array([[len(line) % 5, 9] for line in lines]) for name, lines in SYSTEMS.items()}
ALL_METRICS = ["bleu", "ter", RATINGS, FromCounts("share", COUNTS, share), FromCounts("mean", COUNTS, "length")]


SETS = {
    name: TestSet(REFERENCES[part], {system: lines[part] for system, lines in SYSTEMS.items()})
    for name, part in (("news", slice(60)), ("talks", slice(60, None)))
}


def runs_of(n: int) -> dict[str, list[list[str]]]:
    outputs = {name: list(lines) for name, lines in SYSTEMS.items()}
    lines = list(outputs.values())
    return {
        name: [own[r:] + own[:r] if r % 2 else [*own[:-r], *lines[0][:r]] if r else own for r in range(n)]
        for name, own in outputs.items()
    }


def comparison(metrics: Any = ALL_METRICS, n_resamples: int = 1200, **options: Any) -> Callable[..., Any]:
    return partial(compare, REFERENCES, SYSTEMS, metrics, n_resamples=n_resamples, seed=8, **options)


def runs(statistic: str) -> Callable[..., Any]:
    exchange = ["run", "hierarchical", "pooled", "segment", "cell"]
    options: dict[str, Any] = {"exchange": exchange, "statistic": statistic, "n_resamples": 1100}
    return partial(compare_runs, REFERENCES, runs_of(3), ["bleu", "ter"], **options)


def people(function: Any, coefficients: Any, **options: Any) -> Callable[..., Any]:
    tables, votes = random_votes(3)
    judged = meta.JudgedSet.from_scores(tables, judgments=votes) if coefficients == "tau" else random_matrices(4)
    return partial(function, judged, coefficients=coefficients, n_resamples=600, **options)


CALLS: dict[str, Callable[..., Any]] = {
    "default": comparison(),
    "iid": comparison(test="ar:scheme=iid", all_pairs=True, adjust="maxt"),
    "minp": comparison(["bleu", "ter"], test="ar", adjust="minp", family="all"),
    "subgroup": comparison(test="ar:scheme=subgroup"),
    "stopping": comparison(test="ar:stopping=besag-clifford,scheme=iid"),
    "studentized": comparison(test="ar-studentized", adjust="maxt"),
    "permutation": comparison(["bleu", FromCounts("share", COUNTS, share)], test="permutation"),
    "strata": comparison(test="bootstrap-percentile", strata=["a"] * 60 + ["b"] * 60, interval="bca"),
    "documents": comparison(["chrf", RATINGS], documents=[i // 6 for i in range(120)], interval="simultaneous"),
    "own texts": comparison([OwnTexts("wer", REFERENCES, SYSTEMS), "bleu"], 200),
    "sets, bootstrap": partial(compare_sets, SETS, ["bleu", "chrf"], test="bootstrap-both", n_resamples=1100),
    "sets, ar": partial(compare_sets, SETS, ["bleu", "chrf"], test="ar", n_resamples=1100),
    "runs, pooled": runs("pooled"),
    "runs, mean": runs("mean"),
    "people, segments": people(meta.segments, ["pearson", "kendall-b", "acc23"], groupings="item", test="perm-both"),
    "people, votes": people(meta.segments, "tau"),
    "people, minp": people(meta.segments, "tau", test="perm-both", adjust="minp"),
    "people, systems": people(meta.systems, ["pearson", "kendall-b"], test="perm-both"),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_are_the_same_with_an_executor(name: str) -> None:
    executor = Copying()
    expected, got = CALLS[name](workers=2), CALLS[name](workers=executor)
    assert expected == got
    assert expected.render("json") == got.render("json")
    assert executor.tasks > 0


def test_calls_of_a_function_of_texts_are_counted_wherever_they_are_made() -> None:
    function = CorpusFunction("words", words)
    arguments: dict[str, Any] = {"metrics": function, "n_resamples": 300, "test": "ar:scheme=iid"}
    expected = compare(REFERENCES, SYSTEMS, **arguments)
    with ThreadPoolExecutor(3) as threads:
        for executor in (Copying(), threads):
            got = compare(REFERENCES, SYSTEMS, workers=executor, **arguments)
            assert expected == got
            assert expected.metrics[0].evaluations == got.metrics[0].evaluations


def test_bad_lines_are_named_in_the_workers_error() -> None:
    systems = {"a": ["x", "y"], "b": ["x", 3]}
    with pytest.raises(InputError, match=r"system 1 failed in a worker: .*b.*segment 2"):
        compare(["x", "y"], systems, workers=Copying())


DEV = references(40, 1)


@pytest.fixture
def lists(tmp_path: Path) -> tune.NBest:
    write_all(tmp_path)
    return tune.read_nbest(tmp_path / "dev.nbest")


@pytest.mark.parametrize(
    ("optimizer", "options"),
    [
        (tune.Mert(restarts=2), {}),
        (tune.Kbmira(epochs=3), {}),
        (tune.Kbmira(epochs=3), {"metric": "chrf"}),
        ("pro", {}),
        (tune.Pro(entry_scores="moses"), {}),
        (tune.Xbleu(epochs=3), {}),
    ],
)
def test_replications_are_the_same_with_an_executor(lists: Any, optimizer: Any, options: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {"replications": 5, "initial": [0.5, 0.1, 0.1, -0.1], **options}
    executor = Copying()
    expected = tune.tune(optimizer, lists, DEV, workers=2, **arguments)
    got = tune.tune(optimizer, lists, DEV, workers=executor, **arguments)
    assert executor.tasks > 1
    assert expected.result == got.result
    assert [model.weights for model in expected.models] == [model.weights for model in got.models]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    import distributed

    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster, set_as_default=False) as made:
        yield made


@pytest.mark.parametrize(
    "workers", ["processes", pytest.param("client", marks=[pytest.mark.slow, pytest.mark.interop("distributed")])]
)
def test_real_workers_give_the_same_bytes_and_show_progress(
    workers: str, lists: tune.NBest, request: pytest.FixtureRequest
) -> None:
    executor = request.getfixturevalue(workers)
    arguments: dict[str, Any] = {"test": "ar", "all_pairs": True, "n_resamples": 20_000}
    progress = reshuffle.Progress()
    expected = compare(REFERENCES, SYSTEMS, ["bleu", RATINGS], **arguments)
    assert expected == compare(REFERENCES, SYSTEMS, ["bleu", RATINGS], workers=executor, progress=progress, **arguments)
    assert progress.fraction == 1.0
    exchange: dict[str, Any] = {"exchange": ["hierarchical", "cell"], "n_resamples": 2000}
    of_runs = partial(compare_runs, REFERENCES, runs_of(2), **exchange)
    assert of_runs() == of_runs(workers=executor)
    tuned = partial(tune.tune, tune.Mert(restarts=2), lists, DEV, replications=3)
    assert tuned().result == tuned(workers=executor).result


COMMANDS = [
    "compare ref a0 a1 b0 b1 -n 1200",
    "compare --set x ref a0 a1 --set y ref a0 a1 -n 1200",
    "runs --refs ref --baseline a0 a1 --system new b0 b1 -n 1200",
    "meta segments --human da.tsv --metric-scores x=x.tsv y=y.tsv --test perm-both -n 1200",
    "tune kbmira --nbest dev.nbest --refs dev.ref --replications 3",
]


@pytest.mark.usefixtures("here")
def test_the_commands_take_an_executor(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The names of executors are tested with those of studies."""
    write_all(Path())
    Path("ref").write_text("".join(f"{line}\n" for line in REFERENCES), encoding="utf-8")
    for name, outputs in zip("ab", runs_of(2).values(), strict=False):
        for r, lines in enumerate(outputs):
            Path(f"{name}{r}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    for name, factor in (("da", 1), ("x", 3), ("y", 7)):
        rows = [f"{s}\t{i}\t{factor * i * len(s) % 11}\n" for s in SYSTEMS for i in range(1, 30)]
        Path(f"{name}.tsv").write_text("".join(["system\tsegment\tscore\n", *rows]))
    made: list[tuple[NamedWorkers, Copying]] = []

    @contextlib.contextmanager
    def opened(workers: NamedWorkers) -> Iterator[Copying]:
        made.append((workers, Copying()))
        yield made[-1][1]

    monkeypatch.setattr(NamedWorkers, "opened", opened)
    for command in COMMANDS:
        words = [*command.split(), "--format", "json", "--workers"]
        threads, other = (run(*words, workers) for workers in ("2", "processes:2"))
        assert (threads.code, other.code) == (0, 0), threads.err + other.err
        assert threads.out.replace("--workers 2", "") == other.out.replace("--workers processes:2", ""), command
        ((workers, executor),) = made
        assert (workers.number, executor.tasks > 1) == (2, True), command
        made.clear()


def test_executors_that_the_commands_cannot_use_are_one_sentence(run: Callable[..., Any]) -> None:
    for words, message in (
        ("compare r a b --workers slurm", "--workers: expected a number of threads, or"),
        (f"compare r a b --workers {'9' * 5000}", "--workers: expected a number of threads, or"),
        (f"compare r a b --workers processes:{'9' * 5000}", "expected a number of processes"),
        ("tune l1 --nbest x --refs y --workers processes", "--workers must be a whole number, got"),
        ("tune mert --nbest x --refs y --workers processes:0", "--workers processes must be"),
    ):
        assert message in run(*words.split()).refusal()
