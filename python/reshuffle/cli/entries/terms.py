"""Words of reports, from ``terms.toml``, and the kinds of caveats, from the docstring of their record."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from ...documented import own_texts
from ...toml import loads
from . import Entry


def terms() -> Iterable[Entry]:
    for name, term in loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items():
        facts = {"Marked": term.get("marked", ""), "Caution": term.get("caution", "")}
        yield Entry(name, term["about"], facts=facts, also=term.get("also", ()))


def caveats() -> Iterable[Entry]:
    """The kinds of :class:`~reshuffle.results.Caveat`, and those of runs, each with what it says."""
    from ...inference.run_caveats import run_caveats  # not for other words: it imports SciPy
    from ...results import Caveat

    for text in (own_texts(Caveat)["kind"], run_caveats.__doc__ or ""):
        listed = r"- ``([\w-]+)``: (.*?)(?: \(:func:[^)]*\))?[;.](?= - ``|$)"
        for name, about in re.findall(listed, " ".join(text.split())):
            yield Entry(name, about.replace("``", ""), facts={"In results": "the column caveats of CSV, and JSON"})
