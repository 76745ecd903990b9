"""The command: arguments, warnings, errors and exit codes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from reshuffle import InputError

from ..commands import run
from .arguments import option_named, parse, words_of

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code.

    2 for wrong input and for output that cannot be written, 3 if memory runs out, with one line on standard error.
    """
    return run("multeval", lambda: _run(parse(sys.argv[1:] if arguments is None else arguments)), option_named)


def _run(options: argparse.Namespace) -> str:
    from .metrics import OptionsOfMetrics, metrics_named  # not for --help: they import numpy

    chosen = OptionsOfMetrics(
        ignore_punctuation_in_ter=getattr(options, "ter.punctuation"),
        language=getattr(options, "meteor.language"),
        task=getattr(options, "meteor.task"),
        parameters=_numbers(options, "meteor.params"),
        modules=_words(options, "meteor.modules"),
        weights=_numbers(options, "meteor.weights"),
        synonyms=getattr(options, "meteor.synonymDirectory"),
        paraphrases=getattr(options, "meteor.paraphraseFile"),
        keep_punctuation=getattr(options, "meteor.keepPunctuation"),
        jar=getattr(options, "meteor.jar"),
        wordnet=getattr(options, "meteor.wordnet"),
    )
    metrics = metrics_named(words_of(options.metrics), chosen)
    if options.module == "nbest":
        from .nbest import ranked_nbest

        return ranked_nbest(options, metrics)
    from .evaluation import evaluate

    return evaluate(options, metrics)


def _words(options: argparse.Namespace, name: str) -> tuple[str, ...] | None:
    values = getattr(options, name)
    return None if values is None else words_of(values)


def _numbers(options: argparse.Namespace, name: str) -> tuple[float, ...] | None:
    words = _words(options, name)
    try:
        return None if words is None else tuple(map(float, words))
    except ValueError:
        raise InputError(f"--{name}: expected numbers, got {' '.join(words or ())!r}") from None
