"""Check the claims of papers on public data, and write the pages about them: ``python -m benches.papers --help``.

Without options, it writes the pages of docs/papers and their figures from the saved results.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benches.data import FOLDER

from .chen import CHEN_CHERRY
from .claims import PAGES, Paper, read_results, run, write_results
from .clark import CLARK
from .koehn import KOEHN
from .others import BERG_KIRKPATRICK, CARD, GRAHAM
from .page import pages
from .people import PEOPLE
from .riezler_maxwell import RIEZLER_MAXWELL
from .zhang_vogel import ZHANG_VOGEL

__all__ = ["CLAIMS", "PAPERS", "main"]

PAPERS: tuple[Paper, ...] = (
    RIEZLER_MAXWELL,
    KOEHN,
    ZHANG_VOGEL,
    CLARK,
    BERG_KIRKPATRICK,
    GRAHAM,
    CARD,
    CHEN_CHERRY,
    PEOPLE,
)
CLAIMS = {claim.name: claim for paper in PAPERS for claim in paper.claims}


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line; the help lists the claims."""
    parser = argparse.ArgumentParser(
        prog="python -m benches.papers",
        description=__doc__,
        epilog="\n".join(["claims:", *(f"  {name}: {claim.title}" for name, claim in CLAIMS.items())]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--rerun", nargs="+", default=[], choices=[*CLAIMS, "all"], metavar="NAME", help="claims to check again, or all"
    )
    parser.add_argument("--data", type=Path, default=FOLDER, metavar="FOLDER", help="default: RESHUFFLE_DATA")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for, then write the pages and the figures."""
    options = parse(arguments)
    chosen = list(CLAIMS) if "all" in options.rerun else options.rerun
    results = {name: result for name, result in read_results().items() if name in CLAIMS}
    if chosen and not options.data.is_dir():
        print(f"papers: there is no folder {options.data}: set RESHUFFLE_DATA or --data", file=sys.stderr)
        return 2
    cache: dict[str, tuple[str, float]] = {}
    for name in chosen:
        print(f"{name} …", end=" ", file=sys.stderr, flush=True)
        results[name] = run(CLAIMS[name], options.data, cache)
        print(f"{results[name]['seconds']} s", file=sys.stderr)
        write_results(results)  # an interrupted run keeps what is done
    for name, text in pages(PAPERS, results).items():
        (PAGES / name).write_text(text, encoding="utf-8")
    for name, result in results.items():
        claim = CLAIMS[name]
        if claim.plot is not None:
            claim.plot(result["figures"], claim.figure)
    return 0


if __name__ == "__main__":
    sys.exit(main())
