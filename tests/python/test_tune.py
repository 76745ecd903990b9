"""The driver of tuning: optimizers, replications, rounds, the outputs that are systems, and reports."""

import math
from collections import Counter
from collections.abc import Mapping
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from known import known
from reshuffle import InputError, derive_seed, metric, tune
from reshuffle.options.declare import options_of
from reshuffle.report.studies import draw_figure
from reshuffle.results.studies import TuningResult
from reshuffle.tune.options import OPTIMIZERS
from reshuffle.tune.problem import Problem, sentence_metric_for
from told import assert_raises
from tuning_files import NAMES, SMALL, references, write, write_all

BLEU = metric("bleu", tokenize="none")
Part = tuple[tune.NBest, list[str]]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tuning")
    write_all(folder)
    return folder


@pytest.fixture(scope="module")
def dev(files: Path) -> Part:
    return tune.read_nbest(files / "dev.nbest"), references(40, 1)


@pytest.fixture(scope="module")
def test_part(files: Path) -> Part:
    return tune.read_nbest(files / "test.nbest"), references(40, 2)


@pytest.fixture(scope="module")
def start(files: Path) -> tune.Weights:
    return tune.read_weights(files / "weights", NAMES)


def chosen(name: str, **options: Any) -> tuple[Any, dict[str, Any]]:
    """The optimizer with those of the options that it has, and the others."""
    record = OPTIMIZERS[name].options
    own = {key: value for key, value in options.items() if key in options_of(record)}
    return record(**own), {key: value for key, value in options.items() if key not in own}


def tuned(name: str, dev: Part, test: Part | None, start: Any, **options: Any) -> tune.Tuned:
    optimizer, others = chosen(name, **{**SMALL[name], **options})
    return tune.tune(optimizer, *dev, initial=start, test=test, **{"metric": BLEU, "replications": 3, **others})


def by_hand(part: Part, weights: Mapping[str, float]) -> list[str]:
    """The best entries of lists by plain loops."""
    lists, chosen = part[0], []
    for a, b in pairwise(lists.offsets):
        best, row = -np.inf, -1
        for k in range(a, b):
            score = 0.0
            for i, name in enumerate(lists.names):
                score += weights[name] * lists.dense[k, i]
            if score > best:
                best, row = score, k
        chosen.append(lists.hypothesis(row))
    return chosen


@pytest.mark.parametrize("name", [name for name in OPTIMIZERS if name != "l1"])
def test_scores_are_those_of_the_entries_with_the_best_model_scores(
    name: str, dev: Part, test_part: Part, start: tune.Weights
) -> None:
    found = tuned(name, dev, test_part, start)
    for i, run in enumerate(found.result.runs):
        assert run.seed == derive_seed(12345, "run", i)
        assert list(run.weights) == list(NAMES)
        for part, chosen, score in ((dev, found.dev, run.dev_score), (test_part, known(found.test), run.test_score)):
            own = by_hand(part, run.weights)
            assert chosen.outputs()[i] == own
            counts = BLEU.suff_stats(part[1], [own])[0]
            assert np.array_equal(chosen.counts[i], counts)
            assert score == BLEU.score(counts.sum(0))
    scores = [run.dev_score for run in found.result.runs]
    assert found.result.s_dev == pytest.approx(np.std(scores, ddof=1), abs=1e-12)
    assert found.result.s_test == pytest.approx(np.std(known(found.test).scores, ddof=1), abs=1e-12)
    before = known(found.result.start)
    assert before.dev_score == BLEU.score(BLEU.suff_stats(dev[1], [by_hand(dev, before.weights)])[0].sum(0))
    if name in ("mert", "kbmira"):
        assert min(scores) > before.dev_score


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_threads_do_not_change_a_byte_and_seeds_do(name: str, dev: Part, test_part: Part, start: tune.Weights) -> None:
    one, two = (tuned(name, dev, test_part, start, workers=n).result for n in (1, 2))
    assert one == two
    given = tuned(name, dev, test_part, start, seeds=[5, 6], replications=1).result
    again = tuned(name, dev, test_part, start, seeds=[6], replications=1).result
    if name != "l1":
        assert given.runs[1] == again.runs[0]
        assert given.runs[0] != given.runs[1]
        assert given.plan["seed"] is None
    assert again.s_dev is None is again.s_test


