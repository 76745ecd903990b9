"""NLTK's scores of translations, with the same arguments and results, counted by reshuffle.

``from reshuffle.compat.nltk.bleu_score import corpus_bleu`` replaces the import from ``nltk.translate.bleu_score``, and
so do the modules ``chrf_score``, ``gleu_score``, ``meteor_score`` and ``nist_score``. NLTK must be installed.
:func:`install` patches NLTK in place, for programs that import it themselves.

Results, warnings and errors are NLTK's, to the last digit. Calls that reshuffle cannot compute, such as those with
tokens that are not strings, are left to NLTK's own functions: :func:`seams` reports how often this happened, and why.
In the modules of this package, NLTK is also called the host.

>>> from reshuffle.compat.nltk.bleu_score import SmoothingFunction, sentence_bleu
>>> reference, hypothesis = "the cat sat on the mat".split(), "a cat sat on a mat".split()
>>> sentence_bleu([reference], hypothesis, smoothing_function=SmoothingFunction().method1)
0.21711852081087685
"""

from __future__ import annotations

from .. import patching
from ..patching import Installed, SeamReport

patching.host_version("nltk")  # raises an error for unsupported versions, before the imports below can fail

from . import bleu_score, chrf_score, gleu_score, meteor_score, nist_score  # noqa: E402

__all__ = [
    "SEAMS",
    "bleu_score",
    "chrf_score",
    "gleu_score",
    "install",
    "installed",
    "meteor_score",
    "nist_score",
    "seams",
    "uninstall",
]


SEAMS = [module.SEAM for module in (bleu_score, chrf_score, gleu_score, meteor_score, nist_score)]


def install(*, log: str = "warn") -> Installed:
    """Patch NLTK in place. See :func:`reshuffle.compat.install`."""
    return patching.install("nltk", log=log)


def uninstall() -> None:
    """Restore NLTK's own functions. No effect if it is not patched."""
    patching.uninstall("nltk")


def installed() -> Installed | None:
    """What is patched, or None if NLTK is not patched. See :func:`reshuffle.compat.installed`."""
    found = patching.installed()
    return found if found is not None and "nltk" in found.hosts else None


def seams() -> list[SeamReport]:
    """What is replaced in NLTK, and how often it was called. See :func:`reshuffle.compat.seams`."""
    return patching.seams("nltk")
