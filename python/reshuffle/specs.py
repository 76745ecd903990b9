"""What the registries know of metrics, their options and tokenizers. It comes from the engine; numpy is not needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from . import _core
from .tokenizers import EXTERNAL

__all__ = ["MetricSpec", "OptionSpec", "TokenizerSpec", "metric_specs", "tokenizer_specs"]


@dataclass(frozen=True)
class OptionSpec:
    """What the registry knows of an option.

    ``kind`` is ``flag``, ``integer``, ``real``, ``choice`` or ``path``; ``minimum`` and ``maximum`` are a number's,
    ``choices`` are a choice's.
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
    """What the registry knows of a metric.

    ``source`` is an ACL id or DOI; ``of_parses`` tells whether it reads parses in CoNLL-U in the place of texts.
    """

    name: str
    about: str
    source: str
    of_parses: bool
    options: list[OptionSpec]


@dataclass(frozen=True)
class TokenizerSpec:
    """What the registries know of a tokenizer."""

    name: str
    about: str


def tokenizer_specs() -> list[TokenizerSpec]:
    """Every tokenizer there is: the core's, then those of other packages."""
    core = [TokenizerSpec(t.name, t.about) for t in _core.tokenizers()]
    return core + [TokenizerSpec(t.name, t.about) for t in EXTERNAL.values()]


def metric_specs() -> list[MetricSpec]:
    """Every metric of the core. One that tokenizes takes the tokenizers of other packages too, and their models."""
    return [MetricSpec(m.name, m.about, m.source, m.of_parses, list(_options(m))) for m in _core.metrics()]


def _options(metric: _core.MetricSpec) -> Iterator[OptionSpec]:
    for o in metric.options:
        choices = [*o.choices, *EXTERNAL] if o.name == "tokenize" else o.choices
        yield OptionSpec(o.name, o.about, o.kind, o.minimum, o.maximum, choices, o.default)
        if o.name == "tokenize":
            models = " or ".join(name for name, tokenizer in EXTERNAL.items() if tokenizer.takes_model)
            about = f"the model's file, for {models}"
            yield OptionSpec("tokenizer_model", about, "path", None, None, [], None)
