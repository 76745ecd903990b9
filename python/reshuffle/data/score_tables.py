"""Scores of systems or segments from files: of people, such as DA and MQM, and of metrics from other programs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..documented import documented
from ..errors import LINE_MESSAGE, InputError, listed, quoted, unknown_name
from ..types import RepeatedScores, ScoreFormat, UnknownSystems
from ..validate import LARGEST_SCORE, check_integer, check_name, expected_score
from .evaluations import SCORE_FORMATS
from .evaluations.base import Cells, ScoreOptions, beginning, check_segments
from .evaluations.base import ScoreFormat as Format
from .files import MAX_INPUT
from .formats.base import Source
from .system_names import Naming, SystemMap

# Names of systems as they are in the file.
ANY_SYSTEM = Naming.from_arguments(None, None, "error")
# What to do with several scores of an output.
REPEATED = ("mean", "error")


@documented
@dataclass(frozen=True, eq=False)
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


def read_scores(
    path: str | os.PathLike[str],
    *,
    metric: str | None = None,
    systems: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None,
    sysmap: str | os.PathLike[str] | Mapping[str, str] | SystemMap | None = None,
    language_pair: str | None = None,
    test_set: str | None = None,
    columns: Mapping[str, str] | None = None,
    segment_base: int | None = None,
    n_segments: int | None = None,
    higher_is_better: bool = True,
    unknown: UnknownSystems | str = "error",
    repeated: RepeatedScores | str = "mean",
    input_format: ScoreFormat | str | None = None,
    max_input: int = MAX_INPUT,
) -> ScoreTable:
    """Read scores of people, such as DA and MQM, or of a metric from another program.

    Parameters
    ----------
    path : str
        ``table``: a table with a header, with fields separated by tabs, commas or white space. Rows without a segment
        are scores of systems. Rows without a system are the segments of one system, which is called ``system``.
        ``jsonl``: the same as JSON objects, such as those of MetricX. ``comet``: the file of COMET's ``--to_json``;
        ``comet-printed``: what ``comet-score`` prints. ``numbers``: a score on each line, of the segments of one
        system, as BLEURT writes it. ``mt-metrics-eval``: a system and a score on each line, as in its
        files ``*.seg.score`` and ``*.sys.score``; scores of segments are in the order of the segments. ``inspect``: a
        log of inspect_ai (``.json`` or ``.eval``); ``lm-eval``: what lm-evaluation-harness writes with
        ``--log_samples``; ``pearmut``: annotations of Pearmut. These have ids of segments instead of numbers.
    metric : str, optional
        Which metric, if the file has a column of metrics or several columns of scores. By default the only one, or the
        column whose header is known as that of people's scores, such as ``HUMAN``.
    systems, sysmap, unknown, max_input
        As for :func:`read_judgments`.
    language_pair, test_set : str, optional
        Which rows, if the file has columns of language pairs or test sets. By default the only one in the file.
    columns : mapping of str to str, optional
        The headers of the columns ``system``, ``segment``, ``score``, ``language_pair``, ``test_set`` and ``metric``.
        By default known headers, such as those of WMT's files.
    segment_base : int, optional
        The number of the first segment. All known headers count from 1.
    n_segments : int, optional
        The number of segments of the texts. By default the largest number in the file.
    higher_is_better : bool
        False for error metrics.
    repeated : {'mean', 'error'}
        What to do with several scores of an output: their mean, as for several people, or, for a metric, an error if
        they differ.
    input_format : str, optional
        One of these names. By default found from the first line.

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
    check_name("repeated", repeated, REPEATED)
    naming = Naming.from_arguments(systems, sysmap, unknown)
    options = _options(metric, language_pair, test_set, columns, segment_base)
    source, file_format = _opened(path, input_format, max_input)
    parsed = file_format.parse(source)
    known, is_obvious = file_format.names(parsed, options)
    if metric is None:
        if len(known) > 1 and not is_obvious:
            hint = f"choose one with metric={known[0]!r} ({source.name}#{known[0]})"
            source.fail(f"expected the scores of one metric, got {listed(known)}: {hint}")
        metric = known[0]
    elif metric not in known:
        raise InputError(f"{source.name}: {unknown_name('metric', metric, known)}")
    cells = file_format.read(parsed, metric, options)
    return table_of(source, cells, naming, n_segments, higher_is_better, repeated)


