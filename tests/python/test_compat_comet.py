"""``python -m reshuffle.compat.comet``: files that comet-score and comet-compare wrote, plain loops, and bad input."""

from __future__ import annotations

import gzip
import json
import math
import re
from functools import partial
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import special, stats

from budgets import budget
from inputs import put, scores_by_system
from known import known
from programs import Program, copies, program
from reshuffle import InputError, SegmentScores, _core, compare, read_scores
from reshuffle.compat import comet
from reshuffle.compat.comet import report, resampled_means, resampling, statistical_results
from reshuffle.compat.comet.outputs import as_json
from reshuffle.data.formats.base import Source
from reshuffle.data.formats.comet import read_records
from told import assert_refused

# Written by unbabel-comet 2.2.7 (torch 2.14.1, numpy 1.26.4, scipy 1.15.3), with stored scores in place of a model:
# python -m benches.races.programs.comet_without_model score|compare … -s src.txt -t SYSTEMS -r ref.txt --to_json FILE
FILES = Path(__file__).parents[1] / "data/comet"
SYSTEMS = ["a.txt", "out/b-long-name-of-a-system.txt", "c.txt", "same.txt"]
TEXTS = ["-s", "src.txt", "-t", *SYSTEMS, "-r", "ref.txt"]
# SciPy 1.15 and 1.16 compute the moments of 32-bit scores in 32 bits, as that of the files did; 1.17 everything.
SCIPY = tuple(map(int, version("scipy").split(".")[:2]))


files, ran = copies(FILES), program(comet.main)


