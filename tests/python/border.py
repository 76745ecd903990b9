"""Calls of the core with arbitrary arguments, in a process with limited memory; run by :mod:`test_border`.

Whatever the arguments, a call must return or raise one of the expected exceptions. A panic is not one of them, and an
abort ends the process.
"""

from __future__ import annotations

import contextlib
import gc
import resource
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import calls
from layouts import REFUSED, layouts, simulations, texts
from reshuffle import InputError, _core

ROOM = 2**30
EXPECTED = (*REFUSED, TimeoutError)

Call = Callable[[], object]

BLEU, MEAN = _core.Metric("bleu", {}), _core.Metric.mean("x", 100.0, higher_is_better=True)
COUNTS = np.random.default_rng(0).integers(1, 30, size=(3, 70, 10))
WIDE = np.random.default_rng(1).integers(-(2**45), 2**45, size=(2, 70, 2))

numbers = st.sampled_from(
    [0, 1, 2, 63, 64, 65, 700, 2**31, 2**32, 2**33 + 1, 2**40, 2**53, 2**62, 2**63, 2**64 - 1, -1]
)
few = st.sampled_from([1, 2, 64, 65, 700])
seeds = st.sampled_from([0, 1, 2**64 - 1])
threads = st.sampled_from([0, 1, 2, 3, 4097, 2**40, 2**64 - 1])
systems = st.sampled_from([0, 1, 2, 3, 2**31, 2**63])
pairs = st.lists(st.tuples(st.sampled_from([0, 1]), st.sampled_from([0, 1])) | st.tuples(systems, systems), max_size=3)
reals = st.sampled_from([0.0, -0.0, 0.5, -1.0, 1e300, float("inf"), float("-inf"), float("nan")])
lengths = st.sampled_from([0, 1, 2, 69, 70, 71, 128])
families = st.lists(
    st.sampled_from(
        [(BLEU, COUNTS), (MEAN, WIDE), (BLEU, COUNTS[:2]), (MEAN, COUNTS), (BLEU, COUNTS[:, :9]), (BLEU, COUNTS[:, :0])]
    ),
    max_size=2,
)
stacks = st.lists(
    st.sampled_from([COUNTS, WIDE, COUNTS[:, :9].copy(), COUNTS[:0], np.zeros((1, 70, 0), np.int64)]), max_size=2
)
alternatives = st.sampled_from(["two-sided", "greater", "less", "more"])
replicates = st.fixed_dictionaries({"n": numbers | few, "seed": seeds, "threads": threads})
strata = st.none() | st.lists(st.sampled_from([0, 1, 35, 70, 2**32, 2**63, 2**64 - 1]), max_size=3)


@st.composite
def arrays(draw: st.DrawFn, dtype: type, *, shape: tuple[int, ...] | None = None) -> Any:
    """An array of some shape: zeros, ones or, for floats, also non-finite values."""
    shape = shape or (draw(lengths), draw(lengths))
    fill: Any = draw(reals) if dtype is float else draw(st.sampled_from([0, 1]))
    return np.full(shape, fill, dtype=dtype)


masks = st.none() | arrays(bool) | st.just(np.zeros((2**60, 0), dtype=bool)) | arrays(bool, shape=(65, 70))
indices = (
    st.none() | arrays(np.uint32) | arrays(np.uint32, shape=(65, 70)) | st.just(np.full((2, 70), 70, dtype=np.uint32))
)
codes = st.none() | arrays(np.uint64, shape=(70,)) | arrays(np.uint64, shape=(0,)) | arrays(np.uint64, shape=(71,))


def per_test(data: st.DataObject, metrics: Any, by: Any, dtype: type) -> Any:
    """An array of shape (metrics, pairs), or sometimes of another shape."""
    shape = (len(metrics), len(by)) if data.draw(st.integers(0, 9)) else (data.draw(lengths), data.draw(lengths))
    return data.draw(arrays(dtype, shape=shape)) if 0 not in shape else np.zeros(shape, dtype=dtype)


