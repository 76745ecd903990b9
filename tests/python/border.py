"""Calls of the core with damaged arguments, in a process with limited memory; run by :mod:`test_border`.

Each function of the core has usual arguments here. Some of them are damaged: numbers, texts and lists are replaced, and
arrays get other layouts, types, shapes and numbers. Whatever the arguments, a call must return or raise one of the
expected exceptions. A panic is not one of them, and an abort ends the process.
"""

import contextlib
import faulthandler
import gc
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import calls
from reshuffle import InputError, _core

ROOM = 2**30
# The last one for a lone surrogate, which Python looks for before.
EXPECTED = (InputError, MemoryError, OverflowError, TypeError, UnicodeEncodeError, TimeoutError)

# --- Usual arguments

BLEU, MEAN = _core.Metric("bleu", {}), _core.Metric.mean("x", 100.0, higher_is_better=True)
METRICS = [_core.Metric(spec.name, {}) for spec in _core.metrics()]
RANDOM = np.random.default_rng(0)
COUNTS = RANDOM.integers(1, 30, size=(3, 70, 10))
WIDE = RANDOM.integers(-(2**45), 2**45, size=(3, 70, 2))
SCORES = RANDOM.integers(0, 9, size=(2, 3, 20)).astype(float)
OFFSETS, DENSE, ROWS = np.array([0, 30, 70]), RANDOM.normal(size=(70, 3)), np.array([0, 2])
SPARSE = (np.arange(71), np.zeros(70, np.int32), np.ones(70), 5)
STRATA = np.repeat(np.array([0, 1], np.uint32), (30, 40))
ONES = np.ones(8)
LISTS = _core.NBest.parse(b"0 ||| a ||| 1\n0 ||| b ||| 2\n1 ||| c ||| 3\n", "file")
RULE = _core.StoppingRule.besag_clifford(3)
SAMPLES, BY, SIDE = [(BLEU, COUNTS), (MEAN, WIDE)], [(0, 1), (1, 2)], "two-sided"
LIMITS, RANKS = np.ones((2, 2)), np.ones((2, 2), np.uint64)
LINE = "Hello, world. It's 3.14 o'clock &amp; -5 <skipped>! 日本語 e\u0301 \u2028"
PARSE = "1\tthe\tthe\t_\t_\t_\t2\tdet\t_\t_\n2\tcat\tcat\t_\t_\t_\t0\troot\t_\t_\n"
COMET = b'{"a": [{"mt": "\\u00e9\\ud83d\\ude00", "COMET": 0.5}, {"mt": "", "COMET": -1e-3}]}'
KBEST = b"0 ||| a ||| lm= 1 s_a= 2 ||| 5\n0 ||| b c ||| lm= 3 ||| 4\n1 ||| ||| lm= 1 ||| 2\n"
WORDS = b"big\n1 2\nlarge\n2\n"
INDEX = b"  1 licence\ncat n 1 0 1 0 00000007\nrun n 2 1 @ 2 0 00000001 00000002\n"
REPLICATES: dict[str, Any] = {"n": 65, "seed": 1, "first": 0, "threads": 2}
SPECIFICATIONS: dict[str, list[Any]] = {
    "shuffles": [
        (_core.Tally, BY, SIDE, LIMITS),
        (_core.SequentialTally, BY, SIDE, LIMITS, RULE, False),
        (_core.SequentialTally, BY, SIDE, LIMITS, RULE, True),
        (_core.MaxT, BY, SIDE, LIMITS, LIMITS, [0, 1]),
        (_core.MinP, BY, SIDE, LIMITS, LIMITS, RANKS, [0, 1]),
        (_core.Series, BY),
        (_core.Spread, BY),
        (_core.Histograms, BY, "half of shuffles"),
        (_core.Sums,),
    ],
    "draws": [(_core.Draws,), (_core.Moments,), (_core.Sums,)],
    "permutations": [(_core.PermutedTally, BY, LIMITS), (_core.Histograms, BY, "permutations")],
}
NAMES = [
    "two-sided", "greater", "shuffles", "draws", "none", "sys", "item", "system", "pearson", "tau23", "both", "inputs",
    "half", "replace", "subset", "fixed", "iid", "subgroup", "hope", "model", "moses", "ngram:9", "run", "code",
    *(spec.name for spec in _core.metrics()), *(spec.name for spec in _core.tokenizers()),
    *(option.name for spec in _core.metrics() for option in spec.options),
]  # fmt: skip


