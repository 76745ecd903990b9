"""What the registries know of metrics, their options and tokenizers. It comes from the engine; numpy is not needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from . import _core
from .tokenizers import EXTERNAL, LANGUAGES, model_takers

__all__ = ["MetricSpec", "OptionSpec", "TokenizerSpec", "metric_specs", "tokenizer_specs"]


@dataclass(frozen=True)
class OptionSpec:
    """What the registry knows of an option.

    ``kind`` is ``flag``, ``integer``, ``real``, ``reals``, ``choice``, ``path`` or ``language``; ``minimum`` and
    ``maximum`` are a number's, or of each of several, ``choices`` are a choice's.
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
            about = f"the model's file, for {model_takers()}"
            yield OptionSpec("tokenizer_model", about, "path", None, None, [], None)
            chosen = ", ".join(
                f"{language.tokenizer} for {code}" for code, language in LANGUAGES.items() if len(code) == 2
            )
            about = f"the language of the texts, which chooses a tokenizer if none is named: {chosen}"
            yield OptionSpec("trg_lang", about, "language", None, None, [], None)
