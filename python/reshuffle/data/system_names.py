"""Which output a name in a file of judgments or scores stands for, and which name stands for a system in reports."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import Argument, InputError, listed, quoted, shortened, unknown_name, warn
from ..options.evaluations import Evaluation, NameMap
from .files import MAX_INPUT, STDIN, at_line, decoded, display_name, read_bytes, split_lines, unique_json
from .formats.base import Source
from .formats.table import read_rows

if TYPE_CHECKING:
    from .evaluations import Cells, Votes

# First fields of a header, in lower case. Other first lines are pairs.
HEADERS = {"from", "human", "id", "judged", "name", "rank_id", "sys", "sysid", "system", "system_id"}
EXPECTED_NAMES = "expected the name of a system, a tab, and the name to display"


def read_sysmap(path: str | os.PathLike[str], *, max_input: int = MAX_INPUT) -> NameMap:
    """Read which output each id stands for: a table with an id and the name of an output on each line.

    Parameters
    ----------
    path : str
        Fields are separated by tabs, or else by commas or white space. Fields after the second are ignored. A first
        line whose first field is a word such as ``id``, ``rank_id`` or ``system`` is a header.
    max_input : int, optional
        As for :func:`reshuffle.read_lines`.

    Raises
    ------
    InputError
        If a line has another number of fields than the first, an id or a name is empty or occurs twice.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("sysmap.tsv").write_text("id\\tsystem\\nNemo\\tNVIDIA-NeMo\\n")
    >>> dict(read_sysmap("sysmap.tsv").names)
    {'Nemo': 'NVIDIA-NeMo'}
    >>> Path("sysmap.tsv").unlink()
    """
    file = os.fspath(path)
    expected = "the id of a system, a tab, and the name of its output on each line"
    source = Source.read(file, expected, max_input)
    rows = read_rows(source, header=False)
    if len(rows.header) < 2:
        rows.fail(0, f"expected {expected}, got {quoted(rows.columns[0][0])}")
    names: dict[str, str] = {}
    lines: dict[str, int] = {}
    ids_of: dict[str, str] = {}
    for row, (key, name) in enumerate(zip(rows.columns[0], rows.columns[1], strict=True)):
        key, name = key.strip(), name.strip()
        if row == 0 and key.lower() in HEADERS:
            continue
        if not key or not name:
            rows.fail(row, f"expected {expected}, got {quoted(key or name)} and nothing else")
        if key in names:
            rows.fail(row, f"{quoted(key)} is already mapped on line {lines[key]}")
        if name in ids_of:
            other = ids_of[name]
            rows.fail(row, f"{quoted(key)} and {quoted(other)} (line {lines[other]}) are mapped to {quoted(name)}")
        names[key], lines[key], ids_of[name] = name, rows.lines[row], key
    if not names:
        source.fail(f"expected {expected}, got only a header")
    return NameMap(names, source.name, lines)


def read_names(path: str, *, max_input: int = MAX_INPUT) -> NameMap:
    """Read display names: lines of a name, a tab and the name to display, or a JSON object if the file begins with {.

    Empty lines are skipped, and so is a byte order mark, which some editors write.

    :class:`InputError` if a line or the object has another form, or a system appears twice.
    """
    shown = display_name(path)
    if path == STDIN:
        raise InputError("--names cannot be read from standard input: write a file name")
    content = read_bytes(path, "the name of a system, a tab, and the name to display on each line", max_input)
    lines = split_lines(decoded(content, shown).removeprefix("\ufeff"))
    if next(filter(None, map(str.strip, lines)), "").startswith("{"):
        found: dict[str, str] = unique_json("\n".join(lines), shown, "names of systems", "{} has two display names")
        for system, name in found.items():
            if not isinstance(name, str):
                expected = f"a string as the display name of {quoted(system)}"
                raise InputError(f"{shown}: expected {expected}, got {quoted(name)}")
        return NameMap(found, shown)
    names: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        system, tab, name = line.partition("\t")
        if not (tab and system and name.strip()) or "\t" in name:
            raise at_line(shown, number, f"{EXPECTED_NAMES}, got {quoted(line)}")
        if system in names:
            raise at_line(shown, number, f"{quoted(system)} already has a name on line {numbers[system]}")
        names[system], numbers[system] = name.strip(), number
    return NameMap(names, shown, numbers)


@dataclass(frozen=True)
class Naming:
    """How ids in a file are mapped to systems."""

    sysmap: NameMap
    """May be empty: then ids are names."""
    systems: tuple[str, ...] | None
    """The names of the outputs, without or with ``.txt``. None if they are not known: then all names are accepted."""
    unknown: str
    """What happens to ids for which there is no output."""

    @classmethod
    def from_options(cls, options: Evaluation) -> Naming:
        """Check the options of readers, and read the map."""
        names, systems, sysmap = None, options.systems, options.sysmap
        if systems is not None:
            systems = _files(systems) if isinstance(systems, str | os.PathLike) else systems
            names = tuple(
                Path(name).name.removesuffix(".txt") if isinstance(name, os.PathLike) else name for name in systems
            )
            if len({name.removesuffix(".txt") for name in names}) < len(names):
                raise InputError(f"systems: two outputs have the same name: {listed(names)}")
        if sysmap is None:
            sysmap = NameMap({})
        elif isinstance(sysmap, Mapping):
            sysmap = NameMap(dict(sysmap))
        elif not isinstance(sysmap, NameMap):
            sysmap = read_sysmap(sysmap)
        return cls(sysmap, names, options.unknown)

    def resolve(self, source: Source, content: Votes | Cells) -> tuple[tuple[str, ...], list[int]]:
        """The systems that the file has, and the index of each id among them, or -1 if it is left out.

        :class:`InputError` if two ids stand for the same output; with ``unknown="error"`` for an id without an output.
        """
        ids = content.ids
        found: list[str | None] = [self._name(key) for key in ids]
        taken: dict[str, int] = {}
        for index, name in enumerate(found):
            if name is not None and name in taken:
                both = f"{quoted(ids[taken[name]])} and {quoted(ids[index])}"
                source.fail(f"{both} both stand for the output {quoted(name)}", content.line_of(index))
            if name is not None:
                taken[name] = index
        lost = {index for index, name in enumerate(found) if name is None}
        if lost:
            self._lost(source, content, lost)
        systems = tuple(name for name in (taken if self.systems is None else self.systems) if name in taken)
        if not systems:
            source.fail("none of the systems has an output")
        numbers = {name: number for number, name in enumerate(systems)}
        return systems, [-1 if name is None else numbers[name] for name in found]

    def _name(self, key: str) -> str | None:
        """The output of an id; None if there is none."""
        name = self.sysmap.names.get(key, key)
        if self.systems is None:
            return name
        if name in self.systems:
            return name
        plain = name.removesuffix(".txt")
        return next((output for output in self.systems if output.removesuffix(".txt") == plain), None)

    def _lost(self, source: Source, content: Votes | Cells, lost: set[int]) -> None:
        names = [content.ids[index] for index in sorted(lost)]
        if self.unknown == "drop":
            verb = "system has" if len(names) == 1 else "systems have"
            warn(f"{source.name}: {len(names)} {verb} no output: {listed(names)}; {content.lost(lost)} are left out")
            return
        index = min(lost)
        key = content.ids[index]
        problem = _unknown(self.sysmap.names.get(key, key), self.systems or ())
        if key in self.sysmap.names:
            problem = f"{shortened(key)} is mapped by {self.sysmap.where(key)}, to an {problem}"
        others = f"; {len(names)} systems have no output: {listed(names)}" if len(names) > 1 else ""
        source.fail(
            "{unknown}; map {names} with {sysmap}, or leave {them} out with {drop}",
            content.line_of(index),
            unknown=f"{problem}{others}",
            names="their names" if others else "its name",
            them="them" if others else "it",
            sysmap=Argument("sysmap"),
            drop=Argument("unknown", ("drop",), "--missing-systems"),
        )


def _files(folder: str | os.PathLike[str]) -> list[Path]:
    """The files of a folder, in the order of their names."""
    try:
        return sorted(file for file in Path(folder).iterdir() if file.is_file() and not file.name.startswith("."))
    except (OSError, ValueError):
        shown = quoted(os.fspath(folder))
        raise InputError(f"systems: expected names of outputs or a folder of outputs, got {shown}") from None


def _unknown(name: str, systems: Sequence[str]) -> str:
    """The problem that no output has this name, with the most similar name.

    Names of the same system differ more than misspelled ones: ``Nemo`` is ``NVIDIA-NeMo``. So case does not count, and
    half of the letters are enough.
    """
    import difflib

    plain = {system.removesuffix(".txt").casefold(): system for system in systems}
    nearest = difflib.get_close_matches(name.removesuffix(".txt").casefold(), plain, n=1, cutoff=0.5)
    if not nearest:
        return str(unknown_name("system", name, systems))
    return f"unknown system {quoted(name)}: did you mean {quoted(plain[nearest[0]])}? Known: {listed(systems)}"
