"""NLTK's scores counted by reshuffle equal NLTK's own, to the last digit, with its warnings and errors."""

from __future__ import annotations

import inspect
import logging
import math
import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.corpus.reader.wordnet import WordNetCorpusReader
from nltk.stem.porter import PorterStemmer
from nltk.stem.snowball import EnglishStemmer
from nltk.translate import bleu_score, chrf_score, gleu_score, meteor_score, nist_score
from nltk.translate.bleu_score import SmoothingFunction

from budgets import budget
from reshuffle import compat, metric
from reshuffle.compat import nltk as dropin
from reshuffle.compat.nltk.smoothing import keywords
from texts import ASSIGNED

MODULES = {
    module.__name__.rpartition(".")[2]: module
    for module in (bleu_score, chrf_score, gleu_score, meteor_score, nist_score)
}
CORPUS = {name: f"corpus_{name}" for name in ("bleu", "nist", "gleu", "chrf")}

# --- inputs

TOKENS = st.sampled_from([*"aaabbbcd", "the", "a b", "", " ", "é", "\u2028", "\x1c", "\x85", "0", "a\tb", "\x00"])
PLAIN = st.lists(st.sampled_from("aaabbbcd"), max_size=9)
SENTENCES = PLAIN | st.lists(TOKENS, max_size=8)
# What is not a list of strings.
UNUSUAL = st.one_of(
    SENTENCES.map(tuple),
    st.lists(TOKENS, max_size=5).map(" ".join),
    st.lists(TOKENS | st.integers(0, 1) | st.none() | st.just("\ud800") | st.just(np.str_("a")), max_size=5),
    st.none(),
)


def segments_of(sentences: st.SearchStrategy[Any], least: int, most: int) -> st.SearchStrategy[Any]:
    return st.tuples(sentences, st.lists(sentences, min_size=least, max_size=most))


@st.composite
def corpora(draw: st.DrawFn) -> tuple[Any, Any]:
    """References and hypotheses, mostly as NLTK expects them."""
    kind = draw(st.sampled_from(["plain"] * 4 + ["any"] * 3 + ["unusual"]))
    sentences = {"plain": PLAIN, "any": SENTENCES, "unusual": SENTENCES | UNUSUAL}[kind]
    segments = draw(
        st.lists(segments_of(sentences, int(kind != "unusual"), 3), min_size=int(kind == "plain"), max_size=4)
    )
    references, hypotheses = [r for _, r in segments], [h for h, _ in segments]
    if kind == "unusual" and draw(st.booleans()):
        change: Callable[[Any], Any] = draw(
            st.sampled_from([tuple, lambda texts: texts[1:], lambda texts: [*texts, []]])
        )
        return change(references), hypotheses
    return references, hypotheses


WEIGHT = st.sampled_from([0, 0.25, 0.5, 1, 0.01])
WEIGHTS = st.one_of(
    st.just((0.25,) * 4),
    st.lists(WEIGHT, max_size=6).map(tuple),
    st.lists(st.lists(WEIGHT, min_size=1, max_size=6).map(tuple), min_size=1, max_size=3),
    st.just(np.full(4, 0.25)),
    st.sampled_from([None, [0.25] * 4, (1,), [[]], 0.5, "ab"]),
)


class Doubled(SmoothingFunction):  # type: ignore[misc] # NLTK has no types
    def method1(self, p_n: Any, *args: Any, **kwargs: Any) -> Any:
        return [2 * p for p in super().method1(p_n)]


@st.composite
def smoothings(draw: st.DrawFn) -> Any:
    number = draw(st.sampled_from([None, *range(8), "own", "override", "partial"]))
    if number is None:
        return None
    if isinstance(number, int):
        options: dict[str, Any] = draw(st.sampled_from([{}, {"epsilon": 0.3}, {"epsilon": 0}, {"k": 2}, {"alpha": 1}]))
        return getattr(SmoothingFunction(**options), f"method{number}")
    return {
        "own": lambda p_n, references, hypothesis, hyp_len: [
            *p_n[:1],
            len(references) / (1 + len(hypothesis) + hyp_len),
        ],
        "override": Doubled().method1,
        "partial": lambda p, **_: SmoothingFunction().method2(p),
    }[number]


