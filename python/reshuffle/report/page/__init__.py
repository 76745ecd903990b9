"""The HTML report: one file that displays a result and embeds its data. It makes no requests.

The template renders what needs no interaction; the scripts draw the rest from the JSON in the page. The template and
the style sheet are next to this file, and the scripts are in ``scripts`` (:data:`SCRIPTS`). A content security policy
allows only this style sheet and these scripts, by their hashes, so no element may have a style attribute.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import printable
from ...grouping import grouped
from ...results import Comparison, PairedDifference, SetComparison
from ..caveats import counts_of, with_pairs, worded
from ..cells import under
from ..computed import alternative_phrase
from ..document import Document, Page
from ..formulas import names_in, symbols_for_scripts
from ..json import embedded_json
from ..layout import Layout, by_name
from ..nulls import bars_of
from ..words import words
from .content import content

__all__ = ["STUDY_SCRIPTS", "as_html", "page_of", "template_of"]

HERE = Path(__file__).parent
# Lines of scripts that are comments: a sixth of them, which pages leave out.
COMMENTS = re.compile(r"^ *(?://|/?\*).*\n", re.MULTILINE)
# In the order in which they run. The order of the sections is that of the template.
SCRIPTS = tuple(
    """
    dom format result page theme copy copytable adapt sorting contents tabs scale figure ranking forest matrix densities
    datatable scatter pairs null details components edits texts lengths ngrams segments main
    """.split()
)
# Those of the page of a study, whose figures need none.
STUDY_SCRIPTS = ("dom", "theme", "copy", "copytable", "adapt", "sorting", "contents", "study")


def as_html(document: Document, layout: Layout) -> str:
    """The page of a document, with the style sheet, the scripts it needs, and the JSON of the result."""
    if document.page is None:
        raise TypeError("this document has no page")
    page = document.page()
    style, script = _style(), _script(tuple(page.scripts))
    rendered = template_of(page.template).render(
        data=escaped_json(page.data),
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        **page.values,
    )
    return f"{rendered}\n"


def page_of(result: Comparison | SetComparison, layout: Layout) -> Page:
    """The page of a comparison on one test set or on several."""
    named = layout.apply(result)
    # With the names of the report, in the order of those in scripts/result.js.
    comparisons = [*by_name(named).values()]
    layout.check_texts(comparison.texts for comparison in comparisons)
    settings = {
        "names": dict(layout.names),
        "sets": list(getattr(result, "sets", ())),  # in their order, which JavaScript does not keep for keys like 2024
        "symbols": symbols_for_scripts(names_in(result, layout.names)),
        "views": [_views(comparison, layout) for comparison in comparisons],
    }
    values = {
        "shown": content(result, named, layout),
        "settings": escaped_json(json.dumps(settings, ensure_ascii=False)),
    }
    return Page("page.html.j2", SCRIPTS, embedded_json(result), values)


def _views(comparison: Comparison, layout: Layout) -> list[Mapping[str, Any]]:
    """What the scripts need for each metric besides the result."""
    return [
        {
            "decimals": layout.decimals(comparison, metric.name),
            "caveats": _sentences(comparison, metric.name, layout.command is not None),
            "test": "" if comparison.test is None else comparison.test.title,
            "test_name": "" if comparison.test is None else comparison.test.name,
            "sides": "" if comparison.test is None else alternative_phrase(comparison.test.alternative),
            "bars": _bars(comparison, metric.name),
        }
        for metric in comparison.metrics
    ]


def _bars(comparison: Comparison, metric: str) -> list[Mapping[str, Any] | None]:
    """The bars of the null distributions of few values; None for other ones, whose bars are the bins of the result.

    The first edge, and of each bar how many values it has and their mean count. Empty if no pair has any.
    """
    found = [_bars_of_values(comparison, pair) for pair in under(metric, comparison.comparisons)]
    return found if any(found) else []


def _bars_of_values(comparison: Comparison, pair: PairedDifference) -> Mapping[str, Any] | None:
    if pair.null is None:
        return None
    edges, heights, half = bars_of(comparison, pair)
    if half == 0:
        return None
    first, last = np.flatnonzero(heights)[[0, -1]]
    numbers = np.rint(np.diff(edges[first : last + 2]) / (2 * half)).astype(int).tolist()
    shown = [float(f"{height:.4g}") if height % 1 else int(height) for height in heights[first : last + 1].tolist()]
    return {"low": float(edges[first]), "step": 2 * half, "numbers": numbers, "heights": shown}


def _sentences(comparison: Comparison, metric: str, for_command: bool) -> dict[str, list[str]]:
    """The sentences of the caveats that apply to a metric, by kind, as the details of a pair that has them say them."""
    own = (caveat for caveat in comparison.caveats if caveat.values.get("metric") in (None, metric))
    this = " This pair is one of them."
    return grouped(
        (
            caveat.kind,
            printable(worded(with_pairs(comparison, caveat), for_command))
            + (this if counts_of(caveat.kind) and caveat.values.get("tests") != 1 else ""),
        )
        for caveat in own
    )


def escaped_json(text: str) -> str:
    """JSON that cannot close the element that holds it or start a comment."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def visible(value: Any) -> Any:
    """A text of the template in printable form, except for ends of lines.

    Markup is left as it is. In scripts/result.js, the function of this name does the same for what scripts write.
    """
    is_text = isinstance(value, str) and not hasattr(value, "__html__")
    return printable(value, keep="\t\n\r") if is_text else value


def unbroken(text: str) -> Any:
    """A text in which no line ends within a flag, as browsers end lines after hyphens."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"--[a-z][\w-]*", r'<span class="flag">\g<0></span>', str(escape(visible(text)))))


@cache
def _style() -> str:
    return (HERE / "page.css").read_text("utf-8")


@cache
def _script(names: tuple[str, ...]) -> str:
    scripts = "".join(COMMENTS.sub("", (HERE / "scripts" / f"{name}.js").read_text("utf-8")) for name in names)
    constants = {"LATEX_ESCAPES": words("latex")["escape"], "SYMBOLS": symbols_for_scripts()}
    defined = "".join(f"const {name} = {json.dumps(value)};\n" for name, value in constants.items())
    return f'"use strict";\n{defined}{scripts}'


def _hash(text: str) -> str:
    """The hash of an element's text, in the form that a content security policy expects."""
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


@cache
def template_of(name: str) -> Any:
    """A template beside this file."""
    import jinja2  # takes longer to import than most reports to write

    loader = jinja2.FileSystemLoader(HERE)
    environment = jinja2.Environment(
        loader=loader,
        autoescape=True,
        finalize=visible,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["unbroken"] = unbroken
    return environment.get_template(name)
