"""``human``: labels of some segments with the help of a metric, beside their definitions and other tools."""

import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

import reshuffle
from known import known
from reshuffle import InputWarning, SegmentScores, human, meta
from reshuffle.human import LabelUnits, Question
from reshuffle.inference.predicted import Labelled
from reshuffle.inference.raters import agreements, noise
from reshuffle.metrics.base import Scores
from reshuffle.report import Layout
from reshuffle.report.checklist import as_checklist
from reshuffle.resampling.units import Strata
from reshuffle.results.studies import LabelledEstimate, StudyResult
from told import assert_raises, assert_told

NAN = float("nan")


class Sample:
    """Labels of 60 of 300 segments of two systems, and a judge of all, from a seed."""

    def __init__(self, seed: int = 0, noise: float = 0.5) -> None:
        rng = np.random.default_rng(seed)
        self.truth: Scores = rng.integers(0, 6, (2, 300)) + np.array([[0.0], [0.5]])
        self.judge: Scores = self.truth + noise * rng.standard_normal((2, 300))
        self.labelled = rng.permutation(300) < 60

    @property
    def labels(self) -> Scores:
        return np.where(self.labelled, self.truth, NAN)

    def metrics(self, judge: ArrayLike | None = None) -> list[SegmentScores]:
        predicted = self.judge if judge is None else np.broadcast_to(judge, (2, 300))
        return [
            SegmentScores("people", dict(zip("ab", self.labels, strict=True)), missing="pairwise"),
            SegmentScores("judge", dict(zip("ab", predicted, strict=True))),
        ]

    def estimated(self, **options: Any) -> StudyResult:
        return human(metrics=self.metrics(), **options)


def difference(result: StudyResult, predictor: str | None) -> LabelledEstimate:
    found: LabelledEstimate
    (found,) = [each for each in result.tables["differences"] if each.predictor == predictor]
    return found


def twin(y: Scores, f: Scores, rest: Scores) -> tuple[float, float]:
    """Prediction-powered mean and its standard error, term by term."""
    n, others = len(y), len(rest)
    covariance = sum((y - y.mean()) * (f - f.mean())) / (n - 1)
    weight = covariance / (f.var(ddof=1) + n / others * rest.var(ddof=1))
    mean = weight * rest.mean() + (y - weight * f).mean()
    return mean, np.sqrt(weight**2 * rest.var(ddof=1) / others + (y - weight * f).var(ddof=2) / n)


def test_definition() -> None:
    sample = Sample()
    y, f = sample.truth[1] - sample.truth[0], sample.judge[1] - sample.judge[0]
    at, result = sample.labelled, sample.estimated()
    own, alone = difference(result, "judge"), difference(result, None)
    assert (own.estimate, own.standard_error) == pytest.approx(twin(y[at], f[at], f[~at]), rel=1e-12)
    assert alone.estimate == pytest.approx(y[at].mean(), rel=1e-12)
    assert alone.standard_error == pytest.approx(y[at].std(ddof=1) / np.sqrt(60), rel=1e-12)
    assert own.worth == pytest.approx(60 * ((alone.standard_error / own.standard_error) ** 2 - 1))
    assert alone.worth == pytest.approx(0, abs=1e-9)
    (_, one) = [each for each in result.tables["scores"] if each.system == "b"]
    expected = twin(sample.truth[1, at], sample.judge[1, at], sample.judge[1, ~at])
    assert (one.estimate, one.standard_error) == pytest.approx(expected, rel=1e-12)
    assert (one.baseline, one.pvalue) == (None, None)


