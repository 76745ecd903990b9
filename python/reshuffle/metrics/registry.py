"""Descriptions of the metrics, their options and the tokenizers, for help and for checks of arguments.

They come from the registries of the Rust core and of :mod:`.tokenizers`; :mod:`.in_python` adds the metrics that are
counted in Python. This module imports no numpy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from annotated_types import Ge, Le

from .. import _core
from ..names import WITH_TOKENIZE
from ..options.declare import FILE, Kind, Option
from .tokenizers import EXTERNAL, LANGUAGES, ExternalTokenizer, model_takers

# The types of values by the kind of the option, and what a value is where the type does not say it. Others are choices.
OF_KIND: Mapping[str, tuple[type, str]] = {
    "flag": (bool, ""),
    "integer": (int, ""),
    "real": (float, ""),
    "reals": (float, ""),
    "path": (str, "a path"),
    "language": (str, "an ISO 639 code"),
    "text": (str, "a text"),
}


def option(
    name: str,
    about: str,
    kind: str,
    choices: Sequence[str] = (),
    default: object = None,
    limits: tuple[float | None, float | None] = (None, None),
) -> Option:
    """The declaration of an option of a metric.

    ``kind`` is ``flag``, ``integer``, ``real``, ``reals``, ``choice``, ``choices``, ``path``, ``language`` or ``text``.
    Values of ``reals`` and ``choices`` are lists. ``limits`` are those of a number, or of each number in a list.
    """
    element, text = OF_KIND.get(kind) or (Literal[tuple(choices)], "")
    low, high = limits
    rules = (FILE,) if kind == "path" else () if low is None or high is None else (Ge(low), Le(high))
    several = kind in ("reals", "choices")
    return Option(name, element, several, text=about, rules=rules, default=default, kind=Kind(text))


@dataclass(frozen=True)
class MetricSpec:
    """Description of a metric.

    ``source`` is an ACL id or DOI, or empty. ``reads_parses`` is True if the metric reads parses in CoNLL-U instead of
    texts.
    """

    name: str
    about: str
    source: str = ""
    options: list[Option] = field(default_factory=list)
    reads_parses: bool = False


def tokenizer_specs() -> list[_core.TokenizerSpec | ExternalTokenizer]:
    """All tokenizers: those of the core, then those of other packages."""
    return [*_core.tokenizers(), *EXTERNAL.values()]


@cache
def metric_specs() -> tuple[MetricSpec, ...]:
    """All metrics of the core. Those with an option ``tokenize`` also take the tokenizers of other packages."""
    return tuple(MetricSpec(m.name, m.about, m.source, [*_options(m)], m.reads_parses) for m in _core.metrics())


@cache
def spec_of(name: str) -> MetricSpec:
    """That of a metric of the core."""
    return next(spec for spec in metric_specs() if spec.name == name)


def _options(metric: _core.MetricSpec) -> Iterator[Option]:
    for o in metric.options:
        choices = [*o.choices, *EXTERNAL] if o.name == "tokenize" else o.choices
        yield option(o.name, o.about, o.kind, choices, o.default, (o.minimum, o.maximum))
        if o.name == "tokenize":
            model, language = WITH_TOKENIZE
            about = f"model file, for {model_takers()}"
            yield option(model, about, "path")
            chosen = ", ".join(f"{each.tokenizer} for {code}" for code, each in LANGUAGES.items() if len(code) == 2)
            about = f"language of the texts, which selects the tokenizer unless tokenize does: {chosen}"
            yield option(language, about, "language")
