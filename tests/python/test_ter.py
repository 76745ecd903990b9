"""TER, WER and PER: by hand, against sacreBLEU 2.6.0 on any text and on real systems, and against Tercom's counts."""

import csv
import itertools
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unicodedata import category

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sacrebleu.metrics.ter import TER as SacreTER  # noqa: N811

from budgets import budget
from characters import CHARACTERS
from reshuffle import metric, read_corpus, read_lines
from test_speech import kinds_of_edits
from texts import SPACES, lines_of

References = Sequence[Sequence[str | None]]

FLAGS = ("normalized", "no_punct", "asian_support", "case_sensitive")
OPTIONS = [dict(zip(FLAGS, flags, strict=True)) for flags in itertools.product([False, True], repeat=4)]

PIECES = st.sampled_from(
    "a b A ab . , ! ? : ; ( ) \" - 's 'S it's, s' 1 2.5 1, 5- &amp; &lt; &amp;amp; &quot; &AMP; \n \n- İ Σ ΑΣ É".split(
        " "
    )
    + list("日本々、。〈〟「」・｡･．，？：；！＂（）かナーㇰ㌀㈱豈︰⺀㇀䷀㐀")
)
LINES = lines_of(PIECES, SPACES | st.just("\n"))


def sacrebleu_rows(hypotheses: Sequence[str], references: References, **options: Any) -> list[list[float]]:
    rows = SacreTER(**options)._extract_corpus_statistics(hypotheses, references)
    return [list(row) for row in rows]


def steps_of(references: References) -> int:
    """The least common multiple of the segments' numbers of references."""
    numbers = [sum(line is not None for line in lines) for lines in zip(*references, strict=True)]
    return int(np.lcm.reduce(numbers))


def assert_equal_to_sacrebleu(hypotheses: Sequence[str], references: References, **options: Any) -> None:
    ours = metric("ter", **options)
    counts = ours.suff_stats(references, [hypotheses])[0]
    expected = sacrebleu_rows(hypotheses, references, **options)
    # Mean lengths are integers in steps of 1/L; sacreBLEU has rounded them by far less than half a step.
    scaled = np.array(expected) * steps_of(references)
    np.testing.assert_allclose(scaled, np.rint(scaled), rtol=1e-12, atol=1e-9)
    np.testing.assert_array_equal(np.rint(scaled), counts)
    score = SacreTER(**options)._aggregate_and_compute(expected).score
    assert score == pytest.approx(float(ours.score(counts.sum(axis=0))), rel=1e-12)


@CHARACTERS
@pytest.mark.parametrize("options", OPTIONS[::2], ids=lambda o: "+".join(k for k in o if o[k]) or "default")
def test_every_character_is_tokenized_as_in_sacrebleu(characters: list[str], options: dict[str, bool]) -> None:
    # Between letters, after a digit and before a full stop. The reference is empty, so every word is an edit.
    known = [c for c in characters if ord(c) < 0x11000 and category(c) != "Cn"]
    lines = [f"a{c}b 1{c}. x{c}'s" for c in known]
    tokenizer = SacreTER(**options).tokenizer
    expected = [len(tokenizer.__class__.__call__.__wrapped__(tokenizer, line.rstrip()).split()) for line in lines]
    rows = metric("ter", **options).suff_stats([[""] * len(lines)], [lines])[0]
    assert [c for c, words, row in zip(known, expected, rows, strict=True) if words != row[0]] == []


def mangled(words: list[str], rng: random.Random) -> list[str]:
    """The words with some phrases moved, some words replaced and some removed."""
    words = words[:]
    for _ in range(rng.randrange(6)):
        start, length = rng.randrange(len(words) + 1), rng.randint(1, 12)
        phrase = words[start : start + length]
        del words[start : start + length]
        at = rng.randrange(len(words) + 1)
        words[at:at] = phrase
    for _ in range(rng.randrange(12)):
        at = rng.randrange(len(words) + 1)
        words[at : at + rng.randrange(2)] = rng.choice([[], ["x"], [str(rng.randrange(9))]])
    return words


