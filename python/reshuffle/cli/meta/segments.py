"""``reshuffle meta segments``."""

from __future__ import annotations

from typing import Any, get_args

import click

from ... import types
from ..command import Command, option
from ..options import EXECUTOR, all_of
from ..params import Name, NameList, flattened
from .options import (
    ARGUMENTS,
    HUMAN,
    OUTPUTS,
    RESAMPLING,
    SETS,
    chosen_coefficients,
    chosen_table,
    chosen_test,
    intervals,
    metrics_option,
    output,
)

COEFFICIENTS = tuple(name for name in get_args(types.MetaCoefficient) if name not in ("accuracy", "soft-accuracy"))
TABLES = tuple(name for name in get_args(types.MetaTable) if name != "systems")
TESTS = tuple(name for name in get_args(types.MetaTest) if name != "williams")

AGREEMENT = (
    chosen_coefficients(COEFFICIENTS, "tau with votes; pearson, kendall-b and acc23 with scores"),
    option(
        "Agreement",
        "--grouping",
        "--groupings",
        "groupings",
        multiple=True,
        type=NameList("grouping", get_args(types.Grouping)),
        metavar="NAME...",
        help="With human scores of segments: agreement over all outputs (none), or its mean within systems (sys) or "
        "within segments (item).  [default: none for pearson and spearman, else item]",
    ),
    option(
        "Agreement",
        "--ties",
        type=Name("value of --ties", get_args(types.MetricTies)),
        default="half",
        show_default=True,
        metavar="NAME",
        help="For tau, how a vote counts if the metric gives both outputs the same score: half (half concordant, half "
        "discordant), discordant (WMT12), ignore (WMT13) or denominator (WMT14; the same values as half).",
    ),
    option("Agreement", "--minimum-difference", type=float, default=25.0, show_default=True, metavar="POINTS",
           help="For darr: the smallest difference of two human scores that counts."),
    option("Agreement", "--pooled", is_flag=True,
           help="With several test sets: also tau and darr of all votes taken as one test set."),
)  # fmt: skip


@click.command(
    "segments",
    cls=Command,
    examples=(
        "reshuffle meta segments --judgments cs-en.rank --sysmap sysmap.tsv --refs ref.txt --systems sys",
        "reshuffle meta segments --judgments cs-en.rank --refs ref.txt --systems sys -m sentbleu ter",
        "reshuffle meta segments --human mqm.tsv --refs ref.txt --systems sys --metric-scores COMET=c.tsv",
        "reshuffle meta segments --human da.csv --columns score=Z --metric-scores all.tsv -o meta.html",
        "reshuffle meta segments --manifest sets.toml -m sentbleu chrf --format latex -o table.tex",
    ),
    arguments=ARGUMENTS,
    context_settings={"allow_extra_args": True},
)
@all_of(
    HUMAN,
    OUTPUTS,
    SETS,
    metrics_option("sentbleu"),
    AGREEMENT,
    chosen_test(TESTS, "t-both; with fewer than 4 systems or segments perm-inputs for tau and darr, else perm-both"),
    intervals(note=" For tau and darr: boot-inputs or none."),
    RESAMPLING,
    (EXECUTOR,),
    chosen_table(TABLES),
    output,
)
@click.pass_context
def segments_command(context: click.Context, /, **options: Any) -> None:
    """Do the scores of segments agree with people?

    Coefficients of agreement for each metric, with intervals; tests of all pairs of metrics; and a ranking in which
    metrics that do not differ significantly share a letter.
    """
    from ...meta import segments
    from ...meta.segments import SegmentSettings
    from .running import run_meta

    own: dict[str, Any] = {
        "coefficients": flattened(options.pop("coefficients")),
        "groupings": flattened(options.pop("groupings")),
    }
    for name in ("ties", "minimum_difference", "pooled"):
        own[name] = options.pop(name)
    SegmentSettings(**own).checked(options["test"])  # before files are read
    run_meta(context.args, options, "sentbleu", TABLES, lambda sets, settings: segments(sets, **own, **settings))
