"""What executors cost: one study by threads, by processes and by a Dask cluster, and what crosses to the workers.

    python benches/executors.py [--seconds 60] [--workers 2] [--repeats 1] [--without-dask]

The study is ``type1`` with the tests ``ar`` and ``bootstrap`` under BLEU on 3,000 made-up segments. Its number of
simulations is chosen so that threads take about as long as ``--seconds`` says. The times of processes include their
start, which a program with several studies pays once. The ways take turns, and each ratio is to the threads of the same
turn. On a machine with other work, processor time is the better measure. Then two jobs with the same 20 MB of counts
are sent to a cluster, and the bytes that each worker has received are counted (Linux).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import socket
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from reshuffle import NativeMetric, metric, study
from reshuffle.execution import Execution
from reshuffle.execution.executors import process_pool
from reshuffle.results.studies import StudyResult
from reshuffle.study.experiments import Experiment
from reshuffle.study.populations import Population, Selection
from reshuffle.study.testing import Testing

SEGMENTS = 3_000
# 125,000 segments of two systems with ten counts of BLEU in 64 bits.
LARGE = 125_000


def texts(n: int) -> dict[str, Any]:
    """References and two systems that differ from them in a word here and there."""
    rng = np.random.default_rng(5)
    words = rng.integers(0, 3000, (n, 20))
    changed = [np.where(rng.random(words.shape) < share, 3000, words) for share in (0.20, 0.21)]
    lines = [[" ".join(f"w{word}" for word in line) for line in rows] for rows in (words, *changed)]
    return {"references": lines[0], "systems": dict(zip("ab", lines[1:], strict=True))}


def run(data: Mapping[str, Any], simulations: int, **own: Any) -> StudyResult:
    """The study."""
    return study.type1(**data, tests=("ar", "bootstrap"), simulations=simulations, **own)


@contextlib.contextmanager
def dask_client(workers: int) -> Iterator[Any]:
    """A client of a cluster of processes on this machine."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


class Watch:
    """Wall time and processor time of this process and of the children that have ended since its start."""

    def __init__(self) -> None:
        self.wall, self.processor = perf_counter(), self._processor()

    @staticmethod
    def _processor() -> float:
        own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(usage.ru_utime + usage.ru_stime for usage in (own, children))

    def seconds(self) -> tuple[float, float]:
        """What has passed."""
        return perf_counter() - self.wall, self._processor() - self.processor


def measured(
    opened: Callable[[], AbstractContextManager[Any]], data: Mapping[str, Any], simulations: int, **own: Any
) -> tuple[tuple[float, float], str]:
    """The wall and processor time of a study with an executor, which starts and ends, and its result."""
    watch = Watch()
    with opened() as executor:
        result = run(data, simulations, executor=executor, **own)
        wall, _ = watch.seconds()
    return (wall, watch.seconds()[1]), result.render("json")


def received_bytes() -> int:
    """What this process has received through the connections that it has: the field of TCP_INFO in Linux."""
    total = 0
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            if str(link.readlink()).startswith("socket:"):
                with socket.socket(fileno=os.dup(int(link.name))) as connection:
                    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 136)
                total += int.from_bytes(info[128:136], sys.byteorder)
    return total


def compare_times(data: Mapping[str, Any], options: argparse.Namespace) -> None:
    """Print the time of each way."""
    workers = options.workers
    ways: dict[str, Callable[[], AbstractContextManager[Any]]] = {
        "threads": contextlib.nullcontext,
        "processes": lambda: process_pool(workers),
    }
    if not options.without_dask:
        ways["Dask"] = lambda: dask_client(workers)
    run(data, 20, threads=workers)  # imports, and pages of memory
    (seconds, _), _ = measured(ways["threads"], data, 200, threads=workers)
    simulations = max(200, round(200 * options.seconds / seconds))
    print(f"{simulations:,} simulations, {workers} workers")
    for _ in range(options.repeats):
        (base, processor), expected = measured(ways["threads"], data, simulations, threads=workers)
        print(f"threads    {base:6.1f} s  processor {processor:6.1f} s", flush=True)
        for name in [name for name in ways if name != "threads"]:
            (wall, own), found = measured(ways[name], data, simulations)
            assert found == expected, f"{name}: another result"
            ratios = f"ratio {wall / base:.3f}, of processor time {own / processor:.3f}"
            print(f"{name:10} {wall:6.1f} s  processor {own:6.1f} s  {ratios}", flush=True)


def count_bytes(workers: int) -> None:
    """Print how often 20 MB of counts cross to each worker of a cluster."""
    bleu, data = metric("bleu"), texts(LARGE)
    assert isinstance(bleu, NativeMetric)
    counts = bleu.suff_stats(data["systems"], data["references"])
    experiment = Experiment([Population("", [bleu], [counts])], Selection("replace"), 1)
    with dask_client(workers) as client:
        before = client.run(received_bytes)
        for test in ("ar", "bootstrap"):
            Testing([test], 99, execution=Execution(client)).run(experiment, 200)
        after = client.run(received_bytes)
    for worker, start in before.items():
        received, size = after[worker] - start, counts.nbytes
        print(
            f"{worker} received {received / 1e6:.2f} MB for two jobs, {received / size:.3f} times {size / 1e6:.0f} MB"
        )


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--without-dask", action="store_true")
    options = parser.parse_args()
    compare_times(texts(SEGMENTS), options)
    if not options.without_dask and sys.platform == "linux":
        count_bytes(options.workers)


if __name__ == "__main__":
    main()
