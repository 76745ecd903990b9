"""The files of k-best lists."""

# Annotations are evaluated here, unlike elsewhere.

from typing import Annotated

from attrs import frozen
from typing_extensions import Doc

from .declare import Flag
from .files import File, Reading


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
