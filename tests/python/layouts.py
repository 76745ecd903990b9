"""Calls of the core with arrays in other layouts, types and shapes, and with damaged texts; run by :mod:`border`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st

import calls
from reshuffle import InputError, _core

__all__ = ["REFUSED", "layouts", "simulations", "texts"]

# What a call may raise for unusable arguments; the last one for a lone surrogate, which Python looks for before.
REFUSED = (InputError, MemoryError, OverflowError, TypeError, UnicodeEncodeError)

Call = Callable[[], object]

BLEU, LENGTH = _core.Metric("bleu", {}), _core.Metric("length", {})
RANDOM = np.random.default_rng(0)
COUNTS = RANDOM.integers(1, 30, size=(3, 70, 10))
SAMPLES, BY, SIDE = [(BLEU, COUNTS)], [(0, 1), (1, 2)], "two-sided"
LIMITS, RANKS = np.ones((1, 2)), np.ones((1, 2), np.uint64)
SCORES = RANDOM.integers(0, 9, size=(2, 3, 20)).astype(float)
OFFSETS, FEATURES, ROWS = np.array([0, 30, 70]), RANDOM.normal(size=(70, 3)), np.array([0, 2])
LISTS = _core.NBest.parse(b"0 ||| a ||| 1\n0 ||| b ||| 2\n1 ||| c ||| 3\n", "file")
RULE = _core.StoppingRule.besag_clifford(3)
TALLY = _core.Tally(BY, SIDE, LIMITS)
STATE = calls.resampler(SAMPLES).run([TALLY], n=65)[0].state()


def experiment(counts: Any = COUNTS[:2], groups: Any = None) -> _core.Experiment:
    """Simulations under one metric."""
    population = [(BLEU, _core.Counts([counts]))]
    return _core.Experiment([(population, groups)], sampling="subset", size=10, swapped=2**31, seed=1)


def fed(values: Any) -> object:
    """Statistics that Python computes."""
    feed = _core.Feed([_core.Series(BY)], 3, n=20)
    feed.update(values, [0, 1])
    return feed.results()[0].statistics


def crossed(a: Any, b: Any, gradients: Any, strata: Any) -> object:
    """The constants of a studentized statistic, its columns, and the parts of one value."""
    cross = _core.PairCounts(a, b).cross(gradients, sizes=[30, 40], strata=strata)
    return cross.constants, cross.contributions, cross.terms, cross.rows(a, b)


def metrics_of(totals: Any) -> object:
    """What a metric makes of sums."""
    return (
        BLEU.scores(totals),
        BLEU.segment_scores(totals),
        BLEU.gradients(totals),
        BLEU.details(np.sum(totals, axis=0)),
    )


def replicated(**arrays: Any) -> object:
    """Sums of replicates that the caller has chosen."""
    kind = "draws" if "indices" in arrays else "shuffles"
    return calls.resampler([(None, COUNTS)], kind=kind).run([_core.Sums()], n=9, **arrays)[0].sums


HOW: dict[str, Any] = {"n": 65, "seed": 1}
STRATA = np.repeat(np.array([0, 1], np.uint32), (30, 40))
# Functions, and arrays that they take.
FUNCTIONS: list[tuple[Callable[..., object], list[Any]]] = [
    (lambda counts: calls.draw_sums([counts], **HOW), [COUNTS]),
    (lambda a, b: _core.Counts([a, b]).totals, [COUNTS[:, :5].copy(), COUNTS[:, 5:10].copy()]),
    (lambda masks: replicated(masks=masks), [RANDOM.random((3, 70)) < 0.5]),
    (lambda codes: replicated(codes=codes), [np.arange(70, dtype=np.uint64)]),
    (lambda indices: replicated(indices=indices), [np.arange(140, dtype=np.uint32).reshape(2, 70) % 70]),
    (lambda limits: calls.shuffle_tally(SAMPLES, BY, SIDE, limits, **HOW), [LIMITS]),
    (lambda limits: calls.shuffle_until(SAMPLES, BY, SIDE, limits, RULE, **HOW), [LIMITS]),
    (lambda scales, limits: calls.shuffle_max_t(SAMPLES, BY, SIDE, scales, limits, [0], **HOW), [LIMITS, LIMITS]),
    (
        lambda limits, near, ranks: calls.shuffle_min_p(SAMPLES, BY, SIDE, (limits, near), ranks, [0], **HOW),
        [LIMITS, LIMITS, RANKS],
    ),
    (
        lambda limits: (
            calls.resampler(SAMPLES, kind="permutations").run([_core.PermutedTally(BY, limits)], n=9)[0].counts
        ),
        [LIMITS],
    ),
    (lambda words: TALLY.with_state(words).counts, [STATE]),
    (
        lambda limits, seeds: _core.shuffle_many(
            BLEU, _core.Counts([*COUNTS[:2, None]]), SIDE, limits, n=9, seeds=seeds
        ),
        [np.ones(1), np.ones(1, np.uint64)],
    ),
    (lambda seeds: _core.draw_many(BLEU, _core.Counts([*COUNTS[:2, None]]), n=9, seeds=seeds), [np.ones(1, np.uint64)]),
    (lambda values, centres: _core.histograms(values, [0, 1], None, centres), [SCORES[0], np.ones(2)]),
    (lambda steps: _core.subset_sum_distribution(steps), [np.array([1, 2, 5], np.uint64)]),
    (metrics_of, [COUNTS[0]]),
    (fed, [SCORES[0, :2]]),
    (crossed, [COUNTS[0], COUNTS[1], RANDOM.normal(size=(1, 10)), STRATA]),
    (lambda counts, groups: experiment(counts, groups).units(1), [COUNTS[:2], STRATA]),
    (lambda limits: experiment().exceedances(SIDE, limits, n_resamples=9), [np.ones((1, 3))]),
    (lambda limits: experiment().sequential(SIDE, limits, RULE, n_resamples=9), [np.ones((1, 3))]),
    (
        lambda scores, human, limits: _core.meta_pair_counts(scores, human, "sys", epsilons=limits),
        [SCORES, SCORES[0], np.ones(2)],
    ),
    (
        lambda scores, human, limits: _core.meta_cell_counts(scores, human, "item", limits),
        [SCORES, SCORES[0], np.ones(2)],
    ),
    (lambda scores, human: _core.meta_calibrate(scores, human, "none"), [SCORES, SCORES[0]]),
    (lambda scores, a, b, c, d: _core.meta_votes(scores, a, b, c, d), [SCORES, ROWS, ROWS * 0, ROWS * 0 + 1, ROWS + 1]),
    (
        lambda scores, human, by: _core.meta_permuted(scores, human, [("none", "pearson")], "both", by, **HOW),
        [SCORES, SCORES[0], np.array([[0, 1]])],
    ),
    (
        lambda scores, people, segments: _core.meta_soft_values(
            scores, people, segments, permutations=65, inner_seed=1
        ),
        [SCORES, np.full(3, 0.5), np.arange(20, dtype=np.uint32)],
    ),
    (
        lambda offsets, features, counts, *where: _core.tune_line_search(offsets, features, counts, BLEU, *where),
        [OFFSETS, FEATURES, COUNTS[0], np.ones(3), np.eye(3)],
    ),
    (
        lambda offsets, counts, starts: _core.tune_oracle(offsets, counts, BLEU, starts),
        [OFFSETS, COUNTS[0], np.array([[3, 40]])],
    ),
    (
        lambda offsets, dense, targets, weights: _core.tune_l1_loss(offsets, dense, None, targets, weights),
        [OFFSETS, FEATURES, np.array([3, 29]), np.ones(3)],
    ),
    (
        lambda starts, numbers, values: _core.tune_l1_loss(
            OFFSETS, FEATURES, (starts, numbers, values, 5), np.array([3, 29]), np.ones(8)
        ),
        [np.arange(71), np.zeros(70, np.int32), np.ones(70)],
    ),
    (
        lambda offsets, dense, scores: _core.tune_pro(offsets, dense, None, scores, seeds=[1]),
        [OFFSETS, FEATURES, SCORES.ravel()[:70].copy()],
    ),
    (lambda rows: (LISTS.selected(rows).offsets, LISTS.hypotheses(rows), LISTS.texts(rows)), [ROWS]),
]


def in_other_layouts(array: Any) -> Iterator[Any]:
    """The same numbers elsewhere in memory."""
    yield np.asfortranarray(array)
    yield np.repeat(array, 2, axis=-1)[..., ::2]
    yield np.repeat(array, 2, axis=0)[::2]
    yield array[::-1].copy()[::-1]
    yield np.broadcast_to(array[:1], array.shape)
    yield np.frombuffer(b"\0" + array.tobytes(), array.dtype, offset=1).reshape(array.shape)  # not aligned
    yield array.astype(array.dtype.newbyteorder())
    yield array.view(np.ma.MaskedArray)
    constant = array.copy()
    constant.setflags(write=False)
    yield constant


def in_other_types(array: Any) -> Iterator[Any]:
    """The same numbers, as far as another type has them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in (
            np.float64,
            np.float32,
            np.int64,
            np.int32,
            np.uint64,
            np.uint32,
            np.uint8,
            bool,
            complex,
            object,
            "U9",
        ):
            yield array.astype(dtype)
    yield array.tolist()
    yield memoryview(array)


