"""LaTeX: a ``table`` for the booktabs package, whose caption explains it; conclusions and notes as comments."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, partial

from ..errors import listed, printable
from .cells import Table
from .document import FIGURE, Document, Picture, References
from .fitting import AROUND, BREAK, CLOSE, LINE, LOWEST, Fit, breaks, caption_lines, fitting, pages, taller, widest
from .formulas import Symbol, split_at_symbols
from .layout import Layout
from .methods import Methods
from .sources import keys_of
from .wording import joined
from .words import words


def as_latex(document: Document, layout: Layout) -> str:
    """``table`` environments with labels, in parts where one is taller than a page; sentences as comments."""
    tables, labels = document.tables, labels_of(document, layout.label)
    packages = ["booktabs", "graphicx", *["multirow"] * any(table.grouped for table in tables)]
    lines = ["% needs " + joined(f"\\usepackage{{{name}}}" for name in packages)]
    for numbered, table in zip(labels, tables, strict=True):
        as_first = table.is_explained_by(tables[0])
        shown, more = (table.unexplained, f" Symbols as in Table~\\ref{{{labels[0]}}}.") if as_first else (table, "")
        lines += _table(shown, more, fitting(table, layout.columns), numbered, document.names)
    if document.methods is not None:
        entries = "-o FILE.tex writes them to FILE.bib"
        lines += ["", latex_paragraph(document.methods.main, entries, document.names)]
        lines += ["% for the appendix:", latex_paragraph(document.methods.details, entries, document.names)]
    lines[1:1] = _other_letters(lines)
    remarks = [*document.sentences, f"Signature: {document.signature}"]
    lines += [f"% {printable(' '.join(remark.split()))}" for remark in remarks]
    return "\n".join(lines) + "\n"


def labels_of(document: Document, label: str) -> list[str]:
    """The labels of the tables, which contain this one."""
    return [f"tab:{label}{f'-{number}' if number > 1 else ''}" for number in range(1, len(document.tables) + 1)]


def latex_paragraph(
    methods: Methods, entries: str, names: Collection[str] = (), refers: Sequence[References] = ()
) -> str:
    """The methods paragraph. ``entries`` says where its BibTeX entries are; ``refers``: to tables and figures."""
    needs = r"% the paragraph needs \usepackage{natbib}, and \usepackage{xurl} to break addresses"
    more = "".join(f" {_references(each)} {_prose(each.says, names)}." for each in refers)
    paragraph = methods.written(partial(_inline, names=names), _citation, _signature)
    return "\n".join([f"{needs}; the entries: {entries}", *_other_letters([paragraph, more]), f"{paragraph}{more}\n"])


def _other_letters(lines: Sequence[str]) -> Iterator[str]:
    """A comment for letters that pdflatex may not set."""
    # Those of European languages in the Latin alphabet end at U+017F.
    letters = {c for line in lines if not line.startswith("%") for c in line if c > "\u017f" and c.isalpha()}
    if letters:
        yield f"% pdflatex may not set {listed(sorted(letters))}: use lualatex or xelatex with a font, or other names"


def _references(refers: References) -> str:
    return refers.named("\\ref{{{}}}".format).replace("–", "--")


def figure_label(name: str) -> str:
    """The label of a figure, from the name of its file."""
    return FIGURE + name.removesuffix(".pdf")


def latex_figures(pictures: Mapping[str, Picture], names: Collection[str] = ()) -> str:
    """A ``figure`` environment with a caption for each file."""
    lines = [r"% needs \usepackage{graphicx}, and \graphicspath{{FOLDER/}} with the folder of these files"]
    for name, picture in pictures.items():
        stem, environment = name.removesuffix(".pdf"), "figure*" if picture.wide else "figure"
        lines += [f"\\begin{{{environment}}}", r"\centering", f"{SHRUNK}\n\\includegraphics{{{stem}}}}}"]
        lines += [
            f"\\caption{{{_prose(picture.caption, names)}}}\\label{{{figure_label(name)}}}",
            f"\\end{{{environment}}}",
        ]
    lines[1:1] = _other_letters(lines)
    return "\n".join(lines) + "\n"


def _inline(text: str, names: Collection[str]) -> str:
    """A text of a paragraph, with the spaces at its ends."""
    return f"{' ' * text.startswith(' ')}{_prose(text, names)}{' ' * text.endswith(' ') if text.strip() else ''}"


def _signature(text: str) -> str:
    """A signature in small type, in which a line may end after every separator, and then before the margin."""
    # The typewriter type has a bar of its own; \textbar would take that of another font.
    escaped = _escaped(text).replace(words("latex")["escape"]["|"], "|")
    broken = re.sub(r"([|:,+-])(?=\S)", r"\1\\-{}", escaped)
    return f"{{\\renewcommand{{\\-}}{{\\hfil\\allowbreak\\hfilneg}}\\scriptsize\\ttfamily {broken}}}"


def _citation(source: str) -> str:
    return f"~\\citep{{{','.join(keys_of(source))}}}"


def _table(table: Table, more: str, fit: Fit, label: str, names: Collection[str]) -> Iterator[str]:
    """``more``: what the caption ends with."""
    environment = "table*" if fit.columns == 2 else "table"
    above = [SPACE, f"\\caption{{{_prose(table.caption, names)}{more}}}\\label{{{label}}}"]
    lines = caption_lines(table, fit)
    parts = pages(table, fit)
    wide = [_invisible(table)] * (len(parts) > 1)
    for part in parts:
        beside = AROUND + round(LINE * lines)
        low = [LOWERED.replace("ROOM", f"\\dimexpr\\textheight-{beside}pt\\relax")]
        low *= taller(part, fit, LOWEST - beside)
        yield from [f"\\begin{{{environment}}}", r"\centering", *above, *SIZES[fit.size.scale], *low]
        yield from [SHRUNK, f"\\begin{{tabular}}{{{_columns(table)}}}", r"\toprule"]
        yield from [_line([_prose(name, names) for name in table.header]), r"\midrule", *_body(part, names)]
        yield from [*wide, r"\bottomrule", f"\\end{{tabular}}}}{'}' * len(low)}", f"\\end{{{environment}}}"]
        lines = 1
        above = [f"Table~\\ref{{{label}}} (continued)\\par\\medskip"]


def _invisible(table: Table) -> str:
    """A row of no height with the widest cells, which make all parts of a table equally wide."""
    cells = [_cell(*each, index < table.n_names) for index, each in enumerate(zip(*widest(table), strict=True))]
    return " & ".join(f"\\hphantom{{{cell}}}" for cell in cells) + r" \\[-\normalbaselineskip]"


def _body(table: Table, names: Collection[str]) -> Iterator[str]:
    for number, (row, bold, spans) in enumerate(zip(table.rows, table.bold, table.spans(), strict=True)):
        if number in table.rules:
            spanned = spans.count(0)
            yield f"\\cmidrule{{{spanned + 1}-{len(row)}}}" if spanned else r"\midrule"
        if number in table.sections:
            section = _prose(table.sections[number], names)
            yield f"\\multicolumn{{{len(table.header)}}}{{@{{}}l@{{}}}}{{\\itshape {section}}} \\\\"
        yield _row(row, bold, spans, table.n_names)


def _columns(table: Table) -> str:
    """The columns: words to the left, numbers to the right, letters beside them, more space before the next metric."""
    kinds = ["l" if table.is_left(index) else "r" for index in range(len(table.header))]
    for index in breaks(table):
        kinds[index] = f"@{{\\hskip {BREAK / 10}em}}{kinds[index]}"
    for index in table.beside:
        kinds[index] = f"@{{\\hskip {CLOSE / 10}em}}{kinds[index]}"
    return f"@{{}}{''.join(kinds)}@{{}}"


def _row(cells: Sequence[str], bold: Sequence[bool], spans: Sequence[int], n_names: int) -> str:
    """``spans``: how many rows the first cells span."""
    shown = [_cell(cell, flag, index < n_names) for index, (cell, flag) in enumerate(zip(cells, bold, strict=True))]
    for index, n in enumerate(spans):
        if n != 1:
            shown[index] = f"\\multirow{{{n}}}{{*}}{{{shown[index]}}}" if n else ""
    return _line(shown)


def _line(cells: Sequence[str]) -> str:
    row = " & ".join(cells)
    # A line break takes a star or a bracket that follows it as its own argument.
    return ("{}" if row[:1] in "[*" and row else "") + row + r" \\"


def _cell(cell: str, bold: bool, is_name: bool) -> str:
    # The spaces at the end keep numbers without a mark in line with those that have one.
    shown = _escaped(cell.rstrip()) if cell.strip() else ""
    # A minus sign in numbers only: a hyphen in a name stays a hyphen, even if a system is named "-1".
    if not is_name and NUMBERS.fullmatch(cell.rstrip()):
        shown = re.sub(r"-(?=\d)", "$-$", shown)
    shown = f"\\textbf{{{shown}}}" if bold and shown else shown
    marks = len(cell) - len(cell.rstrip())
    return f"{shown}\\phantom{{{'*' * marks}}}" if shown and marks else shown


# The fonts of a paper may be wider: a table that would not fit is made smaller.
SHRUNK = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"

# The pages of a paper may be lower.
LOWERED = r"\resizebox*{!}{\ifdim\totalheight>ROOM ROOM\else\totalheight\fi}{%"

# LaTeX's classes have space above captions only, as if all were below figures. The package caption, which ACL's style
# loads, sees that a caption is above and puts that space below it.
SPACE = r"\ifdefined\captionsetup\else\setlength{\belowcaptionskip}{\abovecaptionskip}\fi"

# The commands of each size.
SIZES = {
    1.0: [],
    0.9: [r"\small\setlength{\tabcolsep}{4pt}"],
    0.8: [r"\footnotesize\setlength{\tabcolsep}{3pt}"],
    0.7: [r"\scriptsize\setlength{\tabcolsep}{2pt}"],
}

# A number, or an interval, perhaps with marks or an error.
NUMBERS = re.compile(r"[-+]?\d[\d.,]*(?: to [-+]?\d[\d.,]*)?[*†‡]*(?: *±\d[\d.,]*)?")


def _prose(text: str, names: Collection[str]) -> str:
    """A text with its symbols as mathematics."""
    found = split_at_symbols(" ".join(text.split()), names)
    return "".join(_symbol(each) if isinstance(each, Symbol) else _escaped_inside(each) for each in found)


def _symbol(symbol: Symbol) -> str:
    letter = words("latex")["escape"].get(symbol.letter, symbol.letter).strip("$")
    index = f"_{{\\mathrm{{{symbol.below}}}}}" if len(symbol.below) > 1 else f"_{symbol.below}" if symbol.below else ""
    return f"${letter}{index}{f'^{symbol.power}' if symbol.power else ''}$"


def _escaped(text: str) -> str:
    return _escaped_inside(" ".join(text.split()))


@cache
def _escapes() -> dict[int, str]:
    return str.maketrans(words("latex")["escape"])


def _escaped_inside(text: str) -> str:
    """The same for a part of a line, with the spaces at its ends."""
    plain = printable(text)
    # Two hyphens would become a dash; NUL stands for the braces that keep them apart.
    return re.sub("-(?=-)", "-\0", plain).translate(_escapes())
