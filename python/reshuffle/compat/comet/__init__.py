"""COMET's ``comet-compare`` (unbabel-comet 2.2.7), from segment scores that ``comet-score`` has written.

``python -m reshuffle.compat.comet -s SRC -t SYS… -r REF --scores FILE…`` takes comet-compare's options and prints what
it prints: for each pair of systems the bootstrap means, wins and ties and a paired t-test, then the table of all
systems, and the JSON file of ``--to_json``. If comet-compare has the same segment scores, all numbers are those that it
writes: p-values to 10 digits, others to the last, because the draws come from the same random numbers. COMET itself is
not needed, and no model is run: ``--scores`` names files of ``comet-score --to_json`` or of an earlier ``comet-compare
--to_json``, or others that :func:`reshuffle.read_scores` reads.

``--tests`` adds what comet-compare lacks: approximate randomization, a bootstrap test and others, with p-values that
are adjusted for all pairs, intervals, ranks and groups.

:func:`statistical_results` and :func:`report` do the same in Python.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .command import main

if TYPE_CHECKING:
    from .outputs import report
    from .resampling import resampled_means, statistical_results

__all__ = ["main", "report", "resampled_means", "statistical_results"]


def __getattr__(name: str) -> Any:
    """The functions above are imported when they are used, so that the command starts fast."""
    if name in __all__:
        return getattr(import_module(".outputs" if name == "report" else ".resampling", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