def in_other_shapes(array: Any) -> Iterator[Any]:
    """Other numbers of dimensions, rows and columns."""
    yield from (array[None], array[..., None], array.ravel(), array[0], array[:0], array[..., :0], array[1:].copy())
    yield np.concatenate([array, array])
    yield np.zeros((2**40, *[0] * array.ndim)[: array.ndim], array.dtype)


def with_other_numbers(array: Any, random: np.random.Generator) -> Iterator[Any]:
    """Some numbers replaced by others: ends of ranges, and what is no number."""
    wrong: list[Any] = [0, 1, 2, 63, 64, 2**31, 2**53, 2**62, 2**63 - 1]
    if array.dtype.kind == "f":
        wrong = [0.0, -0.0, -1.0, 1e300, -1e300, 5e-324, np.inf, -np.inf, np.nan]
    elif array.dtype.kind == "i":
        wrong += [-1, -(2**31), -(2**62), -(2**63)]
    for _ in range(9):
        changed = array.copy()
        places = random.integers(0, array.size, random.integers(1, 4))
        with np.errstate(all="ignore"):
            changed.flat[places] = np.array(random.choice(wrong, len(places))).astype(array.dtype)
        yield changed


def result_of(function: Callable[..., object], arrays: list[Any]) -> Any:
    """What a function returns, or None if it refuses its arguments."""
    try:
        return [function(*arrays)]
    except REFUSED:
        return None


