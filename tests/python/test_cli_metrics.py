"""Metrics on the command line, the help, and hints for arguments of other tools."""

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
from reshuffle.cli.command import Command
from reshuffle.cli.habits import habits
from reshuffle.cli.metric_options import is_metric, parse_metric
from reshuffle.cli.root import cli
from reshuffle.cli.studies import COMMANDS as STUDIES
from reshuffle.metrics.in_python import every_spec
from told import assert_raises, assert_refused

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
    # A flag applies to every metric that has it.
    "bleu chrf ter nist --lowercase --variant tercom --max-ngram-order 3": [
        metric("bleu", lowercase=True, max_ngram_order=3), metric("chrf", lowercase=True),
        metric("ter", variant="tercom"), metric("nist", lowercase=True, max_ngram_order=3),
    ],
    # Hyphens and underscores are interchangeable.
    "bleu:smooth_method=floor,smooth-value=0.25 nist:lowercase=no": [
        metric("bleu", smooth_method="floor", smooth_value=0.25), metric("nist", lowercase=False)
    ],
    "meteor:module-weights=1,0.6,modules=exact,stem": [
        metric("meteor", module_weights=(1, 0.6), modules=("exact", "stem"))
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


@given(st.text(max_size=30), st.sampled_from(["", "bleu:", "bleu:weights=", "nist:", "TER:"]))
def test_arbitrary_metric_arguments_raise_only_input_errors(text: str, start: str) -> None:
    with contextlib.suppress(InputError):
        choice = parse_metric(start + text)
        assert is_metric(start + text)
        assert choice.name in [spec.name for spec in every_spec()]


def test_invalid_options_of_a_metric_are_explained() -> None:
    assert_raises("python_errors_of_metrics", globals())


def test_the_help_lists_every_metric(run: Any) -> None:
    words = " ".join(run("compare", "--help-all").out.split())
    named = (*(spec.name for spec in every_spec()), *get_args(types.Interval)[:8], *get_args(types.Format))
    assert all(name in words for name in named)
    assert f"'reshuffle explain tests' has all {len(get_args(types.TestChoice))}; options" in words
    assert "'reshuffle explain bleu' lists those of a metric" in words


def test_options_of_other_tools_get_a_hint(run: Any) -> None:
    others = re.compile("--null|no draws|METRIC=VALUE$|use --refs")
    for option, hint in OPTIONS.items():
        if not others.search(hint):
            expected = f"reshuffle: error: there is no option {option}: {hint}\n"
            assert run("compare", *TEXTS, option, "1") == (2, "", expected)


def test_what_is_nearly_right_or_what_other_tools_call_otherwise_is_named(demo: Path, run: Any) -> None:
    (demo / "m.toml").write_text('[sets.a]\nreferencs = "reference.txt"\n', "utf-8")
    assert_refused("habits", run)


def test_commands_of_other_names_get_a_hint(run: Any) -> None:
    commands = cli.list_commands(click.Context(cli))
    for name, meant in habits("command").items():
        assert meant in commands
        assert name not in commands
        assert run(name, "x").err == f"reshuffle: error: there is no command {name!r}: use 'reshuffle {meant}'\n"


def test_no_option_of_reshuffle_gets_the_hint_for_another_tool() -> None:
    context = click.Context(cli)
    every = [*(cli.get_command(context, name) for name in cli.list_commands(context)), *STUDIES.values()]
    commands = [command for command in every if isinstance(command, Command)]
    scoring = ["compare", "score", "runs", "flips", "gate", "watch", "count", "plan", "human", "votes", "oracle", "mbr"]
    assert [command.name for command in commands] == [*scoring, *STUDIES]
    # Options that other commands do not have.
    of_some = {"--margin", "--method", "--language-pair", "-n", "--n-resamples", "--n-samples"}
    assert {name for command in commands for param in command.params for name in param.opts} & set(OPTIONS) == of_some


def test_metrics_of_other_tools_get_a_hint(demo: Path, run: Any) -> None:
    for name, hint in METRICS.items():
        assert hint.replace("{name}", name) in run("compare", *TEXTS, "-m", name).refusal()
    assert "--scores COMET FILE" in run("compare", *TEXTS, "-m", "COMET").refusal()


# Scores and parses as inputs.


def test_external_scores_can_be_compared_with_texts_or_alone(demo: Path, run: Any) -> None:
    for name, n in (("a", 7), ("b", 5)):
        (demo / f"{name}.comet").write_text("".join(f"{i % n / 10}\n" for i in range(400)))
    scores = ("--scores", "COMET", "a.comet", "b.comet")
    beside = compared(run, *TEXTS, *scores, "--by-position")
    assert ([m["name"] for m in beside["metrics"]], beside["systems"]) == (["BLEU", "COMET"], ["baseline", "larger"])
    alone = compared(run, *scores, "--lower-is-better", "COMET")
    assert (alone["systems"], alone["n_references"], alone["metrics"][0]["higher_is_better"]) == (["a", "b"], 0, False)
    assert alone["scores"][-1]["score"] == beside["scores"][-1]["score"] == pytest.approx(0.2)
    by_file = run("compare", "--baseline", "b.comet", "-n", "99", *scores, "--scores", "two", *scores[2:]).out
    assert "COMET and two: 400 segments, 2 systems" in by_file
    assert by_file.splitlines()[4].startswith("b ")


def parse(line: str) -> str:
    """A flat parse of a line; the parts of hyphenated words are words, as in multiword tokens."""
    rows = [f"# text = {line}"]
    number = 1
    for token in line.split():
        parts = token.split("-")
        if len(parts) > 1:
            rows.append(f"{number}-{number + len(parts) - 1}\t{token}" + "\t_" * 8)
        for part in parts:
            rows.append(f"{number}\t{part or '-'}\t_\t_\t_\t_\t{0 if number == 1 else 1}\tdep\t_\t_")
            number += 1
    return "\n".join(rows) + "\n\n"


@pytest.fixture
def parses(demo: Path) -> list[str]:
    """Parses of the demo's texts, and the options that name them."""
    for name in ("reference", "tuned", "rules"):
        lines = (demo / f"{name}.txt").read_text("utf-8").splitlines()
        (demo / f"{name}.conllu").write_text("".join(map(parse, lines)), "utf-8")
    return ["reference.conllu", "tuned.conllu", "rules.conllu"]


def test_parses_can_be_given_beside_texts(demo: Path, parses: list[str], run: Any) -> None:
    texts = [name.replace(".conllu", ".txt") for name in parses]
    options = ("--adjust", "none", "--lowercase", "-m")
    both = compared(run, *texts, *options, "bleu", "-m", "depf", "--parses", *parses)
    assert [m["name"] for m in both["metrics"]] == ["BLEU", "DepF"]
    for name, files in (("bleu", texts), ("depf", parses)):
        alone = compared(run, *files, *options, name)
        (used,) = alone["metrics"]
        assert used in both["metrics"]
        (pair,) = (pair for pair in both["comparisons"] if pair["metric"] == used["name"])
        pair["caveats"].remove("many-tests")  # there are two tests
        assert alone["comparisons"] == [pair]
    # Also with a second reference, and in ``score``.
    many = ("-m", "bleu", "-m", "depf", "--refs", texts[2], "--parses", parses[0], parses[2], parses[1])
    assert "DepF|nrefs:2|" in run("score", *texts[:2], *many).out
    segments = run("score", *texts[:2], "-m", "depf", "--segments", "--parses", *parses[:2]).out
    assert segments.startswith("segment\tsystem\tDepF")


def test_invalid_inputs_of_metrics_are_refused(demo: Path, parses: list[str], run: Any) -> None:
    for name, content in {
        "a": "1\n2\n3\n",
        "b": "1\n2\n4\n",
        "short": "1\n2\n",
        "a.parquet": "PAR1\0",
        "a.xlsx": "PK\3\4 xl/workbook.xml",
        "headless.csv": "a,0.5\nb,1\nc,0\n",
        "p.conllu": "# nothing\n\n",
        "short.conllu": parse("x"),
        "other.conllu": parse("x") * 400,
    }.items():
        (demo / name).write_text(content)
    assert_refused("errors_of_metrics", run)
