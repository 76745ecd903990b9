"""``tune``: an optimizer on k-best lists, as often as there are seeds, and what its weights choose."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..data.corpus import reference_columns
from ..errors import InputError, quoted
from ..execution import AnyExecutor, check_executor
from ..leftovers import leftover
from ..metrics.base import MetricLike
from ..progress import AnyProgress, reported
from ..results.studies import StartingScores, TuningResult
from ..seeds import derive_seed
from ..types import OptimizerName
from ..validate import DEFAULT_SEED, MAX_SEED, MAX_THREADS, check_integer, chosen_seed
from .choosing import Chosen, LinearModel, Model, check_features
from .course import Course, decoded
from .decoders import Decoder
from .lists import NBest, additive
from .options import find_optimizer
from .outcome import tuning_result
from .problem import Problem, sentence_metric_for
from .weights import Weights, weights_by_name

# Each run has weights, a course and an output in memory.
MAX_REPLICATIONS = 100_000

References: TypeAlias = "Sequence[str] | Sequence[Sequence[str | None]]"


@dataclass(frozen=True, eq=False)
class Tuned:
    """What an optimizer found: :func:`tune` makes it.

    ``print(tuned)`` shows the report.

    Attributes
    ----------
    result : TuningResult
        Weights and scores of all runs, and s_dev and s_test: what reports and JSON show.
    models : tuple of Model
        What chooses the entries of each run: ``model.weights`` and ``model.choose(lists)``.
    dev : Chosen
        The entries that the runs choose of the development lists; ``tuned.dev.outputs()`` are their texts.
    test : Chosen or None
        The same for the test lists.
    """

    result: TuningResult
    models: tuple[Model, ...] = field(repr=False)
    dev: Chosen = field(repr=False)
    test: Chosen | None = field(repr=False)

    def __str__(self) -> str:
        return str(self.result)


def tune(
    optimizer: OptimizerName | str,
    lists: NBest | None,
    references: References,
    *,
    metric: MetricLike = "bleu",
    sentence_metric: MetricLike | None = None,
    initial: Weights | Mapping[str, float] | ArrayLike | None = None,
    dev: tuple[NBest, References] | None = None,
    test: tuple[NBest, References] | None = None,
    sources: Sequence[str] | None = None,
    dev_sources: Sequence[str] | None = None,
    test_sources: Sequence[str] | None = None,
    replications: int = 1,
    seed: int | None = DEFAULT_SEED,
    seeds: Sequence[int] | None = None,
    rounds: int = 1,
    decoder: Decoder | None = None,
    threads: int | None = None,
    executor: AnyExecutor = None,
    progress: AnyProgress = None,
    **options: Any,
) -> Tuned:
    """Tune weights of features on k-best lists, with several seeds: each replication is a system.

    Parameters
    ----------
    optimizer : {'mert', 'kbmira', 'pro', 'xbleu', 'l1'}
        A name in :data:`reshuffle.tune.OPTIMIZERS`.
    lists : NBest or None
        The lists to tune on. None if a decoder writes those of the first round, with the initial weights.
    references : N references, or columns of N references each
    metric : str or metric
        The corpus metric: what ``mert`` optimises, and the metric of all scores of the result.
    sentence_metric : str or metric, optional
        The metric of single entries that ``pro``, ``xbleu`` and ``l1`` need. By default, sentence BLEU for BLEU and
        NIST, otherwise the metric itself. Scores are divided by 100, and error rates are negated. ``kbmira`` uses it if
        it is given, or the metric is not BLEU: an entry gains its score times the length of the reference.
    initial : Weights, mapping, or (F,) array, optional
        Initial weights, from which ``mert``, ``kbmira`` and ``xbleu`` search; the result has their scores. Limits in
        :class:`Weights` are those of random restarts.
    dev : NBest and references, optional
        Development lists for the scores of the result. By default those that are tuned on.
    test : NBest and references, optional
        Test lists.
    sources, dev_sources, test_sources : sequence of str, optional
        The source of each sentence, for templates of ``l1``.
    replications : int
        The number R of runs. Those of ``l1``, where nothing is random, are the variants of :func:`l1_variants`.
    seed : int
        The same seed gives the same result. From 0 to 2⁶⁴ − 1; None is 12345. Run i has the seed
        ``derive_seed(seed, "run", i)``.
    seeds : sequence of int, optional
        The seeds of the runs instead.
    rounds : int
        How often to tune. Before each round but the first, the decoder writes lists for the weights so far, which are
        joined with those before. A run whose decoder writes nothing new stops.
    decoder : callable, optional
        From weights by name, and a folder for its files, to lists: :func:`command_decoder`, :func:`simulated_decoder`,
        or a function. Its sentences have the ids of ``lists``.
    threads : int, optional
        One per processor core by default. Results do not depend on it.
    executor : concurrent.futures.Executor or object with ``get_executor()``, optional
        Such as a pool of processes or a Dask client. Its workers run the replications of the first round. Not for
        ``l1``, which reads texts. Results are the same.
    progress : bool or Progress, optional
    **options
        Those of the optimizer: see its entry in :data:`reshuffle.tune.OPTIMIZERS`.

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
    method = find_optimizer(optimizer)
    checked = method.checked(options)
    seed = chosen_seed(seed)
    own_seeds = _seeds(replications, seed, seeds)
    check_integer("rounds", rounds, 1)
    if threads is not None:
        check_integer("threads", threads, 1, MAX_THREADS)
    if rounds > 1 and decoder is None:
        raise InputError("rounds: more than one needs a decoder, which writes lists for the weights of each round")
    check_executor(executor)
    corpus_metric = additive(metric)
    if sentence_metric is not None and method.optimises == "corpus":
        raise InputError(f"{method.name} optimises the corpus score: leave sentence_metric out")
    with (
        reported(progress) as watched,
        tempfile.TemporaryDirectory(prefix="reshuffle-") as folder,
        leftover(lambda: shutil.rmtree(folder, ignore_errors=True)),
    ):
        columns = reference_columns(references)
        begin = _initial(initial, lists)
        if lists is None:
            if decoder is None or begin is None:
                raise InputError("no lists: expected lists to tune on, or a decoder and initial weights")
            lists = decoded(decoder, begin, Path(folder) / "0")
        problem = Problem(
            lists, columns, corpus_metric, sentence_metric_for(corpus_metric, sentence_metric),
            sentence_metric is not None, begin, *_limits(initial), sources=sources, threads=threads or 0,
            progress=watched,
        )  # fmt: skip
        lists.check_references(len(columns[0]) if columns else 0)
        problem.check(made=bool(checked.get("templates")))
        held_out = {name: _HeldOut.of(name, given, lists, problem) for name, given in (("dev", dev), ("test", test))}
        course = Course(method, checked, decoder, Path(folder), executor)
        found = course.runs(problem, own_seeds, rounds)
    models = tuple(run.model for run in found)
    every_source = {"dev": dev_sources if dev is not None else sources, "test": test_sources}
    chosen = {
        name: None if part is None else part.chosen(models, every_source[name]) for name, part in held_out.items()
    }
    on_dev = chosen["dev"] or _chosen(models, [run.problem for run in found], sources)
    start = _start(problem, held_out, every_source)
    result = tuning_result(course, problem, found, on_dev, chosen["test"], start, seed if seeds is None else None)
    return Tuned(result, models, on_dev, chosen["test"])


