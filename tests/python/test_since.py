"""What has changed since an earlier result (``since``, ``--since``)."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reshuffle
from browser import Browser
from pages import markup
from reshuffle import Comparison, InputError, SegmentScores, compare, compare_sets
from reshuffle.report import Layout
from reshuffle.report.since import since_sentences, since_tables
from told import assert_told

RNG = np.random.default_rng(5)
# Of mean 0, so that systems of the same mean do not differ.
NOISE = {name: noise - noise.mean() for name, noise in ((name, RNG.normal(0, 5, 80)) for name in "abcd<")}


def rated(means: dict[str, float], metric: str = "rating", n: int = 80, **options: Any) -> Any:
    scores = {name: NOISE[name[0]][:n] + mean for name, mean in means.items()}
    arguments = {"all_pairs": True, "n_resamples": 499, **options}
    return compare(metrics=SegmentScores(metric, scores), **arguments)


BEFORE = rated({"a": 50, "b": 51, "c": 60})
NOW = rated({"c": 60, "b": 60, "d": 40})


def against(baseline: str, systems: str) -> Any:
    return rated({s: 50 + 3 * ord(s) for s in systems}, baseline=baseline, all_pairs=False)


def judged(test: str) -> Any:
    return rated({"a": 50, "b": 51}, test=test, all_pairs=False)


TEXTS = ["the cat sat on the mat", "a dog barked", "it rained all day"]


def of_texts(systems: str, metrics: Any, times: int = 1, **options: Any) -> Any:
    outputs = [TEXTS, ["the cat sat", "dogs bark", "it rained"]]
    named = {name: lines * times for name, lines in zip(systems, outputs, strict=True)}
    return compare(TEXTS * times, named, metrics, n_resamples=9, **options)


def on_sets(names: str, shift: float) -> Any:
    """Of two systems on test sets of different sizes, which have different resolutions."""

    def scores(n: int) -> SegmentScores:
        return SegmentScores("rating", {"a": NOISE["a"][:n], "b": NOISE["b"][:n] + shift})

    sets = {name: reshuffle.TestSet(metrics=scores(20 + 5 * i)) for i, name in enumerate(names)}
    return compare_sets(sets, n_resamples=99)


def alike_on_sets(systems: str) -> Any:
    metric = SegmentScores("rating", {s: NOISE[s] + 50 for s in systems})
    return compare_sets({name: reshuffle.TestSet(metrics=metric) for name in "xy"}, n_resamples=99, average=False)


def of_another_direction(result: Any) -> Any:
    return replace(result, metrics=(replace(result.metrics[0], higher_is_better=False),))


def settings(alternative: str, level: float) -> Any:
    return rated({"a": 50, "b": 60}, alternative=alternative, confidence_level=level, all_pairs=False)


# The earlier result, the present one, and what else the layout says.
CASES: dict[str, Callable[[], tuple[Any, Any, dict[str, Any]]]] = {
    "systems are new and gone": lambda: (BEFORE, NOW, {"since_name": "old.json", "digits": 2}),
    "the same result": lambda: (NOW, NOW, {}),
    "verdicts in the other direction": lambda: (
        rated({"a": 50, "b": 51, "c": 60}),
        rated({"c": 50, "b": 51, "a": 50}),
        {},
    ),
    "another baseline": lambda: (against("a", "abc"), against("b", "abc"), {}),
    "another baseline and no common pair": lambda: (against("a", "abc"), against("b", "bc"), {}),
    "no common system": lambda: (rated({"a": 50, "b": 55}), rated({"c": 50, "d": 55}), {}),
    "another tokenizer, test and test set": lambda: (
        of_texts("ab", "bleu"),
        of_texts("ac", reshuffle.metric("bleu", tokenize="none"), 2, test="bootstrap-shift"),
        {"since_name": "x", "names": {"c": "See"}},
    ),
    "metrics are new and gone": lambda: (of_texts("ab", ["bleu", "chrf"]), of_texts("ab", ["bleu", "ter", "wer"]), {}),
    "equivalence is no longer shown": lambda: (judged("equivalence:rating=9"), judged("equivalence:rating=0.1"), {}),
    "equivalence with another margin": lambda: (judged("equivalence:rating=9"), judged("equivalence:rating=8"), {}),
    "non-inferiority is shown": lambda: (judged("non-inferiority:rating=0.01"), judged("non-inferiority:rating=9"), {}),
    "other settings": lambda: (settings("two-sided", 0.95), of_another_direction(settings("worse", 0.99)), {}),
    "names of systems that are gone": lambda: (
        replace(BEFORE, display_names={"a": "Ada", "c": "Cora"}),
        NOW,
        {"since_name": "x", "names": {"c": "Carl"}},
    ),
    # Nothing changed between the systems of before, but the best is another, which moves the ranks of all.
    "a new leader": lambda: (rated({"a": 50, "b": 55}), rated({"a": 50, "b": 55, "d": 60}), {"names": {"d": "Dora"}}),
    "ranks among the common systems": lambda: (
        rated({"a": 50, "b": 55, "c": 60}),
        rated({"a": 60, "b": 55, "c": 50, "d": 70}),
        {},
    ),
    "test sets and their average": lambda: (on_sets("xz", 0), on_sets("xy", 9), {"since_name": "old"}),
    "new systems of several test sets": lambda: (alike_on_sets("ab"), alike_on_sets("abc"), {}),
}


def test_changes_are_told() -> None:
    told = {}
    for name, make in CASES.items():
        before, now, options = make()
        layout = Layout(since=before, **options)
        lines = [*since_sentences(now, layout)]
        for table in since_tables(now, layout):
            rows = [table.header, *table.rows] if isinstance(now, Comparison) else []
            lines += ["", table.title, *map(" | ".join, rows)]
        told[name] = "\n".join(lines)
    assert_told("since", told)
    assert [*since_tables(NOW, Layout())] == []


def test_of_several_metrics_each_has_rows_of_its_own() -> None:
    """So that the table fits, however many metrics there are."""
    before, now = (
        compare(
            metrics=[SegmentScores(m, {"a": NOISE["a"], "b": NOISE["b"] + shift}) for m in ("x", "y")], n_resamples=99
        )
        for shift in (0, 20)
    )
    scores, *_ = since_tables(now, Layout(since=before))
    assert (scores.header, scores.rules) == (["Metric", "System", "before", "now", "change"], [1])
    assert [row[:2] for row in scores.rows] == [["x", "b"], ["y", "b"]]


def test_why_a_verdict_changed_is_said_if_p_did_not() -> None:
    """By adjustment for more tests, or perhaps by Monte Carlo error."""
    rng = np.random.default_rng(1)
    base, noise = rng.normal(size=(2, 100)).round(2)
    scores = {"a": base, "b": base + noise - noise.mean() + 0.22}
    more = {name: base + rng.normal(0, 1, 100).round(2) for name in "cdefgh"}
    before, now = (
        compare(metrics=SegmentScores("x", {**scores, **others}), all_pairs=True, test="t-test", interval=None)
        for others in ({}, more)
    )
    assert [each.verdict(each.pair("b", "a")) for each in (before, now)] == ["better", "no significant difference"]
    (said,) = [each for each in since_sentences(now, Layout(since=before)) if "verdict changed" in each]
    assert said == (
        "b − a: unadjusted p is on the same side of alpha as before, but p was not adjusted and is now adjusted over "
        "28 tests, which may be why the verdict changed."
    )


def test_results_without_a_common_metric_are_an_error() -> None:
    with pytest.raises(InputError, match=r"^the earlier result has no test set and metric in common with this result"):
        NOW.render("text", since=rated({"a": 1, "b": 2}, "other"))


def test_reports_for_people_show_the_changes_and_others_the_result_alone() -> None:
    for fmt in ("text", "markdown", "html"):
        report = markup(NOW.render(fmt, since=BEFORE))
        assert "Scores since the earlier result" in report
        assert "Verdicts that changed since the earlier result" in report
        assert "changed since" not in markup(NOW.render(fmt))
    for fmt in ("latex", "typst", "json", "csv"):
        assert NOW.render(fmt, since=BEFORE) == NOW.render(fmt)


def test_the_page_says_first_what_changed_and_has_a_section_of_changes_with_hostile_names(browser: Browser) -> None:
    name = "</script><img src=x onerror='window.broken = 1'>"
    before = rated({"a": 50, name: 51})
    browser.open(rated({"a": 50, "b": 51}).render("html", since=before))
    assert browser.texts("#summary > p")[0] == (
        "Since the earlier result, the candidates for the best system under rating have changed."
    )
    assert browser.texts("#since h2") == ["Changes"]
    assert name in browser.texts("#since td.name")
    assert browser.run("return window.broken") is None
    assert browser.all("main img") == []
    assert len(browser.all("#since .sortable th button")) == 4


def test_the_command_line_reads_json_and_html(demo: Path, run: Any) -> None:
    files = [str(demo / f"{name}.txt") for name in ("reference", "baseline", "tuned", "larger")]
    assert run("compare", *files[:3], "-n", "99", "-o", "old.json", "-o", "old.html").code == 0
    for old in ("old.json", "old.html"):
        outcome = run("compare", *files, "-n", "99", "--since", old)
        assert outcome.code == 0
        assert f"Scores since {old}" in outcome.out
        assert "New system: larger." in outcome.out
    assert run("show", "old.json", "--since", "old.html").out.count("Since old.html, no verdict has changed.") == 1
    wrong = {
        ("--since", "old.json", "--format", "csv"): "--since is for the formats text, markdown and html, not csv",
        ("--since", "gone.json"): "gone.json",
        ("--since", "old.json", "-m", "ter"): "old.json has no test set and metric in common with this result",
    }
    for options, message in wrong.items():
        assert message in run("compare", *files, "-n", "99", *options).refusal()
