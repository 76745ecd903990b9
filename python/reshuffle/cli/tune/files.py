"""Reading the files of ``reshuffle tune`` and ``rerank``, and writing weights and outputs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from attrs import frozen

from ...data.files import display_name
from ...data.reading import read_columns
from ...errors import InputError, counted, writing
from ...options.files import Reading
from ...options.list_files import Lists
from ...tune import NBest, Tuned, read_nbest, read_weights, write_weights
from ..output import stream_destination


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class InputFiles(Reading, Lists):
    """The files of a command, and how they are read."""

    def read_lists(self, paths: Sequence[str]) -> NBest:
        """The lists of one or several files, joined."""
        first, *others = (read_nbest(path, first_id=self.first_id, max_input=self.max_input) for path in paths)
        return first.merged(*others) if others else first

    def read_references(self, paths: Sequence[str]) -> list[Sequence[str | None]]:
        """Columns of references of the same length."""
        columns = read_columns(list(paths), self.input_format, max_input=self.max_input)
        for column in columns[1:]:
            if len(column.lines) != len(columns[0].lines):
                raise InputError(
                    f"{columns[0].name} has {len(columns[0].lines):,} references, {column.name} has "
                    f"{len(column.lines):,}: they must match line by line"
                )
        return [column.lines for column in columns]

    def lines_of(self, path: str | None, n: int) -> list[str] | None:
        """The source of each of n sentences; None without a file."""
        if path is None:
            return None
        (column,) = read_columns([path], self.input_format, max_input=self.max_input)
        if len(column.lines) != n:
            found = counted(len(column.lines), "source")
            raise InputError(f"{column.name} has {found}, but the lists have {counted(n, 'sentence')}")
        return ["" if line is None else line for line in column.lines]

    def named_weights(self, path: str, lists: NBest) -> dict[str, float]:
        """The weights in a file, by the names of the lists' features."""
        found = read_weights(path, lists.names, lists.sparse_names, max_input=self.max_input)
        return dict(zip([*lists.names, *lists.sparse_names], map(float, [*found.dense, *found.sparse]), strict=True))


def prepared_folder(path: str) -> Path:
    """A new or empty folder, before the work starts: files of other runs would be taken for those of this one."""
    folder, shown = Path(path), display_name(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise InputError(f"--save {shown}: the folder is not empty: choose a new or empty one")
    except OSError as error:
        raise InputError(f"--save {shown}: the folder cannot be made: {error.strerror or error}") from None
    return folder


@contextlib.contextmanager
def lines_destination(path: str | None, inputs: Sequence[str]) -> Iterator[Callable[[Iterable[str]], None]]:
    """A function that writes an entry for each sentence to a file, or to standard output."""
    with stream_destination(path, inputs) as file:
        yield lambda lines: file.writelines(f"{line}\n".encode("utf-8", "backslashreplace") for line in lines)


def save(tuned: Tuned, folder: Path) -> None:
    """Write the weights and outputs of each run, numbered from 1 with equally many digits."""
    digits = len(str(len(tuned.models)))
    with writing(display_name(str(folder))):
        for i, run in enumerate(tuned.result.runs, 1):
            write_weights(folder / f"weights.{i:0{digits}}", run.weights)
        for name, chosen in (("dev", tuned.dev), ("test", tuned.test)):
            for i, lines in enumerate(chosen.outputs() if chosen is not None else (), 1):
                text = "".join(f"{line}\n" for line in lines)
                (folder / f"{name}.{i:0{digits}}").write_text(text, encoding="utf-8", newline="\n")
