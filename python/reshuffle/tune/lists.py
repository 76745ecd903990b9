"""``NBest``: k-best lists of a decoder, with their features and the counts of each entry, or lists of plain texts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from ..data.columns import segment_list
from ..data.corpus import reference_columns
from ..data.files import MAX_INPUT, display_name, first_bytes, has_lone_surrogate, read_bytes, read_lines
from ..documented import record
from ..errors import Argument, InputError, listed, quoted
from ..metrics.base import Counts, MetricLike, Scores
from ..metrics.named import resolve
from ..metrics.native import NativeMetric
from ..progress import AnyProgress, reported
from ..validate import check_integer

FORMAT = "id ||| hypothesis ||| features"
MAX_ID = 2**63 - 1


@record(slots=False, eq=False)
class Sparse:
    """Sparse features of K entries, in compressed rows."""

    indptr: NDArray[np.int64]
    """Shape (K + 1,). The first value of each entry, and the number of values."""
    indices: NDArray[np.int32]
    """The feature of each value, in increasing order within an entry."""
    values: NDArray[np.float64]
    """The values. None is 0."""
    names: list[str] = field(repr=False)

    @property
    def rows(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], int]:
        """The rows and the number of features, as the core takes them."""
        return self.indptr, self.indices, self.values, len(self.names)

    def weighted(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The weighted sum of the values of each entry, in the order of the features: (K,)."""
        n = len(self.indptr) - 1
        rows = np.repeat(np.arange(n), np.diff(self.indptr))
        return np.bincount(rows, self.values * weights[self.indices], n).astype(np.float64, copy=False)


def gathered(rows: Sparse, of: NDArray[Any]) -> Sparse:
    """The rows with these numbers."""
    lengths = np.diff(rows.indptr)[of]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    places = np.repeat(rows.indptr[:-1][of] - starts[:-1], lengths) + np.arange(starts[-1])
    return Sparse(starts, rows.indices[places], rows.values[places], rows.names)


def joined(first: Sparse, second: Sparse) -> Sparse:
    """The features of both, row by row."""
    lengths = np.diff(first.indptr), np.diff(second.indptr)
    starts = np.concatenate([[0], np.cumsum(lengths[0] + lengths[1])])
    total = int(starts[-1])
    indices, values = np.empty(total, np.int32), np.empty(total)
    for part, length, begin, shift in (
        (first, lengths[0], starts[:-1], 0), (second, lengths[1], starts[:-1] + lengths[0], len(first.names)),
    ):  # fmt: skip
        places = np.repeat(begin - part.indptr[:-1], length) + np.arange(len(part.values))
        indices[places], values[places] = part.indices + shift, part.values
    return Sparse(starts, indices, values, [*first.names, *second.names])


