"""Texts in results (``include="texts"``): what they hold, their limit, and how JSON and HTML hold them."""

import json
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reshuffle.comparing
import reshuffle.sets
from budgets import budget
from known import known
from reshuffle import (
    Comparison,
    CorpusFunction,
    FromCounts,
    InputError,
    SegmentScores,
    TestSet,
    compare,
    compare_sets,
    f_score,
    read_html,
    read_json,
    segment_scores,
)
from reshuffle.report import FORMATS, MAX_TEXTS
from told import assert_raises, assert_refused

REFERENCES: list[list[str | None]] = [
    ["the cat sat on the mat", "a dog barked", "it rained all day", "so it goes"],
    [None, "the dog was barking", None, "c'est la vie"],
]
SYSTEMS = {
    "b": ["the cat sat on a mat", "a dog barks", "it rained", "so it goes"],
    "a": ["cats sit on mats", "dog bark", "it rained all day", "that is how it goes"],
    "c": ["the cat", "", "it rains all dæy", "it goes"],
}
RATINGS = {"a": [1.0, 2.5, np.nan, 4.0], "b": [2.0, 2.0, 3.0, 3.0], "c": [1.0, 1.0, 2.0, np.nan]}


def words(hypotheses: list[str], references: list[list[str | None]]) -> float:
    return sum(len(line.split()) for line in hypotheses)


def all_metrics() -> list[Any]:
    counts = {name: np.arange(12).reshape(4, 3) + i for i, name in enumerate(SYSTEMS)}
    return [
        "bleu",
        "ter",
        SegmentScores("rating", RATINGS, missing="pairwise"),
        FromCounts("F", counts, f_score),
        CorpusFunction("words", words),
    ]


@pytest.mark.parametrize("options", [{"baseline": "a"}, {"all_pairs": True}, {"documents": [0, 0, 1, 1]}], ids=str)
def test_the_result_has_the_texts_and_the_scores_of_segment_scores(options: dict[str, Any]) -> None:
    chosen = all_metrics()
    comparison = compare(REFERENCES, SYSTEMS, chosen, n_resamples=19, include="texts", **options)
    texts = known(comparison.texts)
    assert texts.references == tuple(zip(*REFERENCES, strict=True))
    assert texts.systems == {name: tuple(lines) for name, lines in SYSTEMS.items()}
    assert tuple(texts.systems) == comparison.systems
    table = segment_scores(REFERENCES, SYSTEMS, chosen)
    assert set(table.scores) - set(texts.scores) == {"words"}  # a function of texts
    for metric, by_system in texts.scores.items():
        for system, scores in by_system.items():
            assert all(type(score) in (float, type(None)) for score in scores)
            as_array = np.array([np.nan if score is None else score for score in scores])
            np.testing.assert_array_equal(as_array, table.system_scores(system, metric))
    assert None in texts.scores["rating"]["c"]


def test_a_result_has_no_texts_unless_requested() -> None:
    without = compare(REFERENCES, SYSTEMS, "bleu", n_resamples=19)
    texts = compare(REFERENCES, SYSTEMS, "bleu", n_resamples=19, include="texts")
    assert without.texts is None
    assert without != texts
    assert json.loads(without.render("json"))["texts"] is None
    for fmt in FORMATS:
        if fmt not in ("html", "json"):
            assert without.render(fmt) == texts.render(fmt)
    assert "texts" not in repr(texts)


def test_each_test_set_has_its_texts_and_the_average_has_none() -> None:
    reverse = [column[::-1] for column in REFERENCES], {name: SYSTEMS[name][::-1] for name in ("c", "a")}
    sets = {"one": (REFERENCES, SYSTEMS), "two": reverse}
    with pytest.warns(match="left out"):
        result = compare_sets(sets, n_resamples=19, missing_systems="drop", include="texts")
    assert known(result.average).texts is None
    for name, (references, systems) in sets.items():
        texts = known(result[name].texts)
        assert texts.references == tuple(zip(*references, strict=True))
        assert texts.systems == {system: tuple(systems[system]) for system in ("a", "c")}
    assert read_json(result.render("json")) == result


# --- The limit


def test_only_html_has_a_limit_which_is_for_all_test_sets_together() -> None:
    one = compare(REFERENCES, SYSTEMS, n_resamples=9, include="texts")
    both = compare_sets({"x": (REFERENCES, SYSTEMS), "y": (REFERENCES, SYSTEMS)}, n_resamples=9, include="texts")
    every = [*REFERENCES[0], *REFERENCES[1], *chain.from_iterable(SYSTEMS.values())]
    of_one = len("".join(line or "" for line in every).encode())
    for result, size in ((one, of_one), (both, 2 * of_one)):
        assert result.render("html") == result.render("html", max_texts=size)
        with pytest.raises(InputError) as found:
            result.render("html", max_texts=size - 1)
        assert str(found.value) == (
            f"the texts have {size:,} bytes, but the limit for an HTML report is {size - 1:,}: raise the limit with "
            "max_texts=1_000_000, or leave out include='texts'"
        )
        assert result.render("json") == result.render("json", max_texts=1)
    assert MAX_TEXTS == 50_000_000  # as the help says
    with pytest.raises(InputError, match="max_texts must be a whole number of at least 0, got -1"):
        one.render("html", max_texts=-1)
    assert "<iframe" in one._repr_html_()


