"""Time other tools and reshuffle in turn, in one run, on real systems: ``python -m benches.races --help``.

This is the command line. ``race.py`` runs and times races, ``agreement.py`` compares their results, ``cases``
define what is raced, ``rivals`` knows the other tools, and ``report.py`` makes tables and records.
"""

from __future__ import annotations

import argparse
import inspect
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benches.data import MissingDataError, Texts, find
from benches.machine import SIMD_PATHS, circumstances

from .cases.commands import disk, million, whole_command
from .cases.counting import chrf, count, gtm, nist, sentbleu, ter
from .cases.dropin import dropin, dropin_command, harness
from .cases.executors import executors
from .cases.gate import gates
from .cases.labels import labels
from .cases.libraries import libraries
from .cases.many import html, many, sets
from .cases.mbr import decoding
from .cases.meta import meta_cases, tau
from .cases.meteor import meteor
from .cases.nltk import nltk
from .cases.peers import peers
from .cases.resampling import ar, bootstrap, pairs, scipys, vectorized
from .cases.runs import runs
from .cases.scripts import comet, scripts
from .cases.small import small
from .cases.speech import speech
from .cases.study import study
from .cases.summaries import summaries
from .cases.tune import linesearch, tuned
from .cases.votes import rated
from .race import Race, Skipped, run
from .report import READING, plain_table, record, rows

CASES: Mapping[str, Callable[[Texts], list[Race]]] = {
    "count": count,
    "chrf": chrf,
    "ter": ter,
    "gtm": gtm,
    "speech": speech,
    "meteor": meteor,
    "runs": runs,
    "meta": meta_cases,
    "tau": tau,
    "linesearch": linesearch,
    "tune": tuned,
    "mbr": decoding,
    "nist": nist,
    "sentbleu": sentbleu,
    "peers": peers,
    "ar": ar,
    "bootstrap": bootstrap,
    "small": small,
    "study": study,
    "pairs": pairs,
    "scipy": scipys,
    "numpy": vectorized,
    "command": whole_command,
    "gate": gates,
    "votes": rated,
    "dropin": dropin,
    "dropin-command": dropin_command,
    "harness": harness,
    "nltk": nltk,
    "labels": labels,
    "summaries": summaries,
    "libraries": libraries,
    "comet": comet,
    "scripts": scripts,
    "many": many,
    "sets": sets,
    "html": html,
    "million": million,
    "disk": disk,
    "executors": executors,
}

# Cases that run only if they are named: most of them take minutes.
NAMED = (
    *("million", "disk", "executors", "runs", "meta", "tau", "linesearch", "tune", "study", "many", "sets", "html"),
    *("dropin", "dropin-command", "harness"),
    *("nltk", "summaries", "libraries", "comet", "scripts"),
)
ORDINARY = [case for case in CASES if case not in NAMED]


def about(case: str) -> str:
    """The docstring of a case as one line: what it shows and why it exists."""
    return " ".join((inspect.getdoc(CASES[case]) or "").split())


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line; the help lists the cases."""
    parser = argparse.ArgumentParser(
        prog="python -m benches.races",
        description="Run other tools and reshuffle in turn on wmt17-en-de and print a table of times.",
        epilog="\n\n".join(["cases:", *(f"  {case}: {about(case)}" for case in CASES)]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="runs of each (default: %(default)s)")
    parser.add_argument(
        "--only",
        nargs="+",
        choices=CASES,
        default=ORDINARY,
        metavar="CASE",
        help=f"{', '.join(CASES)} (default: all but {', '.join(NAMED)})",
    )
    parser.add_argument(
        "--simd",
        choices=SIMD_PATHS,
        help="force reshuffle's SIMD path (default: the best that this processor supports)",
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write a dated record as well")
    parser.add_argument(
        "--mteval",
        type=Path,
        default=os.environ.get("RESHUFFLE_MTEVAL"),
        metavar="FILE",
        help="NIST's script mteval-v13a.pl, scripts/generic in moses-smt/mosesdecoder (default: RESHUFFLE_MTEVAL)",
    )
    parsed = parser.parse_args(arguments)
    if parsed.repeats < 1:
        parser.error(f"--repeats must be at least 1, got {parsed.repeats}")
    if parsed.markdown is not None and not parsed.markdown.absolute().parent.is_dir():
        parser.error(f"--markdown: there is no folder {parsed.markdown.parent}")  # checked before the races, not after
    return parsed


def take_path(simd: str | None) -> None:
    """Force a SIMD path: start this program again with it, because the core reads the variable only once."""
    if simd is not None and os.environ.get("RESHUFFLE_SIMD") != simd:
        os.environ["RESHUFFLE_SIMD"] = simd
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def again(options: argparse.Namespace) -> str:
    """The command that repeats this run, without paths of this machine."""
    arguments = ["--repeats", str(options.repeats)]
    if options.only != ORDINARY:
        arguments += ["--only", *options.only]
    if options.simd is not None:
        arguments += ["--simd", options.simd]
    if options.mteval is not None:
        arguments += ["--mteval", options.mteval.name]
    return shlex.join(["python", "-m", "benches.races", *arguments])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the selected cases."""
    options = parse(arguments)
    take_path(options.simd)
    try:
        files = find()
    except MissingDataError as missing:
        print(f"races: {missing}", file=sys.stderr)
        return 2
    texts = Texts(files, files.references(), files.outputs(), options.mteval)
    facts, table, skipped = circumstances(), [], []
    for case in options.only:
        for race in CASES[case](texts):
            absent = [contender for contender in race.contenders if isinstance(contender, Skipped)]
            skipped += [f"{case}: {race.what}: {rival.name} skipped, {rival.reason}" for rival in absent]
            print(f"{case}: {race.what} …", file=sys.stderr)
            table += rows(case, race.what, run(race, options.repeats))
    print(*(f"{name}: {fact}" for name, fact in facts.items()), sep="\n")
    print(f"\n{plain_table(table)}\n\n{READING}\n")
    print(*skipped, *(f"{case}: {about(case)}" for case in options.only), sep="\n")
    if options.markdown is not None:
        descriptions = {case: about(case) for case in options.only}
        options.markdown.write_text(record(facts, again(options), table, skipped, descriptions), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