def _seeds(replications: int, seed: int, seeds: Sequence[int] | None) -> list[int]:
    """The seed of each run."""
    if seeds is None:
        check_integer("replications", replications, 1, MAX_REPLICATIONS)
        return [derive_seed(seed, "run", i) for i in range(replications)]
    found = [check_integer("seeds", each, 0, MAX_SEED) for each in seeds]
    if not found or replications not in (1, len(found)):
        raise InputError(f"seeds: expected {replications}, one for each replication, got {len(found)}")
    return found


def _limits(initial: object) -> tuple[Any, Any]:
    """Between which weights restarts are drawn, if a file of weights says so."""
    return (initial.low, initial.high) if isinstance(initial, Weights) else (None, None)


def _initial(initial: Any, lists: NBest | None) -> Mapping[str, float] | None:
    """The weights with which the search begins, by name."""
    if initial is None or isinstance(initial, Mapping):
        if initial is not None and lists is not None:
            weights_by_name(initial, lists.names, file="initial")
        return initial
    if lists is None:
        raise InputError("initial: without lists, expected weights by name")
    names = lists.names
    sparse = () if lists.sparse is None else lists.sparse.names
    values = [*initial.dense, *initial.sparse] if isinstance(initial, Weights) else list(np.ravel(initial))
    if len(values) not in (len(names), len(names) + len(sparse)):
        raise InputError(f"initial: expected {len(names)} numbers, one for each dense feature, got {len(values)}")
    found = {name: float(value) for name, value in zip([*names, *sparse], values, strict=False)}
    weights_by_name(found, names, file="initial")
    return {name: value for i, (name, value) in enumerate(found.items()) if value or i < len(names)}


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """Lists that are not tuned on, with counts of their entries."""

    problem: Problem

    @classmethod
    def of(cls, name: str, given: tuple[NBest, References] | None, lists: NBest, problem: Problem) -> _HeldOut | None:
        """Checked lists; None if there are none."""
        if given is None:
            return None
        if not isinstance(given, tuple) or len(given) != 2 or not isinstance(given[0], NBest):
            raise InputError(f"{name}: expected lists and references, got {quoted(given)}")
        own, references = given
        check_features(own, lists.names, lists.source)
        columns = reference_columns(references)
        own.check_references(len(columns[0]) if columns else 0)
        return cls(replace(problem, lists=own, references=columns))

    def chosen(self, models: Sequence[Model], sources: Sequence[str] | None) -> Chosen:
        return _chosen(models, [self.problem] * len(models), sources)


def _chosen(models: Sequence[Model], problems: Sequence[Problem], sources: Sequence[str] | None) -> Chosen:
    """What models choose, each of its own lists."""
    rows = [model.choose(own.lists, sources) for model, own in zip(models, problems, strict=True)]
    counts = np.stack([own.counts[chosen] for own, chosen in zip(problems, rows, strict=True)])
    return Chosen(tuple(own.lists for own in problems), np.stack(rows), counts, problems[0].metric)


def _start(
    problem: Problem, held_out: Mapping[str, _HeldOut | None], sources: Mapping[str, Sequence[str] | None]
) -> StartingScores | None:
    """The scores under the initial weights, if there are any."""
    if problem.initial is None:
        return None
    model, dev, test = LinearModel(problem.initial), held_out["dev"], held_out["test"]
    on_dev = _chosen([model], [problem if dev is None else dev.problem], sources["dev"])
    on_test = None if test is None else float(test.chosen([model], sources["test"]).scores[0])
    return StartingScores(dict(problem.initial), float(on_dev.scores[0]), on_test)
