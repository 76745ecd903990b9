"""``tune``: an optimizer on k-best lists, as often as there are seeds, and what its weights choose."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ..data.corpus import reference_columns
from ..documented import record
from ..errors import InputError, quoted
from ..leftovers import leftover
from ..options.declare import called_with
from ..options.tuning import Tune
from ..progress import reported
from ..results.studies import StartingScores, TuningResult
from ..seeds import derive_seed
from ..validate import MAX_SEED, check_integer
from .choosing import Chosen, LinearModel, Model, check_features
from .course import Course, decoded
from .lists import NBest, additive
from .options import find_optimizer
from .outcome import tuning_result
from .problem import Problem, sentence_metric_for
from .weights import Weights, weights_by_name

References: TypeAlias = "Sequence[str] | Sequence[Sequence[str | None]]"


@record(eq=False)
class Tuned:
    """What an optimizer found: :func:`tune` makes it.

    ``print(tuned)`` shows the report.
    """

    result: TuningResult
    """Weights and scores of all runs, and s_dev and s_test: what reports and JSON show."""
    models: tuple[Model, ...] = field(repr=False)
    """What chooses the entries of each run: ``model.weights`` and ``model.choose(lists)``."""
    dev: Chosen = field(repr=False)
    """The entries that the runs choose of the development lists; ``tuned.dev.outputs()`` are their texts."""
    test: Chosen | None = field(repr=False)
    """The same for the test lists."""

    def __str__(self) -> str:
        return str(self.result)


@called_with(Tune)
def tune(options: Tune) -> Tuned:
    """Tune weights of features on k-best lists, with several seeds: each replication is a system.

    Returns
    -------
    Tuned

    Raises
    ------
    InputError
        If ids of lists and references do not match, a metric cannot count entries, features of lists or weights differ,
        all entries are equal, or an option is out of range.

    Notes
    -----
    With a decoder, small differences between weights also lead to other lists. ``s_dev`` on fixed lists is therefore a
    lower bound for that of an experiment with a decoder (Clark et al. 2011, P11-2031, tuned with one).

    Examples
    --------
    >>> from pathlib import Path
    >>> from reshuffle import tune
    >>> _ = Path("e.nbest").write_text("0 ||| a b ||| x= 1 y= 0\\n0 ||| a b c ||| x= 0 y= 1\\n")
    >>> lists = tune.read_nbest("e.nbest")
    >>> tuned = tune.tune("mert", lists, ["a b c"], metric="ter", initial=[1, 0.5], replications=2)
    >>> tuned.dev.outputs(), tuned.result.s_dev
    ([['a b c'], ['a b c']], 0.0)
    >>> Path("e.nbest").unlink()
    """
    method, own = find_optimizer(options.optimizer)
    seeds = _seeds(options)
    if options.rounds > 1 and options.decoder is None:
        raise InputError("rounds: more than one needs a decoder, which writes lists for the weights of each round")
    metric = additive(options.metric)
    asked = options.sentence_metric is not None
    if asked and method.optimizes == "corpus":
        raise InputError(f"{method.name} optimizes the corpus score: leave sentence_metric out")
    with (
        reported(options.progress) as watched,
        tempfile.TemporaryDirectory(prefix="reshuffle-") as folder,
        leftover(lambda: shutil.rmtree(folder, ignore_errors=True)),
    ):
        columns = reference_columns(options.references)
        begin = _initial(options.initial, options.lists)
        lists = options.lists
        if lists is None:
            if options.decoder is None or begin is None:
                raise InputError("no lists: expected lists to tune on, or a decoder and initial weights")
            lists = decoded(options.decoder, begin, Path(folder) / "0")
        problem = Problem(
            lists, columns, metric, sentence_metric_for(metric, options.sentence_metric), asked, begin,
            sources=options.sources, threads=options.threads or 0, progress=watched,
        )  # fmt: skip
        if isinstance(options.initial, Weights):  # a file of weights may say between which restarts are drawn
            problem = replace(problem, low=options.initial.low, high=options.initial.high)
        lists.check_references(len(columns[0]) if columns else 0)
        problem.check(made=bool(getattr(own, "templates", ())))
        held_out = {name: _held_out(name, getattr(options, name), problem) for name in ("dev", "test")}
        course = Course(method, own, options.decoder, Path(folder), options.executor)
        found = course.runs(problem, seeds, options.rounds)
    models = tuple(run.model for run in found)
    sources = options.sources if options.dev is None else options.dev_sources
    every_source = {"dev": sources, "test": options.test_sources}
    chosen = {
        name: None if part is None else _chosen(models, [part] * len(models), every_source[name])
        for name, part in held_out.items()
    }
    on_dev = chosen["dev"] or _chosen(models, [run.problem for run in found], options.sources)
    start = _start(problem, held_out, every_source)
    seed = options.seed if options.seeds is None else None
    return Tuned(
        tuning_result(course, problem, found, on_dev, chosen["test"], start, seed), models, on_dev, chosen["test"]
    )


def _seeds(options: Tune) -> list[int]:
    """The seed of each run."""
    n, seeds = options.replications, options.seeds
    if seeds is None:
        return [derive_seed(options.seed, "run", i) for i in range(n)]
    if n not in (1, len(seeds)):
        raise InputError(f"seeds: expected {n}, one for each replication, got {len(seeds)}")
    return [check_integer("seeds", each, 0, MAX_SEED) for each in seeds]


def _initial(initial: Any, lists: NBest | None) -> Mapping[str, float] | None:
    """The weights with which the search begins, by name."""
    if initial is None or isinstance(initial, Mapping):
        if initial is not None and lists is not None:
            weights_by_name(initial, lists.names, file="initial")
        return initial
    if lists is None:
        raise InputError("initial: without lists, expected weights by name")
    names, sparse = lists.names, lists.sparse_names
    values = [*initial.dense, *initial.sparse] if isinstance(initial, Weights) else list(np.ravel(initial))
    if len(values) not in (len(names), len(names) + len(sparse)):
        raise InputError(f"initial: expected {len(names)} numbers, one for each dense feature, got {len(values)}")
    found = {name: float(value) for name, value in zip([*names, *sparse], values, strict=False)}
    weights_by_name(found, names, file="initial")
    return {name: value for i, (name, value) in enumerate(found.items()) if value or i < len(names)}


def _held_out(name: str, given: tuple[NBest, References] | None, problem: Problem) -> Problem | None:
    """Checked lists that are not tuned on; None if there are none."""
    if given is None:
        return None
    if not isinstance(given, tuple) or len(given) != 2 or not isinstance(given[0], NBest):
        raise InputError(f"{name}: expected lists and references, got {quoted(given)}")
    own, references = given
    check_features(own, problem.lists.names, problem.lists.source)
    columns = reference_columns(references)
    own.check_references(len(columns[0]) if columns else 0)
    return replace(problem, lists=own, references=columns)


def _chosen(models: Sequence[Model], problems: Sequence[Problem], sources: Sequence[str] | None) -> Chosen:
    """What models choose, each of its own lists."""
    rows = [model.choose(own.lists, sources) for model, own in zip(models, problems, strict=True)]
    counts = np.stack([own.counts[chosen] for own, chosen in zip(problems, rows, strict=True)])
    return Chosen(tuple(own.lists for own in problems), np.stack(rows), counts, problems[0].metric)


def _start(
    problem: Problem, held_out: Mapping[str, Problem | None], sources: Mapping[str, Sequence[str] | None]
) -> StartingScores | None:
    """The scores under the initial weights, if there are any."""
    if problem.initial is None:
        return None
    model, dev, test = LinearModel(problem.initial), held_out["dev"], held_out["test"]
    on_dev = _chosen([model], [problem if dev is None else dev], sources["dev"])
    on_test = None if test is None else float(_chosen([model], [test], sources["test"]).scores[0])
    return StartingScores(dict(problem.initial), float(on_dev.scores[0]), on_test)
