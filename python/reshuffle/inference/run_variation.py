"""How much the scores of systems vary between runs and between test sets, and what other experiments would observe."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import correlation

import numpy as np

from .. import _core
from ..metrics.base import Scores
from ..resampling.runs import RunData
from ..resampling.samples import Pairs
from ..results.studies import ObservedDifference, RunScores

# The numbers of runs of the figure, and the least of them up to which experiments are always shown.
NUMBERS_OF_RUNS = (1, 2, 3, 5, 10, 20, 50)
ALWAYS = 10
# The number of random experiments; if there are no more than this many possible ones, all of them are used.
EXPERIMENTS = 10_000
# The central share of the differences.
LOW, HIGH = 0.025, 0.975


def run_scores(data: RunData, m: int, system: int, on_dev: Sequence[float] = (), median_on: str = "test") -> RunScores:
    """The scores of a system's runs under metric m, and how much they vary. ``on_dev`` are those of the same runs.

    For s_sel (Clark et al. 2011, P11-2031, 3.1) each of R draws takes S segments with replacement, and the standard
    deviation has R − 1 in the denominator.

    The variance components are two-way moments for runs and segments, both taken as random (Cornfield & Tukey 1956,
    doi:10.1214/aoms/1177728067). The values are the contributions of segments to the score of each run, which is
    linearized at the summed counts of that run (the delta method, :mod:`reshuffle.resampling.run_linear`).

    - ``interaction``: the variance that the choice of segments gives to the score of one run, less what runs share;
    - ``between_segments``: what they share, the mean covariance of the scores of two runs on random test sets;
    - ``between_runs``: the variance of the runs' scores (s_test squared), less the interaction, which is part of it.

    Estimates below 0 become 0. With few runs this happens often, and means that the runs differ no more than different
    segments alone would make them differ. Strata and documents are taken into account.

    Cost: one pass of R draws for s_sel, which tests and intervals share, and for the components a product of matrices
    with a column for each output and S rows.
    """
    own, several = data.samples[m].scores[data.rows[system]], data.resampling.n_resamples > 1
    parts = data.covariances[m].parts(system)
    runs = segments = interaction = effective = None
    if parts is not None:
        runs, segments, interaction = (max(part, 0.0) for part in parts[1:])
        of_mean = (runs + interaction) / data.n_runs[system] + segments
        effective = (runs + segments + interaction) / of_mean if of_mean > 0 else None
    return RunScores(
        runs=tuple(own.tolist()),
        mean=float(own.mean()),
        minimum=float(own.min()),
        maximum=float(own.max()),
        pooled=data.score_of(system, "pooled")[m],
        s_test=_spread(own),
        s_sel=float(data.deviations[m][data.rows[system]].mean()) if several else math.nan,
        s_dev=_spread(on_dev),
        dev_runs=tuple(on_dev),
        median_run=_median(on_dev if median_on == "dev" and on_dev else own),
        between_runs=runs,
        between_segments=segments,
        interaction=interaction,
        effective_test_sets=effective,
        variance_pvalue=variance_test(on_dev, own.tolist()) if on_dev else None,
    )


def variance_test(dev: Sequence[float], test: Sequence[float]) -> float | None:
    """Two-sided p-value of the Pitman–Morgan test that runs vary equally on two sets; None if it is undefined.

    The correlation of the sums with the differences is tested by Student's t with n − 2 degrees of freedom (Pitman
    1939, doi:10.1093/biomet/31.1-2.9).
    """
    n = len(dev)
    sums, differences = ([x + sign * y for x, y in zip(test, dev, strict=True)] for sign in (1, -1))
    if n < 3 or min(max(sums) - min(sums), max(differences) - min(differences)) <= 0:
        return None
    from scipy.special import stdtr  # takes long to import

    r = correlation(sums, differences)
    if abs(r) >= 1:
        return 0.0
    return float(2 * stdtr(n - 2, -abs(r) * math.sqrt((n - 2) / (1 - r * r))))


def _spread(scores: Sequence[float] | Scores) -> float | None:
    """The sample standard deviation; None for fewer than two scores."""
    return float(np.std(scores, ddof=1)) if len(scores) > 1 else None


def _median(scores: Sequence[float] | Scores) -> int:
    """The index of the median score: of an even number, that of the lower one.

    >>> _median([3.0, 1.0, 2.0]), _median([4.0, 1.0, 3.0, 2.0])
    (2, 3)
    """
    return int(np.argsort(scores, kind="stable")[(len(scores) - 1) // 2])


def observed_differences(data: RunData, pairs: Pairs, labels: Sequence[str]) -> tuple[ObservedDifference, ...]:
    """The differences of mean scores that experiments with n runs of each system would observe, n = 1, 2, 3, 5, 10 ….

    Clark et al. 2011 (P11-2031), Figure 2; the test set is fixed.

    An experiment draws n runs of each system from its runs *with replacement*, each system by itself. So it stands for
    n new runs of the configuration: its variance is s²/n times (N − 1)/N, for N runs with the standard deviation s.
    Without replacement it would be smaller by the factor (N − n)/(N − 1), and 0 for n = N, as if all runs that could
    exist were known. Clark et al. draw with replacement too, for their Table 2, from 50 or 300 runs.

    All N^n·M^n experiments are made if there are at most 10,000, each once; else 10,000 random ones, from the seed of
    ``data``. n goes up to 10, or to the number of runs if that is larger, but not beyond 50.

    Parameters
    ----------
    data : RunData
    pairs : sequence of (int, int)
        The indices of the system and of its baseline.
    labels : sequence of str
        The names of the metrics.

    Returns
    -------
    tuple of ObservedDifference
        For each metric, pair and n. None for a pair in which a system has only one run: one run does not show how runs
        differ.
    """
    seed = int(data.resampling.seed)
    several = [pair for pair in pairs if min(data.n_runs[system] for system in pair) > 1]
    largest = max([ALWAYS, *data.n_runs])
    numbers = [n for n in NUMBERS_OF_RUNS if n <= largest]
    records = []
    for label, sample in zip(labels, data.samples, strict=True):
        scores = [sample.scores[rows] for rows in data.rows]
        for system, baseline in several:
            both = scores[system], scores[baseline]
            overall = float(both[0].mean() - both[1].mean())
            names = data.names[baseline], data.names[system], label
            for n in numbers:
                differences = _differences(both, n, seed, (system, baseline))
                records.append(_record(names, n, differences, overall))
    return tuple(records)


def _differences(scores: tuple[Scores, Scores], n: int, seed: int, systems: tuple[int, int]) -> Scores:
    """The differences of the means of n drawn scores: of all experiments, or of random ones."""
    if (len(scores[0]) * len(scores[1])) ** n <= EXPERIMENTS:
        a, b = (_all_means(values, n) for values in scores)
        return np.subtract.outer(a, b).ravel()
    a, b = (_drawn_means(values, n, seed, system) for values, system in zip(scores, systems, strict=True))
    return a - b


def _all_means(scores: Scores, n: int) -> Scores:
    """The means of all sequences of n scores, with repetitions."""
    sums = np.zeros(1)
    for _ in range(n):
        sums = np.add.outer(sums, scores).ravel()
    return sums / n


def _drawn_means(scores: Scores, n: int, seed: int, system: int) -> Scores:
    """The means of n random scores in each experiment; other numbers than those of the hierarchical bootstrap."""
    own = _core.derive(_core.derive(seed, "run", system), "simulation", n)
    return np.asarray(scores[_core.stream_indices(own, 0, len(scores), EXPERIMENTS * n)].reshape(-1, n).mean(axis=1))


def _record(names: tuple[str, str, str], n: int, differences: Scores, overall: float) -> ObservedDifference:
    # Differences within rounding of each other are equal.
    rounding = 64 * np.spacing(np.abs(differences).max())
    other = np.count_nonzero(differences * np.sign(overall) < -rounding * abs(np.sign(overall)))
    ties = np.count_nonzero(np.abs(differences) <= rounding) if overall else len(differences)
    low, high = np.quantile(differences, [LOW, HIGH]).tolist()
    return ObservedDifference(
        *names,
        n_runs=n,
        mean=float(differences.mean()),
        standard_deviation=float(differences.std()),
        minimum=float(differences.min()),
        maximum=float(differences.max()),
        low=low,
        high=high,
        reversed=(other + ties / 2) / len(differences),
        experiments=len(differences),
    )
