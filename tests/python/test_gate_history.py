"""The history of a gate, and trends over it."""

import base64
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import reshuffle
from gates import noisy
from reshuffle import Gate, InputError, gate


def nightly(path: Path, mean: float, seed: int) -> Gate:
    return gate(metrics=noisy(60, mean, seed=seed), margin={"points": 2}, n_resamples=99, history=path)


def test_a_history_has_a_line_for_each_run_and_its_trend_is_said(tmp_path: Path) -> None:
    path = tmp_path / "nights.jsonl"
    for night in range(7):
        found = nightly(path, -night / 10, night)
        assert (found.trends, found.n_runs) == ((), night + 1)
    assert "No trend is tested: a task needs 8 runs with other outputs than the run before, of which" in str(found)
    before = path.read_bytes()
    (trend,) = (found := nightly(path, -0.7, 7)).trends
    assert path.read_bytes().startswith(before)
    assert trend.n_runs == 8
    assert trend.tau == pytest.approx(-1)
    # Of 8! orders, two have |τ| = 1.
    assert trend.pvalue == pytest.approx(2 / 40320)
    assert "The scores of points fall over 8 runs" in str(found)
    _, drawn = re.findall(r"data:image/svg\+xml;base64,([\w+/=]+)", found.render("html"))
    image, svg = ElementTree.fromstring(base64.b64decode(drawn)), "{http://www.w3.org/2000/svg}"
    (polyline,) = image.iter(f"{svg}polyline")
    heights = [float(point.split(",")[1]) for point in str(polyline.get("points")).split()]
    assert len(heights) == 8
    assert heights == sorted(heights)  # from the top, so that scores fall
    # The baseline has 0, and the margin is below it.
    level = [
        line for line in image.iter(f"{svg}line") if line.get("y1") == line.get("y2") and line.get("x2") == "416.0"
    ]
    at = {bool(line.get("stroke-dasharray")): float(str(line.get("y1"))) for line in level}
    margin = found.tasks[0].margin
    assert margin is not None
    assert at[False] == pytest.approx(heights[0], abs=0.1)
    assert at[True] - at[False] == pytest.approx(margin * (heights[-1] - heights[0]) / 0.7, abs=0.2)
    assert [text.text for text in image.iter(f"{svg}text")] == ["−0.0002", "−0.7000", "1", "8"]
    line = json.loads(path.read_text().splitlines()[-1])
    assert (line["digest"], line["verdict"], line["tasks"][0]["system_score"]) == (found.digest, found.verdict, -0.7)
    # A file of somebody else may have anything.
    saved = found.render("json")
    assert reshuffle.read_json(saved) == found
    for key, value, message in (
        ("task", "other", "unknown task 'other'"),
        ("scores", [1.0] * 8, "not all equal"),
        ("scores", [1.0, 2.0], "a score for each run"),
    ):
        changed = json.loads(saved)
        changed["trends"][0][key] = value
        with pytest.raises(InputError, match=message):
            reshuffle.read_json(json.dumps(changed))
    # The same outputs again are no further evidence.
    (again,) = nightly(path, -0.7, 7).trends
    assert again == trend


def test_orders_without_a_trend_are_said_to_have_none(tmp_path: Path) -> None:
    path = tmp_path / "nights.jsonl"
    for night, mean in enumerate([0.1, 0.4, -0.2, 0.3, 0.0, 0.2, -0.1, 0.25]):
        found = nightly(path, mean, night)
    assert "No trend over 8 runs" in str(found)


def test_a_damaged_end_of_a_history_is_dropped_with_a_word(tmp_path: Path) -> None:
    path = tmp_path / "nights.jsonl"
    for night in range(3):
        nightly(path, 0, night)
    whole = path.read_bytes()
    for damaged in (whole + b'{"time": "20', whole + b"\xff\xfe\n", whole[:-1], whole + b"{}\n"):
        path.write_bytes(damaged)
        kept = 2 if damaged == whole[:-1] else 3
        with pytest.warns(reshuffle.InputWarning, match=f"the end, after line {kept}, is damaged and was cut off"):
            nightly(path, 0, 9)
        assert len(path.read_bytes().splitlines()) == kept + 1
        assert path.read_bytes().startswith(b"".join(whole.splitlines(keepends=True)[:kept]))


def test_a_history_that_cannot_be_written_is_an_error_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nights\.jsonl cannot be written: No such file"):
        nightly(tmp_path / "missing" / "nights.jsonl", 0, 1)


def test_a_line_that_a_full_disk_cuts_is_an_error(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")  # a limit of a file's size stands for the end of a disk
    path = tmp_path / "nights.jsonl"
    nightly(path, 0, 1)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 9, limits[1]))
    try:
        with pytest.raises(InputError, match=r"nights\.jsonl cannot be written"):
            nightly(path, 0, 2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_file_that_is_no_history_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "nights.jsonl"
    path.write_text("BLEU = 3\n")
    with pytest.raises(InputError, match=r"line 1: expected a line of the history of a gate: .*; name another file"):
        nightly(path, 0, 1)
    nightly(good := tmp_path / "good.jsonl", 0, 1)
    for damaged in (b"x\n", b"x\ny\n"):
        path.write_bytes(good.read_bytes() + damaged + good.read_bytes())
        with pytest.raises(InputError, match=r"line 2: expected a line of the history of a gate: .*; remove the line"):
            nightly(path, 0, 1)
    assert b"x\n" in path.read_bytes()
