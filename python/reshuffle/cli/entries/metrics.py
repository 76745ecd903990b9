"""Metrics and tokenizers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ... import _core
from ...metrics.in_python import IN_PYTHON
from ...metrics.registry import MetricSpec, OptionSpec, metric_specs, tokenizer_specs
from ...signature import for_metric
from ..metric_options import describe_option, flag
from . import Entry
from .options import default


def metrics() -> Iterable[Entry]:
    for spec in metric_specs():
        core = _core.Metric(spec.name, {})  # it does not look for installed files: the same on every machine
        signature = for_metric(core.name, core.signature, "1")
        yield Entry(
            spec.name,
            spec.about,
            spec.source,
            {"In reports": core.name, "Counts": ", ".join(core.columns), "Signature": signature},
            [[flag(o.name), _takes(o), default(o.default), describe_option(o.about)] for o in spec.options],
            {"columns": core.columns, "signature": signature, "options": _option_data(spec)},
        )
    for spec in IN_PYTHON.values():
        defaults = {o.name: o.default for o in spec.options}
        signature = for_metric(spec.shown, spec.signature(defaults), "1")
        yield Entry(
            spec.name,
            spec.about,
            spec.source,
            {"In reports": spec.shown, "Counts": spec.counts, "Signature": signature},
            [[flag(o.name)[2:], _takes(o), default(o.default), o.about] for o in spec.options],
            {"columns": [], "signature": signature, "options": _option_data(spec)},
        )


def _option_data(spec: MetricSpec) -> list[dict[str, Any]]:
    return [{"name": o.name, "takes": _takes(o), "default": o.default, "about": o.about} for o in spec.options]


def _takes(option: OptionSpec) -> str:
    if option.kind == "choice":
        return ", ".join(option.choices)
    if option.kind == "choices":
        return f"one or more of {', '.join(option.choices)}, separated by commas"
    if option.kind in ("path", "text"):
        return f"a {option.kind}"
    if option.kind == "language":
        return "an ISO 639 code"
    if option.kind == "flag":
        return "yes or no"
    what = {"real": "a number from ", "reals": "numbers separated by commas, from "}.get(option.kind, "")
    return f"{what}{option.minimum:.10g} to {option.maximum:.10g}"


def tokenizers() -> Iterable[Entry]:
    return (Entry(spec.name, spec.about) for spec in tokenizer_specs())