def test_published_and_independent_numbers(data: Path) -> None:
    """WMT21 English–German, MQM of Facebook-AI and HuaweiTSC, labels of 100 of 527 segments.

    ppi-python 0.2.3, ``ppi_mean_pointestimate`` and ``ppi_mean_ci`` with the tuned weight, divides variances by n.
    """
    folder = data / "wmt21-en-de"
    mqm = meta.read_scores(folder / "judgments/mqm_newstest2021_ende.avg_seg_scores.tsv")
    names = ("HuaweiTSC", "Facebook-AI")
    labels = {name: known(mqm.segments)[mqm.systems.index(name)].tolist() for name in names}
    segments = [s for s, label in enumerate(labels[names[0]]) if label == label]
    reference = reshuffle.read_lines(str(folder / "ref-C.txt"))
    outputs = {name: reshuffle.read_lines(str(folder / f"sys/{name}.txt")) for name in names}
    drawn = set(np.random.default_rng(0).permutation(527)[:100].tolist())
    people = SegmentScores(
        "MQM",
        {name: [labels[name][s] if at in drawn else None for at, s in enumerate(segments)] for name in names},
        missing="pairwise",
    )
    result = human(
        [reference[s] for s in segments],
        {name: [lines[s] for s in segments] for name, lines in outputs.items()},
        metrics=[people, "chrf"],
    )
    alone, own = difference(result, None), difference(result, "chrF2")
    assert (alone.estimate, alone.standard_error) == pytest.approx((-0.133, 0.39198292841), abs=1e-10)
    # They are for a plain chrF, with the variance of all predictions in the weight and n - 1 as the divisor.
    assert own.estimate == pytest.approx(-0.13408652894, abs=1e-3)
    assert own.standard_error * np.sqrt(98 / 99) == pytest.approx(0.39169370470, rel=1e-3)
    assert (own.estimate, own.low, own.high) == pytest.approx((-0.13407566, -0.89793484, 0.62978351), abs=0.02)


def test_a_constant_predictor_changes_nothing() -> None:
    result = human(metrics=Sample().metrics(3.0))
    alone, own = difference(result, None), difference(result, "judge")
    assert (own.estimate, own.standard_error) == (alone.estimate, alone.standard_error)
    assert (own.correlation, own.worth) == (None, 0)


def test_a_metric_that_is_worth_no_labels() -> None:
    """Its weight takes a degree of freedom: variances have the divisor n - 2 instead of n - 1."""
    sample = Sample()
    # Neither the labels nor their differences are correlated with it.
    at = np.flatnonzero(sample.labelled)
    shuffled = np.random.default_rng(0).standard_normal((2, 300))
    of_labels = np.array([np.ones(60), *sample.truth[:, at]]).T
    shuffled[:, at] -= (of_labels @ np.linalg.lstsq(of_labels, shuffled[:, at].T, rcond=None)[0]).T
    assert difference(human(metrics=sample.metrics(shuffled)), "judge").worth == pytest.approx(60 * 58 / 59 - 60)


def test_the_mean_of_these_segments_is_better_known() -> None:
    sample = Sample()
    for predictor in (None, "judge"):
        own, wide = (difference(sample.estimated(target=each), predictor) for each in ("set", "population"))
        assert own.estimate == pytest.approx(wide.estimate, abs=0.02)
        assert own.standard_error < wide.standard_error
        assert predictor or own.standard_error == pytest.approx(np.sqrt(0.8) * wide.standard_error)


def test_documents_of_one_segment_are_segments() -> None:
    sample = Sample()
    by_document = sample.estimated(documents=list(map(str, range(300))))
    assert by_document.tables == sample.estimated().tables
    assert by_document.plan["unit"] == "document"


def test_documents_are_ratios_of_sums() -> None:
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 9, 80)
    sums = sizes * rng.normal(2, 1, 80)
    labelled = np.arange(80) < 30
    own = Labelled(sums[labelled], labelled, sizes.astype(float)).alone()
    assert own.mean == pytest.approx(sums[:30].sum() / sizes[:30].sum())
    drawn = []
    for _ in range(4000):
        at = rng.integers(30, size=30)
        drawn.append(sums[at].sum() / sizes[at].sum())
    assert own.standard_error == pytest.approx(np.std(drawn), rel=0.1)


@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_labels_that_differ_nowhere_have_no_interval(shift: float) -> None:
    """Whatever the metric says of the other segments."""
    sample = Sample()
    sample.truth[1] = sample.truth[0] + shift
    result = sample.estimated(difference=0.2)
    for predictor in (None, "judge"):
        own = difference(result, predictor)
        assert own.estimate == pytest.approx(shift)
        assert (own.low, own.high, own.detectable, own.needed) == (None, None, None, None)
        assert own.pvalue == 1


