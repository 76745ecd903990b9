"""Figures: the command line."""

from __future__ import annotations

import io
import os
import re
import shutil
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from plotted import KINDS, panels
from reshuffle import SegmentScores, TestSet, compare, compare_sets, read_json
from reshuffle.data.demo import demo_corpus
from reshuffle.report.plots import figure_of, file_of
from reshuffle.report.plots.style import PaperFigure
from told import assert_refused


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of saved results: of all pairs, of several test sets with and without their average, of scores."""
    folder = tmp_path_factory.mktemp("saved")
    corpus = demo_corpus()
    references, outputs = corpus.references, {name: corpus.systems[name] for name in ("baseline", "tuned", "larger")}
    sets = {name: TestSet(references, outputs) for name in ("one", "two")}
    options: Any = {"n_resamples": 200}
    results: dict[str, Any] = {
        "pairs.json": compare(references, outputs, ["bleu", "ter"], all_pairs=True, **options),
        "baseline.json": compare(references, outputs, **options),
        "sets.json": compare_sets(sets, all_pairs=True, **options),
        "apart.json": compare_sets(sets, all_pairs=True, average=False, **options),
    }
    for name, result in results.items():
        (folder / name).write_text(result.render("json"), "utf-8")
    (folder / "pairs.html").write_text(results["pairs.json"].render("html"), "utf-8")
    (folder / "names.tsv").write_text("tuned\tOurs\nbaseline\tBase\n")
    (folder / "names.pdf").write_text("tuned\tOurs\n")
    (folder / "others.tsv").write_text("nobody\tx\n")
    (folder / "text.txt").write_text("some text\n")
    return folder


@pytest.fixture
def results(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that folder, which is the current directory."""
    shutil.copytree(saved, tmp_path / "results")
    monkeypatch.chdir(tmp_path / "results")
    return tmp_path / "results"


START = {"pdf": b"%PDF-1.4", "svg": b"<?xml", "png": b"\x89PNG"}


@pytest.mark.parametrize(("kind", "fmt"), [*zip(KINDS, ("pdf", "svg", "png", "pdf", "svg"), strict=True)])
def test_plot_writes_what_the_methods_draw(
    results: Path, run: Any, monkeypatch: pytest.MonkeyPatch, kind: str, fmt: str
) -> None:
    """Of results in JSON, in HTML and from standard input."""
    options: dict[str, Any] = {"metric": "TER", "digits": 3, "width": 3.5, "height": 2.5}
    if kind == "null":
        options |= {"system": "tuned", "baseline": "baseline"}
    if kind == "forest":
        options["baseline"] = "tuned"
    flags = {"--system": ["--pair"], "--baseline": [] if kind == "null" else ["--baseline"]}
    pairs = ((*flags.get(f"--{name}", [f"--{name}"]), value) for name, value in options.items())
    arguments = [str(word) for option in pairs for word in option]
    source = {"forest": "pairs.html", "matrix": "-"}.get(kind, "pairs.json")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((results / "pairs.html").read_bytes())))
    outcome = run("plot", source, kind, "-o", f"out.{fmt}", *arguments, "--names", "names.tsv")
    assert outcome == (0, "", "")
    content = (results / f"out.{fmt}").read_bytes()
    assert content.startswith(START[fmt])
    comparison: Any = read_json("pairs.json")
    ax = getattr(comparison.plot, kind)(names={"tuned": "Ours", "baseline": "Base"}, **options)
    assert content == file_of(ax.figure, fmt)


def test_plot_shows_the_average_or_a_test_set(results: Path, run: Any) -> None:
    result: Any = read_json("sets.json")
    for arguments, comparison in ((["--set", "two"], result["two"]), ([], result.average)):
        assert run("plot", "sets.json", "null", "--pair", "tuned", "larger", "-o", "out.svg", *arguments).code == 0
        panel: dict[str, Any] = {comparison.metrics[0].name: (comparison, comparison.metrics[0].name)}
        options: dict[str, Any] = {"system": "tuned", "baseline": "larger", "test_set": "".join(arguments[1:])}
        expected = file_of(figure_of("null", panel, **options), "svg")
        assert (results / "out.svg").read_bytes() == expected
    assert run("plot", "apart.json", "ranking", "--set", "one", "-o", "out.svg").code == 0


def test_bad_arguments_give_one_sentence_and_keep_the_output(results: Path, run: Any) -> None:
    (results / "x.pdf").write_bytes(b"old")
    before = {path: path.read_bytes() for path in results.rglob("*") if path.is_file()}
    assert_refused("errors_of_plot", run)
    assert before == {path: path.read_bytes() for path in results.rglob("*") if path.is_file()}


@pytest.mark.parametrize("kind", ["matrix", "null"])
def test_several_metrics_have_a_panel_each(results: Path, run: Any, kind: str) -> None:
    pair = ["--pair", "tuned", "baseline"] if kind == "null" else []
    assert run("plot", "pairs.json", kind, "-o", "out.svg", *pair).code == 0
    comparison: Any = read_json("pairs.json")
    made = panels(comparison, kind, **({"system": "tuned", "baseline": "baseline"} if pair else {}))
    assert [ax.get_title("left") for ax in made] == ([""] * 2 if pair else ["BLEU", "TER"])
    out = (results / "out.svg").read_bytes()
    # The ids of clip paths are hashes of what the solver of the layout finds, which may differ in the last digit.
    drawn, written = (re.sub(rb"#?\bp[0-9a-f]{10}\b", b"", svg) for svg in (file_of(made[0].figure, "svg"), out))
    assert drawn == written
    assert len([ax for ax in made if ax.get_legend() is not None]) == (kind == "matrix")


def test_plot_says_that_panels_have_other_baselines(tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PaperFigure, "savefig", lambda figure, file, **_: file.write(b"<svg>"))
    scores = {"a": [1.0, 2.0, 3.0] * 9, "b": [2.0, 2.0, 4.0] * 9, "c": [2.0, 2.0, 3.0] * 9}
    metrics = [SegmentScores("m", scores), SegmentScores("errors", scores, higher_is_better=False)]
    saved = tmp_path / "saved.json"
    saved.write_text(compare(metrics=metrics, all_pairs=True, n_resamples=99).render("json"), "utf-8")
    said = "reshuffle: the differences are from the best system under each metric, b (m) and a (errors): --baseline"
    plot = ("plot", str(saved), "forest", "-o", str(tmp_path / "x.svg"))
    assert run(*plot).err.startswith(said)
    assert (run(*plot, "--baseline", "c").err, run(*plot, "-m", "errors").err) == ("", "")


def test_a_pipe_is_written_to_directly(results: Path, run: Any) -> None:
    os.mkfifo("pipe.png")
    # Opened without waiting for the writer, which may fail before it opens the pipe. The picture fits into the pipe.
    reader = os.open("pipe.png", os.O_RDONLY | os.O_NONBLOCK)
    outcome = run("plot", "baseline.json", "forest", "-o", "pipe.png")
    assert (outcome, os.read(reader, 4)) == ((0, "", ""), b"\x89PNG")
    os.close(reader)
    assert stat.S_ISFIFO(os.stat("pipe.png").st_mode)  # noqa: PTH116
