"""Scores of systems or segments from files: of people, such as DA and MQM, and of metrics from other programs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from ..documented import record
from ..errors import Argument, InputError, counted, listed, printable, quoted, unknown_name
from ..options.declare import called_with, taken
from ..options.evaluations import ReadAllScores, ReadScores
from ..results.lookup import first_names
from ..validate import LARGEST_SCORE, expected_score
from .evaluations import Cells, check_segments
from .formats import FORMATS, SCORE_FORMATS
from .formats._samples import Sample, Samples
from .formats.base import Source, recognized
from .reading import split_name
from .scored_tables import NO_OPTIONS, ScoredTable
from .system_names import Naming


@record(slots=False, eq=False)
class ScoreTable:
    """Scores of systems, for each segment or as a whole.

    Raises
    ------
    InputError
        If a shape does not fit the systems, or a score is infinite or beyond 1e75 in magnitude.

    Examples
    --------
    >>> table = ScoreTable("MQM", ("a", "b"), segments=[[-1.0, 0.0], [-5.0, float("nan")]])
    >>> table.n_segments, table.n_ratings, table.means
    (2, 3, array([-0.5, -5. ]))
    """

    name: str
    """Of the metric, or of the column."""
    systems: tuple[str, ...]
    segments: NDArray[np.float64] | None = None
    """Shape (N, S). The score of each output, NaN where there is none; the mean if the file has several."""
    system_scores: NDArray[np.float64] | None = None
    """Shape (N,). The score of each system, if the file has scores of systems."""
    higher_is_better: bool = True
    n_ratings: int = -1
    """The number of scores in the file, of these systems."""
    source: str = "scores"
    """The file."""
    segment_ids: tuple[str, ...] | None = None
    """The ids of the segments, in files in which they are not numbers: logs of harnesses, and Pearmut's annotations.
    :func:`join_scores` joins tables by them.
    """

    def __post_init__(self) -> None:
        n = len(self.systems)
        n_scores = 0
        for name, n_axes in (("segments", 2), ("system_scores", 1)):
            values = getattr(self, name)
            if values is None:
                continue
            array = np.asarray(values, dtype=np.float64)
            if array.ndim != n_axes or array.shape[0] != n:
                raise InputError(f"{name}: expected a row for each of {n} systems, got an array of shape {array.shape}")
            too_large = array[np.abs(array) > LARGEST_SCORE]
            if too_large.size:
                expected = expected_score(too_large[0])
                raise InputError(f"{name}: expected {expected}, or NaN for a missing score, got {too_large[0]}")
            object.__setattr__(self, name, array)
            n_scores = n_scores or int(np.isfinite(array).sum())
        if self.segments is None and self.system_scores is None:
            raise InputError("expected scores of segments or of systems, got neither")
        if self.n_ratings < 0:
            object.__setattr__(self, "n_ratings", n_scores)

    def __repr__(self) -> str:
        segments = "" if self.n_segments is None else f"; {counted(self.n_segments, 'segment')}"
        systems = f"{counted(len(self.systems), 'system')} ({first_names(self.systems)})"
        return f"<ScoreTable: {printable(self.name)}; {systems}{segments}>"

    @property
    def n_segments(self) -> int | None:
        """The number of segments; None if there are only scores of systems."""
        return None if self.segments is None else self.segments.shape[1]

    @property
    def means(self) -> NDArray[np.float64]:
        """The score of each system, or the mean of its segments: (N,), NaN for systems without scores."""
        if self.system_scores is not None:
            return self.system_scores
        assert self.segments is not None
        has = np.isfinite(self.segments)
        with np.errstate(invalid="ignore"):
            means: NDArray[np.float64] = np.where(has, self.segments, 0).sum(axis=1) / has.sum(axis=1)
        return means


def cells_of(table: ScoreTable) -> NDArray[np.float64]:
    """The scores of segments in a table that has them."""
    assert table.segments is not None
    return table.segments


def means_by(
    key: NDArray[np.int64], values: NDArray[np.float64], n: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The mean of the values with each of n keys, NaN without values, and their number."""
    counts = np.bincount(key, minlength=n)
    with np.errstate(invalid="ignore"):
        return np.bincount(key, values, n) / counts, counts


def of_system(table: ScoreTable, system: str) -> ScoreTable:
    """A table of the segments of one system."""
    cells = cells_of(table)[[table.systems.index(system)]]
    return replace(table, systems=(system,), segments=cells, system_scores=None, n_ratings=-1)


