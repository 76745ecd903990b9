"""Tables of counts and a formula on the command line: ``--counts NAME:FORMULA FILE …``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reshuffle import FromCounts, compare, read_json

FORMULA = "100 * edits / chars"


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, list[int]]]:
    """Files ``a.tsv`` and ``b.tsv`` in the current directory, with a column of ids, and what they hold."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    chars = rng.integers(20, 90, 50)
    found = {}
    for name, rate in (("a", 0.1), ("b", 0.12)):
        edits = rng.binomial(chars, rate)
        lines = [f"spk{i // 5}-{i}\t{e}\t{c}\tspk{i // 5}" for i, (e, c) in enumerate(zip(edits, chars, strict=True))]
        Path(f"{name}.tsv").write_text("\n".join(["utterance\tedits\tchars\tspeaker", *lines, ""]))
        found[name] = {"edits": edits.tolist(), "chars": chars.tolist()}
    return found


def run_json(run: Callable[..., Any], *arguments: str) -> Any:
    outcome = run("compare", *arguments, "-n", "199", "--format", "json")
    assert (outcome.code, outcome.err) == (0, "")
    Path("result.json").write_text(outcome.out)
    return read_json("result.json")


def test_tables_are_compared_as_in_python(tables: dict[str, Any], run: Callable[..., Any]) -> None:
    result = run_json(run, "--counts", f"CER:{FORMULA}", "a.tsv", "b.tsv", "--lower-is-better", "CER")
    expected = compare(metrics=FromCounts("CER", tables, FORMULA, higher_is_better=False), n_resamples=199)
    assert (result.scores, result.signature) == (expected.scores, expected.signature)
    assert result.comparisons[0].test == expected.comparisons[0].test
    assert result.metrics[0].signature == "CER|counts:given|formula:100*edits/chars"
    options = "--docs", "a.tsv#speaker", "--lower-is-better", "CER"
    speakers = run_json(run, "--counts", f"CER:{FORMULA}", "a.tsv", "b.tsv", *options)
    assert (speakers.unit, speakers.n_units, speakers.n_segments) == ("document", 10, 50)


def test_tables_stand_beside_texts_and_scores(tables: dict[str, Any], run: Callable[..., Any]) -> None:
    for name in ("ref", "a", "b"):
        Path(f"{name}.txt").write_text("".join(f"{name} is line {i}\n" for i in range(50)))
    texts = ["ref.txt", "a.txt", "b.txt", "-m", "chrf"]
    both = ["--counts", "len:chars/segments", "b.tsv", "a.tsv", "--scores", "x", "a.tsv#edits", "b.tsv#edits"]
    result = run_json(run, *texts, *both)
    assert [metric.name for metric in result.metrics] == ["chrF2", "x", "len"]
    mean = sum(tables["b"]["chars"]) / 50
    assert next(each.score for each in result.scores if (each.metric, each.system) == ("len", "b")) == mean


def test_manifests_have_tables(tables: dict[str, Any], run: Callable[..., Any]) -> None:
    own = {"counts": {f"CER:{FORMULA}": ["a.tsv", "b.tsv"]}, "lower_is_better": ["CER"]}
    Path("sets.json").write_text(json.dumps({"sets": {"one": own, "two": own}}))
    outcome = run("compare", "--manifest", "sets.json", "-n", "199")
    said = "reshuffle: warning: test sets 'one' and 'two' have the same scores: was a test set given twice?\n"
    assert (outcome.code, outcome.err) == (0, said)
    assert "average over 2 test sets" in outcome.out


def test_real_numbers_are_added_exactly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, step in (("a", 0.25), ("b", 0.5)):
        lines = [json.dumps({"nll": 1.5 + step * i, "tokens": 10 + i}) for i in range(30)]
        Path(f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    result = run_json(run, "--counts", "PPL:perplexity(nll, tokens)", "a.jsonl", "b.jsonl", "--lower-is-better", "PPL")
    assert result.metrics[0].signature == "PPL|counts:given|formula:perplexity(nll,tokens)|resolution:nll=10^-2"
    totals = [sum(1.5 + step * i for i in range(30)) / sum(10 + i for i in range(30)) for step in (0.25, 0.5)]
    assert [each.score for each in result.scores] == pytest.approx([np.exp(total) for total in totals], rel=1e-15)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["CER", "a.tsv", "b.tsv"], "--counts CER: expected NAME:FORMULA before the files"),
        (["CER:", "a.tsv", "b.tsv"], "--counts CER:: expected NAME:FORMULA before the files"),
        (["CER:edits/char", "a.tsv", "b.tsv"], "CER: at character 7 of the formula: expected a column"),
        (["CER:edits/", "a.tsv", "b.tsv"], "CER: at character 7 of the formula: expected a number, a column, a"),
        (["CER:edits/speaker", "a.tsv", "b.tsv"], "a.tsv#speaker, line 2: expected a finite number, got 'spk0'"),
        (["CER:log(edits - edits)", "a.tsv", "b.tsv"], "CER: the formula has no value"),
        (["CER:edits/chars", "a.tsv", "c.tsv"], "c.tsv: CER: at character 7 of the formula: expected a column"),
        (["CER:edits/chars", "a.txt", "b.tsv"], "a.txt: expected a table with names of columns (tsv, csv, jsonl)"),
    ],
)
def test_what_is_wrong_is_said(
    tables: dict[str, Any], run: Callable[..., Any], words: list[str], expected: str
) -> None:
    Path("c.tsv").write_text("edits\twords\n1\t2\n")
    Path("a.txt").write_text("1\n2\n")
    outcome = run("compare", "--counts", *words, "-n", "99")
    assert (outcome.code, outcome.out) == (2, "")
    assert expected in " ".join(outcome.err.split())
