"""The null hypotheses of studies: what is true in their populations, and what the data cannot serve."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from known import known
from reshuffle import SegmentScores, metric
from reshuffle.options.nulls import NULLS_WITH_OPTIONS
from reshuffle.resampling.counting import Data
from reshuffle.settings import Resampling, Units
from reshuffle.study import type1
from reshuffle.study.experiments import Experiment, Selection
from reshuffle.study.material import Material
from reshuffle.study.null_data import NullData, NullOptions, Request
from reshuffle.study.nulls import BUILD, EDITS, NULLS, noisy
from reshuffle.study.settings import StudySettings
from texts import translations
from told import assert_raises

BLEU, TER = metric("bleu"), metric("ter")
SEGMENTS = 120


REFERENCES, SYSTEMS = translations(SEGMENTS, 0.9, 0.8, 0.6)


def material(metrics: Any = "bleu", systems: Any = None, documents: Sequence[int] | None = None) -> Material:
    data = Data.from_arguments(REFERENCES, systems or SYSTEMS, metrics)
    return Material.from_data(data, Units(documents), Resampling())


def built(name: str, of: Material, baseline: str | None = None, all_pairs: bool = False, **options: Any) -> NullData:
    own = NULLS_WITH_OPTIONS[name]().settings if name in NULLS_WITH_OPTIONS else {}
    found = NullOptions(**own | {"null": (name,)} | options).resolved(of.documents is not None)
    return BUILD[name](Request(of, found, StudySettings(baseline=baseline, all_pairs=all_pairs)))


def differences(null: NullData) -> list[list[float]]:
    """The differences of the pool scores: for each metric, each population."""
    found = {
        m: [float(np.subtract(*p.metrics[i].score(p.counts[i].sum(axis=1)))) for p in part.populations]
        for part in null.parts
        for i, m in enumerate(part.metrics)
    }
    return [found[m] for m in sorted(found)]


def test_mixing_takes_segments_of_a_worse_third_system_until_the_scores_are_equal() -> None:
    of = material([BLEU, TER])
    null = built("equal-score", of, equalize="mix")
    assert null.swapped == 0
    assert [len(part.populations) for part in null.parts] == [1, 1]  # system 0.6 is worse than any third one
    for m, part in enumerate(null.parts):
        (changed,) = part.populations
        ((difference,),) = [differences(null)[m]]
        assert abs(difference) < 0.002
        best, second, worst = of.counts[m]
        assert np.array_equal(changed.counts[0][0], second)  # the baseline, which is better, was made worse
        is_third = (changed.counts[0][1] == worst).all(axis=1)
        assert (is_third | (changed.counts[0][1] == best).all(axis=1)).all()
        assert 0.1 < is_third.mean() < 0.9
    assert "are equal on the whole pool" in null.truth
    assert "of system 0.9 from system 0.6; the scores differ by" in null.truth
    assert "2 pairs were left out" in null.truth


def test_dropping_words_shortens_the_better_system_until_the_scores_are_equal() -> None:
    of = material([BLEU, TER])
    null = built("equal-score", of, equalize="drop-words")
    for part, found in zip(null.parts, differences(null), strict=True):
        assert len(part.populations) == 2
        assert max(map(abs, found)) < 0.02
    columns = list(BLEU.columns or ())
    lengths = null.parts[0].populations[0].counts[0][..., columns.index("hyp_len")]
    before = of.counts[0][[1, 0]][..., columns.index("hyp_len")]
    assert np.array_equal(lengths[0], before[0])
    assert (lengths[1] <= before[1]).all()
    assert lengths[1].sum() < before[1].sum()


@pytest.mark.parametrize("margin", [0.5, 20])
def test_the_system_is_worse_than_the_baseline_by_the_margin(margin: float) -> None:
    of = material([BLEU, TER])
    null = built("margin", of, margins={"bleu": margin, "TER": margin}, equalize="drop-words")
    bleu, ter = differences(null)
    np.testing.assert_allclose(bleu, -margin, atol=0.02)
    np.testing.assert_allclose(ter, margin, atol=0.02)
    assert "differ by the margin" in null.truth


def test_tests_with_a_margin_have_their_size_at_the_margin() -> None:
    study = type1(
        REFERENCES, SYSTEMS, [BLEU, TER], null="margin:equalize=drop-words,bleu=1,TER=2",
        tests=["equivalence", "non-inferiority"], simulations=150, n_resamples=99, alphas=0.1,
    )  # fmt: skip
    assert [(rate.test, rate.metric) for rate in study.rates] == [
        ("equivalence", "BLEU"), ("non-inferiority", "BLEU"), ("equivalence", "TER"), ("non-inferiority", "TER")
    ]  # fmt: skip
    assert all(rate.rate < 0.2 for rate in study.rates)
    assert study.rates[1].rate > 0.03
    assert "|margins:bleu=1,TER=2|" in study.signature


def test_equal_systems_are_left_as_they_are() -> None:
    same = {"a": SYSTEMS["system 0.8"], "b": SYSTEMS["system 0.8"]}
    null = built("equal-score", material("bleu", same))
    assert "a as it is" in null.truth or "b as it is" in null.truth


@pytest.mark.parametrize(("icc", "size"), [(0.05, 4), (0.3, 10)])
def test_simulated_documents_have_the_intraclass_correlation(icc: float, size: int) -> None:
    rng = np.random.default_rng(3)
    scores = SegmentScores("score", dict(zip("ab", rng.normal(size=(2, 20_000)).round(3), strict=True)))
    of = Material.from_data(Data.from_arguments(None, None, scores), Units(), Resampling())
    null = built("documents", of, icc=icc, document_size=size)
    (population,) = null.parts[0].populations
    assert (null.draws, null.segments_per_draw, population.n_groups) == ("document", size, 20_000 // size)
    assert (np.bincount(known(population.groups)) == size).all()
    experiment = Experiment([population], Selection("replace", 20_000 // size, null.swapped), 1)
    found = []
    for i in range(10):
        a, b = scores.segment_scores(experiment.data_set(i)[0])
        d = (a - b).reshape(-1, size)
        within = (d.sum(axis=1) ** 2 - (d**2).sum(axis=1)).mean() / (size * (size - 1))
        found.append(within / (d**2).mean())
    assert np.mean(found) == pytest.approx(icc, abs=0.01)
    assert f"intraclass correlation of {icc}" in null.truth
    assert "were simulated" in null.truth


def test_real_documents_are_drawn_and_swapped_whole() -> None:
    ids = [segment // 5 for segment in range(SEGMENTS)]
    of = material("bleu", documents=ids)
    for name in ("documents", "documents-as-units"):
        null = built(name, of)
        (population, _) = null.parts[0].populations
        assert (population.n_groups, population.n_units) == (24, 120 if name == "documents" else 24)
        (counts,) = Experiment([population], Selection("fixed", None, null.swapped), 1).data_set(0)
        sums = counts.reshape(2, 24, -1, counts.shape[-1]).sum(axis=2)
        own = of.counts[0][[1, 0]].reshape(2, 24, 5, -1).sum(axis=2)
        is_swapped = (sums == own[::-1]).all(axis=(0, 2))
        assert (is_swapped | (sums == own).all(axis=(0, 2))).all()
        assert 5 < is_swapped.sum() < 19
        assert "resample segments as if" in null.truth or "as they should" in null.truth


def test_noise_edits_a_share_of_the_words() -> None:
    request = Request(material(), NullOptions(), StudySettings())
    lines = [f"a{i} b{i} c{i} d{i} e{i}" for i in range(2000)]
    kinds: Counter[str] = Counter()
    for line, edited in zip(lines, noisy(lines, 0.02, request, 3), strict=True):
        before, after = line.split(), edited.split()
        possible = {
            "same": before == after,
            "dropped": len(after) == 4 and set(after) < set(before),
            "repeated": len(after) == 6 and set(after) == set(before),
            "exchanged": len(after) == 5 and sorted(after) == sorted(before),
            "replaced": len(after) == 5 and len({*before} - {*after}) == 1,
            "several": True,
        }
        kinds[next(kind for kind, found in possible.items() if found)] += 1
    # A last word has no next one, and a word that is held is not edited.
    assert kinds["same"] / 2000 == pytest.approx(0.98**5, abs=0.02)
    for kind in ("dropped", "repeated", "replaced"):
        assert kinds[kind] / 2000 == pytest.approx(0.1 / EDITS, abs=0.012)
    assert kinds["exchanged"] / 2000 == pytest.approx(0.08 / EDITS, abs=0.012)
    assert kinds["several"] < 40
    assert noisy(lines, 0.02, request, 3) == noisy(lines, 0.02, request, 3) != noisy(lines, 0.02, request, 4)
    assert noisy(["", ""], 0.5, request, 0) == ["", ""]


def test_noisy_copies_of_each_system_take_turns() -> None:
    null = built("noise", material(["bleu", "ter"]), noise=0.1)
    (part,) = null.parts
    assert [population.name for population in part.populations] == [f"{name}, with noise" for name in SYSTEMS]
    assert null.swapped == 0.5
    for population in part.populations:
        assert not np.array_equal(population.counts[0][0], population.counts[0][1])
    one = material("bleu", {"a": SYSTEMS["system 0.9"]})
    assert "10% of the words" in built("noise", one, noise=0.1).truth


@pytest.mark.parametrize(("k", "n", "splits"), [(2, 1, 1), (3, 1, 3), (5, 2, 15), (6, 3, 10)])
def test_runs_are_split_into_disjoint_sets(k: int, n: int, splits: int) -> None:
    of = material("bleu", {f"{i}": SYSTEMS["system 0.8"] if i else SYSTEMS["system 0.9"] for i in range(k)})
    null = built("replicate", of, runs=n)
    populations = null.parts[0].populations
    found = set()
    for population in populations:
        left, right = (side.split(", ") for side in population.name.split(" - "))
        assert len(left) == len(right) == n
        assert not set(left) & set(right)
        found.add(frozenset([frozenset(left), frozenset(right)]))
        for side, counts in zip((left, right), population.counts[0], strict=True):
            assert np.array_equal(counts, of.counts[0][[int(run) for run in side]].sum(axis=0))
    assert len(found) == len(populations) == splits
    assert f"All {splits} splits" in null.truth
    assert (null.swapped, null.sampled) == (0, True)


def test_many_runs_have_random_splits() -> None:
    scores = SegmentScores("score", {str(run): [run % 3, run % 5] for run in range(16)})
    of = Material.from_data(Data.from_arguments(None, None, scores), Units(), Resampling())
    null = built("replicate", of, runs=5)
    assert len({population.name for population in null.parts[0].populations}) > 950
    assert "1,000 random splits of 1,009,008 of the runs" in null.truth
    assert "few" not in null.truth


def test_variants_are_all_pairs_and_their_equivalence_is_an_assumption() -> None:
    study = type1(REFERENCES, SYSTEMS, null="variants", tests="ar", sampling="fixed", n_resamples=99, alphas=0.05)
    (rate,) = study.rates
    assert rate.simulations == 3  # each pair once
    assert rate.rate == 1
    assert "This is an assumption that is not checked" in study.truths["variants"]
    drawn = type1(REFERENCES, SYSTEMS, null="variants", tests="ar", simulations=30, n_resamples=99, alphas=0.05)
    assert drawn.rates[0].simulations == 30
    assert drawn.rates[0].confidence_interval.method == "korn-graubard"


def test_subsets_of_a_pool_of_equal_scores_are_said_to_vary_less() -> None:
    study = type1(
        REFERENCES, SYSTEMS, null=["swap", "equal-score"], tests="ar", sizes=60, sampling="subset", simulations=200,
        n_resamples=19, alphas=0.1,
    )  # fmt: skip
    assert study.truths["equal-score"].endswith("the rates are too low.")
    assert "too low" not in study.truths["swap"]
    assert study.rates[1].verdict == "conservative"


def test_every_null_says_what_is_true() -> None:
    own = {"margin": "margin:bleu=1", "documents": "documents:icc=0.05"}
    study = type1(
        REFERENCES, SYSTEMS, null=[own.get(name, name) for name in NULLS], tests="ar", sizes=60, simulations=4,
        n_resamples=19, alphas=0.1,
    )  # fmt: skip
    assert [rate.null for rate in study.rates] == list(NULLS) == list(study.truths)
    assert all(truth.endswith(".") for truth in study.truths.values())
    assert len(set(study.truths.values())) == len(NULLS)


# Two different outputs, one of which has no words that could be dropped.
FEW = Data.from_arguments(["a b c d", "e"], {"x": ["a b c d", "e"], "y": ["a b c d", ""]}, "ter")


def test_what_a_null_cannot_be_made_of_is_refused() -> None:
    assert_raises("python_errors_of_nulls", globals())
