"""Metrics are named in any case, and as reports print them, wherever a metric is named."""

from collections.abc import Callable
from typing import Any

import pytest

import reshuffle
from reshuffle import Equivalence, InputError, _core, compare, metric
from reshuffle.metrics.registry import metric_specs
from reshuffle.names import metric_key, with_option
from reshuffle.results.lookup import metric_name
from reshuffle.study import plan

REFERENCE = ["the cat sat on the mat", "a dog barked at the moon", "it rained all day long"] * 10
SYSTEMS = {
    "a": ["the cat sat on a mat", "a dog barks at it", "it rains all day"] * 10,
    "b": ["the cat sat on the mat", "a dog barked at noon", "it rained all the day"] * 10,
}


@pytest.mark.parametrize("key", [spec.name for spec in metric_specs()])
def test_every_metric_is_found_by_its_name_in_reports_and_in_any_case(key: str) -> None:
    printed = _core.Metric(key, {}).name
    # Reports call two metrics WER. As the name of a metric, it is that of translation.
    for name in (key, *([] if key == "asr-wer" else [printed])):
        for spelling in (name, name.upper(), name.lower(), name.swapcase()):
            assert metric_key(spelling) == key
            assert metric(spelling) == metric(key)
            assert metric_name(spelling, ["other", printed]) == printed


def test_results_are_looked_up_by_any_name() -> None:
    with pytest.raises(InputError, match="unknown metric 'chrF3': did you mean 'chrf'"):
        metric("chrF3")
    result = compare(REFERENCE, SYSTEMS, ["BLEU", "chrF2++", "TER"], n_resamples=19)
    assert [m.name for m in result.metrics] == ["BLEU", "chrF2++", "TER"]
    assert result.score("a", "chrf++") == result.score("a", "CHRF2++")
    assert result.pair("b", metric="ter") == result.pair("b", metric="TER")


@pytest.mark.parametrize("name", ["bleu", "BLEU", "Bleu"])
def test_margins_and_differences_are_named_in_any_case(name: str) -> None:
    result = compare(REFERENCE, SYSTEMS, name, test=Equivalence({name.swapcase(): 50}), n_resamples=19)
    assert result.comparisons[0].test.margin == 50
    planned = plan(REFERENCE, SYSTEMS, ["chrf", name], difference={"chrF2": 1, name.swapcase(): 2}, simulate=False)
    assert planned.plan["difference"] == {"chrF2": [1.0], "BLEU": [2.0]}


def test_the_difference_of_the_only_metric_needs_no_name() -> None:
    planned = plan(REFERENCE, SYSTEMS, difference=2, simulate=False)
    assert planned.plan["difference"] == {"BLEU": [2.0]}
    with pytest.raises(InputError, match=r"2 metrics, BLEU, chrF2: say .* difference=\{'BLEU': 0.5\}"):
        plan(REFERENCE, SYSTEMS, ["bleu", "chrf"], difference=2, simulate=False)


def test_the_margin_of_one_metric_replaces_that_of_several_with_its_name() -> None:
    both = [metric("bleu"), metric("bleu", tokenize="char")]
    for margins in ({"bleu": 50, "bleu tok:char": 40}, {"bleu tok:char": 40, "BLEU": 50}):
        result = compare(REFERENCE, SYSTEMS, both, test=Equivalence(margins), n_resamples=19)
        assert [pair.test.margin for pair in result.comparisons] == [50, 40]


@pytest.mark.parametrize(
    ("options", "written"),
    [
        ({"tokenize": "intl"}, "metric('bleu', tokenize='intl'), on the command line -m bleu:tokenize=intl"),
        (
            {"metrics": ["TER", "chrF2"], "lowercase": True},
            "metric('chrf', lowercase=True), on the command line -m chrf:lowercase",
        ),
        ({"metrics": "ter", "no_punct": True}, "metric('ter', no_punct=True), on the command line -m ter:no-punct"),
        ({"trg_lang": "zh"}, "metric('bleu', trg_lang='zh'), on the command line -m bleu:trg-lang=zh"),
    ],
)
@pytest.mark.parametrize(
    "function", [reshuffle.compare, reshuffle.score, reshuffle.compare_runs, reshuffle.study.type1]
)
def test_an_option_of_a_metric_as_a_keyword_names_the_metric_to_pass(
    function: Callable[..., object], options: dict[str, Any], written: str
) -> None:
    with pytest.raises(TypeError) as caught:
        function(REFERENCE, SYSTEMS, **options)
    *_, name = options
    start = f"{function.__name__}() got an unexpected keyword argument {name!r}, which is an option of metrics: write"
    assert str(caught.value) == f"{start} metrics=reshuffle.{written}"


def test_other_unknown_keywords_are_named_alone() -> None:
    assert with_option("tset") is None
    message = r"^compare\(\) got an unexpected keyword argument 'tset': did you mean 'test'\?$"
    with pytest.raises(TypeError, match=message):
        compare(REFERENCE, SYSTEMS, tset="ar")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^render\(\) got an unexpected .* 'digit': did you mean 'digits'\?$"):
        compare(REFERENCE, SYSTEMS, n_resamples=99).render("text", digit=2)  # type: ignore[call-arg]


@pytest.mark.usefixtures("demo")
def test_options_that_name_a_metric_take_any_name(run: Any) -> None:
    margin = run("compare", "reference.txt", "baseline.txt", "larger.txt", "--test", "equivalence:BLEU=50", "-n", "19")
    assert "equivalent within ±50 BLEU" in margin.out
    runs = "runs --refs reference.txt --baseline baseline.txt rules.txt --system new tuned.txt larger.txt -n 19".split()
    for name in ("chrF2", "chrf", "CHRF"):
        assert "chrF2" in run(*runs, "-m", "bleu", "chrf", "--median-metric", name).out
    assert run(*runs, "-m", "bleu", "--median-metric", "chrf").code == 2