# --- Calls that are more than one function


def made(specification: Any) -> Any:
    kind, *arguments = specification
    return kind(*arguments)


def samples_of(samples: Any) -> Any:
    return [(metric, _core.Counts([counts])) for metric, counts in samples]


def read_attributes(result: Any) -> list[Any]:
    """All attributes of a reduction or of lists."""
    found = []
    for name in dir(result):
        if not name.startswith("_"):
            with contextlib.suppress(InputError):  # a sequential tally that does not begin at replicate 0
                each = getattr(result, name)
                found.append(None if callable(each) else each)
    return found


def replicates(
    specification: Any, samples: Any, *, kind: str, strata: Any, first: int, threads: int, **how: Any
) -> object:
    """Run a reduction, run it again on the replicates that follow, and merge the two."""
    resampler = _core.Resampler(samples_of(samples), kind=kind, strata=strata, threads=threads)
    assert len(resampler.totals) == len(samples)
    (result,) = resampler.run([made(specification)], first=first, threads=threads, **how)
    if not {"masks", "codes", "indices"} & {*how}:
        (later,) = resampler.run([made(specification)], first=result.replicates[1], threads=threads, **how)
        with contextlib.suppress(InputError):
            read_attributes(result.merge(later))
    return [*read_attributes(result), resampler.scores]


def with_state(words: Any, *, kind: str, specification: Any) -> object:
    """A reduction that has another state, alone and merged."""
    (computed,) = calls.resampler(SAMPLES, kind=kind).run([made(specification)], n=65)
    found = made(specification).with_state(words)
    for each in (found, computed):
        with contextlib.suppress(InputError):
            read_attributes(found.merge(each))
    return read_attributes(found)


def fed(specifications: Any, systems: int, values: Any, series: Any, *, n: int, first: int) -> object:
    """Reductions of values that Python computes."""
    feed = _core.Feed([made(each) for each in specifications], systems, n=n, first=first)
    feed.update(values, series)
    feed.update(values, feed.active)
    return [read_attributes(each) for each in feed.results()]


def crossed(a: Any, b: Any, gradients: Any, sizes: Any, strata: Any) -> object:
    """The constants of a studentized statistic, its columns, and the parts of one value."""
    cross = _core.PairCounts(a, b).cross(gradients, sizes=sizes, strata=strata)
    return cross.constants, cross.contributions, cross.terms, cross.rows(a, b)


def of_metric(metric: Any, totals: Any) -> object:
    metric.details(np.sum(totals, axis=0))
    return metric.scores(totals), metric.segment_scores(totals), metric.gradients(totals)


def batch(function: Any, counts: Any, *given: Any, **how: Any) -> object:
    return function(BLEU, _core.Counts(counts), *given, **how)


def simulated(use: str, populations: Any, *given: Any, how: dict[str, Any], **options: Any) -> object:
    experiment = _core.Experiment([(samples_of(samples), groups) for samples, groups in populations], **options)
    return getattr(experiment, use)(*given, **how)


def lists_of(contents: Any, dense: Any, rows: Any, references: Any, texts: Any, weights: Any, threads: int) -> object:
    """All that can be done with k-best lists."""
    found = []
    for content in contents:
        with contextlib.suppress(InputError):
            found.append(_core.NBest.parse(content, "file", dense=dense))
    found.append(_core.NBest.merged(found))
    for lists in found:
        assert len(lists) == len(lists.dense) == lists.offsets[-1] == len(lists.indptr) - 1
        for each in (lists.hypotheses, lists.texts, lists.selected, partial(lists.column, 0)):
            with contextlib.suppress(InputError):
                each(rows)
        for some in (lists, lists.selected(ROWS[:0]), lists.selected(np.arange(0, len(lists), 2))):
            with contextlib.suppress(InputError):
                some.count(BLEU, references, texts=texts, threads=threads)
            with contextlib.suppress(InputError):
                some.utilities(BLEU, np.resize(weights, len(some.texts(None))), texts=texts, threads=threads)
    return [*map(read_attributes, found)]


def with_files(purpose: str, *files: bytes) -> object:
    metric = _core.Metric("meteor", {}, [(purpose, "0", [("file", content) for content in files])])
    return _core.count([metric], [["big cats ran"]], [["a large cat runs"]])


Case = tuple[Callable[..., object], list[Any], dict[str, Any]]