def on_segments(table: ScoreTable, order: Sequence[int] | NDArray[np.int64]) -> ScoreTable:
    """The table on these segments, in this order, with their ids."""
    ids = None if table.segment_ids is None else tuple(table.segment_ids[at] for at in order)
    return replace(table, segments=cells_of(table)[:, order], segment_ids=ids, n_ratings=-1)


@called_with(ReadScores)
def read_scores(options: ReadScores) -> ScoreTable:
    """Read scores of people, such as DA and MQM, or of a metric from another program.

    Returns
    -------
    ScoreTable
        Empty fields and ``None``, ``NA``, ``NaN`` and ``null`` are missing.

    Raises
    ------
    InputError
        If the file cannot be read or violates its format, with file and line; if a column, metric, language pair or
        system does not exist, with the most similar one that does, or has to be chosen; if a segment is out of range.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("mqm.tsv").write_text("system\\tmqm\\tseg_id\\nNemo\\t-5\\t1\\nNemo\\tNone\\t2\\nUEdin\\t0\\t2\\n")
    >>> table = read_scores("mqm.tsv", systems=["NVIDIA-NeMo", "UEdin"], sysmap={"Nemo": "NVIDIA-NeMo"})
    >>> table.systems, table.segments
    (('NVIDIA-NeMo', 'UEdin'), array([[-5., nan],
           [nan,  0.]]))
    >>> Path("mqm.tsv").unlink()
    """
    path, metric = options.path, options.metric
    if isinstance(path, str | os.PathLike):
        path, name = split_name(os.fspath(path))
        if name is not None and metric not in (None, name):
            raise InputError(f"{quoted(options.path)} and metric={quoted(metric)} name two metrics: leave out one")
        metric = metric or name
    file = ScoreFile.read(evolve(options, path=path, metric=metric))
    return file.table(file.chosen(metric), options.higher_is_better)


@called_with(ReadAllScores)
def read_all_scores(options: ReadAllScores) -> dict[str, ScoreTable]:
    """Read the scores of all metrics in a file, by name.

    Returns
    -------
    dict of str to ScoreTable

    Raises
    ------
    InputError
        As :func:`read_scores`; if a name in ``lower_is_better`` is not in the file.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("long.tsv").write_text("segment\\tsystem\\tBLEU\\tTER\\n1\\ta\\t20\\t70\\n1\\tb\\t30\\t60\\n")
    >>> tables = read_all_scores("long.tsv", lower_is_better=["TER"])
    >>> [(name, table.higher_is_better) for name, table in tables.items()]
    [('BLEU', True), ('TER', False)]
    >>> Path("long.tsv").unlink()
    """
    file, lower = ScoreFile.read(taken(ReadScores, options)), set(options.lower_is_better)
    for name in sorted(lower.difference(file.names)):
        raise InputError(f"lower_is_better: {unknown_name('metric', name, file.names)}")
    return {name: file.table(name, name not in lower) for name in file.names}


