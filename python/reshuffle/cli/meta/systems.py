"""``reshuffle meta systems``."""

from __future__ import annotations

from typing import Any, get_args

import click

from ... import types
from ..command import Command, option
from ..options import EXECUTOR, all_of
from ..params import Name, flattened
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

COEFFICIENTS = ("pearson", "spearman", "kendall-b", "accuracy", "soft-accuracy")

AGREEMENT = (
    chosen_coefficients(COEFFICIENTS, "pearson, spearman, kendall-b and accuracy"),
    option(
        "Agreement",
        "--human-score",
        type=Name("human score", get_args(types.HumanScore)),
        metavar="NAME",
        help="The score of a system from --judgments: wins (WMT12: the share of its votes that it wins), expected-wins "
        "(WMT13: the mean over the other systems), or wins-or-ties (WMT08).  [default: the scores of --human, else "
        "wins]",
    ),
    option(
        "Agreement",
        "--scored-segments",
        type=Name("scored segments", get_args(types.ScoredSegments)),
        default="judged",
        show_default=True,
        metavar="NAME",
        help="The segments on which metrics score the systems: judged (those of which people judged an output) or "
        "all. If people scored whole systems, all segments are used.",
    ),
)


@click.command(
    "systems",
    cls=Command,
    examples=(
        "reshuffle meta systems --judgments cs-en.rank --refs ref.txt --systems sys -m bleu chrf",
        "reshuffle meta systems --human da.tsv --refs ref.txt --systems sys -m bleu ter --test williams",
        "reshuffle meta systems --human mqm.tsv --refs ref.txt --systems sys --metric-scores COMET=c.tsv",
    ),
    arguments=ARGUMENTS,
    context_settings={"allow_extra_args": True},
)
@all_of(
    HUMAN,
    OUTPUTS,
    SETS,
    metrics_option("bleu"),
    AGREEMENT,
    chosen_test(get_args(types.MetaTest), "williams for pearson with 4 systems or more, else perm-systems"),
    intervals(),
    RESAMPLING,
    (EXECUTOR,),
    chosen_table(get_args(types.MetaTable)),
    output,
)
@click.pass_context
def systems_command(context: click.Context, /, **options: Any) -> None:
    """Do the scores of systems agree with people?

    Coefficients of agreement for each metric, with intervals; tests of all pairs of metrics; and a ranking in which
    metrics that do not differ significantly share a letter. Human scores of segments are averaged.
    """
    from ...meta import systems
    from ...meta.systems import SystemSettings
    from .running import run_meta

    own: dict[str, Any] = {
        "coefficients": flattened(options.pop("coefficients")),
        "human_scores": options.pop("human_score"),
        "scored_segments": options.pop("scored_segments"),
    }
    SystemSettings(**own).checked(options["test"])  # before files are read
    run_meta(
        context.args,
        options,
        "bleu",
        get_args(types.MetaTable),
        lambda sets, settings: systems(sets, **own, **settings),
    )