def cases() -> Iterator[Case]:
    """Functions with usual arguments."""
    for kind, specifications in SPECIFICATIONS.items():
        resampler = calls.resampler(SAMPLES, kind=kind)
        for specification in specifications:
            yield replicates, [specification, SAMPLES], {"kind": kind, "strata": None, **REPLICATES}
            with contextlib.suppress(InputError):  # of those that cannot be computed in parts
                (computed,) = resampler.run([made(specification)], n=65)
                yield with_state, [computed.state()], {"kind": kind, "specification": specification}
    sums: dict[str, Any] = {"strata": None, **REPLICATES}
    yield replicates, [(_core.Sums,), SAMPLES], {"kind": "shuffles", "masks": RANDOM.random((65, 70)) < 0.5, **sums}
    yield replicates, [(_core.Sums,), SAMPLES], {"kind": "shuffles", "codes": np.arange(70, dtype=np.uint64), **sums}
    indices = np.arange(65 * 70, dtype=np.uint32).reshape(65, 70) % 70
    yield replicates, [(_core.Sums,), SAMPLES], {"kind": "draws", "indices": indices, **sums}
    yield replicates, [(_core.Draws,), SAMPLES], {"kind": "draws", **REPLICATES, "strata": [30, 40]}
    row = LIMITS[:1]
    yield fed, [[(_core.Series, BY), (_core.Tally, BY, SIDE, row)], 3, SCORES[0, :2], [0, 1]], {"n": 40, "first": 0}
    yield _core.Counts, [[COUNTS[:, :5].copy(), COUNTS[:, 5:10].copy()]], {}
    yield _core.Counts([COUNTS]).differing, [BY], {"most": 3}
    yield crossed, [COUNTS[0], COUNTS[1], RANDOM.normal(size=(1, 10)), [30, 40], STRATA], {}
    for metric in METRICS:
        yield partial(of_metric, metric), [RANDOM.integers(1, 30, size=(70, len(metric.columns)))], {}
    two = [*COUNTS[:2, None]]
    seeds = np.ones(1, np.uint64)
    yield batch, [_core.shuffle_many, two, SIDE, np.ones(1)], {"n": 9, "seeds": seeds, "scheme": "iid", "threads": 2}
    yield batch, [_core.draw_many, two], {"n": 9, "seeds": seeds, "strata": [30, 40], "threads": 2}
    yield _core.histograms, [SCORES[0], [0, 1], [1, 2], np.ones(2)], {"threads": 2}
    yield _core.subset_sum_distribution, [np.array([1, 2, 5], np.uint64)], {}
    yield _core.stream_values, [1, "shuffle", 0, 9], {}
    yield _core.stream_indices, [1, 0, 5, 9], {"purpose": "draw"}
    yield _core.draw_weights, [1, 0, 70], {"strata": [30, 40]}
    yield _core.permutations, [1, 0, 3, 70], {}
    yield _core.derive, [1, "run", 2], {}
    yield lambda h, n: _core.StoppingRule.besag_clifford(h).limits(n), [3, 9], {}
    yield lambda level, risk, n: _core.StoppingRule.gandy(level, risk).limits(n), [0.05, 0.001, 9], {}
    yield _core.Metric.mean, ["x", 100.0], {"higher_is_better": True}
    yield _core.Metric, ["bleu", {"lowercase": True, "max_ngram_order": 2}], {}

    population = [([(BLEU, COUNTS[:2]), (MEAN, WIDE[:2])], STRATA)] * 2
    pool: dict[str, Any] = {"sampling": "subset", "size": 10, "swapped": 2**31, "seed": 1, "threads": 2}
    tests: dict[str, Any] = {"n_resamples": 8, "studentized": False, "first": 0, "threads": 2}
    limits = np.ones((2, 3))
    yield partial(simulated, "units"), [population], {"how": {"simulation": 1}, **pool}
    yield partial(simulated, "scores"), [population], {"how": {"n": 3, "first": 0, "threads": 2}, **pool}
    yield partial(simulated, "error_parts"), [population], {"how": {"n": 3, "first": 0, "threads": 2}, **pool}
    yield partial(simulated, "exceedances"), [population, SIDE, limits], {"how": {"scheme": "iid", **tests}, **pool}
    yield partial(simulated, "sequential"), [population, SIDE, limits, RULE], {"how": tests, **pool}
    drawn = {"n_resamples": 9, "n": 3, "first": 0, "weight_sets": 2, "threads": 2}
    yield partial(simulated, "draws"), [population], {"how": drawn, **pool}

    yield from cases_of_agreement()
    yield from cases_of_tuning()
    yield from cases_of_texts()


