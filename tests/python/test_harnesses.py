"""Standard errors of lm-evaluation-harness and lighteval from counts, compared with these packages.

The packages are not required for the tests. Without them, only what both backends share is tested.
"""

import json
import logging
import math
import os
import random
import re
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from reshuffle import InputError, InputWarning, metric, standard_error
from reshuffle.compat import install, lighteval, lm_eval, seams
from reshuffle.compat.harness import Counted

WORDS = "the cat sat on a mat while it rained outside all day , not far from here .".split()


def lines(n: int, seed: int) -> tuple[list[str], list[str]]:
    """n references, and hypotheses in which some words are replaced."""
    rng = random.Random(seed)
    references = [[rng.choice(WORDS) for _ in range(rng.randint(5, 15))] for _ in range(n)]
    hypotheses = [[word if rng.random() < 0.7 else rng.choice(WORDS) for word in words] for words in references]
    return [" ".join(words) for words in references], [" ".join(words) for words in hypotheses]


REFERENCES, HYPOTHESES = lines(40, 1)
OTHERS, _ = lines(40, 2)


def drawn_indices(n: int, size: int) -> np.ndarray[Any, Any]:
    """The draws of both harnesses: ``choices`` of a generator with seed 0, 1, … for each thousand."""
    block = min(1000, n)
    generators = (random.Random(seed) for seed in range(n // block))
    return np.array([rng.choices(range(size), k=size) for rng in generators for _ in range(block)])


def test_items_are_counted_as_columns_are() -> None:
    both = list(zip(REFERENCES, OTHERS, strict=True))
    for references, columns in (([[line] for line in REFERENCES], [REFERENCES]), (both, [REFERENCES, OTHERS])):
        counted = Counted.from_items(metric("chrf"), HYPOTHESES, references)
        assert (counted.counts == metric("chrf").suff_stats(columns, [HYPOTHESES])[0]).all()
    with pytest.raises(InputError, match="number of references must be the same for all items, got 1 to 2"):
        Counted.from_items(metric("bleu"), ["a", "b"], [["a"], ["a", "b"]])


# lm-evaluation-harness


@pytest.fixture
def harness(monkeypatch: pytest.MonkeyPatch) -> Any:
    """``lm_eval.api.metrics``, set not to start a pool of processes for every standard error."""
    monkeypatch.setenv("DISABLE_MULTIPROC", "1")
    return pytest.importorskip("lm_eval.api.metrics", reason="lm_eval is not installed")


ITEMS: dict[str, list[Any]] = {
    "one reference": list(zip(REFERENCES, HYPOTHESES, strict=True)),
    "lists": [([reference], [hypothesis]) for reference, hypothesis in zip(REFERENCES, HYPOTHESES, strict=True)],
    "two references": list(zip(zip(REFERENCES, OTHERS, strict=True), HYPOTHESES, strict=True)),
}


@pytest.mark.parametrize("items", ITEMS.values(), ids=list(ITEMS))
@pytest.mark.parametrize("name", ["bleu", "chrf", "chrfpp", "ter"])
def test_the_standard_error_of_lm_eval_at_its_own_draws(
    harness: Any, name: str, items: list[Any], capfd: pytest.CaptureFixture[str]
) -> None:
    f = getattr(harness, name)
    metric, counts = lm_eval.count(f, items)
    assert metric.score(counts.sum(axis=0)) == pytest.approx(f(items), rel=1e-12)
    error = standard_error(counts, metric, method="bootstrap", indices=drawn_indices(30, len(items)))
    assert error == pytest.approx(harness.bootstrap_stderr(f, items, 30), rel=1e-9)


def test_the_standard_error_from_counts(harness: Any) -> None:
    items = ITEMS["one reference"]
    metric, counts = lm_eval.count(harness.bleu, items)
    error = lm_eval.bootstrap_stderr(harness.bleu, items, 20_000)
    assert error == standard_error(counts, metric, method="bootstrap", n_resamples=20_000)
    scores = metric.score(counts[drawn_indices(2000, len(items))].sum(axis=1))
    assert error == pytest.approx(scores.std(ddof=1), rel=5 / math.sqrt(2 * 2000))  # 5 standard errors of a deviation
    assert lm_eval.stderr_for_metric(harness.bleu, 20_000)(items) == error  # type: ignore[misc]


@pytest.mark.parametrize("name", ["mean", "median", "acc_all", "perplexity", "nanmean", "bypass"])
@pytest.mark.parametrize("n", [0, 20])
def test_other_metrics_are_left_to_lm_eval(
    harness: Any, name: str, n: int, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    f, xs = getattr(harness, name), [float(x) for x in range(20)]
    theirs, ours = harness.stderr_for_metric(f, n), lm_eval.stderr_for_metric(f, n)
    assert (theirs is None) == (ours is None)
    if name in ("median", "perplexity", "nanmean") and n:
        assert ours is not None
        assert ours(xs) == theirs(xs) == lm_eval.bootstrap_stderr(f, xs, n)
    assert caplog.messages == []


def test_a_function_of_the_same_name_is_left_to_lm_eval(harness: Any, capfd: pytest.CaptureFixture[str]) -> None:
    def bleu(items: Sequence[Any]) -> float:
        return float(len(set(items)))

    items = ITEMS["one reference"]
    assert lm_eval.bootstrap_stderr(bleu, items, 10) == harness.bootstrap_stderr(bleu, items, 10)
    with pytest.raises(InputError, match=r"only bleu, chrf, chrfpp, ter of lm_eval\.api\.metrics have counts, got"):
        lm_eval.count(bleu, items)


UNEVEN = [(["a b c d"], "a b c d"), (["a b x d", "a b"], "a b c d"), (["b"], "a b c e")]


def test_items_that_cannot_be_counted_are_left_to_lm_eval(
    harness: Any, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "reshuffle.compat"):
        ours = lm_eval.bootstrap_stderr(harness.bleu, UNEVEN, 10)
    assert ours == harness.bootstrap_stderr(harness.bleu, UNEVEN, 10)
    expected = "the number of references must be the same for all items, got 1 to 2"
    assert caplog.messages == [f"bleu: lm_eval computes the standard error: {expected}"]


@pytest.mark.parametrize(
    ("items", "n"),
    [
        *((items, 10) for items in ([], [1.0, 2.0], [("a",), ("b",)], [("a", 1), ("b", 2)], [("a", ["b", "c"])] * 2)),
        *((ITEMS["lists"], n) for n in (0, 1, 2.5)),
    ],
)
def test_errors_are_those_of_lm_eval(harness: Any, items: list[Any], n: Any, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        harness.bootstrap_stderr(harness.bleu, items, n)
    with pytest.raises(type(theirs.value)) as ours:
        lm_eval.bootstrap_stderr(harness.bleu, items, n)
    if n == 10:
        assert str(ours.value) == str(theirs.value)


def test_a_patched_lm_eval_reports_standard_errors_from_counts(
    harness: Any, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """The evaluator asks for at most 100 draws, but 100,000 are made."""
    bound_before, items = harness.bootstrap_stderr, ITEMS["one reference"]
    theirs = bound_before(harness.bleu, items, 100)
    counted = lm_eval.count(harness.bleu, items)
    with install(only="lm_eval") as patched:
        assert patched.hosts == ("lm_eval",)
        assert harness.stderr_for_metric(harness.bleu, 100)(items) == counted.bootstrap_error(100_000)
        assert bound_before(harness.bleu, items, 50) == counted.bootstrap_error(50)
        assert lm_eval.bootstrap_stderr(harness.bleu, items, 100) == counted.bootstrap_error(100)
        median = bound_before(harness.median, [1.0, 2.0, 3.0], 100)
        with pytest.raises(ZeroDivisionError):
            bound_before(harness.bleu, items, 0)
        assert lm_eval.bootstrap_stderr(harness.median, [1.0, 2.0, 3.0], 100) == median
    assert bound_before(harness.bleu, items, 100) == theirs
    assert bound_before(harness.median, [1.0, 2.0, 3.0], 100) == median
    (report,) = seams("lm_eval")
    assert (report.name, report.calls) == ("bootstrap_stderr", 4)
    assert list(report.fallbacks.values()) == [1, 1]
    assert caplog.messages == [f"bootstrap_stderr: left to the original: {reason}" for reason in report.fallbacks]


TASK = """
task: copying
dataset_path: json
dataset_kwargs: {data_files: items.jsonl}
test_split: train
output_type: generate_until
doc_to_text: "{{source}}"
doc_to_target: "{{target}}"
metric_list:
  - {metric: chrf, aggregation: chrf, higher_is_better: true}
"""


def test_the_command_of_lm_eval(harness: Any, tmp_path: Path) -> None:
    """Its model ``dummy`` answers "lol" to everything."""
    references = [f"lol {reference}" for reference in REFERENCES]
    rows = [json.dumps({"source": "?", "target": reference}) for reference in references]
    (tmp_path / "items.jsonl").write_text("\n".join(rows), "utf-8")
    (tmp_path / "copying.yaml").write_text(TASK, "utf-8")
    command = "-m reshuffle.compat -v --only lm_eval -m lm_eval --model dummy --tasks copying --include_path .".split()
    done = subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path,
        env={**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    (row,) = (line for line in done.stdout.splitlines() if "|chrf " in line)
    counted = lm_eval.count(harness.chrf, [(reference, "lol") for reference in references])
    assert float(row.split("|")[-2]) == round(counted.bootstrap_error(100_000), 4) > 0
    assert re.search(r"bootstrap_stderr +1 +0\n", done.stderr)


def test_the_example_of_the_page(harness: Any) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/coming-from/harnesses.md").read_text("utf-8")
    (example,) = re.findall(r"```python\n(from lm_eval[^`]*)```", page)
    names: dict[str, Any] = {}
    exec(example, names)
    assert 0 < names["error"] < 100
    assert names["interval"].low < names["metric"].score(names["counts"].sum(axis=0)) < names["interval"].high


# lighteval


@pytest.fixture
def corpus_metrics(monkeypatch: pytest.MonkeyPatch) -> Any:
    """``lighteval.metrics.metrics_corpus``, without downloads and progress bars."""
    monkeypatch.setenv("LIGHTEVAL_DISABLE_TQDM", "1")
    what = "lighteval.metrics.metrics_corpus"
    module = pytest.importorskip(what, reason="lighteval is not installed")
    monkeypatch.setattr("nltk.download", lambda *_, **__: True)
    return module


def generated(references: Sequence[Any], hypotheses: Sequence[Any]) -> list[Any]:
    """Items with the fields of lighteval's GenerativeCorpusMetricInput."""
    pairs = zip(references, hypotheses, strict=True)
    return [SimpleNamespace(golds=[reference], preds=[hypothesis]) for reference, hypothesis in pairs]


GENERATED = generated(REFERENCES, HYPOTHESES)


def test_the_standard_error_of_lighteval_is_too_small_by_the_root_of_the_number_of_draws(corpus_metrics: Any) -> None:
    stderr = pytest.importorskip("lighteval.metrics.utils.stderr")
    f = corpus_metrics.CorpusLevelTranslationMetric("bleu").compute_corpus
    metric, counts = lighteval.count(f, GENERATED)
    assert metric.score(counts.sum(axis=0)) == pytest.approx(f(GENERATED), rel=1e-12)
    deviation = standard_error(counts, metric, method="bootstrap", indices=drawn_indices(50, len(GENERATED)))
    assert stderr.bootstrap_stderr(f, GENERATED, 50) * math.sqrt(50) == pytest.approx(deviation, rel=1e-9)
    error = lighteval.bootstrap_stderr(f, GENERATED, 20_000)
    assert error == standard_error(counts, metric, method="bootstrap", n_resamples=20_000)
    assert error == lighteval.get_stderr_function(f, 20_000)(GENERATED)
    assert error == pytest.approx(deviation, rel=5 / math.sqrt(2 * 50))


@pytest.mark.parametrize(
    ("kind", "lang", "expected"),
    [
        ("bleu", "", "metric('bleu')"),
        ("bleu", "zh", "metric('bleu', trg_lang='zh')"),
        ("chrf", "", "metric('chrf')"),
        ("chrf++", "", "metric('chrf', word_order=2)"),
        ("ter", "", "metric('ter', asian_support=False)"),
        ("ter", "ja", "metric('ter', asian_support=True)"),
    ],
)
def test_the_metrics_of_lighteval(corpus_metrics: Any, kind: str, lang: str, expected: str) -> None:
    """The score of lighteval's metric object, with references in the columns that sacreBLEU expects."""
    host = corpus_metrics.CorpusLevelTranslationMetric(kind, lang)
    metric, counts = lighteval.count(host.compute_corpus, GENERATED)
    assert repr(metric) == expected
    score = host.get_metric().corpus_score(HYPOTHESES, [REFERENCES]).score
    assert metric.score(counts.sum(axis=0)) == pytest.approx(score, rel=1e-12)


@pytest.mark.parametrize("kind", ["chrf", "chrf++", "ter"])
def test_lighteval_scores_the_first_item_only(corpus_metrics: Any, kind: str) -> None:
    f = corpus_metrics.CorpusLevelTranslationMetric(kind).compute_corpus
    assert f(GENERATED) == f([*GENERATED[:1], *generated(REFERENCES[1:], [""] * 39)])
    counted = lighteval.count(f, GENERATED)
    name = counted.metric.name.replace("+", r"\+")
    with pytest.warns(InputWarning, match=f"lighteval computes {name} of the first item only"):
        error = lighteval.bootstrap_stderr(f, GENERATED, 100)
    assert error == counted.bootstrap_error(100)


def test_several_predictions_and_references(corpus_metrics: Any) -> None:
    two = [
        SimpleNamespace(golds=(item.golds[0], other), preds=item.preds)
        for item, other in zip(GENERATED, OTHERS, strict=True)
    ]
    translation = corpus_metrics.CorpusLevelTranslationMetric
    bleu, chrf = translation("bleu").compute_corpus, translation("chrf").compute_corpus
    assert np.array_equal(lighteval.count(bleu, two).counts, lighteval.count(bleu, GENERATED).counts)
    score = translation("chrf").get_metric().corpus_score(HYPOTHESES, [REFERENCES, OTHERS]).score
    metric, counts = lighteval.count(chrf, two)
    assert metric.score(counts.sum(axis=0)) == pytest.approx(score, rel=1e-12)
    with pytest.raises(InputError, match="must be the same for all items, got 1 to 2"):
        lighteval.count(chrf, [*two, *GENERATED])


def share_of_long(items: Sequence[Any]) -> float:
    """A corpus metric that reshuffle does not have."""
    return sum(len(item) > 40 for item in items) / len(items)


def test_other_metrics_of_lighteval_are_corrected(corpus_metrics: Any) -> None:
    """Of 2,500 requested draws, lighteval makes only 2,000."""
    error = lighteval.bootstrap_stderr(share_of_long, REFERENCES, 2500)
    drawn = [share_of_long([REFERENCES[i] for i in row]) for row in drawn_indices(2500, len(REFERENCES))]
    assert len(drawn) == 2000
    assert error == pytest.approx(statistics.stdev(drawn), rel=1e-12)
    assert lighteval.get_stderr_function(np.mean)([1.0, 2.0, 3.0, 4.0]) == pytest.approx(
        np.std([1, 2, 3, 4], ddof=1) / 2
    )
    with pytest.raises(InputError, match="only CorpusLevelTranslationMetric"):
        lighteval.count(share_of_long, REFERENCES)


def test_subclasses_with_their_own_score_are_not_counted(corpus_metrics: Any) -> None:
    class Doubled(corpus_metrics.CorpusLevelTranslationMetric):  # type: ignore[misc]
        def compute_corpus(self, items: Sequence[Any]) -> float:
            return 2.0 * len({item.golds[0] for item in items})

    f = Doubled("bleu").compute_corpus
    with pytest.raises(InputError, match="has counts"):
        lighteval.count(f, GENERATED)
    assert lighteval.bootstrap_stderr(share_of_long, REFERENCES, 10) > 0


@pytest.mark.parametrize(
    "item", [1.0, SimpleNamespace(golds=["a"], preds=[]), SimpleNamespace(golds=[], preds=["a"])], ids=repr
)
def test_wrong_items_of_lighteval(corpus_metrics: Any, item: Any, caplog: pytest.LogCaptureFixture) -> None:
    f = corpus_metrics.CorpusLevelTranslationMetric("chrf").compute_corpus
    with pytest.raises(InputError):
        lighteval.count(f, [item, item])
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        f([item, item])
    with pytest.raises(type(theirs.value)):
        lighteval.bootstrap_stderr(f, [item, item], 10)
    (message,) = caplog.messages
    assert message.startswith("lighteval computes the standard error: ")


def test_a_patched_lighteval_reports_the_standard_deviation(corpus_metrics: Any) -> None:
    stderr = pytest.importorskip("lighteval.metrics.utils.stderr")
    bound_before, f = stderr.bootstrap_stderr, corpus_metrics.CorpusLevelTranslationMetric("bleu").compute_corpus
    theirs = [bound_before(f, GENERATED, 50), bound_before(share_of_long, REFERENCES, 50)]
    with install(only=["lighteval"], log="off"):
        from_counts = stderr.get_stderr_function(f, 50)(GENERATED)
        corrected = bound_before(share_of_long, REFERENCES, 50)
        assert lighteval.bootstrap_stderr(share_of_long, REFERENCES, 50) == corrected
    assert from_counts == lighteval.count(f, GENERATED).bootstrap_error(50)
    assert corrected == pytest.approx(theirs[1] * math.sqrt(50), rel=1e-12)
    assert [bound_before(f, GENERATED, 50), bound_before(share_of_long, REFERENCES, 50)] == theirs


@pytest.mark.parametrize("host", ["lm_eval", "lighteval", "nltk"])
def test_hosts_whose_numbers_change_or_that_are_slow_are_only_patched_if_they_are_named(host: str) -> None:
    with install(log="off") as patched:
        assert host not in patched.hosts