@pytest.mark.slow
def test_coverage() -> None:
    """Of 400 intervals of 95%, 380 ± 18 contain the truth (four standard errors)."""
    found = [difference(Sample(seed, noise=1.0).estimated(), "judge") for seed in range(400)]
    assert 362 <= sum((each.low or 0) <= 0.5 <= (each.high or 0) for each in found) <= 398


def test_labels_of_a_set_cannot_be_worth_more_than_it_has() -> None:
    result = Sample(noise=0.01).estimated(target="set", difference=0.001)
    own, alone = difference(result, "judge"), difference(result, None)
    assert 230 < own.worth < 240
    assert (own.needed or 0) < (alone.needed or 0) <= 300
    # The variance of m of M labels is that of n times (1/m - 1/M)/(1/n - 1/M).
    m, big, n = own.worth + 60, 300, 60
    factor = (own.standard_error / alone.standard_error) ** 2
    assert (1 / m - 1 / big) / (1 / n - 1 / big) == pytest.approx(factor)


def test_detectable_differences() -> None:
    own = difference(Sample().estimated(difference=0.2), "judge")
    assert own.detectable is not None
    # A test of which everything is known would need 2.80 standard errors.
    assert own.detectable / own.standard_error == pytest.approx(2.8016 * (1 + 1 / 60), rel=0.01)
    again = difference(Sample().estimated(difference=own.detectable), "judge")
    assert again.needed in (60, 61)  # the difference is rounded
    assert own.needed == pytest.approx(60 * (own.detectable / 0.2) ** 2, rel=0.03)
    assert difference(Sample().estimated(), "judge").needed is None


def test_what_reports_tell() -> None:
    metrics, names = rated(0, 5)
    pairs = human(metrics=_three(Sample()), all_pairs=True, difference=0.1)
    results = {
        "two systems": Sample().estimated(),
        "all pairs and a difference": pairs,
        "these segments, in strata": Sample().estimated(target="set", strata=np.repeat([0, 1], 150)),
        "raters": human(metrics=metrics, human=names, difference=0.3),
        "raters who are a sample": human(metrics=metrics, human=names, raters="random"),
    }
    told = {
        name: "\n\n".join([str(each), *each.methods_sentence().split(" All numbers")[:1]])
        for name, each in results.items()
    }
    captions = re.findall(r"\\caption\{(.*)\}\\label", pairs.render("latex"))
    assert_told("human", {**told, "captions": "\n".join(captions)})


def _of_the_worst() -> StudyResult:
    sample = Sample()
    sample.labelled = np.argsort(np.argsort(sample.judge[0])) < 60
    return sample.estimated()


def _of_four() -> StudyResult:
    rng = np.random.default_rng(1)
    scores = {name: rng.normal(mean, 1, 200) for name, mean in (("a", 0), ("b", 5), ("c", 6), ("d", 0))}
    labels = {name: np.where(np.arange(200) < 80, own, np.nan).round(2) for name, own in scores.items()}
    judge = SegmentScores("judge", {name: own.round(1) for name, own in scores.items()})
    return human(metrics=[SegmentScores("people", labels, missing="pairwise"), judge])


def _with_rater(labels: Callable[[Sample], Scores]) -> StudyResult:
    sample = Sample()
    (people, judge) = sample.metrics()
    other = SegmentScores("other", dict(zip("ab", labels(sample), strict=True)), missing="pairwise")
    return human(metrics=[people, other, judge], human=["people", "other"])


SENTENCES: dict[str, Callable[[], StudyResult]] = {
    "judge scores a differently on segments with labels than on the others": _of_the_worst,
    "judge says little or nothing about these labels":
        lambda: human(metrics=Sample().metrics(np.random.default_rng(9).random((2, 300)))),
    "b and c are significantly better than a under people, according to the labels and judge. d shows no": _of_four,
    "Numbers of labels are not planned with strata":
        lambda: Sample().estimated(strata=np.repeat([0, 1], 150), difference=0.2),
    "Labels were not standardized, because a rater gave only one label":
        lambda: _with_rater(lambda sample: np.where(sample.labelled, 3.0, NAN) + np.zeros((2, 1))),
    "Agreement of raters is unknown: no output has labels of two of them.":
        lambda: _with_rater(lambda sample: np.where(~sample.labelled & (np.arange(300) < 80), sample.truth, NAN)),
    "Looks for a difference of 0.2, according to the labels and judge":
        lambda: Sample().estimated(difference=0.2, looks=3),
}  # fmt: skip