@pytest.mark.parametrize("like", ["ter", "chrf", "nist", "wer", "gtm", "sentbleu"])
def test_mert_optimizes_any_metric_that_sums_counts(like: str, dev: Part, start: tune.Weights) -> None:
    m = metric(like)
    found = tuned("mert", dev, None, start, metric=m, replications=1)
    before = known(found.result.start)
    gain = found.result.runs[0].dev_score - before.dev_score
    assert gain > 0 if m.higher_is_better else gain < 0


def test_pro_scores_entries_as_moses_does(dev: Part, start: tune.Weights) -> None:
    """By plain loops: exp(mean of ln((matches + 1)/(totals + 1)) + min(0, 1 - reference/length))."""
    lists, refs = dev
    problem = Problem(lists, [[*refs]], BLEU, sentence_metric_for(BLEU))
    expected = []
    for a, b, reference in zip(lists.offsets, lists.offsets[1:], refs, strict=False):
        for row in range(a, b):
            words, own = lists.hypothesis(row).split(), reference.split()
            total = 0.0
            for n in range(1, 5):
                found = Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
                known = Counter(tuple(own[i : i + n]) for i in range(len(own) - n + 1))
                total += math.log((sum((found & known).values()) + 1) / (sum(found.values()) + 1)) / 4
            expected.append(math.exp(total + min(0, 1 - len(own) / len(words))))
    assert np.allclose(problem.bleu_plus_one, expected, rtol=1e-12)
    result = tuned("pro", dev, None, start, entry_scores="moses").result
    assert result.plan["sentence_metric"] is None
    assert result.runs != tuned("pro", dev, None, start).result.runs


def test_l1_replications_are_variants(dev: Part, test_part: Part) -> None:
    found = tuned("l1", dev, test_part, None, replications=3).result
    assert [run.seed for run in found.runs] == [None] * 3
    redundant = ["ngram:1", "presence:1"]
    assert found.plan["variants"] == [{}, *({"templates": redundant, "per_step": n} for n in (3, 4))]
    for run in found.runs:
        assert set(NAMES) < set(run.weights)
        assert any(name.startswith(("ngram:1=", "presence:1=")) for name in run.weights)


def test_l1_can_tell_entries_apart_by_their_texts_alone(tmp_path: Path) -> None:
    write(tmp_path / "texts", ["0 ||| a b ||| x= 1", "0 ||| a c ||| x= 1", "1 ||| c ||| x= 2", "1 ||| b ||| x= 2"])
    lists, refs = tune.read_nbest(tmp_path / "texts"), ["a c", "c"]
    found = tune.tune(tune.L1(templates=["ngram:1"], gamma=0.1), lists, refs, metric="ter")
    assert found.dev.outputs() == [refs]
    for name in ("l1", "kbmira"):
        with pytest.raises(InputError, match="the same features"):
            tune.tune(name, lists, refs)
    more = lists.with_features(tune.template_features(lists, ["ngram:1"]))
    assert tune.tune("kbmira", more, refs, sentence_metric="ter").dev.outputs() == [refs]


@pytest.mark.parametrize("name", ["mert", "kbmira", "pro"])
def test_rounds_join_the_lists_of_a_decoder(name: str, dev: Part, start: tune.Weights) -> None:
    large, refs = dev
    decode = tune.simulated_decoder(large, k=3)
    seen: list[tune.NBest] = []

    def watched(weights: Mapping[str, float], folder: Path) -> tune.NBest:
        assert folder.is_dir()
        seen.append(decode(weights, folder))
        return seen[-1]

    initial = dict(zip(NAMES, start.dense, strict=True))
    optimizer, _ = chosen(name, **SMALL[name])
    found = tune.tune(optimizer, None, refs, initial=initial, metric=BLEU, rounds=4, decoder=watched)
    assert 2 <= len(seen) <= 4
    joined = seen[0].merged(*seen[1:])
    assert len(found.dev.lists[0]) == len(joined) > len(seen[0])
    assert {step.round for step in found.result.trace} == set(range(1, found.result.plan["rounds"] + 1))
    assert found.result.plan["decoder"] == "function"
    assert found.dev.outputs()[0] == by_hand((joined, refs), found.result.runs[0].weights)
    assert "feedback of the decoder" not in str(found)  # one run has no s_dev


