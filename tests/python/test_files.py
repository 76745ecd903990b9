"""Records of files: command lines and manifests fill them alike, and no key takes a value of another type."""

from pathlib import Path
from typing import Any

import attrs
import pytest

from reshuffle import InputError
from reshuffle.cli.commands import compare_command
from reshuffle.cli.declared import given_values
from reshuffle.cli.inputs.sets import completed, given_files
from reshuffle.cli.runs import runs_command
from reshuffle.data.manifest import Manifest
from reshuffle.options.declare import NO_KEY, options_of
from reshuffle.options.files import SetFiles, Sets
from reshuffle.options.meta_files import MetaFiles
from reshuffle.options.run_files import GivenRuns, RunFiles

KEYS = [
    (record, key)
    for record in (SetFiles, RunFiles, MetaFiles)
    for key, option in options_of(record).items()
    if NO_KEY not in option.rules
]
# Each key has another value than its default.
ARGS = (
    "ref.txt a.txt b.txt --refs more.txt --scores C c.a c.b --counts N:x/y n.a n.b --qrels q --lower-is-better C "
    "--missing pairwise --parses r m a b --docs d --strata s --source t --input-format tsv "
    "-m bleu:tokenize=intl ter --lowercase"
)
TABLE = {
    "references": ["ref.txt", "more.txt"],
    "systems": ["a.txt", "b.txt"],
    "scores": {"C": ["c.a", "c.b"]},
    "counts": {"N:x/y": ["n.a", "n.b"]},
    "qrels": "q",
    "lower_is_better": "C",
    "missing": "pairwise",
    "parses": ["r", "m", "a", "b"],
    "documents": "d",
    "strata": "s",
    "source": "t",
    "input_format": "tsv",
    "metrics": ["bleu:tokenize=intl", "ter"],
    "lowercase": True,
}


def parsed(command: Any, args: str) -> dict[str, Any]:
    """The options of a command line."""
    return dict(command.make_context("command", args.split()).params)


def values(record: Any) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in attrs.fields(type(record))}


def sets_of(table: object, folder: str = "") -> Manifest:
    """A manifest of one test set."""
    return Manifest("sets.json", {"sets": {"a": table}}, Path(folder), {"lowercase": False, "meteor_jar": True})


def test_a_command_line_and_a_manifest_fill_the_same_record() -> None:
    options = parsed(compare_command, ARGS)
    given = given_files(SetFiles, options, options.pop("reference"), options.pop("systems"))
    from_manifest = completed(SetFiles(), sets_of(TABLE).sets(SetFiles)["a"], Path())
    assert values(given) == values(from_manifest)
    keys = [key for record, key in KEYS if record is SetFiles]
    assert sorted(keys) == sorted({*TABLE} - {"lowercase"})
    assert all(getattr(given, key) != getattr(SetFiles(), key) for key in keys)


def test_the_values_of_a_manifest_take_precedence() -> None:
    options = parsed(compare_command, "--input-format tsv --max-input 5 -m ter --lowercase")
    given = given_files(SetFiles, options)
    found = completed(given, {"input_format": "csv", "metric_options": {"lowercase": False}}, Path())
    assert (found.input_format, found.max_input, found.metric_options) == ("csv", 5, {"lowercase": False})
    assert found.metrics == given.metrics
    assert completed(given, {"metric_options": {"lowercase": None}}, Path()).metric_options == {}


@pytest.mark.parametrize("value", [True, 1.5, [True], [[]]], ids=repr)
def test_a_value_of_another_type_is_refused_with_its_key(value: object) -> None:
    for record, key in KEYS:
        with pytest.raises(InputError, match=rf"\Asets\.json, test set 'a', {key}: expected a[^\n]*\Z"):
            sets_of({key: value}).sets(record)


def test_options_of_several_words_are_read_as_names_and_words() -> None:
    options = parsed(compare_command, "--set one r a b --set two r c d --scores -#x")
    assert given_values(Sets, options) == {"sets": {"one": ("r", "a", "b"), "two": ("r", "c", "d")}}
    assert options["scores"] == (("-#x", ()),)
    words = "--baseline a b --system n c d --dev-scores n B -1"
    given = GivenRuns(**given_values(GivenRuns, parsed(runs_command, words)))
    assert (given.baseline, given.systems, given.dev_scores) == (("a", "b"), (("n", "c", "d"),), (("n", "B", "-1"),))
