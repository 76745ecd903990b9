"""Errors carry their facts as fields, so that callers can word them anew without searching the message."""

import contextlib
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reshuffle
from reshuffle import (
    AR,
    CorpusFunction,
    Equivalence,
    FromCounts,
    InputError,
    SegmentScores,
    Simultaneous,
    _core,
    approximate_randomization,
    compare,
    derive_seed,
    experimentwise_error,
    f_score,
    metric,
    study,
)
from reshuffle.errors import Option, System
from reshuffle.inference.multiplicity import per_comparison_level
from told import assert_raises

GOOD, BROKEN = "1\ta\ta\t_\t_\t_\t0\troot\t_\t_", "# a comment\n1 a"


@pytest.mark.parametrize(
    ("references", "systems", "place", "fields"),
    [
        (
            [[GOOD, GOOD]],
            {"first": [GOOD, GOOD], "{second}": [GOOD, BROKEN]},
            "segment 2, {second}",
            {"segment": 2, "system": "{second}", "line": 2},
        ),
        ([[GOOD], [BROKEN]], [[GOOD]], "segment 1, reference 2", {"segment": 1, "reference": 2, "line": 2}),
        # A name that looks like a default name is kept.
        ([[GOOD]], {"system 2": [BROKEN], "system 1": [GOOD]}, "segment 1, system 2", {"segment": 1, "line": 2}),
    ],
)
def test_fields_locate_the_error(references: Any, systems: Any, place: str, fields: dict[str, object]) -> None:
    with pytest.raises(InputError) as raised:
        metric("depf").suff_stats(references, systems)
    assert str(raised.value).startswith(f"{place}, line 2: expected 10 columns")
    assert fields.items() <= raised.value.fields.items()


SEGMENTS, WRONG = 5000, (3000, 1200, 4000)
DEPF, BLEU = _core.Metric("depf", {}), _core.Metric("bleu", {})
PARSES = ["1 a" if i in WRONG else "" for i in range(SEGMENTS)]
ONES = np.ones((2, 9, 10), np.int64)
BATCH = np.ones((SEGMENTS, 9, 10), np.int64)
NAN = np.array([np.nan if i in WRONG else 1.0 for i in range(SEGMENTS)])


SYSTEM = "segment 1201, system 1, line 1"
FAILING: dict[str, tuple[Callable[..., Any], str]] = {
    "counts": (partial(_core.count, [DEPF], [PARSES], [[""] * SEGMENTS]), SYSTEM),
    "lists": (partial(_core.NBest.of_texts([[text] for text in PARSES]).count, DEPF, [[""] * SEGMENTS]), SYSTEM),
    "utilities": (
        partial(_core.NBest.of_texts([[text, "# a"] for text in PARSES]).utilities, DEPF, np.ones(2 * SEGMENTS)),
        "segment 1201, ",
    ),
    "batches": (
        partial(
            _core.shuffle_many, BLEU, _core.Counts([BATCH] * 2), "less", NAN, n=10, seeds=np.zeros(SEGMENTS, np.uint64)
        ),
        "thresholds must be numbers, got NaN",
    ),
}


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize(("call", "message"), FAILING.values(), ids=FAILING)
def test_the_first_error_ends_the_work_and_is_that_of_the_lowest_item(
    call: Callable[..., Any], message: str, threads: int
) -> None:
    progress = _core.Progress()
    with pytest.raises(InputError) as raised:
        call(threads=threads, progress=progress)
    assert str(raised.value).startswith(message)
    # The items before it were done, except for those of its block, and none was begun after it.
    assert min(WRONG) - 64 <= progress.done <= min(WRONG)


def test_the_first_threshold_of_simulations_that_is_no_number_is_named() -> None:
    study = _core.Experiment([([(BLEU, _core.Counts([ONES]))], None)], sampling="replace", size=None, swapped=0, seed=1)
    with pytest.raises(InputError, match=r"^thresholds must be numbers, got NaN"):
        study.exceedances("less", NAN[None], n_resamples=10, threads=2)


