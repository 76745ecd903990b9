"""Names with options of their own: text and objects, errors, and how the tests and nulls of a study share options."""

import json
from typing import Any, get_args

import numpy as np
import pytest

from known import known
from reshuffle import (
    AR,
    BesagClifford,
    Equivalence,
    Gandy,
    InputError,
    NonInferiority,
    SegmentScores,
    Simultaneous,
    TestSet,
    compare,
    compare_sets,
    study,
    types,
)
from reshuffle.inference.tests import TESTS
from reshuffle.options.choices import (
    INTERVALS_WITH_OPTIONS,
    TESTS_WITH_MARGIN,
    TESTS_WITH_OPTIONS,
    Choice,
    Named,
    merged,
    read,
)
from reshuffle.options.declare import options_of
from reshuffle.options.nulls import NULLS_WITH_OPTIONS
from reshuffle.study import Documents, EqualScore, Margin, Noise, Replicate, Variants
from test_options import bad_values
from told import assert_raises

NAMED: dict[str, tuple[Named, tuple[str, ...]]] = {
    "test": (TESTS_WITH_OPTIONS, get_args(types.TestChoice)),
    "null": (NULLS_WITH_OPTIONS, get_args(types.Null)),
    "interval": (INTERVALS_WITH_OPTIONS, get_args(types.IntervalChoice)),
}


def of_text(noun: str, text: str) -> Any:
    named, known = NAMED[noun]
    return read(noun, text, named, known)


def ratings(n: int = 60, systems: str = "ab") -> SegmentScores:
    rng = np.random.default_rng(4)
    return SegmentScores("rating", {name: rng.integers(0, 30, n).tolist() for name in systems})


# --- Text and objects


SAME: list[tuple[str, str, str | Choice]] = [
    ("test", "ar", "ar"),
    ("test", "t-test", "t-test"),
    ("test", "ar:scheme=subgroup", AR(scheme="subgroup")),
    ("test", "ar:scheme=iid,stopping=gandy", AR(scheme="iid", stopping="gandy")),
    ("test", "ar-studentized:stopping=besag-clifford", AR(studentized=True, stopping="besag-clifford")),
    ("test", "equivalence:bleu=0.5,ter=1", Equivalence({"bleu": 0.5, "ter": 1})),
    ("test", "equivalence-studentized:chrF2++=1e-1", Equivalence({"chrF2++": 0.1}, by="studentized")),
    ("test", "equivalence-ar:scheme=exact,rating=2", Equivalence({"rating": 2}, by="ar", scheme="exact")),
    ("test", "equivalence-ar:a=2,scheme=exact,b=1", Equivalence({"a": 2, "b": 1}, by="ar", scheme="exact")),
    ("test", "non-inferiority:bleu=1", NonInferiority({"bleu": 1})),
    ("test", "non-inferiority-ar:bleu=1", NonInferiority({"bleu": 1}, by="ar")),
    ("null", "swap", "swap"),
    ("null", "noise:rate=0.1", Noise(rate=0.1)),
    ("null", "replicate:runs=3", Replicate(runs=3)),
    ("null", "equal-score:equalize=drop-words", EqualScore(equalize="drop-words")),
    ("null", "margin:equalize=drop-words,bleu=1", Margin({"bleu": 1}, equalize="drop-words")),
    ("null", "documents:size=9,icc=0.1", Documents(size=9, icc=0.1)),
    ("null", "documents-as-units:icc=0.2", Documents(icc=0.2, as_units=True)),
    ("interval", "simultaneous:scores=ar-studentized", Simultaneous(scores="ar-studentized")),
]  # fmt: skip


@pytest.mark.parametrize(("noun", "text", "expected"), SAME)
def test_text_stands_for_the_object(noun: str, text: str, expected: str | Choice) -> None:
    found = of_text(noun, text)
    assert type(found) is type(expected)
    assert found == expected
    if isinstance(expected, Choice):
        assert eval(repr(expected), {type(expected).__name__: type(expected)}) == expected


# --- Errors


def test_the_name_of_an_option_may_be_that_of_a_metric() -> None:
    own = SegmentScores("margins", ratings().scores)
    (pair,) = compare(metrics=own, test="equivalence:margins=2", n_resamples=9).comparisons
    assert pair.test.margin == 2


RECORDS: dict[type[Choice], dict[str, Any]] = {
    AR: {}, Equivalence: {}, NonInferiority: {}, Simultaneous: {}, EqualScore: {}, Margin: {}, Documents: {}, Noise: {},
    Replicate: {}, Variants: {"trained": None},
}  # fmt: skip


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_bad_values_of_objects_are_refused_with_their_name(record: type[Choice]) -> None:
    assert record(**RECORDS[record])
    for option in options_of(record).values():
        assert option.about
        for value in bad_values(option):
            with pytest.raises(InputError) as caught:
                record(**RECORDS[record] | {option.name: value})
            assert option.name in str(caught.value) or option.noun in str(caught.value)


def test_what_stands_for_nothing_or_cannot_be_shared_is_refused() -> None:
    assert_raises("python_errors_of_choices", globals())


# --- Every name in comparisons and studies


