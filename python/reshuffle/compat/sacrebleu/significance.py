"""sacreBLEU's paired significance tests and its bootstrap, on integer counts.

The mode ``exact-replay`` returns the same p-values, means and intervals as sacreBLEU, to the last digit. The mode
``sound`` returns those of :func:`reshuffle.approximate_randomization`, :func:`reshuffle.bootstrap_test` and
:func:`reshuffle.bootstrap_interval`. In both modes, all systems and metrics are counted and resampled together.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from inspect import Parameter, Signature, signature
from types import FunctionType
from typing import Any, NamedTuple, cast

import numpy as np
import sacrebleu.significance as host
from sacrebleu.utils import print_results_table

from reshuffle import __version__

from ..patching import NotNative, Seam, Settings, current_settings
from . import replay
from .paired import Results, Task, check_number
from .samples import Sample, as_values
from .seams import CACHE, EXTRACT, SENTENCE_BLEU, SUM

__all__ = ["SEAMS", "PairedTest", "Result", "estimate_ci"]

Result = host.Result
estimate_ci = host.estimate_ci
_compute_p_value = host._compute_p_value


def with_keyword(function: Callable[..., Any], name: str) -> Signature:
    """The signature of a function with one more argument, which is None by default and passed by name."""
    theirs, own = signature(function), Parameter(name, Parameter.KEYWORD_ONLY, default=None)
    return theirs.replace(parameters=[*theirs.parameters.values(), own])


class PairedTest(host.PairedTest):  # type: ignore[misc]
    """sacreBLEU's manager of paired tests of several systems and metrics against a baseline.

    Parameters
    ----------
    named_systems : list of (str, sequence of str)
        Names and hypotheses. The first is the baseline.
    metrics : mapping of str to metric
    references : list of columns of references, or None
        None uses the references that each metric has cached.
    test_type : {'ar', 'bs'}
        Approximate randomization, or paired bootstrap.
    n_samples : int
        The number of shuffles or draws. 0 for 10,000 shuffles or 1,000 draws.
    n_ar_confidence : int
        With ``ar``, the number of bootstrap draws for intervals. −1 for no intervals, 0 for 1,000.
    n_jobs : int
        Accepted and ignored: systems are compared in one process, on all cores.
    pvalues : {'exact-replay', 'sound'}, optional
        ``exact-replay`` gives sacreBLEU's numbers to the last digit. ``sound`` gives the p-values of
        :func:`reshuffle.approximate_randomization` or of the centred :func:`reshuffle.bootstrap_test`, and marks the
        signature with ``pvalues:reshuffle-…``; mean ± ci is then the percentile interval of
        :func:`reshuffle.bootstrap_interval`. The default is the setting of :func:`reshuffle.compat.install`, or
        ``exact-replay`` if nothing is installed.

    Examples
    --------
    >>> from reshuffle.compat.sacrebleu.metrics import BLEU
    >>> references = [["the cat sat on the mat", "a dog barked at the moon", "it rained all day long"]]
    >>> systems = [
    ...     ("a", ["the cat sat on a mat", "a dog barks at the moon", "it rains all day long"]),
    ...     ("b", ["the cat sat on the mat", "a dog barked at the moon", "it rained all day"]),
    ... ]
    >>> signatures, scores = PairedTest(systems, {"BLEU": BLEU()}, references, n_samples=1000)()
    >>> scores["System"], round(scores["BLEU"][1].score, 1)
    (['a', 'b'], 93.9)
    """

    def __init__(self, *arguments: Any, pvalues: str | None = None, **named: Any) -> None:
        self._pvalues = None if pvalues is None else Settings(pvalues).pvalues
        own = {function.__name__: function for function in (_bootstrap_resample, _paired_ar_test, _paired_bs_test)}
        begin(self, own, *arguments, **named)

    # As help shows it: that of sacreBLEU, and one argument more.
    __init__.__signature__ = with_keyword(host.PairedTest.__init__, "pvalues")  # type: ignore[attr-defined]

    def __call__(self) -> tuple[dict[str, Any], dict[str, list[Any]]]:
        """The signature of each metric, and the columns of results: the names, then one column for each metric."""
        return tested(self, self._pvalues or current_settings().pvalues)


def _paired_ar_test(*arguments: Any, **named: Any) -> tuple[str, Results]:
    """Approximate randomization test of one system against the baseline, for each metric."""
    return _of_one_system("ar", AR, *arguments, **named)


def _paired_bs_test(*arguments: Any, **named: Any) -> tuple[str, Results]:
    """Paired bootstrap test of one system against the baseline, for each metric."""
    return _of_one_system("bs", BS, *arguments, **named)


def _of_one_system(test: str, seam: Seam, *arguments: Any, **named: Any) -> tuple[str, Results]:
    """A test with the arguments of sacreBLEU's function."""
    seam.count()
    given = signature(seam.original).bind(*arguments, **named)
    given.apply_defaults()
    baseline, name, hypotheses, *others = given.args
    return Task(test, seam, baseline, [(name, hypotheses)], *others).run(current_settings().pvalues).results[0]


def _bootstrap_resample(stats: Sequence[Sequence[float]], metric: Any, n_samples: int = 1000) -> tuple[str, list[Any]]:
    """The seed as text, and the metric's score object for each bootstrap draw, equal to those of sacreBLEU."""
    RESAMPLE.count()
    return _resampled(stats, metric, n_samples, lambda sample, rng: list(replay.drawn_objects(sample, rng, n_samples)))