def run(data: st.DataObject, samples: Any, reductions: list[Any], kind: str) -> Call:
    """Run the reductions, run them again on the replicates that follow, and merge the two."""
    how: dict[str, Any] = data.draw(replicates)
    first, strata_ = data.draw(numbers), data.draw(st.none() | strata)
    replicate_options: dict[str, Any] = {
        "masks": data.draw(masks),
        "codes": data.draw(codes),
        "indices": data.draw(indices),
    }
    if data.draw(st.booleans()):
        replicate_options = {}

    def call() -> None:
        resampler = calls.resampler(samples, kind=kind, strata=strata_, threads=how["threads"])
        assert len(resampler.totals) == len(samples)
        assert resampler.scores is None or len(resampler.scores) == len(samples)
        results = resampler.run(reductions, first=first, **how, **replicate_options)
        later = resampler.run(reductions, first=results[0].replicates[1], **how, **replicate_options) if results else []
        for these, more in zip(results, later, strict=True):
            read_attributes(these)
            read_attributes(these.merge(more))

    return call


def read_attributes(reduction: Any) -> None:
    """Read every attribute of a reduction."""
    for name in dir(reduction):
        if not name.startswith("_") and name != "merge":
            with contextlib.suppress(InputError):  # a sequential tally that does not begin at replicate 0
                getattr(reduction, name)


def shuffles(data: st.DataObject) -> Call:
    """Calls that shuffle."""
    samples, by = data.draw(families), data.draw(pairs)
    side, limits = data.draw(alternatives), per_test(data, samples, by, float)
    ranks, scales = per_test(data, samples, by, np.uint64), per_test(data, samples, by, float)
    rule = _core.StoppingRule.besag_clifford(data.draw(st.sampled_from([1, 20, 2**64 - 1])))
    of_metrics = data.draw(st.lists(st.sampled_from([0, 1, 2**64 - 1]), min_size=len(samples), max_size=3))
    makers: list[Call] = [
        lambda: _core.Tally(by, side, limits),
        lambda: _core.SequentialTally(by, side, limits, rule),
        lambda: _core.SequentialTally(by, side, limits, rule, histograms=True),
        lambda: _core.Histograms(by, data.draw(st.sampled_from(["shuffles", "half of shuffles", "other"]))),
        lambda: _core.Series(by),
        lambda: _core.Spread(by),
        lambda: _core.MaxT(by, side, scales, limits, of_metrics),
        lambda: _core.MinP(by, side, limits, scales, ranks, of_metrics),
        _core.Sums,
        _core.Draws,
    ]
    wanted = data.draw(st.lists(st.sampled_from(makers), max_size=3))
    return lambda: run(data, samples, [make() for make in wanted], "shuffles")()


def states(data: st.DataObject) -> Call:
    """Calls that take the state of a reduction, from words of which some are wrong, or all."""
    by, one = [(0, 1), (1, 2)], np.ones((1, 2))
    makers: list[tuple[str, Callable[[], Any]]] = [
        ("shuffles", lambda: _core.Tally(by, "two-sided", one)),
        ("shuffles", lambda: _core.MaxT(by, "two-sided", one, one, [0])),
        ("shuffles", lambda: _core.Spread(by)),
        ("shuffles", lambda: _core.Series(by)),
        ("shuffles", lambda: _core.Series([])),
        ("shuffles", lambda: _core.Histograms(by, "half of shuffles")),
        ("draws", _core.Sums),
        ("draws", _core.Draws),
        ("draws", _core.Moments),
        ("permutations", lambda: _core.PermutedTally(by, one)),
        ("permutations", lambda: _core.Histograms(by, "permutations")),
    ]
    kind, make = data.draw(st.sampled_from(makers))
    (computed,) = calls.resampler([(BLEU, COUNTS)], kind=kind).run([make()], n=65, first=data.draw(few))
    floats = np.array([2.0, 3.0, -1.0, 1e300, 5e-324, np.nan, np.inf]).view(np.uint64).tolist()
    wrong = np.array([*floats, *range(9), 2**31, 2**53, 2**62, 2**63, 2**63 + 1, 2**64 - 1], np.uint64)
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))

    def damaged() -> Any:
        words = computed.state()
        if random.random() < 0.2:
            cut = random.integers(0, min(20, len(words)))
            return np.concatenate([words[:cut], random.choice(wrong, random.integers(0, 20))])
        places = random.integers(0, random.choice([12, len(words)]), random.integers(1, 3))
        words[places % len(words)] = random.choice(wrong, len(places))
        return words

    def use(words: Any) -> None:
        found = make().with_state(words)
        for each in (found, computed):
            with contextlib.suppress(InputError):
                read_attributes(found.merge(each))
        read_attributes(found)

    def call() -> None:
        for _ in range(50):
            with contextlib.suppress(InputError, MemoryError):
                use(damaged())

    return call


