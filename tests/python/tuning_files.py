"""Small k-best lists for tests of tuning, with features that say something about the errors of entries."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

WORDS = "the cat sat on a mat and saw one big red dog run past his old house".split()
NAMES = ("lm", "tm_0", "tm_1", "length")


# Settings under which each optimizer is fast on small lists.
SMALL: Mapping[str, dict[str, Any]] = {
    "mert": {"restarts": 2, "random_directions": 2},
    "kbmira": {"epochs": 5},
    "pro": {"samples": 60, "kept": 10},
    "xbleu": {"epochs": 3, "penalty": 0.1},
    "l1": {"templates": ["ngram:1"], "limit": 10, "per_step": 2, "gamma": 0.1},
}


def flags(optimizer: str) -> list[str]:
    """The same settings as options of its command."""
    words = []
    for name, value in SMALL[optimizer].items():
        words += [f"--{name.replace('_', '-')}", *map(str, value if isinstance(value, list) else [value])]
    return words


def references(n: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choice(WORDS) for _ in range(rng.randint(6, 12))) for _ in range(n)]


def lists(refs: Sequence[str], k: int, seed: int) -> list[str]:
    """The lines of a file with k entries for each sentence, in Moses' format."""
    rng = random.Random(seed)
    lines = []
    for number, reference in enumerate(refs):
        for _ in range(k):
            words = reference.split()
            errors = rng.randint(0, 5)
            for _ in range(errors):
                place = rng.randrange(len(words))
                words[place : place + 1] = rng.choice([[], [rng.choice(WORDS)], [words[place], rng.choice(WORDS)]])
                words = words or ["the"]
            lm, tm = -errors + rng.gauss(0, 2), (-0.5 * errors + rng.gauss(0, 2), rng.gauss(0, 1))
            features = f"lm= {lm:.4f} tm= {tm[0]:.4f} {tm[1]:.4f} length= {-len(words)}"
            lines.append(f"{number} ||| {' '.join(words)} ||| {features} ||| {lm:.3f}")
    return lines


def write(path: str | Path, lines: Sequence[object]) -> None:
    Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_all(folder: Path) -> None:
    """Development and test lists of 40 sentences with 12 entries each, references, and weights to begin with."""
    for part, seed in (("dev", 1), ("test", 2)):
        refs = references(40, seed)
        write(folder / f"{part}.ref", refs)
        write(folder / f"{part}.nbest", lists(refs, 12, seed + 10))
    write(folder / "weights", [f"{name} {value}" for name, value in zip(NAMES, (0.1, 0.3, 0.3, -0.3), strict=True)])
