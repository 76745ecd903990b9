"""The other tools: whether they are installed, their names and versions, and their caches."""

from __future__ import annotations

import subprocess
from importlib import import_module
from importlib.metadata import version
from typing import Any

from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp
from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

from ..race import Contender, Skipped

__all__ = ["ONE_THREAD", "RESHUFFLE", "SACREBLEU", "forget_tokens", "name", "unless_missing", "version_in"]

RESHUFFLE = "reshuffle"
ONE_THREAD = "reshuffle, 1 thread"


def name(package: str) -> str:
    """A package with its version, or only its name if it is not installed."""
    try:
        return f"{package} {version(package)}"
    except ModuleNotFoundError:
        return package


def version_in(python: str, package: str) -> str | None:
    """The version of a package in another Python, None if it is not there."""
    asked = [python, "-c", f"from importlib.metadata import version; print(version({package!r}))"]
    done = subprocess.run(asked, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


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
