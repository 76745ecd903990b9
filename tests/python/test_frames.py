"""Scores, counts and texts in tables: column names are system names, and missing values are refused.

Each case runs on pandas and, where they are installed, polars and Arrow.
"""

import math
import pickle
import pkgutil
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

import reshuffle
from processes import python
from reshuffle import FromCounts, InputError, SegmentScores, compare, f_score, metric, score
from told import assert_raises

# These have no types, or other ones than numpy's.
pd: Any = pytest.importorskip("pandas")
Columns = Mapping[str, Sequence[Any]]


Make = Callable[[Columns], Any]


POLARS, ARROW = pytest.mark.interop("polars"), pytest.mark.interop("pyarrow")


def of_package(package: str, name: str) -> Callable[[Any], Any]:
    """A constructor of a package that is imported when it is called."""

    def make(values: Any) -> Any:
        return pkgutil.resolve_name(f"{package}:{name}")(values)

    make.__name__ = f"{package} {name}"
    return make


def nullable(columns: Columns) -> Any:
    return pd.DataFrame(columns).convert_dtypes()


table_of_arrow = of_package("pyarrow", "table")
TABLES = [
    pd.DataFrame,
    nullable,
    pytest.param(of_package("polars", "DataFrame"), marks=POLARS),
    pytest.param(table_of_arrow, marks=ARROW),
    pytest.param(of_package("pyarrow", "RecordBatch.from_pydict"), marks=ARROW),
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
    "COMET, system new, segment 2: the score is missing; with missing='pairwise', each pair of systems is compared on"
)


def assert_lacks_a_score(scores: Any) -> None:
    """The second score of the second system is missing: an error, unless pairs are compared without it."""
    with pytest.raises(InputError, match=MISSING):
        SegmentScores("COMET", scores)
    assert SegmentScores("COMET", scores, missing="pairwise").counts["new"].tolist() == [[2, 1], [0, 0]]


@each_table
def test_null_scores_are_missing(table: Make) -> None:
    assert_lacks_a_score(table({"old": [1.0, 2.0], "new": [2.0, None]}))


