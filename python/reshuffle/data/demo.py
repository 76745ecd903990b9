"""A small made-up corpus to try things on: written for this package, generated the same way every time.

The reference tells of an evening at a harbour town, sentence by sentence, from a few dozen templates. The systems
"translate" it with slips of their own: dropped words, wrong synonyms, swapped neighbours. One slips less often than
the baseline, one more often, and one exactly as often: its better score is chance, and the demo should show it.
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

# How often each system slips at a word, in 256ths.
SLIPS = {"baseline": 40, "tuned": 40, "larger": 27, "rules": 72}

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


def _choices(replicate: int) -> Iterator[int]:
    """Endless random bytes: the package's own stream, so that the corpus never changes."""
    # numpy's own stream of words, which the corpus keeps whatever becomes of the streams of replicates.
    key, counter = np.array([SEED, replicate], dtype=np.uint64), np.array([0, 0, 0, 1], dtype=np.uint64)
    words = np.random.Philox(key=key, counter=counter).random_raw(1 << 15)
    yield from words.view("uint8").tolist()


def _sentence(choices: Iterator[int], number: int) -> str:
    def pick(words: Sequence[str]) -> str:
        return words[next(choices) % len(words)]

    slots = {name: pick(words) for name, words in WORDS.items()}
    slots |= {f"{name}2": pick(WORDS[name]) for name in ("who", "where", "number")}
    slots["When"] = slots["when"].capitalize()
    return TEMPLATES[(number * 5 + next(choices) % 3) % len(TEMPLATES)].format_map(slots)


def _translate(sentence: str, rate: int, choices: Iterator[int]) -> str:
    words: list[str] = []
    for word in sentence.split():
        if next(choices) >= rate:
            words.append(word)
            continue
        slip = next(choices) % 4
        if slip == 0 and len(words) > 1:
            words.insert(-1, word)
        elif slip != 1:
            words.append(SYNONYMS.get(word, word if slip == 3 else word.rstrip("s.,") + "s"))
    return " ".join(words) or sentence


def demo_corpus() -> Corpus:
    """The embedded corpus: 400 segments, one reference, four systems.

    >>> corpus = demo_corpus()
    >>> corpus.n_segments, list(corpus.systems)
    (400, ['baseline', 'tuned', 'larger', 'rules'])
    """
    choices = _choices(0)
    reference = [_sentence(choices, number) for number in range(N_SEGMENTS)]
    systems = {}
    for number, (name, rate) in enumerate(SLIPS.items(), 1):
        choices = _choices(number)
        systems[name] = [_translate(sentence, rate, choices) for sentence in reference]
    return Corpus(systems, [reference], (REFERENCE_FILE,))


def write_demo(directory: str) -> list[Path]:
    """Write the corpus as files, the reference first, and give their paths. Nothing that exists is overwritten.

    Raises
    ------
    InputError
        If one of the files exists or the directory cannot be written.
    """
    corpus = demo_corpus()
    folder = Path(directory)
    contents = {folder / REFERENCE_FILE: corpus.references[0]}
    contents |= {folder / f"{name}.txt": lines for name, lines in corpus.systems.items()}
    existing = [str(path) for path in contents if path.exists()]
    if existing:
        raise InputError(f"not overwriting {', '.join(existing)}: choose a directory without these files")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, lines in contents.items():
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"{directory} cannot be written: {error.strerror or error}") from None
    return list(contents)
