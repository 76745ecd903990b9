"""The corpus of ``reshuffle demo``: small, artificial, and the same every time.

The reference is generated from templates of sentences about a harbour town. The four systems are copies of it with
random errors: dropped words, wrong synonyms, swapped neighbours. One system makes fewer errors than the baseline, one
more, and one makes errors at the same rate, so that its higher score is due to chance.

Runs of the systems, as from an optimizer with several seeds, share some of their sentences and differ in their error
rates.

Judgments are votes of simulated people, who mind lost words most and synonyms little.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from ..errors import InputError, listed, writing
from ..validate import check_integer
from .corpus import Corpus

N_SEGMENTS = 400
SEED = 2005
REFERENCE_FILE = "reference.txt"
JUDGMENTS_FILE = "judgments.rank"
SYSTEMS_FOLDER = "systems"

# Probability that a system gets a word wrong, in 256ths.
ERROR_RATES = {"baseline": 40, "tuned": 40, "larger": 27, "rules": 72}

# Systems of which there are runs. The error rates of runs differ by at most so much, in 256ths.
SYSTEMS_WITH_RUNS = ("baseline", "tuned", "larger")
RATE_STEP = 3
MAX_RUNS = 100

# What the simulated people mind: a lost word, and one replaced by a synonym; the weight of this beside chance; and how
# many of 256 pairs of outputs they see.
LOST, REPLACED, WEIGHT, SEEN = 3, 1, 20, 160

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
    "small": "little", "heavy": "weighty", "broken": "damaged", "beautiful": "lovely", "ancient": "old",
    "strange": "odd", "boat": "ship", "harbour": "port", "market": "bazaar", "stranger": "foreigner",
    "doctor": "physician", "repaired": "fixed", "found": "discovered", "sold": "was selling", "carried": "bore",
    "Nobody": "No one", "evening": "night", "people": "persons", "pay": "spend", "agreed": "decided",
    "costs": "is costing", "The": "A", "the": "a", "a": "the", "said": "told", "leave": "let", "walk": "go",
}  # fmt: skip


def random_bytes_of(stream: int, run: int = 0) -> Iterator[int]:
    """Random bytes for the reference (0) or a system (1, 2 …), or for one of its runs (1, 2 …).

    From numpy's generator, so that the corpus stays the same even if the generator of the replicates changes.
    """
    key, counter = np.array([SEED, stream], dtype=np.uint64), np.array([0, 0, run, 1], dtype=np.uint64)
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


def translated(sentence: str, rate: int, random_bytes: Iterator[int]) -> str:
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
    random_bytes = random_bytes_of(0)
    reference = [_sentence(random_bytes, number) for number in range(N_SEGMENTS)]
    systems = {}
    for number, (name, rate) in enumerate(ERROR_RATES.items(), 1):
        random_bytes = random_bytes_of(number)
        systems[name] = [translated(sentence, rate, random_bytes) for sentence in reference]
    return Corpus([reference], systems, (REFERENCE_FILE,))


def demo_runs(n: int) -> dict[str, list[list[str]]]:
    """The outputs of n runs of three systems of the embedded corpus, by system.

    A run takes about half of its sentences from the system's output in :func:`demo_corpus`, which its other runs do,
    too, and makes errors of its own in the rest.

    >>> {name: len(runs) for name, runs in demo_runs(2).items()}
    {'baseline': 2, 'tuned': 2, 'larger': 2}
    """
    check_integer("the number of runs", n, 1, MAX_RUNS)
    corpus = demo_corpus()
    found: dict[str, list[list[str]]] = {}
    for number, (name, rate) in enumerate(ERROR_RATES.items(), 1):
        if name in SYSTEMS_WITH_RUNS:
            sentences = list(zip(corpus.references[0], corpus.systems[name], strict=True))
            found[name] = [_run(sentences, rate, random_bytes_of(number, run + 1)) for run in range(n)]
    return found


def _run(sentences: Sequence[tuple[str | None, str]], rate: int, random_bytes: Iterator[int]) -> list[str]:
    """The output of a run. ``sentences`` are references and the system's output."""
    own_rate = rate - RATE_STEP + next(random_bytes) % (2 * RATE_STEP + 1)
    return [
        shared if next(random_bytes) < 128 else translated(reference or "", own_rate, random_bytes)
        for reference, shared in sentences
    ]