def test_sentences_that_only_some_results_have() -> None:
    texts = {sentence: " ".join(str(make()).split()) for sentence, make in SENTENCES.items()}
    for sentence in SENTENCES:
        assert [other for other, text in texts.items() if sentence in text] == [sentence]


def test_pairs_are_adjusted() -> None:
    sample = Sample()
    third = np.where(sample.labelled, sample.truth[0] + np.random.default_rng(1).normal(0.3, 1, 300), NAN)
    people = SegmentScores("people", [*sample.labels, third], missing="pairwise")
    judge = SegmentScores("judge", [*sample.judge, sample.judge[0]])
    rows = [each for each in human(metrics=[people, judge]).tables["differences"] if each.predictor is None]
    p = sorted(each.pvalue for each in rows)
    assert sorted(each.adjusted_pvalue for each in rows) == pytest.approx([2 * p[0], max(2 * p[0], p[1])])


def _of_raters(n: int, **options: Any) -> StudyResult:
    metrics, names = rated(1, n)
    return human(metrics=metrics, human=names, **options)


# test_every_study.py writes, draws and reads it.
RESULTS = {"human": lambda: _of_raters(5, difference=0.3)}


# What the calls in python_errors_of_human.txt are about.


def _twice(sample: Sample) -> list[SegmentScores]:
    (people, _) = sample.metrics()
    return [people, SegmentScores("more", dict(zip("ab", sample.labels, strict=True)), missing="pairwise")]


def _without(sample: Sample, segments: slice) -> list[SegmentScores]:
    sample.labelled[segments] = False
    return sample.metrics()


def _of_both(sample: Sample, number: int) -> list[SegmentScores]:
    """Labels of this many segments of both systems, and of all others of one."""
    ends = {"a": 300 - (number == 299), "b": number}
    people = {name: np.where(np.arange(300) < end, sample.truth[0], NAN) for name, end in ends.items()}
    return [SegmentScores("people", people, missing="pairwise"), sample.metrics()[1]]


def test_errors() -> None:
    assert_raises("python_errors_of_human", globals())


def test_strata_are_weighted_by_their_sizes() -> None:
    rng = np.random.default_rng(8)
    sizes, numbers = np.array([300, 100]), (15, 40)
    index = np.repeat([0, 1], sizes)
    labelled = np.concatenate([np.arange(size) < n for size, n in zip(sizes, numbers, strict=True)])
    y = rng.normal(0, 1, 400) * (1 + index) + 3 * index
    f = y + rng.normal(0, 0.5, 400)
    own = Labelled(y[labelled], labelled, np.ones(400), strata=Strata(index))
    parts = [y[labelled & (index == h)] for h in (0, 1)]
    alone = own.alone()
    assert alone.mean == pytest.approx(0.75 * parts[0].mean() + 0.25 * parts[1].mean())
    variances = [w**2 * part.var(ddof=1) / len(part) for w, part in zip((0.75, 0.25), parts, strict=True)]
    assert alone.standard_error == pytest.approx(np.sqrt(sum(variances)))
    assert alone.freedom == pytest.approx(sum(variances) ** 2 / (variances[0] ** 2 / 14 + variances[1] ** 2 / 39))
    drawn = []
    for _ in range(1500):
        at = np.concatenate(
            [
                rng.choice(np.flatnonzero((labelled == has) & (index == h)), n)
                for h, has, n in ((0, True, 15), (1, True, 40), (0, False, 285), (1, False, 60))
            ]
        )
        is_labelled, of = labelled[at], index[at]
        drawn.append(Labelled(y[at][is_labelled], is_labelled, np.ones(400), strata=Strata(of)).predicted(f[at]).mean)
    assert own.predicted(f).standard_error == pytest.approx(np.std(drawn), rel=0.15)


