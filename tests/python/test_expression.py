"""Formulas as text: their values, derivatives and errors, and that everything works with them as with other metrics."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from budgets import budget
from known import ends
from reshuffle import FromCounts, InputError, InputWarning, compare, metric, open_counts, read_json, save_counts, score
from reshuffle.metrics.expression import Expression
from told import assert_raises, assert_refused

COLUMNS = ("a", "b", "c", "d")


MCC = "(a*d-b*c)/sqrt((a+b)*(a+c)*(b+d)*(c+d))"
# Where the file of known derivatives has others than sympy 1.14.0 itself, and than differences of values.
WRONG = {
    *((MCC, row) for row in ((3, 7, 11, 13), (120, 480, 990, 17), (640, 510, 250, 900), (1, 1, 2, 3))),
    *((formula, (1, 1, 2, 3)) for formula in ("1-(a/b)*(a/c)", "a/b/c", "where(b>500,a/b,a/c)")),
}


def test_values_and_derivatives_equal_sympys(golden: Path) -> None:
    """Those of sympy 1.14.0 with 30 digits; a derivative at a kink is null there."""
    known = json.loads((golden / "counts/formula/formula.json").read_text("utf-8"))
    assert len(known["accepted"]) >= 10
    for formula in known["accepted"]:
        expression = Expression("x", formula["formula"], tuple(formula["columns"]))
        used = [formula["columns"].index(column) for column in expression.columns]
        for row in formula["rows"]:
            totals = np.array(row["x"])[used]
            assert float(expression.score(totals)) == pytest.approx(row["value"], rel=1e-12)
            slopes = row["gradient"]
            if slopes is not None and (formula["formula"], tuple(row["x"])) not in WRONG:
                assert all(slopes[column] == 0 for column in {0, 1, 2, 3} - {*used})
                (found,) = expression.core.gradients(totals[None])
                assert found == pytest.approx([slopes[column] for column in used], rel=1e-10, abs=1e-300)


def test_what_another_parser_refuses_is_refused_with_its_place(golden: Path) -> None:
    for text in json.loads((golden / "counts/formula/formula.json").read_text("utf-8"))["refused"]:
        with pytest.raises(InputError, match=r"^x: at character \d+ of the formula: expected .*, got "):
            Expression("x", text, COLUMNS)


# Formulas as text and as functions of numpy arrays, built side by side.
Pair = tuple[str, Any]


def leaf() -> st.SearchStrategy[Pair]:
    columns = st.integers(0, 3).map(lambda k: (COLUMNS[k], lambda x: x[..., k]))
    numbers = st.floats(0.1, 9).map(lambda v: (repr(v), lambda x: np.full(x.shape[:-1], v)))
    return columns | numbers


def larger(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    def divided(x: Any, y: Any) -> Any:
        return np.where(y == 0, 0, x / np.where(y == 0, 1, y))

    operators: dict[str, Any] = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": divided, "<": np.less}
    functions: dict[str, Any] = {"min": np.minimum, "max": np.maximum, "mean": lambda x, y: (x + y) / 2}
    binary = st.tuples(st.sampled_from([*operators]), inner, inner).map(
        lambda t: (f"({t[1][0]} {t[0]} {t[2][0]})", lambda x: operators[t[0]](t[1][1](x), t[2][1](x)) * 1.0)
    )
    called = st.tuples(st.sampled_from([*functions]), inner, inner).map(
        lambda t: (f"{t[0]}({t[1][0]}, {t[2][0]})", lambda x: functions[t[0]](t[1][1](x), t[2][1](x)))
    )
    unary = inner.map(lambda t: (f"-sqrt(abs({t[0]}))", lambda x: -np.sqrt(np.abs(t[1](x)))))
    chosen = st.tuples(inner, inner, inner).map(
        lambda t: (
            f"where({t[0][0]} >= 2, {t[1][0]}, {t[2][0]})",
            lambda x: np.where(t[0][1](x) >= 2, t[1][1](x), t[2][1](x)),
        )
    )
    return binary | called | unary | chosen


@settings(max_examples=budget(400))
@given(st.recursive(leaf(), larger, max_leaves=12), st.integers(0, 99))
def test_formulas_have_the_values_of_numpy(pair: Pair, seed: int) -> None:
    text, function = pair
    # Every formula uses a column.
    expression = Expression("x", f"{text} + 0 * a", COLUMNS)
    totals = np.random.default_rng(seed).integers(0, 9, (20, 4))
    expected = function(totals.astype(float))
    used = [COLUMNS.index(column) for column in expression.columns]
    assert expression.score(totals[:, used]) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    again = Expression("x", expression.text, COLUMNS)
    assert again == expression
    assert again.signature() == expression.signature()


@pytest.fixture(scope="module")
def counts() -> dict[str, NDArray[np.int64]]:
    """TER's counts of three systems on 60 invented segments."""
    rng = np.random.default_rng(3)
    length = rng.integers(5, 30, 60)
    return {
        name: np.stack([rng.binomial(length, rate), length], 1)
        for name, rate in zip("abc", (0.2, 0.23, 0.4), strict=True)
    }


