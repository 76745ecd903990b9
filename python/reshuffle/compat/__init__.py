"""Drop-in backends for slower libraries: the same calls and the same numbers, counted and resampled by reshuffle.

Three ways to use them:

- import ours instead: ``from reshuffle.compat.sacrebleu import BLEU, corpus_bleu``;
- patch theirs: ``reshuffle.compat.install()``, for a program that imports the original;
- patch theirs from outside: ``python -m reshuffle.compat -m PROGRAM ARGUMENTS``.

These packages use only the public functions of reshuffle, and nothing else in reshuffle imports them.
"""

from __future__ import annotations

from .patching import Installed, SeamReport, install, installed, seams, uninstall

__all__ = ["Installed", "SeamReport", "install", "installed", "seams", "uninstall"]
