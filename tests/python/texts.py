"""Texts of tests: strategies for any characters, also those that tokenizers treat specially, and invented systems."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from hypothesis import strategies as st

Columns: TypeAlias = "list[list[str | None]]"

# Python's and Rust's Unicode tables are of different versions: one may lack the lower case of a letter.
ASSIGNED = st.characters(exclude_categories=("Cs", "Cn"))
WORDS = st.sampled_from(
    ["a", "A", "b", "ab", ".", ",", "-", "1", "2.5", "1,", "&amp;", "&lt;", "<skipped>", "\n", "Σ", "İ"]
)
SPACES = st.sampled_from([" ", "", "\t", "\u2028", "\x1c", "\xa0", "\r", "\u3000"])


def lines_of(words: st.SearchStrategy[str], spaces: st.SearchStrategy[str] = SPACES) -> st.SearchStrategy[str]:
    """Any characters at all, or up to a dozen of ``words``, each followed by one of ``spaces``."""
    pairs = st.lists(st.tuples(words, spaces), max_size=12)
    return st.text(ASSIGNED, max_size=20) | pairs.map(lambda pairs: "".join(word + space for word, space in pairs))


LINES = lines_of(WORDS)

# Tokenized text of few different words, so that long n-grams match.
PLAIN = st.lists(st.sampled_from(["a", "b", "c", "d", "0", "1"]), max_size=14).map(" ".join)


@st.composite
def corpora(
    draw: st.DrawFn,
    lines: st.SearchStrategy[str] = LINES,
    *,
    max_segments: int = 3,
    max_references: int = 4,
    missing: bool = True,
) -> tuple[list[str], Columns]:
    """Hypotheses and columns of references; some references may be missing, but never all of a segment."""
    n_references = draw(st.integers(1, max_references))
    reference = st.none() | lines if missing and n_references > 1 else lines
    segment = st.lists(reference, min_size=n_references, max_size=n_references).filter(lambda s: set(s) != {None})
    segments = draw(st.lists(st.tuples(lines, segment), min_size=1, max_size=max_segments))
    columns = [list(column) for column in zip(*(references for _, references in segments), strict=True)]
    return [hypothesis for hypothesis, _ in segments], columns


def references_of(columns: Sequence[Sequence[str | None]]) -> list[list[str]]:
    """The references of each segment, without the missing ones."""
    return [[line for line in segment if line is not None] for segment in zip(*columns, strict=True)]


def translations(n: int, *rights: float) -> tuple[list[str], dict[str, list[str]]]:
    """n references, and outputs of systems whose words are right with these probabilities."""
    rng = np.random.default_rng(5)
    references = [[f"w{word}" for word in rng.integers(300, size=rng.integers(5, 30))] for _ in range(n)]
    systems = {
        f"system {right:g}": [" ".join(w if rng.random() < right else "wrong" for w in words) for words in references]
        for right in rights
    }
    return [" ".join(words) for words in references], systems
