"""What a notebook displays for a result: the HTML report in a frame.

Sites that display notebooks without running them remove frames. What remains are the tables and notes of the text
report, which lie beneath the frame: an HTML fragment. It sets no colours, so it is readable on light and dark pages,
and it loads nothing. Styles are attributes, because such sites remove style sheets. Characters outside ASCII stand
as character references, so that a file with nothing but the fragment is displayed correctly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from ..errors import counted, printable
from ..results import Comparison, SetComparison
from .cells import Table, keys
from .document import Document
from .kinds import document
from .layout import Layout, sets_of
from .page import as_html

# In characters. A notebook stores its output in its file, so larger pages are left out.
MAX_PAGE = 2_000_000
_LAYERS = "display: grid; height: 45em; resize: vertical; overflow: hidden"
_BENEATH = "grid-area: 1 / 1; overflow: auto"
_ABOVE = "grid-area: 1 / 1; z-index: 1; width: 100%; height: 100%; border: 0; background: Canvas"


def notebook_html(result: Comparison | SetComparison) -> str:
    """The page in a frame that is allowed to run scripts and nothing else; only the tables if the page is too large."""
    layout = Layout().named(result)
    shown = document(result, layout)
    beneath, page = as_fragment(shown), _page(result, shown, layout)
    if page is None:
        code = escape('open("report.html", "w", encoding="utf-8").write(result.render("html"))')
        advice = (
            f"<p>The interactive report is too large for a notebook (more than {MAX_PAGE / 1e6:g} MB). "
            f"To write it to a file: <code>{code}</code></p>\n"
        )
        return beneath + advice
    frame = f'<iframe title="Report" sandbox="allow-scripts" style="{_ABOVE}" srcdoc="{escape(page)}"></iframe>'
    return f'<div style="{_LAYERS}">\n<div style="{_BENEATH}">\n{beneath}</div>\n{frame}\n</div>\n'


def _page(result: Comparison | SetComparison, shown: Document, layout: Layout) -> str | None:
    """The page, or None if it is too large."""
    # The page is larger than the texts in it: if they are too large, it need not be rendered.
    if sum(each.texts.n_bytes for each in sets_of(result).values() if each.texts is not None) > MAX_PAGE:
        return None
    page = as_html(shown, layout)
    return page if len(page) <= MAX_PAGE else None


_TABLE = "border-collapse: collapse; margin: 0 0 1em 0"
_CAPTION = "caption-side: top; text-align: left; font-weight: bold; padding: 0.3em 0"
_WIDE, _ANYWHERE = "overflow-x: auto", "overflow-wrap: anywhere"
_RULE = "border-bottom: 1px solid currentColor; "
_RULE_ABOVE = "border-top: 1px solid currentColor; "
_NAME = "text-align: left; padding: 0.15em 1em 0.15em 0"
# Trailing spaces are kept: they align numbers without a star with those that have one.
_NUMBER = "text-align: right; padding: 0.15em 0 0.15em 1em; white-space: pre; font-variant-numeric: tabular-nums"


def _escaped(text: str) -> str:
    return escape(printable(text))


def as_fragment(document: Document) -> str:
    """A ``div`` of what was found, tables, and notes with a signature, which are folded; with all text escaped."""
    shown = document.tables
    notes = [*document.notes, *keys(shown)]
    items = [*map(_escaped, notes), f'Signature: <code style="{_ANYWHERE}">{_escaped(document.signature)}</code>']
    lines = ["<div>", *(f"<p>{_escaped(sentence)}</p>" for sentence in document.found)]
    lines += [line for table in shown for line in (f'<div style="{_WIDE}">', *_table(table), "</div>")]
    summary = f"{counted(len(notes), 'note')} and the signature" if notes else "Signature"
    lines += [
        f"<details><summary>{summary}</summary>",
        "<ul>",
        *(f"<li>{item}</li>" for item in items),
        "</ul>",
        "</details>",
        "</div>",
    ]
    return "".join(f"{line}\n" for line in lines).encode("ascii", "xmlcharrefreplace").decode("ascii")


def lines_as_fragment(lines: Sequence[str]) -> str:
    """A ``div`` with the first of some lines in bold type, and the others below it."""
    first, *others = map(_escaped, lines)
    shown = "<br>\n".join([f"<b>{first}</b>", *others])
    return f"<div>{shown}</div>\n".encode("ascii", "xmlcharrefreplace").decode("ascii")


def _table(table: Table) -> Iterator[str]:
    styles = [_NAME if index < table.n_names else _NUMBER for index in range(len(table.header))]
    yield f'<table style="{_TABLE}">'
    yield f'<caption style="{_CAPTION}">{_escaped(table.title)}</caption>'
    header = zip(table.header, styles, strict=True)
    heads = (f'<th scope="col" style="{_RULE}{style}">{_escaped(name)}</th>' for name, style in header)
    yield f"<thead><tr>{''.join(heads)}</tr></thead>"
    yield "<tbody>"
    for number, (row, bold) in enumerate(zip(table.rows, table.bold, strict=True)):
        rule = _RULE_ABOVE if number in table.rules else ""
        weights = (f"{rule}font-weight: {'bold' if flag else 'normal'}" for flag in bold)
        cells = (
            f'<td style="{weight}; {style}">{_escaped(cell)}</td>'
            for cell, weight, style in zip(row, weights, styles, strict=True)
        )
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody>"
    yield "</table>"
