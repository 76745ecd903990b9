"""Words of reports, from ``terms.toml``, heads of their columns, from ``columns.toml``, and the kinds of caveats."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...results.caveat_kinds import CAVEAT_KINDS, RUN_CAVEAT_KINDS
from ...toml import loads
from ..process import EXIT_CODES
from . import Entry


def terms() -> Iterable[Entry]:
    for name, term in loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items():
        facts = {"Marked": term.get("marked", ""), "Caution": term.get("caution", "")}
        if name == "exit-code":
            facts["Codes"] = "\n".join(f"{code:<3} {meaning}" for code, meaning in EXIT_CODES.items())
        yield Entry(name, term["about"], facts=facts, also=term.get("also", ()))


def columns() -> Iterable[Entry]:
    for name, column in loads(Path(__file__).with_name("columns.toml").read_text("utf-8")).items():
        yield Entry(name, column["about"], also=column.get("also", ()))


def caveats() -> Iterable[Entry]:
    """The kinds of caveats of comparisons and of runs."""
    for name, kind in {**CAVEAT_KINDS, **RUN_CAVEAT_KINDS}.items():
        facts = {"To do": kind.advice, "Values": kind.values, "In results": "the column caveats of CSV, and JSON"}
        yield Entry(name, kind.about, facts=facts, data={"advice": kind.advice})
