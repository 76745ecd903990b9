"""NIST's mteval-v13a.pl and mteval-v14.pl: their command line and reports, computed by reshuffle.

``python -m reshuffle.compat.mteval -r REF -s SRC -t TST`` takes the options of the scripts (mosesdecoder,
``scripts/generic``), reads the same SGML and XML files, and prints the same report: scores of systems, with ``-d 1``
of documents, with ``-d 2`` of segments, with ``-d 3`` texts and matching n-grams, and the tables of n-gram orders.
``--metricsMATR`` writes the same files. ``--mteval-version 14`` stands for mteval-v14.pl.

All scores are those of the scripts: BLEU to the last digit, and NIST to seven decimals. The last digits of NIST differ
from run to run in the scripts, too, which add information in a random order. As in the scripts, international
tokenization takes a line end or a tab before a text of an XML file for an empty word, which changes the scores.

Differences: with ``-d 3`` the n-grams of a segment are in the order of the text, where the scripts have a random order,
and words have one space between them, also if an XML file has line ends there.
A segment without words in any reference has a NIST score of 0; the scripts end with a division by zero. Wrong input
ends with exit code 2 and one sentence. The debugging output of ``-x`` is not available.

>>> from reshuffle.compat.mteval import main
>>> main(["-r", "missing.sgm", "-s", "missing.sgm", "-t", "missing.sgm"])
2
"""

from __future__ import annotations

from collections.abc import Sequence

from ..commands import check_output, run, say, write
from .arguments import HELP, parse

__all__ = ["main"]

PROGRAM = "python -m reshuffle.compat.mteval"
# The beginning of the files of --metricsMATR.
OWN = r"[^\t\n]*\t[^\t\n]*\t"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code: 2 for wrong input, with one line on standard error."""
    return run("mteval", _run, arguments)


def _run(arguments: list[str]) -> str:
    options = parse(arguments)
    if options is None:
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
