"""The files of systems with several runs each, on a test set and perhaps on a development set."""

# Annotations are evaluated here, unlike elsewhere.

from collections.abc import Mapping
from typing import Annotated, ClassVar

from attrs import field, frozen

from .declare import NO_KEY, Excludes, Flag, Options
from .files import File, Files, Reading, References, Words
from .groups import PYTHON

# A file for each run: by the systems' names, or in the order of all runs. One file may have the scores of all runs.
OfRuns = Mapping[str, tuple[File, ...]] | tuple[File, ...]


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class DevFiles(Options):
    """What is known of the runs on a development set: their outputs, or for each system and metric their scores."""

    references: Annotated[tuple[File, ...], PYTHON] = ()
    """The references."""
    systems: Annotated[Mapping[str, tuple[File, ...]], PYTHON] = field(factory=dict)
    """The outputs, in the order of the runs."""
    scores: Annotated[Mapping[str, Mapping[str, tuple[float, ...]]], PYTHON] = field(factory=dict)
    """The score of each run."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class RunFiles(Reading, Files):
    """The files of systems with several runs each. Without references, those of one of the ``scores`` or ``counts``."""

    references: References = ()
    """One or several references of each segment, a file for each."""
    systems: Annotated[Mapping[str, tuple[File, ...]], PYTHON] = field(factory=dict)
    """The outputs of each system's runs."""
    baseline: Annotated[str, PYTHON] = ""
    """The name of a system."""
    scores: Annotated[Mapping[str, OfRuns], Flag(("--scores",), "NAME FILE", greedy=("--scores",))] = field(
        factory=dict
    )
    """Segment scores of another metric (COMET, human ratings), higher is better: one FILE per run, named like its
    output, with a number per segment, or one for all runs. Without --refs, the FILEs of --baseline and --system have
    the scores, and --scores NAME names the metric.
    """
    counts: Annotated[Mapping[str, OfRuns], Flag(("--counts",), "NAME:FORMULA FILE", greedy=("--counts",))] = field(
        factory=dict
    )
    """A formula of sums of columns, as in CER:"100*edits/chars", and a table for each run."""
    by_position: Annotated[bool, NO_KEY] = False
    """Match --scores and --counts with runs by order, not by name."""
    parses: Annotated[tuple[File, ...], Flag(metavar="FILE", greedy=("--parses",))] = ()
    """For depf: CoNLL-U of all references, then of the output of each run."""
    dev: Annotated[DevFiles, PYTHON] = DevFiles()
    """The development set."""


# What options of a command line say, and a manifest says with these keys of its own.
NO_SYSTEMS, NO_BASELINE, NO_DEV = (
    Excludes(("manifest",), f"use the key '{key}' of the manifest") for key in ("systems", "baseline", "dev")
)


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class RunOutputs(Options):
    """The outputs of runs as a command line names them. A manifest says the same as :class:`RunFiles`."""

    TITLE: ClassVar[str] = "Input"

    baseline: Annotated[tuple[File, ...], Flag(metavar="FILE", greedy=("--baseline",)), NO_SYSTEMS] = ()
    """The baseline's runs, a FILE each; or a system's name."""
    systems: Annotated[
        tuple[Words, ...], Flag(("--system",), "[NAME] FILE", greedy=("--system",), noun="word"), NO_SYSTEMS
    ] = ()
    """A system's runs; repeatable. Without NAME, new.0 new.1 are called new."""
    baseline_name: Annotated[str, Flag(metavar="NAME"), NO_BASELINE] = "baseline"
    """The name of the baseline in reports."""
    manifest: Annotated[str | None, Flag(metavar="FILE")] = None
    """A JSON or TOML file instead of these options: {'references': FILE, 'systems': {NAME: [FILE, ...], ...},
    'baseline': NAME}, perhaps with dev (references, systems, scores), scores, metrics, documents, strata.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class DevOutputs(Options):
    """The outputs of the same runs on a development set, or their scores there."""

    TITLE: ClassVar[str] = "Development set"

    dev_refs: Annotated[tuple[File, ...], Flag(metavar="FILE", greedy=("--dev-refs",)), NO_DEV] = ()
    """References of the development set, for the standard deviation of its scores (s_dev)."""
    dev_baseline: Annotated[tuple[File, ...], Flag(metavar="FILE", greedy=("--dev-baseline",)), NO_DEV] = ()
    """The outputs of the baseline's runs on it, in the same order as --baseline."""
    dev_systems: Annotated[
        tuple[Words, ...], Flag(("--dev-system",), "NAME FILE", greedy=("--dev-system",), noun="word"), NO_DEV
    ] = ()
    """The same for a system."""
    dev_scores: Annotated[
        tuple[Words, ...], Flag(metavar="SYSTEM METRIC VALUE", greedy=("--dev-scores",), noun="word"), NO_DEV
    ] = ()
    """The score of each run on the development set. Use this instead of --dev-refs and outputs."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class GivenRuns(DevOutputs, RunOutputs):
    """The outputs of runs on a test set, and perhaps on a development set."""
