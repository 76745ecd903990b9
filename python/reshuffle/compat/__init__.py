"""Drop-in backends for slower libraries: the same calls and the same numbers, counted and resampled by reshuffle.

There are four ways to use them:

- import the drop-in: ``from reshuffle.compat.sacrebleu import BLEU, corpus_bleu``;
- patch the library in a program that imports it: ``reshuffle.compat.install()``;
- run an unchanged program or test suite with the library patched: ``python -m reshuffle.compat -m PROGRAM ARGUMENTS``,
  ``pytest -p reshuffle.compat.pytest_plugin``;
- run the drop-in for the command ``sacrebleu``: ``python -m reshuffle.compat.sacrebleu ARGUMENTS``.

In these packages, the library that is replaced is the host, and each of its functions that can be replaced is a seam.
They use only the public functions of reshuffle, and nothing else in reshuffle imports them.
"""

from __future__ import annotations

from types import ModuleType

from .hosts import HOSTS
from .patching import Installed, SeamReport, Settings, install, installed, seams, uninstall

__all__ = ["Installed", "SeamReport", "Settings", "install", "installed", "seams", "uninstall"]


def __getattr__(name: str) -> ModuleType:
    """The drop-ins, which are imported when they are used because they import their hosts."""
    if name not in HOSTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return import_module(f".{name}", __name__)
