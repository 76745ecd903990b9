"""DepF: against a slow twin, against CoNLL 2018's examples, and on malformed CoNLL-U."""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import budget
from reshuffle import InputError, metric
from reshuffle.data.reading import read_columns
from told import assert_raises

FLAGS = ("unlabelled", "lemma", "lowercase", "ignore_punct")
OPTIONS = [dict(zip(FLAGS, flags, strict=True)) for flags in itertools.product([False, True], repeat=4)]


def sentences(block: str) -> Iterator[list[list[str]]]:
    """The words of each sentence of a block, without multiword tokens and empty nodes, as lists of columns."""
    for sentence in re.split(r"\n\n+", block):
        rows = [line.split("\t") for line in sentence.split("\n") if line and not line.startswith("#")]
        yield [row for row in rows if row[0].isdecimal()]


def relations(
    block: str, unlabelled: bool = False, lemma: bool = False, lowercase: bool = False, ignore_punct: bool = False
) -> Counter[tuple[str | None, str, str]]:
    """W05-0908, section 3: the multiset of (head, relation, dependent); None is the head of a root."""
    counts: Counter[tuple[str | None, str, str]] = Counter()
    for words in sentences(block):
        spelled = [word[2] if lemma else word[1] for word in words]
        if lowercase:
            spelled = [word.lower() for word in spelled]
        for word, dependent in zip(words, spelled, strict=True):
            if ignore_punct and word[7].split(":")[0] == "punct":
                continue
            head = None if word[6] == "0" else spelled[int(word[6]) - 1]
            counts[head, "" if unlabelled else word[7], dependent] += 1
    return counts


def read_sentences(path: Path) -> list[str]:
    (column,) = read_columns([path])
    return list(column.lines)


def row(hypothesis: str, references: Sequence[str], **options: bool) -> list[int]:
    """Counts against the reference with the best F; among equally good ones, the first."""
    ours = relations(hypothesis, **options)
    rows = [
        [(ours & theirs).total(), ours.total(), theirs.total()]
        for theirs in (relations(r, **options) for r in references)
    ]
    return max(rows, key=lambda r: 2 * r[0] / max(r[1] + r[2], 1))


FORMS = st.sampled_from(["a", "A", "b", "Ä", "ä"])