def rounded(value: Any) -> Any:
    """The same JSON with numbers of 6 significant digits."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return list(map(rounded, value)) if isinstance(value, list) else value


@pytest.mark.parametrize("scores", ["comet.json", "comet-score.out"])
def test_report_and_json_equal_those_of_comet_compare(files: None, ran: Program, scores: str) -> None:
    given = json.loads(Path("comet.json").read_text("utf-8"))
    if scores != "comet.json":  # four decimals; the values of the file are longer
        text = Path(scores).read_text("utf-8")
        for name in SYSTEMS:
            for number, segment in enumerate(given[name]):
                text = text.replace(
                    f"{name}\tSegment {number}\tscore: {segment['COMET']:.4f}",
                    f"{name}\tSegment {number}\tscore: {segment['COMET']}",
                )
        Path(scores).write_text(text, "utf-8")
    out = ran(*TEXTS, "--scores", scores, "--to_json", "ours.json").out
    assert out.replace("ours.json", "comet-compare.json") == Path("comet-compare.out").read_text("utf-8")
    ours, theirs = Path("ours.json").read_text("utf-8"), Path("comet-compare.json").read_text("utf-8")
    assert rounded(json.loads(ours)) == rounded(json.loads(theirs))
    if (1, 15) <= SCIPY < (1, 17):
        assert to_10_digits(ours) == to_10_digits(theirs)


def to_10_digits(text: str) -> str:
    """The same text of JSON with 10 digits of each p-value: the last ones depend on SciPy and the processor."""
    return re.sub(r'(?<="p_value": )[\d.e-]+', lambda p: f"{float(p[0]):.10g}", text)


@pytest.mark.parametrize("scores", ["comet.json", "comet-compare.json"])
def test_texts_are_those_that_were_scored_if_they_are_not_given(files: None, ran: Program, scores: str) -> None:
    out = ran("--scores", scores, "--to_json", "ours.json", "-d", "wmt20:de-en").out
    assert out.splitlines()[:-1] == Path("comet-compare.out").read_text("utf-8").splitlines()[:-1]
    theirs = json.loads(Path("comet-compare.json").read_text("utf-8"))
    assert rounded(json.loads(Path("ours.json").read_text("utf-8"))) == rounded(theirs)
    # Written again, because it is an earlier output; another file is not overwritten.
    ran("--scores", scores, "--to_json", "ours.json")
    assert "src.txt exists" in ran("--scores", "comet.json", "--to_json", "src.txt", code=2).err


def test_a_file_of_numbers_for_each_system_and_some_of_the_systems(files: None, ran: Program) -> None:
    scored = json.loads(Path("comet.json").read_text("utf-8"))
    for name, file in zip(SYSTEMS, "wxyz", strict=True):
        put(file, "".join(f"{segment['COMET']}\n" for segment in scored[name]))
    expected = ran("-t", "c.txt", "a.txt", "--scores", "comet.json").out
    assert ran("-t", "c.txt", "a.txt", "--scores", "y", "w").out == expected
    assert "x_name: c.txt\ny_name: a.txt" in expected
    assert expected.splitlines()[-1] == "a.txt                  False"
    assert "not adjusted for 6 pairs" in ran("--scores", "comet.json").err


def test_lines_end_where_they_do_in_comet(files: None, ran: Program) -> None:
    expected = ran(*TEXTS, "--scores", "comet.json").out
    for name in ("src.txt", "a.txt"):
        Path(name).write_bytes(Path(name).read_bytes().replace(b"\n", b"\r"))
    Path("ref.txt.gz").write_bytes(gzip.compress(Path("ref.txt").read_bytes()))
    assert ran(*TEXTS[:-1], "ref.txt.gz", "--scores", "comet.json").out == expected


def twin(scores: dict[str, NDArray[Any]], splits: int, ratio: float, alternative: Any) -> list[dict[str, Any]]:
    """comet-compare's numbers, one pair after the other."""
    names, matrix = list(scores), np.array(list(scores.values()), dtype="float32")
    n = matrix.shape[1]
    ids = np.random.RandomState(1).choice(n, size=(max(int(n * ratio), 1), splits), replace=True)
    means = np.mean(np.take(matrix, ids, axis=1), axis=1)
    results = []
    for i, j in combinations(range(len(names)), 2):
        delta = means[i] - means[j]
        with np.errstate(all="ignore"):
            test = stats.ttest_rel(matrix[i], matrix[j], alternative=alternative)
        results.append(
            {
                "x_name": names[i],
                "y_name": names[j],
                "bootstrap_resampling": {
                    "x-mean": float(np.mean(means[i])),
                    "y-mean": float(np.mean(means[j])),
                    "ties (%)": float((np.absolute(delta) < 0.001).sum()) / splits,
                    "x_wins (%)": float((delta >= 0.001).sum()) / splits,
                    "y_wins (%)": float((delta <= -0.001).sum()) / splits,
                },
                "paired_t-test": {"statistic": float(test.statistic), "p_value": float(test.pvalue)},
            }
        )
    return results


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize("block", [1, 50, 1 << 19])
@settings(max_examples=budget(25))
@given(
    seed=st.integers(0, 2**32 - 1),
    n_systems=st.integers(2, 5),
    n_segments=st.integers(2, 60),
    splits=st.integers(1, 40),
    ratio=st.sampled_from([0.01, 0.4, 1.0, 1.7]),
    alternative=st.sampled_from(resampling.ALTERNATIVES),
    digits=st.integers(1, 7),
)
def test_all_numbers_equal_a_plain_loop(
    block: int, seed: int, n_systems: int, n_segments: int, splits: int, ratio: float, alternative: str, digits: int
) -> None:
    random = np.random.default_rng(seed)
    matrix = (random.random(n_segments) + random.normal(0, 0.01, (n_systems, n_segments))).round(digits)
    scores = {f"system {i}": row for i, row in enumerate(matrix)}
    before, resampling.BLOCK = resampling.BLOCK, block
    try:
        results = statistical_results(scores, num_splits=splits, sample_ratio=ratio, t_test_alternative=alternative)
    finally:
        resampling.BLOCK = before
    expected = twin(scores, splits, ratio, alternative)
    for ours, theirs in zip(results, expected, strict=True):
        tests = [result.pop("paired_t-test") for result in (ours, theirs)]
        assert ours == theirs
        for name in ("statistic", "p_value"):
            actual, desired = (test[name] for test in tests)
            if SCIPY < (1, 17) and name == "statistic":
                np.testing.assert_equal(actual, desired)
            np.testing.assert_allclose(actual, desired, rtol=1e-3, atol=1e-30)


@pytest.mark.parametrize("freedom", [1, 2, 3, 7, 100, 3003])
def test_the_distribution_of_t_is_scipys(freedom: int) -> None:
    t = np.concatenate([-np.geomspace(1e-3, 40, 500), np.geomspace(1e-3, 9, 200), [0.0, math.inf, -math.inf]])
    expected = 0.5 + np.arctan(t) / math.pi if freedom == 1 else special.stdtr(float(freedom), t)
    np.testing.assert_allclose(resampling.student_t(freedom, t), expected, rtol=1e-12, atol=1e-15)
    assert np.isnan(resampling.student_t(freedom - 1, np.array([math.nan]))).all()