def draws(data: st.DataObject) -> Call:
    """Calls that draw or sum."""
    scored, counts = data.draw(families), data.draw(stacks)
    samples = scored if data.draw(st.booleans()) else [(None, stack) for stack in counts]
    makers: list[Call] = [_core.Draws, _core.Moments, _core.Sums, lambda: _core.Spread([(0, 1)])]
    wanted = data.draw(st.lists(st.sampled_from(makers), max_size=3))
    kind = data.draw(st.sampled_from(["draws", "draws", "draws", "shuffles", "other"]))
    return run(data, samples, [make() for make in wanted], kind)


def many(data: st.DataObject) -> Call:
    """Calls that take a batch of problems."""
    shape = data.draw(st.tuples(*[st.sampled_from([0, 1, 2, 70])] * 3))
    columns = data.draw(st.sampled_from([0, 1, 10, 10, 10]))
    counts = [np.ones((shape[0], *shape[2:], columns), dtype=np.int64)] * shape[1]
    thresholds = data.draw(arrays(float, shape=(data.draw(st.sampled_from([shape[0], shape[0] + 1])),)))
    batch_seeds = np.zeros(data.draw(st.sampled_from([shape[0], shape[0] + 1])), dtype=np.uint64)
    n, threads_, strata_, side = data.draw(numbers), data.draw(threads), data.draw(strata), data.draw(alternatives)
    calls: list[Call] = [
        lambda: _core.shuffle_many(
            BLEU, _core.Counts(counts), side, thresholds, n=n, seeds=batch_seeds, threads=threads_
        ),
        lambda: _core.draw_many(BLEU, _core.Counts(counts), n=n, seeds=batch_seeds, strata=strata_, threads=threads_),
    ]
    return data.draw(st.sampled_from(calls))


def streams(data: st.DataObject) -> Call:
    """Calls that depend on a seed only."""
    seed, strata_ = data.draw(seeds), data.draw(strata)
    replicate, n, bound = data.draw(numbers), data.draw(numbers), data.draw(numbers)
    purpose = data.draw(st.sampled_from(["shuffle", "draw", "code", "other"]))
    calls: list[Call] = [
        lambda: _core.stream_values(seed, purpose, replicate, n),
        lambda: _core.stream_indices(seed, replicate, bound, n),
        lambda: _core.draw_weights(seed, replicate, n, strata=strata_),
        lambda: _core.derive(seed, purpose, replicate),
        lambda: _core.derive(seed, "run", replicate),
    ]
    return data.draw(st.sampled_from(calls))


def rules(data: st.DataObject) -> Call:
    """Calls of the stopping rules."""
    exceedances, n, tests = data.draw(numbers), data.draw(numbers), data.draw(lengths)
    level, risk, values = data.draw(reals | st.just(0.05)), data.draw(reals | st.just(0.001)), data.draw(arrays(float))
    besag_clifford = data.draw(st.booleans())

    def call() -> None:
        if besag_clifford:
            rule = _core.StoppingRule.besag_clifford(exceedances)
        else:
            rule = _core.StoppingRule.gandy(level, risk)
        tally = _core.SequentialTally([(0, 1)] * tests, "greater", np.ones((1, tests)), rule)
        feed = _core.Feed([tally], 2, n=n)
        feed.update(values, range(len(values)))
        feed.update(values, feed.active)
        assert len(feed.results()[0].shuffles) == 1
        rule.limits(n)

    return call


