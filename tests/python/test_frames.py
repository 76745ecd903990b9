"""Scores, counts and texts in tables: column names are system names, and missing values are refused.

Each case runs on stand-ins with just the attributes that reshuffle uses, and on pandas, polars and Arrow where they are
installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from reshuffle import Corpus, FromCounts, InputError, SegmentScores, f_score, metric, score

Columns = Mapping[str, Sequence[Any]]


class Series:
    """The attributes that columns of all libraries have; polars' have no more."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = list(values)

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array([np.nan if value is None else value for value in self.values], dtype=dtype)


class PolarsSeries(Series):
    def is_null(self) -> Any:
        return np.array([value is None for value in self.values])


class PandasSeries(Series):
    def isna(self) -> Any:
        return np.array([value is None or value != value for value in self.values])


class ArrowColumn(PolarsSeries):
    """Iterating gives Arrow scalars; ``to_pylist`` gives Python values."""

    def __iter__(self) -> Iterator[Any]:
        return iter([object() for _ in self.values])

    def to_pylist(self) -> list[Any]:
        return self.values


class ArrowLike:
    """``column_names`` holds the names, and ``columns`` the columns themselves."""

    def __init__(self, columns: Columns) -> None:
        self.data = {name: ArrowColumn(values) for name, values in columns.items()}
        self.column_names = list(columns)
        self.columns = list(self.data.values())

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, name: str) -> ArrowColumn:
        return self.data[name]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.stack([np.asarray(column) for column in self.columns], axis=-1)


class PandasLike:
    """``columns`` holds the names, and iterating gives the names."""

    column: Any = PandasSeries

    def __init__(self, columns: Columns) -> None:
        self.columns = list(columns)
        self.data = {name: self.column(values) for name, values in columns.items()}

    def __len__(self) -> int:
        return len(self.data[self.columns[0]])

    def __iter__(self) -> Iterator[Any]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> Any:
        return self.data[name]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.stack([np.asarray(self.data[name]) for name in self.columns], axis=-1)


class PolarsLike(PandasLike):
    """``columns`` holds the names, and iterating gives the columns."""

    column = PolarsSeries

    def __iter__(self) -> Iterator[Any]:
        return iter(self.data.values())


def pandas_frame(columns: Columns) -> Any:
    return pytest.importorskip("pandas").DataFrame(columns)


def nullable_frame(columns: Columns) -> Any:
    return pandas_frame(columns).convert_dtypes()


def polars_frame(columns: Columns) -> Any:
    return pytest.importorskip("polars").DataFrame(columns)


def arrow_table(columns: Columns) -> Any:
    return pytest.importorskip("pyarrow").table(columns)


def record_batch(columns: Columns) -> Any:
    return pytest.importorskip("pyarrow").RecordBatch.from_pydict(columns)


Make = Callable[[Columns], Any]
TABLES = [
    ArrowLike,
    PandasLike,
    PolarsLike,
    pandas_frame,
    nullable_frame,
    polars_frame,
    arrow_table,
    record_batch,
]
masked_array: Any = np.ma.masked_array  # it has no type in numpy's stubs
each_table = pytest.mark.parametrize("table", TABLES, ids=lambda make: make.__name__)


@each_table
def test_columns_of_a_table_become_systems_of_the_same_name(table: Make) -> None:
    scores = {"old": [1.0, 2.5], "new": [2.0, 3.0]}
    named = SegmentScores("COMET", table(scores))
    expected = SegmentScores("COMET", scores)
    assert list(named.counts) == ["old", "new"]
    for system in scores:
        np.testing.assert_array_equal(expected.counts[system], named.counts[system])


def test_fields_of_a_structured_array_become_systems_of_the_same_name() -> None:
    rows = np.array([(1.0, 2.0), (2.5, 3.0)], dtype=[("old", float), ("new", float)])
    for array in (rows, rows.view(np.recarray), masked_array(rows)):
        assert [(s.system, s.score) for s in score(metrics=SegmentScores("COMET", array)).scores] == [
            ("old", 1.75),
            ("new", 2.5),
        ]