def rated(seed: int, n_raters: int, sd: float = 0.0) -> tuple[list[SegmentScores], list[str]]:
    """Labels by raters of about 60% of the labelled segments each, with scales of their own, and a judge."""
    sample, rng = Sample(seed), np.random.default_rng(seed)
    names = [f"rater {a}" for a in range(n_raters)]
    found = []
    for a, name in enumerate(names):
        liking = np.array([[0.0], [sd * rng.standard_normal()]])
        keep = sample.labelled & (rng.random(300) < 0.6)
        labels = np.where(keep, (sample.truth + liking) * (1 + a) + 10 * a, NAN)
        found.append(SegmentScores(name, dict(zip("ab", labels, strict=True)), missing="pairwise"))
    return [*found, sample.metrics()[1]], names


def test_a_label_is_the_mean_of_its_raters() -> None:
    metrics, names = rated(1, 2)
    given: list[Any] = [metric.scores for metric in metrics[:2]]
    ratings = np.array([[scores[s] for s in "ab"] for scores in given])
    own = [each for each in human(metrics=metrics, human=names).tables["differences"] if each.predictor is None]
    known = ~np.isnan(ratings[:, 0]).all(axis=0)
    y = np.nanmean(ratings[:, 1, known] - ratings[:, 0, known], axis=0)
    assert own[0].estimate == pytest.approx(y.mean())
    assert (own[0].standardized, own[1].standardized) == (False, True)
    z = [(r - np.nanmean(r)) / np.nanstd(r, ddof=1) for r in ratings]
    assert own[1].estimate == pytest.approx(np.nanmean([r[1, known] - r[0, known] for r in z], axis=0).mean())


def test_raters_as_a_second_cluster() -> None:
    """Term by term: units, raters, and both together."""
    rng = np.random.default_rng(4)
    ratings = rng.normal(0, 1, (5, 40)) + rng.normal(0, 1, (5, 1))
    ratings[rng.random((5, 40)) < 0.5] = NAN
    ratings[:, 30:] = NAN
    answers = [Question(ratings, [], "").answers(LabelUnits(None, None, False, random))[0] for random in (False, True)]
    known = [s for s in range(30) if not np.isnan(ratings[:, s]).all()]
    n, mean = len(known), answers[0].mean
    parts = [[(ratings[a, s] - mean) / np.sum(~np.isnan(ratings[:, s])) / n for s in known] for a in range(5)]
    filled = np.nan_to_num(np.array(parts))
    units = n / (n - 1) * (filled.sum(axis=0) ** 2).sum()
    raters, both = 5 / 4 * (filled.sum(axis=1) ** 2).sum(), (filled**2).sum()
    assert answers[0].standard_error == pytest.approx(np.sqrt(units))
    assert answers[1].standard_error == pytest.approx(np.sqrt(units + raters - both))
    assert (answers[0].freedom, answers[1].freedom) == (n - 1, 4)


def test_errors_of_raters_who_are_a_sample_are_larger() -> None:
    metrics, names = rated(1, 5, sd=1.0)
    fixed, random = (human(metrics=metrics, human=names, raters=each) for each in ("fixed", "random"))
    for own, wide in zip(fixed.tables["differences"], random.tables["differences"], strict=True):
        assert own.standard_error < wide.standard_error


def test_plans_with_strata() -> None:
    """The detectable difference is that of the degrees of freedom, here of the larger stratum with few labels."""
    from scipy.stats import nct, t

    sample = Sample()
    sample.labelled = np.isin(np.arange(300), [*range(6), *range(280, 295)])
    strata = ["large" if s < 280 else "small" for s in range(300)]
    result = sample.estimated(strata=strata, difference=0.2)
    own = difference(result, None)
    question = Question(sample.labels[None, 1] - sample.labels[None, 0], [], "")
    freedom = question.answers(LabelUnits(None, Strata.from_ids(strata, 300, None), False, False))[0].freedom
    assert freedom < 7
    assert own.detectable is not None
    limit, shift = t.ppf(0.975, freedom), own.detectable / own.standard_error
    assert nct.sf(limit, freedom, shift) + nct.cdf(-limit, freedom, shift) == pytest.approx(0.8, abs=1e-6)
    assert own.low is not None
    assert own.detectable > own.estimate - own.low
    assert own.needed is None


