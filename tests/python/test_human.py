"""``human``: labels of some segments with the help of a metric, beside their definitions and other tools."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

import reshuffle
from reshuffle import InputError, SegmentScores, human
from reshuffle.inference.predicted import Estimated, Labelled
from reshuffle.metrics.base import Scores
from reshuffle.results.studies import LabelledEstimate, StudyResult

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
    at = sample.labelled
    own = difference(sample.estimated(), "judge")
    assert (own.estimate, own.standard_error) == pytest.approx(twin(y[at], f[at], f[~at]), rel=1e-12)
    alone = difference(sample.estimated(), None)
    assert (alone.estimate, alone.standard_error) == pytest.approx(
        (y[at].mean(), y[at].std(ddof=1) / np.sqrt(60)), rel=1e-12
    )
    assert own.worth == pytest.approx(60 * ((alone.standard_error / own.standard_error) ** 2 - 1))
    assert alone.worth == pytest.approx(0, abs=1e-9)


def test_one_system() -> None:
    sample = Sample()
    at = sample.labelled
    (_, own) = [each for each in sample.estimated().tables["scores"] if each.system == "b"]
    expected = twin(sample.truth[1, at], sample.judge[1, at], sample.judge[1, ~at])
    assert (own.estimate, own.standard_error) == pytest.approx(expected, rel=1e-12)
    assert (own.baseline, own.pvalue) == (None, None)


def test_published_and_independent_numbers(data: Path) -> None:
    """WMT21 English–German, MQM of Facebook-AI and HuaweiTSC, labels of 100 of 527 segments.

    ppi-python 0.2.3, ``ppi_mean_pointestimate`` and ``ppi_mean_ci`` with the tuned weight, divides variances by n.
    """
    folder = data / "wmt21-en-de"
    labels: dict[str, dict[int, float]] = {}
    for line in (folder / "judgments/mqm_newstest2021_ende.avg_seg_scores.tsv").read_text("utf-8").splitlines()[1:]:
        system, score, segment = line.split()
        if score != "None":
            labels.setdefault(system, {})[int(segment) - 1] = float(score)
    names = ("HuaweiTSC", "Facebook-AI")
    segments = sorted(labels[names[0]])
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


def test_the_standard_error_is_that_of_draws() -> None:
    """Labelled and other segments are drawn separately, and the weight is fitted to each draw."""
    sample = Sample(3)
    y, f, at = sample.truth[1] - sample.truth[0], sample.judge[1] - sample.judge[0], sample.labelled
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(2000):
        labelled, rest = rng.choice(np.flatnonzero(at), 60), rng.choice(np.flatnonzero(~at), 240)
        drawn.append(twin(y[labelled], f[labelled], f[rest])[0])
    assert difference(sample.estimated(), "judge").standard_error == pytest.approx(np.std(drawn), rel=0.1)


def test_scale_of_the_predictor() -> None:
    sample = Sample()
    own = difference(sample.estimated(), "judge")
    other = difference(human(metrics=sample.metrics(-100 * sample.judge + 7)), "judge")
    assert (own.estimate, own.standard_error) == pytest.approx((other.estimate, other.standard_error), rel=1e-9)
    assert other.weight == pytest.approx(-own.weight / 100, rel=1e-9)


def test_a_constant_predictor_changes_nothing() -> None:
    result = human(metrics=Sample().metrics(3.0))
    alone, own = difference(result, None), difference(result, "judge")
    assert (own.estimate, own.standard_error, own.correlation, own.worth) == (
        alone.estimate,
        alone.standard_error,
        None,
        0,
    )


def test_a_perfect_predictor_of_these_segments() -> None:
    sample = Sample(noise=0.0)
    own = difference(sample.estimated(target="set"), "judge")
    assert own.estimate == pytest.approx((sample.truth[1] - sample.truth[0]).mean(), abs=1e-12)
    assert own.standard_error == pytest.approx(0, abs=1e-12)


def test_the_mean_of_these_segments_is_better_known() -> None:
    sample = Sample()
    for predictor, share in ((None, np.sqrt(0.8)), ("judge", None)):
        own, wide = (difference(sample.estimated(target=each), predictor) for each in ("set", "population"))
        assert own.estimate == pytest.approx(wide.estimate, abs=0.02)
        assert own.standard_error < wide.standard_error
        if share is not None:
            assert own.standard_error == pytest.approx(share * wide.standard_error)


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


@pytest.mark.parametrize(("estimate", "p"), [(Estimated(0.0, 0.0, 30), 1.0), (Estimated(1.0, 0.0, 30), 0.0)])
def test_no_error(estimate: Estimated, p: float) -> None:
    assert estimate.pvalue == p
    assert estimate.interval(0.95) == (estimate.mean, estimate.mean)


def test_identical_systems() -> None:
    sample = Sample()
    sample.truth[1], sample.judge[1] = sample.truth[0], sample.judge[0]
    own = difference(sample.estimated(), "judge")
    assert (own.estimate, own.pvalue, own.correlation) == (0, 1, None)


def test_coverage() -> None:
    """Of 400 intervals of 95%, 380 ± 18 contain the truth (four standard errors)."""
    found = [difference(Sample(seed, noise=1.0).estimated(), "judge") for seed in range(400)]
    assert 362 <= sum(each.low <= 0.5 <= each.high for each in found) <= 398


def test_labels_that_were_chosen() -> None:
    sample = Sample()
    sample.labelled = np.argsort(np.argsort(sample.judge[0])) < 60  # the worst of system a
    text = sample.estimated().render("text")
    assert "judge scores a differently on segments with labels than on the others" in " ".join(text.split())
    assert "is better than" not in sample.estimated().render("text")
    assert "were they drawn at random?" not in " ".join(Sample().estimated().render("text").split())


def test_labels_of_a_set_cannot_be_worth_more_than_it_has() -> None:
    result = Sample(noise=0.01).estimated(target="set", difference=0.001)
    own, alone = difference(result, "judge"), difference(result, None)
    assert 230 < own.worth < 240
    assert (own.needed or 0) < (alone.needed or 0) <= 300
    # The variance of m of M labels is that of n times (1/m - 1/M)/(1/n - 1/M).
    m, big, n = own.worth + 60, 300, 60
    factor = (own.standard_error / alone.standard_error) ** 2
    assert (1 / m - 1 / big) / (1 / n - 1 / big) == pytest.approx(factor)


def test_labels_of_different_segments() -> None:
    sample = Sample()
    first, second = sample.labels
    second = np.where(sample.labelled, NAN, sample.truth[1])
    people = SegmentScores("people", {"a": first, "b": second}, missing="pairwise")
    with pytest.raises(InputError, match="only 0 segments have labels of both systems: an estimate needs at least 20"):
        human(metrics=[people, sample.metrics()[1]])


def test_detectable_differences() -> None:
    own = difference(Sample().estimated(difference=0.2), "judge")
    assert own.detectable is not None
    # A test of which everything is known would need 2.80 standard errors.
    assert own.detectable / own.standard_error == pytest.approx(2.8016 * (1 + 1 / 60), rel=0.01)
    again = difference(Sample().estimated(difference=own.detectable), "judge")
    assert again.needed in (60, 61)  # the difference is rounded
    assert own.needed == pytest.approx(60 * (own.detectable / 0.2) ** 2, rel=0.03)
    assert difference(Sample().estimated(), "judge").needed is None


def test_report() -> None:
    sample = Sample()
    text = sample.estimated().render("text")
    assert text.startswith("people: labels of 60 of 300 segments. Differences from a\n")
    assert "b is better than a under people, with the help of judge." in text
    assert "judge is worth about " in text
    assert "Choose one metric" not in text
    useless = human(metrics=sample.metrics(np.random.default_rng(9).random((2, 300)))).render("text")
    assert "judge says little or nothing about these labels" in useless
    assert "No difference between b and a is shown under people, with the help of judge." in useless


def test_pairs_are_adjusted() -> None:
    sample = Sample()
    third = np.where(sample.labelled, sample.truth[0] + np.random.default_rng(1).normal(0.3, 1, 300), NAN)
    people = SegmentScores("people", [*sample.labels, third], missing="pairwise")
    judge = SegmentScores("judge", [*sample.judge, sample.judge[0]])
    rows = [each for each in human(metrics=[people, judge]).tables["differences"] if each.predictor is None]
    p = sorted(each.pvalue for each in rows)
    assert sorted(each.adjusted_pvalue for each in rows) == pytest.approx([2 * p[0], max(2 * p[0], p[1])])


def test_json_and_csv() -> None:
    result = Sample().estimated()
    assert reshuffle.read_json(result.render("json")) == result
    assert result.render("csv").startswith("metric,predictor,system,baseline,labelled,estimate,")


def _twice(sample: Sample) -> list[SegmentScores]:
    (people, _) = sample.metrics()
    return [people, SegmentScores("more", dict(zip("ab", sample.labels, strict=True)), missing="pairwise")]


def _without(sample: Sample, segments: slice) -> list[SegmentScores]:
    sample.labelled[segments] = False
    return sample.metrics()


@pytest.mark.parametrize(
    ("metrics", "options", "message"),
    [
        (lambda s: s.metrics()[1:], {}, r"no metric has missing scores: leave segments without a label empty or NaN"),
        (_twice, {}, r"people, more have missing scores, but only labels may"),
        (_twice, {"human": "more"}, r"people has missing scores, too"),
        (lambda s: s.metrics()[:1], {}, r"people is the only metric"),
        (lambda s: s.metrics(), {"human": "judge"}, r"judge has no missing scores: leave segments without"),
        (lambda s: s.metrics(), {"human": "peple"}, r"did you mean 'people'"),
        (lambda s: s.metrics(), {"baseline": "c"}, r"baseline 'c'"),
        (lambda s: s.metrics(), {"target": "sample"}, r"target"),
        (lambda s: s.metrics(), {"confidence_level": 1.0}, r"confidence_level"),
        (lambda s: _without(s, slice(100, 300)), {}, r"only \d+ segments have labels of both systems: an est"),
        (
            lambda s: s.metrics(),
            {"documents": [str(i // 10) for i in range(300)]},
            r"labels for some of their segments",
        ),
    ],
)
def test_errors(metrics: Callable[[Sample], list[SegmentScores]], options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        human(metrics=metrics(Sample()), **options)


def test_all_labelled_by_pair() -> None:
    sample = Sample()
    sample.labelled[:] = True
    people = SegmentScores("people", {"a": sample.truth[0], "b": [*sample.truth[1, 1:], None]}, missing="pairwise")
    with pytest.raises(InputError, match="299 of 300 segments have labels, but at least 2 must have none"):
        human(metrics=[people, sample.metrics()[1]])


def test_command(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    sample = Sample()
    files = []
    for name, labels, judge in zip("ab", sample.labels, sample.judge, strict=True):
        (tmp_path / f"{name}.people").write_text("".join(f"{'' if x != x else x}\n" for x in labels.tolist()))
        (tmp_path / f"{name}.judge").write_text("".join(f"{x}\n" for x in judge.tolist()))
        files.append(name)
    words = [
        "human",
        *("--scores", "people", *(str(tmp_path / f"{name}.people") for name in files)),
        *("--scores", "judge", *(str(tmp_path / f"{name}.judge") for name in files)),
    ]
    from reshuffle.cli.main import run

    assert run([*words, "--format", "json"]) == 0
    found = json.loads(capfd.readouterr().out)
    expected = difference(sample.estimated(), "judge")
    (own,) = [each for each in found["differences"] if each["predictor"] == "judge"]
    assert own["estimate"] == pytest.approx(expected.estimate, rel=1e-9)