@st.composite
def blocks(draw: st.DrawFn) -> str:
    """One or two sentences of few different words, with comments, multiword tokens and empty nodes."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 2))):
        n = draw(st.integers(0, 4))
        order = draw(st.permutations(range(1, n + 1)))  # in this order heads precede their dependents: no cycles
        lines += ["# text = 1-2"] * draw(st.booleans())
        for i in range(1, n + 1):
            if i < n and draw(st.integers(0, 5)) == 0:
                lines.append(f"{i}-{i + 1}\tx" + "\t_" * 8)
            relation = draw(st.sampled_from(["nsubj", "punct", "punct:x", "punctual"]))
            head = str(draw(st.sampled_from([0, *order[: order.index(i)]])))
            fields = [str(i), draw(FORMS), draw(FORMS), "_", "_", "_", head, relation, "_", "_"]
            lines.append("\t".join(fields))
            if draw(st.integers(0, 5)) == 0:
                lines.append(f"{i}.1\ty" + "\t_" * 8)
        lines.append("")
    return "\n".join(lines[:-1])


@settings(max_examples=budget(200))
@given(blocks(), st.lists(blocks(), min_size=1, max_size=3), st.sampled_from(OPTIONS))
def test_counts_of_any_parses_equal_the_slow_twin(
    hypothesis: str, references: list[str], options: dict[str, bool]
) -> None:
    counts = metric("depf", **options).suff_stats([[reference] for reference in references], [[hypothesis]])
    assert counts[0, 0].tolist() == row(hypothesis, references, **options)


def coarse(blocks: Sequence[str]) -> list[str]:
    """Relations without their subtypes: the script of CoNLL 2018 drops everything after the colon."""
    return [re.sub(r"^((?:[^\t\n]*\t){7}[^\t:\n]*):[^\t\n]*", r"\1", block, flags=re.M) for block in blocks]


# conll18_ud_eval.py -v, of CoNLL 2018: correct, gold and predicted words by LAS, from its func-expected.counts and, in
# percent, *-expected.results. It compares the relations of words aligned by position; DepF compares multisets of
# relations between forms. The two agree if no relation occurs at another position of the other file and no head keeps
# its form at another position, as here, even in sys2, which splits a sentence in two: each file is one segment.
LAS = {
    ("func-gold", "func-sys"): (6, 7, 7, {}),
    ("gold", "sys1"): (13, 15, 14, {}),
    ("gold", "sys2"): (11, 15, 15, {}),
    ("gold", "sys-space"): (11, 15, 14, {}),
    ("case-gold", "case-sys"): (10, 10, 10, {"lowercase": True}),
}


@pytest.mark.parametrize("files", LAS, ids="/".join)
def test_counts_equal_conll_2018s_on_its_examples(data: Path, files: tuple[str, str]) -> None:
    folder = data / "conll18-eval-script-tests/tests"
    gold, system = ("\n\n".join(coarse(read_sentences(folder / f"{name}.conllu"))) for name in files)
    correct, in_gold, predicted, options = LAS[files]
    depf = metric("depf", **options)
    totals = depf.suff_stats([[gold]], [[system]])[0, 0]
    assert totals.tolist() == [correct, predicted, in_gold]
    printed = folder / f"{files[1].removesuffix('-sys')}-expected.results"
    if printed.exists():
        las = next(line for line in printed.read_text(encoding="utf-8").splitlines() if line.startswith("LAS"))
        precision, recall, f1 = (float(cell) for cell in las.split("|")[1:4])
        details = depf.details(totals)
        got = [details["precision"], details["recall"], float(depf.score(totals))]
        np.testing.assert_allclose(got, [precision, recall, f1], rtol=0, atol=0.005001)


# Fields that may be right, wrong, or valid only in another column.
IDS = st.sampled_from(["1", "2", "3", "0", "-1", "01", "1-2", "2-1", "1.1", "0.1", "-", ".", "x", "", "9" * 30, "１"])
FIELDS = st.sampled_from(["a", "_", "", " ", "\u2028", "nsubj", "punct", "\x00"])
LINES = st.one_of(
    st.tuples(IDS, FIELDS, FIELDS, FIELDS, FIELDS, FIELDS, IDS, FIELDS, FIELDS, FIELDS).map("\t".join),
    st.lists(IDS | FIELDS, max_size=12).map("\t".join),
    st.sampled_from(["", "#", "# text = a", "\r", "1\ta\ta\t_\t_\t_\t0\troot\t_\t_\r"]),
    st.text(max_size=30),
)


@settings(max_examples=budget(500))
@given(st.lists(LINES, max_size=5).map("\n".join), st.lists(LINES, max_size=5).map("\n".join))
def test_any_text_is_counted_or_raises_an_input_error(hypothesis: str, reference: str) -> None:
    try:
        counts = metric("depf").suff_stats([[reference]], [[hypothesis]])[0, 0]
    except InputError as error:
        message = str(error)
    else:
        assert 0 <= counts[0] <= min(counts[1:])
        return
    assert re.search(r"(system|reference) 1, .*line \d+", message)


def test_the_error_names_the_malformed_line() -> None:
    assert_raises("python_errors_of_depf", globals())
    with pytest.raises(InputError, match="line 2: expected 10 columns of CoNLL-U"):
        metric("depf").suff_stats([["# text\n1\ta\ta"]], [[""]])


def test_an_empty_hypothesis_and_an_empty_reference_score_0() -> None:
    depf = metric("depf")
    counts = depf.suff_stats([["", ""]], [["", "# text ="]])[0]
    assert counts.tolist() == [[0, 0, 0]] * 2
    assert depf.segment_scores(counts).tolist() == [0, 0]
