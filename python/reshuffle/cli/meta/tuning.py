"""From the grids of ``reshuffle meta tune-smoothing`` to metrics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...errors import InputError
from ...meta.smoothing import PARAMETERS, smoothing_grid
from ..metric_options import MetricChoice, flag


def metrics_of_grids(options: dict[str, Any]) -> list[MetricChoice]:
    """The metrics of ``--grid``, which is taken out of ``options``, as if they were asked for by ``-m``."""
    _check(options)
    chosen: dict[str, Sequence[float]] = {}
    for smoothing, values in (each for given in options.pop("grids") for each in _grids(given)):
        if smoothing in chosen:
            raise InputError(f"--grid {smoothing} is used twice: write all its values after one =")
        chosen[smoothing] = values
    return [MetricChoice("sentbleu", dict(each.options)) for each in smoothing_grid(chosen or None)]


def _grids(given: Any) -> Iterable[tuple[str, Sequence[float]]]:
    """One grid, or those that followed one option."""
    return [given] if isinstance(given[0], str) else given


def _check(options: dict[str, Any]) -> None:
    """:class:`InputError` for options that are tuned."""
    for name in ("smoothing", *(f"smoothing_{each}" for each in PARAMETERS.values())):
        if options.get(name) is not None:
            raise InputError(f"{flag(name)} is what is tuned: leave it out, and use --grid")
