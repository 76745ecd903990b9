"""``compare_runs``: systems with several optimizer runs each.

:func:`compare_runs` checks its arguments and counts the outputs; :func:`compared_runs`, which the command line calls,
does the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import _core, signature
from .data.columns import check_rows, named_columns
from .data.corpus import Lines, References
from .errors import Argument, InputError, counted, listed, quoted, unknown_name, warn
from .inference.enough import automatic, for_pvalue
from .inference.exchange import EXCHANGES
from .inference.hypotheses import pairs_of
from .inference.plan import check_direction
from .inference.run_tests import RunOutcome, chosen_exchanges, run_caveats, run_outcome
from .inference.run_variation import observed_differences, run_scores
from .metrics.named import Metrics
from .metrics.native import NativeMetric
from .metrics.precomputed import output_name, runs_in
from .options.comparisons import CompareRuns
from .options.declare import called_with, taken
from .progress import reported
from .resampling.counting import Data
from .resampling.runs import RunData
from .resampling.samples import SEGMENTS, Pairs
from .results.studies import RunComparison, RunDifference, SystemRuns
from .results.studies.runs import RunPlan, runs_needed
from .settings import Resampling, RunSettings, Units, in_order
from .validate import LARGEST_SCORE, expected_score


@dataclass(frozen=True)
class Runs:
    """The outputs of some systems on a test set."""

    data: Data
    """Its systems are the outputs, each called :func:`output_name`, system by system."""
    outputs: Mapping[str, Sequence[str]]
    """The names of each system's outputs in reports, such as their files."""
    units: Units = SEGMENTS

    @classmethod
    def from_arguments(
        cls,
        references: References,
        systems: Mapping[str, Sequence[Lines] | int] | None,
        metrics: Metrics,
        units: Units = SEGMENTS,
        outputs: Mapping[str, Sequence[str]] | None = None,
    ) -> Runs:
        """From the arguments of :func:`compare_runs`; :class:`InputError` if they cannot be used together."""
        data = Data.from_arguments(None, None, metrics, documents=units.documents) if references is None else None
        if systems is None and references is not None:
            raise InputError(
                "references without systems: pass systems={'NAME': [outputs of each run]}, or without texts "
                "metrics=SegmentScores('NAME', {'SYSTEM': [scores of each run]})"
            )
        if systems is None and data is not None:
            systems = runs_in(data.metrics[0].name, data.names)
        if not isinstance(systems, Mapping) or not systems:
            raise InputError(f"systems: expected a mapping from names to the outputs of runs, got {quoted(systems)}")
        named = {name: named_columns(f"system {name!r}", runs) for name, runs in systems.items()}
        systems = {name: runs if (own := named[name]) is None else list(own.values()) for name, runs in systems.items()}
        for name, runs in systems.items():
            _check_runs(name, runs, references is None)
        numbers = {name: runs if isinstance(runs, int) else len(runs) for name, runs in systems.items()}
        if data is not None:  # before names are made, because a number of runs may be a mistake
            known = set(data.names)
            outputs_of = (output_name(name, run) for name, n in numbers.items() for run in range(n))
            missing = next((name for name in outputs_of if name not in known), None)
            if missing is not None:
                raise InputError(
                    f"{data.metrics[0].name} has no scores of {missing!r}: the scores of run 0 of the system 'x' are "
                    "those of 'x#0'"
                )
        names = {name: [output_name(name, run) for run in range(n)] for name, n in numbers.items()}
        flat = [name for own in names.values() for name in own]
        if data is not None:
            data = replace(data, names=tuple(flat))
        else:
            lines = [line for runs in systems.values() if not isinstance(runs, int) for line in runs]
            texts = dict(zip(flat, lines, strict=True))
            data = Data.from_arguments(
                references,
                texts,
                metrics,
                documents=units.documents,
                source=units.source,
                warn_of_duplicates=False,
            )
        columns = {"systems": systems, **{m.name: m for m in data.metrics}}
        check_rows("", {**columns, "documents": units.documents, "strata": units.strata})
        of_scores: Mapping[str, str] = getattr(data.metrics[0], "run_names", {})
        shown: dict[str, Sequence[str]] = {
            name: list(named[name] or [of_scores.get(output, output) for output in own]) for name, own in names.items()
        }
        shown |= outputs or {}
        return cls(data, shown, units)

    @property
    def n_runs(self) -> dict[str, int]:
        """The number of runs of each system."""
        return {name: len(own) for name, own in self.outputs.items()}

    def ordered(self, names: Sequence[str]) -> Runs:
        """The same with the systems in this order."""
        flat = tuple(output_name(name, run) for name in names for run in range(len(self.outputs[name])))
        return replace(self, data=replace(self.data, names=flat), outputs={name: self.outputs[name] for name in names})


