"""Every study and ``reshuffle plan``: all formats, figures and pages, and reading the results back."""

from __future__ import annotations

import csv
import io
import json
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner

from browser import Browser
from mutations import crashes
from reshuffle import StudyResult, read_html, read_json, types
from reshuffle.cli.root import cli
from reshuffle.cli.studies import COMMANDS
from reshuffle.cli.studies.commands import plan_command
from reshuffle.data.demo import write_demo
from reshuffle.report import Layout, Terminal
from reshuffle.report.plots import file_of
from reshuffle.report.studies import STUDIES, draw_figure, render_study
from reshuffle.report.studies.page import MAX_FIGURES
from reshuffle.report.studies.plots import choices
from reshuffle.results.studies import RECORDS

ALL = {**COMMANDS, "plan": plan_command}
SCHEMA = Path(__file__).resolve().parents[2] / "docs/schema/study-1.json"
# Small numbers, for the commands that have these options.
SMALL = {"--simulations": "20", "--n-resamples": "39", "--sizes": "40", "--seed": "7"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The reference and three systems of the demo."""
    folder = tmp_path_factory.mktemp("demo")
    write_demo(str(folder))
    return [str(folder / f"{name}.txt") for name in ("reference", "baseline", "tuned", "larger")]


@cache
def page_of(name: str, files: tuple[str, ...]) -> str:
    """The page that a command writes."""
    known = {option for param in ALL[name].params for option in param.opts}
    small = [word for option, value in SMALL.items() if option in known for word in (option, value)]
    small += ["--simulate"] if "--simulate" in known else []
    command = ["study", name] if name in COMMANDS else [name]
    # Figures take nearly all of the time, and these studies have one for each metric and system, or pair of them.
    metrics = ["bleu"] if name in ("samples", "agreement") else ["bleu", "ter"]
    words = [*command, *files, "-m", *metrics, *small, "--format", "html"]
    outcome = CliRunner().invoke(cli, words)
    assert outcome.exit_code == 0, outcome.output + repr(outcome.exception)
    return outcome.stdout


@pytest.fixture(params=ALL)
def page(request: Any, files: list[str]) -> str:
    """The page of each study in turn."""
    return page_of(request.param, tuple(files))


@pytest.fixture
def result(page: str) -> StudyResult:
    """The result of each study in turn."""
    found = read_html(page)
    assert isinstance(found, StudyResult)
    return found


def test_the_result_is_read_back_and_follows_the_schema(result: StudyResult) -> None:
    written = result.render("json")
    assert read_json(written) == result
    assert set(result.tables) <= set(RECORDS)
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema checks the documents")
    jsonschema.validate(json.loads(written), json.loads(SCHEMA.read_text("utf-8")))
    assert result.signature.startswith(f"study:{result.study}|")
    assert result.plan


def test_a_changed_value_is_refused_or_shown(result: StudyResult) -> None:
    assert not crashes(result.render("json"), 12)


def test_every_format_is_written(page: str, result: StudyResult) -> None:
    tables = [table for table, _ in STUDIES[result.study].tables(result)]
    for fmt in get_args(types.Format):
        report = page if fmt == "html" else result.render(fmt)
        assert report.endswith("\n")
        if fmt in ("latex", "typst"):
            assert report.count("caption{" if fmt == "latex" else "#figure(") == len(tables)
        if fmt == "latex":  # pdflatex knows no other characters without further packages
            code = (line for line in report.splitlines() if not line.startswith("%"))
            assert [line for line in code if not line.isascii()] == []
    for width in (80, 120):
        *lines, signature = render_study(result, "text", Layout(Terminal(width))).splitlines()
        assert [line for line in lines if len(line) > width] == []
        assert signature == f"Signature: {result.signature}"


def test_every_table_is_data(result: StudyResult) -> None:
    for name, records in result.tables.items():
        rows = [*csv.DictReader(io.StringIO(result.render("csv", table=name)))]
        assert len(rows) == len(records) == len(result.to_dicts(name))
        assert [*result.to_pandas(name).columns] == [*(result.to_dicts(name) or [dict(result.to_pandas(name))])[0]]


def test_every_figure_is_drawn(result: StudyResult) -> None:
    for name, figure in STUDIES[result.study].figures.items():
        for chosen in choices(result, figure)[:1]:  # the page has them all
            assert file_of(draw_figure(result, name, **chosen), "pdf").startswith(b"%PDF")


def test_every_page_is_whole(browser: Browser, page: str, result: StudyResult) -> None:
    browser.open(page)
    for width in (1400, 400):
        browser.resize(width)
        assert browser.run("return document.documentElement.scrollWidth") == width
    assert browser.one("h1").text == STUDIES[result.study].title(result)
    figures = sum(len(choices(result, figure)) for figure in STUDIES[result.study].figures.values())
    assert len(browser.all("#figures img")) == min(figures, MAX_FIGURES)
    assert browser.run("return [...document.images].every((image) => image.naturalWidth > 100)")
    assert browser.texts("#signature") == [result.signature]
    ids = browser.run("return [...document.querySelectorAll('[id]')].map((each) => each.id)")
    assert len(ids) == len({*ids})
