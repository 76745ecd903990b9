"""Errors carry their facts as fields, so that callers can word them anew without searching the message."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import reshuffle
from reshuffle import InputError, metric
from reshuffle.cli.main import main
from reshuffle.errors import Option, System


def parse(*lines: str) -> str:
    return "\n".join(lines)


def test_fields_locate_the_error() -> None:
    good, broken = parse("1\ta\ta\t_\t_\t_\t0\troot\t_\t_"), parse("# a comment", "1 a")
    systems = {"first": [good, good], "{second}": [good, broken]}
    with pytest.raises(InputError) as raised:
        metric("depf").suff_stats(systems, [[good, good]])
    assert str(raised.value).startswith("segment 2, {second}, line 2: expected 10 columns")
    assert {"segment": 2, "system": "{second}", "line": 2}.items() <= raised.value.fields.items()
    with pytest.raises(InputError, match=r"^segment 1, reference 2, line 2: expected 10 columns") as raised:
        metric("depf").suff_stats([[good]], [[good], [broken]])
    assert {"segment": 1, "reference": 2, "line": 2}.items() <= raised.value.fields.items()


def test_a_system_name_that_looks_like_a_default_name_is_kept() -> None:
    good, broken = parse("1\ta\ta\t_\t_\t_\t0\troot\t_\t_"), "segment 1, system 2"
    with pytest.raises(InputError, match=r"^segment 1, system 2, line 1: expected 10 columns"):
        metric("depf").suff_stats({"system 2": [broken], "system 1": [good]}, [[good]])


@pytest.mark.parametrize(
    ("options", "message", "fields"),
    [
        ({"smooth_value": -1.0}, "bleu: smooth_value must be a number from", {"metric": "bleu", "got": "-1.0"}),
        (
            {"weights": [1]},
            "bleu: weights must be 4 numbers, one for each order up to max_ngram_order",
            {"got": "1: [1.0]"},
        ),
        ({"smooth_method": "weights"}, "unknown smooth_method 'weights'", {"name": "'weights'"}),
    ],
)
def test_options_are_fields(options: dict[str, object], message: str, fields: dict[str, object]) -> None:
    with pytest.raises(InputError) as raised:
        metric("bleu", **options)
    error = raised.value
    assert str(error).startswith(message)
    assert fields.items() <= error.fields.items()
    # Only the option names become flags, not the same words elsewhere in the message.
    names = {value for value in error.fields.values() if isinstance(value, Option)}
    assert names <= {"smooth_value", "weights", "smooth_method", "max_ngram_order"}
    assert set(options) <= names
    flagged = str(error.with_names(Option, lambda option: f"--{option}"))
    for name in names:
        message = message.replace(name, f"--{name}", 1)
    assert flagged.startswith(message)


def test_a_value_named_like_an_option_is_not_worded_as_a_flag(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").write_text("a\n")
    with pytest.raises(SystemExit, match="2"):
        main(["score", str(tmp_path / "a"), str(tmp_path / "a"), "--smooth-method", "lowercase"])
    assert "unknown --smooth-method 'lowercase'; known:" in capfd.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["score", str(tmp_path / "a"), str(tmp_path / "a"), "-m", "chrf", "--char-order", "0"])
    assert "chrf: --char-order must be at least 1 when --word-order is 0, got 0" in capfd.readouterr().err


def test_files_and_segments_are_fields(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("{\n")
    with pytest.raises(InputError) as raised:
        reshuffle.read_corpus([str(tmp_path / "a.jsonl")], [str(tmp_path / "a.jsonl")])
    assert raised.value.fields["line"] == 1
    assert raised.value.fields["file"].endswith("a.jsonl")
    for call in (
        lambda: reshuffle.SegmentScores("{x}", {"a": [1.0], "b": [float("nan")]}),
        lambda: reshuffle.SegmentScores("{x}", {"a": [1.0], "b": [None]}),
        lambda: metric("bleu").suff_stats([[None]], [["a"]]),  # type: ignore[list-item]
        lambda: reshuffle.design_effect([1, 2], ["", "b"]),
    ):
        with pytest.raises(InputError) as raised:
            call()
        assert raised.value.fields["segment"] == 1
        assert ", segment 1: " in str(raised.value)


def test_errors_survive_pickling() -> None:
    error = InputError("{system}, {got}", system=System(2), got="{system}")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.fields) == (str(error), error.fields) == ("system 2, {system}", again.fields)
    assert str(again.with_names(System, lambda system: f"#{system:d}")) == "#2, {system}"
    assert str(InputError("{nothing}").with_names(System, str)) == "{nothing}"