@pytest.mark.parametrize(
    ("options", "message", "fields"),
    [
        ({"smooth_value": -1.0}, "bleu: smooth_value must be a number from", {"metric": "bleu", "got": "-1.0"}),
        ({"weights": [1]}, "bleu: weights must be 4 numbers, one for each order up to", {"got": "1: [1.0]"}),
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
    (option,) = options
    flagged = str(error.with_names(Option, lambda option: f"--{option}"))
    assert flagged.startswith(message.replace(option, f"--{option}", 1))


def test_a_value_named_like_an_option_is_not_worded_as_a_flag(tmp_path: Path, run: Any) -> None:
    (tmp_path / "a").write_text("a\n")
    score = ("score", str(tmp_path / "a"), str(tmp_path / "a"))
    assert "unknown --smooth-method 'lowercase'; known:" in run(*score, "--smooth-method", "lowercase").refusal()
    refused = run(*score, "-m", "chrf", "--char-order", "0").refusal()
    assert "chrf: --char-order must be at least 1 when --word-order is 0, got 0" in refused


def test_files_and_segments_are_fields(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("{\n")
    with pytest.raises(InputError) as raised:
        reshuffle.read_corpus([str(tmp_path / "a.jsonl")], [str(tmp_path / "a.jsonl")])
    assert raised.value.fields["line"] == 1
    assert raised.value.fields["file"].endswith("a.jsonl")
    for call in (
        lambda: reshuffle.SegmentScores("{x}", {"a": [1.0], "b": [float("nan")]}),
        lambda: reshuffle.SegmentScores("{x}", {"a": [1.0], "b": [None]}),
        lambda: metric("bleu").suff_stats([["a"]], [[None]]),  # type: ignore[list-item]
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


JUNK = [
    None, "x", "\ud800", b"x", True, 1, -1, 0, 1.5, 2**70, 1e308, 1e-320, float("nan"), float("inf"), np.zeros(3),
    np.float64(3), slice(1, 2), [], {}, (1, 2), object(),
]  # fmt: skip
SCORES = {"a": [1.0, 2.0, 3.0], "b": [2.0, 2.0, 5.0]}
COUNTS = {name: np.array([[1, 2], [2, 3]]) for name in "ab"}


def shown(m: Any, **options: Any) -> None:
    result = compare(metrics=m, **{"n_resamples": 20, **options})
    str(result)
    result.render("json")


TAKERS: dict[str, Callable[[Any], object]] = {
    "level": lambda junk: experimentwise_error(junk, 3),
    "tests": lambda junk: experimentwise_error(0.1, junk),
    "error": lambda junk: per_comparison_level(junk, 3),
    "tests of a level": lambda junk: per_comparison_level(0.1, junk),
    "totals": f_score,
    "beta": lambda junk: f_score(np.array([[1, 2, 3]]), junk),
    "seed": lambda junk: derive_seed(junk, "run", 1),
    "kind of seed": lambda junk: derive_seed(1, junk, 1),
    "index of a seed": lambda junk: derive_seed(1, "run", junk),
    "name of scores": lambda junk: shown(SegmentScores(junk, SCORES)),
    "scores": lambda junk: SegmentScores("x", junk),
    "higher_is_better": lambda junk: SegmentScores("x", SCORES, higher_is_better=junk),
    "missing": lambda junk: SegmentScores("x", SCORES, missing=junk),
    "name of counts": lambda junk: shown(FromCounts(junk, COUNTS, lambda totals: totals[..., 0])),
    "counts": lambda junk: FromCounts("x", junk, "bleu"),
    "formula": lambda junk: FromCounts("x", COUNTS, junk),
    "name of a function": lambda junk: CorpusFunction(junk, len),  # type: ignore[arg-type]
    "metric": metric,
    **{
        f"{key} {name}": lambda junk, key=key, name=name: metric(key, **{name: junk})  # type: ignore[misc]
        for key, names in {"bleu": ["tokenize", "lowercase", "smooth_value"], "chrf": ["beta", "char_order"]}.items()
        for name in names
    },
    **{
        name: lambda junk, name=name: shown(SegmentScores("x", SCORES), **{name: junk})  # type: ignore[misc]
        for name in (
            "test", "alternative", "adjust", "family", "interval", "confidence_level", "alpha",
            "baseline", "all_pairs", "seed", "workers", "documents", "strata",
        )
    },
    **{
        f"{name} of shuffles": lambda junk, name=name: shown(SegmentScores("x", SCORES), test=AR(**{name: junk}))  # type: ignore[misc]
        for name in ("scheme", "stopping", "studentized")
    },
    "margins": lambda junk: shown(SegmentScores("x", SCORES), test=Equivalence(junk)),
    "margin": lambda junk: shown(SegmentScores("x", SCORES), test=Equivalence({"x": junk})),
    "interval of scores": lambda junk: shown(SegmentScores("x", SCORES), interval=Simultaneous(scores=junk)),
    "test of shuffles": lambda junk: approximate_randomization(SCORES["a"], SCORES["b"], test=junk, n_resamples=9),
    "difference to plan for": lambda junk: str(
        study.plan(metrics=SegmentScores("x", SCORES), difference={"x": junk}, simulate=False)
    ),
    "power": lambda junk: str(study.plan(metrics=SegmentScores("x", SCORES), power=junk, simulate=False)),
    "run_sd": lambda junk: study.exchange(run_sd=junk, simulations=1, n_resamples=1, exchange="segment", sizes=9),
    "true difference": lambda junk: str(study.parametric_power(junk, 9, simulations=1, n_resamples=9)),
    "b_zero": lambda junk: str(study.parametric_power(1.0, 9, b_zero=junk, simulations=1, n_resamples=9)),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("taker", TAKERS)
def test_junk_is_accepted_or_refused_in_a_sentence(taker: str) -> None:
    for junk in JUNK:
        with contextlib.suppress(InputError):
            TAKERS[taker](junk)


def test_errors_name_what_one_wants_instead() -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    references, systems = ["a b", "c d"], {"x": ["a b", "c"], "y": ["a", "c d"]}
    frame = pandas.DataFrame({"a": [1, 2, 3], "b": [2, 2, 3], "talk": ["x", "x", "y"]})
    scores = SegmentScores("rating", frame[["a", "b"]])
    names = {
        "references": references,
        "systems": systems,
        "by_id": {"u1": "a b", "u2": "c d"},
        "table": reshuffle.ScoreTable("acc", ("x", "y"), segments=np.array([[1, 0], [1, 1]])),
        "frame": frame,
        "scores": scores,
        "result": compare(metrics=scores, n_resamples=9),
        "sets": reshuffle.compare_sets({"x": reshuffle.TestSet(metrics=scores)}, n_resamples=9),
        "segments": reshuffle.segment_scores(references, systems),
        "pandas": pandas,
    }
    assert_raises("python_errors", globals() | names)
