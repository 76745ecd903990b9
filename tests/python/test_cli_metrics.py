"""Metrics on the command line, the help, and hints for arguments of other tools."""

from __future__ import annotations

import contextlib
import json
import re
import shlex
from pathlib import Path
from typing import Any, get_args

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reshuffle import InputError, metric, types
from reshuffle.cli.habits import habits
from reshuffle.cli.metric_options import MetricChoice, is_metric, parse_metric
from reshuffle.metrics.registry import every_spec

TEXTS = ("reference.txt", "baseline.txt", "larger.txt")
FEW = ("-n", "9", "--format", "json")
# Advice for options and metrics of other tools.
OPTIONS = habits("option")
METRICS = {**habits("metric"), **habits("another metric")}


def compared(run: Any, *args: str) -> Any:
    outcome = run("compare", *args, *FEW)
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def test_several_metrics_follow_one_option_as_in_sacrebleu(demo: Path, run: Any) -> None:
    expected = run("compare", *TEXTS, "-m", "bleu", "-m", "chrf", "-m", "ter", *FEW).out
    assert run("compare", *TEXTS, "-m", "bleu", "chrf", "ter", *FEW).out == expected
    # The list ends at the first word that is not the name of a metric.
    assert run("compare", "-m", "bleu", "chrf", "TER", *TEXTS, *FEW).out == expected
    assert run("compare", "--metrics", "bleu", "chrf", "-m", "ter", *TEXTS, *FEW).out == expected


def test_a_file_named_like_a_metric_needs_its_directory(demo: Path, run: Any) -> None:
    (demo / "ter").write_text((demo / "tuned.txt").read_text())
    outcome = run("compare", "-m", "bleu", "ter", *TEXTS, *FEW)
    assert "'ter' after -m is read as a metric" in outcome.err
    assert "write ./ter" in outcome.err
    found = compared(run, "reference.txt", "baseline.txt", "-m", "bleu", "./ter")
    assert found["systems"] == ["baseline", "ter"]


STEMS = [metric("meteor", modules=("exact", "stem"))]
CHOSEN = {
    "bleu:tokenize=intl,lowercase chrf:char-order=4 ter": [
        metric("bleu", tokenize="intl", lowercase=True), metric("chrf", char_order=4), metric("ter")
    ],
    # Options of a metric take precedence over flags.
    "bleu:tokenize=char nist --tokenize intl --lowercase": [
        metric("bleu", tokenize="char", lowercase=True), metric("nist", tokenize="intl", lowercase=True)
    ],
    # One metric can be used several times.
    "bleu:tokenize=char bleu": [metric("bleu", tokenize="char"), metric("bleu")],
    # Several names are separated by commas or quoted spaces.
    "meteor:modules=exact,stem": STEMS,
    "meteor:lowercase=yes,modules=exact,stem": [metric("meteor", lowercase=True, modules=("exact", "stem"))],
    "'meteor:modules=exact stem'": STEMS,
    "meteor --modules exact,stem": STEMS,
    "meteor --modules 'exact stem'": STEMS,
}  # fmt: skip


@pytest.mark.parametrize("arguments", CHOSEN)
def test_options_follow_the_name_of_a_metric(demo: Path, run: Any, arguments: str) -> None:
    found = compared(run, *TEXTS, "-m", *shlex.split(arguments))
    assert [m["signature"] for m in found["metrics"]] == [m.signature("1") for m in CHOSEN[arguments]]


@pytest.mark.parametrize("spec", every_spec(), ids=lambda spec: spec.name)
def test_every_option_can_follow_the_name_of_its_metric(spec: Any) -> None:
    for option in spec.options:
        values: dict[str, tuple[str, Any]] = {
            "flag": ("no", False),
            "integer": (f"{option.minimum or 1:.0f}", int(option.minimum or 1)),
            "real": ("0.25", 0.25),
            "reals": ("0.5,0.25,0.25", [0.5, 0.25, 0.25]),
            "choice": (option.choices[0] if option.choices else "", option.choices[0] if option.choices else ""),
            "choices": (",".join(option.choices), option.choices),
            "path": ("a.model", "a.model"),
            "language": ("ja", "ja"),
            "text": ("no relation", "no relation"),
        }
        written, expected = values[option.kind]
        name = option.name.replace("_", "-")
        assert parse_metric(f"{spec.name}:{name}={written}") == MetricChoice(spec.name, {option.name: expected})
        # Another option may follow, and underscores and hyphens are interchangeable.
        other = next((o for o in spec.options if o.kind == "flag" and o is not option), None)
        if other is not None:
            both = parse_metric(f"{spec.name.upper()}:{option.name}={written},{other.name}")
            assert both.options == {option.name: expected, other.name: True}


