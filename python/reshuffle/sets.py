"""``compare_sets``: a comparison on several test sets, and of the averages over them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

from . import _core, signature
from .comparing import Design, Inferred, Resampled, average_of, comparisons_of, data_and_units
from .errors import Argument, InputError, listed, quoted, warn
from .metrics.given import PrecomputedCounts
from .metrics.named import Metrics
from .options.comparisons import CompareSets
from .options.declare import called_with
from .options.inputs import AnySet, TestSet
from .progress import reported
from .resampling.counting import Data
from .results import ComparedTexts, Comparison, SetComparison
from .results.sets import AVERAGE, MAX_DROPPED
from .seeds import derive_seed, format_seed
from .settings import ComparisonSettings, Resampling, Units

S = TypeVar("S")
T = TypeVar("T")

# What to do about systems that not every test set has.
TREATMENTS_OF_MISSING_SYSTEMS = ("error", "drop")


@called_with(CompareSets)
def compare_sets(options: CompareSets) -> SetComparison:
    """Compare the same systems on several test sets or languages, and compare their average scores.

    Test sets are independent samples: each is resampled with a seed of its own. The average of a system is the mean of
    its scores on the test sets, each with the same weight. Replicates of averages are means of the replicates of the
    test sets, so tests and intervals of averages are computed as on one test set. Other options are as for
    :func:`reshuffle.compare`.

    Returns
    -------
    SetComparison

    Raises
    ------
    InputError
        As :func:`reshuffle.compare`, with the name of the test set; if a test set lacks a system; if test sets have
        different metrics; if the test or the interval does not support averages.

    Notes
    -----
    Test set i has the seed ``derive_seed(seed, "test-set", i)``, counted from 0. If a family has tests on G test sets,
    adjustments of p-values use the whole family. Adjustments from replicates are made on each test set, and each
    adjusted p becomes 1 − (1 − p)^G. The averages are a family of their own.

    Cost: that of a comparison on each test set. For bootstrap tests the average adds little, because it uses their
    draws; for tests with shuffles, which are made again, it costs at most as much as all test sets. Memory: as for all
    test sets at once.

    Examples
    --------
    >>> from reshuffle.data.demo import demo_corpus
    >>> corpus = demo_corpus()
    >>> halves = {
    ...     name: TestSet(corpus.references[0][part], {s: lines[part] for s, lines in corpus.systems.items()})
    ...     for name, part in {"news": slice(0, 200), "talks": slice(200, 400)}.items()
    ... }
    >>> result = compare_sets(halves, n_resamples=999)
    >>> [round(result[name].score("tuned").score, 2) for name in ("news", "talks")]
    [73.54, 72.94]
    >>> round(result.average.score("tuned").score, 2), result.average.pair("larger").is_significant(0.05)
    (73.24, True)
    """
    testing = ComparisonSettings.from_options(options)
    if not isinstance(options.sets, Mapping):
        raise InputError(f"sets: expected a mapping of names to test sets, got {quoted(options.sets)}")
    found: dict[str, SetData] = {}
    for key, each in options.sets.items():
        name = str(key)
        if not name:
            raise InputError("sets: expected a name for each test set, got an empty one")
        if name in found:
            raise InputError(f"sets: 2 test sets are called {quoted(name)}: each needs a different name")
        found[name] = SetData.from_set(name, each, options.metrics)
    with reported(options.progress) as watched:
        resampling = Resampling.from_options(options, watched)
        return compared_sets(found, testing, resampling, options.average, options.missing_systems)


@contextlib.contextmanager
def on_test_set(name: str) -> Iterator[None]:
    """Name the test set in errors, unless it has no name."""
    try:
        yield
    except InputError as error:
        if not name:
            raise
        raise error.with_prefix(f"test set {quoted(name)}: ") from error


def on_each(sets: Mapping[str, S], make: Callable[[str, S], T]) -> dict[str, T]:
    """The results of a function of the name and the test set; errors name the test set."""
    found = {}
    for name, each in sets.items():
        with on_test_set(name):
            found[name] = make(name, each)
    return found


class SetData(NamedTuple):
    """The checked data of a test set."""

    data: Data
    units: Units

    @classmethod
    def of(cls, test_set: TestSet, metrics: Metrics = ()) -> SetData:
        """Check a test set. ``metrics`` are those of a set that has none of its own."""
        return cls(*data_and_units(test_set, metrics if test_set.metrics is None else test_set.metrics))

    @classmethod
    def from_set(cls, name: str, test_set: AnySet, metrics: Metrics) -> SetData:
        """Check one of the arguments of :func:`compare_sets`. ``metrics`` are those of the call."""
        if isinstance(test_set, tuple) and len(test_set) == 2:
            test_set = TestSet(*test_set)
        if not isinstance(test_set, TestSet):
            raise InputError(
                f"test set {quoted(name)}: expected a TestSet or a tuple (references, systems), got {quoted(test_set)}"
            )
        with on_test_set(name):
            return cls.of(test_set, metrics)


def compared_sets(
    sets: Mapping[str, SetData],
    testing: ComparisonSettings,
    resampling: Resampling,
    average: bool,
    missing_systems: str,
) -> SetComparison:
    """Compare the systems on each test set, and their averages: see :func:`compare_sets`."""
    if not sets:
        raise InputError("no test sets: expected at least one")
    if average and AVERAGE in sets:
        raise InputError(f"a test set is called {AVERAGE!r}, as the average of all: rename it")
    average = average and len(sets) > 1
    _check_metrics(sets)
    _warn_of_copies(sets)
    names, dropped = _common_systems(sets, missing_systems)
    data = [each.data for each in sets.values()]
    design = Design.from_settings(names, data, testing, resampling)
    design_of_average = design.for_average(len(data[0].labels)) if average else None
    design.announce(data, list(sets), average)
    resampled: dict[str, Resampled] = {}
    for index, (name, each) in enumerate(sets.items()):
        with on_test_set(name):
            resampled[name] = design.count(each.data, each.units, derive_seed(resampling.seed, "test-set", index))
    comparisons = dict(zip(sets, comparisons_of(design, list(resampled.values())), strict=True))
    of_average = None if design_of_average is None else average_of(design_of_average, resampled)
    return SetComparison(
        sets=comparisons,
        average=of_average,
        dropped=dropped,
        signature=_signature(design, resampled, comparisons, average),
        version=_core.VERSION,
    )


def common_texts(sets: Mapping[str, SetData]) -> list[ComparedTexts]:
    """The texts of the systems that all test sets have in common, without scores.

    Raises :class:`InputError` if a test set has no texts.
    """
    found = []
    for name, each in sets.items():
        with on_test_set(name):
            common = [system for system in each.data.names if all(system in s.data.names for s in sets.values())]
            found.append(each.data.texts(common, each.units))
    return found


def _check_metrics(sets: Mapping[str, SetData]) -> None:
    """:class:`InputError` unless all test sets have metrics of the same names."""
    (first, expected), *others = ((name, each.data.labels) for name, each in sets.items())
    for name, labels in others:
        if labels != expected:
            raise InputError(
                f"test set {quoted(name)} has the metrics {listed(labels)}, but {quoted(first)} has "
                f"{listed(expected)}: all test sets need metrics of the same names, in the same order"
            )
    for metrics in zip(*(each.data.metrics for each in sets.values()), strict=True):
        if len({m.higher_is_better for m in metrics}) > 1:
            raise InputError(f"{metrics[0].name}: higher is better on some test sets, lower on others")


def _warn_of_copies(sets: Mapping[str, SetData]) -> None:
    """Warn of test sets with the same outputs or scores, which averages would take as independent samples."""
    distinct: dict[str, Any] = {}
    for name, each in sets.items():
        data = each.data
        texts = None if data.corpus is None else data.corpus.systems
        given = {
            (metric.name, system): counts.tobytes()
            for metric in data.metrics
            if isinstance(metric, PrecomputedCounts)
            for system, counts in metric.counts.items()
        }
        same = next((other for other, found in distinct.items() if found == (texts, given)), None)
        if same is None:
            distinct[name] = texts, given
        else:
            what = "scores" if texts is None else "outputs"
            warn(f"test sets {quoted(same)} and {quoted(name)} have the same {what}: was a test set given twice?")


def _common_systems(sets: Mapping[str, SetData], missing_systems: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The systems of all test sets, in the order of the first, and those that are left out."""
    names = list(dict.fromkeys(system for each in sets.values() for system in each.data.names))
    lacking = {
        name: missing
        for name, each in sets.items()
        if (missing := [system for system in names if system not in each.data.names])
    }
    dropped = [system for system in names if any(system in missing for missing in lacking.values())]
    common = tuple(system for system in names if system not in dropped)
    if lacking and missing_systems == "error":
        found = "; ".join(f"{quoted(name)} lacks {listed(missing, MAX_DROPPED)}" for name, missing in lacking.items())
        raise InputError(
            "test sets have different systems ({common} in all of them): {found}; give systems the same names, as a "
            "manifest can, leave out those not in all with {drop}, or compare each test set alone",
            common=len(common) or "none",
            found=found,
            drop=Argument("missing_systems", ("drop",)),
        )
    if lacking and len(common) < 2:
        raise InputError(
            f"the test sets have {f'only {common[0]}' if common else 'no system'} in common: a comparison needs at "
            "least two systems that all test sets have"
        )
    if dropped:
        warn(f"left out, because not every test set has them: {listed(dropped, MAX_DROPPED)}")
    return common, tuple(dropped)


def _signature(design: Design, sets: Mapping[str, Resampled], found: Mapping[str, Comparison], average: bool) -> str:
    """One line: the metrics and units of the test sets, then the run, which all of them share."""

    def described(name: str) -> str:
        comparison = found[name]
        units = signature.for_units(comparison.unit, comparison.n_units, comparison.n_strata)
        return signature.joined([*(m.signature for m in comparison.metrics), *units])

    parts = []
    for description, names in groupby(sets, described):
        parts += [signature.for_sets(list(names)), description]
    tests = [pair for comparison in found.values() for pair in comparison.comparisons]
    replicates = next(iter(sets.values())).replicates
    run = Inferred(replicates, design.testing, design.interval, design.plan, comparisons=tests).run
    if run["seed"] is not None:
        run["seed"] = format_seed(design.resampling.seed)
    run |= {"average": len(sets) if average else None, "unit": None, "strata": None}
    return signature.joined([*parts, signature.for_run(run)])