MISSING = (
    "COMET, system new, segment 2: the score is missing; with missing='pairwise', SegmentScores compares each pair"
)


@each_table
def test_null_scores_are_refused(table: Make) -> None:
    with pytest.raises(InputError, match=MISSING):
        SegmentScores("COMET", table({"old": [1.0, 2.0], "new": [2.0, None]}))


@pytest.mark.parametrize(
    "scores",
    [
        {"old": [1, 2], "new": [2, None]},
        {"old": [1, 2], "new": (2, np.ma.masked)},
        {"old": [1, 2], "new": np.array([2, None])},
        {"old": [1, 2], "new": masked_array([2.0, 3.0], mask=[False, True])},
        {"old": [1, 2], "new": masked_array([2, 3], mask=[False, True])},
        masked_array(
            np.array([(1.0, 2.0), (2.0, 3.0)], dtype=[("old", float), ("new", float)]),
            mask=[(False, False), (False, True)],
        ),
    ],
)
def test_masked_scores_are_refused(scores: Any) -> None:
    with pytest.raises(InputError, match=MISSING):
        SegmentScores("COMET", scores)
    # A mask that hides no value has no effect.
    shown = masked_array([2.0, 3.0], mask=[False, False])
    assert SegmentScores("COMET", {"a": shown}).counts["a"].tolist() == [[2, 1], [3, 1]]


@each_table
def test_counts_of_a_system_may_be_a_table(table: Make) -> None:
    counts: dict[str, list[Any]] = {"matches": [3, 0], "hypothesis": [5, 2], "reference": [4, 2]}
    f1 = FromCounts("F1", {"a": table(counts)}, f_score)
    assert f1.counts["a"].tolist() == [[3, 5, 4], [0, 2, 2]]
    with pytest.raises(InputError, match="F1, system a, segment 2: the value is missing"):
        FromCounts("F1", {"a": table(counts | {"reference": [4, None]})}, f_score)


def test_masked_counts_are_refused() -> None:
    rows: Any = masked_array([[3, 5, 4], [0, 2, 2]], mask=[[0, 0, 0], [0, 0, 1]])
    with pytest.raises(InputError, match="F1, system a, segment 2: the value is missing"):
        FromCounts("F1", {"a": rows}, f_score)


@each_table
def test_texts_may_be_columns_of_a_table(table: Make) -> None:
    systems: dict[str, list[str]] = {"a": ["x y", "z"], "b": ["x", "w"]}
    references: dict[str, list[str | None]] = {"r1": ["x y", None], "r2": ["x", "w"]}
    corpus = Corpus.from_texts(table(references), table(systems))
    expected = Corpus.from_texts(list(references.values()), systems)
    assert corpus == expected
    one, other = (metric("bleu").suff_stats(c.systems, c.references) for c in (corpus, expected))
    np.testing.assert_array_equal(other, one)
    assert corpus.n_references == "var"


def test_two_columns_cannot_share_a_name() -> None:
    twice = PandasLike({"a": [1.0]})
    twice.columns = ["a", "a"]
    with pytest.raises(InputError, match="COMET: 2 columns are called 'a': each needs a different name"):
        SegmentScores("COMET", twice)
    frame = pytest.importorskip("pandas").DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(InputError, match="COMET: 2 columns are called 'a': each needs a different name"):
        SegmentScores("COMET", frame)


def test_a_lazy_frame_is_refused_until_it_is_collected() -> None:
    lazy = type("LazyFrame", (), {"columns": ["a"], "collect": lambda self: None})()
    with pytest.raises(InputError, match=r"COMET: expected values, got a LazyFrame, which has none yet: call collect"):
        SegmentScores("COMET", lazy)
    frame = polars_frame({"a": [1.0]}).lazy()
    with pytest.raises(InputError, match="got a LazyFrame, which has none yet"):
        SegmentScores("COMET", frame)


def test_anything_but_a_collection_is_refused() -> None:
    with pytest.raises(InputError, match="COMET: expected a mapping from systems to values, got 5"):
        SegmentScores("COMET", 5)
