"""The command: options, report and files."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..commands import check_output, run, say, write
from .arguments import HELP, parse

__all__ = ["main"]

PROGRAM = "python -m reshuffle.compat.mteval"
# The beginning of the files of --metricsMATR.
OWN = r"[^\t\n]*\t[^\t\n]*\t"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code: 2 for wrong input, with one line on standard error."""
    return run("mteval", lambda: _run(sys.argv[1:] if arguments is None else list(arguments)))


def _run(arguments: Sequence[str]) -> str:
    options = parse(arguments)
    if options.help:
        return HELP
    for argument in options.unknown:
        say(f"mteval: warning: unknown option {argument} is ignored")
    # Not for --help: they import numpy.
    from . import reports
    from .documents import read_set
    from .scoring import count

    begun = reports.start(options.version, " ".join([PROGRAM, *arguments]))
    test_set = read_set(options.source, options.reference, options.translations, options.version)
    counted = count(test_set, options)
    text = begun + reports.evaluation(test_set, counted)
    if options.matr:
        files = reports.files(test_set, counted)
        for name in files:
            check_output(name, OWN)
        for name, content in files.items():
            write(name, content)
    return text + reports.end(options.version)
