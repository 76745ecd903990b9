"""The corpus of ``reshuffle demo``: small, artificial, and the same every time.

The reference is generated from templates of sentences about a harbour town. The four systems are copies of it with
random errors: dropped words, wrong synonyms, swapped neighbours. One system makes fewer errors than the baseline, one
more, and one makes errors at the same rate, so that its higher score is due to chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ..errors import InputError
from .corpus import Corpus

__all__ = ["REFERENCE_FILE", "demo_corpus", "write_demo"]

N_SEGMENTS = 400
SEED = 2005
REFERENCE_FILE = "reference.txt"

# Probability that a system gets a word wrong, in 256ths.
ERROR_RATES = {"baseline": 40, "tuned": 40, "larger": 27, "rules": 72}

TEMPLATES = (
    "The {who} {did} the {what} {when}.",
    "{When}, the {who} {did} a {how} {what} near the {where}.",
    "Nobody at the {where} had seen the {who} since {year}.",
    "It takes {number} minutes to walk from the {where} to the old {where2}.",
    "The {who} said that the {what} was {how} and too expensive.",
    'According to the {who}, "the {what} belongs to the {where}".',
    "A {how} {what} costs {number} crowns at the {where}, but only {number2} in winter.",
    "Why would a {who} leave a {how} {what} behind the {where2}?",
    "{When}, {number} people crossed the {where}; most of them carried a {what}.",
    "The {who} and the {who2} agreed to meet at the {where} {when}.",
    "If the {what} is not {how}, the {who} will not pay for it.",
    "Rain fell on the {where}, and the {who} {did} a {what} under a {how} roof.",
)

WORDS = {
    "who": "fisherman teacher captain baker stranger widow doctor clerk singer carpenter pilot gardener".split(),
    "did": "repaired sold forgot found carried painted borrowed described measured hid".split(),
    "what": "lantern map boat letter piano bicycle net chair clock bottle suitcase compass".split(),
    "how": "small heavy yellow broken beautiful wooden quiet strange empty ancient".split(),
    "where": "harbour market bridge lighthouse station library square customs-house".split(),
    "when": ["yesterday", "before sunrise", "last summer", "in the evening", "after the storm", "on Sunday"],
    "year": "1948 1961 1972 1985 1993 2004".split(),
    "number": "12 25 40 1,500 3.5 90".split(),
}

SYNONYMS = {
    "small": "little",
    "heavy": "weighty",
    "broken": "damaged",
    "beautiful": "lovely",
    "ancient": "old",
    "strange": "odd",
    "boat": "ship",
    "harbour": "port",
    "market": "bazaar",
    "stranger": "foreigner",
    "doctor": "physician",
    "repaired": "fixed",
    "found": "discovered",
    "sold": "was selling",
    "carried": "bore",
    "Nobody": "No one",
    "evening": "night",
    "people": "persons",
    "pay": "spend",
    "agreed": "decided",
    "costs": "is costing",
    "The": "A",
    "the": "a",
    "a": "the",
    "said": "told",
    "leave": "let",
    "walk": "go",
}


def _random_bytes(stream: int) -> Iterator[int]:
    """Random bytes for the reference (0) or a system (1, 2 …).

    From numpy's generator, so that the corpus stays the same even if the generator of the replicates changes.
    """
    key, counter = np.array([SEED, stream], dtype=np.uint64), np.array([0, 0, 0, 1], dtype=np.uint64)
    values = np.random.Philox(key=key, counter=counter).random_raw(1 << 15)
    yield from values.view("uint8").tolist()


def _sentence(random_bytes: Iterator[int], number: int) -> str:
    """The reference's sentence of this number."""

    def pick(words: Sequence[str]) -> str:
        return words[next(random_bytes) % len(words)]

    slots = {name: pick(words) for name, words in WORDS.items()}
    slots |= {f"{name}2": pick(WORDS[name]) for name in ("who", "where", "number")}
    slots["When"] = slots["when"].capitalize()
    return TEMPLATES[(number * 5 + next(random_bytes) % 3) % len(TEMPLATES)].format_map(slots)


def _translate(sentence: str, rate: int, random_bytes: Iterator[int]) -> str:
    """A sentence with errors at ``rate``/256 of its words."""
    words: list[str] = []
    for word in sentence.split():
        if next(random_bytes) >= rate:
            words.append(word)
            continue
        error = next(random_bytes) % 4
        if error == 0 and len(words) > 1:
            words.insert(-1, word)
        elif error != 1:
            words.append(SYNONYMS.get(word, word if error == 3 else word.rstrip("s.,") + "s"))
    return " ".join(words) or sentence


def demo_corpus() -> Corpus:
    """The embedded corpus: 400 segments, one reference, four systems.

    >>> corpus = demo_corpus()
    >>> corpus.n_segments, list(corpus.systems)
    (400, ['baseline', 'tuned', 'larger', 'rules'])
    """
    random_bytes = _random_bytes(0)
    reference = [_sentence(random_bytes, number) for number in range(N_SEGMENTS)]
    systems = {}
    for number, (name, rate) in enumerate(ERROR_RATES.items(), 1):
        random_bytes = _random_bytes(number)
        systems[name] = [_translate(sentence, rate, random_bytes) for sentence in reference]
    return Corpus(systems, [reference], (REFERENCE_FILE,))


def write_demo(directory: str) -> list[Path]:
    """Write the corpus to files and return their paths, the reference first. Existing files are not overwritten.

    Raises
    ------
    InputError
        If one of the files exists, or a file cannot be written.
    """
    corpus = demo_corpus()
    folder = Path(directory)
    contents = {folder / REFERENCE_FILE: corpus.references[0]}
    contents |= {folder / f"{name}.txt": lines for name, lines in corpus.systems.items()}
    existing = [str(path) for path in contents if path.exists()]
    if existing:
        raise InputError(f"{', '.join(existing)} exists already: choose another directory")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, lines in contents.items():
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"{directory} cannot be written: {error.strerror or error}") from None
    return list(contents)
