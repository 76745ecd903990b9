"""Features of entries that templates make."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import _core
from ..errors import Argument, InputError, quoted
from ..validate import check_integer
from .lists import NBest, Sparse, gathered


def template_features(
    lists: NBest,
    templates: Sequence[str],
    *,
    sources: Sequence[str] | None = None,
    edges: bool = False,
    minimum: int = 1,
    known: Sequence[str] | None = None,
) -> Sparse:
    """Sparse features of entries, from templates.

    Parameters
    ----------
    lists : NBest
    templates : sequence of str
        ``ngram:2`` counts bigrams, ``presence:2`` says whether a bigram occurs (orders 1 to 9); ``phrase`` counts the
        phrase pairs that the decoder used, by the alignment of phrases in the lists; ``words`` says whether a word of
        the source and a word of the entry occur.
    sources : sequence of str, optional
        The source of each sentence, for ``phrase`` and ``words``.
    edges : bool
        Put ``<s>`` and ``</s>`` around entries before n-grams are formed.
    minimum : int
        In how many lists a feature must not have the same value for all entries. Others are left out.
    known : sequence of str, optional
        Find these features, in this order, instead of all that occur.

    Returns
    -------
    Sparse
        Features in the order in which they occur first. ``ngram:2=a b`` is the name of a bigram.

    Raises
    ------
    InputError
        If a template is unknown, or sources or alignments are missing or do not fit.

    Notes
    -----
    Takes time and memory in proportion to the values.

    Examples
    --------
    >>> from pathlib import Path
    >>> from reshuffle import tune
    >>> _ = Path("dev.nbest").write_text("0 ||| a b ||| lm= -1\\n0 ||| a c ||| lm= -2\\n")
    >>> tune.template_features(tune.read_nbest("dev.nbest"), ["ngram:1", "ngram:2"]).names
    ['ngram:1=b', 'ngram:2=a b', 'ngram:1=c', 'ngram:2=a c']
    >>> Path("dev.nbest").unlink()
    """
    if isinstance(templates, str):
        raise InputError(f"templates: expected names of templates, got {quoted(templates)}")
    check_integer("minimum", minimum, 1)
    of_sources = [template for template in templates if template in ("phrase", "words")]
    if of_sources and sources is None:
        raise InputError(
            "the template {template} needs the source of each sentence: add {sources}",
            template=of_sources[0],
            sources=Argument("sources", as_flag="--sources FILE"),
        )
    segmentations = lists.alignments(np.arange(len(lists))) if "phrase" in templates else None
    if "phrase" in templates and segmentations is None:
        raise InputError(f"{lists.source}: the template phrase needs lists with an alignment of phrases")
    # Other features are functions of the text, and many entries of a sentence have the same.
    offsets = lists.text_offsets if segmentations is None else lists.offsets
    texts = lists.texts() if segmentations is None else lists.hypotheses(np.arange(len(lists)))
    starts, features, values, names = _core.tune_templates(
        offsets, texts, list(templates), sources=None if sources is None else list(sources),
        segmentations=segmentations, edges=edges, minimum=minimum, known=None if known is None else list(known),
    )  # fmt: skip
    found = Sparse(starts, features, values, names)
    return found if segmentations is not None else gathered(found, lists.text_of)
