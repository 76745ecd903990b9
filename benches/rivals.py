"""The other tools: which of them are there, what they are called, and what they would remember from run to run."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import Any

from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp
from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

from races import Contender, Skipped

__all__ = ["ONE_THREAD", "RESHUFFLE", "SACREBLEU", "forget_tokens", "name", "unless_missing"]

RESHUFFLE = "reshuffle"
ONE_THREAD = "reshuffle, 1 thread"


def name(package: str) -> str:
    """A package and its version, or the package alone if it is not installed."""
    try:
        return f"{package} {version(package)}"
    except ModuleNotFoundError:
        return package


SACREBLEU = name("sacrebleu").replace("sacrebleu", "sacreBLEU")


def unless_missing(package: str, module: str, contender: Contender) -> Contender | Skipped:
    """The contender, or why it cannot take part."""
    try:
        import_module(module)
    except ImportError as error:
        return Skipped(package, f"cannot be imported ({error}): pip install {package}")
    return contender


def forget_tokens() -> None:
    """Empty sacreBLEU's caches of tokenized lines: a run would find all of the one before, a user's would not."""
    cached: list[Any] = [Tokenizer13a, TokenizerRegexp, TercomTokenizer]
    for tokenizer in cached:
        tokenizer.__call__.cache_clear()