# Four raters and twelve outputs: Krippendorff (2011), Computing Krippendorff's alpha-reliability, section C.
RATINGS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
)


def agreement(ratings: Scores, n: int = 200) -> dict[str, float | None]:
    found = agreements(ratings[:, None], np.arange(ratings.shape[1]), 0.95, 1, n)
    return {each.coefficient: each.value for each in found}


def test_agreement_of_another_package() -> None:
    """``krippendorff.alpha(RATINGS, level_of_measurement=…)`` of krippendorff 0.9.0."""
    expected = {"nominal": 0.743421052631579, "ordinal": 0.8153875037548814, "interval": 0.8491071428571428}
    found = agreement(RATINGS)
    assert found == pytest.approx({f"alpha-{level}": value for level, value in expected.items()}, rel=1e-12)


def test_kappa_of_two_raters() -> None:
    """Cohen (1960): (p_o − p_e)/(1 − p_e), from outputs that both have labelled."""
    one, other = [1.0] * 20 + [1.0] * 5 + [2.0] * 10 + [2.0] * 15, [1.0] * 20 + [2.0] * 5 + [1.0] * 10 + [2.0] * 15
    assert agreement(np.array([[*one, 3.0], [*other, NAN]]))["kappa"] == pytest.approx((0.7 - 0.5) / 0.5)


def test_agreement_of_equal_labels_is_unknown() -> None:
    (found, *_) = agreements(np.ones((2, 1, 9)), np.arange(9), 0.95, 1, 100)
    assert (found.value, found.low, found.high) == (None, None, None)


def test_intervals_of_agreement_draw_units() -> None:
    """All labels of a segment are drawn together, so an interval of documents is longer where they are alike."""
    rng = np.random.default_rng(6)
    labels = np.repeat(rng.integers(0, 2, 40), 5) + np.array([[0] * 200, np.repeat(rng.random(40) < 0.3, 5)])
    by_segment, by_document = (
        list(agreements(labels[:, None].astype(float), unit, 0.95, 1))[2]
        for unit in (np.arange(200), np.repeat(np.arange(40), 5))
    )
    assert by_segment.value == by_document.value
    assert by_document.high - by_document.low > 1.5 * (by_segment.high - by_segment.low)  # type: ignore[operator]


def test_labels_of_each_segment_are_planned() -> None:
    """Noise between raters is as it was made, and the plan with a pilot's own labels is its own size."""
    rng = np.random.default_rng(2)
    y, f = rng.normal(0.5, 1, (2, 1500)), rng.normal(0, 1, (2, 1500))
    names = ["ann", "bob", "eve"]
    at = rng.permutation(1500) < 300
    # Raters who like system b more change no plan.
    likes = {name: np.array([[0.0], [a]]) for a, name in enumerate(names)}
    labels = {name: np.where(at, y + likes[name] + rng.normal(0, 1, y.shape), NAN) for name in names}
    ratings = np.array([labels[name][1] - labels[name][0] for name in names])
    assert noise(ratings) == pytest.approx(2, rel=0.15)
    assert noise(ratings[:, at][:, :3]) is None
    metrics = [SegmentScores(name, dict(zip("ab", labels[name], strict=True)), missing="pairwise") for name in names]
    judge = SegmentScores("judge", dict(zip("ab", f, strict=True)))
    planned = human(metrics=[*metrics, judge], human=names, difference=0.3)
    one, two, three = (each.needed for each in planned.tables["designs"] if each.predictor is None)
    # Variances of a segment: 2 of the outputs, and 2 of the raters' noise by the number of labels.
    assert one / three == pytest.approx(4 / (2 + 2 / 3), rel=0.15)
    assert one > two > three
    own = [each for each in planned.tables["differences"] if each.predictor is None and not each.standardized]
    assert three == pytest.approx(own[0].needed, abs=2)


def test_planned_looks() -> None:
    result = Sample().estimated(difference=0.2, looks=3)
    own = difference(result, "judge")
    looks = [each for each in result.tables["looks"] if each.predictor == "judge"]
    # |z| of 3.7103, 2.5114 and 1.9930: Lan & DeMets's spending function for three equal looks at .05.
    assert [each.level for each in looks] == pytest.approx([0.000207, 0.012025, 0.046262], rel=2e-3)
    assert looks[-1].power == pytest.approx(0.8)
    assert looks[0].labels == pytest.approx(looks[-1].labels / 3, abs=1)
    assert own.needed is not None
    assert 1 < looks[-1].labels / own.needed < 1.03


