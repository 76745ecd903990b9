"""Descriptions of metrics, their options and tokenizers, from the engine's registries, without importing numpy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .. import _core
from .tokenizers import EXTERNAL, LANGUAGES, model_takers

__all__ = ["MetricSpec", "OptionSpec", "TokenizerSpec", "metric_specs", "tokenizer_specs"]


@dataclass(frozen=True)
class OptionSpec:
    """Description of an option.

    ``kind`` is ``flag``, ``integer``, ``real``, ``reals``, ``choice``, ``path`` or ``language``. ``minimum`` and
    ``maximum`` limit numbers, for ``reals`` each of them; ``choices`` are for ``choice``.
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

    ``source`` is an ACL id or DOI; ``of_parses`` is true if it reads parses in CoNLL-U instead of texts.
    """

    name: str
    about: str
    source: str
    of_parses: bool
    options: list[OptionSpec]


@dataclass(frozen=True)
class TokenizerSpec:
    """Description of a tokenizer."""

    name: str
    about: str


def tokenizer_specs() -> list[TokenizerSpec]:
    """Every tokenizer there is: the core's, then those of other packages."""
    core = [TokenizerSpec(t.name, t.about) for t in _core.tokenizers()]
    return core + [TokenizerSpec(t.name, t.about) for t in EXTERNAL.values()]


def metric_specs() -> list[MetricSpec]:
    """Every metric of the core. Those that tokenize also take tokenizers of other packages, and their models."""
    return [MetricSpec(m.name, m.about, m.source, m.reads_parses, list(_options(m))) for m in _core.metrics()]


def _options(metric: _core.MetricSpec) -> Iterator[OptionSpec]:
    for o in metric.options:
        choices = [*o.choices, *EXTERNAL] if o.name == "tokenize" else o.choices
        yield OptionSpec(o.name, o.about, o.kind, o.minimum, o.maximum, choices, o.default)
        if o.name == "tokenize":
            about = f"the model's file, for {model_takers()}"
            yield OptionSpec("tokenizer_model", about, "path", None, None, [], None)
            chosen = ", ".join(
                f"{language.tokenizer} for {code}" for code, language in LANGUAGES.items() if len(code) == 2
            )
            about = f"the language of the texts, which chooses a tokenizer if none is named: {chosen}"
            yield OptionSpec("trg_lang", about, "language", None, None, [], None)
