"""Every study, with plans, runs, tuning and agreement with people: formats, figures, pages, and reading them back."""

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import MISSING, fields, replace
from functools import cache
from typing import get_args

import pytest
from click.testing import CliRunner

from browser import Browser
from mutations import crashes
from reshuffle import InputError, StudyResult, read_html, read_json, types
from reshuffle.cli.root import cli
from reshuffle.cli.studies import COMMANDS, plan_command
from reshuffle.data.demo import write_demo
from reshuffle.report import Layout, Terminal, render
from reshuffle.report.studies import draw_figure, report_of
from reshuffle.report.studies.page import MAX_FIGURES
from reshuffle.results.studies import types_of
from schemas import validator
from test_human import RESULTS as HUMAN
from test_meta_report import RESULTS as META
from test_run_reports import RESULTS as RUNS
from test_study_power_reports import RESULTS as POWER
from test_tune import RESULTS as TUNE
from test_tune_smoothing import RESULTS as SMOOTHING

ALL = {**COMMANDS, "plan": plan_command}
# Results that other files make, by what is special about them.
OTHERS: dict[str, Callable[[], StudyResult]] = {**RUNS, **META, **POWER, **TUNE, **SMOOTHING, **HUMAN}
# Small numbers and few figures, for the commands that have these options.
SMALL = {
    "--simulations": "8", "--n-resamples": "79", "--sizes": "40", "--seed": "7", "--alphas": "0.05",
    "--layouts": "broad",
}  # fmt: skip


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
    small += ["--tests", "ar", "bootstrap"] if name == "agreement" else []
    # Figures take nearly all of the time, and most studies have some for each metric.
    metrics = ["bleu", "ter"] if name == "sensitivity" else ["bleu"]
    data = [*files, "-m", *metrics] if any(param.name == "reference" for param in ALL[name].params) else []
    words = [*command, *data, *small, "--format", "html"]
    outcome = CliRunner().invoke(cli, words)
    assert outcome.exit_code == 0, outcome.output + repr(outcome.exception)
    return outcome.stdout


@cache
def result_of(name: str, files: tuple[str, ...]) -> StudyResult:
    """The result of a command, or of another file."""
    found = OTHERS[name]() if name in OTHERS else read_html(page_of(name, files))
    assert isinstance(found, StudyResult)
    return found


@pytest.fixture
def result(name: str, files: list[str]) -> StudyResult:
    return result_of(name, tuple(files))


EVERY = pytest.mark.parametrize("name", [*ALL, *OTHERS])
# One result of each study: those of a command, and of the first result of each other file.
FIRST = [next(iter(others)) for others in (RUNS, META, POWER, TUNE, SMOOTHING, HUMAN)]
EACH_STUDY = pytest.mark.parametrize("name", [*ALL, *FIRST])


@EVERY
def test_the_result_is_read_back_and_follows_the_schema(result: StudyResult) -> None:
    written = result.render("json")
    read = read_json(written)
    assert read == result
    assert isinstance(read, type(result))
    for fmt in ("text", "latex", "csv"):  # in the same order, too
        assert read.render(fmt) == result.render(fmt)
    assert set(result.tables) <= set(types_of(result.study).tables)
    validator().validate(json.loads(written))
    assert re.match(r"(study:[\w-]+|human)\|", result.signature)
    assert type(result.plan) in types_of(result.study).plans


@EACH_STUDY
def test_a_missing_or_changed_setting_is_named(result: StudyResult) -> None:
    document = json.loads(result.render("json"))
    document |= {name: document[name][:1] for name in result.tables}
    needed = {each.name for each in fields(result.plan) if each.default is MISSING}  # type: ignore[arg-type]
    for name in needed:
        without = {key: value for key, value in document["plan"].items() if key != name}
        with pytest.raises(InputError, match=rf"plan\.{name}: the key is missing"):
            read_json(json.dumps(document | {"plan": without}))
        assert not validator().is_valid(document | {"plan": without})
    for name in document["plan"]:
        changed = {**document["plan"], name: [{"x": 1}]}
        with pytest.raises(InputError, match=rf"plan\.{name}(\[0\])?: expected"):
            read_json(json.dumps(document | {"plan": changed}))
        assert not validator().is_valid(document | {"plan": changed})


def test_the_settings_of_a_study_without_a_record_are_a_mapping(files: list[str]) -> None:
    result = result_of("type1", tuple(files))
    later = replace(result, study="later", plan={"x": (1, {"y": (0.1, None)})})
    read = read_json(later.render("json"))
    assert isinstance(read, StudyResult)
    assert (read.plan, read) == ({"x": [1, {"y": [0.1, None]}]}, later)