def layouts(data: st.DataObject) -> Call:
    """A call with one of its arrays changed in every way. An array that is not refused has the result of its copy."""
    function, arrays = data.draw(st.sampled_from(FUNCTIONS))
    changed = data.draw(st.integers(0, len(arrays) - 1))
    array, random = arrays[changed].copy(), np.random.default_rng(data.draw(st.integers(0, 2**32)))

    def outcome(variant: Any) -> Any:
        return result_of(function, [*arrays[:changed], variant, *arrays[changed + 1 :]])

    def call() -> None:
        usual = outcome(array)
        assert usual is not None
        for variant in (*in_other_types(array), *in_other_layouts(array)):
            found = outcome(variant)
            if found is not None:
                np.testing.assert_equal(found, outcome(np.array(variant, array.dtype, order="C")))
        for variant in (*in_other_shapes(array), *with_other_numbers(array, random)):
            outcome(variant)

    return call


def simulations(data: st.DataObject) -> Call:
    """Calls of simulated tests."""
    numbers = st.sampled_from([0, 1, 2, 64, 70, 71, 2**32, 2**62, 2**64 - 1])
    usual = st.sampled_from([1, 2, 10, 64])
    groups = data.draw(st.none() | st.just(STRATA) | st.just(STRATA[:69]) | st.just(STRATA + np.uint32(2**32 - 2)))
    made: dict[str, Any] = {
        "sampling": data.draw(st.sampled_from(["replace", "subset", "fixed", "other"])),
        "size": data.draw(st.none() | usual | numbers),
        "swapped": data.draw(st.sampled_from([0, 1, 2**31, 2**32, 2**32 + 1, 2**64 - 1])),
        "seed": data.draw(numbers),
    }
    samples = [(metric, _core.Counts([COUNTS[:2]])) for metric in data.draw(st.lists(st.sampled_from([BLEU, None])))]
    populations = [(samples, groups)] * data.draw(st.integers(0, 2))
    n, first, resamples, sets = (data.draw(usual | numbers) for _ in range(4))
    limits = np.ones((len(samples), min(n, 70)))
    scheme = data.draw(st.sampled_from(["iid", "subgroup", "other"]))
    how: dict[str, Any] = {"first": first, "n_resamples": resamples, "studentized": data.draw(st.booleans())}

    def call() -> None:
        found = _core.Experiment(populations, **made)
        for use in (
            lambda: found.units(first),
            lambda: found.scores(n=n, first=first),
            lambda: found.error_parts(n=n, first=first),
            lambda: found.exceedances(SIDE, limits, scheme=scheme, **how),
            lambda: found.sequential(SIDE, limits, RULE, **how),
            lambda: found.draws(n_resamples=resamples, n=n, first=first, weight_sets=sets),
        ):
            result_of(use, [])

    return call