def _check_runs(name: str, runs: object, without_texts: bool) -> None:
    """:class:`InputError` unless ``runs`` are outputs of runs, or without texts their number."""
    if without_texts and isinstance(runs, int) and not isinstance(runs, bool):
        if runs < 1:
            raise InputError(f"system {name!r}: expected at least one run, got {runs}")
        return
    if isinstance(runs, str) or not isinstance(runs, Sequence):
        expected = "the number of its runs" if without_texts else "a sequence with the output of each run"
        raise InputError(f"system {name!r}: expected {expected}, got {quoted(runs)}")
    if not len(runs):
        raise InputError(f"system {name!r} has no runs: expected the output of at least one")
    if isinstance(runs[0], str):
        raise InputError(
            f"system {name!r}: expected a sequence with the output of each run, got the lines of one output: put it "
            "into a list"
        )


@dataclass(frozen=True)
class Development:
    """What is known of the runs on the development set: their outputs, or scores by system and metric, or neither."""

    runs: Runs | None = None
    scores: Mapping[str, Mapping[str, Sequence[float]]] | None = None


@called_with(CompareRuns)
def compare_runs(options: CompareRuns) -> RunComparison:
    """Compare systems with several runs each: training, tuning or sampling again, with other random numbers.

    Scores of runs differ, so a difference between two outputs may come from the runs and not from the systems (Clark et
    al. 2011, P11-2031). The result has the scores of all runs and their spread, and tests of each difference by several
    exchange units, whose null hypotheses it states in words.

    Returns
    -------
    RunComparison

    Raises
    ------
    InputError
        If outputs differ in length, a system has no runs, a name is unknown, or the data do not suit the exchange
        units: ``welch``, ``hierarchical`` and ``hierarchical-t`` need two runs of each system, ``run`` two of one of
        them, and ``cell`` and ``multeval`` equal numbers.

    Warns
    -----
    InputWarning
        For fewer than three runs, and for runs with the same output, which are not independent evidence.

    Notes
    -----
    Memory: 8·n·S·K bytes for the counts of n outputs, and 8·R bytes for each pair, metric and exchange unit.

    Examples
    --------
    >>> import numpy as np
    >>> from reshuffle import SegmentScores, compare_runs
    >>> rng = np.random.default_rng(1)
    >>> means = {"a": 0.0, "b": 0.3}
    >>> ratings = {name: [rng.normal(mean, 1, 300) for run in range(4)] for name, mean in means.items()}
    >>> result = compare_runs(metrics=SegmentScores("rating", ratings), n_resamples=999)
    >>> [(each.exchange, round(each.smallest_pvalue, 4)) for each in result.comparisons]
    [('hierarchical', 0.001), ('welch', 0.0), ('run', 0.0286), ('segment', 0.001), ('pooled', 0.001)]
    """
    runs = Runs.from_arguments(
        options.references, options.systems, options.metrics, Units(options.documents, options.strata)
    )
    dev = None
    if options.dev_references is not None or options.dev_systems is not None:
        if options.dev_references is None or options.dev_systems is None:
            raise InputError("dev_references and dev_systems belong together: pass both, or neither")
        reading = [m for m in runs.data.metrics if isinstance(m, NativeMetric)]
        dev = Runs.from_arguments(options.dev_references, options.dev_systems, reading) if reading else None
    with reported(options.progress) as watched:
        resampling = Resampling.from_options(options, watched)
        return compared_runs(runs, Development(dev, options.dev_scores), RunSettings.from_options(options), resampling)