@pytest.mark.parametrize("name", ALL)
def test_a_changed_value_is_refused_or_shown(result: StudyResult) -> None:
    assert not crashes(result.render("json"), 12)


@EVERY
def test_every_format_is_written(result: StudyResult) -> None:
    tables = report_of(result.study).paper or report_of(result.study).tables
    for fmt in get_args(types.Format):
        if fmt == "html":  # another test opens the pages
            continue
        report = result.render(fmt)
        assert report.endswith("\n")
        if fmt in ("latex", "typst"):
            captions = (
                report.count("caption{") if fmt == "latex" else report.count("#figure(") - report.count("(continued)")
            )
            assert captions == len([*tables(result)])
        if fmt == "latex":  # pdflatex knows no other characters without further packages
            code = (line for line in report.splitlines() if not line.startswith("%"))
            assert [line for line in code if not line.isascii()] == []
    for width in (60, 80, 120):
        *lines, signature = render(result, "text", Layout(Terminal(width))).splitlines()
        assert [line for line in lines if len(line) > width] == []
        assert signature == f"Signature: {result.signature}"


@EVERY
def test_every_table_is_data(result: StudyResult) -> None:
    for key, records in result.tables.items():
        name = "pairs" if (result.study, key) == ("runs", "comparisons") else key
        rows = [*csv.DictReader(io.StringIO(result.render("csv", table=name)))]
        assert len(rows) == len(result.to_dicts(name)) >= len(records)  # scores of runs have a row for each metric
        frame = result.to_pandas(name)
        assert [*frame.columns] == [*(result.to_dicts(name) or [dict(frame)])[0]]


OF_RUNS = ("one run", "many runs", "all pairs")


@pytest.mark.parametrize(
    "name", [name for name in (*OF_RUNS, *META, *POWER, *TUNE, *SMOOTHING, *HUMAN) if "many metrics" not in name]
)
def test_every_figure_is_drawn(result: StudyResult) -> None:
    """The first for each choice. Those of commands and of many metrics are in pages."""
    for name, figure in report_of(result.study).figures.items():
        for chosen in figure.choices(result)[:1]:
            drawn = draw_figure(result, name, **chosen).figure
            assert all(axes.has_data() and "None" not in axes.get_ylabel() for axes in drawn.axes), name


@pytest.mark.parametrize("name", [*ALL, "example", "one system", "many metrics"])
def test_every_page_is_whole(browser: Browser, name: str, files: list[str], result: StudyResult) -> None:
    page = result.render("html") if name in OTHERS else page_of(name, tuple(files))
    assert page.endswith("\n")
    browser.open(page)
    for width in (1400, 400):
        browser.resize(width)
        assert browser.run("return document.documentElement.scrollWidth") == width
        beside = "each.offsetWidth < each.parentElement.clientWidth"
        assert not any(browser.each(".tables > .more", beside))  # no table stands there
    report = report_of(result.study)
    assert browser.one("h1").text == report.title(result)
    captions = [text.strip() for text in browser.texts("table caption")]
    own = [*report.tables(result)]
    parts = [*dict.fromkeys(table.page_part for table in own)]
    assert captions == [table.title for part in parts for table in own if table.page_part == part]
    headings, said = browser.texts(".part > h2"), report.explained(result)
    if any(parts):
        assert [heading.casefold() for heading in headings[: len(parts)]] == [part.casefold() for part in parts]
        for i, part in enumerate(parts, 2):
            assert browser.texts(f".part:nth-of-type({i}) > p") == said.get(part, [])
    links = [button.text for button in browser.all("#contents button")]
    assert links == browser.texts("main section > h2")
    assert browser.texts("#truths h2") == [report.truths] * bool(result.truths)
    truths = browser.texts("#truths dd")
    assert [truth.rstrip(".").casefold() for truth in truths] == [
        truth.rstrip(".").casefold() for truth in result.truths.values()
    ]
    assert all(truth[:1].isupper() and truth.endswith(".") for truth in truths)
    assert browser.texts("#truths dt") == [report.truth_title(name) for name in result.truths]
    figures = sum(len(figure.choices(result, figure.beyond)) for figure in report.figures.values())
    assert len(browser.all(".drawings img")) == min(figures, MAX_FIGURES)
    assert browser.run("return [...document.images].every((image) => image.naturalWidth > 100)")
    assert json.loads(browser.texts("#plan")[0]) == result.plan
    assert browser.texts("#signature") == [result.signature]
    assert browser.run("return document.querySelectorAll('body [style]').length") == 0
    ids = browser.run("return [...document.querySelectorAll('[id]')].map((each) => each.id)")
    assert len(ids) == len({*ids})
