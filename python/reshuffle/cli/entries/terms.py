"""Words of reports, from ``terms.toml``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...toml import loads
from . import Entry


def terms() -> Iterable[Entry]:
    for name, term in loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items():
        facts = {"Marked": term.get("marked", ""), "Caution": term.get("caution", "")}
        yield Entry(name, term["about"], facts=facts, also=term.get("also", ()))