def twins(counts: dict[str, NDArray[np.int64]]) -> tuple[FromCounts, FromCounts]:
    """The same counts under TER's formula and under the same formula as text."""
    tables = {name: {"edits": rows[:, 0], "note": rows[:, 0] * 0, "words": rows[:, 1]} for name, rows in counts.items()}
    return FromCounts("x", counts, "ter"), FromCounts("x", tables, "100 * (edits / words)", higher_is_better=False)


@pytest.mark.parametrize(
    "options",
    [
        *({"test": test} for test in ("ar", "bootstrap", "bootstrap-both", "ar-studentized")),
        *({"interval": interval} for interval in ("bca", "studentized", "delta", "jackknife")),
        {"documents": [f"doc {i // 4}" for i in range(60)]},
        {"adjust": "holm", "all_pairs": True, "alternative": "better"},
    ],
    ids=str,
)
def test_everything_is_that_of_the_same_formula_in_the_core(
    counts: dict[str, NDArray[np.int64]], options: dict[str, Any]
) -> None:
    native, own = (compare(metrics=each, n_resamples=299, **options) for each in twins(counts))
    assert [pair.test.pvalue for pair in own.comparisons] == [pair.test.pvalue for pair in native.comparisons]
    for mine, theirs in zip(own.comparisons, native.comparisons, strict=True):
        assert mine.difference == theirs.difference
        assert ends(mine) == pytest.approx(ends(theirs), rel=1e-12)
    assert [each.score for each in own.scores] == [each.score for each in native.scores]
    assert not own.metrics[0].higher_is_better


def test_a_function_of_python_gives_the_same_values_more_slowly(counts: dict[str, NDArray[np.int64]]) -> None:
    text = FromCounts("x", counts, "where(edits > 300, edits ** 2 / words, edits)", columns=["edits", "words"])
    function = FromCounts("x", counts, lambda t: np.where(t[..., 0] > 300, t[..., 0] ** 2 / t[..., 1], t[..., 0]))
    one, other = (compare(metrics=each, test="bootstrap", n_resamples=199) for each in (text, function))
    for mine, theirs in zip(one.comparisons, other.comparisons, strict=True):
        assert (mine.test.pvalue, mine.difference) == (theirs.test.pvalue, theirs.difference)
        assert mine.confidence_interval == theirs.confidence_interval
    assert (text.core is None, function.core is None) == (False, True)


def test_the_number_of_segments_is_known_and_other_columns_are_left_out(counts: dict[str, NDArray[np.int64]]) -> None:
    tables = {name: {"edits": rows[:, 0], "words": rows[:, 1]} for name, rows in counts.items()}
    mean = FromCounts("mean", tables, "edits / segments")
    assert (mean.columns, mean.counts["a"].tolist()) == (["edits", "segments"], [[n, 1] for n in counts["a"][:, 0]])
    scored = score(metrics=mean).scores[0]
    assert scored.score == counts["a"][:, 0].mean()
    assert scored.details == {"edits": counts["a"][:, 0].sum(), "segments": 60}
    assert FromCounts("x", {"a": {"segments": [2, 3]}}, "segments").counts["a"].tolist() == [[2], [3]]


def test_formulas_are_pickled_and_saved(counts: dict[str, NDArray[np.int64]], tmp_path: Path) -> None:
    _, own = twins(counts)
    expected = compare(metrics=own, n_resamples=99)
    assert compare(metrics=pickle.loads(pickle.dumps(own)), n_resamples=99) == expected
    path = tmp_path / "counts.npz"
    save_counts(path, metrics=[own, FromCounts("y", counts, "log(words)", columns=("edits", "words"))])
    stored = open_counts(path)
    signature = "x|counts:given|formula:100*(edits/words)"
    assert [each.signature() for each in stored] == [signature, "y|counts:given|formula:log(words)"]
    assert compare(metrics=stored[0], n_resamples=99) == expected
    assert (stored[0].higher_is_better, expected.metrics[0].signature) == (False, signature)


def test_undefined_scores_are_errors_wherever_they_occur() -> None:
    rows = np.array([[0, 5]] * 30 + [[1, 5]])
    counts, columns = {"a": rows, "b": rows[::-1]}, ["hits", "all"]
    own = FromCounts("x", counts, "log(hits / all)", columns=columns)
    assert float(own.score([1, 5])) == pytest.approx(np.log(0.2))
    for test in ("ar", "bootstrap", "ar-studentized"):
        with pytest.raises(InputError, match=r"^x: the formula has no value.* for the sums hits = 0, all = \d+; where"):
            compare(metrics=own, n_resamples=999, interval=None, test=test)
    defined = FromCounts("x", counts, "where(hits > 0, log(hits / all), -9)", columns=columns)
    assert compare(metrics=defined, n_resamples=999).comparisons


@pytest.mark.parametrize("text", ["edits / 0", "edits / chars", "f(chars, chars, chars)"])
def test_a_division_by_0_in_the_score_itself_is_said(text: str) -> None:
    tables = {name: {"edits": [1, 2, 0], "chars": [0, 0, 0]} for name in "ab"}
    with pytest.warns(InputWarning, match=r"x: the formula divides by 0, which counts as 0, for the sums of a, b \("):
        found = FromCounts("x", tables, text)
    assert [each.score for each in score(metrics=found).scores] == [0, 0]