ORDERS = st.tuples(st.sampled_from([1, 1, 1, 2, 0]), st.sampled_from([4, 3, 2, 1, 6, 17, -1]))
TEXTS = st.one_of(
    st.text(ASSIGNED, max_size=12), st.text("ab \n\x1c", max_size=12), PLAIN, SENTENCES, SENTENCES.map(tuple), UNUSUAL
)
PAIRS = st.lists(st.tuples(TEXTS, TEXTS), max_size=4)
BETAS = st.sampled_from([3.0, 1, 2, 0, 0.5, -1.0, 1e7, math.nan, None])

ARGUMENTS: dict[str, st.SearchStrategy[tuple[Any, ...]]] = {
    "bleu": st.tuples(corpora(), WEIGHTS, smoothings(), st.booleans()).map(lambda of: (*of[0], *of[1:])),
    "nist": st.tuples(corpora(), st.sampled_from([1, 2, 3, 5, 0, 101])).map(lambda of: (*of[0], of[1])),
    "gleu": st.tuples(corpora(), ORDERS).map(lambda of: (*of[0], *of[1])),
    "chrf": st.tuples(PAIRS, ORDERS, BETAS, st.booleans()).map(
        lambda of: ([r for r, _ in of[0]], [h for _, h in of[0]], *of[1], *of[2:])
    ),
}


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result or the error, and the warnings with their places."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result: Any = function(*arguments)
        except Exception as error:
            result = type(error), str(error)
    return repr(result), [(str(w.message), w.category, w.filename, w.lineno) for w in caught]


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "reshuffle.compat")


EXAMPLES = pytest.mark.parametrize("number", [budget(120), pytest.param(25_000, marks=pytest.mark.slow)])


@EXAMPLES
@pytest.mark.parametrize("name", CORPUS)
def test_any_input_gives_the_results_of_nltk(name: str, number: int) -> None:
    theirs = getattr(MODULES[f"{name}_score"], CORPUS[name])
    ours = getattr(getattr(dropin, f"{name}_score"), CORPUS[name])

    @settings(max_examples=number)
    @given(ARGUMENTS[name])
    def check(arguments: tuple[Any, ...]) -> None:
        # Methods 3 to 7 change a list that they are given, so nothing may be shared.
        assert outcome(ours, *arguments) == outcome(theirs, *arguments)

    check()


@pytest.mark.parametrize("name", CORPUS)
def test_ordinary_input_is_counted_here(name: str) -> None:
    """The tests above would pass if everything were left to NLTK."""
    seam = getattr(dropin, f"{name}_score").SEAM
    function = getattr(getattr(dropin, f"{name}_score"), CORPUS[name])
    segments = segments_of(SENTENCES | st.lists(TOKENS).map("".join), 1, 3)

    @settings(max_examples=budget(60))
    @given(st.lists(segments, min_size=1, max_size=4))
    def check(corpus: list[tuple[Any, Any]]) -> None:
        hypotheses, references = [[*h, *"abcde"] for h, _ in corpus], [[[*"abdec"], *r] for _, r in corpus]
        if name == "chrf":
            outcome(function, [r[-1] for r in references], hypotheses, 1, 4, 2, False)
        else:
            outcome(function, references, hypotheses)

    before = dict(seam.fallbacks)
    check()
    assert seam.fallbacks == before


@pytest.mark.parametrize("name", CORPUS)
def test_scores_of_sentences_are_those_of_corpora_of_one(name: str) -> None:
    function = f"sentence_{name}"
    module, host = getattr(dropin, f"{name}_score"), MODULES[f"{name}_score"]
    reference, hypothesis = "the cat sat on the mat".split(), "a cat sat on the mat".split()
    references: Any = reference if name == "chrf" else [reference, hypothesis[::-1]]
    of_sentence = getattr(module, function)(references, hypothesis)
    assert of_sentence == getattr(host, function)(references, hypothesis)
    assert of_sentence == getattr(module, CORPUS[name])([references], [hypothesis])


# --- METEOR

WORDS = st.sampled_from(["cat", "cats", "Cats", "big", "large", "larger", "run", "running", "jog", "a_b", "x", "y"])
GROUPS = [{"big", "larg", "a_b"}, {"run", "jog"}, {"run", "x", "big"}]


