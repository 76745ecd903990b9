"""Lists of candidate translations of WMT 2011 German-English, read without the readers of the package."""

import gzip
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reshuffle import _core

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Lists:
    """Candidates of some sentences: where the lists begin, features, texts, and the reference of each candidate."""

    offsets: Ints
    dense: Floats
    texts: tuple[str, ...]
    references: tuple[str, ...]

    def counts(self, metric: _core.Metric) -> Ints:
        """The counts of each candidate."""
        rows: Ints = _core.count([metric], [self.texts], [self.references])[0][0]
        return rows

    def lengths(self) -> Floats:
        """The length of the reference of each sentence in words."""
        return np.array([len(self.references[first].split()) for first in self.offsets[:-1]], float)

    def best(self, weights: Floats) -> Ints:
        """The first candidate with the best model score for each sentence."""
        scores = self.dense @ weights
        return np.array([a + np.argmax(scores[a:b]) for a, b in zip(self.offsets[:-1], self.offsets[1:], strict=True)])


@cache
def kbest(folder: Path, part: str) -> Lists:
    """The lists of ``dev`` or ``test``."""
    ids, texts, features = [], [], []
    with gzip.open(folder / f"{part}.nbest.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            number, text, values, _ = line.split(" ||| ")
            ids.append(int(number))
            texts.append(text)
            features.append([float(value) for value in values.split()[1:]])
    references = (folder / f"{part}.ref").read_text(encoding="utf-8").splitlines()
    offsets = np.concatenate([[0], np.cumsum(np.bincount(ids))]).astype(np.int64)
    return Lists(offsets, np.array(features), tuple(texts), tuple(references[number] for number in ids))


def start(folder: Path) -> Floats:
    """The weights with which the search begins."""
    return np.array((folder / "init.opt").read_text(encoding="utf-8").split("\n")[0].split(), float)
