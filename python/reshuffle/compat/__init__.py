"""Drop-in backends for slower libraries: the same calls and the same numbers, counted and resampled by reshuffle.

There are four ways to use them:

- import the drop-in: ``from reshuffle.compat.sacrebleu import BLEU, corpus_bleu``,
  ``from reshuffle.compat.nltk.bleu_score import sentence_bleu``;
- patch the library in a program that imports it: ``reshuffle.compat.install()``;
- run an unchanged program or test suite with the library patched: ``python -m reshuffle.compat -m PROGRAM ARGUMENTS``,
  ``pytest -p reshuffle.compat.pytest_plugin``;
- run the drop-in for a command: ``python -m reshuffle.compat.sacrebleu ARGUMENTS`` for ``sacrebleu``, and in the same
  way ``multeval`` for MultEval, ``mteval`` for mteval-v13a.pl, ``moses`` for multi-bleu.perl and Moses' bootstrap test,
  and ``comet`` for comet-compare. These tools need not be installed.

``torchmetrics``, ``evaluate`` and ``inspect_ai`` have metric objects and scorers for these libraries.

In these packages, the library that is replaced is the host, and each of its functions that can be replaced is a seam.
They use only the public functions of reshuffle, and nothing else in reshuffle imports them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .hosts import HOSTS

if TYPE_CHECKING:
    from .patching import Installed, SeamReport, Settings, install, installed, seams, uninstall

__all__ = ["Installed", "SeamReport", "Settings", "install", "installed", "seams", "uninstall"]


# Drop-ins for commands only.
COMMANDS = ("comet", "moses", "mteval", "multeval")
# Objects for other libraries, which are not patched.
ADAPTERS = ("evaluate", "inspect_ai", "torchmetrics")


def __getattr__(name: str) -> Any:
    """The functions above and the drop-ins. They are imported when they are used: drop-ins import their hosts."""
    if name in __all__:
        return getattr(import_module(".patching", __name__), name)
    if name in (*HOSTS, *COMMANDS, *ADAPTERS):
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
