"""Cases of meta-evaluation: PERM-BOTH, calibrated ties and soft accuracy of 20 metrics, and τ from texts.

The matrices are those of WMT21, English to German: MQM scores of eight systems on 527 of 1,002 segments, and 20
metrics, which are ours with some of their options. mt-metrics-eval's formulae in numpy take hours for what takes
reshuffle seconds, so they run a few replicates; times are per replicate and pair of metrics.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benches.data import FOLDER, Array, Texts
from reshuffle import NativeMetric, _core, meta, metric, read_lines

from ..agreement import DisagreementError, same_pvalues, same_scores
from ..race import Contender, Measurement, Race, Skipped, call, command
from ..rivals import ONE_THREAD, RESHUFFLE
from ..rivals.meta import calibrated, groups_of, kendall_b, mean_of_groups, pearson, permuted, soft_accuracy

__all__ = ["meta_cases", "tau"]

SET = "wmt21-en-de"
N_RESAMPLES, SEED, TARGET = 1_000, 12345, 50
NUMPY = f"mt-metrics-eval's formulae, numpy {np.__version__}"

# Coefficient, grouping, and how many replicates of one pair of metrics numpy runs.
TESTED = (("pearson", "none", 1_000), ("kendall-b", "item", 20), ("acc23", "item", 10))

YEAR, PAIRS, SECONDS = "wmt13", ("cs-en", "de-en", "fr-en"), 2.0
SMOOTHINGS = tuple(f"sentbleu:smoothing={each}" for each in range(8))


def twenty() -> list[NativeMetric]:
    """Metrics of this package, and some of their options."""
    return [
        *(metric("sentbleu", smoothing=str(each)) for each in range(8)),
        metric("chrf"),
        metric("chrf", word_order=2),
        metric("chrf", char_order=4),
        metric("chrf", lowercase=True),
        metric("ter"),
        metric("ter", case_sensitive=True),
        metric("nist"),
        metric("gtm"),
        metric("gtm", exponent=2),
        metric("wer"),
        metric("per"),
        metric("length"),
    ]


def matrices() -> meta.JudgedSet | None:
    """The scores of people and of the 20 metrics as tables; None without the data."""
    folder = FOLDER / SET
    outputs = {path.stem: read_lines(str(path)) for path in sorted(folder.glob("sys/*.txt"))}
    if not outputs:
        return None
    human = meta.read_scores(
        str(folder / "judgments/mqm_newstest2021_ende.avg_seg_scores.tsv"),
        systems=list(outputs),
        sysmap={"Nemo": "NVIDIA-NeMo"},
        unknown="drop",
        n_segments=1_002,
    )
    scored = meta.JudgedSet.from_texts([read_lines(str(folder / "ref-A.txt"))], outputs, twenty(), human=human)
    tables = [
        meta.ScoreTable(m.label, scored.systems, m.segments, None, m.higher_is_better)
        for m in scored.metrics
        if m.segments is not None
    ]
    return meta.JudgedSet.from_scores(tables, human=human)


def meta_cases(texts: Texts) -> list[Race]:
    """Shows PERM-BOTH of all 190 pairs of 20 metrics with R = 1,000 for three coefficients, acc23 with calibrated ties,
    also on draws, and soft accuracy of the 20, beside mt-metrics-eval's formulae on the same matrices. Differences and
    values must be equal, p-values equal within Monte Carlo error."""
    test_set = matrices()
    if test_set is None:
        return [Race("PERM-BOTH", [Skipped(SET, f"it is not in {FOLDER}")], same_tests)]
    return [
        *(perm_both(test_set, *tested) for tested in TESTED),
        calibration(test_set),
        calibrated_draws(test_set),
        soft(test_set),
    ]


def signed(test_set: meta.JudgedSet) -> list[Array]:
    """The cells of each metric, higher is better."""
    return [m.sign * np.asarray(m.segments) for m in test_set.metrics]


def human_cells(test_set: meta.JudgedSet) -> Array:
    """The cells of people."""
    assert test_set.human is not None
    return np.asarray(test_set.human.segments)


def perm_both(test_set: meta.JudgedSet, coefficient: str, grouping: str, replicates: int) -> Race:
    """One coefficient: a pair of metrics in numpy, all pairs here."""
    human, scores = human_cells(test_set), signed(test_set)
    n_metrics = len(scores)
    pairs = n_metrics * (n_metrics - 1) // 2
    values: Mapping[str, Any] = {
        "pearson": mean_of_groups(pearson), "kendall-b": mean_of_groups(kendall_b), "acc23": calibrated
    }  # fmt: skip
    first, second = 7, 12  # sentence BLEU with smoothing 7, and TER

    def rival() -> tuple[float, float, int]:
        people, a = groups_of(human, scores[first], grouping)
        _, b = groups_of(human, scores[second], grouping)
        rng = np.random.default_rng(SEED)
        observed, drawn = permuted(people, a, b, values[coefficient], replicates, rng)
        return observed, float((np.abs(drawn) >= abs(observed) - 1e-12).mean()), replicates

    def ours(threads: int | None = None) -> tuple[float, float, int]:
        result = meta.segments(
            test_set, coefficients=coefficient, groupings=grouping, test="perm-both", interval=None, adjust="none",
            n_resamples=N_RESAMPLES, seed=SEED, workers=threads,
        )  # fmt: skip
        labels = [test_set.metrics[at].label for at in (first, second)]
        (found,) = [each for each in result.comparisons if {each.metric_a, each.metric_b} == set(labels)]
        sign = 1 if found.metric_a == labels[0] else -1
        return sign * found.difference, found.pvalue, N_RESAMPLES

    return Race(
        f"PERM-BOTH, {coefficient} {grouping}, {n_metrics} metrics, R = {N_RESAMPLES:,}, per replicate and pair",
        [
            Contender(f"{NUMPY}, one pair", call(rival), at_most=1, things=replicates),
            Contender(f"{RESHUFFLE}, all pairs", call(ours), target=TARGET, things=N_RESAMPLES * pairs),
            Contender(f"{ONE_THREAD}, all pairs", call(lambda: ours(1)), at_most=1, things=N_RESAMPLES * pairs),
        ],
        same_tests,
    )


def same_tests(expected: tuple[float, float, int], *others: tuple[float, float, int]) -> None:
    """Check for the same difference and, within Monte Carlo error, the same p-value."""
    for difference, p, n in others:
        same_scores(expected[0], difference)
        same_pvalues(expected[1], expected[2], p, n)


def calibration(test_set: meta.JudgedSet) -> Race:
    """acc23 of all metrics."""
    human, scores = human_cells(test_set), signed(test_set)

    def rival() -> list[float]:
        return [calibrated(*groups_of(human, each, "item")) for each in scores]

    def ours() -> list[float]:
        result = meta.segments(test_set, coefficients="acc23", groupings="item", test=None, interval=None)
        return [each.value for each in result.results]

    return Race(
        f"acc23 with calibrated ties, item, {len(scores)} metrics",
        [Contender(NUMPY, call(rival), at_most=2), Contender(RESHUFFLE, call(ours), target=TARGET)],
        same_values,
    )


def calibrated_draws(test_set: meta.JudgedSet, replicates: int = 128) -> Race:
    """acc23 of a metric over all outputs on draws of segments, the same ones in both.

    The other way, which was ours before, takes one draw after the other: the weights of all pairs in the order of their
    differences, and the largest of their sums.
    """
    rated = ~np.isnan(human_cells(test_set)).any(axis=0)
    human = np.ascontiguousarray(human_cells(test_set)[:, rated])
    scores = np.ascontiguousarray(signed(test_set)[12][None, :, rated])
    n_systems, n_segments = human.shape
    rng = np.random.default_rng(SEED)
    segments = rng.multinomial(n_segments, np.full(n_segments, 1 / n_segments), replicates).astype(np.uint32)
    copies = np.ones((replicates, n_systems), dtype=np.uint32), segments

    def rival() -> list[float]:
        few, x, y = 3, scores.ravel(), human.ravel()
        first, second = np.triu_indices(x.size, 1)
        ordered, difference = np.sign(y[first] - y[second]), x[first] - x[second]
        tied = np.flatnonzero(ordered == 0)
        steps = np.flatnonzero((difference != 0) & (difference * ordered >= 0))
        steps = steps[np.argsort(-np.abs(difference[steps]), kind="stable")]
        sizes = np.abs(difference[steps])
        last = np.append(sizes[1:] != sizes[:-1], True)
        signs = np.where(ordered[steps] == 0, -1.0, 1.0)
        values = []
        for own in segments[:few]:
            w = np.tile(own, n_systems).astype(np.float64)
            start = (w[first[tied]] * w[second[tied]]).sum()
            sums = start + np.cumsum(signs * w[first[steps]] * w[second[steps]])
            values.append(max(start, sums[last].max()) / ((w.sum() ** 2 - (w**2).sum()) / 2))
        return values

    def ours() -> list[float]:
        settings: dict[str, Any] = {"n": replicates, "seed": 0, "copies": copies}
        found = _core.meta_drawn(scores, human, [("none", "acc23")], "inputs", **settings)
        return [float(value) for value in found[0, 0]]

    return Race(
        f"acc23 over all {human.size:,} outputs on draws, per draw",
        [
            Contender("one draw after the other, numpy", call(rival), at_most=1, things=3),
            Contender(RESHUFFLE, call(ours), target=10, things=replicates),
        ],
        lambda expected, *others: same_values(expected, *(other[: len(expected)] for other in others)),
    )


def same_values(expected: list[float], *others: list[float]) -> None:
    """Check that values are equal up to rounding."""
    for other in others:
        same_scores(expected, other)


def soft(test_set: meta.JudgedSet) -> Race:
    """Soft accuracy of all metrics, on the segments that people rated."""
    human, scores = human_cells(test_set), signed(test_set)
    rated = ~np.isnan(human).any(axis=0)

    def rival() -> list[float]:
        rng = np.random.default_rng(SEED)
        return soft_accuracy(human[:, rated], [each[:, rated] for each in scores], N_RESAMPLES, rng)

    def ours() -> list[float]:
        result = meta.systems(
            test_set, coefficients="soft-accuracy", test=None, interval=None, n_resamples=N_RESAMPLES, seed=SEED
        )
        return [each.value for each in result.results]

    return Race(
        f"soft accuracy, {len(scores)} metrics, R = {N_RESAMPLES:,}",
        [Contender(NUMPY, call(rival)), Contender(RESHUFFLE, call(ours), target=TARGET)],
        nearly_equal,
    )


def nearly_equal(expected: list[float], *others: list[float]) -> None:
    """Check soft accuracies: means of 28 p-values, whose Monte Carlo error is below .02 each."""
    for other in others:
        if np.abs(np.subtract(expected, other)).max() > 0.02:
            raise DisagreementError(f"soft accuracies differ: {expected} and {other}")


# τ from texts.


def within(measure: Callable[[], Measurement]) -> Callable[[], Measurement]:
    """Remark whether the time of the turn reached the target."""

    def measured() -> Measurement:
        found = measure()
        return found._replace(remark=f"≤ {SECONDS:g} s: {'reached' if found.seconds <= SECONDS else 'MISSED'}")

    return measured


def tau(texts: Texts) -> list[Race]:
    """Shows τ of sentence BLEU with smoothings 0 to 7 for all WMT13 pairs into English that have judgments, from files
    with 41 judged outputs of 3,000 segments and 294,878 votes: in this process, and as a command with interpreter and
    imports."""
    folders = [FOLDER / f"{YEAR}-{pair}" for pair in PAIRS]
    if not all(folder.is_dir() for folder in folders):
        return [Race("tau", [Skipped(YEAR, f"it is not in {FOLDER}")], same_values)]

    def called() -> list[float]:
        metrics = [metric("sentbleu", smoothing=str(each)) for each in range(8)]
        result = meta.segments([judged(folder, metrics) for folder in folders], test=None, interval=None)
        return [each.value for each in result.results if each.test_set == "average"]

    return [
        Race(
            "τ of 8 smoothings, WMT13 into English, from texts",
            [
                Contender(f"{RESHUFFLE}: meta.segments, files read", within(call(called))),
                Contender(f"{RESHUFFLE}: reshuffle meta segments", within(whole(folders))),
            ],
            same_values,
        )
    ]


def judged(folder: Path, metrics: list[NativeMetric]) -> meta.JudgedSet:
    """A language pair from its files."""
    pair = folder.name.removeprefix(f"{YEAR}-")
    outputs = {path.stem: read_lines(str(path)) for path in sorted(folder.glob("sys/*.txt"))}
    judgments = meta.read_judgments(
        str(folder / f"judgments/{pair}.rank"), sysmap=str(folder / "judgments/sysmap.tsv"), systems=list(outputs)
    )
    return meta.JudgedSet.from_texts(
        [read_lines(str(folder / "ref.txt"))], outputs, metrics, judgments=judgments, name=pair
    )


def whole(folders: list[Path]) -> Callable[[], Measurement]:
    """The command."""
    sets = {
        folder.name.removeprefix(f"{YEAR}-"): {
            "references": str(folder / "ref.txt"),
            "systems": str(folder / "sys"),
            "judgments": str(next(folder.glob("judgments/*.rank"))),
            "sysmap": str(folder / "judgments/sysmap.tsv"),
        }
        for folder in folders
    }
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
        json.dump({"sets": sets}, file)
    options = ("--test", "none", "--interval", "none", "--format", "json")
    arguments = ("meta", "segments", "--manifest", file.name, "-m", *SMOOTHINGS, *options)
    return command(sys.executable, "-m", "reshuffle", *arguments, read=averages)


def averages(output: str) -> list[float]:
    """The mean τ of each metric in a report."""
    return [row["value"] for row in json.loads(output)["results"] if row["test_set"] == "average"]
