"""Calls of the core as functions: each prepares counts and runs one reduction, for tests of that reduction."""

from typing import Any

from reshuffle import _core


def resampler(samples: Any, **how: Any) -> _core.Resampler:
    """A resampler of metrics and (k, S, K) counts."""
    return _core.Resampler([(metric, _core.Counts([counts])) for metric, counts in samples], **how)


def _run(samples: Any, reduction: Any, kind: str = "shuffles", strata: Any = None, **how: Any) -> Any:
    return resampler(samples, kind=kind, strata=strata).run([reduction], **how)[0]


def shuffle_tally(samples: Any, pairs: Any, alternative: Any, thresholds: Any, **how: Any) -> Any:
    return _run(samples, _core.Tally(pairs, alternative, thresholds), **how).counts


def shuffle_spreads(samples: Any, pairs: Any, **how: Any) -> Any:
    return _run(samples, _core.Spread(pairs), **how).values


def shuffle_min_p(
    samples: Any, pairs: Any, alternative: Any, observed: Any, ranks: Any, families: Any, **how: Any
) -> Any:
    thresholds, tolerances = observed
    return _run(samples, _core.MinP(pairs, alternative, thresholds, tolerances, ranks, families), **how).counts


def shuffle_sums(counts: Any, **how: Any) -> Any:
    return _run([(None, rows) for rows in counts], _core.Sums(), **how).sums


def draw_scores(samples: Any, *, strata: Any = None, **how: Any) -> Any:
    return _run(samples, _core.Draws(), "draws", strata, **how).scores


def draw_summary(samples: Any, **how: Any) -> Any:
    moments = _run(samples, _core.Moments(), "draws", **how)
    return moments.means, moments.deviations


def draw_sums(counts: Any, *, strata: Any = None, **how: Any) -> Any:
    return _run([(None, rows) for rows in counts], _core.Sums(), "draws", strata, **how).sums