@record(slots=False, eq=False)
class NBest:
    """K-best lists of N sentences, with K entries in all. :func:`read_nbest` reads them.

    All arrays are read-only, and are those of the core: they take no further memory.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("dev.nbest").write_text("0 ||| a b ||| lm= -1 tm= -2 -3\\n0 ||| a c ||| lm= -2 tm= 0 -1\\n")
    >>> lists = read_nbest("dev.nbest")
    >>> lists.names, lists.dense.tolist()
    (['lm', 'tm_0', 'tm_1'], [[-1.0, -2.0, -3.0], [-2.0, 0.0, -1.0]])
    >>> lists.count("bleu", ["a c"])[:, :4]
    array([[2, 2, 1, 0],
           [2, 2, 2, 1]])
    >>> Path("dev.nbest").unlink()
    """

    core: _core.NBest = field(repr=False)
    source: str = "lists"
    """The file, for messages."""
    first_id: int = 0
    """The id that belongs to the first reference."""
    all_sparse: Sparse | None = field(default=None, repr=False)
    """The sparse features of the file and those that :meth:`with_features` added, if it did."""
    line_by_line: bool = field(default=False, repr=False)
    """Whether entry k is line k + 1 of the file, for messages."""

    @classmethod
    def from_texts(cls, texts: Iterable[Iterable[str]], source: str = "lists") -> NBest:
        """Lists of texts without features, such as samples from a model: those of each sentence.

        Raises
        ------
        InputError
            If there are no sentences, a sentence has no texts, or a text is not a string.

        Examples
        --------
        >>> lists = NBest.from_texts([["a b", "a c", "a b"], ["d"]])
        >>> lists.offsets.tolist(), lists.texts()
        ([0, 3, 4], ['a b', 'a c', 'd'])
        """
        if isinstance(texts, str):
            raise InputError(f"{source}: expected the texts of each sentence, got a single string")
        found = [segment_list(f"{source}, sentence {i}", own) for i, own in enumerate(texts, 1)]
        if not found:
            raise InputError(f"{source}: expected texts of at least one sentence, got none")
        empty = next((i for i, own in enumerate(found, 1) if not own), None)
        if empty is not None:
            raise InputError(f"{source}: sentence {empty} has no texts: expected at least one")
        for i, own in enumerate(found, 1):
            wrong = next((text for text in own if not isinstance(text, str) or has_lone_surrogate(text)), None)
            if wrong is not None or None in own:
                raise InputError(f"{source}, sentence {i}: expected texts in valid Unicode, got {quoted(wrong)}")
        return cls(_core.NBest.of_texts(found), source)

    def __len__(self) -> int:
        return len(self.core)

    @property
    def n_sentences(self) -> int:
        """The number N of sentences."""
        return len(self.core.ids)

    @property
    def ids(self) -> NDArray[np.int64]:
        """The id of each sentence, in increasing order: (N,)."""
        return self.core.ids

    @property
    def offsets(self) -> NDArray[np.int64]:
        """The first entry of each sentence, and K: (N + 1,). No list is empty."""
        return self.core.offsets

    @property
    def names(self) -> list[str]:
        """The names of the F dense features. The values of a feature ``tm`` with several are ``tm_0``, ``tm_1`` …"""
        return self.core.names

    @property
    def dense(self) -> NDArray[np.float64]:
        """The dense features of each entry: (K, F)."""
        return self.core.dense

    @property
    def sparse(self) -> Sparse | None:
        """The sparse features of each entry; None if there are none."""
        if self.all_sparse is not None:
            return self.all_sparse
        names = self.core.sparse_names
        return Sparse(self.core.indptr, self.core.indices, self.core.values, names) if names else None

    @property
    def sparse_names(self) -> list[str]:
        """The names of the sparse features."""
        return [] if self.sparse is None else self.sparse.names

    @property
    def totals(self) -> NDArray[np.float64] | None:
        """The decoder's score of each entry, if the file has it: (K,)."""
        return self.core.totals

    @property
    def text_of(self) -> NDArray[np.int32]:
        """Which distinct hypothesis each entry has, numbered through all sentences: (K,)."""
        return self.core.text_of

    @property
    def text_offsets(self) -> NDArray[np.int64]:
        """The first distinct hypothesis of each sentence, and their number: (N + 1,)."""
        return self.core.text_offsets

    def texts(self) -> list[str]:
        """The distinct hypotheses of each sentence, in the order of :attr:`text_offsets`."""
        return self.core.texts(None)

    def hypothesis(self, row: int) -> str:
        """The hypothesis of an entry."""
        return self.hypotheses([row])[0]

    def hypotheses(self, rows: ArrayLike) -> list[str]:
        """The hypotheses of entries, for example of those that a weight vector chooses."""
        return self.core.hypotheses(_rows(rows))

    def alignments(self, rows: ArrayLike) -> list[str] | None:
        """The column after the decoder's score: in Moses' lists the alignment of phrases, such as ``0-1=0-2 2=3``.

        None if the file has no such column.
        """
        return self.core.column(0, _rows(rows)) if self.core.n_columns > 0 else None

    def count(
        self,
        metric: MetricLike,
        references: Sequence[str] | Sequence[Sequence[str | None]],
        *,
        workers: int | None = None,
        progress: AnyProgress = None,
    ) -> Counts:
        """The counts of each entry. Each distinct hypothesis of a sentence is counted once.

        Parameters
        ----------
        metric : str or Metric
            A metric that counts texts.
        references : N references, or columns of N references each
            Reference i belongs to the sentence with the id i, or ``first_id`` + i.
        workers, progress
            As for :meth:`NativeMetric.suff_stats`.

        Returns
        -------
        (K, T) ndarray of int64

        Raises
        ------
        InputError
            If ids and references do not match; if the metric is not a function of summed counts, or reads parses.
        """
        counting = additive(metric)
        columns = reference_columns(references)
        self.check_references(len(columns[0]) if columns else 0)
        with reported(progress) as watched:
            return counting.counted_lists(self.core, columns, workers, watched)

    def sentence_scores(
        self,
        metric: MetricLike,
        references: Sequence[str] | Sequence[Sequence[str | None]],
        *,
        workers: int | None = None,
        progress: AnyProgress = None,
    ) -> Scores:
        """The score of each entry as a sentence: (K,). Parameters and errors are those of :meth:`count`."""
        counting = additive(metric)
        return counting.segment_scores(self.count(counting, references, workers=workers, progress=progress))

    def check_references(self, n: int, name: str = "the references") -> None:
        """Raise :class:`InputError` unless the ids are those of n references, all of them."""
        ids, first = self.ids, self.first_id
        last = first + n - 1  # at most 2^63 - 1; NumPy 1 compares int64 with larger numbers as floats
        outside = ids[(ids < first) | (ids > last)]
        if len(outside):
            from_1 = first == 0 and int(ids[0]) == 1 and int(ids[-1]) == n
            entry = int(self.offsets[np.searchsorted(ids, outside[0])])
            place = f"{self.source}, line {entry + 1}" if self.line_by_line else self.source
            raise InputError(
                "{place}: the id {id} has no reference: {name} have the ids {first} to {last}"
                + "; if ids count from 1, add {from_1}" * from_1,
                place=place,
                id=outside[0],
                name=name,
                first=first,
                last=last,
                from_1=Argument("first_id", (1,)),
            )
        if len(ids) < n:
            gaps = np.flatnonzero(ids - first != np.arange(len(ids)))
            missing = first + int(gaps[0] if len(gaps) else len(ids))
            raise InputError(
                f"{self.source}: no list for the id {missing} (line {missing - first + 1} of {name}): expected lists "
                f"of {n} sentences, got {len(ids)}"
            )

    def check_choice(self, *, made: bool = False) -> None:
        """Raise :class:`InputError` if the entries of every sentence are equal, so that weights choose nothing.

        With ``made``, features that are made from the hypotheses may tell entries apart.
        """
        made = made or self.all_sparse is not None
        for what, varies in zip(("features", "hypotheses"), self.core.varies, strict=True):
            if not varies and not (made and what == "features"):
                raise InputError(
                    f"{self.source}: all entries of each sentence have the same {what}: expected lists with a choice"
                )

    def merged(self, *others: NBest) -> NBest:
        """Join lists of several decodes.

        A sentence has the entries of these lists, and then those of the next ones, without entries that have hypothesis
        and features of an earlier one. (Moses' extractor also drops an entry with another hypothesis, if features and
        counts are the same; weights cannot choose between the two.) Alignments and the decoder's scores are kept if all
        lists have them.

        Raises
        ------
        InputError
            If the dense features of lists differ, or features were added to them. Where zeros are left out, features
            that a list lacks are 0.
        """
        if any(lists.all_sparse is not None for lists in (self, *others)):
            raise InputError(f"{self.source}: features were added to lists: join the lists first, then add features")
        sources = ", ".join(dict.fromkeys(lists.source for lists in (self, *others)))
        try:
            core = _core.NBest.merged([self.core, *(other.core for other in others)])
        except InputError as error:
            raise InputError(f"{sources}: {error}") from None
        return NBest(core, sources, self.first_id)

    def selected(self, rows: ArrayLike) -> NBest:
        """The lists of some entries, which are in increasing order. Sentences without any are left out."""
        kept = None if self.all_sparse is None else gathered(self.all_sparse, _rows(rows))
        return NBest(self.core.selected(_rows(rows)), self.source, self.first_id, kept)

    def with_features(self, more: Sparse) -> NBest:
        """The same lists with more sparse features, for example those of :func:`template_features`.

        Parameters
        ----------
        more : Sparse
            The features of each entry.

        Raises
        ------
        InputError
            If the features are not those of K entries, or one of them is there already.

        Examples
        --------
        >>> from pathlib import Path
        >>> from reshuffle import tune
        >>> _ = Path("x.nbest").write_text("0 ||| a b ||| lm= -1\\n0 ||| a c ||| lm= -2\\n")
        >>> lists = tune.read_nbest("x.nbest")
        >>> more = lists.with_features(tune.template_features(lists, ["ngram:1"]))
        >>> more.names, more.sparse.names
        (['lm'], ['ngram:1=b', 'ngram:1=c'])
        >>> Path("x.nbest").unlink()
        """
        if len(more.indptr) != len(self) + 1:
            raise InputError(
                f"{self.source}: expected features of {len(self):,} entries, got those of {len(more.indptr) - 1:,}"
            )
        own = self.sparse
        twice = {*self.names, *self.sparse_names}.intersection(more.names)
        if twice:
            raise InputError(f"{self.source}: the lists already have the features {listed(sorted(twice))}")
        return replace(self, all_sparse=more if own is None else joined(own, more))


