"""The registries of coefficients of agreement, and of tests between metrics. Entries are in ``coefficients.toml``.

A coefficient says how well the scores of a metric agree with human judgments. At segment level people compared pairs
of outputs (votes) or scored them (a matrix systems × segments, in which cells may be missing). At system level there is
one human score for each system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..documented import record
from ..toml import loads

SEGMENT, SYSTEM = "segment", "system"


@dataclass(frozen=True)
class Coefficient:
    """An entry of :data:`COEFFICIENTS`."""

    name: str
    """The name that users type, the name in reports, a description, and the ACL id or DOI of the paper."""
    title: str
    about: str
    source: str
    levels: Sequence[str]
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
    replicates: str | None = None
    """None for a test in closed form."""
    unit: str = "systems"
    """What is swapped between two metrics, drawn or, in closed form, compared: ``both``, ``inputs`` or ``systems``."""


_TABLES = loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))

COEFFICIENTS: Mapping[str, Coefficient] = {
    name: Coefficient(name, **entry) for name, entry in _TABLES["coefficient"].items()
}
TESTS: Mapping[str, MetaTest] = {name: MetaTest(name, **entry) for name, entry in _TABLES["test"].items()}
