"""Lists from plain text: samples from a model, or outputs of several systems."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..data.files import MAX_INPUT, display_name, read_lines
from ..errors import Argument, InputError
from ..validate import check_integer
from .lists import NBest


def read_samples(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    per_sentence: int | None = None,
    *,
    max_input: int = MAX_INPUT,
) -> NBest:
    """Read lists from plain text, with a text on each line: samples from a model, or outputs of several systems.

    Parameters
    ----------
    paths : str, or sequence of str
        One file with k lines for each sentence, one sentence after another; or several files with a line for each
        sentence: line i of each file belongs to sentence i. Files may be compressed.
    per_sentence : int, optional
        k, for one file.
    max_input : int
        The largest size in bytes of a compressed file after decompression.

    Returns
    -------
    NBest
        Lists without features.

    Raises
    ------
    InputError
        If a file cannot be read, its lines are no multiple of k, or files have different numbers of lines.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("samples.txt").write_text("a b\\na c\\nd\\nd e\\n")
    >>> read_samples("samples.txt", 2).offsets.tolist()
    [0, 2, 4]
    >>> Path("samples.txt").unlink()
    """
    files = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    names = [display_name(os.fspath(file)) for file in files]
    columns = [list(read_lines(file, max_input=max_input)) for file in files]
    if len(files) != 1:
        if per_sentence is not None:
            raise InputError(
                "{per_sentence} is for one file: leave it out, or name one file with all samples",
                per_sentence=Argument("per_sentence"),
            )
        if not files:
            raise InputError("samples: expected at least one file, got none")
        for name, column in zip(names[1:], columns[1:], strict=True):
            if len(column) != len(columns[0]):
                raise InputError(
                    f"{names[0]} has {len(columns[0]):,} lines, {name} has {len(column):,}: they must match line by "
                    "line"
                )
        return NBest.from_texts(zip(*columns, strict=True), ", ".join(names))
    if per_sentence is None:
        raise InputError(
            "{file}: say how many lines each sentence has, with {number}",
            file=names[0],
            number=Argument("per_sentence=K", as_flag="--per-sentence K"),
        )
    k, lines = check_integer("per_sentence", per_sentence, 1), columns[0]
    if len(lines) % k:
        raise InputError(f"{names[0]} has {len(lines):,} lines: expected a multiple of {k}, the lines of each sentence")
    return NBest.from_texts((lines[i : i + k] for i in range(0, len(lines), k)), names[0])