def cases_of_agreement() -> Iterator[Case]:
    """Agreement of metrics with people."""
    human, by = SCORES[0] + SCORES[1] % 2, np.array([[0, 1]])
    names = [("none", "pearson"), ("item", "kendall-b"), ("sys", "acc23")]
    votes = [ROWS, ROWS * 0, ROWS * 0 + 1, ROWS + 1]
    yield _core.meta_votes, [SCORES, *votes], {"threads": 2}
    yield _core.meta_pair_counts, [SCORES, human, "sys"], {"epsilons": np.ones(2)}
    yield _core.meta_cell_counts, [SCORES, human, "item", np.ones(2)], {"threads": 2}
    yield _core.meta_calibrate, [SCORES, human, "none"], {"threads": 2}
    yield _core.meta_permuted, [SCORES, human, names, "both", by], REPLICATES
    yield _core.meta_permuted_votes, [SCORES, *votes, "half", "both", by], REPLICATES
    copies = (np.ones((65, 3), np.uint32), np.ones((65, 20), np.uint32))
    yield _core.meta_drawn, [SCORES, human, names, "both"], {"copies": None, **REPLICATES}
    yield _core.meta_drawn, [SCORES, human, names, "both"], {"copies": copies, **REPLICATES}
    soft = {"permutations": 65, "inner_seed": 1, "threads": 2}
    formulas = [(MEAN, WIDE, False, True), (BLEU, COUNTS, True, False)]
    people, segments = np.full(3, 0.5), np.arange(20, dtype=np.uint32)
    yield _core.meta_soft_drawn, [(MEAN, WIDE, False, True), formulas, "both"], {**soft, **REPLICATES, "n": 9}
    of_all = np.arange(70, dtype=np.uint32)
    yield _core.meta_soft_pvalues, [(MEAN, WIDE, False, True), formulas, of_all], soft
    yield _core.meta_soft_values, [SCORES, people, segments], soft
    yield _core.meta_soft_permuted, [SCORES, people, segments, "both", by], {**soft, **REPLICATES, "n": 9}


def cases_of_tuning() -> Iterator[Case]:
    """Weights of features of k-best lists."""
    lists: list[Any] = [OFFSETS, DENSE, SPARSE]
    runs: dict[str, Any] = {"seeds": [1, 2], "threads": 2}
    gains, lengths, targets = RANDOM.random(70), np.ones(2), np.array([3, 29])
    line: dict[str, Any] = {"margin": 0.1, "min_width": 1e-9, "threads": 2}
    ranges: dict[str, Any] = {"start": [1.0] * 3, "low": [0.0] * 3, "high": [1.0] * 3}
    limits: dict[str, Any] = {"preset": "cdec", "restarts": 1, "random_directions": 1, "max_steps": 2}
    searched = [OFFSETS, DENSE, COUNTS[0], BLEU]
    yield _core.tune_line_search, [*searched, np.ones(3), np.eye(3)], line
    yield _core.tune_mert, searched, {**ranges, "seeds": [1], **limits, **line}
    starts = np.array([[3, 40]])
    oracle: dict[str, Any] = {"worst": False, "random_starts": 1, "seed": 1, "threads": 2}
    yield _core.tune_oracle, [OFFSETS, COUNTS[0], BLEU, starts], oracle
    per_step: dict[str, Any] = {"per_step": [1, 2], "limit": 3, "tolerance": 1e-2}
    yield _core.tune_l1, [*lists, targets], {"gamma": 1.0, **per_step, "threads": 2}
    mira: dict[str, Any] = {"epochs": 2, "c": 0.01, "decay": 0.999, "background": "hope", "safe_hope": False}
    yield _core.tune_mira, [BLEU, *lists, COUNTS[0], None], {"initial": ONES, **mira, **runs}
    yield _core.tune_mira, [MEAN, *lists, WIDE[0], gains], {"initial": ONES, **mira, **runs}
    pairs: dict[str, Any] = {"samples": 9, "threshold": 0.05, "kept": 5, "iterations": 3}
    yield _core.tune_pro, [*lists, gains], {**pairs, "penalty": 1.0, "tolerance": 0.1, **runs}
    expected: dict[str, Any] = {"initial": ONES, "penalty": 1.0, "epochs": 2, "rate": 0.1}
    yield _core.tune_xbleu, [*lists, gains, lengths], {**expected, **runs}
    yield _core.tune_xbleu_objective, [*lists, gains, lengths, ONES], {"penalty": 1.0, "threads": 2}
    kinds = ["ngram:1", "ngram:2", "presence:2", "phrase", "words"]
    texts: dict[str, Any] = {"sources": ["a b"], "segmentations": ["0-1=0-0 1=1"] * 2, "known": ["ngram:1=a"]}
    yield _core.tune_templates, [ROWS, ["a b", "b c"], kinds], {**texts, "edges": True, "minimum": 1}


