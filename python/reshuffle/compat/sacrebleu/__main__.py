"""``python -m reshuffle.compat.sacrebleu``: sacreBLEU's command line, computed by reshuffle.

Arguments, output and exit codes are sacreBLEU's. ``-v`` and ``--pvalues sound`` are additional options, anywhere among
sacreBLEU's arguments; ``--help`` shows them below sacreBLEU's.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
from typing import Any

from reshuffle import InputError

from ..__main__ import add_options, print_seams_at_exit
from ..launch import run_function
from ..patching import install


def main() -> None:
    """Patch, and run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m reshuffle.compat.sacrebleu",
        usage="%(prog)s [-v] [--pvalues MODE] [ARGUMENTS of sacrebleu …]",
        add_help=False,  # --help is sacreBLEU's, and ours follows it
        allow_abbrev=False,
    )
    add_options(parser)
    own: list[str] = []
    theirs: list[str] = []
    for before, argument in itertools.pairwise(["", *sys.argv[1:]]):
        is_own = before == "--pvalues" or re.fullmatch("-v|--verbose|--pvalues(=.*)?", argument)
        (own if is_own else theirs).append(argument)
    options = parser.parse_args(own)
    try:
        # Without a log, standard error is the same as sacreBLEU's. -v lists what was left to it.
        install("sacrebleu", pvalues=options.pvalues, log="off")
    except InputError as error:
        parser.error(str(error))
    if options.verbose:
        print_seams_at_exit()
    from sacrebleu.sacrebleu import main as command

    def run() -> Any:
        try:
            return command()
        except InputError as error:  # only from our tests, for example of a single segment
            parser.error(str(error))
        finally:
            if {"-h", "--help"} & {*theirs}:
                print(f"\n{parser.format_help()}", end="")

    run_function(run, ["sacrebleu", *theirs])


if __name__ == "__main__":
    main()
