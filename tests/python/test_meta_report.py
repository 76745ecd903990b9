"""Reports of meta-evaluations: tables, sentences and figures from results whose numbers are known."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.offsetbox import AnnotationBbox
from matplotlib.text import Text

from browser import Browser
from meta_material import table
from reshuffle import meta
from reshuffle.errors import InputError
from reshuffle.meta import JudgedSet
from reshuffle.meta.coefficients import COEFFICIENTS, TESTS
from reshuffle.meta.human import HUMAN_SCORES
from reshuffle.report import Layout, Terminal, render
from reshuffle.report.plots.names import places
from reshuffle.report.studies import report_of
from reshuffle.report.studies.meta_sentences import conclusions, notes
from reshuffle.report.words import words
from reshuffle.results import ConfidenceInterval, UsedMetric
from reshuffle.results.studies import (
    HumanScores,
    MetaEvaluation,
    MetricAgreement,
    MetricDifference,
    MetricGroup,
    MetricSystemScore,
)
from reshuffle.results.studies.meta import MetaPlan
from reshuffle.types import Grouping, MetricTies
from told import assert_told


def interval(low: float, high: float) -> ConfidenceInterval:
    return ConfidenceInterval(low, high, 0.95, "percentile")


def agreement(metric: str, value: float, n: int = 1000, **changes: Any) -> MetricAgreement:
    found = MetricAgreement(
        test_set="", metric=metric, level="segment", grouping="votes", coefficient="tau", ties="half", value=value,
        confidence_interval=None if value != value else interval(value - 0.02, value + 0.02), n=n, groups=None,
        epsilon=None, segments=None, judged_segments=None, reason=None,
    )  # fmt: skip
    return replace(found, **changes)


def difference(a: str, b: str, value: float, p: float, **changes: Any) -> MetricDifference:
    found = MetricDifference(
        test_set="", metric_a=a, metric_b=b, level="segment", grouping="votes", coefficient="tau", ties="half",
        test="perm-inputs", difference=value, pvalue=p / 2, adjusted_pvalue=p,
        confidence_interval=interval(value - 0.02, value + 0.02), exceedances=1, n_resamples=1000, statistic=None,
        degrees_of_freedom=None, n=1000,
    )  # fmt: skip
    return replace(found, **changes)


def group(metric: str, rank: int, letters: str, cluster: int, **changes: Any) -> MetricGroup:
    return replace(MetricGroup("", metric, "segment", "votes", "tau", "half", rank, letters, cluster), **changes)


PLAN: dict[str, Any] = {
    "level": "segment", "test_sets": [""], "systems": {"": ["a", "b"]}, "left_out": {}, "segments": {"": 100},
    "repeats": "net", "raw_votes": {"": 1500}, "raw_ties": {"": 20}, "coefficients": ["tau"], "groupings": ["votes"],
    "ties": "half", "minimum_difference": 25.0, "average": False, "pooled": False, "test": "auto",
    "tests": ["perm-inputs"], "baseline": None, "adjust": "auto", "interval": "boot-inputs", "confidence_level": 0.95,
    "alpha": 0.05, "n_resamples": 1000, "seed": 12345,
}  # fmt: skip


def evaluation(
    results: Sequence[MetricAgreement],
    comparisons: Sequence[MetricDifference] = (),
    groups: Sequence[MetricGroup] = (),
    systems: Sequence[MetricSystemScore] = (),
    **plan: Any,
) -> MetaEvaluation:
    names = list(dict.fromkeys(each.metric for each in results))
    tables: dict[str, Any] = {
        "results": tuple(results), "comparisons": tuple(comparisons), "groups": tuple(groups),
        "human": (HumanScores("", "a", None, 10, 20),),
    }  # fmt: skip
    if systems:
        tables["systems"] = tuple(systems)
    return MetaEvaluation(
        study="meta",
        plan=MetaPlan(**PLAN | plan),
        metrics=tuple(UsedMetric(name, name, name != "TER", None, None) for name in names),
        tables=tables,
        truths={"perm-inputs": "Both metrics are exchangeable."},
        signature="study:meta|version:reshuffle-0",
        version="0.1.0",
    )


def ranked() -> MetaEvaluation:
    """Four metrics: X and Y are not significantly different, both are better than Z, and TER is worst."""
    return evaluation(
        [agreement("Z", 0.2), agreement("X", 0.25), agreement("TER", -0.1), agreement("Y", 0.24)],
        [
            difference("Z", "X", -0.05, 0.01), difference("Z", "TER", 0.3, 0.002), difference("Z", "Y", -0.04, 0.03),
            difference("X", "TER", 0.35, 0.002), difference("X", "Y", 0.01, 0.6), difference("TER", "Y", -0.34, 0.0005),
        ],
        [group("X", 1, "a", 1), group("Y", 2, "a", 1), group("Z", 3, "b", 2), group("TER", 4, "c", 3)],
    )  # fmt: skip


def text(result: MetaEvaluation, width: int = 80) -> str:
    return render(result, "text", Layout(Terminal(width)))


def prose(result: MetaEvaluation) -> str:
    return " ".join(text(result).split())


def test_bold_type_marks_metrics_that_agree_better_than_the_baseline() -> None:
    compared = [difference("X", "Y", 0.05, 0.01), difference("Z", "Y", -0.05, 0.01)]
    result = evaluation([agreement("X", 0.3), agreement("Y", 0.25), agreement("Z", 0.2)], compared, baseline="Y")
    values, differences = report_of("meta").tables(result)
    assert [row[0] for row, flags in zip(differences.rows, differences.bold, strict=True) if any(flags)] == ["X"]
    assert differences.key == "Bold: significantly better agreement than Y."
    assert values.key == ""
    markdown = render(ranked(), "markdown")
    assert "- Bold: the best agreement, and those that do not differ significantly from it." in markdown


def test_a_coefficient_without_a_value_has_a_sentence_but_no_table_no_figure_and_no_definition() -> None:
    other: dict[str, Any] = {"coefficient": "kendall-b", "grouping": "item"}
    undefined = [replace(agreement(name, math.nan, n=0, reason="no votes"), **other) for name in ("X", "Y")]
    result = evaluation([agreement("X", 0.3), agreement("Y", 0.2), *undefined], [difference("X", "Y", 0.1, 0.5)])
    assert "Not defined for X and Y: Kendall's τb within segments (no votes)." in prose(result)
    assert [table.title for table in report_of("meta").tables(result)] == [
        "Agreement with people by Kendall's τ: 1,000 net votes",
        "Differences in Kendall's τ",
    ]
    assert [each["coefficient"] for each in report_of("meta").figures["forest"].choices(result)] == ["tau"]
    assert not any("τb:" in note or note.startswith("*") for note in notes(result))
    assert "*:" not in text(result)  # nothing has a star
    # Without any value, the tables say so.
    assert len([*report_of("meta").tables(evaluation(undefined))]) == 1


@pytest.mark.parametrize("n", [4, 5, 6])
def test_reports_of_few_systems_say_what_is_known_of_the_default(n: int) -> None:
    rng = np.random.default_rng(1)
    quality = rng.normal(0, 1, (n, 30))
    human, *tables = (table(name, quality + rng.normal(0, 1, (n, 30))) for name in ("people", "a", "b"))
    few = JudgedSet.from_scores(tables, human=human)
    for grouping in ("item", "none"):
        shown = prose(meta.segments(few, coefficients="pearson", groupings=[grouping], interval=None))
        said = "T-BOTH by segment, with fewer than 6 systems: in simulations of metrics that favour" in shown
        assert said == (n < 6 and grouping == "item")


def test_every_name_of_the_registries_has_words() -> None:
    known = words("meta")
    assert set(known["coefficient"]) == set(COEFFICIENTS)
    assert all({*each} == {"name", "short", "heading", "definition"} for each in known["coefficient"].values())
    assert set(known["ties"]) == set(get_args(MetricTies))
    assert set(known["grouping"]) == set(get_args(Grouping))
    assert {name for name, test in TESTS.items() if test.replicates == "draws"} == set(known["drawn"])
    assert set(known["human-scores"]) == {*HUMAN_SCORES, "given", "means"}
    assert {name: test.title for name, test in TESTS.items()} == known["test"]


def of_sets(tested: str = "average") -> MetaEvaluation:
    """Two metrics on two test sets and their average; only the average or only the test sets have tests."""
    results, comparisons, groups = [], [], []
    for test_set, x, y in (("cs-en", 0.2, 0.3), ("de-en", 0.4, 0.35), ("average", 0.3, 0.325)):
        results += [agreement("X", x, test_set=test_set), agreement("Y", y, test_set=test_set)]
        if (test_set == "average") == (tested == "average"):
            comparisons.append(difference("X", "Y", x - y, 0.01, test_set=test_set))
            first, second = ("X", "Y") if x > y else ("Y", "X")
            groups += [group(first, 1, "a", 1, test_set=test_set), group(second, 2, "b", 2, test_set=test_set)]
    return evaluation(results, comparisons, groups, test_sets=["cs-en", "de-en"], average=True)


def many(k: int, alpha: float = 0.05) -> MetaEvaluation:
    """k metrics, of which neighbours are not significantly different."""
    names = [f"m{i}" for i in range(k)]
    pairs = [
        difference(names[i], names[j], (j - i) / 100, 0.2 if j == i + 1 else 0.0009)
        for i in range(k) for j in range(i + 1, k)
    ]  # fmt: skip
    letters = "abcdefghijklmnopqrstuvwxyz"
    groups = [group(name, i + 1, letters[max(i - 1, 0) : i + 1], 1) for i, name in enumerate(names)]
    return evaluation([agreement(name, 0.5 - i / 100) for i, name in enumerate(names)], pairs, groups, alpha=alpha)


def of_systems(*far: float) -> MetaEvaluation:
    """Five systems, which both metrics order as people do, and others with these scores by people."""
    scores = [
        MetricSystemScore("", metric, f"system-{i}", sign * (20.0 + i), human)
        for metric, sign in (("BLEU", 1), ("TER", -1))
        for i, human in enumerate([0.0, 0.1, 0.2, 0.3, 0.4, *far])
    ]
    results = [
        agreement(metric, 1.0, n=5, level="system", grouping=None, coefficient="pearson", ties=None)
        for metric in ("BLEU", "TER")
    ]
    return evaluation(results, systems=scores, level="system", human_scores="wins", tests=[], coefficients=["pearson"])


# test_every_study.py writes, draws and reads them.
RESULTS: dict[str, Callable[[], MetaEvaluation]] = {
    "metrics": ranked,
    "test sets": of_sets,
    "tested test sets": lambda: of_sets("sets"),
    "many metrics": lambda: many(12),
    "too many metrics for letters": lambda: many(24),
    "scores of systems": of_systems,
    "every coefficient": lambda: evaluation(
        [
            agreement("X", 0.4, coefficient=c, grouping=g, epsilon=0.5)
            for c, g in product(COEFFICIENTS, get_args(Grouping))
        ]
    ),
}

X, Y, Z = agreement("X", 0.25), agreement("Y", 0.3), agreement("Z", 0.1)


def none_is_better(*names: str) -> MetaEvaluation:
    """Three metrics that do not differ, by each of these coefficients."""
    results, pairs, groups = [], [], []
    of_names: list[dict[str, Any]] = [{"coefficient": name} for name in names]
    for at, own in enumerate(of_names):
        results += [agreement(name, value + at / 10, **own) for name, value in {"X": 0.3, "Y": 0.3, "Z": 0.1}.items()]
        compared = (("X", "Y", 0.0, 1.0), ("X", "Z", 0.2, 0.2), ("Y", "Z", 0.2, 0.3))
        pairs += [difference(*pair, **own) for pair in compared]
        groups += [group(name, rank, "a", 1, **own) for name, rank in {"X": 1, "Y": 1, "Z": 3}.items()]
    return evaluation(results, pairs, groups)


def by(**tests: Any) -> MetaEvaluation:
    """The ranked metrics by other tests."""
    own = [replace(each, **tests) for each in ranked().comparisons]
    return evaluation(ranked().results, own, ranked().groups)


def of_other_scores(test: str) -> MetaEvaluation:
    """PERM-BOTH of systems compares means of segment scores: their order need not be that of the values."""
    place: dict[str, Any] = {"level": "system", "grouping": None, "coefficient": "spearman", "ties": None}
    pairs = (("X", "Y", 0.02), ("X", "Z", 0.2), ("Y", "Z", 0.2))
    return evaluation(
        [agreement("X", 0.8, **place), agreement("Y", 0.9, **place), agreement("Z", 0.7, **place)],
        [difference(*pair, 0.5, test=test, **place) for pair in pairs],
        [group(name, rank, "a", 1, **place) for rank, name in enumerate("XYZ", 1)],
        level="system", tests=[test], raw_votes={}, human_scores="given",
    )  # fmt: skip


def beside_intervals(*metrics: str) -> MetaEvaluation:
    """X and W lie above their intervals, Y on an end of its interval, Z below."""
    ends = {"X": (0.933, 0.729, 0.932), "W": (0.933, 0.729, 0.932), "Y": (0.9, 0.7, 0.9), "Z": (0.5, 0.6, 0.7)}
    values = {name: agreement(name, value, confidence_interval=interval(*own)) for name, (value, *own) in ends.items()}
    return evaluation([values[name] for name in metrics])


# Results with tables, and those with sentences, that the first one has not.
TABLES: dict[str, Callable[[], MetaEvaluation]] = {
    "test sets": of_sets,
    "tested test sets": lambda: of_sets("sets"),
    "scores of systems": of_systems,
    "a matrix of p-values": lambda: many(6),
    "one coefficient is not defined": lambda: evaluation(
        [X, agreement("X", float("nan"), n=0, reason="no pairs", coefficient="acc23", grouping="item", ties=None)]
    ),
    "groups of the metrics differ": lambda: evaluation(
        [
            agreement(name, 0.3, grouping="item", coefficient="kendall-b", ties=None, groups=n)
            for name, n in (("X", 90), ("Y", 87))
        ]
    ),
    "ranked by other scores": lambda: of_other_scores("perm-both"),
}
CASES: dict[str, Callable[[], MetaEvaluation]] = {
    "one metric": lambda: evaluation([X]),
    "differences were not tested": lambda: evaluation([X, Y]),
    "two do not differ": lambda: evaluation(
        [X, Y], [difference("X", "Y", -0.05, 0.3)], [group("Y", 1, "a", 1), group("X", 2, "a", 1)]
    ),
    "against a metric": lambda: evaluation(
        [X, Y, Z, agreement("W", 0.26)],
        [difference("Y", "X", 0.05, 0.03), difference("Z", "X", -0.15, 0.01), difference("W", "X", 0.01, 0.9)],
    ),
    "none is better": lambda: none_is_better("tau"),
    "none is better by any": lambda: none_is_better("tau", "darr"),
    "not defined": lambda: evaluation([agreement("X", float("nan"), n=0, reason="no votes"), Y]),
    "systems left out, all votes": lambda: evaluation(ranked().results, left_out={"": ["c", "d"]}, repeats="all"),
    "an outlier": lambda: of_systems(-3.0),
    "two outliers": lambda: of_systems(-3.0, 4.0),
    "means of systems": lambda: of_other_scores("perm-systems"),
    "beside their intervals": lambda: beside_intervals("X", "Y", "Z"),
    "two beside their intervals": lambda: beside_intervals("X", "W", "Y"),
    "on an end of the interval": lambda: beside_intervals("Y"),
    **{
        f"{test}, {coefficient}, {grouping}": partial(by, test=test, coefficient=coefficient, grouping=grouping)
        for test, coefficient, grouping in (
            ("boot-inputs", "tau", "votes"),
            ("perm-systems", "tau", "votes"),
            ("perm-systems", "pearson", "none"),
            ("perm-systems", "pearson", "item"),
            ("boot-systems", "pearson", "none"),
            ("boot-systems", "pearson", "item"),
            ("boot-systems", "kendall-b", "item"),
        )
    },
}


METHODS: dict[str, Callable[[], MetaEvaluation]] = {
    "maxT": ranked,
    "Holm": lambda: by(test="williams"),
    "chosen": lambda: replace(ranked(), plan=MetaPlan(**PLAN | {"adjust": "bonferroni"})),
    "systems": lambda: of_other_scores("perm-systems"),
    "scores of systems": of_systems,
}


def test_texts_and_the_sentences_of_every_outcome() -> None:
    usual, said = text(ranked()).splitlines(), {*conclusions(ranked()), *notes(ranked())}
    told = {"metrics": text(ranked())}
    for name, make in TABLES.items():
        told[name] = "\n".join(line for line in text(make()).splitlines() if not line or line not in usual)
    for name, make in CASES.items():
        told[name] = "\n".join(each for each in (*conclusions(make()), *notes(make())) if each not in said)
    for name, make in METHODS.items():
        sentences = make().methods_sentence().split(". ")
        told[f"methods: {name}"] = "\n".join(
            each for each in sentences if re.match("Scores|The p-values|Confidence", each)
        )
    assert_told("meta", told)


def test_bold_are_all_metrics_that_do_not_differ_from_the_best() -> None:
    none_differ, *_ = report_of("meta").tables(CASES["none is better"]())
    first_two, *_ = report_of("meta").tables(ranked())
    assert [*map(all, none_differ.bold)] == [True] * 3
    assert [*map(all, first_two.bold)] == [True, True, False, False]
    assert none_differ.key == first_two.key


def texts_of(axes: Any) -> list[str]:
    return [found.get_text() for found in axes.texts]


def test_figures_show_values_letters_leaders_every_pvalue_and_turned_metrics() -> None:
    axes = ranked().plot.forest()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["X", "Y", "Z", "TER"]
    assert {"0.250", "−0.100", "a", "b", "c"} <= set(texts_of(axes))
    filled = [line.get_markerfacecolor() != "white" for line in axes.lines if line.get_marker() == "o"]
    assert filled == [True, True, False, False]
    dots = [line for line in axes.lines if line.get_marker() == "o" and line.get_markerfacecolor() != "white"]
    (key,) = (text for text in axes.findobj(Text) if text.get_text() == "●")
    assert {dot.get_markeredgecolor() for dot in dots} == {key.get_color()}
    axes = many(4).plot.matrix()
    shown = texts_of(axes)
    assert sorted(each for each in shown if each.startswith((".", "<"))) == [".200"] * 3 + ["<.001*"] * 3
    with pytest.raises(InputError, match="needs tests of all pairs of at least 3 metrics, but the result has none"):
        evaluation([agreement(m, 0.8) for m in "XY"], [difference("X", "Y", 0.0, 0.5)], []).plot.matrix()
    up, down = (of_systems().plot.scatter(metric=metric) for metric in ("BLEU", "TER"))
    assert not up.xaxis_inverted()
    assert down.xaxis_inverted()
    assert "r = 1.000" in up.get_xlabel()
    assert {"system-0", "system-4"} <= set(texts_of(up))
    # Where some names have no room, numbers stand for all: the same under all metrics, with one key.
    places = [(20.0 + i / 100, 0.1 - i / 100) for i in range(12)] + [(20.2, 0.2)]
    systems = [MetricSystemScore("", m, f"system-{i}" * 3, x, y) for m in "XY" for i, (x, y) in enumerate(places)]
    many_names = evaluation([agreement(m, 0.8) for m in "XY"], systems=systems, level="system")
    panels = many_names.plot.scatter().figure.axes
    numbers_in = [texts_of(panel) for panel in panels]
    assert numbers_in == [[str(number) for number in range(1, 14)]] * 2
    (names,) = (artist for artist in panels[0].figure.artists if isinstance(artist, AnnotationBbox))
    named = [text.get_text().rstrip() for text in names.findobj(Text)]
    assert named.count("\N{NO-BREAK SPACE}" + "system-12" * 3) == 1
    assert [panel.get_ylabel() for panel in panels] == ["human score (↑ better)", ""]
    assert "by people (metric X).</figcaption>" in many_names.render("html")


def test_a_far_system_does_not_squeeze_the_others_in_a_scatter_plot() -> None:
    places = [(20.0 + i, (i * 7 % 11) / 10) for i in range(11)] + [(2.0, -9.0)]
    systems = [MetricSystemScore("", "X", f"s{i}", x, y) for i, (x, y) in enumerate(places)]
    axes = evaluation([agreement("X", 0.912, coefficient="pearson")], systems=systems, level="system").plot.scatter()
    assert 18 < axes.get_xlim()[0] < 20
    assert "s11 (2, −9)" in texts_of(axes)
    r = np.corrcoef(np.transpose(places[:-1]))[0, 1]
    assert axes.get_xlabel() == f"X (→ better); r = 0.912 ({r:.3f} without ◇)"
    assert {"◇", " off the axes (its values)"} <= {text.get_text() for text in axes.findobj(Text)}


@given(
    st.lists(st.tuples(st.floats(0, 150), st.floats(0, 150)), min_size=1, max_size=12),
    st.lists(st.floats(5, 60), min_size=12, max_size=12),
)
def test_names_beside_points_do_not_cover_one_another(points: list[tuple[float, float]], lengths: list[float]) -> None:
    at, sizes = np.array(points), np.array([(length, 5.0) for length in lengths[: len(points)]])
    middles, _, fit = places(at, sizes, np.array([150.0, 150.0]))
    low, high = at + middles - sizes / 2, at + middles + sizes / 2
    if fit:
        assert ((low >= 0) & (high <= 150)).all()
        for one, other in combinations(range(len(points)), 2):
            assert (low[one] >= high[other]).any() or (low[other] >= high[one]).any()


def test_wide_figures_of_the_page_have_text_of_the_same_size(browser: Browser) -> None:
    browser.resize(1200)
    browser.open(many(12).render("html"))
    images = (
        "return [...document.querySelectorAll('.drawings img')].map((each) => each.clientWidth / each.naturalWidth)"
    )
    column, wide = browser.run(images)
    assert wide == pytest.approx(column, rel=0.02)
    assert browser.run("return document.querySelector('.wide img').clientWidth") > 600
    browser.resize(500)
    assert browser.run(images)[1] == pytest.approx(wide)
    overflow = "const each = document.querySelector(arguments[0]); return each.scrollWidth > each.clientWidth"
    assert browser.run(overflow, ".wide > div")
    assert not browser.run(overflow, "html")


def test_sizes_are_named_by_what_they_count() -> None:
    own = {"grouping": "item", "coefficient": "kendall-b", "ties": None}
    results = [agreement(name, 0.5, n=1000 + n, groups=90 + n, **own) for n, name in enumerate(["m0", "m1"])]
    study = evaluation(results, coefficients=["kendall-b"], groupings=["item"])
    assert study.render("text").splitlines()[2].endswith("95% CI  Outputs  Segments")
    page = study.render("html")
    assert all(f"<dt>{name}</dt><dd>" in page for name in ("Systems", "Segments"))


def test_captions_have_words_for_coefficients_and_letters_are_aligned_left() -> None:
    first, second = many(3), many(3)
    other = [replace(each, coefficient="kendall-b") for each in second.results]
    groups = [replace(each, coefficient="kendall-b") for each in second.groups]
    both = replace(
        first, tables={**first.tables, "results": (*first.results, *other), "groups": (*first.groups, *groups)}
    )
    page = both.render("html")
    assert "Kendall&#39;s τb" in page
    assert "coefficient kendall-b" not in page
    table = first.render("latex")
    assert "{@{}lrrlr@{}}" in table
    scores, tests = re.findall(r"\\caption{(.*)}", table)
    assert "Group: metrics that share a letter" in scores
    assert "CI: percentile" in scores
    assert "two-sided. Adjusted $p$: for all tests" in tests