def cases_of_texts() -> Iterator[Case]:
    """Texts and files."""
    for metric, spec in zip(METRICS, _core.metrics(), strict=True):
        text = PARSE if spec.reads_parses else LINE
        yield _core.count, [[metric, metric], [[text] * 2] * 2, [[text] * 2, [text, None]]], {"threads": 2}
    for tokenizer in _core.tokenizers():
        yield _core.tokenize, [[LINE, LINE], tokenizer.name], {}
    words = LINE.split(" ")
    yield _core.count_tokens, [BLEU, [words], [[words, words[1:]]]], {"each_reference": True, "threads": 2}
    yield _core.common_ngrams, [[words], [[words[1:]]], 4], {}
    yield _core.broken_parse, [[PARSE, PARSE]], {}
    yield _core.read_comet, [COMET], {}
    yield with_files, ["meteor", WORDS, WORDS], {}
    yield with_files, ["wordnet", INDEX, b"geese goose\n"], {}
    yield with_files, ["prefixes", LINE.encode()], {}
    yield with_files, ["function", LINE.encode()], {}
    yield lists_of, [[KBEST, KBEST], ["lm"], ROWS, [["a"] * 2], ["a", "b c", ""], ONES, 2], {}
    yield _core.NBest.of_texts, [[["a", "b c"], ["\0 ||| a"]]], {}
    yield lambda rows: read_attributes(LISTS.selected(rows)), [ROWS], {}
    yield LISTS.utilities, [BLEU, ONES[:3]], {"texts": ["a", "b c", ""], "threads": 2}
    yield LISTS.count, [BLEU, [["a"] * 2]], {"texts": ["a", "b c", ""], "threads": 2}


# --- Damage

NUMBERS = [0, 1, 2, 63, 64, 65, 70, 700, 2**31, 2**32, 2**33 + 1, 2**40, 2**53, 2**62, 2**63, 2**64 - 1, 2**70, -1]
# The stacks of hundreds of threads would leave no room for anything else.
THREADS = [0, 1, 3, 4097, 2**40, 2**64 - 1, 2**70, -1]
REALS = [0.0, -0.0, 0.5, -1.0, 1e300, -1e300, 5e-324, np.inf, -np.inf, np.nan]
PIECES = (
    '\0 \t \n \r\n \u0085 \u2028 \u001c ||| = - . # " \\u \\ud83d { } [ ] , &amp; _ 1e999 nan -1 18446744073709551616 '
    "9223372036854775808 \ud800 é 😀 İ ½"
).split(" ")


def damaged_text(text: str, random: np.random.Generator) -> str:
    """A text with up to four changes."""
    for _ in range(random.integers(1, 5)):
        a, b, c = sorted(random.integers(0, len(text) + 1, 3).tolist())
        piece = [*PIECES, "", text[a:b], text[a:b] * 70][random.integers(0, len(PIECES) + 3)]
        text = (text[:a] + piece + text[c if random.random() < 0.5 else a :])[:5000]
    return text


def one_of(values: Any, random: np.random.Generator) -> Any:
    return values[random.integers(len(values))]


def damaged(value: Any, random: np.random.Generator) -> Any:
    """A value, or a part of it, replaced by one that is wrong or unusual."""
    if isinstance(value, np.ndarray):
        if not value.size:
            return value
        value = np.atleast_1d(value)
        return one_of([*in_other_shapes(value), *with_other_numbers(value, random)], random)
    if isinstance(value, list) and (not value or random.random() < 0.2):
        return one_of([[], value[1:], value * 2, [*value, None]], random)
    if isinstance(value, list | tuple):
        at = random.integers(len(value))
        return type(value)(damaged(each, random) if i == at else each for i, each in enumerate(value))
    if isinstance(value, dict) and value:
        key = one_of([*value], random)
        return {**value, key: one_of(THREADS, random) if key == "threads" else damaged(value[key], random)}
    if isinstance(value, bytes):
        return damaged_text(value.decode("utf-8", "surrogatepass"), random).encode("utf-8", "surrogatepass")
    if isinstance(value, str):
        return one_of(NAMES, random) if random.random() < 0.5 else damaged_text(value, random)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return one_of(NUMBERS, random)
    if isinstance(value, float):
        return one_of(REALS, random)
    if isinstance(value, _core.Metric):
        return one_of([None, *METRICS], random)
    return one_of([0, 0.5], random) if value is None else value


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
    types = "d f q i Q I B ? D O U9".split()  # codes of NumPy
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield from map(array.astype, types)
    yield array.tolist()
    yield memoryview(array)