def corner_cases(n: int) -> list[tuple[str, str]]:
    """Segments at the limits: long ones, few different words (many candidates), very different lengths (the band)."""
    rng = random.Random(7)

    def words(longest: int, vocabulary: int) -> list[str]:
        return [str(int(vocabulary * rng.random() ** 2)) for _ in range(rng.randint(1, longest))]

    segments = []
    for i in range(n):
        vocabulary = rng.choice([3, 20, 300])
        reference = words(rng.choice([15, 60, 130]), vocabulary)
        hypothesis = mangled(reference, rng) if i % 2 else words(rng.choice([15, 60, 130]), vocabulary)
        if i % 10 == 0:
            hypothesis, reference = words(4, 4), words(300, 9)
        if i % 10 == 5:
            hypothesis, reference = words(300, 9), words(4, 4)
        if i % 10 == 7 and len(reference) > 40:
            hypothesis = [*reference[30:], "x", *reference[:30]]
        segments.append((" ".join(hypothesis), " ".join(reference)))
    return segments


@pytest.mark.parametrize("n", [10, pytest.param(2000, marks=pytest.mark.slow)])
def test_limits_of_candidates_band_and_distance_equal_sacrebleus(n: int) -> None:
    hypotheses, references = zip(*corner_cases(n), strict=True)
    assert_equal_to_sacrebleu(hypotheses, [references])


@pytest.mark.parametrize("size", [1500, pytest.param(4000, marks=pytest.mark.slow)])
def test_very_long_segments_are_counted_quickly(size: int) -> None:
    # sacreBLEU stops after a thousand candidates, and gives up distances beyond the band.
    rng = random.Random(size)
    reference = [rng.choice("abcdefgh") for _ in range(size)]
    hypothesis = mangled(reference, rng)
    assert_equal_to_sacrebleu([" ".join(hypothesis)], [[" ".join(reference)]])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wmt17-en-de", "wmt21-en-de", "wmt13-fr-en", "wmt08-cz-en"])
def test_counts_of_every_system_equal_sacrebleu(data: Path, name: str) -> None:
    references = sorted(map(str, (data / name).glob("ref*.txt")))
    corpus = read_corpus(references, sorted(map(str, (data / name / "sys").iterdir())))
    for hypotheses in corpus.systems.values():
        assert_equal_to_sacrebleu(hypotheses, corpus.references)


@pytest.mark.parametrize(
    ("run", "tercom", "sacrebleu"),
    [
        ("baseline-opt0", 41129, 41130),
        ("sys1-opt2", 40761, 40757),
        pytest.param("baseline-opt1", 41362, 41362, marks=pytest.mark.slow),
        pytest.param("baseline-opt2", 41155, 41158, marks=pytest.mark.slow),
        pytest.param("sys1-opt0", 40287, 40287, marks=pytest.mark.slow),
        pytest.param("sys1-opt1", 41016, 41015, marks=pytest.mark.slow),
    ],
)
def test_each_variant_has_the_counts_of_its_tool(data: Path, run: str, tercom: int, sacrebleu: int) -> None:
    folder = data / "multeval-newstest2010-optreps"
    hypotheses = read_lines(str(folder / run.replace("-", "/")) + ".txt")
    reference = read_lines(str(folder / "ref.txt"))
    golden = (Path(__file__).parents[1] / "data" / "ter.tsv").read_text(encoding="utf-8").splitlines()[2:]
    segments = list(csv.DictReader(golden, delimiter="\t"))
    assert len(segments) == 2489
    for variant, which, total in (("tercom", 0, tercom), ("sacrebleu", -1, sacrebleu)):
        expected = [[int(row[run].split("/")[which]), int(row["words"])] for row in segments]
        counts = metric("ter", variant=variant).suff_stats([reference], [hypotheses])[0]
        np.testing.assert_array_equal(expected, counts)
        assert counts.sum(axis=0).tolist() == [total, 62774]


JAVAS_SPACE = r"[ \t\n\x0b\f\r]"


