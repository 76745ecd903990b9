"""The files of test sets: options of commands, and keys of manifests.

A command line fills the record of its command. A test set of a manifest is the same record with other values.
"""

# Annotations are evaluated here, unlike elsewhere.

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from attrs import field, frozen
from typing_extensions import Doc

from .. import types
from .declare import FILE, NO_KEY, OF_ALL_SETS, SIZE, Flag, Kind, Options
from .groups import PYTHON

File = Annotated[str, FILE]
# An option that names one file.
OneFile = Annotated[File | None, Flag(metavar="FILE")]
DocumentFile = Annotated[File | None, Flag(("--docs",), "FILE")]
# A file for each system: by the systems' names, or in a list, which may have folders of these files.
OfSystems = Mapping[str, File] | tuple[File, ...]
References = Annotated[tuple[File, ...], Flag(("--ref", "--refs"), "FILE", greedy=("--refs",))]
# A name and files, or other words.
Words = tuple[str, ...]
# The largest size of a file after decompression, in bytes.
MAX_INPUT = 4 << 30


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Measured(Options):
    """The metrics on texts: None if none were chosen."""

    metrics: Annotated[tuple[Any, ...] | None, PYTHON, Doc("The metrics on texts.")] = None
    metric_options: Annotated[Mapping[str, Any], PYTHON, NO_KEY, Doc("Options of metrics, for all that have them.")] = (
        field(factory=dict)
    )


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Outputs(Options):
    """Systems with one output each. Without references, the first ``scores`` name the systems."""

    TITLE: ClassVar[str] = "Input"

    references: Annotated[
        References,
        Doc("More references; --refs takes all files up to the next option."),
    ] = ()
    systems: Annotated[OfSystems, PYTHON, Doc("The output of each system.")] = ()
    scores: Annotated[
        Mapping[str, OfSystems],
        Flag(("--scores",), "NAME FILE", greedy=("--scores",)),
        Doc(
            """Segment scores of another metric (COMET, people), or results of lm-eval, inspect_ai or trec_eval: a FILE
            named like each SYS, a folder of these, or a table (.tsv, .csv, comet-score) for all. Without REF, each
            FILE is a system."""
        ),
    ] = field(factory=dict)
    counts: Annotated[
        Mapping[str, OfSystems],
        Flag(("--counts",), "NAME:FORMULA FILE", greedy=("--counts",)),
        Doc(
            """A metric of your own: a formula of sums of columns, as in CER:"100*edits/chars", and a table for each
            SYS, as for --scores."""
        ),
    ] = field(factory=dict)

    qrels: Annotated[
        OneFile,
        Doc("For --scores nDCG@10 RUN RUN: relevance judgments."),
    ] = None

    @property
    def numbers(self) -> Mapping[str, OfSystems]:
        """The files of scores and of counts of each metric."""
        return {**self.scores, **self.counts}


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Reading(Options):
    """How files are read."""

    TITLE: ClassVar[str] = "Input"

    input_format: Annotated[
        types.InputFormat | str | None,
        Flag(metavar="FORMAT"),
        Kind(noun="input format"),
        OF_ALL_SETS,
        Doc("{names}. By default by file extension."),
    ] = None
    max_input: Annotated[
        int,
        SIZE,
        NO_KEY,
        Doc("Largest size of a compressed file after decompression. By default 4GiB."),
    ] = MAX_INPUT


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Files(Measured):
    """What goes with the outputs of a test set, and the metrics on them."""

    TITLE: ClassVar[str] = "Input"

    by_position: Annotated[bool, NO_KEY, Doc("Match --scores and --counts with SYS by order, not by name.")] = False
    lower_is_better: Annotated[
        tuple[str, ...], Flag(metavar="NAME"), Doc("For --scores or --counts NAME, lower is better.")
    ] = ()
    parses: Annotated[
        tuple[File, ...],
        Flag(metavar="FILE", greedy=("--parses",)),
        Doc("For depf with other metrics: CoNLL-U of references, then of every SYS."),
    ] = ()
    documents: Annotated[
        DocumentFile,
        Doc("Document ids (FILE#NAME, a column of REF, text, mteval): draw documents."),
    ] = None
    strata: Annotated[OneFile, Doc("Stratum ids, one per segment: draw within strata in the bootstrap.")] = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Incomplete(Options):
    """Scores of which some are missing."""

    TITLE: ClassVar[str] = "Input"

    missing: Annotated[
        types.Missing | str,
        Kind(noun="value of --missing"),
        Doc(
            """For missing --scores (empty, NaN, NA, None or null): error, or pairwise to compare two systems on the
            segments that both have."""
        ),
    ] = "error"
    unmatched: Annotated[
        types.Unmatched | str,
        Kind(noun="value of --unmatched"),
        NO_KEY,
        Doc("For samples, problems or queries that some results for --scores lack: error, or drop."),
    ] = "error"


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class SetFiles(Incomplete, Reading, Files, Outputs):
    """The files of a test set of a comparison."""

    source: Annotated[
        OneFile,
        Doc("The source text, for sari and --with-texts."),
    ] = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Unstratified(SetFiles):
    """The files of a test set that has no strata: of studies."""

    documents: Annotated[
        DocumentFile,
        Doc("Document ids, one per segment (text, FILE#NAME or mteval): sample and resample whole documents."),
    ] = None
    strata: Annotated[File | None, Flag(hidden=True), Doc("Does not apply.")] = None
    source: Annotated[OneFile, Doc("The source text, for sari.")] = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class WatchFiles(Unstratified):
    """The files of :func:`reshuffle.watch`."""

    documents: Annotated[
        DocumentFile, Doc("Document ids (FILE#NAME, a column of REF, text, mteval): documents are the units.")
    ] = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class HumanFiles(WatchFiles):
    """The files of :func:`reshuffle.human`."""

    scores: Annotated[
        Mapping[str, OfSystems],
        Flag(("--scores",), "NAME FILE", greedy=("--scores",)),
        Doc(
            """Labels, missing (empty, NaN, NA, None or null) where there are none, or scores of a metric: a FILE named
            like each SYS, a folder of these, or a table for all. Without REF, each FILE is a system."""
        ),
    ] = field(factory=dict)
    missing: Annotated[types.Missing | str, Flag(hidden=True), Doc("Segments without labels are meant.")] = "pairwise"
    strata: Annotated[
        OneFile, Doc("Stratum ids, one per segment: labels are a random sample of each stratum, in any proportions.")
    ] = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class FlipFiles(Unstratified):
    """The files of :func:`reshuffle.flips`."""

    documents: Annotated[
        DocumentFile,
        Doc("Document ids, one per segment (text, FILE#NAME or mteval): compare documents instead of segments."),
    ] = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Sets(Options):
    """Several test sets."""

    TITLE: ClassVar[str] = "Input"

    sets: Annotated[
        Mapping[str, tuple[File, ...]],
        Flag(("--set",), "NAME REF SYS", greedy=("--set",), noun="word"),
        Doc(
            """A test set, instead of REF and SYS; repeat the option for each. Systems must have the same names in all
            test sets."""
        ),
    ] = field(factory=dict)
    manifest: Annotated[
        str | None,
        Flag(metavar="FILE"),
        Doc(
            """A JSON or TOML file with several test sets. Its form: {'sets': {NAME: {'references': FILE, 'systems':
            {NAME: FILE, ...}}}}. Test sets may also have scores, documents, strata, metrics and metric options."""
        ),
    ] = None