def test_a_division_by_0_of_one_system_or_where_it_does_not_count(recwarn: pytest.WarningsRecorder) -> None:
    tables = {"a": {"hits": [3, 0], "all": [4, 0]}, "b": {"hits": [0, 0], "all": [0, 0]}}
    assert float(FromCounts("x", tables, "where(all > 0, hits / all, 1)").score([0, 0])) == 1
    # A draw of the second segment alone divides by 0; the score does not.
    FromCounts("x", {"a": tables["a"]}, "hits / all")
    assert not recwarn.list
    FromCounts("x", tables, "hits / all")
    (said,) = recwarn.list
    assert str(said.message).endswith("for the sums of b (hits = 0, all = 0)")


def test_formulas_need_names_of_columns_that_agree() -> None:
    assert_raises("python_errors_of_expression", globals())


def test_names_between_backquotes_are_columns_and_names_of_metrics_stay_formulas_of_metrics() -> None:
    one = FromCounts("x", {"s": [[3, 4, 9]]}, "`BLEU 2` / `words of it`", columns=["BLEU 2", "words of it", "n"])
    assert (one.columns, float(one.score([3, 4]))) == (["BLEU 2", "words of it"], 0.75)
    rows = {"s": metric("bleu").suff_stats([["a b c d"]], [["a b c d"]])[0]}
    assert FromCounts("x", rows, "bleu").signature() == "x|counts:given|BLEU|case:mixed|eff:no|tok:13a|smooth:exp"


def test_real_numbers_are_counted_in_steps_of_their_resolution() -> None:
    tables = {"a": {"loss": [0.5, 1.25], "n": [2, 3]}, "b": {"loss": [0.1, 2.0], "n": [2, 3]}}
    own = FromCounts("x", tables, "loss / n")
    assert own.counts["a"].tolist() == [[50, 2], [125, 3]]
    assert own.signature() == "x|counts:given|formula:loss/n|resolution:loss=10^-2"
    scored = score(metrics=own).scores[0]
    assert scored.score == pytest.approx(1.75 / 5, rel=1e-15)
    assert scored.details == {"loss": 1.75, "n": 5}
    third = {"a": {"loss": np.array([1 / 3, 2 / 3])}}
    assert "resolution:loss=2^-" in FromCounts("x", third, "loss").signature()


# --- Tables of counts and a formula on the command line: ``--counts NAME:FORMULA FILE …``


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Files ``a.tsv`` and ``b.tsv`` in the current directory, with columns of ids, and their column of characters."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(2)
    chars = rng.integers(20, 90, 50)
    for name, rate in (("a", 0.1), ("b", 0.12)):
        rows = enumerate(zip(rng.binomial(chars, rate), chars, strict=True))
        lines = [f"spk{i // 5}-{i}\t{edits}\t{length}\tspk{i // 5}" for i, (edits, length) in rows]
        Path(f"{name}.tsv").write_text("\n".join(["utterance\tedits\tchars\tspeaker", *lines, ""]))
    return [int(length) for length in chars]


def test_tables_stand_beside_texts_and_scores(tables: list[int], run: Callable[..., Any]) -> None:
    for name in ("ref", "a", "b"):
        Path(f"{name}.txt").write_text("".join(f"{name} is line {i}\n" for i in range(50)))
    texts = ["ref.txt", "a.txt", "b.txt", "-m", "chrf", "-n", "199", "--format", "json"]
    both = ["--counts", "len:chars/segments", "b.tsv", "a.tsv", "--scores", "x", "a.tsv#edits", "b.tsv#edits"]
    outcome = run("compare", *texts, *both)
    assert "add --docs speaker" in outcome.err
    assert "--docs FILE#speaker" in run("compare", *texts, *both, "--docs", "speaker").err
    outcome = run("compare", *texts, *both, "--docs", "a.tsv#speaker")
    assert (outcome.code, outcome.err) == (0, "")
    result: Any = read_json(outcome.out)
    assert [metric.name for metric in result.metrics] == ["chrF2", "x", "len"]
    assert result.score("b", "len").score == sum(tables) / 50


def test_manifests_have_tables(tables: list[int], run: Callable[..., Any]) -> None:
    own = {"counts": {"CER:100 * edits / chars": ["a.tsv", "b.tsv"]}, "lower_is_better": ["CER"]}
    Path("sets.json").write_text(json.dumps({"sets": {"one": own, "two": own}}))
    outcome = run("compare", "--manifest", "sets.json", "-n", "199")
    said = "reshuffle: warning: test sets 'one' and 'two' have the same scores: was a test set given twice?\n"
    assert (outcome.code, outcome.err) == (0, said)
    assert "average over 2 test sets" in outcome.out


def test_what_is_wrong_is_said(tables: list[int], run: Callable[..., Any]) -> None:
    Path("c.tsv").write_text("edits\twords\n1\t2\n")
    Path("a.txt").write_text("1\n2\n")
    assert_refused("errors_of_formulas", run)
