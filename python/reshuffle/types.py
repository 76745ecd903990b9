"""Names of tests, intervals, formats and so on, for type checkers and for a command line that imports little.

A test compares each with the registry named below it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

__all__ = [
    "Adjustment",
    "Alternative",
    "CatalogueFormat",
    "Format",
    "InputFormat",
    "Interval",
    "Scheme",
    "SegmentFormat",
    "Stopping",
    "Test",
]

Test: TypeAlias = Literal["ar", "bootstrap", "bootstrap-shift", "paired-bootstrap", "t-test", "wilcoxon", "sign-test"]
""":data:`reshuffle.inference.significance.TESTS`."""

Alternative: TypeAlias = Literal["two-sided", "greater", "less"]
""":data:`reshuffle.inference.significance.ALTERNATIVES`."""

Scheme: TypeAlias = Literal["auto", "iid", "subgroup", "exact"]
""":data:`reshuffle.resampling.schemes.SCHEMES`."""

Stopping: TypeAlias = Literal["besag-clifford", "gandy"]
""":data:`reshuffle.resampling.stopping.STOPPING`."""

Adjustment: TypeAlias = Literal["bonferroni", "holm", "maxt", "minp"]
""":data:`reshuffle.inference.multiplicity.ADJUSTMENTS`."""

Interval: TypeAlias = Literal["percentile", "basic", "normal", "bca", "studentized", "delta", "jackknife", "t"]
""":data:`reshuffle.inference.intervals.INTERVALS`."""

Format: TypeAlias = Literal["text", "json", "csv", "markdown", "latex", "html"]
""":data:`reshuffle.report.FORMATS`."""

SegmentFormat: TypeAlias = Literal["tsv", "jsonl"]
""":data:`reshuffle.report.SEGMENT_FORMATS`."""

CatalogueFormat: TypeAlias = Literal["text", "json", "markdown"]
""":data:`reshuffle.cli.listing.CATALOGUE_FORMATS`."""

InputFormat: TypeAlias = Literal["text", "mteval", "tsv", "jsonl", "conllu"]
""":data:`reshuffle.data.formats.INPUT_FORMATS`."""