def agreement(data: st.DataObject) -> Call:
    """Calls that count agreement of metrics with people."""
    shape = data.draw(st.tuples(*[st.sampled_from([0, 1, 2, 41, 70])] * 3) | st.just((2**30, 0, 2**20)))
    scores = data.draw(arrays(float, shape=shape)) if 0 not in shape else np.zeros(shape)
    if scores.size and data.draw(st.booleans()):
        with np.errstate(invalid="ignore"):
            scores = np.random.default_rng(0).integers(0, 9, size=shape) * np.float64(data.draw(reals))
    of_people = shape[1:] if data.draw(st.integers(0, 9)) else (data.draw(lengths), data.draw(lengths))
    human = np.resize(np.array([0.0, 1.0, -5.0, data.draw(reals)]), of_people)
    grouping, threads_ = data.draw(st.sampled_from(["none", "sys", "item", "other"])), data.draw(threads)
    epsilons = data.draw(st.none() | arrays(float, shape=(data.draw(few),)) | arrays(float, shape=(2,)))
    index = st.sampled_from([0, 1, 2, 69, 70, -1, 2**62, -(2**63)])
    n = data.draw(st.sampled_from([1, 2, 70]))
    columns = [np.full(n if data.draw(st.integers(0, 9)) else 3, data.draw(index)) for _ in range(4)]
    minimum = data.draw(reals)
    calls: list[Call] = [
        lambda: _core.meta_votes(scores, columns[0], columns[1], columns[2], columns[3], threads=threads_),
        lambda: _core.meta_pair_counts(
            scores, human, grouping, epsilons=epsilons, minimum_difference=minimum, threads=threads_
        ),
        lambda: _core.meta_calibrate(scores, human, grouping, threads=threads_),
    ]
    return data.draw(st.sampled_from(calls))


def replicated_agreement(data: st.DataObject) -> Call:
    """Calls that swap or draw scores of metrics again, and most arguments of which can be used."""

    def mostly(usual: st.SearchStrategy[Any], other: st.SearchStrategy[Any]) -> Any:
        return data.draw(usual if data.draw(st.integers(0, 9)) else other)

    sizes = st.tuples(*[st.sampled_from([1, 2, 3, 20])] * 3)
    shape = mostly(sizes, st.just((2**30, 0, 2**20)) | st.just((1, 2**20, 0)) | st.just((0, 2, 3)))
    scores = np.full(shape, data.draw(reals))
    if scores.size and data.draw(st.booleans()):
        with np.errstate(invalid="ignore"):
            scores = np.random.default_rng(0).integers(0, 9, size=shape) * np.float64(data.draw(reals))
    of_people = mostly(st.just(shape[1:]), st.tuples(lengths, lengths))
    human = mostly(
        st.just(np.resize(np.array([0.0, 1.0, -5.0, data.draw(reals)]), of_people)), st.just(np.zeros((0, 0)))
    )
    grouping = st.sampled_from(["none", "sys", "item", "system"])
    coefficient = st.sampled_from(["pearson", "spearman", "kendall-b", "kendall-c", "acc23", "tau23", "accuracy"])
    names = mostly(st.lists(st.tuples(grouping, coefficient), max_size=2), st.just([("other", "pearson")]))
    unit = mostly(st.sampled_from(["both", "inputs", "systems"]), st.just("other"))
    odd = st.sampled_from([69, 70, -1, 2**62, -(2**63)])
    index = [mostly(st.integers(0, max(0, n - 1)), odd) for n in (*shape, *shape)]
    by = np.array([index[:1] + index[3:4]] * data.draw(st.integers(0, 2)), dtype=np.int64).reshape(-1, 2)
    votes = mostly(st.just(1), st.sampled_from([0, -1, 2**27, 2**62]))
    lengths_ = [mostly(st.just(9), st.just(3)) for _ in range(4)]
    columns = [np.full(n, i) for n, i in zip(lengths_, (index[2], index[1], index[4], votes), strict=True)]
    n, first = mostly(few, numbers), mostly(st.sampled_from([0, 1, 2**40]), numbers)
    options = {"n": n, "seed": data.draw(seeds), "first": first, "threads": mostly(st.just(2), threads)}
    own_masks = mostly(st.none(), arrays(bool, shape=(65, *shape[1:])))
    copy = data.draw(st.sampled_from([0, 1, 2**32 - 1]))
    copies = mostly(st.none(), st.just(tuple(np.full((65, n), copy, np.uint32) for n in shape[1:])))
    soft = {"permutations": mostly(few, numbers), "inner_seed": 1, "threads": options["threads"]}
    formulas = [(MEAN, WIDE, False, True), (BLEU, COUNTS, True, False), (MEAN, COUNTS[..., :2].copy(), True, True)]
    counted = mostly(st.sampled_from(formulas), st.just((BLEU, WIDE, False, True)))
    metrics = data.draw(st.lists(st.just(counted) | st.sampled_from(formulas), max_size=2))
    segments = np.arange(shape[2] if shape[2] < 2**20 else 0, dtype=np.uint32)
    segments = mostly(st.just(segments), arrays(np.uint32, shape=(70,)) | st.just(np.full(2, 2**32 - 1, np.uint32)))
    n_pairs = shape[1] * (shape[1] - 1) // 2 if shape[1] < 2**20 else 0
    people = mostly(st.just(np.full(n_pairs, data.draw(reals))), arrays(float, shape=(2,)))
    calls: list[Call] = [
        lambda: _core.meta_permuted(scores, human, names, unit, by, masks=own_masks, **options),
        lambda: _core.meta_drawn(scores, human, names, unit, copies=copies, **options),
        lambda: _core.meta_permuted_votes(
            scores, columns[0], columns[1], columns[2], columns[3], "half", unit, by, **options
        ),
        lambda: _core.meta_soft_drawn(counted, metrics, unit, **{**options, **soft}),
        lambda: _core.meta_soft_pvalues(counted, metrics, segments, **soft),
        lambda: _core.meta_soft_values(scores, people, segments, **soft),
        lambda: _core.meta_soft_permuted(scores, people, segments, unit, by, **{**options, **soft}),
    ]
    return data.draw(st.sampled_from(calls))


