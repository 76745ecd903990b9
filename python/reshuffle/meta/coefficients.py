"""The registries of coefficients of agreement, and of tests between metrics.

A coefficient says how well the scores of a metric agree with human judgments. At segment level people compared pairs
of outputs (votes) or scored them (a matrix systems × segments, in which cells may be missing). At system level there is
one human score for each system.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..documented import record

SEGMENT, SYSTEM = "segment", "system"

# How the cells of a matrix are grouped. The value is the mean of the values of the groups.
GROUPINGS: Mapping[str, str] = {
    "none": "all cells are one group",
    "sys": "a group for each system, mean over systems",
    "item": "a group for each segment, mean over segments",
}

# How pairs of outputs to which a metric gives the same score count, in Kendall's tau from votes.
TIES: Mapping[str, str] = {
    "half": "half concordant, half discordant (Chen & Cherry 2014)",
    "discordant": "discordant (WMT 2012)",
    "ignore": "left out (WMT 2013)",
    "denominator": "in the denominator only (WMT 2014), which gives the values of half",
}


@dataclass(frozen=True)
class Coefficient:
    """An entry of :data:`COEFFICIENTS`."""

    name: str
    """The name that users type, the name in reports, a description, and the ACL id or DOI of the paper."""
    title: str
    about: str
    source: str
    levels: tuple[str, ...]
    """``segment``, ``system`` or both."""
    human: str = "scores"
    """What it needs from people at segment level: ``votes`` or ``scores``."""
    ties: str | None = None
    """How tied scores of the metric count if that is not a choice; None where it is (``votes``) or where the
    coefficient has no ties.
    """
    pairs: bool = False
    """Whether it counts pairs of scores, so that a group needs pairs and not a spread."""
    calibrated: bool = False
    """Whether differences up to a calibrated ε count as ties."""


COEFFICIENTS: Mapping[str, Coefficient] = {
    coefficient.name: coefficient
    for coefficient in (
        Coefficient(
            "tau",
            "Kendall's τ",
            "concordant minus discordant votes, as a share of the votes; human ties are left out",
            "W14-3346",
            (SEGMENT,),
            human="votes",
            pairs=True,
        ),
        Coefficient(
            "darr",
            "daRR τ",
            "tau of the pairs of outputs whose human scores differ by at least a minimum",
            "W17-4755",
            (SEGMENT,),
            ties="discordant",
            pairs=True,
        ),
        Coefficient(
            "pearson",
            "Pearson's r",
            "linear correlation",
            "doi:10.1098/rspl.1895.0041",
            (SEGMENT, SYSTEM),
        ),
        Coefficient(
            "spearman",
            "Spearman's ρ",
            "linear correlation of ranks; ties have mean ranks",
            "doi:10.2307/1412159",
            (SEGMENT, SYSTEM),
        ),
        Coefficient(
            "kendall-b",
            "Kendall's τb",
            "concordant minus discordant pairs, corrected for ties",
            "doi:10.1093/biomet/33.3.239",
            (SEGMENT, SYSTEM),
            pairs=True,
        ),
        Coefficient(
            "kendall-c",
            "Kendall's τc",
            "as kendall-b, with Stuart's correction for ties",
            "doi:10.1093/biomet/40.1-2.105",
            (SEGMENT,),
            pairs=True,
        ),
        Coefficient(
            "acc23",
            "accuracy with calibrated ties",
            "share of pairs that the metric orders or ties as people do; a calibrated small difference is a tie",
            "2023.emnlp-main.798",
            (SEGMENT,),
            pairs=True,
            calibrated=True,
        ),
        Coefficient(
            "tau23",
            "τ23",
            "2·acc23 − 1",
            "2023.emnlp-main.798",
            (SEGMENT,),
            pairs=True,
            calibrated=True,
        ),
        Coefficient(
            "accuracy",
            "pairwise accuracy",
            "share of pairs of systems that the metric orders as people do",
            "2021.wmt-1.57",
            (SYSTEM,),
            ties="discordant",
            pairs=True,
        ),
        Coefficient(
            "soft-accuracy",
            "soft pairwise accuracy",
            "1 minus the mean absolute difference between people's and the metric's one-sided p for pairs of systems",
            "2024.wmt-1.118",
            (SYSTEM,),
            pairs=True,
        ),
    )
}


@record
class MetaTest:
    """An entry of :data:`TESTS`."""

    name: str
    """As in :class:`Coefficient`."""
    title: str
    about: str
    source: str
    null: str
    """The null hypothesis."""
    replicates: str | None
    """None for a test in closed form."""
    unit: str | None
    """What is swapped between two metrics, or drawn: cells (system and segment), segments, or systems."""


_PERMUTED = "p from swapping, with probability ½, the standardised scores of two metrics in each"
_DRAWN = "percentile p from drawing, with replacement,"
_DEUTSCH = "doi:10.1162/tacl_a_00417"
_CLUSTERED = "doi:10.1198/jbes.2010.07136"
_SWAPPED = "The scores of the two metrics, on a common scale, are exchangeable"
_EQUAL = "Both metrics agree equally well with people"

TESTS: Mapping[str, MetaTest] = {
    test.name: test
    for test in (
        MetaTest(
            "williams",
            "Williams' test",
            "t test of two dependent correlations; Pearson's r at system level",
            "D14-1020",
            f"{_EQUAL}, where scores of systems are normally distributed.",
            None,
            None,
        ),
        MetaTest(
            "t-both",
            "T-BOTH",
            "t test with the jackknife standard error of systems and segments; values of segments",
            _CLUSTERED,
            f"{_EQUAL} on other systems and segments.",
            None,
            "both",
        ),
        MetaTest(
            "perm-both", "PERM-BOTH", f"{_PERMUTED} cell", _DEUTSCH, f"{_SWAPPED} for each output.", "shuffles", "both"
        ),
        MetaTest(
            "perm-inputs",
            "PERM-INPUTS",
            f"{_PERMUTED} segment",
            _DEUTSCH,
            f"{_SWAPPED} in each segment.",
            "shuffles",
            "inputs",
        ),
        MetaTest(
            "perm-systems",
            "PERM-SYSTEMS",
            f"{_PERMUTED} system",
            _DEUTSCH,
            f"{_SWAPPED} for each system.",
            "shuffles",
            "systems",
        ),
        MetaTest(
            "boot-both",
            "BOOT-BOTH",
            f"{_DRAWN} systems and segments",
            _DEUTSCH,
            f"{_EQUAL} on other systems and segments.",
            "draws",
            "both",
        ),
        MetaTest(
            "boot-inputs",
            "BOOT-INPUTS",
            f"{_DRAWN} segments",
            _DEUTSCH,
            f"{_EQUAL} on other segments.",
            "draws",
            "inputs",
        ),
        MetaTest(
            "boot-systems",
            "BOOT-SYSTEMS",
            f"{_DRAWN} systems",
            _DEUTSCH,
            f"{_EQUAL} on other systems.",
            "draws",
            "systems",
        ),
    )
}
