"""Signatures: one line that tells a reader how to repeat a number. Every part of every signature is written here.

A metric's part is its name and what changes a score, ``BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp``. A run's
part tells what was tested and how replicates were made. What goes without saying is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from . import _core
from .seeds import told

__all__ = ["Run", "joined", "of_interval", "of_metric", "of_scheme", "of_stopping", "version"]

GIVEN_COUNTS = "counts:given"


def joined(parts: Iterable[str | None]) -> str:
    """The parts that there are, with bars between them.

    >>> joined(["TER", None, "case:lc"])
    'TER|case:lc'
    """
    return "|".join([part for part in parts if part is not None])


def of_metric(name: str, options: Iterable[tuple[str, str]] = (), n_references: str | None = None) -> str:
    """A metric, how many references a segment has (a number or ``var``), and the options that change a score.

    >>> of_metric("TER", [("case", "lc")], "1")
    'TER|nrefs:1|case:lc'
    """
    nrefs = None if n_references is None else f"nrefs:{n_references}"
    return joined([name, nrefs, *(f"{option}:{value}" for option, value in options)])


def of_given_counts(name: str, formula: str | None) -> str:
    """A metric whose counts came from elsewhere, and the signature of what scores them if it has one.

    >>> of_given_counts("mine", "BLEU|case:lc"), of_given_counts("F1", None)
    ('mine|counts:given|BLEU|case:lc', 'F1|counts:given')
    """
    return joined([name, GIVEN_COUNTS, formula])


def of_scheme(scheme: str, bits: int | None = None) -> str:
    """A way to go through shuffles, and the number of these if it is a power of two.

    >>> of_scheme("exact", 6)
    'exact[2^6]'
    """
    return scheme if bits is None else f"{scheme}[2^{bits}]"


def of_stopping(rule: str, *values: object) -> str:
    """A rule that stops shuffles, and its numbers.

    >>> of_stopping("gandy", 0.05, 0.001)
    'gandy[0.05,0.001]'
    """
    return f"{rule}[{','.join(map(str, values))}]"


def of_interval(interval: str, confidence_level: float) -> str:
    """An interval and its level.

    >>> of_interval("bca", 0.95)
    'bca[0.95]'
    """
    return f"{interval}[{confidence_level:g}]"


def of_seeds(seeds: Iterable[int]) -> str:
    """Seeds of a batch: how many, and how their SHA-256 begins, as 64-bit numbers with the lowest byte first.

    >>> of_seeds([1, 2, 3])
    '3[sha256:e2e2033a]'
    """
    import hashlib

    numbers = list(seeds)
    digest = hashlib.sha256(b"".join(seed.to_bytes(8, "little") for seed in numbers)).hexdigest()
    return f"{len(numbers)}[sha256:{digest[:8]}]"


def version() -> str:
    """The version of this package."""
    return f"version:reshuffle-{_core.VERSION}"


def of_batch(n: int) -> str:
    """Many problems in one call."""
    return f"batch:{n}"


# The first parts of a run: they are said whenever there are any.
ALWAYS_SAID = ("interval", "test", "alternative", "adjust", "scheme", "stopping", "strata")


class Run(NamedTuple):
    """What was tested, and how replicates were made. None stands for what was not used or goes without saying.

    ``scheme`` and ``stopping`` are as :func:`of_scheme` and :func:`of_stopping` write them, ``strata`` the number of
    those within which units vary, if anything depends on them, ``units`` how many there are of a ``unit`` other than
    segments. Replicates that are random have a number and a seed.

    >>> print(Run(test="ar", alternative="two-sided", n=99, seed=1).line.partition("|version")[0])
    test:ar|alternative:two-sided|n:99|seed:1|rng:philox4x32-10
    """

    interval: str | None = None
    test: str | None = None
    alternative: str | None = None
    adjust: str | None = None
    scheme: str | None = None
    stopping: str | None = None
    strata: int | None = None
    unit: str | None = None
    units: int | None = None
    n: int | None = None
    seed: int | str | None = None

    @property
    def line(self) -> str:
        """These parts of a signature."""
        used = [f"{part}:{value}" for part, value in zip(ALWAYS_SAID, self, strict=False) if value is not None]
        if self.unit is not None and self.unit != "segment":
            used.append(f"unit:{self.unit}[{self.units}]")
        if self.seed is not None:
            seed = self.seed if isinstance(self.seed, str) else told(self.seed)
            used += [f"n:{self.n}", f"seed:{seed}", f"rng:{_core.GENERATOR}"]
        return joined([*used, version()])