def reranking(data: st.DataObject) -> Call:
    """Calls of the ℓ1 reranker, on lists of which one part may be wrong."""
    offsets = data.draw(st.just(np.array([0, 30, 70])) | arrays(np.int64, shape=(3,)) | arrays(np.int64))
    dense = np.random.default_rng(0).normal(
        size=(data.draw(st.sampled_from([70, 70, 69])), data.draw(st.integers(0, 2)))
    )
    dense *= data.draw(reals | st.just(1.0))
    index, count = (
        data.draw(st.sampled_from([0, 1, 4, -1, 2**31 - 1])),
        data.draw(st.sampled_from([5, 5, 0, 2**27, 2**64 - 1])),
    )
    limits = data.draw(st.just(np.arange(71)) | arrays(np.int64, shape=(71,)))
    sparse = data.draw(st.none() | st.just((limits, np.full(70, index, np.int32), np.ones(70), count)))
    targets = np.array([data.draw(st.sampled_from([0, 3, 29, -1, 2**62])), 0])
    n = dense.shape[1] + (0 if sparse is None else min(count, 9))
    weights, threads_ = data.draw(arrays(float, shape=(n,))) if n else np.zeros(0), data.draw(threads)
    gamma, tolerance = data.draw(reals), data.draw(reals | st.just(1e-4))
    per_step = data.draw(st.lists(st.sampled_from([0, 1, 2, 2**64 - 1]), max_size=2))
    limit = data.draw(st.none() | numbers)
    line = st.sampled_from(
        ["", "a b", "a " * 5000, "\x00", "0-1=0-0 1=1", "0=0", "1-0=-1", "=", "99999999999999999999=0"]
    )
    lines, sources = data.draw(st.lists(line, max_size=3)), data.draw(st.none() | st.lists(line, max_size=2))
    kinds = data.draw(
        st.lists(st.sampled_from(["ngram:1", "ngram:9", "presence:2", "phrase", "words", "x"]), max_size=3)
    )
    some = data.draw(st.just(np.array([0, len(lines)])) | arrays(np.int64, shape=(2,)))
    known = data.draw(st.none() | st.lists(st.sampled_from(["ngram:1=a", ""]), max_size=3))
    minimum, edges = data.draw(numbers), data.draw(st.booleans())
    calls: list[Call] = [
        lambda: _core.tune_l1_loss(offsets, dense, sparse, targets, weights, threads=threads_),
        lambda: _core.tune_l1(
            offsets, dense, sparse, targets, gamma=gamma, per_step=per_step, limit=limit, tolerance=tolerance,
            threads=threads_,
        ),
        lambda: _core.tune_templates(
            some, lines, kinds, sources=sources, segmentations=lines[::-1], edges=edges, minimum=minimum, known=known
        ),
    ]  # fmt: skip
    return data.draw(st.sampled_from(calls))


