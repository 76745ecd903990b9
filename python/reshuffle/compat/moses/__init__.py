"""Moses' scores and bootstrap test: ``multi-bleu.perl`` and ``bootstrap-hypothesis-difference-significance.pl``.

``python -m reshuffle.compat.moses multi-bleu [-lc] REF < HYP`` prints the line of ``scripts/generic/multi-bleu.perl``,
and ``python -m reshuffle.compat.moses bootstrap-hypothesis-difference-significance HYP1 HYP2 REF…`` the report of the
script of this name in ``scripts/analysis``. Scores are those of the scripts to the last printed digit. The draws of the
second one come from other random numbers, which ``--seed`` determines; the script cannot be repeated.

Differences: without any reference, multi-bleu ends with an error, where the script takes 9,999 words as the length of
each reference. Where it does so for hypotheses after the last line of the references, there is a warning. Divisions by
zero give a score of 0. The bootstrap script sorts the scores of draws as text, so that its interval is wrong if some
NIST scores are below 10 and others above; here they are sorted as numbers.

>>> from reshuffle.compat.moses import main
>>> main(["multi-bleu", "missing.txt"])
2
"""

from __future__ import annotations

from .command import main

__all__ = ["main"]
