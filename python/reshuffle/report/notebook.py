"""What a notebook displays for a result: the HTML report in a frame.

Sites that display notebooks without running them remove frames. What remains are the tables and notes of the text
report, which lie beneath the frame.
"""

from __future__ import annotations

from html import escape

from ..results import Comparison, SetComparison
from .document import Document
from .documents import document
from .fragment import as_fragment
from .layout import Layout
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
    comparisons = [result] if isinstance(result, Comparison) else result.sets.values()
    # The page is larger than the texts in it: if they are too large, it need not be rendered.
    if sum(each.texts.n_bytes for each in comparisons if each.texts is not None) > MAX_PAGE:
        return None
    page = as_html(shown, layout)
    return page if len(page) <= MAX_PAGE else None
