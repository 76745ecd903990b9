"""Descriptions of the metrics, their options and the tokenizers, for help and for checks of arguments.

They come from the registries of the Rust core and of :mod:`.tokenizers`. This module does not import numpy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from .. import _core
from ..names import WITH_TOKENIZE
from .tokenizers import EXTERNAL, LANGUAGES, model_takers


@dataclass(frozen=True)
class OptionSpec:
    """Description of an option of a metric.

    ``kind`` is ``flag``, ``integer``, ``real``, ``reals``, ``choice``, ``choices``, ``path`` or ``language``. Values
    of ``reals`` and ``choices`` are lists. ``minimum`` and ``maximum`` are the limits of a number, or of each number in
    a list. ``choices`` are the values allowed if ``kind`` is ``choice`` or ``choices``.
    """

    name: str
    about: str
    kind: str
    minimum: float | None
    maximum: float | None
    choices: list[str]
    default: bool | int | float | str | None


@dataclass(frozen=True)
class MetricSpec:
    """Description of a metric.

    ``source`` is an ACL id or DOI. ``reads_parses`` is True if the metric reads parses in CoNLL-U instead of texts.
    """

    name: str
    about: str
    source: str
    reads_parses: bool
    options: list[OptionSpec]


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
