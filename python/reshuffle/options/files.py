"""The files of test sets: options of commands, and keys of manifests.

A command line fills the record of its command. A test set of a manifest is the same record with other values.
"""

# Annotations are evaluated here, unlike elsewhere.

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from attrs import field, frozen

from .. import types
from ..validate import MAX_INPUT
from .declare import FILE, NO_KEY, OF_ALL_SETS, SIZE, Excludes, Flag, Kind, Needs, Options
from .groups import PYTHON

File = Annotated[str, FILE]
# An option that names one file.
OneFile = Annotated[File | None, Flag(metavar="FILE")]
DocumentFile = Annotated[File | None, Flag(("--docs",), "FILE")]
# A file for each system: by the systems' names, or in a list, which may have folders of these files.
OfSystems = Mapping[str, File] | tuple[File, ...]
ScoreFiles = Annotated[Mapping[str, OfSystems], Flag(("--scores",), "NAME FILE", greedy=("--scores",))]
References = Annotated[tuple[File, ...], Flag(("--ref", "--refs"), "FILE", greedy=("--refs",))]
# A name and files, or other words.
Words = tuple[str, ...]


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Measured(Options):
    """The metrics on texts: None if none were chosen."""

    metrics: Annotated[tuple[Any, ...] | None, PYTHON] = None
    """The metrics on texts."""
    metric_options: Annotated[Mapping[str, Any], PYTHON, NO_KEY] = field(factory=dict)
    """Options of metrics, for all that have them."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Outputs(Options):
    """Systems with one output each. Without references, the first ``scores`` name the systems."""

    TITLE: ClassVar[str] = "Input"

    references: References = ()
    """More references; --refs takes all files up to the next option."""
    systems: Annotated[OfSystems, PYTHON] = ()
    """The output of each system."""
    scores: ScoreFiles = field(factory=dict)
    """Segment scores (COMET, people, lm-eval ...): a FILE for each SYS, or a table (.tsv, .csv) for all, or results of
    lm-eval, inspect_ai or trec_eval. A FILE is named like its SYS; the files may be in a folder. Higher is better
    unless --lower-is-better NAME. Without REF, each FILE is a system; so is each folder, with a file for each of
    several test sets.
    """
    counts: Annotated[Mapping[str, OfSystems], Flag(("--counts",), "NAME:FORMULA FILE", greedy=("--counts",))] = field(
        factory=dict
    )
    """A metric of your own: a formula of sums of columns, as in CER:"100*edits/chars", and a table for each SYS, as for
    --scores.
    """

    qrels: Annotated[OneFile, Needs(("scores",), "name a measure, such as nDCG@10, and its runs")] = None
    """For --scores nDCG@10 RUN RUN: relevance judgments."""

    @property
    def numbers(self) -> Mapping[str, OfSystems]:
        """The files of scores and of counts of each metric."""
        return {**self.scores, **self.counts}


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Reading(Options):
    """How files are read."""

    TITLE: ClassVar[str] = "Input"

    input_format: Annotated[
        types.InputFormat | str | None, Flag(metavar="FORMAT"), Kind(noun="input format"), OF_ALL_SETS
    ] = None
    """{names}. By default by file extension."""
    max_input: Annotated[int, SIZE, NO_KEY] = MAX_INPUT
    """Largest size of a compressed file, decompressed. By default 4GiB."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Files(Measured):
    """What goes with the outputs of a test set, and the metrics on them."""

    TITLE: ClassVar[str] = "Input"

    by_position: Annotated[bool, NO_KEY, Needs(("scores", "counts"), "texts are always matched by position")] = False
    """Match --scores and --counts with SYS by order, not by name."""
    lower_is_better: Annotated[tuple[str, ...], Flag(metavar="NAME")] = ()
    """Lower is better under these --scores or --counts: errors, losses, times."""
    parses: Annotated[tuple[File, ...], Flag(metavar="FILE", greedy=("--parses",))] = ()
    """CoNLL-U for depf with other metrics: of the references, then of every SYS."""
    documents: DocumentFile = None
    """Document of each segment, to draw whole documents. FILE, FILE#COLUMN, a column of REF, or speaker: that in the
    ids of transcripts.
    """
    strata: OneFile = None
    """Stratum ids, one per segment: draw within strata in the bootstrap."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Incomplete(Options):
    """Scores of which some are missing."""

    TITLE: ClassVar[str] = "Input"

    missing: Annotated[
        types.Missing | str,
        Kind(noun="value of --missing"),
        OF_ALL_SETS,
        Needs(("scores",), "other metrics have no missing scores"),
    ] = "error"
    """For missing --scores (empty, NaN, NA, None or null): error, or pairwise to compare two systems on the segments
    that both have.
    """
    unmatched: Annotated[
        types.Unmatched | str,
        Kind(noun="value of --unmatched"),
        NO_KEY,
        Needs(("scores",), "texts are matched by position"),
    ] = "error"
    """For segments that some files of --scores lack: samples of logs, queries of runs, or rows with ids (a column or
    key such as id): error, or drop.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class SetFiles(Incomplete, Reading, Files, Outputs):
    """The files of a test set of a comparison."""

    source: OneFile = None
    """The source text, for sari and --include texts."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Unstratified(SetFiles):
    """The files of a test set that has no strata: of studies."""

    documents: DocumentFile = None
    """Document of each segment, to sample whole documents. FILE, FILE#COLUMN, a column of REF, or speaker: that in the
    ids of transcripts.
    """
    strata: Annotated[File | None, Flag(hidden=True)] = None
    """Does not apply."""
    source: OneFile = None
    """The source text, for sari."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class WatchFiles(Unstratified):
    """The files of :func:`reshuffle.watch`."""

    documents: DocumentFile = None
    """Document of each segment; documents are then units. FILE, FILE#COLUMN or a column of REF."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class HumanFiles(WatchFiles):
    """The files of :func:`reshuffle.human`."""

    scores: ScoreFiles = field(factory=dict)
    """Labels (empty, NaN, NA, None or null where there are none) or scores of a metric: a FILE named like each SYS, a
    folder of these, or a table for all. Without REF, each FILE is a system.
    """
    missing: Annotated[types.Missing | str, Flag(hidden=True)] = "pairwise"
    """Segments without labels are meant."""
    strata: OneFile = None
    """Stratum ids, one per segment: labels are a random sample of each stratum, in any proportions."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class FlipFiles(Unstratified):
    """The files of :func:`reshuffle.flips`."""

    documents: DocumentFile = None
    """Document of each segment, to compare whole documents. FILE, FILE#COLUMN or speaker."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Sets(Options):
    """Several test sets."""

    TITLE: ClassVar[str] = "Input"

    sets: Annotated[
        Mapping[str, tuple[File, ...]],
        Flag(("--set",), "NAME REF SYS", greedy=("--set",), noun="word"),
        Excludes(("manifest",), "put all test sets into the manifest"),
    ] = field(factory=dict)
    """A test set, instead of REF and SYS; repeat the option for each. Systems must have the same names in all test
    sets.
    """
    manifest: Annotated[str | None, Flag(metavar="FILE")] = None
    """A JSON or TOML file with several test sets. Its form: {'sets': {NAME: {'references': FILE, 'systems': {NAME:
    FILE, ...}}}}. Test sets may also have scores, documents, strata, metrics and metric options.
    """
