"""The other tools: whether they are installed, their names and versions, and their caches."""

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
    """A package with its version, or only its name if it is not installed."""
    try:
        return f"{package} {version(package)}"
    except ModuleNotFoundError:
        return package


SACREBLEU = name("sacrebleu").replace("sacrebleu", "sacreBLEU")


def unless_missing(package: str, module: str, contender: Contender) -> Contender | Skipped:
    """The contender, or why it is skipped."""
    try:
        import_module(module)
    except ImportError as error:
        return Skipped(package, f"cannot be imported ({error}): pip install {package}")
    return contender


def forget_tokens() -> None:
    """Empty sacreBLEU's caches of tokenized lines: repeated runs would hit the cache, a user's single run does not."""
    cached: list[Any] = [Tokenizer13a, TokenizerRegexp, TercomTokenizer]
    for tokenizer in cached:
        tokenizer.__call__.cache_clear()
