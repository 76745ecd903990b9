"""Counts in files, which take the place of texts: :func:`open_counts` maps them into memory.

The arrays have as few bits as the counts need. Whoever asks for ``counts`` gets 64 bits, as from texts; samples read
the arrays themselves (:class:`reshuffle.resampling.stored.StoredSample`), so that counts may be larger than memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, overload

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..data.count_files import Arrays, codes_of, read_arrays
from ..data.decoding import Hooks, Mismatch, record_of
from ..data.files import display_name
from ..documented import record
from ..errors import InputError, listed, quoted, unknown_name
from ..names import IN_PYTHON
from .base import Counts, Metric, Scores
from .expression import Expression
from .given import CountsOfFormula, PrecomputedCounts
from .named import metric
from .native import NativeMetric

if TYPE_CHECKING:
    from .counted import TextFormula


@record
class _Entry:
    """A metric in the description of a file."""

    array: str
    """The name of its array."""
    name: str
    metric: str
    """What scores the counts: :attr:`Metric.key`."""
    options: Mapping[str, Any]
    columns: tuple[str, ...]
    signature: str
    segment_signature: str
    other_tokenizer: bool


@record
class _About:
    """The description of a file."""

    version: str
    systems: tuple[str, ...]
    n_segments: int
    n_references: str | None
    most_references: int
    metrics: tuple[_Entry, ...]
    documents: tuple[str, ...] | None
    """The names of documents and strata, of which the arrays of the same names have the numbers."""
    strata: tuple[str, ...] | None


_about = record_of(_About, Hooks({}, {}))


@dataclass(frozen=True, eq=False)
class StoredCounts(CountsOfFormula):
    """The counts of systems under one metric, in a file: an element of :class:`CountsFile`.

    Attributes
    ----------
    name : str
    formula : NativeMetric, Expression or TextFormula
        What scores summed counts.
    array : (k, S, K) ndarray of int8, int16, int32 or int64
        The counts of all systems, mapped into memory and read-only.
    systems : tuple of k str
    counts : mapping of str to (S, K) ndarray of int64
        A copy of the counts of a system, each time it is asked for.
    path : str
    """

    name: str
    formula: NativeMetric | Expression | TextFormula
    array: NDArray[np.signedinteger[Any]] = field(repr=False)
    systems: tuple[str, ...]
    path: str
    most_references: int = 0
    _signatures: tuple[str, str] = field(default=("", ""), repr=False)
    # The array's name and checksum in the file, and where its systems are there: what another process needs to find
    # the same counts.
    _place: tuple[str, int, tuple[int, ...]] = field(default=("", 0, ()), repr=False)

    def __post_init__(self) -> None:
        self._take_over(self.formula, "core", "decimals", "higher_is_better")
        vars(self)["counts"] = _Widened(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (str(Path(self.path).resolve()), *self._place, self._signatures, self.systems)

    @property
    def key(self) -> str:
        """The name of the metric, as for :func:`reshuffle.metric`, or ``formula``."""
        return self.formula.key

    @property
    def columns(self) -> list[str]:
        """Names of the K counts of a segment."""
        return self.formula.columns

    @property
    def n_segments(self) -> int:
        return int(self.array.shape[1])

    @property
    def system_names(self) -> tuple[str, ...]:
        return self.systems

    def places_of(self, names: Sequence[str]) -> list[int]:
        """Where these systems are in the array; :class:`InputError` for one that is not in the file."""
        for name in names:
            if name not in self.systems:
                raise unknown_name(f"system in {display_name(self.path)}:", name, self.systems)
        return [self.systems.index(name) for name in names]

    def chosen(self, names: Sequence[str], renamed: Sequence[str] | None = None) -> StoredCounts:
        """The counts of some of the systems, perhaps with other names."""
        places = self.places_of(names)
        name, check, own = self._place
        return replace(
            self,
            array=systems_at(self.array, places),
            systems=tuple(names if renamed is None else renamed),
            _place=(name, check, tuple(own[place] for place in places)),
        )

    def reported_segment_scores(self, names: Sequence[str], counts: Counts) -> Scores:
        """See :meth:`Metric.reported_segment_scores`. They are rounded as those of texts."""
        return self.formula.reported_segment_scores(names, counts)

    def signature(self, n_references: str | None = None) -> str:
        """See :meth:`Metric.signature`. It is that of the texts, with their number of references."""
        return self._signatures[0]

    def segment_signature(self, n_references: str | None = None) -> str:
        return self._signatures[1]


class _Widened(Mapping[str, Counts]):
    """The counts of each system in 64 bits, copied when they are asked for."""

    def __init__(self, stored: StoredCounts) -> None:
        self._stored = stored

    def __getitem__(self, name: str) -> Counts:
        if name not in self._stored.systems:
            raise KeyError(name)
        widened: Counts = self._stored.array[self._stored.systems.index(name)].astype(np.int64)
        return widened

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored.systems)

    def __len__(self) -> int:
        return len(self._stored.systems)


def systems_at(array: NDArray[Any], places: Sequence[int]) -> NDArray[Any]:
    """Some of the systems of an array, without a copy if their places are evenly spaced."""
    step = places[1] - places[0] if len(places) > 1 else 1
    if step and list(places) == list(range(places[0], places[0] + step * len(places), step)):
        end = places[-1] + (1 if step > 0 else -1)
        return array[places[0] : None if end < 0 else end : step]
    return array[list(places)]


def _reopened(
    path: str, name: str, check: int, places: tuple[int, ...], signatures: tuple[str, str], systems: tuple[str, ...]
) -> StoredCounts:
    """The counts that another process had opened; :class:`InputError` if the file has others now."""
    stored = next((each for each in open_counts(path, check=False) if each._place[:2] == (name, check)), None)
    if stored is None or stored._signatures != signatures:
        raise InputError(f"{display_name(path)} has other counts than when it was opened: run again")
    return stored.chosen([stored.systems[place] for place in places], systems)


@record(slots=False, eq=False)
class CountsFile(Sequence[StoredCounts]):
    """The counts of a file: a sequence of metrics, to be passed as ``metrics`` wherever texts are not."""

    path: str
    version: str
    """The version of reshuffle that wrote the file."""
    systems: tuple[str, ...]
    n_segments: int
    """S."""
    n_references: str | None
    """References per segment: a number, or ``var``."""
    metrics: tuple[StoredCounts, ...]
    documents: NDArray[np.object_] | None = field(default=None, repr=False)
    """Shape (S,). The id of each segment's document and stratum, to be passed as ``documents`` and ``strata``."""
    strata: NDArray[np.object_] | None = field(default=None, repr=False)
    """Shape (S,)."""

    @overload
    def __getitem__(self, index: int) -> StoredCounts: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[StoredCounts, ...]: ...
    def __getitem__(self, index: int | slice) -> StoredCounts | tuple[StoredCounts, ...]:
        return self.metrics[index]

    def __len__(self) -> int:
        return len(self.metrics)

    def chosen(self, names: Sequence[str], renamed: Sequence[str] | None = None) -> CountsFile:
        """The counts of some of the systems, in this order, perhaps with other names.

        Raises
        ------
        InputError
            If a name is unknown.
        """
        shown = tuple(names if renamed is None else renamed)
        return replace(self, systems=shown, metrics=tuple(each.chosen(names, renamed) for each in self.metrics))