@given(st.text(max_size=30), st.sampled_from(["", "bleu:", "bleu:weights=", "nist:", "TER:"]))
def test_arbitrary_metric_arguments_raise_only_input_errors(text: str, start: str) -> None:
    with contextlib.suppress(InputError):
        choice = parse_metric(start + text)
        assert is_metric(start + text)
        assert choice.name in [spec.name for spec in every_spec()]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bleu,chrf", "-m bleu,chrf: separate metrics by spaces: -m bleu chrf"),
        ("bleu:tokenise=intl", "unknown bleu option 'tokenise': did you mean 'tokenize'"),
        ("bleu:", "-m bleu: ends with a colon: expected options after it, such as -m bleu:tokenize=VALUE"),
        ("bleu:tokenize", "-m bleu: tokenize must be one of 13a, intl"),
        ("bleu:tokenize=13", "unknown value of bleu:tokenize '13': did you mean '13a'"),
        ("bleu:lowercase=maybe", "-m bleu: lowercase must be yes or no, got 'maybe'"),
        ("bleu:lowercase,lowercase", "-m bleu:lowercase,lowercase: the option lowercase is set twice"),
        ("nist:max-ngram-order=two", "-m nist: max-ngram-order must be a whole number, got 'two'"),
        ("chrf:beta", "-m chrf: beta must be a number, got no value: write beta=VALUE"),
        ("bleu:weights=a,b", "-m bleu: weights must be numbers separated by commas, got 'a,b'"),
        ("meteor:modules", "-m meteor: modules must be one or more of exact, stem, synonym, paraphrase, separated by"),
        ("meteor:modules=", "unknown value of meteor:modules ''; known: exact, stem"),
        ("meteor:modules=exact,stern", "unknown value of meteor:modules 'stern': did you mean 'stem'"),
    ],
)
def test_invalid_options_of_a_metric_are_explained(text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        parse_metric(text)


@pytest.mark.parametrize("command", ["compare", "score"])
@pytest.mark.parametrize(("option", "most"), [("--help", 65), ("--help-all", 130)])
def test_the_help_fits_a_screen_and_all_of_it_two(
    monkeypatch: pytest.MonkeyPatch, run: Any, command: str, option: str, most: int
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    lines = run(command, option).out.splitlines()
    assert len(lines) <= most
    assert ("--help-all" in "".join(lines)) == (option == "--help")
    assert max(map(len, lines)) <= 100
    titles = [line.rstrip(":") for line in lines if re.fullmatch(r"[A-Z]\w+:", line)]
    test = ["Test"] if command == "compare" else []
    assert titles == ["Examples", "Input", "Metrics", *test, "Intervals", "Resampling", "Output"]


def test_the_help_lists_every_metric(run: Any) -> None:
    text = run("compare", "--help-all").out
    assert all(spec.name in text for spec in every_spec())
    assert all(name in text for name in (*get_args(types.Interval)[:8], *get_args(types.Format)))
    assert f"describes all {len(get_args(types.TestChoice))})" in " ".join(text.split())


@pytest.mark.parametrize("option", [name for name in sorted(OPTIONS) if "--null" not in OPTIONS[name]])
def test_options_of_other_tools_get_a_hint(run: Any, option: str) -> None:
    outcome = run("compare", *TEXTS, option, "1")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == f"reshuffle: error: there is no option {option}: {OPTIONS[option]}\n"


@pytest.mark.parametrize(
    ("args", "advice"),
    [
        (("compare", *TEXTS, "--json"), "--json: use --format json"),
        (("meta", "segments", "--json"), "--json: use --format json"),
        (("tune", "mert", "--to_json"), "--to_json: use --format json"),
        (("compare", *TEXTS, "-s", "chrF2"), "-s: use -m chrF2"),
        (
            ("score", *TEXTS, "-q"),
            "-q: only warnings and errors are printed beside the result, and PYTHONWARNINGS=ignore silences warnings",
        ),
        (("score", *TEXTS, "-s", "exp"), "-s: use --smooth-method, or -m for metrics"),
        (("compare", *TEXTS, "--n_resamples", "9"), "--n_resamples: use --n-resamples"),
        (("compare", *TEXTS, "--random-state=1"), "--random-state: use --seed"),
        (("study", "type1", *TEXTS, "--confidence-level", "0.9"), None),
        (("study", "type1", *TEXTS, "--noise", "0.1"), "--noise: use --null noise:rate=X"),
        (("runs", "--refs", "ref.txt", "--paired-bs"), None),
        (("runs", "--refs", "ref.txt", "-i", "x"), None),
        (("score", *TEXTS, "--permutation"), None),
        (("compare", *TEXTS, "--bonferroni"), "--bonferroni: use --adjust bonferroni"),
        (("compare", *TEXTS, "--wilcoxon"), "--wilcoxon: use --test wilcoxon"),
        (("score", *TEXTS, "--chrf"), "--chrf: use -m chrf"),
        (("score", *TEXTS, "--bonferroni"), None),
        (("compare", *TEXTS, "--none"), None),
    ],
)
def test_an_option_is_advised_by_meaning_where_the_command_has_it(
    run: Any, args: tuple[str, ...], advice: str | None
) -> None:
    outcome = run(*args)
    assert outcome.code == 2
    if advice is None:
        assert "there is no option" not in outcome.err
        assert "o such option" in outcome.err
    else:
        assert outcome.err == f"reshuffle: error: there is no option {advice}\n"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("score", *TEXTS, "--confidence"), "--confidence needs a level: --confidence 0.95"),
        (("score", *TEXTS, "--confidence", "-n", "10"), "--confidence needs a level: --confidence 0.95"),
        (("score", *TEXTS, "-m", "wer", "chrfpp"), "unknown metric 'chrfpp': use -m chrf++"),
        (("compare", *TEXTS, "--test", "mcnemar"), "unknown test 'mcnemar': use sign-test, which is McNemar's"),
        (("score", "reference.txt"), "expected at least one system after REF, got none; - is standard input"),
        (("compare", "sets.toml"), "got none; if sets.toml is a manifest, write --manifest before it"),
        (("compare", *TEXTS[:2]), "; the first file is the reference, and scores of segments follow --scores NAME"),
    ],
)
def test_what_other_tools_call_otherwise_is_named(run: Any, args: tuple[str, ...], message: str) -> None:
    outcome = run(*args)
    assert outcome.code == 2
    assert message in outcome.err