def tercom_words(line: str, normalized: bool, no_punct: bool, asian_support: bool, case_sensitive: bool) -> list[str]:
    """The words of ``Normalizer.tokenize`` of Tercom 0.10.0, substitution by substitution, of a segment trimmed by its
    reader and lower-cased by its scorer. (Tercom 7.25 differs only in ``asian_support``.)"""
    s = line.strip("".join(map(chr, range(0x21))))
    if not case_sensitive:
        s = s.lower()
    if not s:
        return []
    asian = "([\u3001\u3002\u3008-\u3011\u3014-\u301f\uff61-\uff65\u30fb])"
    wide = "([\uff0e\uff0c\uff1f\uff1a\uff1b\uff01\uff02\uff08\uff09])"
    steps: list[tuple[str, str]] = []
    if normalized:
        steps += [("<skipped>", ""), ("-\n", ""), ("\n", " ")]
        steps += [("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), (r"\A((?s:.*))\Z", r" \1 ")]
        steps += [(r"([{-~\[-` -&(-+:-@/])", r" \1 "), ("'s ", " 's ")]
        steps += [(r"([^0-9])([.,])", r"\1 \2 "), (r"([.,])([^0-9])", r" \1 \2"), ("([0-9])(-)", r"\1 \2 ")]
        if asian_support:
            cut = [
                "\u4e00-\u9fff\u3400-\u4dbf",
                "\u31c0-\u31ef\u2e80-\u2eff",
                "\u3300-\u33ff\uf900-\ufaff\ufe30-\ufe4f",
            ]
            steps += [(f"([{block}])", r" \1 ") for block in [*cut, "\u3200-\u32ff"]]
            kana = ["\u3040-\u309f", "\u30a0-\u30ff", "\u31f0-\u31ff"]
            steps += [(f"(^|[^{block}])([{block}]+)(?=$|[^{block}])", r"\1 \2 ") for block in kana]
            steps += [(asian, r" \1 "), (wide, r" \1 ")]
        steps += [(f"{JAVAS_SPACE}+", " "), (f"^{JAVAS_SPACE}+", ""), (f"{JAVAS_SPACE}+$", "")]
    if no_punct:
        steps += [(r'[.,?:;!"()]', "")]
        if asian_support:
            steps += [(asian, ""), (wide, "")]
        steps += [(f"{JAVAS_SPACE}+", " ")]
    for pattern, to in steps:
        s = re.sub(pattern, to, s)
    # Java's split drops empty strings at the end, but not at the beginning, and not if there is nothing to split.
    words = re.split(f"{JAVAS_SPACE}+", s)
    while len(words) > 1 and not words[-1]:
        words.pop()
    return [] if words == [""] and s else words


def tercom_counts(hypotheses: Sequence[str], references: Sequence[str], **options: bool) -> NDArray[np.int64]:
    """Counts of the same segments with each word renamed, so that tokenization at spaces gives Tercom's words."""
    names: dict[str, str] = {}

    def plain(lines: Sequence[str]) -> list[str]:
        words = [tercom_words(line, **options) for line in lines]
        return [" ".join(names.setdefault(word, f"w{len(names)}") for word in of_line) for of_line in words]

    counts: NDArray[np.int64] = metric("ter", variant="tercom").suff_stats([plain(references)], [plain(hypotheses)])[0]
    return counts


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "+".join(k for k in o if o[k]) or "default")
def test_counts_of_any_text_equal_sacrebleu_and_words_tercoms_under_every_option(options: dict[str, bool]) -> None:
    @settings(max_examples=budget(60))
    @given(st.lists(st.tuples(LINES, LINES), min_size=1, max_size=4))
    def check(segments: list[tuple[str, str]]) -> None:
        hypotheses, references = zip(*segments, strict=True)
        assert_equal_to_sacrebleu(hypotheses, [references], **options)
        counts = metric("ter", variant="tercom", **options).suff_stats([references], [hypotheses])[0]
        np.testing.assert_array_equal(tercom_counts(hypotheses, references, **options), counts)

    check()


# Words that Tercom's Normalizer.tokenize(line, normalized, no_punct, asian_support) returns under OpenJDK 17, including
# an empty first word; edits by hand.
@pytest.mark.parametrize(
    ("hypothesis", "reference", "options", "edits", "words"),
    [
        ("a\xa0b c", "a b c", {}, 2, 3),
        ("a\xa0b c", "a\xa0b c", {}, 0, 2),
        ("a\u3000b", "a b", {}, 2, 2),
        (", x y", "x y", {"no_punct": True}, 1, 2),
        ("x y", ", x y", {"no_punct": True}, 1, 3),
        ("x , y", "x y", {"no_punct": True}, 0, 2),
        ("...", "x", {"no_punct": True}, 1, 1),
        ("x", "...", {"no_punct": True}, 1, 1),
        ("x", ". .", {"no_punct": True}, 1, 0),
        ("", ", x", {"no_punct": True}, 2, 2),
        ("(x, y)", "x y", {"no_punct": True, "normalized": True}, 1, 2),
        ("<skipped> x", "x", {"normalized": True}, 0, 1),
        ("<skipped>", "x", {"normalized": True}, 1, 1),
    ],
)
def test_counts_of_unusual_segments_equal_tercoms(
    hypothesis: str, reference: str, options: dict[str, bool], edits: int, words: int
) -> None:
    counts = metric("ter", variant="tercom", **options).suff_stats([[reference]], [[hypothesis]])
    assert counts[0, 0].tolist() == [edits, words]


@given(st.lists(st.tuples(LINES, LINES, LINES), min_size=1, max_size=3), st.booleans())
def test_wer_and_per_follow_their_definitions(segments: list[tuple[str, str, str]], lowercase: bool) -> None:
    def words(line: str) -> list[str]:
        return (line.lower() if lowercase else line).split()

    def distance(a: list[str], b: list[str]) -> int:
        return sum(kinds_of_edits(b, a)[:3])

    def bags(a: list[str], b: list[str]) -> int:
        return max(len(a), len(b)) - sum(min(a.count(word), b.count(word)) for word in set(a))

    hypotheses, *references = map(list, zip(*segments, strict=True))
    for name, edits in (("wer", distance), ("per", bags)):
        expected = [
            [2 * min(edits(words(h), words(r)) for r in refs), sum(len(words(r)) for r in refs)]
            for h, *refs in segments
        ]
        rows = metric(name, tokenize="none", lowercase=lowercase).suff_stats(references, [hypotheses])[0]
        assert rows.tolist() == expected


def test_wer_of_long_segments_is_correct() -> None:
    rng = random.Random(3)
    for size in (63, 64, 65, 128, 700):
        reference = [rng.choice("abcdefgh") for _ in range(size)]
        hypothesis = mangled(reference, rng)
        rows = metric("wer").suff_stats([[" ".join(reference)]], [[" ".join(hypothesis)]])
        assert rows[0, 0].tolist() == [sum(kinds_of_edits(reference, hypothesis)[:3]), size]


def test_scores_without_words_equal_sacrebleu() -> None:
    for row in ([0, 0], [3, 0], [5, 4], [4, 5], [0, 9]):
        expected = SacreTER()._compute_score_from_stats(row).score
        for name in ("ter", "wer", "per"):
            assert float(metric(name).score(row)) == expected


def test_signatures_equal_sacrebleus() -> None:
    for options in OPTIONS:
        ter = SacreTER(**options)
        sentence = ter.corpus_score(["a"], [["a"]])
        assert sentence.score == 0
        expected = ter.get_signature().format(short=False).removesuffix("|version:2.6.0").removeprefix("nrefs:1|")
        assert metric("ter", **options).signature() == f"TER|{expected}"
    assert metric("ter", variant="tercom").signature().endswith("|asian:no|variant:tercom")
    assert metric("wer", lowercase=True).signature() == "WER|case:lc|tok:13a"
    assert metric("per").signature("2") == "PER|nrefs:2|case:mixed|tok:13a"


def test_scores_with_up_to_forty_references_equal_sacrebleu() -> None:
    # Segment s has s + 1 references; the k-th has k words more than the first.
    def columns(most: int) -> list[list[str | None]]:
        return [[("a" + " b" * (s * k % 7 + k) if k <= s else None) for s in range(most)] for k in range(most)]

    hypotheses = ["a b" + " c" * (s % 5) for s in range(40)]
    # Up to 22 references the least common multiple is small, so counts are exact.
    assert_equal_to_sacrebleu(hypotheses[:22], columns(22))
    ter = metric("ter")
    counts = ter.suff_stats(columns(40), [hypotheses])[0]
    expected = sacrebleu_rows(hypotheses, columns(40))
    # The common multiple is too large to be summed: a word is 9 times the multiple for 22 references.
    np.testing.assert_allclose(counts / 2_095_133_040, expected, rtol=0, atol=2**-31)
    score = SacreTER()._aggregate_and_compute(expected).score
    assert score == pytest.approx(float(ter.score(counts.sum(axis=0))), rel=1e-10)