def read_nbest(
    path: str | os.PathLike[str],
    *,
    dense: Iterable[str] | None = None,
    first_id: int = 0,
    max_input: int = MAX_INPUT,
) -> NBest:
    """Read k-best lists.

    A line is ``id ||| hypothesis ||| features``, and optionally ``||| total ||| alignment ||| words``. Entries of a
    sentence follow each other, in the order of ids. Features have one of three forms:

    - ``lm= v tm= v v … sparse_k= v`` or ``lm: v``, as in the lists of Moses and Marian. Names with an underscore and
      one value are sparse, and a line may lack them. All others are dense.
    - ``lm=v tm=v``, as in the lists of cdec and Joshua, in any order. Features that are left out are 0. Up to 64
      features are dense; if there are more, those with an underscore are sparse.
    - ``v v v``, as in the lists of Z-MERT: the features ``F_0``, ``F_1`` …

    Parameters
    ----------
    path : str
        A file, which may be compressed; ``-`` is standard input. gzip is decompressed while it is read.
    dense : iterable of str, optional
        The dense features, in this order: for example those of the lists on which weights were tuned. All other
        features are sparse.
    first_id : int
        The id of the first reference.
    max_input : int
        The largest size in bytes of a compressed file after decompression.

    Returns
    -------
    NBest

    Raises
    ------
    InputError
        If the file cannot be read; with the line, if it violates the format, if a feature is not a finite number, or if
        features differ from those of the first line; if it lacks a feature of ``dense``.

    Notes
    -----
    One core reads about a million entries with 12 features in a second. Memory is 8 bytes for each dense and 12 for
    each sparse value, about 20 bytes for each entry, and the distinct hypotheses. While lists of cdec and Joshua are
    read, each dense value takes 12 bytes more.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("cdec.nbest").write_text("0 ||| a b ||| LM=-1 Glue=2\\n0 ||| a ||| LM=-2\\n")
    >>> lists = read_nbest("cdec.nbest")
    >>> lists.names, lists.dense.tolist(), lists.hypotheses([1])
    (['LM', 'Glue'], [[-1.0, 2.0], [-2.0, 0.0]], ['a'])
    >>> Path("cdec.nbest").unlink()
    """
    file = os.fspath(path)
    name = display_name(file)
    check_integer("first_id", first_id, 0, MAX_ID)
    check_integer("max_input", max_input, 1)
    names = None if dense is None else list(dense)
    if names is not None and (isinstance(dense, str) or not all(isinstance(feature, str) for feature in names)):
        raise InputError(f"dense: expected names of features, got {quoted(dense)}")
    if first_bytes(file).startswith((b"BZh", b"\xfd7zXZ\x00")) or file == "-":
        core = _core.NBest.parse(read_bytes(file, FORMAT, max_input), name, dense=names)
    else:
        core = _core.NBest.read(file, name, dense=names, max_input=min(max_input, 2**64 - 1))
    return NBest(core, name, first_id, line_by_line=True)