def kbest(data: st.DataObject) -> Call:
    """Calls with k-best lists."""
    piece = "0,1, ||| ,|||,\n,\r\n,a b,=,:,lm= 1,lm=1,s_a= 2,nan,-0,\x00,é, ".split(",")
    line = st.sampled_from(
        ["0 ||| a ||| 1 2", "1 ||| b c ||| 3 4 ||| 5", "0 ||| a ||| lm=1 s=2", "0 ||| ||| lm= 1 s_a= 2"]
    )
    text = st.lists(st.sampled_from(piece)).map("".join) | st.lists(line).map("\n".join)
    dense = st.none() | st.lists(st.sampled_from(["lm", "s_a", "F_0", "F_1", ""]), max_size=3)
    contents, names = [data.draw(text) for _ in range(data.draw(st.integers(0, 2)))], data.draw(dense)
    index = st.sampled_from([0, 1, 2, -1, 2**62, -(2**63)])
    rows = np.array(data.draw(st.lists(index, max_size=3)), dtype=np.int64)
    name = data.draw(st.sampled_from(["bleu", "nist", "meteor", "depf"]))
    references = data.draw(st.lists(st.lists(st.sampled_from(["a", "b c", None]), max_size=2), min_size=1, max_size=2))
    texts, threads_ = data.draw(st.none() | st.lists(st.just("a"), max_size=2)), data.draw(threads)
    plain = data.draw(st.lists(st.lists(st.sampled_from(["a", "b c", "", "\x00 ||| a"]), max_size=2), max_size=2))
    weight = data.draw(reals)

    def use() -> None:
        found = []
        for content in contents:
            with contextlib.suppress(InputError):
                found.append(_core.NBest.parse(content.encode(), "file", dense=names))
        with contextlib.suppress(InputError):
            found.append(_core.NBest.merged(found))
        with contextlib.suppress(InputError):
            found.append(_core.NBest.of_texts(plain))
        for lists in found:
            assert len(lists) == len(lists.dense) == lists.offsets[-1] == len(lists.indptr) - 1
            for call in (lists.hypotheses, lists.texts, lists.selected, partial(lists.column, 0)):
                with contextlib.suppress(InputError):
                    call(rows)
            for some in (lists, lists.selected(rows[:0]), lists.selected(np.arange(0, len(lists), 2))):
                with contextlib.suppress(InputError):
                    some.count(_core.Metric(name, {}), references, texts=texts, threads=threads_)
                with contextlib.suppress(InputError):
                    weights = np.full(len(some.texts(None)) + (weight == -1.0), weight)
                    some.utilities(_core.Metric(name, {}), weights, texts=texts, threads=threads_)

    return use


