"""Cases with programs that are written for NLTK, and run on reshuffle through its drop-in backend."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

from benches.data import OTHER, Texts

from ..agreement import DisagreementError
from ..race import Contender, Measurement, Race, Skipped, call
from ..rivals import name, unless_missing

__all__ = ["nltk"]

HOST, DROPIN = "nltk.translate", "reshuffle.compat.nltk"
# The functions for a corpus, with their targets.
CORPUS_SCORES = {"bleu": 40, "nist": None, "gleu": None, "chrf": None}
# sentence_bleu is called with NLTK's default, and with these of its smoothing methods.
SMOOTHINGS = (None, 1, 4, 7)


def same_results(expected: Any, *others: Any) -> None:
    """Check that the results are those of NLTK, to the last digit."""
    for actual in others:
        if expected != actual:
            raise DisagreementError(f"results differ: {str(expected)[:80]} and {str(actual)[:80]}")


def prepared(measure: Callable[[], Measurement], *, patch: bool = False) -> Callable[[], Measurement]:
    """The same measurement without NLTK's warnings about orders without a match, perhaps with NLTK patched."""

    def run() -> Measurement:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not patch:
                return measure()
            with import_module(DROPIN).install(log="off"):
                return measure()

    return run


def forget_words() -> None:
    """Empty the drop-in's caches of stems and synonyms."""
    module = import_module(f"{DROPIN}.meteor_score")
    for function in (module._porter, module._kept_names):
        function.cache_clear()


def race(what: str, module: str, make: Callable[[Any], Callable[[], Any]], n: int, target: float | None) -> Race:
    """NLTK, the drop-in, and patched NLTK. ``make`` takes the module to use."""

    def contender(title: str, package: str, *, patch: bool = False, at_most: int = 10**6) -> Contender:
        def run() -> Any:
            return make(import_module(f"{package}.{module}"))()

        measure = prepared(call(run, forget_words), patch=patch)
        return Contender(
            title, measure, target=None if package == HOST and not patch else target, at_most=at_most, things=n
        )

    host = name("nltk").upper()
    contenders: list[Contender | Skipped] = [
        unless_missing("nltk", HOST, contender(host, HOST, at_most=3)),
        contender(DROPIN, DROPIN),
        contender(f"{host} after install()", HOST, patch=True),
    ]
    return Race(what, contenders, same_results)


def nltk(texts: Texts) -> list[Race]:
    """Shows the speed-up of programs that call NLTK's scores of translations, from tokens to results: of a system, and
    of one sentence after the other. The program either imports the drop-in instead of NLTK, or runs with NLTK patched.
    Results must be equal to the last digit. METEOR needs NLTK's data package wordnet."""
    hypotheses = [line.split() for line in texts.systems[OTHER]]
    references = [[line.split()] for line in texts.references[0]]

    def corpus(key: str, module: Any) -> Callable[[], Any]:
        flat = [reference for (reference,) in references]
        return partial(getattr(module, f"corpus_{key}"), flat if key == "chrf" else references, hypotheses)

    def sentences(method: int | None, module: Any) -> Callable[[], Any]:
        smoothing = import_module(f"{HOST}.bleu_score").SmoothingFunction()
        function = None if method is None else getattr(smoothing, f"method{method}")
        pairs = list(zip(references, hypotheses, strict=True))
        return lambda: [module.sentence_bleu(r, h, smoothing_function=function) for r, h in pairs]

    def meteor(pairs: Sequence[Any], module: Any) -> Callable[[], Any]:
        return lambda: [module.meteor_score(r, h) for r, h in pairs]

    n = len(hypotheses)
    races = [
        race(f"corpus_{key}, {n:,} segments", f"{key}_score", partial(corpus, key), 1, target)
        for key, target in CORPUS_SCORES.items()
    ]
    for method in SMOOTHINGS:
        what = f"sentence_bleu, {'no smoothing' if method is None else f'method{method}'}, per segment"
        races.append(race(what, "bleu_score", partial(sentences, method), n, 5))
    if has_wordnet():
        pairs = list(zip(references, hypotheses, strict=True))
        what = "meteor_score, per segment"
        races.append(race(what, "meteor_score", partial(meteor, pairs), len(pairs), None))
    return races


def has_wordnet() -> bool:
    """Whether NLTK finds WordNet."""
    try:
        import_module("nltk.corpus").wordnet.ensure_loaded()
    except (ImportError, LookupError):
        return False
    return True
