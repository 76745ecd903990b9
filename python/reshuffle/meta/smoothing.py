"""``tune_smoothing``: the parameters of sentence BLEU's smoothings that agree best with people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _core, signature
from ..errors import InputError, either
from ..grouping import grouped
from ..metrics.named import metric
from ..metrics.native import NativeMetric
from ..options.declare import call, called_with, taken
from ..options.meta import Segments, TuneSmoothing
from ..progress import reported
from ..results.studies import MetricAgreement, MetricDifference, SmoothingSetting, StudyResult
from ..results.studies.smoothing import SmoothingPlan
from ..validate import check_name
from .material import JudgedSet, as_sets
from .segments import segments

# The parameter of each smoothing that has one (W14-3346, section 2.2), and the values that are tried: the choice of the
# paper (ε = 0.1, K = 5, α = 5), and others on both sides of it. The paper does not name the values of its own grid.
PARAMETERS: Mapping[str, str] = {"1": "epsilon", "4": "k", "6": "alpha", "7": "k"}
OF_K = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0)
GRIDS: Mapping[str, Sequence[float]] = {
    "1": (0.001, 0.003, 0.01, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9),
    "4": OF_K,
    "6": (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0),
    "7": OF_K,
}
# Settings of :func:`segments` that do not apply.
UNUSED = ("baseline", "coefficients", "groupings", "minimum_difference")
# What is known of a smoothing only where it is compared with the chosen one.
TESTED = ("difference", "confidence_interval", "pvalue", "adjusted_pvalue")
# Settings in the signature.
SIGNED = ("test_sets", "repeats", "ties", "grids", "average", "pooled", "tests", "adjust", "interval", "n_resamples")


def smoothing_grid(grids: Mapping[str, Iterable[float]] | None = None, **options: Any) -> list[NativeMetric]:
    """Sentence BLEU with every setting of a grid, for the test sets of :func:`tune_smoothing`.

    Parameters
    ----------
    grids : mapping of str to numbers, optional
        The values to try, by smoothing: ``"1"`` (ε), ``"4"`` (K), ``"6"`` (α), ``"7"`` (K). By default 11 values of
        each.
    **options
        Options of all metrics, such as ``lowercase=True``: see :func:`reshuffle.metric`.

    Returns
    -------
    list of metrics

    Raises
    ------
    InputError
        For other smoothings, empty or repeated values, values that the metric does not take, and options that are
        tuned.

    Examples
    --------
    >>> [m.signature() for m in smoothing_grid({"1": [0.05, 0.1]}, tokenize="none")][0].partition("|version")[0]
    'sentBLEU|case:mixed|tok:none|smooth:1[0.05]'
    """
    for name in ("smoothing", *(f"smoothing_{each}" for each in PARAMETERS.values())):
        if name in options:
            raise InputError(f"{name} is what is tuned: leave it out, and use grids")
    found = []
    for smoothing, values in (GRIDS if grids is None else grids).items():
        check_name("smoothing with a parameter", smoothing, list(PARAMETERS))
        tried = list(values)
        if not tried:
            raise InputError(f"no values for smoothing {smoothing}: expected at least one")
        repeated = next((value for value in tried if tried.count(value) > 1), None)
        if repeated is not None:
            raise InputError(f"{repeated} is twice in the grid of smoothing {smoothing}: leave out one of them")
        name = f"smoothing_{PARAMETERS[smoothing]}"
        found += [metric("sentbleu", smoothing=smoothing, **{name: value}, **options) for value in tried]
    if not found:
        raise InputError("the grid is empty: expected values for at least one smoothing")
    return found


@called_with(TuneSmoothing)
def tune_smoothing(options: TuneSmoothing) -> StudyResult[SmoothingPlan]:
    """Which ε, K and α of Chen & Cherry's smoothings agree best with people's votes.

    For every smoothing in the grid, the value with the largest Kendall τ is selected, on average over the test sets.
    The other values are compared with it.

    Returns
    -------
    StudyResult
        The table ``grid`` has a :class:`SmoothingSetting` for each test set, smoothing and value.

    Raises
    ------
    InputError
        If a test set has no votes, or a metric is not one of :func:`smoothing_grid`; and as
        :func:`reshuffle.meta.segments`.

    Notes
    -----
    p-values and intervals compare other values with the selected one, as if it had been known before. Since the same
    votes selected it, they understate how close the values are: many values without a significant difference mean that
    the choice hardly matters. Cost: texts are tokenized and matched once; a value of the grid costs one score for each
    sentence.

    References
    ----------
    Boxing Chen and Colin Cherry 2014, W14-3346: ε, K and α were chosen on the judgments of WMT 2008.

    Examples
    --------
    >>> from reshuffle.meta import Judgments, JudgedSet, smoothing_grid, tune_smoothing
    >>> reference = ["the cat sat on the mat", "a dog barked at the moon", "all is well"]
    >>> systems = {"a": ["the cat sat on mat", "a dog at the moon", "all is"], "b": ["cat mat", "moon dog", "is all"]}
    >>> votes = Judgments.from_votes(["a", "b"], 3, segment=[0, 1, 2], better=[0, 0, 0], worse=[1, 1, 1])
    >>> grid = smoothing_grid({"1": [0.1, 1.0], "7": [5.0]}, tokenize="none")
    >>> result = tune_smoothing(JudgedSet.from_texts(reference, systems, grid, judgments=votes), n_resamples=99)
    >>> [(each.smoothing, each.value, round(each.tau, 3), each.selected) for each in result.tables["grid"]]
    [('1', 0.1, 1.0, True), ('1', 1.0, 0.667, False), ('7', 5.0, 1.0, True)]
    """
    sets = as_sets(options.test_sets)
    settings = _settings(sets)
    # The name of the test set whose votes decide.
    decides = sets[0].name if len(sets) == 1 else "average" if options.average else "pooled"
    with reported(options.progress) as watched:
        common: dict[str, Any] = {
            "coefficients": "tau",
            "pooled": options.pooled or decides == "pooled",
            "progress": watched,
        }
        untested = taken(Segments, options, **common, test_sets=sets, test=None, interval=None)
        values = call(segments, untested)
        found: list[SmoothingSetting] = []
        tests: list[str] = []
        for own in map(dict, grouped((each.smoothing, (label, each)) for label, each in settings.items()).values()):
            results = [each for each in values.results if each.metric in own]
            chosen = _best([each for each in results if each.test_set == decides])
            comparisons: tuple[MetricDifference, ...] = ()
            if chosen is not None and len(own) > 1 and options.test not in (None, "none"):
                subset = [replace(s, metrics=tuple(m for m in s.metrics if m.label in own)) for s in sets]
                test = "perm-inputs" if options.test == "auto" else options.test
                tested = call(
                    segments, taken(Segments, options, **common, test_sets=subset, test=test, baseline=chosen)
                )
                comparisons = tested.comparisons
                tests += filter(None, tested.plan.tests)
            found += _records(own, results, chosen, comparisons)
    plan = taken(
        SmoothingPlan,
        values.plan,
        **dict.fromkeys(UNUSED),
        grids=grouped((each.smoothing, each.value) for each in settings.values()),
        decides=decides,
        test="none" if options.test is None else options.test,
        tests=tuple(dict.fromkeys(tests)),
        adjust=options.adjust,
        interval=options.interval,
    )
    # The parts of the signatures that all metrics have.
    parts = [m.signature.split("|") for m in sets[0].metrics]
    common_parts = "|".join(part for part in parts[0] if all(part in other for other in parts))
    signed = {key: plan[key] for key in SIGNED if key in plan and (key != "test_sets" or any(plan[key]))}
    return StudyResult(
        study="tune-smoothing",
        plan=plan,
        metrics=(),
        tables={"grid": tuple(found)},
        truths={},
        signature=signature.for_study("tune-smoothing", signed, options.seed, [common_parts]),
        version=_core.VERSION,
    )


@dataclass(frozen=True)
class _Setting:
    """The smoothing of a metric, its parameter, and the value of that."""

    smoothing: str
    parameter: str
    value: float


def _settings(sets: Sequence[JudgedSet]) -> dict[str, _Setting]:
    """The setting of every metric, by label; :class:`InputError` for metrics that are not of the grid."""
    for each in sets:
        if each.judgments is None:
            raise InputError(f"{each.name or 'the test set'} has no votes: smoothings are tuned by tau on votes")
    found = {}
    for m in sets[0].metrics:
        own = None if m.sample is None else m.sample.metric
        smoothing = own.option("smoothing") if isinstance(own, NativeMetric) and own.key == "sentbleu" else ""
        if not isinstance(own, NativeMetric) or smoothing not in PARAMETERS:
            raise InputError(
                f"{m.label} is not sentence BLEU with smoothing {either(PARAMETERS)}: make the metrics by "
                "meta.smoothing_grid"
            )
        parameter = PARAMETERS[smoothing]
        found[m.label] = _Setting(smoothing, parameter, float(own.option(f"smoothing_{parameter}")))
    return found


def _best(results: Sequence[MetricAgreement]) -> str | None:
    """The metric with the largest value, the first of equal ones; None if no value is defined."""
    defined = [each for each in results if not np.isnan(each.value)]
    return max(defined, key=lambda each: each.value).metric if defined else None


def _records(
    settings: Mapping[str, _Setting],
    results: Sequence[MetricAgreement],
    chosen: str | None,
    comparisons: Sequence[MetricDifference],
) -> Iterator[SmoothingSetting]:
    """A record for each test set and value of one smoothing."""
    tested = {(each.test_set, each.metric_a): each for each in comparisons}
    for name in dict.fromkeys(each.test_set for each in results):
        own = [each for each in results if each.test_set == name]
        best = _best(own)
        for each in own:
            pair = tested.get((name, each.metric))
            yield taken(
                SmoothingSetting,
                settings[each.metric],
                *(() if pair is None else (pair,)),
                **(dict.fromkeys(TESTED) if pair is None else {}),
                test_set=name,
                tau=each.value,
                selected=each.metric == chosen,
                best=each.metric == best,
                n=each.n,
            )
