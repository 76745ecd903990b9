"""The files of k-best lists."""

# Annotations are evaluated here, unlike elsewhere.

from typing import Annotated, ClassVar

from annotated_types import Ge
from attrs import frozen

from .declare import Excludes, Flag, Needs, Options
from .files import File, OneFile, Reading, References


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Lists(Options):
    """K-best lists and their references."""

    TITLE: ClassVar[str] = "Input"

    nbest: Annotated[tuple[File, ...], Flag(metavar="NBEST", greedy=("--nbest",))] = ()
    """Files of k-best lists. Several files are lists of the same sentences, which are joined."""
    references: References = ()
    """One or several references of each sentence. --ref FILE adds one; --refs takes all files up to the next option."""
    first_id: int = 0
    """The id that lists give to the first sentence. By default 0."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Entries(Options):
    """Samples instead of lists, and the weights that score the entries."""

    TITLE: ClassVar[str] = "Input"

    samples: Annotated[
        tuple[File, ...],
        Flag(metavar="FILE", greedy=("--samples",)),
        Excludes(("nbest",)),
        Excludes(("model", "totals"), "samples have no features and no scores"),
    ] = ()
    """Plain text, instead of --nbest. One file has --per-sentence lines for each sentence, one sentence after another;
    of several files, line i of each belongs to sentence i.
    """
    per_sentence: Annotated[int | None, Flag(metavar="K"), Needs(("samples",))] = None
    """How many lines each sentence has (if --samples is one file)."""
    model: Annotated[OneFile, Excludes(("totals",))] = None
    """Weights of features, for model scores: lines 'name value' or 'name= value ...', JSON, moses.ini or init.opt. By
    default entries have no model scores, and the first is the 1-best.
    """
    totals: bool = False
    """Use the decoder's own totals, the column after the features, as model scores."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Decoding(Options):
    """What makes new lists in each round."""

    TITLE: ClassVar[str] = "Decoder"

    decoder: Annotated[str | None, Flag(metavar="COMMAND"), Excludes(("simulate",))] = None
    """A program that reads weights ('name value' lines) from the file {weights} and writes lists to the file {nbest}:
    'decode.sh {weights} {nbest}'. Without --nbest it also writes the first lists, with the weights of --init.
    """
    simulate: Annotated[File | None, Flag(metavar="NBEST")] = None
    """Large lists instead of a decoder: each round adds their best --size entries under the weights."""
    size: Annotated[int | None, Ge(1), Flag(metavar="K"), Needs(("simulate",))] = None
    """With --simulate: entries per sentence. By default 100."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class HeldOut(Options):
    """Initial weights, and the lists of development and test sets."""

    TITLE: ClassVar[str] = "Input"

    init: OneFile = None
    """Initial weights, whose scores are shown as Start; mert, kbmira and xbleu search from there. Lines 'name value' or
    'name= value ...', JSON, moses.ini, or init.opt of Moses (weights in the order of features, then lower and upper
    limits of random restarts).
    """
    dev: Annotated[tuple[File, ...] | None, Flag(("--dev-set",), "NBEST REF", greedy=("--dev-set",), joined=True)] = (
        None
    )
    """Development lists and their references, for the scores and s_dev. By default those that are tuned on."""
    test: Annotated[
        tuple[File, ...] | None, Flag(("--test-set",), "NBEST REF", greedy=("--test-set",), joined=True)
    ] = None
    """Test lists and their references."""
    sources: OneFile = None
    """The source of each sentence (for the templates phrase and words)."""
    dev_sources: Annotated[OneFile, Needs(("dev",))] = None
    """The same for --dev-set."""
    test_sources: Annotated[OneFile, Needs(("test",))] = None
    """The same for --test-set."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class ListFiles(Reading, Entries, Lists):
    """The files of :func:`reshuffle.tune.oracle` and :func:`reshuffle.tune.mbr`."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class TuneFiles(Decoding, Reading, HeldOut, Lists):
    """The files of :func:`reshuffle.tune.tune`."""