def test_the_command_line_writes_texts_to_json_and_html_or_refuses_too_large_ones_before_tests_are_computed(
    demo: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def computed(*arguments: Any) -> None:
        raise AssertionError("the tests were computed")

    files = [f"{name}.txt" for name in ("reference", "baseline", "tuned")]
    size = sum(Path(file).stat().st_size - 400 for file in files)  # without the ends of lines
    sets = ["--set", "x", *files, "--set", "y", *files]
    for inputs, n in ((sets, 2 * size), (files, size)):
        words = ("compare", *inputs, "--include", "texts", "-n", "99", "-o", "out.html", "--max-texts")
        assert run(*words, str(n), "-o", "out.json").code == 0
        saved: Any = read_json("out.json")
        assert saved == read_html("out.html")
        with monkeypatch.context() as patched:
            patched.setattr(reshuffle.comparing, "compared", computed)
            patched.setattr(reshuffle.sets, "compared_sets", computed)
            assert f"the texts have {n:,} bytes, but the limit for an HTML rep" in run(*words, str(n - 1)).refusal()
    assert saved.texts.n_bytes == size
    assert saved.texts.systems["tuned"] == tuple((demo / "tuned.txt").read_text("utf-8").splitlines())


def test_options_that_do_not_apply_are_errors(demo: Path, run: Any) -> None:
    assert_refused("errors_of_texts", run)


# --- JSON and HTML

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)> <!-- & ]]> &lt;",
    "NUL \0 and \ud800 alone",
    "line\u2028separator\u2029 \u202eoverride \x85",
    "x" * 10_000,
    '{"texts": "\\"}',
]


def hostile(lines: Sequence[str]) -> Comparison:
    systems = {"<b>": list(lines), "&amp;": ["y"] * len(lines)}
    ratings = SegmentScores("<i>", {name: [*range(i, i + len(lines))] for i, name in enumerate(systems)})
    return compare(list(lines), systems, ratings, n_resamples=9, include="texts")


@given(st.lists(st.text(max_size=20), min_size=2, max_size=4) | st.just(HOSTILE))
@settings(max_examples=budget(40))
def test_texts_are_read_back_and_cannot_end_the_element_that_holds_them(lines: list[str]) -> None:
    if not any(line.strip() for line in lines):
        return
    comparison = hostile(lines)
    page = comparison.render("html")
    written = comparison.render("json")
    assert read_json(written) == comparison == read_html(page)
    for text in (page, written):  # as -o writes lone surrogates
        assert read_json(text.encode("utf-8", "backslashreplace").decode("utf-8")) == comparison
    assert page.count("</script>") == hostile(["a", "b"]).render("html").count("</script>")
    assert "<!--" not in page
    assert "onerror" not in page.replace("\\u003cimg src=x onerror=alert(1)\\u003e", "")


def broken(*path: str, value: Any) -> str:
    document = json.loads(compare(REFERENCES, SYSTEMS, n_resamples=9, include="texts").render("json"))
    place = document["texts"]
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(document)


# --- The source


def test_a_source_is_kept_with_the_texts(demo: Path, run: Any) -> None:
    source = ["Quelle", None, "</script>", "ß"]
    comparison = compare(REFERENCES, SYSTEMS, n_resamples=9, include="texts", source=source, documents=[1, 1, 2, 2])
    assert known(comparison.texts).source == tuple(source)
    assert known(comparison.texts).documents == ("1", "1", "2", "2")
    without = compare(REFERENCES, SYSTEMS, n_resamples=9, include="texts")
    assert known(comparison.texts).n_bytes == known(without.texts).n_bytes + len("Quelle</script>ß".encode())
    for saved in (read_json(comparison.render("json")), read_html(comparison.render("html"))):
        assert saved == comparison
    sets = {name: TestSet(REFERENCES, SYSTEMS, source=[name] * 4) for name in ("x", "y")}
    averaged = compare_sets(sets, n_resamples=9, include="texts")
    assert [averaged[name].texts.source for name in sets] == [("x",) * 4, ("y",) * 4]  # type: ignore[union-attr]
    Path("source.txt").write_text("".join(f"line {i}\n" for i in range(400)), "utf-8")
    options = ["--include", "texts", "-n", "99", "--source", "source.txt"]
    assert run("compare", "reference.txt", "baseline.txt", "tuned.txt", *options, "-o", "out.json").code == 0
    with_lines: Any = read_json("out.json")
    assert with_lines.texts.source == tuple(f"line {i}" for i in range(400))


RATED = SegmentScores("rating", [[1, 2], [2, 3]])


def test_texts_that_do_not_fit_are_named() -> None:
    assert_raises("python_errors_of_compared_texts", globals())