def test_the_tests_beside_it_are_those_of_compare(files: None, ran: Program) -> None:
    out = ran("--scores", "comet.json", "--tests", "ar", "t-test", "-n", "500", "--to_json", "ours.json").out
    assert out.startswith(Path("comet-compare.out").read_text("utf-8").split("Predictions")[0])
    table = read_scores("comet.json")
    assert table.segments is not None
    metric = SegmentScores("COMET", dict(zip(table.systems, table.segments, strict=True)))
    written = json.loads(Path("ours.json").read_text("utf-8"))
    for test in ("ar", "t-test"):
        result = compare(metrics=[metric], test=test, all_pairs=True, n_resamples=500)
        assert f"\n{test}\n\n{result}\n" in out
        assert written["reshuffle"][test] == json.loads(result.render("json"))


def test_scores_in_a_file_of_comet_compare(files: None) -> None:
    expected = np.asarray(read_scores("comet.json").segments)
    for scores in (read_scores("comet-compare.json").segments, list(scores_by_system("comet-compare.json").values())):
        np.testing.assert_allclose(np.asarray(scores), expected, rtol=1e-7)  # rounded to 32 bits
    compared = json.loads(Path("comet-compare.json").read_text("utf-8"))
    compared["translations"][2]["scores"][3] = "seven"
    compared["source"][0] = '"scores": [1'
    put("changed.json", json.dumps(compared, indent=1))
    lines = Path("changed.json").read_text("utf-8").splitlines()
    (number,) = (number for number, line in enumerate(lines, 1) if "seven" in line)
    with pytest.raises(InputError, match=f"changed.json#COMET, line {number}: expected a finite number, got the"):
        read_scores("changed.json")
    del compared["translations"][1]["name"]
    put("changed.json", json.dumps(compared, indent=1))
    with pytest.raises(InputError, match="expected another name and a list of scores in number 2 of 'translations'"):
        read_scores("changed.json")


def test_bad_input(files: None, ran: Program) -> None:
    assert_refused("errors_of_comet", partial(ran, code=2), "comet-compare")


def test_scores_of_files_of_comet_are_read_by_the_option_scores(files: None, run: Program) -> None:
    expected = json.loads(Path("comet.json").read_text("utf-8"))
    by_system, of_lines = scores_by_system("comet.json"), scores_by_system("comet-score.out")
    assert by_system == {name: [segment["COMET"] for segment in expected[name]] for name in SYSTEMS}
    for name in SYSTEMS:
        assert [f"{score:.4f}" for score in by_system[name]] == [f"{score:.4f}" for score in of_lines[name]]
    texts = ["ref.txt", *reversed(SYSTEMS)]
    found = run("compare", *texts, "-m", "bleu", "--scores", "COMET", "comet.json", "-n", "100", "--format", "json")
    assert [metric["name"] for metric in json.loads(found.out)["metrics"]] == ["BLEU", "COMET"]


@given(
    counts=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    breaks=st.lists(st.sampled_from(["", "\n", "\n  \n", " "]), min_size=60, max_size=60),
    named=st.booleans(),
)
def test_the_line_of_a_segment_is_that_of_its_brace(counts: list[int], breaks: list[str], named: bool) -> None:
    """In any layout, and with braces and brackets in the texts."""
    gaps = iter(breaks)
    text, lines = next(gaps) + ("{" if named else "["), []
    for system, n in enumerate(counts if named else counts[:1]):
        text += ("," if system else "") + next(gaps) + (f'"s{system}"{next(gaps)}:{next(gaps)}[' if named else "")
        for segment in range(n):
            text += ("," if segment else "") + next(gaps)
            lines.append(text.count("\n") + 1)
            text += f'{{"src": "]}} [{{ \\" {segment}",{next(gaps)}"COMET": 0.5}}'
        text += "]" if named else ""
    text += "}" if named else "]"
    records = read_records(Source("x.json", text.encode()))
    assert list(records.lines) == lines
    assert [n for _, n in records.systems] == (counts if named else counts[:1])


