"""Cases of executors: a study and comparisons by threads, by worker processes and by a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from time import perf_counter
from typing import Any

import psutil

from benches.data import Texts
from benches.machine import cores
from reshuffle import CorpusFunction, compare
from reshuffle.execution.executors import process_pool
from reshuffle.study import type1

from ..agreement import DisagreementError
from ..race import Contender, Measurement, Race, Skipped
from ..rivals import name, unless_missing

__all__ = ["executors"]

SIMULATIONS = 5_000
REPLICATES, CALLS = 100_000, 2_000
WORDS = 200  # segments for the function of texts

Opened = Callable[[], AbstractContextManager[Any]]


@contextmanager
def dask_client() -> Iterator[Any]:
    """A client of a cluster of processes on this machine."""
    distributed = import_module("distributed")
    local = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(n_workers=cores(), **local) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def processor_seconds() -> float:
    """The processor time of this process and of its children."""
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def timed(run: Callable[[Any], object], opened: Opened, running: bool = False) -> Callable[[], Measurement]:
    """Measure a run by an executor, with its start unless it is ``running`` and has the counts from a first run."""

    def measure() -> Measurement:
        start = perf_counter(), processor_seconds()
        with opened() as executor:
            if running:
                run(executor)
                start = perf_counter(), processor_seconds()
            found = run(executor)
            seconds, processor = perf_counter() - start[0], processor_seconds() - start[1]
        return Measurement(seconds, found, None, f"{processor:.2f} s of the processor")

    return measure


def same_results(expected: object, *others: object) -> None:
    """Check that executors do not change a result."""
    for actual in others:
        if expected != actual:
            raise DisagreementError("an executor has another result")


def mean_words(hypotheses: list[str], references: list[list[str | None]]) -> float:
    """A function of texts, which Python calls for every replicate."""
    return sum(len(line.split()) for line in hypotheses) / len(hypotheses)


def executors(texts: Texts) -> list[Race]:
    """Shows what executors cost: a study (type1 by ar and bootstrap under BLEU) on all cores by threads, by processes
    and by a Dask cluster, with the start of both; then comparisons by threads and by processes that run already. The
    remarks have the time of the processor, which hardly depends on what else the machine does. The results must be
    equal."""
    few = texts.first(WORDS)
    pools: dict[str, Opened] = {"threads": nullcontext, "processes": lambda: process_pool(cores())}
    pair = dict(list(texts.systems.items())[:2])

    def study(executor: Any) -> str:
        options: dict[str, Any] = {"tests": ("ar", "bootstrap"), "simulations": SIMULATIONS, "workers": executor}
        return type1(texts.references, pair, "bleu", **options).render("json")

    comparisons: dict[str, Callable[[Any], object]] = {
        f"ar, all pairs, BLEU and chrF, {REPLICATES:,} shuffles and draws": lambda executor: compare(
            texts.references,
            texts.systems,
            ["bleu", "chrf"],
            all_pairs=True,
            test="ar",
            adjust="maxt",
            n_resamples=REPLICATES,
            workers=executor,
        ),
        f"bootstrap, TER, {REPLICATES:,} draws": lambda executor: compare(
            texts.references, texts.systems, "ter", n_resamples=REPLICATES, workers=executor
        ),
        f"bootstrap, a function of {WORDS} texts, {CALLS:,} draws": lambda executor: compare(
            few.references,
            few.systems,
            CorpusFunction("words", mean_words),
            n_resamples=CALLS,
            workers=executor,
        ),
    }
    dask = unless_missing("distributed", "distributed", Contender(name("distributed"), timed(study, dask_client)))
    ways: list[Contender | Skipped] = [Contender(way, timed(study, opened)) for way, opened in pools.items()]
    races = [Race(f"{SIMULATIONS:,} simulations, with the start of {cores()} workers", [*ways, dask], same_results)]
    for what, run in comparisons.items():
        contenders = [Contender(way, timed(run, opened, running=True)) for way, opened in pools.items()]
        races.append(Race(what, contenders, same_results))
    return races
