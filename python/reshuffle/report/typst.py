"""Typst: a figure with a table, whose caption explains it; conclusions and notes as comments."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from ..errors import printable
from .cells import Table
from .document import Document, Picture, References
from .fitting import BREAK, CLOSE, Fit, breaks, fitting, pages
from .formulas import Symbol, split_at_symbols
from .latex import NUMBERS, figure_label, labels_of
from .layout import Layout
from .methods import Methods
from .sources import keys_of

# What an exponent belongs to if that is text.
EMPTY = '""'
# Tables and figures float, as in LaTeX. Typst 0.15 squashes one that begins the last column into what wide floats leave
# of it, instead of moving it to the next page; one that floats seldom begins a column.
FLOATING, WIDE = "placement: auto,", ' scope: "parent",'
# The fonts of a paper may be wider: a table that would not fit is made smaller.
FITTED = (
    "(body => layout(room => { let wide = measure(body).width; "
    "if wide > room.width { scale(room.width / wide * 100%, reflow: true, body) } else { body } }))"
)
# The points above and below a row.
INSET = 2.75


def as_typst(document: Document, layout: Layout) -> str:
    """A ``figure`` with a label for each table, and the sentences as comments. Text is in strings, without markup."""
    lines: list[str] = []
    labels = labels_of(document, layout.label)
    for numbered, table in zip(labels, document.tables, strict=True):
        as_first = table.is_explained_by(document.tables[0])
        more = f' + " Symbols as in " + {_reference(labels[0])[1:]} + "."' if as_first else ""
        shown = table.unexplained if as_first else table
        lines += _figure(shown, more, fitting(table, layout.columns), numbered, document.names)
    if document.methods is not None:
        entries = "-o FILE.typ writes them to FILE.bib"
        lines += ["", typst_paragraph(document.methods.main, entries, document.names)]
        lines += ["// for the appendix:", typst_paragraph(document.methods.details, entries, document.names)]
    remarks = [*document.sentences, f"Signature: {document.signature}"]
    lines += [f"// {printable(' '.join(remark.split()))}" for remark in remarks]
    return "\n".join(lines) + "\n"


def typst_paragraph(
    methods: Methods, entries: str, names: Collection[str] = (), refers: Sequence[References] = ()
) -> str:
    """The methods paragraph. ``entries`` says where its BibTeX entries are; ``refers``: to tables and figures."""
    more = "".join(f" {each.named(_number)} {_inline(each.says + '.', names)}" for each in refers)
    paragraph = methods.written(partial(_inline, names=names), _citation, _signature)
    return f"// the entries of the citations: {entries}\n{paragraph}{more}\n"


def _reference(label: str) -> str:
    return f"#ref(<{_label(label)}>)"


def _number(label: str) -> str:
    return f"#ref(<{_label(label)}>, supplement: none)"


def _label(latex: str) -> str:
    return latex.replace(":", "-").replace("+", "_")


def typst_figures(pictures: Mapping[str, Picture], names: Collection[str] = ()) -> str:
    """A ``figure`` with a caption for each file."""
    return "".join(
        f'#figure(image("{name}"), {FLOATING}{WIDE if picture.wide else ""} caption: {_prose(picture.caption, names)})'
        f" <{_label(figure_label(name))}>\n"
        for name, picture in pictures.items()
    )


def _inline(text: str, names: Collection[str]) -> str:
    """A text of a paragraph, with the spaces at its ends."""
    return "".join(f"#{each}" if each[0] in '"b' else each for each in _pieces(text, names))


def _prose(text: str, names: Collection[str]) -> str:
    """Code for a text with its symbols as mathematics."""
    return " + ".join(_pieces(" ".join(text.split()), names)) or '""'


def _pieces(text: str, names: Collection[str]) -> Iterator[str]:
    """Strings and mathematics. A line may not end between a symbol and the hyphen after it, as in p-values."""
    symbol = ""
    for each in [*split_at_symbols(text, names), ""]:
        rest = "" if isinstance(each, Symbol) else each
        hyphenated = re.match(r"-\w+", rest) if symbol else None
        word = hyphenated[0] if hyphenated else ""
        yield from [f"box({symbol} + {_quoted(word)})" if word else symbol] * bool(symbol)
        yield from [_quoted(rest[len(word) :])] * (len(rest) > len(word))
        symbol = _symbol(each) if isinstance(each, Symbol) else ""


def _symbol(symbol: Symbol) -> str:
    index = f'_"{symbol.below}"' if len(symbol.below) > 1 else f"_{symbol.below}" if symbol.below else ""
    power = f"^{symbol.power}" if symbol.power else ""
    return f"${symbol.letter or EMPTY}{index}{power}$"


def _signature(text: str) -> str:
    """A signature in small type, in which a line may end after every separator."""
    broken = re.sub(r"([|:,+-])(?=\S)", r"\1\\u{200b}", _quoted(text))
    return f"#text(size: 0.7em, raw({broken}))"


def _citation(source: str) -> str:
    return "".join(f" #cite(<{key}>)" for key in keys_of(source))


def _figure(table: Table, more: str, fit: Fit, label: str, names: Collection[str]) -> Iterator[str]:
    """``more``: code for what the caption ends with."""
    kinds = ["left" if table.is_left(index) else "right" for index in range(len(table.header))]
    caption, end = _prose(table.caption, names) + more, f") <{_label(label)}>"
    for part in pages(table, fit):
        yield "#figure("
        yield f"  {FLOATING}{WIDE if fit.columns == 2 else ''}"
        yield f"  {FITTED}(text(size: {fit.size.scale}em, table("
        yield f"    columns: {len(kinds)}, align: ({', '.join(kinds)},),"
        yield f"    stroke: none, inset: {_insets(table, fit)},"
        yield "    table.hline(),"
        yield f"    table.header({', '.join(_prose(name, names) for name in table.header)}),"
        yield "    table.hline(stroke: 0.5pt),"
        for number, (row, bold, spans) in enumerate(zip(part.rows, part.bold, part.spans(), strict=True)):
            if number in part.rules:
                spanned = spans.count(0)
                yield f"    table.hline({f'start: {spanned}, stroke: 0.3pt' if spanned else 'stroke: 0.5pt'}),"
            if number in part.sections:
                section = _prose(part.sections[number], names)
                yield f"    table.cell(colspan: {len(kinds)}, emph({section})),"
            yield f"    {_row(row, bold, spans, table.n_names)},"
        yield from ["    table.hline(),", "  ))),", "  kind: table,"]
        yield f"  caption: figure.caption(position: top, {caption}),"
        yield end
        caption, end = f'{_reference(label)[1:]} + " (continued)"', "  numbering: none, outlined: false,\n)"


def _insets(table: Table, fit: Fit) -> str:
    """The space around cells: less between a number and its letters, and more before the next metric."""
    space = [[fit.size.space, fit.size.space] for _ in table.header]
    for index in breaks(table):
        space[index][0] = fit.size.scale * BREAK - fit.size.space
    for index in table.beside:
        space[index - 1][1], space[index][0] = 0, fit.size.scale * CLOSE
    if not breaks(table) and not table.beside:
        return f"(x: {fit.size.space}pt, y: {INSET}pt)"
    left, right = (", ".join(f"{sides[side]:g}pt" for sides in space) for side in (0, 1))
    return f"(x, _) => (left: ({left}).at(x), right: ({right}).at(x), y: {INSET}pt)"


def _row(cells: Sequence[str], bold: Sequence[bool], spans: Sequence[int], n_names: int) -> str:
    """``spans``: how many rows the first cells span; the cells below are left out."""
    shown = [_cell(cell, flag, index < n_names) for index, (cell, flag) in enumerate(zip(cells, bold, strict=True))]
    names = [f"table.cell(rowspan: {n}, {cell})" if n > 1 else cell for cell, n in zip(shown, spans, strict=False) if n]
    return ", ".join([*names, *shown[len(spans) :]])


def _cell(cell: str, bold: bool, is_name: bool) -> str:
    plain = cell.rstrip()
    # A minus sign in numbers only: a hyphen in a name stays a hyphen, even if a system is named "-1".
    shown = _string(plain.replace("-", "−") if NUMBERS.fullmatch(plain) and not is_name else plain)
    shown = f"strong({shown})" if bold and plain else shown
    # The spaces at the end keep numbers without a mark in line with those that have one.
    marks = len(cell) - len(plain)
    return f'{shown} + hide("{"*" * marks}")' if plain and marks else shown


def _string(text: str) -> str:
    return _quoted(" ".join(text.split()))


def _quoted(text: str) -> str:
    escaped = printable(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
