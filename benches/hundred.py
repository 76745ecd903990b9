"""Compare all pairs of 100 systems under three metrics in a separate process: ``python benches/hundred.py FAMILY``.

The systems are mixtures of real ones. Prints JSON: the seconds of the comparison, which begins with the counts, and the
mean of the adjusted p-values. The peak of resident memory is that of the process, which also makes the counts.
"""

from __future__ import annotations

import json
import sys
from time import perf_counter
from typing import Any

from cases_pairs import MANY_SYSTEMS, counted, synthetic_systems
from cases_resampling import SEED, SHUFFLES
from data import Texts, find
from reshuffle import FromCounts, compare

METRICS = ("bleu", "chrf", "ter")


def main(family: str) -> None:
    """Make the counts, compare the systems and print the measurements."""
    files = find()
    # 3,000 segments, the usual size of a test set.
    texts = Texts(
        files,
        [lines[:3000] for lines in files.references()],
        {name: lines[:3000] for name, lines in files.outputs().items()},
    )
    metrics = [FromCounts(key, synthetic_systems(counted(texts, key), MANY_SYSTEMS), key) for key in METRICS]
    options: dict[str, Any] = {"test": "ar", "interval": None, "n_resamples": SHUFFLES, "seed": SEED}
    start = perf_counter()
    result = compare(metrics=metrics, all_pairs=True, adjust="maxt", family=family, **options)
    seconds = perf_counter() - start
    adjusted = [pair.test.adjusted_pvalue or 0.0 for pair in result.comparisons]
    print(json.dumps({"seconds": seconds, "tests": len(adjusted), "mean": sum(adjusted) / len(adjusted)}))


if __name__ == "__main__":
    main(sys.argv[1])
