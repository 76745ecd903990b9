"""Counts of synthetic systems."""

from typing import Any

import numpy as np

from reshuffle import FromCounts
from reshuffle.metrics.base import Counts


def penalized(totals: Any) -> Any:
    """Precision with a brevity penalty: matches, length, reference length."""
    matches, length, reference = np.moveaxis(np.asarray(totals, float), -1, 0)
    return 100 * matches / length * np.minimum(1, length / reference)


def lengths(longer: int = 2, shorter: int = 2) -> FromCounts:
    """Two systems whose outputs are on average longer, and shorter, than the reference."""
    rng = np.random.default_rng(1)
    reference = rng.integers(15, 40, 300)
    matches = rng.binomial(reference, 0.7)
    usual = reference + rng.integers(-8, 9, 300)
    rows = {name: usual + by + rng.integers(-1, 2, 300) for name, by in (("long", longer), ("short", -shorter))}
    counts = {name: np.stack([matches, length, reference], axis=1) for name, length in rows.items()}
    return FromCounts("F", counts, penalized)


def bleu_counts(seed: int, systems: int, segments: int, step: float) -> Counts:
    """Counts of BLEU, (systems, segments, 10). Each system has more matches than the one before, by ``step``."""
    rng = np.random.default_rng(seed)
    length = rng.integers(5, 40, size=segments)
    rows = []
    for system in range(systems):
        totals = [np.maximum(length - n, 0) for n in range(4)]
        matches = [rng.binomial(t, (0.5 + step * system) / 1.3**n) for n, t in enumerate(totals)]
        rows.append(np.stack([length, length, *matches, *totals], axis=-1))
    return np.stack(rows).astype(np.int64)


def as_bleu(counts: Counts) -> FromCounts:
    """Systems s0, s1, … with these counts of BLEU."""
    return FromCounts("BLEU", {f"s{i}": rows for i, rows in enumerate(counts)}, "bleu")


def as_counts(scores: Any) -> Counts:
    """Segment scores as counts of a mean: sums and numbers of segments."""
    scores = np.asarray(scores, dtype=np.int64)
    return np.stack([scores, np.ones_like(scores)], axis=-1)


def near_kink(segments: int = 60) -> FromCounts:
    """BLEU of one output and the same without a few words, both about as long as the references."""
    rng = np.random.default_rng(1)
    reference = 12 + rng.integers(0, 9, segments)
    words = reference + rng.integers(-2, 3, segments)
    matches = np.outer(words, [50, 28, 16, 9]) // 100
    systems = {
        name: np.column_stack([own, reference, matches, own[:, None] - np.arange(4)])
        for name, own in (("long", words), ("short", words - (np.arange(segments) % 12 == 0)))
    }
    return FromCounts("BLEU", systems, "bleu")
