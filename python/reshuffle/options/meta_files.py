"""The files of test sets of meta-evaluations."""

# Annotations are evaluated here, unlike elsewhere.

from collections.abc import Mapping
from typing import Annotated, ClassVar

from annotated_types import Ge
from attrs import field, frozen

from .. import types
from .declare import NO_KEY, OF_ALL_SETS, Flag, Kind, Needs
from .files import File, Measured, OfSystems, OneFile, Reading, References
from .groups import PYTHON


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class ScoredOutputs(Measured):
    """What metrics score, and their scores. ``systems`` in a list are files and folders."""

    TITLE: ClassVar[str] = "Input"

    references: References = ()
    """One or several references of each segment. --ref FILE adds one; --refs takes all files up to the next option."""
    systems: Annotated[OfSystems, Flag(metavar="DIR|FILE", greedy=("--systems",))] = ()
    """Output files, or folders with one for each system. Those that no one judged are left out."""
    metric_scores: Annotated[Mapping[str, File], PYTHON] = field(factory=dict)
    """A file of each metric from another program."""
    score_files: Annotated[
        tuple[File, ...], Flag(("--metric-scores",), "[NAME=]FILE", greedy=("--metric-scores",))
    ] = ()
    """Scores of a metric that another program computed. In the formats of --human; FILE#NAME names the column or
    metric, by default the one called NAME. FILE alone: all metrics in it.
    """
    lower_is_better: Annotated[tuple[str, ...], Flag(metavar="NAME")] = ()
    """For the --metric-scores called NAME, lower is better; human stands for --human."""
    manifest: Annotated[str | None, Flag(metavar="FILE"), NO_KEY] = None
    """A JSON or TOML file with several test sets. Its form: {'sets': {NAME: {'judgments': FILE, 'references': FILE,
    'systems': DIR}}}. The other keys are options of this command, with _ for -, and of metrics.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class MetaFiles(Reading, ScoredOutputs):
    """The files of a test set of a meta-evaluation: what people said, too, and how files of scores are read."""

    TITLE: ClassVar[str] = "People"

    judgments: OneFile = None
    """Votes between pairs of outputs. From a .rank file of WMT's metrics task, or WMT's CSV of rankings."""
    judgments_format: Annotated[
        types.JudgmentFormat | str | None,
        Flag(metavar="FORMAT"),
        Kind(noun="format of judgments"),
        Needs(("judgments",)),
    ] = None
    """{names}. By default by the first line."""
    human: OneFile = None
    """Human scores (DA, MQM ...) of segments or systems. From a table with a header (TSV, CSV), JSON lines, or
    mt-metrics-eval's *.seg.score and *.sys.score. FILE#NAME names the column or metric.
    """
    human_format: Annotated[
        types.ScoreFormat | str | None, Flag(metavar="FORMAT"), Kind(noun="format of scores"), Needs(("human",))
    ] = None
    """{names}. By default by name and first line."""
    columns: Annotated[Mapping[types.ScoreColumn, str], Flag(metavar="WHAT=HEADER")] = field(factory=dict)
    """For tables of scores: what columns with unusual headers hold, as in system=SYS score=MQM. WHAT is {names}."""
    sysmap: OneFile = None
    """The name of the output for each id of a system: id, tab, name on each line. Ids that are not in it are names of
    outputs.
    """
    language_pair: Annotated[str | None, Flag(metavar="NAME")] = None
    """Read the rows of this language pair, such as cs-en (in WMT's CSV of 2008: of this task)."""
    test_set: Annotated[str | None, Flag(metavar="NAME")] = None
    """In tables with several test sets: read this one."""
    segment_base: Annotated[int | None, Ge(0)] = None
    """The number of the first segment in files of judgments and scores. By default by format, mostly 1."""
    repeats: Annotated[types.Repeats | str, Kind(noun="value of --repeats"), OF_ALL_SETS] = "net"
    """Several votes on the same two outputs: net (one vote, that of the majority) or all (every vote counts)."""
    missing_systems: Annotated[types.MissingSystems | str, Kind(noun="value of --missing-systems"), OF_ALL_SETS] = (
        "error"
    )
    """For judged systems without an output: error, or drop to leave out their judgments."""