@dataclass(frozen=True)
class ScoreFile:
    """A file of scores, parsed once for the scores of all metrics."""

    source: Source
    format_name: str
    content: Samples | ScoredTable
    options: ReadScores = NO_OPTIONS

    @classmethod
    def of(cls, source: Source, format_name: str, options: ReadScores = NO_OPTIONS) -> ScoreFile:
        """A file that has been read."""
        samples = FORMATS[format_name].samples
        content = ScoredTable(source, format_name, options=options) if samples is None else samples(source)
        return cls(source, format_name, content, options)

    @classmethod
    def read(cls, options: ReadScores) -> ScoreFile:
        """The file that the options name."""
        if not isinstance(options.path, str | os.PathLike):
            raise InputError(f"expected the name of one file, got {quoted(options.path)}; join_scores reads several")
        file = os.fspath(options.path)
        source = Source.read(file, "a line for each score", options.max_input)
        # A table whose columns have to be named is not recognized; its reader says which columns it expects.
        return cls.of(source, options.input_format or recognized(source, SCORE_FORMATS) or "table", options)

    @property
    def names(self) -> list[str]:
        """The names of the metrics."""
        return self.content.names

    @property
    def samples(self) -> Sequence[Sample]:
        """The samples of a log; none of a table."""
        return self.content.found if isinstance(self.content, Samples) else ()

    def chosen(self, metric: str | None) -> str:
        """The name of a metric; without one, of the only one or the obvious one."""
        known = self.names
        if metric is None:
            if len(known) > 1 and not self.content.is_obvious:
                choice = Argument(f"metric={known[0]!r}", as_flag=f"'{self.source.name}#{known[0]}'")
                problem = "expected the scores of one metric, got {names}: choose one as in {choice}"
                self.source.fail(problem, names=listed(known), choice=choice)
            return known[0]
        if metric not in known:
            raise self.unknown(metric)
        return metric

    def unknown(self, metric: str, hint: str = "") -> InputError:
        """The error for a metric that the file does not have. ``hint`` is its end, unless there are too few samples."""
        pass_at, _, k = metric.partition("@")
        n_samples = sum(name.startswith(f"{pass_at}@") for name in self.names)
        if n_samples and k.isdecimal() and int(k) > n_samples:
            few = counted(n_samples, "sample")
            return InputError(
                f"{self.source.name}: {metric} needs {k} samples of each problem, and some have only {few}"
            )
        return InputError(f"{self.source.name}: {unknown_name('metric', metric, self.names)}{hint}")

    @cached_property
    def naming(self) -> Naming:
        """Which names in the file are those of outputs."""
        return Naming.from_options(self.options)

    def table(self, metric: str, higher_is_better: bool = True, epoch: str | None = None) -> ScoreTable:
        """The scores of a metric, in a log perhaps of one epoch."""
        content = self.content
        own = content if epoch is None or isinstance(content, ScoredTable) else content.of_epoch(epoch)
        source, cells = self.source, own.cells(metric)
        systems, index = _systems(source, cells, self.naming)
        has = np.isfinite(cells.values)
        kept = (index >= 0) & has
        n = len(systems)
        n_ratings = int(kept.sum())
        if not n_ratings:
            source.fail(f"expected scores of {quoted(cells.metric)}, got none: all are missing")
        s = 1 if cells.segment is None else _n_segments(source, cells, self.options.n_segments)
        key = index if cells.segment is None else index * s + cells.segment
        if self.options.repeated == "error":
            _check_repeated(source, cells, key, np.flatnonzero(kept))
        means, _ = means_by(key[kept], cells.values[kept], n * s)
        segments, of_systems = (None, means) if cells.segment is None else (means.reshape(n, s), None)
        ids = None if cells.keys is None or segments is None else tuple(cells.keys)
        return ScoreTable(cells.metric, systems, segments, of_systems, higher_is_better, n_ratings, source.name, ids)


def _systems(source: Source, cells: Cells, naming: Naming) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The systems, and the index of the system of each cell, -1 for those that are left out."""
    if cells.system is None:  # one system, which has no name in the file
        names = cells.ids if naming.systems is None else list(naming.systems)
        if len(names) != 1:
            source.fail(f"expected a column of systems, because there are {len(names)} outputs: {listed(names)}")
        return (names[0].removesuffix(".txt"),), np.zeros(len(cells.values), dtype=np.int64)
    systems, numbers = naming.resolve(source, cells)
    return systems, np.array(numbers, dtype=np.int64)[cells.system]


def _check_repeated(source: Source, cells: Cells, key: NDArray[np.int64], rows: NDArray[np.intp]) -> None:
    """:class:`InputError` if two of these rows have the same key and different values."""
    first, group = np.unique(key[rows], return_index=True, return_inverse=True)[1:]
    differ = np.flatnonzero(cells.values[rows] != cells.values[rows[first[group]]])
    if not differ.size:
        return
    row, earlier = int(rows[differ[0]]), int(rows[first[group[differ[0]]]])
    if cells.keys is not None:
        sample = quoted(cells.keys[int(cells.segment[row])]) if cells.segment is not None else ""
        values = f"{cells.values[earlier]:g} and {cells.values[row]:g}"
        source.fail(f"expected one score of each sample, got {values} for {sample}; repeated='mean' takes their mean")
    system = "the system" if cells.system is None else quoted(cells.ids[int(cells.system[row])])
    on = "" if cells.segment is None else f" on segment {int(cells.segment[row]) + cells.base}"
    problem = (
        f"a second score of {system}{on}, {cells.values[row]:g}, differs from that of line {cells.lines[earlier]}, "
        f"{cells.values[earlier]:g}: expected one score of a metric for each output"
    )
    source.fail(problem, cells.lines[row])


def _n_segments(source: Source, cells: Cells, n_segments: int | None) -> int:
    """The number of segments; :class:`InputError` for a segment out of range or a missing row."""
    assert cells.segment is not None
    if cells.keys is not None:
        if n_segments not in (None, len(cells.keys)):
            source.fail(f"expected {n_segments:,} segments, got {len(cells.keys):,} samples")
        return len(cells.keys)
    found = check_segments(source, cells.segment, cells.lines, cells.base, n_segments)
    n = int(cells.segment.max()) + 1
    if cells.in_order and n < found:
        each = "" if cells.system is None else " of each system"
        source.fail(f"expected {found:,} scores{each}, because the texts have {found:,} segments, got {n:,}")
    return found