def test_ranks() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(0, 1, 300) + np.array([[0.0], [0.1], [3.0]])
    labels = np.where(rng.permutation(300) < 60, truth + rng.normal(0, 1, truth.shape), NAN)
    people = SegmentScores("people", dict(zip("abc", labels, strict=True)), missing="pairwise")
    judge = SegmentScores("judge", dict(zip("abc", truth, strict=True)))
    result = human(metrics=[people, judge], all_pairs=True)
    ranks = {each.system: (each.rank_low, each.rank_high, each.letters) for each in result.tables["ranking"]}
    assert ranks == {"c": (1, 1, "a"), "b": (2, 3, "b"), "a": (2, 3, "b")}
    pairs = {(each.system, each.baseline) for each in result.tables["differences"]}
    assert pairs == {("b", "a"), ("c", "a"), ("c", "b")}
    assert reshuffle.read_json(result.render("json")) == result
    lower = SegmentScores("people", dict(zip("abc", labels, strict=True)), False, missing="pairwise")
    assert [each.system for each in human(metrics=[lower, judge], all_pairs=True).tables["ranking"]][-1] == "c"


def _three(sample: Sample) -> list[SegmentScores]:
    """A third system, which is the second one half a point better."""
    labels, judge = (np.stack([*each, each[1] + 0.5]) for each in (sample.labels, sample.judge))
    return [
        SegmentScores("people", dict(zip("abc", labels, strict=True)), missing="pairwise"),
        SegmentScores("judge", dict(zip("abc", judge, strict=True))),
    ]


def test_a_perfect_predictor_of_these_segments() -> None:
    sample = Sample(noise=0.0)
    own = difference(sample.estimated(target="set"), "judge")
    assert own.estimate == pytest.approx((sample.truth[1] - sample.truth[0]).mean(), abs=1e-12)
    # But nobody knows how it does on the segments without labels.
    assert (own.standard_error, own.low, own.pvalue) == (0, None, 1)


def test_a_metric_without_error_is_worth_the_labels_of_all() -> None:
    scores = {name: [float(i % n) if i % 2 else 1.0 for i in range(50)] for name, n in (("a", 3), ("b", 4))}
    labels = {name: [each if i % 2 else NAN for i, each in enumerate(own)] for name, own in scores.items()}
    metrics = [SegmentScores("labels", labels, missing="pairwise"), SegmentScores("metric", scores)]
    assert max(each.worth for each in human(metrics=metrics).tables["scores"] if each.predictor) == 25


def test_the_checklist_of_a_paper_claims_no_simulation() -> None:
    facts = as_checklist(Sample().estimated(), Layout(), "references.bib")
    assert "Monte Carlo" not in facts
    stated = "Intervals of scores and differences are for the sampling of the units with labels"
    assert stated in " ".join(facts.split())


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any]) -> None:
    monkeypatch.chdir(tmp_path)
    sample = Sample()
    for name, labels, judge in zip("ab", sample.labels, sample.judge, strict=True):
        Path(f"{name}.people").write_text("".join(f"{'' if x != x else x}\n" for x in labels.tolist()))
        Path(f"{name}.judge").write_text("".join(f"{x}\n" for x in judge.tolist()))
    files = ("--scores", "people", "a.people", "b.people", "--scores", "judge", "a.judge", "b.judge")
    found = json.loads(run("human", *files, "--format", "json").out)
    (own,) = [each for each in found["differences"] if each["predictor"] == "judge"]
    assert own["estimate"] == pytest.approx(difference(sample.estimated(), "judge").estimate, rel=1e-9)


def test_labels_in_a_row_are_warned_of() -> None:
    sample = Sample()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sample.estimated()
    sample.labelled = np.arange(len(sample.labelled)) < 60
    with pytest.warns(InputWarning, match="the 60 segments with labels follow one another: they are a random sample"):
        sample.estimated()