def open_counts(path: str | os.PathLike[str], *, check: bool = True) -> CountsFile:
    """Open counts that ``reshuffle count`` or :func:`save_counts` wrote, to be used in place of texts.

    Parameters
    ----------
    path : str or path
        An ``.npz`` or ``.npy`` file. It is mapped into memory, so it must not be changed in place while it is used.
    check : bool, optional
        Compare all bytes with their checksums, which reads the file once. False opens a file of any size at once.

    Returns
    -------
    CountsFile
        A sequence of metrics: pass it as ``metrics``, without references and systems. Results are those of the texts.

    Raises
    ------
    InputError
        If the file cannot be read, is damaged or no file of counts, has a schema that this version does not know, or
        was counted by a metric that this version computes differently.

    Notes
    -----
    Cost: with ``check`` about a second for 2 GB. Memory: tests by shuffles and draws, and intervals from draws and by
    the delta method, read the counts where they are. ``ar-studentized`` copies those of two systems to 64 bits, and
    what needs scores of segments, or without each segment, has 8 bytes for each. Studies and :func:`compare_runs` copy
    all counts to 64 bits.

    Examples
    --------
    >>> import reshuffle
    >>> references, systems = ["a b c d", "e f g h"], {"A": ["a b c d", "e f g"], "B": ["a b d c", "e f g h"]}
    >>> reshuffle.save_counts("counts.npz", references, systems, ["bleu", "ter"])
    >>> counts = reshuffle.open_counts("counts.npz")
    >>> counts.systems, counts.n_segments, counts[0].signature()
    (('A', 'B'), 2, 'BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp')
    >>> from_texts = reshuffle.compare(references, systems, ["bleu", "ter"], test="ar")
    >>> reshuffle.compare(metrics=counts, test="ar") == from_texts
    True

    NumPy reads the same file:

    >>> import numpy as np
    >>> np.load("counts.npz")["BLEU"].shape, counts[0].array.dtype
    ((2, 2, 10), dtype('int8'))
    >>> from pathlib import Path
    >>> Path("counts.npz").unlink()
    """
    path = os.fspath(path)
    name = display_name(path)
    found = read_arrays(path, check)
    try:
        about: _About = _about(found.about)
    except Mismatch as mismatch:
        raise InputError(f"{name} is damaged: {mismatch.place}: {mismatch.problem}: count the texts again") from None
    if not about.systems or not about.metrics or about.n_segments < 1:
        raise InputError(f"{name} has no counts: count the texts again")
    if len(set(about.systems)) < len(about.systems):
        raise InputError(f"{name} is damaged: two systems have the same name: count the texts again")
    metrics = tuple(_opened(entry, about, found, path) for entry in about.metrics)
    ids = {group: _ids(group, about, found.arrays, name) for group in ("documents", "strata")}
    return CountsFile(path, about.version, about.systems, about.n_segments, about.n_references, metrics, **ids)