def tuning(data: st.DataObject) -> Call:
    """Line searches and searches for weights."""
    offsets = np.array(
        data.draw(st.sampled_from([[0, 30, 70], [0, 70], [0], [], [0, 0, 70], [1, 70], [0, 2**62]])), int
    )
    features, directions = data.draw(arrays(float, shape=(70, 2))), data.draw(arrays(float, shape=(3, 2)))
    weights, ranges = data.draw(arrays(float, shape=(2,))), [data.draw(st.lists(reals, max_size=3)) for _ in "lh"]
    metric, counts = data.draw(st.sampled_from([(BLEU, COUNTS[0]), (MEAN, WIDE[0]), (MEAN, COUNTS[0])]))
    options: dict[str, Any] = {"margin": data.draw(reals), "min_width": data.draw(reals), "threads": data.draw(threads)}
    searched: dict[str, Any] = data.draw(
        st.fixed_dictionaries(
            {"seeds": st.lists(numbers, max_size=3), "preset": st.sampled_from(["moses", "cdec", "both", "other"])},
            optional={"restarts": numbers, "random_directions": numbers, "max_steps": numbers},
        )
    )
    searched.update(options, start=weights.tolist(), low=ranges[0], high=ranges[1])

    def search() -> None:
        _core.tune_line_search(offsets, features, counts, metric, weights, directions, **options)

    def tune() -> None:
        _core.tune_mert(offsets, features, counts, metric, **searched)

    starts = data.draw(arrays(int, shape=(data.draw(lengths), 2)) | st.just(np.array([[3, 40], [29, 69]])))
    sought: dict[str, Any] = data.draw(
        st.fixed_dictionaries({}, optional={"worst": st.booleans(), "random_starts": numbers, "seed": seeds})
    )

    def find() -> None:
        _core.tune_oracle(offsets, counts, metric, starts, threads=options["threads"], **sought)

    return data.draw(st.sampled_from([search, tune, find]))


def learning(data: st.DataObject) -> Call:
    """Batch MIRA, pairwise ranking and expected scores."""
    offsets = np.array(
        data.draw(st.sampled_from([[0, 30, 70], [0, 70], [0], [], [0, 0, 70], [1, 70], [0, 2**62]])), int
    )
    dense = data.draw(st.just(np.ones((70, 2))) | arrays(float, shape=(70, 2)) | arrays(float))
    where = st.sampled_from([np.arange(71), np.arange(71) - 1, np.full(71, 2**62), np.arange(3)])
    numbered = st.sampled_from([0, 6, 7, -1, 2**31 - 1]).map(lambda i: np.full(70, i, np.int32))
    width = st.sampled_from([7, 0, 2**26, 2**27, 2**31, 2**62, 2**64 - 1, -1])
    sparse = data.draw(st.none() | st.tuples(where, numbered, arrays(float, shape=(70,)), width))
    metric, counts = data.draw(st.sampled_from([(BLEU, COUNTS[0]), (MEAN, WIDE[0]), (MEAN, COUNTS[0])]))
    per_entry = st.just(np.linspace(0, 1, 70)) | arrays(float, shape=(70,)) | arrays(float, shape=(data.draw(lengths),))
    gains: Any = data.draw(st.none() | per_entry)
    scores: Any = data.draw(per_entry)
    weights, sizes = data.draw(arrays(float, shape=(data.draw(st.sampled_from([0, 2, 9])),))), np.ones(2)
    ways: dict[str, Any] = {"threads": data.draw(threads), "seeds": data.draw(st.lists(numbers, max_size=3))}
    epochs, penalty, rate = data.draw(numbers), data.draw(reals), data.draw(reals)
    limits: dict[str, Any] = {"samples": data.draw(st.none() | numbers), "kept": data.draw(st.none() | numbers)}
    background, safe = data.draw(st.sampled_from(["hope", "model", "other"])), data.draw(st.booleans())
    lists: dict[str, Any] = {"offsets": offsets, "dense": dense, "sparse": sparse}
    expected: dict[str, Any] = {
        **lists,
        "scores": scores,
        "lengths": data.draw(st.just(sizes) | arrays(float, shape=(2,))),
    }
    mira: dict[str, Any] = {"epochs": epochs, "c": rate, "decay": penalty, "background": background, "safe_hope": safe}
    calls: list[Call] = [
        partial(_core.tune_mira, metric, **lists, counts=counts, gains=gains, initial=weights, **mira, **ways),
        partial(
            _core.tune_pro, **lists, scores=scores, threshold=rate, penalty=penalty, tolerance=rate, iterations=epochs,
            **limits, **ways,
        ),
        partial(_core.tune_xbleu, **expected, initial=weights, penalty=penalty, epochs=epochs, rate=rate, **ways),
        partial(_core.tune_xbleu_objective, **expected, weights=weights, penalty=penalty, threads=ways["threads"]),
    ]  # fmt: skip
    return data.draw(st.sampled_from(calls))


