"""Descriptions of the metrics, their options and the tokenizers, for help and for checks of arguments.

They come from the registries of the Rust core, of :mod:`.in_python` and of :mod:`.tokenizers`. This module imports no
numpy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from .. import _core
from ..names import WITH_TOKENIZE
from .specs import MetricSpec as MetricSpec
from .specs import OptionSpec as OptionSpec
from .tokenizers import EXTERNAL, LANGUAGES, model_takers


@dataclass(frozen=True)
class TokenizerSpec:
    """Description of a tokenizer."""

    name: str
    about: str


def tokenizer_specs() -> list[TokenizerSpec]:
    """All tokenizers: those of the core, then those of other packages."""
    core = [TokenizerSpec(t.name, t.about) for t in _core.tokenizers()]
    return core + [TokenizerSpec(t.name, t.about) for t in EXTERNAL.values()]


@cache
def metric_specs() -> tuple[MetricSpec, ...]:
    """All metrics of the core. Those with an option ``tokenize`` also take the tokenizers of other packages."""
    return tuple(MetricSpec(m.name, m.about, m.source, m.reads_parses, list(_options(m))) for m in _core.metrics())


def every_spec() -> tuple[MetricSpec, ...]:
    """All metrics of the core, and those that are counted in Python."""
    from .in_python import IN_PYTHON  # most commands use metrics of the core only

    return *metric_specs(), *IN_PYTHON.values()


def _options(metric: _core.MetricSpec) -> Iterator[OptionSpec]:
    for o in metric.options:
        choices = [*o.choices, *EXTERNAL] if o.name == "tokenize" else o.choices
        yield OptionSpec(o.name, o.about, o.kind, o.minimum, o.maximum, choices, o.default)
        if o.name == "tokenize":
            model, language = WITH_TOKENIZE
            about = f"model file, for {model_takers()}"
            yield OptionSpec(model, about, "path", None, None, [], None)
            chosen = ", ".join(f"{each.tokenizer} for {code}" for code, each in LANGUAGES.items() if len(code) == 2)
            about = f"language of the texts, which selects the tokenizer unless tokenize does: {chosen}"
            yield OptionSpec(language, about, "language", None, None, [], None)
