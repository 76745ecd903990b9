"""Metrics that are counted in Python: of answers, labels and spans.

To add one, write its :class:`~.base.Spec` and its counting in a module, and list it in :data:`IN_PYTHON`. Its name is
also in ``IN_PYTHON`` of :mod:`reshuffle.names`. The formulas of sums are evaluated in Rust.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..registry import MetricSpec, metric_specs
from . import answers, labels, spans
from .base import Spec

IN_PYTHON: Mapping[str, Spec] = {
    spec.name: spec
    for spec in (
        answers.EXACT,
        answers.F1,
        labels.ACCURACY,
        labels.MICRO_F1,
        labels.MACRO_F1,
        labels.MCC,
        labels.KAPPA,
        spans.SPAN_F1,
    )
}


def every_spec() -> tuple[MetricSpec, ...]:
    """All metrics of the core, and those that are counted in Python."""
    return *metric_specs(), *IN_PYTHON.values()