def read_all_scores(
    path: str | os.PathLike[str],
    *,
    systems: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None,
    sysmap: str | os.PathLike[str] | Mapping[str, str] | SystemMap | None = None,
    lower_is_better: Iterable[str] = (),
    unknown: UnknownSystems | str = "error",
    repeated: RepeatedScores | str = "mean",
    n_segments: int | None = None,
    **options: Any,
) -> dict[str, ScoreTable]:
    """Read the scores of all metrics in a file, by name.

    Parameters
    ----------
    path, systems, sysmap, unknown, repeated, n_segments, **options
        As for :func:`read_scores`.
    lower_is_better : iterable of str
        The metrics for which lower scores are better.

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
    check_name("repeated", repeated, REPEATED)
    naming = Naming.from_arguments(systems, sysmap, unknown)
    input_format, max_input = options.pop("input_format", None), options.pop("max_input", MAX_INPUT)
    choices = [options.pop(name, None) for name in ("language_pair", "test_set", "columns", "segment_base")]
    if options:
        raise TypeError(f"read_all_scores() got an unexpected keyword argument {next(iter(options))!r}")
    chosen = _options(None, *choices)
    source, file_format = _opened(path, input_format, max_input)
    parsed = file_format.parse(source)
    known, _ = file_format.names(parsed, chosen)
    lower = set(lower_is_better)
    for name in sorted(lower - set(known)):
        raise InputError(f"lower_is_better: {unknown_name('metric', name, known)}")
    return {
        name: table_of(source, file_format.read(parsed, name, chosen), naming, n_segments, name not in lower, repeated)
        for name in known
    }


def _options(
    metric: str | None,
    language_pair: str | None,
    test_set: str | None,
    columns: Mapping[str, str] | None,
    base: int | None,
) -> ScoreOptions:
    if base is not None:
        check_integer("segment_base", base, 0)
    return ScoreOptions(metric, language_pair, test_set, dict(columns or {}), base)


def _opened(path: str | os.PathLike[str], input_format: str | None, max_input: int) -> tuple[Source, Format]:
    """The file and its format."""
    file = os.fspath(path)
    source = Source.read(file, "a line for each score", max_input)
    if input_format is not None:
        check_name("input format", input_format, list(SCORE_FORMATS))
        return source, SCORE_FORMATS[input_format]
    first = beginning(source)
    for file_format in SCORE_FORMATS.values():
        if file_format.recognises(file, first):
            return source, file_format
    # A table whose columns have to be named; its reader says which columns it expects.
    return source, SCORE_FORMATS["table"]


def table_of(
    source: Source,
    cells: Cells,
    naming: Naming = ANY_SYSTEM,
    n_segments: int | None = None,
    higher_is_better: bool = True,
    repeated: str = "mean",
) -> ScoreTable:
    """The cells as arrays."""
    if n_segments is not None:
        check_integer("n_segments", n_segments, 1)
    if cells.system is None:  # one system, which has no name in the file
        names = cells.ids if naming.systems is None else list(naming.systems)
        if len(names) != 1:
            source.fail(f"expected a column of systems, because there are {len(names)} outputs: {listed(names)}")
        systems: tuple[str, ...] = (names[0].removesuffix(".txt"),)
        index: NDArray[np.int64] = np.zeros(len(cells.values), dtype=np.int64)
    else:
        systems, numbers = naming.resolve(
            cells.ids, lambda i: f"{source.name}, line {cells.id_lines[i]}", lambda lost: _lost(cells, lost)
        )
        index = np.array(numbers, dtype=np.int64)[cells.system]
    has = np.isfinite(cells.values)
    kept = (index >= 0) & has
    n = len(systems)
    n_ratings = int(kept.sum())
    if not n_ratings:
        source.fail(f"expected scores of {quoted(cells.metric)}, got none: all are missing")
    if cells.segment is None:
        if repeated == "error":
            _check_repeated(source, cells, index, np.flatnonzero(kept))
        scores = _means(index[kept], cells.values[kept], n)
        return ScoreTable(cells.metric, systems, None, scores, higher_is_better, n_ratings, source.name)
    s = _n_segments(source, cells, n_segments)
    if repeated == "error":
        _check_repeated(source, cells, index * s + cells.segment, np.flatnonzero(kept))
    matrix = _means(index[kept] * s + cells.segment[kept], cells.values[kept], n * s).reshape(n, s)
    ids = None if cells.keys is None else tuple(cells.keys)
    return ScoreTable(cells.metric, systems, matrix, None, higher_is_better, n_ratings, source.name, ids)


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
    raise InputError(LINE_MESSAGE, file=source.name, line=cells.lines[row], problem=problem)


def _means(key: NDArray[np.int64], values: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """The mean of the values of each key, NaN for keys without values."""
    count = np.bincount(key, minlength=n)
    with np.errstate(invalid="ignore"):
        means: NDArray[np.float64] = np.bincount(key, weights=values, minlength=n) / count
    return means


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


def _lost(cells: Cells, lost: set[int]) -> str:
    """How many scores are left out without these ids."""
    assert cells.system is not None
    has = np.isfinite(cells.values)
    n = int((np.isin(cells.system, list(lost)) & has).sum())
    return f"{n:,} of {int(has.sum()):,} scores"
