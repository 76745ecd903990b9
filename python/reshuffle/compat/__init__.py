"""Drop-in backends for slower libraries: the same calls and the same numbers, counted and resampled by reshuffle.

The ways to use them:

- import ours instead: ``from reshuffle.compat.sacrebleu import BLEU, corpus_bleu``;
- patch theirs: ``reshuffle.compat.install()``, in a program that imports the original;
- patch theirs from outside: ``python -m reshuffle.compat -m PROGRAM ARGUMENTS``, and for test suites
  ``pytest -p reshuffle.compat.pytest_plugin``;
- instead of the command ``sacrebleu``: ``python -m reshuffle.compat.sacrebleu ARGUMENTS``.

These packages use only the public functions of reshuffle, and nothing else in reshuffle imports them.
"""

from __future__ import annotations

from .patching import Installed, SeamReport, Settings, install, installed, seams, uninstall

__all__ = ["Installed", "SeamReport", "Settings", "install", "installed", "seams", "uninstall"]
