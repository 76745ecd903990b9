"""The command: arguments, warnings, errors and exit codes."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress

from reshuffle import InputError, InputWarning

from .arguments import option_named, parse, words_of
from .outputs import say

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code.

    2 for wrong input and for output that cannot be written, 3 if memory runs out, with one line on standard error.
    """
    try:
        if sys.stdout is None:
            raise InputError("standard output is closed")
        options = parse(sys.argv[1:] if arguments is None else arguments)
        with warnings.catch_warnings():
            warnings.simplefilter("always", InputWarning)
            warnings.showwarning = _show_warning  # type: ignore[assignment]
            output = _run(options)
        # Bytes, because texts are UTF-8 whatever the locale.
        sys.stdout.flush()
        sys.stdout.buffer.write(output.encode())
        sys.stdout.flush()
    except InputError as error:
        say(f"multeval: error: {error.with_names(str, option_named)}")
        return 2
    except MemoryError:
        say("multeval: error: not enough memory: fewer draws, shuffles, systems or metrics need less")
        return 3
    except BrokenPipeError:
        _drop_unwritten()
        return 1
    except OSError as error:  # those of files are InputErrors
        say(f"multeval: error: standard output cannot be written: {error.strerror or error}")
        _drop_unwritten()
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


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


def _show_warning(message: Warning | str, *_: object) -> None:
    if isinstance(message, InputWarning):
        message = message.with_names(str, option_named)
    say(f"multeval: warning: {message}")


def _drop_unwritten() -> None:
    """Drop what standard output did not take, so that flushing it at exit does not fail again."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
