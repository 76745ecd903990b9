"""What has changed since an earlier result (``since``, ``--since``)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reshuffle
from browser import Browser
from pages import markup
from reshuffle import InputError, SegmentScores, compare, compare_sets
from reshuffle.report import Layout
from reshuffle.report.since import since_sentences, since_tables

RNG = np.random.default_rng(5)
# Of mean 0, so that systems of the same mean do not differ.
NOISE = {name: noise - noise.mean() for name, noise in ((name, RNG.normal(0, 5, 80)) for name in "abcd<")}


def rated(means: dict[str, float], metric: str = "rating", n: int = 80, **options: Any) -> Any:
    scores = {name: NOISE[name[0]][:n] + mean for name, mean in means.items()}
    arguments = {"all_pairs": True, "n_resamples": 499, **options}
    return compare(metrics=SegmentScores(metric, scores), **arguments)


BEFORE = rated({"a": 50, "b": 51, "c": 60})
NOW = rated({"c": 60, "b": 60, "d": 40})


def test_scores_before_and_now_of_all_systems() -> None:
    first, *_ = since_tables(NOW, Layout(since=BEFORE, since_name="old.json", digits=2))
    assert first.title == "Scores since old.json"
    assert first.header == ["System", "rating before", "rating now", "rating change"]
    score = {
        (name, which): each.score(name).score
        for which, each in (("before", BEFORE), ("now", NOW))
        for name in each.systems
    }
    expected = {
        "c": [f"{score['c', 'before']:.2f}", f"{score['c', 'now']:.2f}", "+0.00"],
        "b": [f"{score['b', 'before']:.2f}", f"{score['b', 'now']:.2f}", "+9.00"],
        "d": ["new", f"{score['d', 'now']:.2f}", "–"],
        "a": [f"{score['a', 'before']:.2f}", "gone", "–"],
    }
    assert {row[0]: row[1:] for row in first.rows} == expected


def test_verdicts_that_changed_are_listed_also_of_pairs_in_the_other_direction() -> None:
    before, now = rated({"a": 50, "b": 51, "c": 60}), rated({"c": 50, "b": 51, "a": 50})
    assert {now.verdict(pair) for pair in now.comparisons} == {"no significant difference"}
    _, ranks, verdicts = since_tables(now, Layout(since=before))
    assert sorted(ranks.rows) == [["a", "2–3", "1–3"], ["b", "2–3", "1–3"], ["c", "1", "1–3"]]
    assert {(*{*row[:2]},) for row in verdicts.rows} <= {("a", "c"), ("c", "a"), ("b", "c"), ("c", "b")}
    for system, baseline, metric, earlier, later in verdicts.rows:
        assert (metric, later) == ("rating", "no significant difference")
        assert earlier == ("better" if system == "c" else "worse")
        assert "c" in (system, baseline)
    assert len(verdicts.rows) == 2
    assert [*since_sentences(now, Layout(since=before))] == [
        "Since the earlier result, 3 ranks, 2 verdicts and the candidates for the best system under rating have "
        "changed.",
        "Candidates for the best system under rating: now b, c and a; before c.",
    ]


NO_PAIR = "no verdicts can be compared, because no pair of systems is in both results"


def test_another_baseline_is_said() -> None:
    def against(baseline: str, systems: str) -> Any:
        return rated({s: 50 + 3 * ord(s) for s in systems}, baseline=baseline, all_pairs=False)

    before = against("a", "abc")
    was = "The baseline was a, and now is b."
    assert [*since_sentences(against("b", "abc"), Layout(since=before))] == [
        "Since the earlier result, no verdict has changed.",
        f"{was.removesuffix('.')}; verdicts are compared only for pairs in both results.",
    ]
    none = [*since_sentences(against("b", "bc"), Layout(since=before))]
    assert none == [f"Since the earlier result, {NO_PAIR}.", was, "Gone system: a."]


def test_nothing_changes_since_the_same_result() -> None:
    layout = Layout(since=NOW)
    (only,) = since_tables(NOW, layout)
    assert {row[-1] for row in only.rows} == {"+0.00"}
    assert [*since_sentences(NOW, layout)] == [
        "Since the earlier result, no rank, verdict or candidate for the best system has changed."
    ]
    assert [*since_tables(NOW, Layout())] == []


def test_sentences_say_what_is_new_or_gone_and_what_is_not_comparable() -> None:
    texts = ["the cat sat on the mat", "a dog barked", "it rained all day"]
    systems = {"a": texts, "b": ["the cat sat", "dogs bark", "it rained"]}
    before = compare(texts, systems, "bleu", n_resamples=9)
    other = {"a": systems["a"] * 2, "c": systems["b"] * 2}
    now = compare(texts * 2, other, reshuffle.metric("bleu", tokenize="none"), n_resamples=9, test="bootstrap-shift")
    found = [*since_sentences(now, Layout(since=before, since_name="x", names={"c": "See"}))]
    assert found[0] == f"Since x, {NO_PAIR}."
    assert found[1].startswith("BLEU: scores are not comparable; it was computed as BLEU|")
    assert "tok:13a" in found[1]
    assert "tok:none" in found[1]
    assert found[2] == "The test set had 3 segments, and now has 6: scores are not comparable."
    assert found[3].startswith("Verdicts rested on another test: ")
    assert found[4:] == ["New system: See.", "Gone system: b."]


def test_equivalence_and_non_inferiority_have_verdicts_of_their_own() -> None:
    def verdicts(test: str, before: float, now: float) -> list[list[str]]:
        found = [rated({"a": 50, "b": 51}, test=f"{test}:rating={margin}", all_pairs=False) for margin in (before, now)]
        return [row for table in [*since_tables(found[1], Layout(since=found[0]))][1:] for row in table.rows]

    assert verdicts("equivalence", 9, 0.1) == [["b", "a", "rating", "equivalent within ±9 rating", "not shown"]]
    assert verdicts("non-inferiority", 0.01, 9) == [["b", "a", "rating", "not shown", "not worse by 9 rating or more"]]
    assert verdicts("equivalence", 9, 8) == []


def test_settings_that_changed_are_said() -> None:
    before, now = (
        rated({"a": 50, "b": 60}, alternative=alternative, confidence_level=level, all_pairs=False)
        for alternative, level in (("two-sided", 0.95), ("worse", 0.99))
    )
    lower = replace(now, metrics=(replace(now.metrics[0], higher_is_better=False),))
    assert [*since_sentences(lower, Layout(since=before))][1:] == [
        "Lower rating is better, where higher was.",
        "Verdicts rested on another alternative: two-sided, and now worse.",
        "Verdicts rested on another alpha: 0.05, and now 0.01.",
    ]


def test_systems_that_are_gone_have_the_names_of_the_earlier_result() -> None:
    before = replace(BEFORE, display_names={"a": "Ada", "c": "Cora"})
    layout = Layout(since=before, since_name="x", names={"c": "Carl"})
    first, *_ = since_tables(NOW, layout)
    assert {row[0] for row in first.rows} == {"Ada", "Carl", "b", "d"}
    assert "Gone system: Ada." in [*since_sentences(NOW, layout)]


def test_a_new_leader_is_the_headline() -> None:
    """Nothing changed between the systems of before, but the best is another, which moves the ranks of all."""
    before, now = rated({"a": 50, "b": 55}), rated({"a": 50, "b": 55, "d": 60})
    (scores,) = since_tables(now, Layout(since=before))
    assert [row[0] for row in scores.rows] == ["d", "b", "a"]  # by rank, not as in the input
    assert [*since_sentences(now, Layout(since=before, names={"d": "Dora"}))] == [
        "Since the earlier result, the candidates for the best system under rating have changed.",
        "New system: Dora.",
        "Candidates for the best system under rating: now Dora; before b.",
    ]


def test_ranks_that_changed_are_those_among_the_systems_of_both_results() -> None:
    before, now = rated({"a": 50, "b": 55, "c": 60}), rated({"a": 60, "b": 55, "c": 50, "d": 70})
    _, ranks, _ = since_tables(now, Layout(since=before))
    assert ranks.title == "Ranks among common systems that changed since the earlier result"
    assert ranks.rows == [["a", "3", "1"], ["c", "1", "3"]]


def test_of_several_metrics_each_has_rows_of_its_own() -> None:
    """So that the table fits, however many metrics there are."""
    before, now = (
        compare(
            metrics=[SegmentScores(m, {"a": NOISE["a"], "b": NOISE["b"] + shift}) for m in ("x", "y")], n_resamples=99
        )
        for shift in (0, 20)
    )
    scores, *_ = since_tables(now, Layout(since=before))
    assert (scores.header, scores.rules) == (["Metric", "System", "before", "now", "change"], [2])
    assert [row[:2] for row in scores.rows] == [["x", "a"], ["x", "b"], ["y", "a"], ["y", "b"]]


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
        "b − a: the verdict changed with the number of tests over which p is adjusted (1 before, 28 now): p without "
        "adjustment is on the same side of alpha as before."
    )


def test_metrics_that_are_new_or_gone_are_said() -> None:
    texts = ["the cat sat on the mat", "a dog barked", "it rained all day"]
    before, now = (
        compare(texts, {"a": texts, "b": texts[::-1]}, metrics, n_resamples=9)
        for metrics in (["bleu", "chrf"], ["bleu", "ter", "wer"])
    )
    assert [*since_sentences(now, Layout(since=before))][1:3] == ["New metrics: TER and WER.", "Gone metric: chrF2."]


def test_results_without_a_common_metric_are_an_error() -> None:
    with pytest.raises(InputError, match=r"^the earlier result has no test set and metric in common with this result"):
        NOW.render("text", since=rated({"a": 1, "b": 2}, "other"))


def test_test_sets_and_averages_are_compared_by_name() -> None:
    def on(names: str, shift: float) -> Any:
        def scores(n: int) -> SegmentScores:
            return SegmentScores("rating", {"a": NOISE["a"][:n], "b": NOISE["b"][:n] + shift})

        return compare_sets(
            {name: reshuffle.TestSet(metrics=scores(20 + 5 * i)) for i, name in enumerate(names)}, n_resamples=99
        )

    layout = Layout(since=on("xz", 0), since_name="old")
    assert [*since_sentences(on("xy", 9), layout)] == [  # comparable, although the resolution is another
        "Since old, 2 verdicts have changed.",
        "Average over test sets: 1 verdict has changed.",
        "x: 1 verdict has changed.",
        "b − a: the verdict may have changed by Monte Carlo error, which leaves open on which side of alpha p lies; "
        "more replicates tell.",
    ]
    assert [table.title for table in since_tables(on("xy", 9), layout)] == [
        "Average over test sets: Scores since old",
        "Average over test sets: Verdicts that changed since old",
        "x: Scores since old",
        "x: Verdicts that changed since old",
    ]


def test_new_systems_of_several_test_sets_are_said_once() -> None:
    before, now = (
        compare_sets(
            {name: reshuffle.TestSet(metrics=SegmentScores("rating", {s: NOISE[s] for s in systems})) for name in "xy"},
            n_resamples=99,
            average=False,
        )
        for systems in ("ab", "abc")
    )
    assert [*since_sentences(now, Layout(since=before))] == [
        "Since the earlier result, no verdict has changed.",
        "New system: c.",
    ]


@pytest.mark.parametrize("fmt", ["text", "markdown", "html"])
def test_reports_for_people_show_the_changes(fmt: str) -> None:
    report = NOW.render(fmt, since=BEFORE)
    shown = markup(report) if fmt == "html" else report
    assert "Scores since the earlier result" in shown
    assert "Verdicts that changed since the earlier result" in shown
    assert "changed since" not in (markup(NOW.render("html")) if fmt == "html" else NOW.render(fmt))


def test_papers_and_programs_get_the_result_alone() -> None:
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
        outcome = run("compare", *files, "-n", "99", *options)
        assert outcome.code == 2
        assert message in outcome.err
