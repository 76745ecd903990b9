"""An HTML fragment for notebooks and web pages: the tables and notes of the text report.

The fragment sets no colours, so it is readable on light and dark pages, and it loads nothing. Styles are attributes,
because sites that display notebooks remove style sheets. Characters outside ASCII are written as character references,
so that a file with nothing but the fragment is displayed correctly without declaring an encoding.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from ..errors import printable
from .cells import Table, keys
from .document import Document

_TABLE = "border-collapse: collapse; margin: 0 0 1em 0"
_CAPTION = "caption-side: top; text-align: left; font-weight: bold; padding: 0.3em 0"
_RULE = "border-bottom: 1px solid currentColor; "
_RULE_ABOVE = "border-top: 1px solid currentColor; "
_NAME = "text-align: left; padding: 0.15em 1em 0.15em 0"
# Trailing spaces are kept: they align numbers without a star with those that have one.
_NUMBER = "text-align: right; padding: 0.15em 0 0.15em 1em; white-space: pre; font-variant-numeric: tabular-nums"


def _escaped(text: str) -> str:
    return escape(printable(text))


def as_fragment(document: Document) -> str:
    """A ``div`` of tables, sentences and a signature, with all text escaped."""
    shown = document.tables
    items = [
        *map(_escaped, [*document.sentences, *keys(shown)]),
        f"Signature: <code>{_escaped(document.signature)}</code>",
    ]
    lines = ["<div>", *(line for table in shown for line in _table(table))]
    lines += ["<ul>", *(f"<li>{item}</li>" for item in items), "</ul>", "</div>"]
    return "".join(f"{line}\n" for line in lines).encode("ascii", "xmlcharrefreplace").decode("ascii")


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