def test_a_loop_ends_when_the_decoder_has_nothing_new(dev: Part, start: tune.Weights) -> None:
    decoder = tune.simulated_decoder(dev[0], k=100)
    found = tuned("kbmira", dev, None, start, rounds=5, decoder=decoder)
    assert found.result.plan["rounds"] == 1
    assert found.result.runs == tuned("kbmira", dev, None, start).result.runs


def test_pro_interpolates_between_rounds(dev: Part, start: tune.Weights) -> None:
    decoder = tune.simulated_decoder(dev[0], k=3)
    first = decoder(dict(zip(NAMES, start.dense, strict=True)), Path())
    kept, moved = (
        tuned("pro", (first, dev[1]), None, start, rounds=2, decoder=decoder, replications=1, interpolation=part)
        for part in (1e-9, 1.0)
    )
    alone = tuned("pro", (first, dev[1]), None, start, replications=1)
    before, after = (np.array([*each.result.runs[0].weights.values()]) for each in (alone, kept))
    assert np.allclose(before, after, atol=1e-6)
    assert moved.result.runs[0] != kept.result.runs[0]


def test_development_lists_of_their_own_give_the_scores(dev: Part, test_part: Part, start: tune.Weights) -> None:
    found = tune.tune("kbmira", *dev, initial=start, dev=test_part, test=test_part, replications=2).result
    assert [run.dev_score for run in found.runs] == [run.test_score for run in found.runs]
    assert " on average. " in " ".join(str(found).split())


@cache
def result_of(name: str) -> TuningResult:
    with TemporaryDirectory() as folder:
        write_all(Path(folder))
        dev, test = (
            (tune.read_nbest(Path(folder, f"{part}.nbest")), references(40, seed))
            for part, seed in (("dev", 1), ("test", 2))
        )
        return tuned(name, dev, test, tune.read_weights(Path(folder, "weights"), NAMES)).result


# With seeds, and with variants. test_every_study.py writes, draws and reads them.
RESULTS = {f"tune {name}": partial(result_of, name) for name in ("mert", "l1")}


@pytest.fixture(params=RESULTS)
def result(request: Any) -> TuningResult:
    return RESULTS[request.param]()


def test_reports_say_what_fixed_lists_lack(result: TuningResult, dev: Part, start: tune.Weights) -> None:
    text = " ".join(str(result).split())
    assert ("The lists are fixed, so s_dev is a lower bound" in text) == (result.plan["varies"] is not None)
    single = " ".join(str(tuned("kbmira", dev, None, start, replications=1)).split())
    assert "One run cannot show how much scores depend on the seed (s_dev, s_test)" in single
    assert " s " not in single.partition("kbmira reaches")[0]


def test_each_run_is_a_point(result: TuningResult) -> None:
    points = draw_figure(result, "replications").lines[0]
    assert np.array_equal(points.get_xdata(), [run.dev_score for run in result.runs])
    assert np.array_equal(points.get_ydata(), [run.test_score or 0 for run in result.runs])


@pytest.mark.usefixtures("here")
def test_bad_arguments_and_lists_whose_features_differ_are_explained() -> None:
    write_all(Path())
    dev = tune.read_nbest("dev.nbest"), references(40, 1)
    write("other", ["0 ||| x y ||| lm= 1 tm= 2 3", "0 ||| x ||| lm= 2 tm= 2 3"])
    names = {"lists": dev[0], "references": dev[1], "dev": dev, "other": (tune.read_nbest("other"), ["x"])}
    assert_raises("python_errors_of_tune", globals() | names)


def test_sparse_features_keep_their_proportions_in_mert(tmp_path: Path) -> None:
    lines = ["0 ||| a b ||| x= 1 s_a= 1", "0 ||| a b c ||| x= 1 s_b= 2", "1 ||| b ||| x= 0", "1 ||| a ||| x= 0 s_a= 1"]
    write(tmp_path / "sparse", lines)
    lists, refs = tune.read_nbest(tmp_path / "sparse"), ["a b c", "b"]
    found = tune.tune(tune.Mert(preset="cdec"), lists, refs, metric="ter", initial={"x": 1.0, "s_a": -1.0, "s_b": -2.0})
    weights = found.result.runs[0].weights
    assert weights["s_b"] == pytest.approx(2 * weights["s_a"])
    without = tune.tune(tune.Mert(preset="cdec"), lists, refs, metric="ter", initial={"x": 1.0})
    assert list(without.result.runs[0].weights) == ["x"]
    assert known(found.result.start).dev_score >= found.result.runs[0].dev_score
