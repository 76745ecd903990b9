"""K-best lists of ``reshuffle demo --lists``: entries with random errors, and features that say something about these.

The first half of the corpus is the development set, the second half the test set.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..grouping import grouped
from .demo import demo_corpus, faults, random_bytes_of, translated, written

# Entries of a list, and the error rates of the entries, in 256ths.
SIZE, LOWEST, RATES = 20, 16, 96
# How much each feature says about errors, and its noise. Several say little, as in real decoders, so that many weights
# are about equally good.
FEATURES = {
    "lm": (0.6, 2.0), "tm_0": (0.4, 2.5), "tm_1": (0.3, 2.5), "tm_2": (0.1, 1.5), "tm_3": (0.0, 1.5), "d_0": (0.2, 3.0),
    "d_1": (0.0, 2.0),
}  # fmt: skip
LENGTH = "length"
# The weights with which tuning begins.
WEIGHTS = dict.fromkeys([*FEATURES, LENGTH], 0.2)
# The stream of random bytes.
STREAM = 20


def _noise(values: Iterator[int], size: float) -> float:
    """A sum of three uniform numbers, whose standard deviation is ``size``."""
    return size * (next(values) + next(values) + next(values) - 382.5) / 128


def _entry(reference: str, values: Iterator[int]) -> str:
    """Hypothesis, features and the decoder's score."""
    text = translated(reference, LOWEST + next(values) * RATES // 256, values)
    errors = faults(reference, text)
    values_of = {name: _noise(values, noise) - signal * errors for name, (signal, noise) in FEATURES.items()}
    values_of[LENGTH] = -float(len(text.split()))
    total = sum(WEIGHTS[name] * value for name, value in values_of.items())
    groups = grouped((name.partition("_")[0], f"{value:.3f}") for name, value in values_of.items())
    shown = " ".join(f"{name}= {' '.join(own)}" for name, own in groups.items())
    return f"{text} ||| {shown} ||| {total:.3f}"


def demo_lists() -> dict[str, tuple[list[str], list[str]]]:
    """The lines of a file of lists in Moses' format, and the references, of the development and the test set.

    >>> [(len(lists), len(references)) for lists, references in demo_lists().values()]
    [(4000, 200), (4000, 200)]
    """
    references = [line or "" for line in demo_corpus().references[0]]
    half = len(references) // 2
    found = {}
    for number, (name, own) in enumerate({"dev": references[:half], "test": references[half:]}.items()):
        values = random_bytes_of(STREAM, number)
        lines = [f"{i} ||| {_entry(text, values)}" for i, text in enumerate(own) for _ in range(SIZE)]
        found[name] = (lines, own)
    return found


def write_demo_lists(directory: str) -> list[Path]:
    """Write lists, references and weights to files, and return their paths. Existing files are not overwritten.

    :class:`InputError` if one of the files exists, or a file cannot be written.
    """
    files = []
    for name, (lists, references) in demo_lists().items():
        files += [(f"{name}.nbest", lists), (f"{name}.txt", references)]
    return written(directory, [*files, ("weights", [f"{name} {value}" for name, value in WEIGHTS.items()])])
