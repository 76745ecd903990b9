"""Metric modules for Hugging Face ``evaluate``, which are loaded from a path and need no network.

``evaluate.load("sacrebleu")`` downloads a script. The modules of this package are such scripts for ``bleu``, ``chrf``,
``sacrebleu`` and ``ter``: they have the same options and results, and their texts are counted by reshuffle. The results
also have a standard error if ``n_resamples`` is given. ``sacrebleu``, ``chrf`` and ``ter`` need sacreBLEU.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reshuffle import InputError

__all__ = ["MODULES", "load", "module_path"]

MODULES = ("bleu", "chrf", "sacrebleu", "ter")


def module_path(name: str) -> str:
    """The path of a module, for ``evaluate.load``.

    Parameters
    ----------
    name : str
        ``bleu``, ``chrf``, ``sacrebleu`` or ``ter``.

    Raises
    ------
    InputError
        If there is no such module.

    Examples
    --------
    >>> import evaluate
    >>> evaluate.load(module_path("chrf")).name
    'chrf'
    """
    if name not in MODULES:
        raise InputError(f"no module {name!r} for evaluate; there are {', '.join(MODULES)}")
    return str(Path(__file__).with_name(f"{name}.py"))


def load(name: str, **options: Any) -> Any:
    """The metric object of ``evaluate``, to be used instead of ``evaluate.load``.

    Parameters
    ----------
    name : str
        ``bleu``, ``chrf``, ``sacrebleu`` or ``ter``.
    **options
        Passed to ``evaluate.load``, for example ``keep_in_memory=True``.

    Raises
    ------
    ImportError
        If evaluate is not installed.
    InputError
        If there is no such module.

    Examples
    --------
    >>> bleu = load("sacrebleu")
    >>> result = bleu.compute(predictions=["the cat sat on a mat"], references=[["the cat sat on the mat"]])
    >>> round(result["score"], 2), result["counts"]
    (53.73, [5, 3, 2, 1])
    """
    import evaluate as host

    return host.load(module_path(name), **options)
