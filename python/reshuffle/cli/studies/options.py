"""The options of ``reshuffle study``, in groups: each study takes those that apply to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_args

import click

from ... import types
from ..command import option
from ..options import (
    COUNTS,
    EXECUTOR,
    METRICS,
    Decorator,
    all_of,
    any_of,
    input_options,
    output_options,
    resampling_options,
)
from ..params import Margin, Name, NameList, NumberList

INPUT = input_options("sample and resample whole documents", has_strata=False)

ARGUMENTS = (
    (
        "REF, SYS",
        "As for 'reshuffle compare': UTF-8 text with one segment per line, mteval, tables (FILE#NAME), JSON lines or "
        "parses; - is standard input.",
    ),
    *COUNTS,
)

NULLS = (
    option(
        "Study",
        "--null",
        "--nulls",
        "nulls",
        multiple=True,
        type=NameList("null", get_args(types.Null)),
        metavar="NAME...",
        help=f"Null hypotheses: {any_of(types.Null)}; 'reshuffle metrics' describes them.  [default: swap]",
    ),
)

NULL_OPTIONS = (
    option(
        "Study",
        "--equalize",
        type=Name("value of --equalize", get_args(types.Equalize)),
        default="mix",
        show_default=True,
        metavar="NAME",
        help="For --null equal-score and margin, how the better system is degraded: mix (with segments of a third "
        "system) or drop-words.",
    ),
    option("Study", "--noise", type=float, default=0.05, show_default=True, metavar="RATE",
           help="For --null noise: the share of words to edit."),
    option("Study", "--runs", type=int, default=1, show_default=True, metavar="N",
           help="For --null replicate: the number of runs on each side."),
    option("Study", "--document-size", type=int, metavar="N",
           help="For --null documents without --docs: the number of segments in a simulated document."),
    option("Study", "--icc", type=float, metavar="VALUE",
           help="For --null documents without --docs: the intraclass correlation of simulated documents."),
)  # fmt: skip


def choice_of_tests(default: str, about: str = ": names of --test of 'reshuffle compare'") -> Decorator:
    """``--tests``, with the names of its default and what the help says of the names."""
    return option(
        "Study",
        "--tests",
        "--test",
        "tests",
        multiple=True,
        type=NameList("test", get_args(types.Test)),
        metavar="NAME...",
        help=f"Tests, separated by commas or spaces{about}.  [default: {default}]",
    )


TESTS = (
    choice_of_tests(
        "ar bootstrap-both bootstrap bootstrap-shift",
        ": names of --test of 'reshuffle compare'. By default only those that have the --alternative",
    ),
    option(
        "Study",
        "--alternative",
        type=Name("alternative", get_args(types.Alternative)),
        default="two-sided",
        show_default=True,
        metavar="NAME",
        help=f"{any_of(types.Alternative)}.",
    ),
)

ALPHAS = (
    option(
        "Study",
        "--alphas",
        "--alpha",
        "alphas",
        multiple=True,
        type=NumberList(float),
        metavar="LEVEL...",
        help="Significance levels.  [default: 0.01 0.05 0.1]",
    ),
)

SIZES = (
    option(
        "Study",
        "--sizes",
        "--size",
        "sizes",
        multiple=True,
        type=NumberList(int),
        metavar="N...",
        help="Segments (with --docs, documents) in a simulated test set.  [default: the size of the data]",
    ),
    option(
        "Study",
        "--sampling",
        type=Name("value of --sampling", get_args(types.Sampling)),
        default="replace",
        show_default=True,
        metavar="NAME",
        help="How test sets are drawn: replace (with replacement), subset (without), or fixed (every segment once).",
    ),
)


def _simulations(default: int) -> Decorator:
    return option(
        "Study",
        "--simulations",
        type=int,
        default=default,
        show_default=True,
        metavar="N",
        help="Number of simulated test sets.",
    )


PAIRS = (
    option(
        "Study",
        "--baseline",
        metavar="NAME",
        help="The baseline of the pairs: a system or its file.  [default: the first]",
    ),
    option("Study", "--all-pairs", is_flag=True, help="Use every pair of systems."),
)

DESIGN = (
    option(
        "Study",
        "--scheme",
        type=Name("scheme", get_args(types.StudyScheme)),
        default="iid",
        show_default=True,
        metavar="NAME",
        help="Shuffles of --tests ar: iid (independent), subgroup (a random subgroup of 2^m), or orbit (with "
        "--sampling fixed: all simulations share one set of shuffles).",
    ),
    option(
        "Study",
        "--weight-sets",
        type=int,
        metavar="N",
        help="Share N sets of bootstrap draws among the simulations. This is faster, but simulations that share a set "
        "are not independent.  [default: new draws for each]",
    ),
)

STOPPING = (
    option(
        "Study",
        "--stopping",
        type=Name("stopping rule", get_args(types.StudyStopping)),
        metavar="NAME",
        help="besag-clifford: end the shuffles of --tests ar and ar-studentized as soon as the test cannot reject at "
        "any of --alphas. Rates stay the same; for --scheme iid.  [default: all shuffles]",
    ),
)

MARGINS = (
    option(
        "Study",
        "--margin",
        "margins",
        multiple=True,
        type=Margin(),
        metavar="METRIC=VALUE...",
        help="Margins of --tests equivalence and non-inferiority, in points of the metric.",
    ),
)

RESUME = (
    option(
        "Resampling",
        "--resume",
        metavar="FILE",
        help="Keep what is finished in FILE, and go on from what is finished there: after an interruption, or with "
        "more --simulations.",
    ),
)

TABLE = (option("Output", "--table", metavar="NAME", help="With csv: the table to write.  [default: the first]"),)


def study_options(
    *groups: Sequence[Decorator], pairs: bool = True, simulations: int | None = 1000, n_resamples: int = 999
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The options of a study: input, metrics, its own ``groups``, pairs of systems, replicates and output.

    ``n_resamples`` is the default of ``-n``, ``simulations`` that of ``--simulations``, None for a study without it.
    """
    systems = click.argument("systems", metavar="SYS SYS...", nargs=-1)
    reference = click.argument("reference", metavar="REF", required=False)
    resampling = resampling_options("Shuffles or draws of each test", n_resamples, automatic=False)
    output = output_options(get_args(types.Format), "text")
    own = [*groups, *([] if simulations is None else [[_simulations(simulations)]]), *([PAIRS] if pairs else [])]
    decorate = all_of(INPUT, METRICS, *own, resampling, (EXECUTOR,), RESUME, TABLE, output)

    def options(command: Callable[..., Any]) -> Callable[..., Any]:
        return reference(systems(decorate(command)))

    return options