def _opened(entry: _Entry, about: _About, found: Arrays, path: str) -> StoredCounts:
    """The counts of a metric, after checks that this version reads them as they were written."""
    name = display_name(path)
    formula = _formula_of(entry)
    if not entry.other_tokenizer:
        # Counts that a user supplied have a name of their own before it.
        now = formula.formula_signature()
        counted = "|".join(part for part in entry.signature.split("|") if not part.startswith("nrefs:"))
        if now is not None and not counted.endswith(now):
            raise InputError(
                f"{name}: {entry.name} was counted by reshuffle {about.version} as {entry.signature}, but "
                f"reshuffle {_core.VERSION} would count {now}: count the texts again"
            )
    array = found.arrays.get(entry.array)
    shape = len(about.systems), about.n_segments, len(formula.columns)
    if array is None or array.shape != shape or tuple(formula.columns) != entry.columns:
        got = "none" if array is None else f"shape {array.shape}"
        raise InputError(f"{name}: {entry.name}: expected counts of shape {shape}, got {got}: count the texts again")
    return StoredCounts(
        entry.name,
        formula,
        array,
        about.systems,
        path,
        about.most_references,
        (entry.signature, entry.segment_signature),
        (entry.array, found.checksums[entry.array], tuple(range(len(about.systems)))),
    )


def _formula_of(entry: _Entry) -> NativeMetric | Expression | TextFormula:
    """What scores the counts of a metric of a file."""
    if entry.metric in IN_PYTHON:
        from .counted import TextFormula

        return TextFormula.of_columns(entry.metric, entry.options, entry.columns)
    if entry.metric != Expression.key:
        native: NativeMetric = metric(entry.metric, **entry.options)
        return native
    return Expression(entry.name, names=entry.columns, **entry.options)


def _ids(group: str, about: _About, arrays: Mapping[str, Any], name: str) -> NDArray[np.object_] | None:
    """The id of each segment's document or stratum."""
    known, codes = getattr(about, group), arrays.get(group)
    if known is None:
        return None
    if codes is None or codes.shape != (about.n_segments,) or codes.min() < 0 or codes.max() >= len(known):
        raise InputError(f"{name} is damaged: {group}: expected a number for each segment: count the texts again")
    by_segment: NDArray[np.object_] = np.array([*known, None], dtype=object)[codes]
    return by_segment


# A metric whose counts can be saved.
CountedMetric = NativeMetric | PrecomputedCounts


def describe(
    metrics: Sequence[CountedMetric],
    labels: Sequence[str],
    systems: Sequence[str],
    n_segments: int,
    references: tuple[str | None, int],
    ids: Mapping[str, tuple[NDArray[Any], Sequence[str]] | None],
) -> Arrays:
    """What describes a file of counts, and the arrays of its ids. ``references`` are n_references and the most of them.

    :class:`InputError` for a metric that cannot be saved.
    """
    n_references, most = references
    entries = [_described(m, label, n_references) for m, label in zip(metrics, labels, strict=True)]
    taken = [*(entry.array for entry in entries), *(group for group, own in ids.items() if own is not None)]
    if len(set(taken)) < len(taken):
        raise InputError(f"metrics need different names in a file of counts, got {listed(taken)}")
    names = {group: None if own is None else tuple(own[1]) for group, own in ids.items()}
    about = _About(_core.VERSION, tuple(systems), n_segments, n_references, most, tuple(entries), **names)
    return Arrays(asdict(about), {group: codes_of(own[0]) for group, own in ids.items() if own is not None})


def _is_known(formula: Metric) -> TypeGuard[NativeMetric | Expression | TextFormula]:
    """Whether a file of counts can name the formula."""
    return isinstance(formula, NativeMetric | Expression) or getattr(formula, "key", None) in IN_PYTHON


def _described(m: CountedMetric, label: str, n_references: str | None) -> _Entry:
    formula: Metric = m.formula if isinstance(m, CountsOfFormula) else m
    if not _is_known(formula):
        raise InputError(
            f"{m.name} cannot be saved: expected a metric of 'reshuffle explain', or counts that one of them scores or "
            f"a formula as text, got {quoted(m)}"
        )
    options, other_tokenizer = dict(formula.options), isinstance(formula, NativeMetric) and formula.other_tokenizer
    if other_tokenizer:
        # Only the formula is needed, which does not tokenize; so the package need not be installed.
        options = {key: value for key, value in options.items() if key not in ("trg_lang", "tokenizer_model")}
        options["tokenize"] = "none"
    return _Entry(
        label.replace("/", "_").replace("\\", "_"),
        m.name,
        formula.key,
        options,
        tuple(formula.columns),
        m.signature(n_references),
        m.segment_signature(n_references),
        other_tokenizer,
    )
