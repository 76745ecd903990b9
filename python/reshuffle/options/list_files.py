"""The files of k-best lists."""

# Annotations are evaluated here, unlike elsewhere.

from typing import Annotated, ClassVar

from annotated_types import Ge
from attrs import frozen
from typing_extensions import Doc

from .declare import Flag, Options
from .files import File, OneFile, Reading, References


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Lists(Options):
    """K-best lists and their references."""

    TITLE: ClassVar[str] = "Input"

    nbest: Annotated[
        tuple[File, ...],
        Flag(metavar="NBEST", greedy=("--nbest",)),
        Doc("The lists. Several files are lists of the same sentences, which are joined."),
    ] = ()
    references: Annotated[
        References,
        Doc(
            """The references. --ref FILE adds one; --refs takes all files up to the next option. Several files are
            several references of each segment."""
        ),
    ] = ()
    first_id: Annotated[int, Doc("The id that lists give to the first sentence. By default 0.")] = 0


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Entries(Options):
    """Samples instead of lists, and the weights that score the entries."""

    TITLE: ClassVar[str] = "Input"

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
    model: Annotated[
        OneFile,
        Doc(
            """Weights of features, which give each entry a model score: lines 'name value' or 'name= value ...', JSON,
            moses.ini or init.opt. By default entries have no model scores, and the first is the 1-best."""
        ),
    ] = None
    totals: Annotated[bool, Doc("Use the decoder's own totals, the column after the features, as model scores.")] = (
        False
    )


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Decoding(Options):
    """What makes new lists in each round."""

    TITLE: ClassVar[str] = "Decoder"

    decoder: Annotated[
        str | None,
        Flag(metavar="COMMAND"),
        Doc(
            """A program that reads weights ('name value' lines) from the file {weights} and writes lists to the file
            {nbest}: 'decode.sh {weights} {nbest}'. Without --nbest it also writes the first lists, with the weights of
            --init."""
        ),
    ] = None
    simulate: Annotated[
        File | None,
        Flag(metavar="NBEST"),
        Doc("Large lists instead of a decoder: each round adds their best --size entries under the weights."),
    ] = None
    size: Annotated[
        int | None, Ge(1), Flag(metavar="K"), Doc("With --simulate: entries per sentence. By default 100.")
    ] = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class HeldOut(Options):
    """Initial weights, and the lists of development and test sets."""

    TITLE: ClassVar[str] = "Input"

    init: Annotated[
        OneFile,
        Doc(
            """Initial weights, whose scores are shown as Start; mert, kbmira and xbleu search from there. Lines 'name
            value' or 'name= value ...', JSON, moses.ini, or init.opt of Moses (weights in the order of features, then
            lower and upper limits of random restarts)."""
        ),
    ] = None
    dev: Annotated[
        tuple[File, ...] | None,
        Flag(("--dev-set",), "NBEST REF", greedy=("--dev-set",), joined=True),
        Doc(
            """Development lists and their references, for the scores and s_dev. By default those that are tuned
            on."""
        ),
    ] = None
    test: Annotated[
        tuple[File, ...] | None,
        Flag(("--test-set",), "NBEST REF", greedy=("--test-set",), joined=True),
        Doc("Test lists and their references."),
    ] = None
    sources: Annotated[OneFile, Doc("The source of each sentence, for the templates phrase and words.")] = None
    dev_sources: Annotated[OneFile, Doc("The same for --dev-set.")] = None
    test_sources: Annotated[OneFile, Doc("The same for --test-set.")] = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class ListFiles(Reading, Entries, Lists):
    """The files of :func:`reshuffle.tune.oracle` and :func:`reshuffle.tune.mbr`."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class TuneFiles(Decoding, Reading, HeldOut, Lists):
    """The files of :func:`reshuffle.tune.tune`."""