def others(data: st.DataObject) -> Call:
    """All remaining calls."""
    line = st.sampled_from(["", "a b", "a " * 5000, "\x00", "日本 &amp; x.", "1\ta\ta\t_\t_\t_\t0\troot\t_\t_", "1-\t"])
    column = data.draw(st.lists(line, max_size=3))
    references = data.draw(st.lists(st.lists(st.none() | line, max_size=3), max_size=3))
    known = [option.name for spec in _core.metrics() for option in spec.options]
    value = st.sampled_from([None, True, -1, 0, 2**63, -(2**70), 1e9, float("nan"), "x"])
    options = data.draw(st.dictionaries(st.sampled_from(known), value, max_size=2))
    name = data.draw(st.sampled_from([*(spec.name for spec in _core.metrics()), "blue"]))
    tokenizer = data.draw(st.sampled_from([*(spec.name for spec in _core.tokenizers()), "other"]))
    steps = np.array(data.draw(st.lists(st.sampled_from([0, 1, 2**20, 2**32, 2**63, 2**64 - 1]))), dtype=np.uint64)
    values, centres = data.draw(arrays(float)), data.draw(arrays(float, shape=(data.draw(lengths),)))
    n_series = data.draw(lengths | st.sampled_from([2**62, 2**64 - 1, -1]))
    some = data.draw(st.lists(systems, max_size=3))
    counts, by, number = data.draw(st.sampled_from([COUNTS, COUNTS[:0]])), data.draw(pairs), data.draw(numbers)
    scale, cell = data.draw(reals), data.draw(st.sampled_from([0, 1, -1, 2**62, -(2**62), 2**63 - 1, -(2**63)]))
    rows, more, threads_ = data.draw(lengths), data.draw(st.sampled_from([0, 0, 0, 1])), data.draw(threads)

    def score() -> None:
        metric = _core.Metric(name, {})
        totals = np.full((rows, len(metric.columns) + more), cell)
        metric.scores(totals)
        metric.segment_scores(totals)
        metric.details(np.full(totals.shape[1], cell))

    def feed_values() -> None:
        reductions = [_core.Tally(by, "greater", np.ones((1, len(by)))), _core.Histograms(by)]
        feed = _core.Feed(reductions, n_series, n=number, first=rows)
        feed.update(values, some)
        feed.update(values, feed.active)
        assert len(feed.results()) == 2

    calls: list[Call] = [
        feed_values,
        lambda: _core.Counts([counts]).differing(by, most=number),
        lambda: _core.subset_sum_distribution(steps),
        lambda: _core.Metric.mean("x", scale, higher_is_better=True).signature,
        score,
        lambda: _core.histograms(values, some, None, centres[: len(some)], threads=threads_),
        lambda: _core.histograms(values, some, some[::-1], centres[:1], threads=threads_),
        lambda: _core.count([_core.Metric(name, {})] * rows, [column], references, threads=threads_),
        lambda: _core.tokenize(column, tokenizer),
        lambda: _core.broken_parse(column),
        lambda: _core.Metric(name, options),
    ]
    return data.draw(st.sampled_from(calls))


def give_up(_number: int, _frame: object) -> None:
    """Interrupt a call that takes too long."""
    raise TimeoutError


def main(examples: int, *, same: bool) -> None:
    """Make calls with generated arguments, the same ones in every run or new ones."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    signal.signal(signal.SIGALRM, give_up)
    gc.disable()  # an exception raised by a signal handler during garbage collection is lost

    @settings(
        max_examples=examples, deadline=None, database=None, derandomize=same, suppress_health_check=list(HealthCheck)
    )
    @given(
        st.sampled_from(
            [
                shuffles,
                states,
                draws,
                many,
                streams,
                rules,
                agreement,
                replicated_agreement,
                kbest,
                reranking,
                tuning,
                learning,
                others,
                layouts,
                simulations,
                texts,
            ]
        ),
        st.data(),
    )
    def every_call_returns_or_raises(some: Any, data: st.DataObject) -> None:
        call = some(data)
        with contextlib.suppress(*EXPECTED):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.1)
                call()
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)

    every_call_returns_or_raises()
    print("all calls returned or raised")


if __name__ == "__main__":
    main(int(sys.argv[1]), same=sys.argv[2] == "same")