def read_samples(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    per_sentence: int | None = None,
    *,
    max_input: int = MAX_INPUT,
) -> NBest:
    """Read lists from plain text, with a text on each line: samples from a model, or outputs of several systems.

    Parameters
    ----------
    paths : str, or sequence of str
        One file with k lines for each sentence, one sentence after another; or several files with a line for each
        sentence: line i of each file belongs to sentence i. Files may be compressed.
    per_sentence : int, optional
        k, for one file.
    max_input : int
        The largest size in bytes of a compressed file after decompression.

    Returns
    -------
    NBest
        Lists without features.

    Raises
    ------
    InputError
        If a file cannot be read, its lines are no multiple of k, or files have different numbers of lines.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("samples.txt").write_text("a b\\na c\\nd\\nd e\\n")
    >>> read_samples("samples.txt", 2).offsets.tolist()
    [0, 2, 4]
    >>> Path("samples.txt").unlink()
    """
    files = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    names = [display_name(os.fspath(file)) for file in files]
    columns = [list(read_lines(file, max_input=max_input)) for file in files]
    if len(files) != 1:
        if per_sentence is not None:
            raise InputError(
                "{per_sentence} is for one file: leave it out, or name one file with all samples",
                per_sentence=Argument("per_sentence"),
            )
        if not files:
            raise InputError("samples: expected at least one file, got none")
        for name, column in zip(names[1:], columns[1:], strict=True):
            if len(column) != len(columns[0]):
                raise InputError(
                    f"{names[0]} has {len(columns[0]):,} lines, {name} has {len(column):,}: they must match line by "
                    "line"
                )
        return NBest.from_texts(zip(*columns, strict=True), ", ".join(names))
    if per_sentence is None:
        raise InputError(
            "{file}: say how many lines each sentence has, with {number}",
            file=names[0],
            number=Argument("per_sentence=K", as_flag="--per-sentence K"),
        )
    k, lines = check_integer("per_sentence", per_sentence, 1), columns[0]
    if len(lines) % k:
        raise InputError(f"{names[0]} has {len(lines):,} lines: expected a multiple of {k}, the lines of each sentence")
    return NBest.from_texts((lines[i : i + k] for i in range(0, len(lines), k)), names[0])


def additive(metric: MetricLike) -> NativeMetric:
    """The metric that counts entries; :class:`InputError` if its rows cannot be summed, or it does not read texts."""
    found = resolve(metric) if isinstance(metric, str) else metric
    if not isinstance(found, NativeMetric):
        name = getattr(found, "name", None) or getattr(found, "__name__", None) or quoted(found)
        raise InputError(
            f"{name} cannot count the entries of k-best lists: expected a metric that sums counts of texts, such as "
            "bleu, chrf or ter"
        )
    if found.reads_parses:
        raise InputError(f"{found.name} reads parses, and k-best lists hold texts: expected a metric of texts")
    if found.reads_sources:
        raise InputError(f"{found.name} reads source texts, which k-best lists lack: expected another metric")
    return found


def _rows(rows: ArrayLike) -> NDArray[np.int64]:
    """Numbers of entries; :class:`InputError` if they are none."""
    array = np.asarray(rows)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"expected the numbers of entries, got {quoted(rows)}")
    return np.ascontiguousarray(array, dtype=np.int64)
