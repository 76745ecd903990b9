"""The tables of a result, systems and pairs, as dicts and as data frames of pandas and polars."""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

import reshuffle
from reshuffle import Comparison, Flips, SegmentScores, SegmentTable, compare, flips, score, segment_scores
from reshuffle.report import TABLES
from reshuffle.results import RankedSystem, Ranking, SetComparison
from told import assert_told

Rows = Sequence[Mapping[str, Any]]

RATINGS = SegmentScores("rating", {"a": [1, 2, 3, 4], "b": [2, 3, 3, 5], "c": [1, 1, 2, 3]})
PAIRS = compare(metrics=RATINGS, test="ar", all_pairs=True, interval="delta")
SCORES = score(metrics=RATINGS)


# --- Which rows and columns


def test_rows_have_all_that_is_known_of_a_system_or_a_pair() -> None:
    """As CSV, whose rows test_python_results.py compares with those of dicts."""
    places = ("b", 1, 1, 2, 1, "a", 0.9), ("a", 2, 1, 2, 1, "a", 0.2), ("c", 3, 3, 3, 2, None)
    ranking = Ranking("rating", tuple(RankedSystem(*place) for place in places), None, ("b", "a"), None, True)
    ranked = replace(PAIRS, rankings=(ranking,))
    told = {table: ranked.render("csv", table=table) for table in TABLES}
    assert_told("rows", {**told, "systems without tests": SCORES.render("csv", table="systems")})


def test_the_columns_do_not_depend_on_the_comparison() -> None:
    missing = SegmentScores("rating", {"a": [1, None, 3, 4], "b": [2, 3, 3, 5]}, missing="pairwise")
    strata = compare(metrics=RATINGS, strata=[0, 0, 1, 1], n_resamples=99)
    for other in (compare(metrics=missing, test="ar"), strata):
        for table in ("systems", "pairs"):
            assert list(PAIRS.to_dicts(table)[0]) == list(other.to_dicts(table)[0])
    assert compare(metrics=missing, test="ar").to_dicts("pairs")[0]["n_segments"] == 3
    assert strata.to_dicts("systems")[0]["n_strata"] == strata.to_dicts("pairs")[0]["n_strata"] == 2


def test_the_default_is_pairs_if_there_are_tests() -> None:
    assert PAIRS.to_dicts() == PAIRS.to_dicts("pairs")
    assert SCORES.to_dicts() == SCORES.to_dicts("systems")
    assert SCORES.to_dicts("pairs") == []
    for result, expected in ((SETS, "pairs"), (replace(SETS, sets={"x": SCORES}, average=None), "systems")):
        assert result.to_dicts() == result.to_dicts(expected)


SETS = SetComparison({"news": PAIRS, "chat": PAIRS}, PAIRS, (), "", "")