@pytest.mark.parametrize(
    "scores",
    [
        {"old": [1, 2], "new": [2, None]},
        {"old": [1, 2], "new": [2, math.nan]},
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
def test_masked_scores_are_missing(scores: Any) -> None:
    assert_lacks_a_score(scores)
    # A mask that hides no value has no effect.
    shown = masked_array([2.0, 3.0], mask=[False, False])
    assert SegmentScores("COMET", {"a": shown}).counts["a"].tolist() == [[2, 1], [3, 1]]


@each_table
def test_missing_counts_are_refused(table: Make) -> None:
    counts: dict[str, list[Any]] = {"matches": [3, 0], "hypothesis": [5, 2], "reference": [4, None]}
    rows: Any = masked_array([[3, 5, 4], [0, 2, 2]], mask=[[0, 0, 0], [0, 0, 1]])
    for each in (table(counts), rows):
        with pytest.raises(InputError, match="F1, system a, segment 2: the value is missing"):
            FromCounts("F1", {"a": each}, f_score)


def test_what_has_no_columns_of_scores_is_refused() -> None:
    assert_raises("python_errors_of_frames", globals())


@POLARS
def test_a_frame_that_is_not_evaluated_yet_is_refused() -> None:
    lazy = of_package("polars", "DataFrame")({"a": [1.0]}).lazy()
    with pytest.raises(InputError, match=r"a LazyFrame, which is not evaluated yet: call collect\(\) first"):
        SegmentScores("COMET", lazy)


# --- Texts, references and ids as columns of one data frame

DATA: dict[str, list[Any]] = {
    "ref": ["a b c d", "e f g h", "i j", "k l m"],
    "ref2": ["a b c", None, "i", None],
    "sys-a": ["a b c", "e f", "i j", "k l"],
    "sys-b": ["a b c d", "f g h", "j", "k l m"],
    "doc": ["x", "x", "y", "z"],
    "part": [1, 1, 2, 2],
}
REFERENCES, OTHERS = DATA["ref"], DATA["ref2"]
OUTPUTS = {"sys-a": DATA["sys-a"], "sys-b": DATA["sys-b"]}


def structured(columns: Columns) -> Any:
    return np.array(list(zip(*columns.values(), strict=True)), dtype=[(name, object) for name in columns])


class Interchange:
    """Offers only the protocol ``__dataframe__``."""

    def __init__(self, columns: Columns) -> None:
        self.frame = table_of_arrow(columns)

    def __dataframe__(self, *args: Any, **options: Any) -> Any:
        return self.frame.__dataframe__(*args, **options)


class Stream:
    """Offers only the protocol ``__arrow_c_stream__``."""

    def __init__(self, columns: Columns) -> None:
        self.table = table_of_arrow(columns)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


each_frame = pytest.mark.parametrize("frame", [*TABLES, dict, structured], ids=lambda make: make.__name__)
OPTIONS: dict[str, Any] = {"n_resamples": 99, "interval": None}


def chosen(table: Any, *names: str) -> Any:
    """Several columns, as one writes it for this kind of table."""
    if isinstance(table, dict):
        return {name: table[name] for name in names}
    return table.select(names) if hasattr(table, "column_names") else table[list(names)]


@each_frame
def test_columns_of_a_frame_compare_like_lists(frame: Make) -> None:
    table = frame(DATA)
    outputs = chosen(table, "sys-a", "sys-b")
    found = compare(table["ref"], outputs, ["bleu", "ter"], **OPTIONS)
    assert found == compare(REFERENCES, OUTPUTS, ["bleu", "ter"], **OPTIONS)
    several = compare(chosen(table, "ref", "ref2"), outputs, **OPTIONS)
    assert several == compare([REFERENCES, OTHERS], OUTPUTS, **OPTIONS)
    ids = compare(table["ref"], outputs, documents=table["doc"], strata=table["part"], **OPTIONS)
    assert ids == compare(REFERENCES, OUTPUTS, documents=DATA["doc"], strata=DATA["part"], **OPTIONS)


@ARROW
@pytest.mark.parametrize("protocol", [Interchange, Stream])
def test_frames_of_other_packages_are_read_by_a_protocol(protocol: Make) -> None:
    found = compare(protocol({"ref": REFERENCES, "ref2": OTHERS}), protocol(OUTPUTS), **OPTIONS)
    assert found == compare([REFERENCES, OTHERS], OUTPUTS, **OPTIONS)


@each_frame
def test_missing_texts_of_systems_are_refused_with_their_row(frame: Make) -> None:
    table = frame(DATA | {"sys-b": ["a", "b", None, "c"], "ref": ["a", None, "b", "c"]})
    with pytest.raises(InputError, match="sys-b, segment 3: expected a string, got None"):
        score(REFERENCES, chosen(table, "sys-a", "sys-b"))
    with pytest.raises(InputError, match="segment 2 has no reference"):
        score(table["ref"], chosen(table, "sys-a"))


@each_frame
def test_a_whole_frame_is_refused_with_what_to_write(frame: Make) -> None:
    table = frame(DATA)
    columns = r"\{'a': frame\['a'\], 'b': frame\['b'\]\}" if frame is dict else r"frame\[\['a', 'b'\]\]"
    for names in (None, "sys-a", ["sys-a", "sys-b"], {"Alpha": "sys-a"}):
        with pytest.raises(
            InputError, match=rf"whole table: pass its columns, as in compare\(frame\['ref'\], {columns}\)"
        ):
            score(table, names)
    with pytest.raises(TypeError, match="use references=frame"):
        score(table, ["sys-a"], reference="ref")  # type: ignore[call-arg]


def test_a_frame_of_an_unknown_package_needs_one_that_can_read_it(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = type("Unknown", (), {"__arrow_c_stream__": None, "__module__": "elsewhere"})()
    for package in ("pyarrow", "polars", "pandas"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match="to read a Unknown, install pyarrow, polars or pandas"):
        score(REFERENCES, unknown)


def test_no_package_of_frames_or_arrays_is_imported_for_others() -> None:
    source = """
import sys, numpy, reshuffle
data = {"ref": ["a b", "c"], "a": ["a", "c"]}
reshuffle.score(data["ref"], {"a": data["a"]})
rows = numpy.array([("a b", "a")], dtype=[("ref", object), ("a", object)])
reshuffle.score(rows["ref"], rows[["a"]])
reshuffle.standard_error([0.5, 1, 2])
print([name for name in ("pandas", "polars", "pyarrow", "torch", "jax") if name in sys.modules])
"""
    assert python(source) == "[]\n"


each_column = pytest.mark.parametrize(
    "column",
    [
        partial(np.array, dtype=object),
        pd.Series,
        pytest.param(of_package("polars", "Series"), marks=POLARS),
        pytest.param(of_package("pyarrow", "array"), marks=ARROW),
        pytest.param(lambda values: of_package("pyarrow", "chunked_array")([values]), marks=ARROW),
    ],
    ids=["array", "pandas", "polars", "arrow", "chunks of arrow"],
)


@each_column
def test_every_kind_of_column_may_hold_texts_and_ids(column: Callable[[list[Any]], Any]) -> None:
    documents = compare(REFERENCES, OUTPUTS, documents=DATA["doc"], strata=DATA["part"], **OPTIONS)
    reference, other, a, b, doc, part = map(column, DATA.values())
    outputs = {"sys-a": a, "sys-b": b}
    assert compare(reference, outputs, **OPTIONS) == compare(REFERENCES, OUTPUTS, **OPTIONS)
    assert compare(reference, outputs, documents=doc, strata=part, **OPTIONS) == documents
    several = compare([reference, other], outputs, **OPTIONS)
    assert several == compare([REFERENCES, OTHERS], OUTPUTS, **OPTIONS)
    np.testing.assert_array_equal(
        metric("bleu").suff_stats(reference, outputs), metric("bleu").suff_stats(REFERENCES, OUTPUTS)
    )


@each_column
def test_missing_ids_are_refused(column: Callable[[list[Any]], Any]) -> None:
    with pytest.raises(InputError, match="documents, segment 2: expected a string or an integer, got None"):
        compare(REFERENCES, OUTPUTS, documents=column(["x", None, "y", "z"]), **OPTIONS)


def test_test_sets_may_be_frames() -> None:
    frame = pd.DataFrame(DATA)
    columns = reshuffle.TestSet(frame["ref"], frame[["sys-a", "sys-b"]], documents=frame["doc"])
    lists = reshuffle.TestSet(REFERENCES, OUTPUTS, documents=DATA["doc"])
    one, other = (
        reshuffle.compare_sets({"x": each, "y": (REFERENCES, OUTPUTS)}, **OPTIONS) for each in (columns, lists)
    )
    assert one == other


# --- Indexes of pandas

ROWS = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [2.0, 2.0, 5.0], "doc": ["x", "x", "y"]})


def test_other_labels_of_rows_are_refused_and_equal_or_dropped_ones_are_not() -> None:
    by_model = pd.DataFrame({"model": list("aaabbb"), "score": [1, 2, 3, 2, 2, 5]}).set_index([list("uvwxyz")])
    a, b = (by_model[by_model.model == name].score for name in "ab")
    with pytest.raises(InputError, match=r"acc: a and b have different indexes \('u' and 'x' in row 1\): if they bel"):
        SegmentScores("acc", {"a": a, "b": b})
    SegmentScores("acc", {"a": a, "b": b.reset_index(drop=True).set_axis(a.index)})
    assert SegmentScores("acc", {"a": a, "b": b.to_numpy(), "c": [1, 2, 3]}).n_segments == 3


def test_arrays_and_frames_of_more_systems_than_segments_give_a_warning() -> None:
    frame = pd.DataFrame({f"q{n}": [1.0, 0.0] for n in range(10)})
    for scores, each in ((np.ones((10, 2)), "row of the array"), (frame, "column of the table")):
        with pytest.warns(reshuffle.InputWarning, match=f"each {each} is taken as a system: 10 systems with 2 segm"):
            SegmentScores("acc", scores)
    SegmentScores("acc", np.ones((9, 2)))
    SegmentScores("acc", np.ones((10, 10)))
    SegmentScores("acc", pd.DataFrame(np.ones((10, 10))))


def test_scores_that_can_be_read_only_once_are_read_once() -> None:
    once = SegmentScores("acc", {"a": (each for each in (1, 0, 1)), "b": {"x": 1, "y": 1, "z": 0}.values()})
    assert [*pickle.loads(pickle.dumps(once)).counts["b"][:, 0]] == [*once.counts["b"][:, 0]] == [1, 1, 0]


# --- Columns of ids

WITH_IDS = {"question": [*range(1, 31)], "passage": [i // 3 for i in range(30)], "a": [0, 1] * 15, "b": [1, 1, 0] * 10}


@each_table
def test_columns_that_look_like_ids_are_a_warning_and_those_named_so_an_error(table: Make) -> None:
    said = r"acc: 'question', 'passage' look like ids but are taken as systems: .* as in table\[\['a', 'b'\]\]"
    with pytest.warns(reshuffle.InputWarning, match=said):
        SegmentScores("acc", table(WITH_IDS))
    with pytest.raises(InputError, match=r"acc: expected a column of scores for each system, got ids \('Doc_ID'\)"):
        SegmentScores("acc", table({"Doc_ID": ["x"] * 30, "a": WITH_IDS["a"]}))
    assert SegmentScores("acc", WITH_IDS).n_segments == 30  # their names are given, so they are meant
