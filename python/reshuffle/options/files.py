"""The files of test sets: options of commands, and keys of manifests.

A command line fills the record of its command. A test set of a manifest is the same record with other values.
"""

# Annotations are evaluated here, unlike elsewhere.

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from attrs import field, frozen
from typing_extensions import Doc

from .. import types
from .declare import FILE, NO_KEY, SIZE, Flag, Kind, Options
from .groups import PYTHON

File = Annotated[str, FILE]
# A file for each system: by the systems' names, or in a list.
OfSystems = Mapping[str, File] | tuple[File, ...]
# A name and files, or other words.
Words = tuple[str, ...]
# The largest size of a file after decompression, in bytes.
MAX_INPUT = 4 << 30


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Outputs(Options):
    """Systems with one output each. Without references, the first ``scores`` name the systems."""

    TITLE: ClassVar[str] = "Input"

    references: Annotated[
        tuple[File, ...],
        Flag(("--ref", "--refs"), "FILE", greedy=("--refs",)),
        Doc("More references; --refs takes all files up to the next option."),
    ] = ()
    systems: Annotated[OfSystems, PYTHON, Doc("The output of each system.")] = ()
    scores: Annotated[
        Mapping[str, OfSystems],
        Flag(("--scores",), "NAME FILE", greedy=("--scores",)),
        Doc(
            """Segment scores of another metric (COMET, human ratings): a FILE for each SYS, named like it; or one for
            all, a table (.tsv, .csv) or a file of comet-score. Without REF and SYS, each FILE is a system."""
        ),
    ] = field(factory=dict)


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Reading(Options):
    """How files are read."""

    TITLE: ClassVar[str] = "Input"

    input_format: Annotated[
        types.InputFormat | str | None,
        Flag(metavar="FORMAT"),
        Kind(noun="input format"),
        Doc("{names}. By default by file extension."),
    ] = None
    max_input: Annotated[
        int,
        SIZE,
        NO_KEY,
        Doc("Largest size of a compressed file after decompression. By default 4GiB."),
    ] = MAX_INPUT


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Files(Options):
    """What goes with the outputs of a test set, and the metrics on them: None if none were chosen."""

    TITLE: ClassVar[str] = "Input"

    metrics: Annotated[tuple[Any, ...] | None, PYTHON, Doc("The metrics on texts.")] = None
    metric_options: Annotated[Mapping[str, Any], PYTHON, NO_KEY, Doc("Options of metrics, for all that have them.")] = (
        field(factory=dict)
    )
    by_position: Annotated[
        bool, NO_KEY, Doc("The files of --scores, or the systems in one, are in the order of SYS.")
    ] = False
    lower_is_better: Annotated[
        tuple[str, ...], Flag(metavar="NAME"), Doc("For the --scores called NAME, lower is better.")
    ] = ()
    parses: Annotated[
        tuple[File, ...],
        Flag(metavar="FILE", greedy=("--parses",)),
        Doc("For depf beside other metrics: CoNLL-U of references, then every SYS."),
    ] = ()
    documents: Annotated[
        File | None,
        Flag(("--docs",), "FILE"),
        Doc("Document ids, one per segment (text, FILE#NAME or mteval): resample whole documents."),
    ] = None
    strata: Annotated[
        File | None, Flag(metavar="FILE"), Doc("Stratum ids, one per segment: draw within strata in the bootstrap.")
    ] = None


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
        Doc("For samples that some logs lack (--scores of inspect_ai, lm-eval or Pearmut): error, or drop."),
    ] = "error"


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class SetFiles(Incomplete, Reading, Files, Outputs):
    """The files of a test set of a comparison."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Unstratified(SetFiles):
    """The files of a test set that has no strata: of studies."""

    documents: Annotated[
        File | None,
        Flag(("--docs",), "FILE"),
        Doc("Document ids, one per segment (text, FILE#NAME or mteval): sample and resample whole documents."),
    ] = None
    strata: Annotated[File | None, Flag(hidden=True), Doc("Without a use here.")] = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class FlipFiles(Unstratified):
    """The files of :func:`reshuffle.flips`."""

    documents: Annotated[
        File | None,
        Flag(("--docs",), "FILE"),
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
            """A JSON or TOML file with several test sets: {'sets': {NAME: {'references': FILE, 'systems': {NAME: FILE,
            ...}}}}. Test sets may also have scores, documents, strata, metrics and metric options."""
        ),
    ] = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class DevFiles(Options):
    """What is known of the runs on a development set: their outputs, or for each system and metric their scores."""

    references: Annotated[tuple[File, ...], PYTHON, Doc("The references.")] = ()
    systems: Annotated[Mapping[str, tuple[File, ...]], PYTHON, Doc("The outputs, in the order of the runs.")] = field(
        factory=dict
    )
    scores: Annotated[Mapping[str, Mapping[str, tuple[float, ...]]], PYTHON, Doc("The score of each run.")] = field(
        factory=dict
    )


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class RunFiles(Reading, Files):
    """The files of systems with several runs each. Without references, those of one of the ``scores``."""

    references: Annotated[
        tuple[File, ...],
        Flag(("--ref", "--refs"), "FILE", greedy=("--refs",)),
        Doc("References: several files are several references of each segment."),
    ] = ()
    systems: Annotated[Mapping[str, tuple[File, ...]], PYTHON, Doc("The outputs of each system's runs.")] = field(
        factory=dict
    )
    baseline: Annotated[str, PYTHON, Doc("The name of a system.")] = ""
    scores: Annotated[
        Mapping[str, Mapping[str, tuple[File, ...]]],
        Flag(("--scores",), "NAME FILE", greedy=("--scores",)),
        Doc(
            """Segment scores of another metric (COMET, human ratings): one FILE per run, named like its output, with a
            number per segment, or one for all runs. Without --refs, the FILEs of --baseline and --system have the
            scores, and --scores NAME names the metric."""
        ),
    ] = field(factory=dict)
    by_position: Annotated[
        bool, NO_KEY, Doc("The files of --scores, or the runs in one, are in the order of --baseline and --system.")
    ] = False
    parses: Annotated[
        tuple[File, ...],
        Flag(metavar="FILE", greedy=("--parses",)),
        Doc("CoNLL-U parses of all references and then of the output of each run, for depf."),
    ] = ()
    dev: Annotated[DevFiles, PYTHON, Doc("The development set.")] = DevFiles()


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class RunOutputs(Options):
    """The outputs of runs as a command line names them. A manifest says the same as :class:`RunFiles`."""

    TITLE: ClassVar[str] = "Input"

    baseline: Annotated[
        tuple[File, ...],
        Flag(metavar="FILE", greedy=("--baseline",)),
        Doc("The outputs of the baseline's runs, one FILE per run."),
    ] = ()
    systems: Annotated[
        tuple[Words, ...],
        Flag(("--system",), "[NAME] FILE", greedy=("--system",), noun="word"),
        Doc("A system's runs; repeatable. Without NAME, new.0 new.1 are called new."),
    ] = ()
    baseline_name: Annotated[str, Flag(metavar="NAME"), Doc("The name of the baseline in reports.")] = "baseline"
    manifest: Annotated[
        str | None,
        Flag(metavar="FILE"),
        Doc(
            """A JSON or TOML file instead of these options: {'references': FILE, 'systems': {NAME: [FILE, ...], ...},
            'baseline': NAME}, perhaps with dev (references, systems, scores), scores, metrics, documents, strata."""
        ),
    ] = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class DevOutputs(Options):
    """The outputs of the same runs on a development set, or their scores there."""

    TITLE: ClassVar[str] = "Development set"

    dev_refs: Annotated[
        tuple[File, ...],
        Flag(metavar="FILE", greedy=("--dev-refs",)),
        Doc("References of the development set, for the standard deviation of its scores (s_dev)."),
    ] = ()
    dev_baseline: Annotated[
        tuple[File, ...],
        Flag(metavar="FILE", greedy=("--dev-baseline",)),
        Doc("The outputs of the baseline's runs on it, in the same order as --baseline."),
    ] = ()
    dev_systems: Annotated[
        tuple[Words, ...],
        Flag(("--dev-system",), "NAME FILE", greedy=("--dev-system",), noun="word"),
        Doc("The same for a system."),
    ] = ()
    dev_scores: Annotated[
        tuple[Words, ...],
        Flag(metavar="SYSTEM METRIC VALUE", greedy=("--dev-scores",), noun="word"),
        Doc("The score of each run on the development set, instead of --dev-refs and outputs."),
    ] = ()


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class GivenRuns(DevOutputs, RunOutputs):
    """The outputs of runs on a test set, and perhaps on a development set."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class MetaFiles(Options):
    """The files of a test set of a meta-evaluation: outputs, references and people's judgments.

    ``systems`` in a list are files and folders. ``repeats`` and ``missing_systems`` are None for what the command line
    says.
    """

    references: Annotated[tuple[File, ...], PYTHON, Doc("The references.")] = ()
    systems: Annotated[OfSystems, PYTHON, Doc("The outputs.")] = ()
    judgments: Annotated[File | None, PYTHON, Doc("A file of votes.")] = None
    judgments_format: Annotated[str | None, PYTHON, Doc("Its format.")] = None
    human: Annotated[File | None, PYTHON, Doc("A file of human scores; FILE#NAME is a column or metric of it.")] = None
    human_format: Annotated[str | None, PYTHON, Doc("Its format.")] = None
    columns: Annotated[Mapping[types.ScoreColumn, str], PYTHON, Doc("Headers of columns of scores.")] = field(
        factory=dict
    )
    sysmap: Annotated[File | None, PYTHON, Doc("A file with the name of the output for each id.")] = None
    language_pair: Annotated[str | None, PYTHON, Doc("Which rows of the files to read.")] = None
    test_set: Annotated[str | None, PYTHON, Doc("Which rows of the files to read.")] = None
    segment_base: Annotated[int | None, PYTHON, Doc("The number of the first segment.")] = None
    repeats: Annotated[str | None, PYTHON, Doc("What several votes on the same outputs count.")] = None
    missing_systems: Annotated[str | None, PYTHON, Doc("What to do with systems without an output.")] = None
    metric_scores: Annotated[Mapping[str, File], PYTHON, Doc("A file of each metric from another program.")] = field(
        factory=dict
    )
    score_files: Annotated[tuple[File, ...], PYTHON, Doc("Files of which all metrics are read.")] = ()
    lower_is_better: Annotated[tuple[str, ...], PYTHON, Doc("Metrics for which lower is better.")] = ()
    metrics: Annotated[tuple[Any, ...] | None, PYTHON, Doc("Metrics on texts.")] = None
    input_format: Annotated[str | None, PYTHON, Doc("The format of the texts.")] = None
    metric_options: Annotated[Mapping[str, Any], PYTHON, NO_KEY, Doc("Options of metrics, for all that have them.")] = (
        field(factory=dict)
    )


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class ListFiles(Reading):
    """The files of k-best lists, their references, and the weights that score the entries."""

    nbest: Annotated[
        tuple[File, ...],
        Flag(metavar="NBEST", greedy=("--nbest",)),
        Doc("The lists. Several files are lists of the same sentences, which are joined."),
    ] = ()
    samples: Annotated[
        tuple[File, ...],
        Flag(metavar="FILE", greedy=("--samples",)),
        Doc(
            """Instead of --nbest: plain text. One file has --per-sentence lines for each sentence, one sentence after
            another; of several files, line i of each belongs to sentence i."""
        ),
    ] = ()
    per_sentence: Annotated[
        int | None, Flag(metavar="K"), Doc("For one file of --samples: how many lines each sentence has.")
    ] = None
    references: Annotated[
        tuple[File, ...],
        Flag(("--ref", "--refs"), "REF", greedy=("--refs",)),
        Doc(
            """The references. --ref REF adds one; --refs takes all files up to the next option. Several files are
            several references of each segment."""
        ),
    ] = ()
    model: Annotated[
        File | None,
        Flag(metavar="FILE"),
        Doc(
            """Weights of features, which give each entry a model score: lines 'name value' or 'name= value ...', JSON,
            moses.ini or init.opt. By default entries have no model scores, and the first is the 1-best."""
        ),
    ] = None
    totals: Annotated[bool, Doc("Use the decoder's own totals, the column after the features, as model scores.")] = (
        False
    )
    first_id: Annotated[int, Doc("The id that lists give to the first sentence. By default 0.")] = 0