def test_outputs_of_metricx_and_bleurt(here: None) -> None:
    """MetricX adds ``prediction`` to the objects of its input (metricx24/predict.py); BLEURT writes a number on each
    line (bleurt/score_files.py)."""
    rows = [
        {"source": "x", "hypothesis": "y", "reference": "z", "segment_id": s, "system_id": n, "prediction": s + i / 2}
        for i, n in enumerate("ab")
        for s in (1, 2)
    ]
    one = [{key: value for key, value in row.items() if not key.endswith("_id")} for row in rows]
    put("metricx.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    put("one.jsonl", "".join(json.dumps(row) + "\n" for row in one))
    put("bleurt", "0.25\n-1.5\n")
    put("list.json", '[{"mt": "x", "COMET": 0.5, "other": 1}, {"mt": "y", "COMET": null, "other": 2}]')
    assert scores_by_system("metricx.jsonl") == {"a": [1, 2], "b": [1.5, 2.5]}
    assert scores_by_system("one.jsonl") == {None: [1, 2, 1.5, 2.5]}
    assert scores_by_system("bleurt") == {None: [0.25, -1.5]}
    assert scores_by_system("list.json#other") == {None: [1, 2]}
    for file, *named, segments in (
        ("metricx.jsonl", "prediction", ("a", "b"), [[1, 2], [1.5, 2.5]]),
        ("bleurt", "bleurt", ("system",), [[0.25, -1.5]]),
        ("list.json", "COMET", ("system",), [[0.5, np.nan]]),
    ):
        table = read_scores(str(file))
        assert [table.name, table.systems] == named
        np.testing.assert_array_equal(table.segments, segments)


TEXT = st.text(st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from('"\\\n\t /é\x1f\x7f😀')), max_size=6)


@given(data=st.data(), ascii_only=st.booleans(), indent=st.sampled_from([None, 4]))
def test_the_core_reads_what_python_reads(data: st.DataObject, ascii_only: bool, indent: int | None) -> None:
    keys = data.draw(st.lists(st.sampled_from(["src", "mt", "ref", "other"]), unique=True))
    fixed: dict[str, st.SearchStrategy[Any]] = dict.fromkeys(keys, TEXT)
    segment = st.fixed_dictionaries({"COMET": st.floats(allow_nan=False, allow_infinity=False), **fixed})
    n = data.draw(st.integers(1, 3))
    value = data.draw(st.dictionaries(TEXT, st.lists(segment, min_size=n, max_size=n), min_size=1, max_size=3))
    content = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()
    systems, scores, texts = known(_core.read_comet(content))
    assert systems == list(value)
    assert scores == [[segment["COMET"] for segment in segments] for segments in value.values()]
    read_keys = [key for key in ("src", "mt", "ref") if key in keys]
    assert texts == {key: [[segment[key] for segment in segments] for segments in value.values()] for key in read_keys}


@given(st.binary(max_size=40) | st.text('{}[]":,.0eE-a\\u ', max_size=40).map(str.encode))
def test_the_core_reads_nothing_that_python_refuses(content: bytes) -> None:
    if _core.read_comet(content) is not None:
        json.loads(content)


@given(position=st.integers(0, 10_000), replaced=st.sampled_from(list(map(chr, range(128)))))
def test_the_core_leaves_faults_to_python(position: int, replaced: str) -> None:
    text = (FILES / "comet.json").read_text("utf-8")[:3000]
    text = text[: text.rindex("}") + 1] + "]}"
    position %= len(text)
    text = text[:position] + replaced + text[position + 1 :]
    read = _core.read_comet(text.encode())
    if read is not None:
        scored = [[segment["COMET"] for segment in segments] for segments in json.loads(text).values()]
        assert scored == read[1]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.lists(TEXT, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
)


@given(JSON)
def test_the_file_is_that_of_json(value: Any) -> None:
    assert as_json(value) == json.dumps(value, ensure_ascii=False, indent=4)


def test_wide_and_narrow_names_in_the_table() -> None:
    scores = {"x": [0.1, 0.2, 0.3], "a very long name of a system": [0.2, 0.4, 0.7]}
    lines = report(statistical_results(scores), list(scores)).splitlines()
    # tabulate 0.10.0 prints the same.
    assert lines[-4:-2] == [
        "system_x \\ system_y           x      a very long name of a system",
        "----------------------------  -----  ------------------------------",
    ]


def test_means_of_one_draw_are_summed_as_by_numpy() -> None:
    scores = np.random.default_rng(3).random((3, 5000)).astype("float32")
    ids = np.random.RandomState(7).choice(5000, size=(4000, 1))
    assert np.array_equal(resampled_means(scores, 1, 4000, 7), np.take(scores, ids, axis=1).mean(axis=1))
