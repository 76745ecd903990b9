"""Help, and what ``reshuffle explain`` says."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from reshuffle import InputError, StudyResult
from reshuffle.cli import help as help_of_commands
from reshuffle.cli.entries import EVERY, KINDS
from reshuffle.cli.explain import chosen
from reshuffle.cli.help import examples_of
from reshuffle.cli.process import EXIT_CODES
from reshuffle.cli.root import cli
from reshuffle.report.caveats import caveat_kinds
from reshuffle.report.cells import Table
from reshuffle.toml import loads
from test_meta_report import RESULTS as META
from test_run_reports import RESULTS as RUNS
from test_study_power_reports import RESULTS as POWER
from told import assert_told


def commands_in(group: click.Group, before: str = "") -> dict[str, click.Command]:
    """All commands and groups, by what users type after ``reshuffle``."""
    found: dict[str, click.Command] = {}
    with click.Context(group) as context:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            found[f"{before}{name}"] = command
            found |= commands_in(command, f"{name} ") if isinstance(command, click.Group) else {}
    return found


def test_commands_have_the_texts_of_help_toml_and_only_these() -> None:
    shown = {"reshuffle", *commands_in(cli)}
    assert all(command.place == place for place, command in commands_in(cli).items())  # type: ignore[attr-defined]
    texts = loads(Path(str(help_of_commands.__file__)).with_name("help.toml").read_text("utf-8"))
    assert {*texts} == shown | {"short", "texts"}
    assert all(examples_of(name) for name in shown)
    for place, command in commands_in(cli).items():  # no option is misspelled
        inner = getattr(command, "sections", {"": {"": command}}).values()
        known = {flag for section in inner for each in section.values() for param in each.params for flag in param.opts}
        own = f"{texts[place].get('short', '')} {texts[place].get('each', {}).get('short', '')}"
        assert {*own.split()} <= known, place


@pytest.mark.parametrize("columns", ["80", "100"])
def test_the_help_is_one_screen_and_all_of_it_has_every_option(
    run: Any, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    for place, command in {"": cli, **commands_in(cli)}.items():
        short, full = (run(*place.split(), option).out for option in ("--help", "--help-all"))
        lines = short.splitlines()
        assert (len(lines) <= 50, max(map(len, lines)) <= int(columns)) == (True, True), short
        assert ("--help-all" in short, "\n  --help-all" in full) == (short != full, False), place
        texts = " ".join(full.split())
        for param in command.params:
            if isinstance(param, click.Option) and not param.hidden and param.name != "help_all":
                assert f" {param.opts[-1]}" in full
                assert " ".join((param.help or "").split()) in texts, (place, param.name)
        assert all(f"\n  {example}\n" in full for example in examples_of(place or "reshuffle"))
        if place in ("compare", "score"):
            test = ["Test"] if place == "compare" else []
            titles = ["Examples", "Input", "Metrics", *test, "Intervals", "Resampling", "Output"]
            assert all(re.findall(r"^([A-Z]\w+):$", text, re.MULTILINE) == titles for text in (short, full))
        if place == "compare":  # which guides lead with
            assert all(f"  {each} " in short for each in ("--paper", "--since", "--interval"))


def test_explain_lists_the_registries_or_what_is_named(run: Any) -> None:
    short, text = run("explain").out, run("explain", "everything").out
    assert len(short.splitlines()) <= 70  # two screens, which lead to all
    assert "everything" in short
    document = json.loads(run("explain", "--format", "json").out)
    assert document.pop("unicode") in text
    assert list(document) == [kind.key for kind in KINDS]
    for key, names in document.items():
        assert re.search(rf"^  {key}\b", short, re.MULTILINE)
        assert all(entry["name"] in shown for entry in names for shown in (short, text))
    for names in (["ter"], ["bleu", "ter"]):
        assert [m["name"] for m in json.loads(run("explain", *names, "--format", "json").out)["metrics"]] == names
    assert "…" not in text  # addresses are whole
    assert run("explain", "chrf", "--format", "markdown").out.count("\n## ") == 1


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.key)
def test_every_name_is_explained(run: Any, kind: Any) -> None:
    entries = list(kind.entries)
    assert len({entry.name for entry in entries}) == len(entries)
    shown = run("explain", *(f"{kind.key}:{each.name}" for each in entries)).out
    assert "their ends are" not in shown  # which reports say after the name of the intervals
    texts = [" ".join(part.split()) for part in shown.split("\n\n")]
    for entry in entries:
        (own,) = (text for text in texts if text.startswith(f"{entry.name}: {kind.noun} ({kind.chosen_by})"))
        for words in (entry.about, *entry.facts.values(), entry.source.strip("–")):
            assert " ".join(words.split()) in own
    assert run("explain", kind.key).out.startswith(f"{kind.title} (")


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.key)
def test_every_text_of_a_kind_says_something_of_a_name(kind: Any) -> None:
    # A text of a field that no record has would be empty, and left out.
    assert {heading for entry in kind.entries for heading in entry.facts} == {*kind.facts}


def test_words_commands_and_options_are_explained(run: Any) -> None:
    asked = [
        "p-value", "CI", "'adjusted p (worse)'", "margin gate", "nulls:margin", "baseline", "looks", "votes",
        "ar:scheme", "bleu:tokenize=intl", "bootstrap-shift permutation run", "studentized ar-studentized BLEU",
        "near-alpha",
    ]  # fmt: skip
    assert_told("explain", {names: run("explain", *shlex.split(names)).out for names in asked})
    assert run("explain", "P value").out == run("explain", "*").out == run("explain", "p-value").out
    names = "caveats;notes;standard error;brevity penalty;BP;kink;exit codes;design effect;eff;in the smaller tail;H0"
    for name in (*names.split(";"), "type-M error", "type-S error"):
        assert run("explain", name).code == 0, name
    for written, name in {"--test": "test", "-n": "n-resamples", "-m": "metrics", "--metric": "metrics"}.items():
        headings = re.findall(r"^(\S+): (\w+)", run("explain", written).out, re.MULTILINE)
        assert headings[0] == (name, "option")
        assert {kind for _, kind in headings} == {"option"}
    assert run("explain", "tests").out.startswith(run("explain", "Test").out[:3000])
    words = "minimum detectable difference"
    assert run("explain", *words.split()).out == run("explain", words).out


def test_every_head_of_a_column_is_explained(demo: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    heads: dict[str, None] = {}
    made = Table.__init__

    def recorded(self: Table, title: str, header: list[str], *args: Any, **kwargs: Any) -> None:
        heads.update(dict.fromkeys(header))
        made(self, title, header, *args, **kwargs)

    monkeypatch.setattr(Table, "__init__", recorded)
    results: list[Callable[[], StudyResult]] = [*RUNS.values(), *META.values(), *POWER.values()]
    for made_result in results:
        made_result().render("text")
    for name, share in (("a", 2), ("b", 3)):
        (demo / f"{name}.s").write_text("".join(f"{int(i % share > 0)}\n" for i in range(60)))
        (demo / f"{name}.l").write_text("".join(f"{i % share / 2 if i % 3 else ''}\n" for i in range(60)))
    (demo / "v.csv").write_text("model_a,model_b,winner\n" + "a,b,model_a\na,b,model_b\n" * 30)
    files = ("reference.txt", "baseline.txt", "tuned.txt", "larger.txt")
    small = ("--sizes", "40")
    for command in (
        ("compare", *files, "-m", "bleu", "chrf", "ter", "meteor", "nist", "gtm", "asr-wer", "--pairs", "-n", "100"),
        ("compare", *files, "-n", "100", "--all-pairs"),
        ("score", *files),
        ("gate", "baseline.txt", "tuned.txt", "--ref", "reference.txt", "--margin", "bleu=1", "--full", "-n", "100"),
        ("human", "--scores", "L", "a.l", "b.l", "--scores", "M", "a.s", "b.s", "--difference", "0.1", "--looks", "3"),
        ("watch", "--scores", "ok", "a.s", "b.s"),
        ("votes", "v.csv", "--units", "vote", "-n", "99"),
        ("plan", *files, "--simulations", "50"),
        ("study", "validate", *files, *small),
        ("study", "samples", *files, *small),
        ("study", "agreement", *files, "-n", "99"),
    ):
        assert run(*command).code in (0, 1, 5), command
    own = re.compile(r"\d* ?|baseline|tuned|larger|ok|[a-z]{2}-en|WER tok:.*")  # systems, sets and metrics
    unknown = []
    for head in heads:
        try:
            own.fullmatch(head) or chosen([head])
        except InputError:
            unknown.append(head)
    assert len(heads) > 100
    assert not unknown, f"explain them in cli/entries/columns.toml: {unknown}"


def test_exit_codes_are_explained_as_in_the_guide(run: Any) -> None:
    guide = (Path(__file__).parents[2] / "docs/guide/files.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", guide.partition("## Exit codes")[2], re.MULTILINE)
    plain = {int(code): re.sub(r"\[`([^`]+)`\]\([^)]*\)", r"'\1'", text).replace("`", "") for code, text in rows}
    assert plain == EXIT_CODES
    text = " ".join(run("explain", "exit-code").out.split())
    assert all(f"{code} {meaning}" in text for code, meaning in EXIT_CODES.items())


def test_every_kind_of_caveat_is_explained(run: Any) -> None:
    kinds = [entry["name"] for entry in json.loads(run("explain", "caveats", "--format", "json").out)["caveats"]]
    assert kinds == [*dict.fromkeys(caveat_kinds())]
    for kind in kinds:
        assert re.search(r"^  To do +[A-Z].*", run("explain", kind).out, re.MULTILINE)


def test_version_is_printed_and_no_arguments_print_help(run: Any) -> None:
    assert run("--version").out.startswith("reshuffle 0.")
    outcome = run()
    assert outcome.code == 2
    assert "Usage: reshuffle" in outcome.out + outcome.err