@pytest.mark.parametrize("name", TESTS)
def test_every_test_can_be_named_by_text_or_object(name: str) -> None:
    if name not in TESTS_WITH_OPTIONS:
        with pytest.raises(InputError, match=f"the test '{name}' has no options"):
            compare(metrics=ratings(), test=f"{name}:scheme=iid")
        return
    text = "rating=9" if name in TESTS_WITH_MARGIN else "scheme=iid"
    choice = of_text("test", f"{name}:{text}")
    options: dict[str, Any] = {"n_resamples": 99, "interval": None}
    by_text = compare(metrics=ratings(), test=f"{name}:{text}", **options)
    assert by_text == compare(metrics=ratings(), test=choice, **options)
    assert {pair.test.test for pair in by_text.comparisons} == {name}
    of_sets = compare_sets({"one": TestSet(metrics=ratings())}, test=choice, average=False, **options)
    assert of_sets == compare_sets({"one": TestSet(metrics=ratings())}, test=f"{name}:{text}", average=False, **options)


def test_options_reach_the_result() -> None:
    options: dict[str, Any] = {"n_resamples": 99, "interval": None}
    (pair,) = compare(metrics=ratings(9), test="ar:scheme=subgroup", **options).comparisons
    assert pair.test.scheme == "subgroup"
    for rule in (BesagClifford(3), Gandy(0.05)):
        (pair,) = compare(metrics=ratings(), test=AR(studentized=True, stopping=rule), **options).comparisons
        assert pair.test.test == "ar-studentized"
        assert known(pair.test.stopping).rule == rule.name
    assert compare(metrics=ratings(), test=AR(), **options) == compare(metrics=ratings(), test="ar", **options)
    wide = compare(metrics=ratings(), interval=Simultaneous(), n_resamples=99)
    assert known(wide.interval).simultaneous
    assert wide == compare(metrics=ratings(), interval="simultaneous", n_resamples=99)


SMALL: dict[str, Any] = {"simulations": 3, "n_resamples": 19, "alphas": 0.1}
WORDS = ["a b c d e f", "b c d e", "c d e f g", "a d e f g h", "b b c d", "e f g a"] * 5
SYSTEMS = {
    "x": WORDS[1:] + WORDS[:1],
    "y": [line.replace("d", "z") for line in WORDS],
    "z": [line.replace("e", "z").replace("b", "z") for line in WORDS],
}


# --- What the tests and nulls of a study share


BOTH = {"test": ("equivalence", "non-inferiority"), "margins": {"x": 1}}


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        (["ar", "bootstrap"], {"test": ("ar", "bootstrap")}),
        (
            ["ar:scheme=orbit", "ar-studentized"],
            {"test": ("ar", "ar-studentized"), "scheme": "orbit", "stopping": None},
        ),
        (
            [AR(scheme="orbit"), AR(studentized=True)],
            {"test": ("ar", "ar-studentized"), "scheme": "orbit", "stopping": None},
        ),
        ([AR(stopping="besag-clifford"), "t-test"], {"test": ("ar", "t-test"), "stopping": "besag-clifford"}),
        (
            ["ar:scheme=subgroup", Equivalence({"x": 1}, by="ar")],
            {"test": ("ar", "equivalence-ar"), "scheme": "subgroup", "stopping": None, "margins": {"x": 1}},
        ),
        ([Equivalence({"x": 1}), NonInferiority({"x": 1.0})], BOTH),
        ([Equivalence({"x": 1}), NonInferiority()], BOTH),
        ([Equivalence(), NonInferiority({"x": 1})], BOTH),
    ],
)
def test_the_tests_of_a_study_share_their_options(choices: list[Any], expected: dict[str, Any]) -> None:
    assert (
        merged("test", [of_text("test", each) if isinstance(each, str) else each for each in choices], "test")
        == expected
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"tests": "equivalence:rating=1", "null": "margin"},
        {"tests": "equivalence", "null": "margin:rating=1"},
        {"tests": Equivalence({"rating": 1}), "null": Margin({"rating": 1})},
    ],
)
def test_a_margin_of_the_tests_is_that_of_the_null(arguments: dict[str, Any]) -> None:
    expected = study.type1(metrics=ratings(90, "abc"), tests="equivalence:rating=1", null="margin:rating=1", **SMALL)
    assert study.type1(metrics=ratings(90, "abc"), **SMALL, **arguments).render("json") == expected.render("json")
    assert "|margins:rating=1|" in expected.signature


# --- The command line


COMMAND = ("study", "type1", "reference.txt", "baseline.txt", "tuned.txt", "--simulations", "3", "-n", "19")


def test_options_follow_names_on_the_command_line(run: Any, demo: Any) -> None:
    def plan(*words: str) -> dict[str, Any]:
        outcome = run(*COMMAND, *words, "--format", "json")
        assert outcome.code == 0, outcome.err
        found: dict[str, Any] = json.loads(outcome.out)["plan"]
        return found

    both = plan("--tests", "ar:scheme=subgroup,bootstrap")
    assert (both["tests"], both["scheme"]) == (["ar", "bootstrap"], "subgroup")
    assert plan("--tests", "ar:scheme=subgroup", "bootstrap") == both
    two = plan("--tests", "ar", "--null", "documents:size=9,icc=0.1", "swap")
    assert (two["null"], two["document_size"], two["icc"]) == (["documents", "swap"], 9, 0.1)
    assert plan("--null", "documents:size=9,icc=0.1", "--null", "swap", "--tests", "ar") == two
    # Files may follow a list.
    words = ("study", "type1", "--tests", "ar:scheme=iid", "--simulations", "3", "-n", "19", *COMMAND[2:5])
    assert run(*words).code == 0