SEEDS = {
    "line": "Hello, world. It's 3.14 o'clock &amp; -5 <skipped>! 日本語 e\u0301 \u2028",
    "parse": "1\tthe\tthe\t_\t_\t_\t2\tdet\t_\t_\n2\tcat\tcat\t_\t_\t_\t0\troot\t_\t_\n",
    "comet": '{"a": [{"mt": "\\u00e9\\ud83d\\ude00", "COMET": 0.5}, {"mt": "", "COMET": -1e-3}]}',
    "words": "big\n1 2\nlarge\n2\n",
    "index": "  1 licence\ncat n 1 0 1 0 00000007\nrun n 2 1 @ 2 0 00000001 00000002\n",
}
PIECES = (
    '\0 \t \n \r\n \u0085 \u2028 \u001c ||| = - . # " \\u \\ud83d { } [ ] , &amp; _ 1e999 nan -1 18446744073709551616 '
    "9223372036854775808 \ud800 é 😀 İ ½"
).split(" ")


def damaged(text: str, random: np.random.Generator) -> str:
    """A text with up to four changes."""
    for _ in range(random.integers(0, 5)):
        a, b, c = sorted(random.integers(0, len(text) + 1, 3).tolist())
        piece = [*PIECES, "", text[a:b], text[a:b] * 70][random.integers(0, len(PIECES) + 3)]
        text = (text[:a] + piece + text[c if random.random() < 0.5 else a :])[:5000]
    return text


def texts(data: st.DataObject) -> Call:
    """Calls that read texts and files, most of them damaged, some with surrogates."""
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    metrics = data.draw(st.sampled_from([spec.name for spec in _core.metrics()]))
    tokenizer = data.draw(st.sampled_from([spec.name for spec in _core.tokenizers()]))
    order = data.draw(st.sampled_from([0, 1, 4, 2**32, 2**64 - 1]))

    def seed(name: str) -> str:
        return damaged(SEEDS[name], random)

    def of_bytes(name: str) -> bytes:
        return seed(name).encode("utf-8", "surrogatepass")

    def meteor(purpose: str, *files: bytes) -> None:
        metric = _core.Metric("meteor", {}, [(purpose, "0", [("file", content) for content in files])])
        _core.count([metric], [["big cats ran"]], [["a large cat runs"]])

    def use() -> None:
        line, parse, words = seed("line"), seed("parse"), [seed("line").split(" ") for _ in range(2)]
        name = "parse" if metrics == "depf" else "line"
        for call in (
            lambda: _core.tokenize([line], tokenizer),
            lambda: _core.broken_parse([parse]),
            lambda: _core.count([_core.Metric(metrics, {})], [[seed(name)], [seed(name)]], [[seed(name)]]),
            lambda: _core.count_tokens(BLEU, [words[0]], [[words[1], words[0]]], each_reference=order == 1),
            lambda: _core.common_ngrams([words[0]], [[words[1]]], order),
            lambda: _core.read_comet(of_bytes("comet")),
            lambda: meteor("meteor", of_bytes("words"), of_bytes("words")),
            lambda: meteor("wordnet", of_bytes("index"), of_bytes("words")),
            lambda: meteor("prefixes", of_bytes("line")),
            lambda: meteor("function", of_bytes("line")),
            lambda: meteor(damaged("meteor", random), of_bytes("words")),
            lambda: _core.permutations(order, order, int(random.choice([0, 1, 3, 2**16, 2**17])), order),
        ):
            result_of(call, [])

    def call() -> None:
        for _ in range(3):
            use()

    return call