def compared_runs(runs: Runs, dev: Development, settings: RunSettings, resampling: Resampling) -> RunComparison:
    """Compare systems whose outputs are known: see :func:`compare_runs`."""
    names, baseline = in_order(list(runs.outputs), settings)
    check_direction(settings.alternative, runs.data.metrics)
    number, _ = automatic(for_pvalue(settings.alpha))
    resampling = resampling.with_number(number)
    runs = runs.ordered(names)
    pairs = pairs_of(len(names), None if baseline is None else 0)
    units, reason, left_out = chosen_exchanges(runs.n_runs, pairs, settings)
    median_metric = runs.data.labels[0]
    if settings.median_metric is not None:
        median_metric = _label(runs, settings.median_metric, Argument("median_metric"))
    dev_scores = _dev_scores(runs, dev, resampling)
    if settings.median_on == "dev":
        _check_medians(names, median_metric, dev_scores)
    resampling.announce(runs.data.counting_steps(len(runs.data.names)))
    data = RunData.from_data(runs.data, runs.n_runs, runs.units, resampling)
    data.check_sums(data.totals)
    labels = runs.data.labels
    systems = [
        SystemRuns(
            name,
            tuple(runs.outputs[name]),
            {
                label: run_scores(data, m, at, dev_scores.get((name, label), ()), settings.median_on)
                for m, label in enumerate(labels)
            },
        )
        for at, name in enumerate(names)
    ]
    tests = {name: run_outcome(data, pairs, EXCHANGES[name], settings) for name in units}
    duplicates = _duplicates(runs, data)
    if duplicates:
        same = [f"run {run} of {name} and run {other} of {system}" for name, run, system, other in duplicates]
        warn(
            f"these runs have the same output: {listed(same)}; copies of a run are not independent evidence, and "
            "within a system they make p-values too small"
        )
    strata = data.samples[0].strata
    requested = settings.exchange[0] if len(settings.exchange) == 1 else settings.exchange
    planned = taken(
        RunPlan,
        settings,
        systems=runs.n_runs,
        baseline=baseline,
        exchange=tuple(units),
        exchange_requested=requested,
        segments=runs.data.n_segments,
        unit=data.unit,
        units=data.n_units,
        strata=None if strata is None else strata.n_strata,
        n_resamples=data.resampling.n_resamples,
        seed=data.resampling.seed,
        exchange_reason=reason,
        questions={name: EXCHANGES[name].worded(EXCHANGES[name].question, data.unit) for name in units},
        left_out=left_out,
        adjustments={name: adjustment for name, (adjustment, _) in tests.items()},
        duplicates=tuple(duplicates),
        median_metric=median_metric,
        median_runs={system.name: system.scores[median_metric].median_run for system in systems},
    )
    metrics = runs.data.used_metrics()
    signed = {
        key: planned[key]
        for key in ("systems", "exchange", "statistic", "alternative", "adjustments", "unit", "units", "n_resamples")
    }
    return RunComparison(
        study="runs",
        plan=planned,
        metrics=metrics,
        tables={
            "systems": tuple(systems),
            "comparisons": tuple(_differences(runs, data, pairs, settings, tests)),
            "observed": observed_differences(data, pairs, runs.data.labels) if pairs else (),
        },
        truths={name: EXCHANGES[name].worded(EXCHANGES[name].null, data.unit) for name in units},
        signature=signature.for_study("runs", signed, resampling.seed, [m.signature for m in metrics]),
        version=_core.VERSION,
    )


def _check_medians(names: Sequence[str], metric: str, dev_scores: Mapping[tuple[str, str], Sequence[float]]) -> None:
    """Raise :class:`InputError` unless the median run of each system on the development set is known."""
    lacking = [name for name in names if not dev_scores.get((name, metric))]
    if lacking:
        raise InputError(
            "the median run on the development set ({dev}) is chosen by {metric}, but there are no outputs or scores "
            "of it for {lacking}: add them, or choose another metric ({other})",
            dev=Argument("median_on", ("dev",)),
            metric=metric,
            lacking=listed(lacking),
            other=Argument("median_metric"),
        )


def _dev_scores(runs: Runs, dev: Development, resampling: Resampling) -> dict[tuple[str, str], tuple[float, ...]]:
    """The score of each run on the development set, by system and metric, as far as they are known."""
    found: dict[tuple[str, str], tuple[float, ...]] = {}
    if dev.runs is not None:
        for name, n in dev.runs.n_runs.items():
            check_same_runs(runs.n_runs, name, n, "output")
        silent = replace(resampling, progress=None)
        data = RunData.from_data(dev.runs.data, dev.runs.n_runs, Units(), silent)
        for label, sample in zip(dev.runs.data.labels, data.samples, strict=True):
            for name, rows in zip(data.names, data.rows, strict=True):
                found[name, label] = tuple(sample.scores[rows].tolist())
    if dev.scores is not None and not isinstance(dev.scores, Mapping):
        raise InputError(f"dev_scores: expected a mapping from systems to their scores, got {quoted(dev.scores)}")
    for name, of_system in (dev.scores or {}).items():
        where = f"{name} on the development set"
        if not isinstance(of_system, Mapping):
            expected = "a mapping from metrics to the scores of runs"
            raise InputError(f"scores of {where}: expected {expected}, got {quoted(of_system)}")
        for metric, values in of_system.items():
            label = _label(runs, metric, f"scores of {where}")
            if (name, label) in found:
                raise InputError(f"{label} of {where} is given twice: leave out one of them")
            found[name, label] = _numbers(f"{label} of {where}", values)
            check_same_runs(runs.n_runs, name, len(found[name, label]), "score", f" of {label}")
    return found


