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

import sys
from collections.abc import Sequence
from functools import partial

from reshuffle import InputError

from ..commands import Parser, add_number, count, file_name, run, whole

__all__ = ["main"]

PROGRAM = "python -m reshuffle.compat.moses"
MULTI_BLEU = "multi-bleu"
SIGNIFICANCE = "bootstrap-hypothesis-difference-significance"
# More draws do not help.
MOST_DRAWS = 10**7


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code.

    2 for wrong input, with one line on standard error; 1 if all references are empty, as in multi-bleu.perl.
    """
    return run("moses", _run, arguments)


def _run(arguments: list[str]) -> str:
    if not arguments:
        raise InputError(f"no script: choose {MULTI_BLEU} or {SIGNIFICANCE}")
    # The scripts may be called by their file names.
    first = [argument.removesuffix(".perl").removesuffix(".pl") for argument in arguments[:1]]
    options = _parser().parse_args([*first, *arguments[1:]])
    if options.script == MULTI_BLEU:
        from .multi_bleu import multi_bleu  # not for --help: it imports numpy

        if sys.stdin is None:
            raise InputError("standard input is closed: the hypotheses are read from it")
        return multi_bleu(options.reference, sys.stdin.buffer.read(), options.lowercase)
    from .significance import significance

    return significance(options.hypotheses, options.references, options.n_resamples, options.seed)


def _parser() -> Parser:
    parser = Parser(prog=PROGRAM, description="Scripts of Moses with the counts of reshuffle.", allow_abbrev=False)
    scripts = parser.add_subparsers(dest="script", required=True, metavar="SCRIPT", parser_class=Parser)
    bleu = scripts.add_parser(MULTI_BLEU, help="BLEU of tokenized text, in one line", allow_abbrev=False)
    bleu.add_argument("-lc", dest="lowercase", action="store_true", help="ignore case, of ASCII letters only")
    bleu.add_argument("reference", type=file_name, metavar="REF", help="a file, or the beginning of REF0, REF1 …")
    test = scripts.add_parser(SIGNIFICANCE, help="bootstrap test of BLEU and NIST", allow_abbrev=False)
    test.add_argument("hypotheses", nargs=2, type=file_name, metavar="HYP", help="outputs of two systems, tokenized")
    test.add_argument("references", nargs="+", type=file_name, metavar="REF", help="references, tokenized")
    own = test.add_argument_group("not in Moses")
    add_number(own, "--seed", default=12345, about="seed of the draws", kind=whole)
    most = partial(count, most=MOST_DRAWS)
    add_number(own, "-n", "--n-resamples", default=1000, about="number of draws", kind=most)
    return parser
