"""Text: tables that fit a terminal, sentences about the results, the notes, and the signature."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ..errors import printable
from .cells import Table, keys
from .document import Document
from .layout import Layout
from .methods import Methods
from .terminal import PROSE_WIDTH, Terminal

# A name is never folded to fewer characters than this.
MIN_NAME = 8
# Words in the headers of numbers are not broken unless they are longer than this.
MAX_WORD = 12
# What headers say where there is no room.
LONG, SHORT = "djusted p", "dj. p"
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


def as_text(document: Document, layout: Layout) -> str:
    """The tables and the sentences about them, the notes, and the signature on one line."""
    terminal = layout.terminal
    parts = [_paragraph(filter(None, [document.headline]), terminal)]
    parts += [
        table_as_text(block, terminal) if isinstance(block, Table) else _paragraph(block.sentences, terminal)
        for block in document.blocks
    ]
    # Where the terminal shows bold type, the keys of the tables say what it marks.
    notes = [*document.notes, *(keys(document.tables) if terminal.color else [])]
    # The signature can be copied because it is on one line.
    parts.append(f"{_paragraph(notes, terminal)}Signature: {printable(document.signature)}\n")
    if document.methods is not None:
        parts.append(_methods(document.methods, terminal))
    return "\n".join(filter(None, parts))


def _methods(methods: Methods, terminal: Terminal) -> str:
    """The paragraph in lines that fit the terminal, except for the signature, and the entries."""
    width = terminal.width or PROSE_WIDTH
    lines = textwrap.fill(printable(methods.plain), width, break_long_words=False, break_on_hyphens=False)
    return f"Methods\n\n{lines}\n\n{methods.bibtex}"


def _paragraph(sentences: Iterable[str], terminal: Terminal) -> str:
    """Sentences, each from the start of a line, in lines that fit the terminal."""
    return "".join(f"{line}\n" for line in _wrapped_all(sentences, terminal))


def _wrapped_all(sentences: Iterable[str], terminal: Terminal) -> Iterator[str]:
    for sentence in sentences:
        yield from _wrapped(printable(sentence), terminal.width or PROSE_WIDTH)


def table_as_text(table: Table, terminal: Terminal) -> str:
    """The title, an empty line, and the table; in several parts if it is wider than the terminal."""
    lines = [_emphasized(line, terminal) for line in _wrapped_all([table.title], terminal)]
    for part in _parts_that_fit(table, terminal.width):
        lines += ["", *_lines(part, terminal)]
    return "".join(f"{line}\n" for line in lines)


def _parts_that_fit(table: Table, width: int | None) -> list[_Grid]:
    """The table; if it is too wide, in parts that begin with the names, and with long headers on several lines."""
    whole = _Grid.from_table(table)
    if width is None or whole.width <= width:
        return [whole]
    if any(LONG in name for name in table.header):
        return _parts_that_fit(replace(table, header=[name.replace(LONG, SHORT) for name in table.header]), width)
    parts = _split_to_fit(table, whole, width)
    # One part with narrow gaps is better than two parts.
    if len(parts) > 1 and table.gap > 1:
        close = replace(table, gap=1)
        closer = _split_to_fit(close, _Grid.from_table(close), width)
        if len(closer) == 1:
            return closer
    return parts


def _split_to_fit(table: Table, whole: _Grid, width: int) -> list[_Grid]:
    n_names = table.n_names
    # Names can be folded, so they leave four fifths of the width to the numbers.
    names = min(whole.width_of(range(n_names)), width // 5)
    parts = [[*range(n_names)]]
    for start, end in pairwise([n_names, *table.breaks, len(table.header)]):
        numbers = [*parts[-1][n_names:], *range(start, end)]
        if len(parts[-1]) > n_names and names + whole.gaps[n_names - 1] + whole.width_of(numbers) > width:
            parts.append([*range(n_names)])
        parts[-1] += range(start, end)
    narrowest = whole.narrowest()
    fitting = (columns for part in parts for columns in _split(part, narrowest, whole.gaps, n_names, width))
    return [whole.part(columns).narrowed(width) for columns in fitting]


def _split(
    columns: list[int], widths: Sequence[int], gaps: Sequence[int], n_names: int, width: int
) -> Iterator[list[int]]:
    """The columns, in parts if they do not fit even at their least ``widths``: each the names and some numbers."""
    names, numbers = columns[:n_names], columns[n_names:]
    used = sum(widths[index] + gaps[index] for index in names)
    room, part = width - used, [*names]
    for index in numbers:
        if len(part) > n_names and widths[index] > room:
            yield part
            room, part = width - used, [*names]
        part.append(index)
        room -= widths[index] + gaps[index]
    yield part


def _ungrouped(table: Table) -> list[list[str]]:
    """The rows without the names that repeat those above them."""
    if not table.grouped:
        return table.rows
    spans = table.spans()
    return [
        ["" if n == 0 else cell for cell, n in zip(row, own, strict=False)] + row[table.grouped :]
        for row, own in zip(table.rows, spans, strict=True)
    ]


@dataclass
class _Grid:
    """The cells of a table as lists of lines, with the width of each column in characters on a screen."""

    header: list[list[str]]
    rows: list[list[list[str]]]
    bold: Sequence[Sequence[bool]]
    rules: set[int]
    n_names: int
    gap: int

    def __post_init__(self) -> None:
        columns = zip(self.header, *self.rows, strict=True)
        self.widths = [_column_width(cells) for cells in columns]
        # Behind each column. Numbers that have room for a star may stand side by side, names may not.
        self.gaps = [self.gap if index >= self.n_names else max(self.gap, 1) for index in range(len(self.header))]
        self.gaps[-1] = 0

    @classmethod
    def from_table(cls, table: Table) -> _Grid:
        header, *rows = ([[printable(cell)] for cell in row] for row in [table.header, *_ungrouped(table)])
        return cls(header, rows, table.bold, set(table.rules), table.n_names, table.gap)

    @property
    def width(self) -> int:
        return self.width_of(range(len(self.widths)))

    def narrowest(self) -> list[int]:
        """The width of each column if names, and the headers of numbers, are folded to ``MIN_NAME``."""
        widths = [min(width, MIN_NAME) for width in self.widths[: self.n_names]]
        return widths + [self._header_width(index) for index in range(self.n_names, len(self.header))]

    def _header_width(self, index: int) -> int:
        """The width to which the header of a column of numbers is folded: words of usual length stay whole."""
        words = [word for line in self.header[index] for word in line.split(" ")]
        longest = min(max(map(_width, words)), MAX_WORD)
        return min(self.widths[index], max(_column_width([row[index] for row in self.rows]), longest, MIN_NAME))

    def width_of(self, columns: Sequence[int]) -> int:
        """The width of some columns with the gaps between them."""
        return sum(self.widths[index] for index in columns) + sum(self.gaps[index] for index in columns[:-1])

    def part(self, columns: Sequence[int]) -> _Grid:
        """Some of the columns, without rows in which all numbers would be empty."""
        numbers, is_first = columns[self.n_names :], columns == [*range(len(columns))]
        kept = [n for n, row in enumerate(self.rows) if is_first or any(row[column] != [""] for column in numbers)]
        rows = [[self.rows[number][column] for column in columns] for number in kept]
        bold = [[self.bold[number][column] for column in columns] for number in kept]
        rules = {kept.index(number) for number in self.rules if number in kept}
        return replace(self, header=[self.header[column] for column in columns], rows=rows, bold=bold, rules=rules)

    def narrowed(self, width: int) -> _Grid:
        """With headers of numbers, then names, on several lines where there is no room. Numbers are never folded."""
        header, rows, n_names = self.header, self.rows, self.n_names
        if self.width > width:
            for index in range(n_names, len(header)):
                header[index] = _folded(header[index], self._header_width(index))
        narrow = replace(self)  # with the widths of the folded headers
        room, excess = [*narrow.widths], narrow.width - width
        if excess <= 0:
            return narrow
        while excess > 0 and max(room[:n_names], default=0) > MIN_NAME:
            room[max(range(n_names), key=lambda name: room[name])] -= 1
            excess -= 1
        for row in [header, *rows]:
            for index in range(n_names):
                row[index] = _folded(row[index], room[index])
        return replace(self)


def _lines(grid: _Grid, terminal: Terminal) -> Iterator[str]:
    """The header, a rule, and the rows. Names are aligned left, numbers right."""
    yield from _row(grid, grid.header, [True] * len(grid.header), terminal)
    yield "─" * grid.width
    for number, (row, bold) in enumerate(zip(grid.rows, grid.bold, strict=True)):
        if number in grid.rules:
            yield "╌" * grid.width
        yield from _row(grid, row, bold, terminal)


def _row(grid: _Grid, row: Sequence[Sequence[str]], bold: Sequence[bool], terminal: Terminal) -> Iterator[str]:
    for line in range(max(map(len, row))):
        shown = []
        for index, (cell, width, gap) in enumerate(zip(row, grid.widths, grid.gaps, strict=True)):
            text = cell[line] if line < len(cell) else ""
            padding = " " * (width - _width(text))
            if bold[index]:
                text = _emphasized(text, terminal)
            shown.append(text + padding if index < grid.n_names else padding + text)
            shown.append(" " * gap)
        yield "".join(shown).rstrip()


def _emphasized(text: str, terminal: Terminal) -> str:
    """``text`` in bold if the terminal shows that; spaces at its end are left as they are."""
    bare = text.rstrip()
    return f"{BOLD}{bare}{PLAIN}{text[len(bare) :]}" if terminal.color and bare.strip() else text


# Characters of reports beyond Latin letters, each one character wide.
_NARROW = str.maketrans(dict.fromkeys("Δαηκρ–−†‡≤≥×…─╌↑↓", "x"))


def _width(text: str) -> int:
    """Characters on a screen: most Chinese ones take two, combining ones none."""
    if text.isascii():
        return len(text)
    bare = text.translate(_NARROW)
    if bare.isprintable() and max(bare) < "\N{COMBINING GRAVE ACCENT}":
        return len(text)
    from rich.cells import cell_len  # it takes longer to import than most reports to write

    return cell_len(text)


def _column_width(cells: Sequence[Sequence[str]]) -> int:
    return max((_width(line) for cell in cells for line in cell), default=0)


def _folded(lines: Sequence[str], width: int) -> list[str]:
    return [part for line in lines for part in _wrapped(line, width)]


def _wrapped(text: str, width: int) -> list[str]:
    """``text`` in lines of at most ``width``, broken at spaces, and inside words that are longer than a line.

    >>> _wrapped("a sentence of a few words", 10), _wrapped("llama-3.1-70b_instruct", 12), _wrapped("abcdef", 4)
    (['a sentence', 'of a few', 'words'], ['llama-3.1-', '70b_instruct'], ['abcd', 'ef'])
    """
    if "\n" in text:
        return _folded(text.split("\n"), width)
    if _width(text) <= width:
        return [text]
    lines, current = [], ""
    for word in text.split(" "):
        longer = f"{current} {word}" if current else word
        if _width(longer) <= width:
            current = longer
            continue
        if current:
            lines.append(current)
        *full, current = _chopped(word, width)
        lines += full
    return [*lines, current]


def _chopped(word: str, width: int) -> list[str]:
    """A word in pieces of at most ``width``: broken after punctuation, and elsewhere only where a part is wider."""
    pieces, used = [""], 0
    for part in re.split(r"(?<=[-_./])", word):
        whole = _width(part)
        for unit in [part] if whole <= width else part:
            more = _width(unit)
            if pieces[-1] and used + more > width:
                pieces.append("")
                used = 0
            pieces[-1] += unit
            used += more
    return pieces