def in_other_shapes(array: Any) -> Iterator[Any]:
    """Other numbers of dimensions, rows and columns."""
    yield from (array[None], array[..., None], array.ravel(), array[0], array[:0], array[..., :0], array[1:].copy())
    yield np.concatenate([array, array])
    if array.ndim > 1:
        yield np.zeros((2**40, *[0] * array.ndim)[: array.ndim], array.dtype)


def with_other_numbers(array: Any, random: np.random.Generator) -> Iterator[Any]:
    """Some numbers replaced by others: ends of ranges, and what is no number."""
    wrong: list[Any] = [0, 1, 2, 63, 64, 2**31, 2**53, 2**62, 2**63 - 1]
    if array.dtype.kind == "f":
        wrong = REALS
    elif array.dtype.kind == "i":
        wrong += [-1, -(2**31), -(2**62), -(2**63)]
    elif array.dtype == np.uint64:  # words of a state, some of which are floats
        wrong += [2**63, 2**64 - 1, *np.array([2.0, -1.0, 5e-324, np.nan]).view(np.uint64).tolist()]
    for _ in range(9):
        changed = array.copy()
        places = random.integers(0, random.choice([min(12, array.size), array.size]), random.integers(1, 4))
        with np.errstate(all="ignore"):
            changed.flat[places] = np.array(one_of(wrong, random)).astype(array.dtype)
        yield changed


# --- The test


def give_up(_number: int, _frame: object) -> None:
    """Interrupt a call that takes too long."""
    raise TimeoutError


def outcome(function: Callable[..., object], arguments: Sequence[Any], named: dict[str, Any]) -> list[object] | None:
    """What a function returns, or None if it refuses its arguments or takes too long."""
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            return [function(*arguments, **named)]
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except EXPECTED as error:
        if isinstance(error.__context__, BaseException) and not isinstance(error.__context__, Exception):
            raise  # a panic, during which the time was over
        return None


def check_layouts(case: Case, random: np.random.Generator) -> None:
    """An array in another layout or type that is not refused has the result of its copy."""
    function, arguments, named = case
    places = [at for at, each in enumerate(arguments) if isinstance(each, np.ndarray)]
    if not places:
        return
    at = one_of(places, random)
    array = arguments[at]

    def with_array(variant: Any) -> Any:
        return outcome(function, [*arguments[:at], variant, *arguments[at + 1 :]], named)

    for variant in (*in_other_types(array), *in_other_layouts(array)):
        found = with_array(variant)
        if found is not None:
            np.testing.assert_equal(found, with_array(np.array(variant, array.dtype, order="C")))


def main(examples: int, *, same: bool) -> None:
    """Make calls with damaged arguments, the same ones in every run or new ones."""
    signal.signal(signal.SIGALRM, give_up)
    gc.disable()  # an exception raised by a signal handler during garbage collection is lost
    faulthandler.enable()
    every = [*cases()]
    for function, arguments, named in every:
        function(*arguments, **named)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    start = 0 if same else int(np.random.default_rng().integers(2**32))
    for number in range(start, start + examples):
        random = np.random.default_rng(number)
        function, arguments, named = case = one_of(every, random)
        try:
            if random.random() < 0.2:
                check_layouts(case, random)
            for _ in range(20):
                changed, how = tuple(arguments), named
                for _ in range(random.integers(1, 4)):
                    if named and random.random() < 0.4:
                        how = damaged(how, random)
                    else:
                        changed = damaged(changed, random)
                outcome(function, changed, how)
        except BaseException:
            print(f"example {number}: {function}", file=sys.stderr)
            raise
    print("all calls returned or raised")


if __name__ == "__main__":
    main(int(sys.argv[1]), same=sys.argv[2] == "same")
