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

from .command import main

__all__ = ["main"]