@pytest.mark.parametrize("table", TABLES)
def test_rows_of_several_test_sets_name_the_set_first(table: Any) -> None:
    names = ["news", "chat", "average"]
    expected = [{"test_set": name, **row} for name in names for row in PAIRS.to_dicts(table)]
    rows = SETS.to_dicts(table)
    assert [[*row.items()] for row in rows] == [[*row.items()] for row in expected]  # in this order
    assert replace(SETS, average=None).to_dicts(table) == rows[: 2 * len(rows) // 3]


# --- Data frames


def with_odd_values() -> Comparison:
    """A result whose numbers are infinite, as large as possible or not there."""
    ends = reshuffle.ConfidenceInterval(-math.inf, math.inf, 0.95, "delta")
    first, second, *others = PAIRS.comparisons
    odd = replace(first.test, statistic=math.inf, pvalue=0.0, seed=2**64 - 1, n_resamples=2**62, adjusted_pvalue=1.0)
    bare = replace(second.test, seed=None, n_resamples=None, adjusted_pvalue=None, scheme=None)
    pairs = (
        replace(first, test=odd, confidence_interval=ends, caveats=("few-units", "auto")),
        replace(second, test=bare, confidence_interval=None, intraclass_correlation=-0.5, design_effect=math.inf),
        *others,
    )
    scores = [replace(each, score=math.inf, confidence_interval=ends, n_segments=2**62) for each in PAIRS.scores]
    (ranking,) = PAIRS.rankings
    unranked = tuple(replace(each, letters=None, mcb_pvalue=None) for each in ranking.systems)
    rankings = (replace(ranking, systems=unranked),)
    return replace(PAIRS, scores=tuple(scores), comparisons=pairs, rankings=rankings, alpha=None, n_strata=9)


def results() -> dict[str, Any]:
    odd = with_odd_values()
    return {
        "pairs": PAIRS,
        "scores": SCORES,
        "odd": odd,
        "no rankings": replace(odd, rankings=()),
        "sets": SETS,
        "sets without an average": SetComparison({"\n": odd, "x": PAIRS}, None, (), "", "0"),
        "sets of scores": SetComparison({"one": SCORES}, SCORES, (), "", "0"),
    }


PANDAS_TYPES = {str: "", float: "float64", bool: "boolean", int: "Int64"}
POLARS_TYPES = {str: "String", float: "Float64", bool: "Boolean", int: "Int64"}


def check_pandas(frame: Any, dicts: Rows) -> None:
    pandas: Any = pytest.importorskip("pandas")
    # NaN is the missing value of columns of floats.
    for row, expected in zip(frame.to_dict("records"), dicts, strict=True):
        assert {key: None if pandas.isna(value) else value for key, value in row.items()} == expected
    check_types({name: str(dtype) for name, dtype in frame.dtypes.items()}, dicts, PANDAS_TYPES)


def check_polars(frame: Any, dicts: Rows) -> None:
    assert frame.to_dicts() == dicts
    types = {name: str(dtype) for name, dtype in frame.schema.items()}
    assert types.get("seed", "UInt64") == "UInt64"
    check_types(types, dicts, POLARS_TYPES)


def check_types(types: Mapping[str, str], dicts: Rows, expected: Mapping[type, str]) -> None:
    if dicts:
        assert list(types) == list(dicts[0])
    for row in dicts:
        for name, value in row.items():
            if value is not None and expected[type(value)]:
                assert types[name] == ("UInt64" if name == "seed" else expected[type(value)]), name


EACH_PACKAGE = pytest.mark.parametrize(
    "package", ["pandas", pytest.param("polars", marks=pytest.mark.interop("polars"))]
)


@pytest.mark.parametrize("table", [*TABLES, None])
@EACH_PACKAGE
def test_data_frames_hold_the_same_rows(package: str, table: Any) -> None:
    for result in results().values():
        if package == "pandas":
            check_pandas(result.to_pandas(table), result.to_dicts(table))
        else:
            check_polars(result.to_polars(table), result.to_dicts(table))


@EACH_PACKAGE
def test_types_do_not_depend_on_the_values(package: str) -> None:
    call = getattr(Comparison, f"to_{package}")
    empty, full = call(SCORES, "pairs"), call(PAIRS, "pairs")
    assert (len(empty), len(full)) == (0, 3)
    assert list(empty.columns) == list(full.columns)
    if package == "polars":  # the strings of pandas depend on its version
        assert empty.schema == full.schema
        assert call(SCORES, "systems").schema == call(PAIRS, "systems").schema


SEGMENT_RESULTS: dict[str, SegmentTable | Flips] = {
    "segments": segment_scores(["x y", "z"], {"a": ["x", "z"], "b": ["x y", "w"]}, ["bleu", "ter"]),
    "documents": segment_scores(["x y", "z"], {"a": ["x", "z"], "b": ["x y", "w"]}, documents=["d", "e"]),
    "missing": segment_scores(metrics=SegmentScores("M", {"a": [1.5, None, 3], "b": [None, 2, 3]}, missing="pairwise")),
    "flips": flips(metric=RATINGS, system="b", baseline="a", threshold=3),
    "flips of documents": flips(metric=RATINGS, system="b", baseline="a", threshold=3, documents=["d", "d", "e", "e"]),
}


@pytest.mark.parametrize("name", SEGMENT_RESULTS)
@EACH_PACKAGE
def test_data_frames_of_segments_hold_the_same_rows(package: str, name: str) -> None:
    result = SEGMENT_RESULTS[name]
    if package == "polars":
        check_polars(result.to_polars(), result.to_dicts())
        return
    frame = result.to_pandas()
    if "documents" not in name:  # numbers of segments are never missing
        assert str(frame["segment"].dtype) == "int64"
        frame = frame.astype({"segment": "Int64"})
    check_pandas(frame, result.to_dicts())


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_without_the_package_the_error_says_what_to_install(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    for result in (PAIRS, SETS, *SEGMENT_RESULTS.values()):
        with pytest.raises(ModuleNotFoundError, match=f"pip install {package}; to_dicts works without it") as raised:
            getattr(result, f"to_{package}")()
        assert raised.value.name == package