class _Score(NamedTuple):
    """The only attribute of a score object that ``PairedTest.__init__`` reads."""

    score: float


def _resampled(
    stats: Sequence[Sequence[float]],
    metric: Any,
    n_samples: int,
    scores: Callable[[Sample, replay.Rng], list[Any]],
) -> tuple[str, list[Any]]:
    try:
        check_number(n_samples)
        sample = Sample.from_values(metric, [as_values(stats)])
    except NotNative as reason:
        return cast("tuple[str, list[Any]]", RESAMPLE.leave(reason, stats, metric, n_samples))
    seed = os.environ.get("SACREBLEU_SEED", "12345")
    rng = np.random.default_rng(None if seed.lower() == "none" else int(seed))
    return seed.lower(), scores(sample, rng)


def begin(test: Any, functions: Mapping[str, Any], *arguments: Any, **named: Any) -> None:
    """``PairedTest.__init__``: sacreBLEU's code, with these functions of its module replaced."""
    test._draws = draws = replay.Draws()

    def resample_scores(stats: Sequence[Sequence[float]], metric: Any, n_samples: int) -> tuple[str, list[Any]]:
        """As ``_bootstrap_resample``, but the objects have only a score: other attributes take most of the time."""

        def scores(sample: Sample, rng: replay.Rng) -> list[_Score]:
            (((drawn,),)) = replay.drawn_scores([sample], rng, n_samples, draws)
            return list(map(_Score, drawn))

        return _resampled(stats, metric, n_samples, scores)

    used = {**vars(host), **functions}
    if used["_bootstrap_resample"] in (_HOST_RESAMPLE, _bootstrap_resample):
        used["_bootstrap_resample"] = resample_scores
    FunctionType(BEGIN.original.__code__, used, None, BEGIN.original.__defaults__)(test, *arguments, **named)


_HOST_RESAMPLE = host._bootstrap_resample


def tested(test: Any, pvalues: str) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """``PairedTest.__call__``, with all systems in one pass. ``pvalues`` is the mode."""
    # sacreBLEU does not seed its random numbers if the seed is 0.
    seed = test._seed if pvalues == "sound" else test._seed or None
    arguments = (test._baseline_info, test.named_systems[1:], test.references, test.metrics)
    seam, own = (AR, _paired_ar_test) if test.test_type == "ar" else (BS, _paired_bs_test)
    # A second call makes its draws again, so that they do not stay in memory.
    draws = vars(test).pop("_draws", replay.Draws())
    task = Task(test.test_type, seam, *arguments, test.n_samples, test.n_ar_confidence, seed, draws)
    readings = task.readings(pvalues)
    reasons = [str(reading) for reading in readings.values() if isinstance(reading, NotNative)]
    if test._fn not in (getattr(host, own.__name__), own):
        reasons = ["the function of the test was replaced"]
    elif len(reasons) < len(readings):
        reasons = []
    elif not readings:
        reasons = ["there are no metrics"]
    if reasons:
        # Call sacreBLEU's method rather than its test of each system, because it can use several processes.
        return cast("tuple[dict[str, Any], dict[str, list[Any]]]", CALL.leave(reasons[0], test))
    outcome = task.run(pvalues, readings)
    signatures = dict(test._signatures) if outcome.sound else test._signatures
    scores: dict[str, list[Any]] = {"System": [system[0] for system in test.named_systems]}
    for name, (_, result) in test._baseline_info.items():
        if name in outcome.sound:
            mean, ci = outcome.sound[name]
            result = Result(result.score, None, mean, ci)
            signatures[name] = _marked(signatures[name])
        scores[name] = [result, *(results[name] for _, results in outcome.results)]
    return signatures, scores


def _marked(signature: Any) -> Any:
    """A copy of the signature, with a key that says that p-values are reshuffle's."""
    marked = copy(signature)
    marked.info, marked._abbr = dict(signature.info), {**signature._abbr, "pvalues": "p"}
    marked.update("pvalues", f"reshuffle-{__version__}")
    return marked


def _begin_test(self: Any, *arguments: Any, **named: Any) -> None:
    BEGIN.count()
    begin(self, {}, *arguments, **named)


def _paired_test(self: Any) -> Any:
    CALL.count()
    return tested(self, current_settings().pvalues)


def print_table(results: dict[str, list[Any]], signatures: Any, args: Any) -> None:
    """Print the same as ``print_results_table``, whose JSON fails with NumPy 2 because means are ``numpy.float32``."""
    PRINT.count()
    if args.format == "json":
        results = {name: list(map(_with_python_floats, column)) for name, column in results.items()}
    PRINT.original(results, signatures, args)


def _with_python_floats(result: Any) -> Any:
    if not isinstance(result, Result):
        return result
    changed = copy(result)
    vars(changed).update({k: float(v) for k, v in vars(result).items() if isinstance(v, np.floating)})
    return changed


AR = Seam.function(host._paired_ar_test, _paired_ar_test)
BS = Seam.function(host._paired_bs_test, _paired_bs_test)
RESAMPLE = Seam.function(host._bootstrap_resample, _bootstrap_resample)
BEGIN = Seam.method(host.PairedTest, "__init__", cast(Any, _begin_test))
CALL = Seam.method(host.PairedTest, "__call__", cast(Any, _paired_test))
PRINT = Seam.function(print_results_table, print_table)

SEAMS = [EXTRACT, CACHE, SENTENCE_BLEU, SUM, AR, BS, RESAMPLE, BEGIN, CALL, PRINT]
