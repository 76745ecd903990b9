"""``python -m reshuffle.compat``: run any program with the libraries that it uses patched."""

from __future__ import annotations

import argparse
import atexit
import os
import re
import sys
from collections.abc import Callable, Sequence

from reshuffle import InputError

from .hosts import only_help
from .launch import find_modules_of_script, run_module, run_script
from .patching import PVALUES, install, seam_table, seams

DESCRIPTION = """
Run a Python program in which reshuffle replaces slow functions of other libraries. The program gets the ARGUMENTS. Its
output and exit code do not change, unless --only or --pvalues selects other numbers.
"""


def main() -> None:
    """Patch, and run the program."""
    parser = argparse.ArgumentParser(
        prog="python -m reshuffle.compat",
        usage="%(prog)s [-v] [--only NAMES] [--pvalues MODE] (-m MODULE | SCRIPT) [ARGUMENTS …]",
        description=DESCRIPTION,
        allow_abbrev=False,
    )
    parser.add_argument("--only", metavar="NAMES", help=only_help())
    add_options(parser)
    own, program = split_arguments(sys.argv[1:], lambda argument: re.match("-(?!m)", argument) is not None)
    options = parser.parse_args(own)
    if not program:
        parser.error("no program to run: expected -m MODULE or SCRIPT")
    by_module = program[0].startswith("-m")
    if by_module:
        program[:1] = [program[0][2:]] if program[0] != "-m" else []
        if not program:
            parser.error("-m needs the name of a module")
    else:
        find_modules_of_script(program[0])  # before install() imports libraries
    try:
        install(options.only.split(",") if options.only is not None else None, pvalues=options.pvalues)
    except InputError as error:
        parser.error(str(error))
    if options.verbose:
        print_seams_at_exit()
    run = run_module if by_module else run_script
    run(program[0], program[1:])


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that this command shares with the commands of libraries."""
    parser.add_argument(
        "--pvalues",
        choices=PVALUES,
        default=PVALUES[0],
        help="p-values and intervals of the library's significance tests: exact-replay reproduces the library's own to "
        "the last digit (default), sound takes those of reshuffle's tests",
    )
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="at exit, print to standard error how often each replaced function was called, and how often and why the "
        "call was left to the original",
    )


def split_arguments(arguments: Sequence[str], is_own: Callable[[str], bool]) -> tuple[list[str], list[str]]:
    """Our options, which come first, and the program's arguments."""
    position = 0
    while position < len(arguments) and is_own(arguments[position]):
        position += 2 if arguments[position] in ("--only", "--pvalues") else 1
    return list(arguments[:position]), list(arguments[position:])


def print_seams_at_exit() -> None:
    """Print the table of calls to standard error when this process ends, after all other output."""
    process = os.getpid()

    def print_seams() -> None:
        if os.getpid() == process:  # not in a forked child
            print(seam_table(seams()), file=sys.stderr)

    atexit.register(print_seams)


if __name__ == "__main__":
    main()
