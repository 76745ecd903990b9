"""Metrics and tokenizers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ... import _core
from ...errors import flag
from ...metrics.in_python import every_spec
from ...metrics.in_python.base import Spec
from ...metrics.registry import tokenizer_specs
from ...options.declare import Flag
from ...signature import for_metric


def metrics() -> dict[str, Any]:
    """The metrics, with what a row of counts holds and the signature without options."""
    found = {}
    for spec in every_spec():
        options, columns = spec.options, []
        if isinstance(spec, Spec):
            shown, counts, own = spec.shown, spec.counts, spec.signature({o.name: o.default for o in options})
        else:
            core = _core.Metric(spec.name, {})  # it does not look for installed files: the same on every machine
            shown, columns, counts, own = core.name, core.columns, ", ".join(core.columns), core.signature
            options = [replace(o, flag=Flag([flag(o.name)])) for o in options]
        found[spec.name] = {
            "about": spec.about,
            "source": spec.source,
            "shown": shown,
            "counts": counts,
            "columns": columns,
            "signature": for_metric(shown, own, "1"),
            "declared": {o.name: o for o in options},
            "options": [{"name": o.name, "takes": o.takes, "default": o.default, "about": o.about} for o in options],
        }
    return found


def tokenizers() -> dict[str, Any]:
    """The tokenizers."""
    return {spec.name: spec.about for spec in tokenizer_specs()}