def demo_votes() -> list[tuple[int, str, str]]:
    """Votes of simulated people: segment (from 1), better system, worse system.

    >>> votes = demo_votes()
    >>> len(votes), votes[0]
    (1511, (1, 'larger', 'baseline'))
    """
    corpus = demo_corpus()
    random_bytes = random_bytes_of(len(corpus.systems) + 1)
    votes = []
    for segment, reference in enumerate(corpus.references[0]):
        of = {name: faults(reference or "", lines[segment]) for name, lines in corpus.systems.items()}
        for one, other in combinations(corpus.systems, 2):
            seen, chance = next(random_bytes) < SEEN, next(random_bytes) - 127.5
            better, worse = (one, other) if WEIGHT * (of[other] - of[one]) + chance > 0 else (other, one)
            if seen:
                votes.append((segment + 1, better, worse))
    return votes


def faults(reference: str, output: str) -> int:
    """What people mind in an output."""
    words = set(output.split())
    lost = [word for word in reference.split() if word not in words]
    return sum(REPLACED if words.intersection(SYNONYMS.get(word, "").split()) else LOST for word in lost)


def write_demo(directory: str) -> list[Path]:
    """Write the corpus to files and return their paths, the reference first. Existing files are not overwritten.

    :class:`InputError` if one of the files exists, or a file cannot be written.
    """
    corpus = demo_corpus()
    return written(directory, [(REFERENCE_FILE, corpus.references[0]), *_files(corpus.systems)])


def write_demo_runs(directory: str, n: int) -> tuple[Path, dict[str, list[Path]]]:
    """Write n runs of systems: as :func:`write_demo`. Returns the paths of the reference and of each system's runs."""
    runs = demo_runs(n)
    outputs = {f"{name}.{run}": lines for name, own in runs.items() for run, lines in enumerate(own)}
    reference, *paths = written(directory, [(REFERENCE_FILE, demo_corpus().references[0]), *_files(outputs)])
    rest = iter(paths)
    return reference, {name: [next(rest) for _ in own] for name, own in runs.items()}


def write_demo_judgments(directory: str) -> tuple[Path, Path, Path]:
    """Write the corpus with votes, as :func:`write_demo`, the systems in a folder of their own.

    Returns the paths of the reference, of the folder, and of the judgments in WMT's format ``rank``.
    """
    corpus = demo_corpus()
    votes = [f"{segment}\txx-en\t{better}\txx-en\t{worse}" for segment, better, worse in demo_votes()]
    outputs = {f"{SYSTEMS_FOLDER}/{name}": lines for name, lines in corpus.systems.items()}
    files = [(REFERENCE_FILE, corpus.references[0]), (JUDGMENTS_FILE, votes), *_files(outputs)]
    reference, judgments, *paths = written(directory, files)
    return reference, paths[0].parent, judgments


def _files(outputs: Mapping[str, Sequence[str]]) -> list[tuple[str, Sequence[str]]]:
    return [(f"{name}.txt", lines) for name, lines in outputs.items()]


def written(directory: str, files: Sequence[tuple[str, Sequence[str | None]]]) -> list[Path]:
    """The paths of files with these names and lines, after they are written."""
    folder = Path(directory)
    contents = {folder / name: lines for name, lines in files}
    existing = [str(path) for path in contents if path.exists()]
    if existing:
        exist = "exists" if len(existing) == 1 else "exist"
        raise InputError(f"{listed(existing)} {exist} already: choose another folder")
    with writing(directory):
        folder.mkdir(parents=True, exist_ok=True)
        for path, lines in contents.items():
            path.parent.mkdir(exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    return list(contents)
