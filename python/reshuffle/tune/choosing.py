"""Which entries weights choose, with features of texts, and the outputs that these make: systems to be compared."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..documented import record
from ..errors import Argument, InputError, quoted
from ..lazy import lazy
from ..metrics.base import Counts, Scores
from ..metrics.native import NativeMetric
from ..validate import check_integer
from .lists import NBest, Sparse, gathered

# The name of a feature that a template of :func:`template_features` made.
MADE = re.compile("((?:ngram|presence):[1-9]|phrase|words)=")


def first_best(offsets: NDArray[np.int64], scores: NDArray[np.float64], rounding: float = 0.0) -> NDArray[np.int64]:
    """The first row with the highest score of each list: (N,). Scores equal the highest up to a share of it.

    >>> first_best(np.array([0, 3, 5]), np.array([1.0, 2.0, 2.0, 0.0, 5.0])).tolist()
    [1, 4]
    """
    best = np.maximum.reduceat(scores, offsets[:-1])
    rows = np.flatnonzero(scores >= np.repeat(best - rounding * np.abs(best), np.diff(offsets)))
    _, first = np.unique(np.searchsorted(offsets, rows, "right"), return_index=True)
    found: NDArray[np.int64] = rows[first]
    return found


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
        The number of lists in which the values of a feature must differ between entries. Others are left out.
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


def check_features(lists: NBest, names: Sequence[str], other: str) -> None:
    """Raise :class:`InputError` unless the lists have the dense features ``names``, which are those of ``other``."""
    known = set(lists.names)
    missing = next((name for name in names if name not in known), None)
    if missing is not None:
        raise InputError(f"{lists.source}: no feature {quoted(missing)}, which {other} has")
    wanted = set(names)
    extra = next((name for name in lists.names if name not in wanted), None)
    if extra is not None:
        raise InputError(f"{lists.source}: the feature {quoted(extra)} is not in {other}: it has no weight")


class Model(Protocol):
    """What chooses entries: weights of features."""

    @property
    def weights(self) -> Mapping[str, float]:
        """The weight of each feature; 0 for others."""
        ...

    def choose(self, lists: NBest, sources: Sequence[str] | None = None) -> NDArray[np.int64]:
        """The entry of each sentence with the highest score, the first of equals: (N,) numbers of rows."""
        ...


@record(slots=False, eq=False)
class LinearModel:
    """A weight for each feature of lists.

    Examples
    --------
    >>> from pathlib import Path
    >>> from reshuffle import tune
    >>> _ = Path("dev.nbest").write_text("0 ||| a b ||| lm= -1\\n0 ||| a c ||| lm= -2\\n")
    >>> lists = tune.read_nbest("dev.nbest")
    >>> model = tune.LinearModel({"lm": 1.0, "ngram:1=c": 1.5})
    >>> model.scores(lists).tolist(), lists.hypotheses(model.choose(lists))
    ([-1.0, -0.5], ['a c'])
    >>> Path("dev.nbest").unlink()
    """

    weights: Mapping[str, float]
    """Names as ``ngram:2=a b`` are features that :func:`reshuffle.tune.template_features` makes."""

    def scores(self, lists: NBest, sources: Sequence[str] | None = None) -> NDArray[np.float64]:
        """The weighted sum of the features of each entry: (K,). Features that the lists lack are 0.

        Sums are taken in the order of the features, so that equal entries have equal scores on any machine.

        Raises
        ------
        InputError
            If sources or alignments that a template needs are missing, or a sum is too large for floating-point
            numbers.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            total = np.zeros(len(lists))
            for i, name in enumerate(lists.names):
                if weight := self.weights.get(name, 0.0):
                    total += weight * lists.dense[:, i]
            for part in (lists.sparse, self._made(lists, sources)):
                if part is not None:
                    total += part.weighted(np.array([self.weights.get(name, 0.0) for name in part.names]))
        if not np.isfinite(total).all():
            entry = int(np.flatnonzero(~np.isfinite(total))[0]) + 1
            raise InputError(
                f"{lists.source}: the weighted features of entry {entry} are too large for floating-point numbers: use "
                "smaller weights"
            )
        return total

    def _made(self, lists: NBest, sources: Sequence[str] | None) -> Sparse | None:
        """The features with weights that templates make, if the lists lack some."""
        own = {*lists.names, *lists.sparse_names}
        made = {name: found[1] for name in self.weights if name not in own and (found := MADE.match(name))}
        if not made:
            return None
        # Without a weight for an n-gram with <s> or </s> these marks change nothing.
        edges = any({"<s>", "</s>"} & set(name.partition("=")[2].split(" ")) for name in made)
        return template_features(lists, [*dict.fromkeys(made.values())], sources=sources, edges=edges, known=[*made])

    def choose(self, lists: NBest, sources: Sequence[str] | None = None) -> NDArray[np.int64]:
        """The entry of each sentence with the highest score, the first of equals: (N,) numbers of rows."""
        return first_best(lists.offsets, self.scores(lists, sources))


@record(slots=False, eq=False)
class Chosen:
    """The entries that each of R runs chooses: one for each of N sentences."""

    lists: tuple[NBest, ...] = field(repr=False)
    """The lists of each run: the same ones, unless each run has decoded."""
    rows: NDArray[np.int64] = field(repr=False)
    """Shape (R, N). Rows of the lists."""
    counts: Counts = field(repr=False)
    """Shape (R, N, T). The counts of the chosen entries under ``metric``: a replicate is a system."""
    metric: NativeMetric

    @lazy
    def scores(self) -> Scores:
        """The score of each run: (R,)."""
        return self.metric.score(self.counts.sum(axis=1))

    def outputs(self) -> list[list[str]]:
        """The output of each run, N hypotheses each: the runs of a system for :func:`reshuffle.compare_runs`."""
        return [lists.hypotheses(rows) for lists, rows in zip(self.lists, self.rows, strict=True)]