class Synonyms:
    """A small WordNet, which is asked for stems."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def synsets(self, word: str) -> Iterator[Any]:
        self.asked.append(word)
        for group in GROUPS:
            if word in group:
                lemmas = [SimpleNamespace(name=lambda name=name: name) for name in sorted(group)]
                yield SimpleNamespace(lemmas=lambda lemmas=lemmas: lemmas)


class Shouting(PorterStemmer):  # type: ignore[misc]
    def stem(self, word: str) -> str:
        return f"{super().stem(word)}!"


STEMMERS = [PorterStemmer(), PorterStemmer(PorterStemmer.ORIGINAL_ALGORITHM), EnglishStemmer(), Shouting()]
METEOR_TEXTS = st.lists(WORDS, max_size=9) | st.lists(WORDS, max_size=5).map(tuple) | st.just("cat")
METEOR = st.tuples(
    st.lists(METEOR_TEXTS, max_size=3),
    METEOR_TEXTS,
    st.sampled_from([str.lower, str, str.upper]),
    st.sampled_from(STEMMERS),
    st.sampled_from([0.9, 0.5, 0, 1]),
    st.sampled_from([3.0, 0.2]),
    st.sampled_from([0.5, 0]),
)


@EXAMPLES
def test_meteor_gives_the_results_of_nltk(number: int) -> None:
    @settings(max_examples=number)
    @given(METEOR)
    def check(arguments: tuple[Any, ...]) -> None:
        (*texts, preprocess, stemmer), parameters = arguments[:4], arguments[4:]
        asked, results = [], []
        for module in (dropin.meteor_score, meteor_score):
            wordnet = Synonyms()
            results.append(outcome(module.meteor_score, *texts, preprocess, stemmer, wordnet, *parameters))
            asked.append(wordnet.asked)
        assert results[0] == results[1]
        assert asked[0] == asked[1]

    check()


def test_synonyms_and_stems_of_nltks_own_classes_are_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    synonyms, stemmed, porter = Synonyms(), [], PorterStemmer.stem

    def stem(self: Any, word: str) -> Any:
        stemmed.append(word)
        return porter(self, word)

    monkeypatch.setattr(WordNetCorpusReader, "synsets", lambda self, word: synonyms.synsets(word))
    monkeypatch.setattr(PorterStemmer, "stem", stem)
    wordnet = WordNetCorpusReader.__new__(WordNetCorpusReader)
    texts = ["the", "big", "runs"], ["a", "large", "jog"]
    scores = [dropin.meteor_score.single_meteor_score(*texts, wordnet=wordnet) for _ in range(3)]
    assert (synonyms.asked, stemmed) == (["jog", "larg", "a"], ["a", "large", "jog", "the", "big", "runs"])
    assert scores == [meteor_score.single_meteor_score(*texts, wordnet=wordnet)] * 3
    assert scores[0] > 0.5


# --- the smoothing functions of a corpus


def test_methods_5_to_7_use_the_last_sentence_as_the_installed_version_does() -> None:
    references = [["the cat sat on the mat".split()], ["a dog barked at the moon all night".split()]]
    hypotheses = ["the cat sat on a mat".split(), "a dog barked at the moon tonight".split()]
    for method in ("method5", "method6", "method7"):
        smoothing = getattr(SmoothingFunction(), method)
        scores = [
            function(references[::step], hypotheses[::step], smoothing_function=smoothing)
            for function in (bleu_score.corpus_bleu, dropin.bleu_score.corpus_bleu)
            for step in (1, -1)
        ]
        assert scores[:2] == scores[2:]
        if "list_of_references" not in (keywords(bleu_score.corpus_bleu) or ()):
            assert scores[0] != scores[1]


def test_what_is_passed_to_a_smoothing_function_is_read_from_the_installed_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def proposed(f: Any, p: Any) -> Any:
        return f(p, references=1, hypothesis=2, hyp_len=3, list_of_references=4, hypotheses=5)

    def unknown(f: Any, p: Any) -> Any:
        return f(p, references=1, hypothesis=2, hyp_len=3, order=4)

    module = dropin.bleu_score
    assert keywords(bleu_score.corpus_bleu) is not None
    references, hypotheses = [[["a"]], [["b", "b"]]], [["a"], ["b", "c"]]
    passed: list[dict[str, Any]] = []

    def smooth(p_n: Any, **corpus: Any) -> Any:
        passed.append(corpus)
        return p_n

    monkeypatch.setattr(module, "_KEYWORDS", keywords(proposed))
    module.corpus_bleu(references, hypotheses, (1,), smooth)
    of_sentence = {"references": [["b", "b"]], "hypothesis": ["b", "c"], "hyp_len": 3}
    assert passed == [{**of_sentence, "list_of_references": references, "hypotheses": hypotheses}]
    monkeypatch.setattr(module, "_KEYWORDS", keywords(unknown))
    before = module.SEAM.fallbacks.total()
    module.corpus_bleu(references, hypotheses, (1,), smooth)
    module.corpus_bleu(references, hypotheses, (1,))
    assert module.SEAM.fallbacks.total() == before + 1


# --- patching


def test_nltk_is_patched_in_place_and_restored() -> None:
    from nltk.translate import bleu, chrf, gleu, meteor, nist
    from nltk.translate.bleu_score import corpus_bleu

    references, hypothesis = [["the", "cat"]], ["the", "cat"]
    code = corpus_bleu.__code__
    calls = {seam.name: seam.calls for seam in dropin.SEAMS}
    with dropin.install() as patched:
        assert patched.hosts == ("nltk",)
        assert dropin.installed() is not None
        bleu(references, hypothesis, (1,))
        corpus_bleu([references], [hypothesis], weights=(1,))
        chrf("the cat", "the cat")
        gleu(references, hypothesis)
        nist(references, hypothesis, 2)
        meteor(references, hypothesis)
        after = {report.name: report.calls - calls[report.name] for report in dropin.seams()}
    assert after == {"corpus_bleu": 2, "corpus_chrf": 1, "corpus_gleu": 1, "single_meteor_score": 1, "corpus_nist": 1}
    assert dropin.installed() is None
    dropin.install()
    dropin.uninstall()
    assert corpus_bleu.__code__ is code


def test_tokens_that_are_not_strings_are_left_to_nltk() -> None:
    seam = dropin.bleu_score.SEAM
    seam.fallbacks.clear()
    numbers: Any = [[[1, 2, 3, 4]]], [[1, 2, 3, 5]]
    expected = bleu_score.corpus_bleu(*numbers, weights=(0.5, 0.5))
    with compat.install("nltk"):
        assert bleu_score.corpus_bleu(*numbers, weights=(0.5, 0.5)) == expected
    assert seam.fallbacks == {"a token is not a string": 1}


@pytest.mark.parametrize("name", MODULES)
def test_the_modules_have_the_functions_and_parameters_of_nltk(name: str) -> None:
    host, module = MODULES[name], getattr(dropin, name)
    public = {
        key: value
        for key, value in vars(host).items()
        if getattr(value, "__module__", None) == host.__name__ and not key.startswith("_") and key != "Fraction"
    }
    assert {*module.__all__} - {"SEAM"} == set(public)
    for key, value in public.items():
        ours = inspect.signature(getattr(module, key)).parameters.values()
        theirs = inspect.signature(value).parameters.values()
        assert [(p.name, p.kind, repr(p.default)) for p in ours] == [(p.name, p.kind, repr(p.default)) for p in theirs]


def test_counts_of_tokens_are_those_of_lines() -> None:
    bleu = metric("sentbleu", tokenize="none")

    @settings(max_examples=budget(100))
    @given(st.lists(segments_of(PLAIN, 1, 3), min_size=1, max_size=4))
    def check(segments: list[tuple[list[str], list[list[str]]]]) -> None:
        hypotheses, references = [h for h, _ in segments], [r for _, r in segments]
        columns = [[" ".join(r[i]) if i < len(r) else None for r in references] for i in range(3)]
        lines = bleu.suff_stats(columns, [[*map(" ".join, hypotheses)]])[0]
        assert bleu.counted_tokens(references, hypotheses).tolist() == lines.tolist()
        pairs = [(h, [r]) for h, of in segments for r in of]
        each = bleu.counted_tokens([r for _, r in pairs], [h for h, _ in pairs])
        assert bleu.counted_tokens(references, hypotheses, each_reference=True).tolist() == each.tolist()

    check()