def _label(runs: Runs, metric: str, where: str | Argument) -> str:
    """The label of a metric that is named ``where``."""
    try:
        return runs.data.label_of(metric)
    except InputError as error:
        raise InputError("{where}: {problem}", where=where, problem=str(error)) from None


def _numbers(what: str, values: object) -> tuple[float, ...]:
    """Finite numbers, one for each run."""
    try:
        array = np.asarray(values)
        numbers = array.astype(np.float64) if array.dtype.kind in "iuf" else np.array([np.nan])
    except (TypeError, ValueError, OverflowError):
        numbers = np.array([np.nan])
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise InputError(f"{what}: expected a finite number for each run, got {quoted(values)}")
    if (np.abs(numbers) > LARGEST_SCORE).any():
        raise InputError(f"{what}: expected {expected_score(max(numbers, key=abs))} for each run, got {quoted(values)}")
    return tuple(numbers.tolist())


def check_same_runs(n_runs: Mapping[str, int], name: str, n: int, what: str, of: str = "") -> None:
    """:class:`InputError` unless a system has as many runs on the development set as on the test set.

    ``what`` they have there, in the singular, and ``of`` what.
    """
    if name not in n_runs:
        raise unknown_name("system", name, n_runs).with_prefix("development set: ")
    if n != n_runs[name]:
        both = f"{counted(n_runs[name], 'run')} on the test set, but {counted(n, what)}{of} on the development set"
        raise InputError(f"{name} has {both}: they must be of the same runs, in the same order")


def _differences(
    runs: Runs,
    data: RunData,
    pairs: Pairs,
    settings: RunSettings,
    tests: Mapping[str, tuple[str, RunOutcome]],
) -> Iterator[RunDifference]:
    """The tested differences: by metric, then pair, then exchange unit."""
    level = settings.confidence_level
    for m, label in enumerate(runs.data.labels):
        for p, (a, b) in enumerate(pairs):
            for name, (_, outcome) in tests.items():
                unit, h = EXCHANGES[name], m * len(pairs) + p
                yield RunDifference(
                    baseline=data.names[b],
                    system=data.names[a],
                    metric=label,
                    exchange=name,
                    statistic=settings.statistic,
                    difference=float(outcome.difference[h]),
                    pvalue=float(outcome.pvalue[h]),
                    adjusted_pvalue=None if outcome.adjusted is None else float(outcome.adjusted[h]),
                    smallest_pvalue=outcome.smallest[h],
                    runs_needed=runs_needed(settings.alpha, settings.alternative) if unit.whole_runs else None,
                    exceedances=int(outcome.exceedances[h]),
                    n_resamples=int(outcome.n_resamples[h]),
                    exact=bool(outcome.exact[h]),
                    degrees_of_freedom=outcome.degrees_of_freedom[h],
                    confidence_interval=unit.interval.of(data, m, (a, b), settings.statistic, level),
                    caveats=run_caveats(unit, data, m, (a, b)),
                )


def _duplicates(runs: Runs, data: RunData) -> list[tuple[str, int, str, int]]:
    """Runs whose outputs are the same as those of an earlier run: (system, run, earlier system, earlier run)."""
    places = [(name, run) for name, n in runs.n_runs.items() for run in range(n)]
    corpus = runs.data.corpus
    seen: dict[Any, tuple[str, int]] = {}
    found: list[tuple[str, int, str, int]] = []
    for row, place in enumerate(places):
        if corpus is None:
            key: Any = data.counts[row].tobytes()
        else:
            key = tuple(corpus.systems[output_name(*place)])
        if key in seen:
            found.append((*place, *seen[key]))
        else:
            seen[key] = place
    return found