def test_a_command_without_arguments_gets_no_advice(run: Any) -> None:
    assert run("compare").err.startswith("reshuffle: error: no reference and no systems: add REF and SYS")


@pytest.mark.parametrize(("name", "meant"), sorted(habits("command").items()))
def test_commands_of_other_names_get_a_hint(run: Any, name: str, meant: str) -> None:
    from reshuffle.cli.root import cli

    assert meant in cli.list_commands(click.Context(cli))
    assert name not in cli.list_commands(click.Context(cli))
    assert run(name, "x").err == f"reshuffle: error: there is no command {name!r}: use 'reshuffle {meant}'\n"


def test_no_option_of_reshuffle_gets_the_hint_for_another_tool() -> None:
    from reshuffle.cli.command import Command
    from reshuffle.cli.root import cli
    from reshuffle.cli.studies import COMMANDS as STUDIES

    context = click.Context(cli)
    every = [*(cli.get_command(context, name) for name in cli.list_commands(context)), *STUDIES.values()]
    commands = [command for command in every if isinstance(command, Command)]
    scoring = ["compare", "score", "runs", "flips", "gate", "watch", "count", "plan", "human", "votes", "oracle", "mbr"]
    assert [command.name for command in commands] == [*scoring, *STUDIES]
    # Options of gate, watch and votes, which other commands do not have.
    of_some = {"--margin", "--method", "--language-pair"}
    assert {name for command in commands for param in command.params for name in param.opts} & set(OPTIONS) == of_some


@pytest.mark.parametrize("name", sorted(METRICS))
def test_metrics_of_other_tools_get_a_hint(demo: Path, run: Any, name: str) -> None:
    outcome = run("compare", *TEXTS, "-m", name)
    assert outcome.code == 2
    assert METRICS[name] in outcome.err


def test_a_tokenizer_of_another_tool_gets_a_hint(demo: Path, run: Any) -> None:
    for args in (("--tokenize", "mecab"), ("-m", "bleu:tokenize=mecab")):
        outcome = run("compare", *TEXTS, *args)
        assert outcome.code == 2
        assert "use ja-mecab for Japanese, ko-mecab for Korean" in outcome.err


def test_a_forgotten_command_gets_a_hint(demo: Path, run: Any) -> None:
    outcome = run(*TEXTS)
    assert outcome.code == 2
    assert f"to compare systems write 'reshuffle compare {' '.join(TEXTS)}'" in outcome.err
    assert "did you mean 'compare'" in run("compair", *TEXTS).err
