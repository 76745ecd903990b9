"""The segment scores and texts of the systems, from files of scores and of texts."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from reshuffle import InputError, ScoredTexts, read_lines

# The keys of the texts in files of comet-score.
TEXTS = ("src", "mt", "ref")


class Scored(NamedTuple):
    """Systems in the order of the report.

    Attributes
    ----------
    scores : dict of str to (S,) ndarray
    translations : dict of str to S str
        Only of systems whose translations are known.
    source, reference : list of S str, or None
    """

    scores: dict[str, NDArray[np.float64]]
    translations: dict[str, list[str]]
    source: list[str] | None
    reference: list[str] | None


# The texts of a system that were scored: for each of the keys src, mt and ref, as far as there are, those of all
# segments. None for a segment without one.
Texts: TypeAlias = "dict[str, list[str | None]]"


class ScoreFile(NamedTuple):
    """The content of a file of scores, (N, S); texts only of systems that have some."""

    path: str
    systems: tuple[str, ...]
    scores: NDArray[np.float64]
    texts: dict[str, Texts]


def read_scored(
    files: Sequence[tuple[str, ScoredTexts | None]],
    translations: Sequence[str],
    source: str | None,
    reference: str | None,
) -> Scored:
    """Read all files, and find the scores of each file of translations.

    ``files`` are the names of the files of scores, with what :func:`reshuffle.read_scored_texts` has read.

    Raises
    ------
    InputError
        If a file cannot be read; if a system lacks scores or has them twice; if texts differ from those that were
        scored, or numbers of segments differ.
    """
    found = _by_name([_scored(path, file) for path, file in files], translations)
    if translations:
        found = {path: found[_match(path, list(found))] for path in translations}
    texts = {name: _lines(name) for name in translations}
    n_segments = [len(scores) for scores, _ in found.values()]
    if len(set(n_segments)) > 1:
        other = next(i for i, n in enumerate(n_segments) if n != n_segments[0])
        names = list(found)
        raise InputError(
            f"{names[other]} has scores of {n_segments[other]:,} segments, but {names[0]} of {n_segments[0]:,}: they "
            "must match"
        )
    scored = {name: columns for name, (_, columns) in found.items() if columns}
    for name, lines in texts.items():
        _check(name, lines, scored.get(name, {}).get("mt"), n_segments[0])
    for name, columns in scored.items():
        if name not in texts and "mt" in columns:
            texts[name] = list(map(str, columns["mt"]))
    first = next(iter(scored.values()), {})
    return Scored(
        {name: scores for name, (scores, _) in found.items()},
        texts,
        _side(source, first.get("src"), n_segments[0]),
        _side(reference, first.get("ref"), n_segments[0]),
    )


def _scored(path: str, file: ScoredTexts | None) -> ScoreFile:
    """A file of scores, and its texts if it is JSON."""
    if file is None:
        return _read_any(path)
    columns = zip(*file.texts.values(), strict=True)
    texts = {
        name: dict(zip(file.texts, column, strict=True)) for name, column in zip(file.systems, columns, strict=False)
    }
    return ScoreFile(path, tuple(file.systems), np.array(file.scores), texts)


def _read_any(path: str) -> ScoreFile:
    """A file of scores in any form."""
    from reshuffle import read_scores

    table = read_scores(path)
    if table.segments is None:
        raise InputError(f"{path}: expected the scores of segments, got scores of systems")
    return ScoreFile(path, table.systems, table.segments, _texts(path, table.systems))


def _texts(path: str, systems: Sequence[str]) -> dict[str, Texts]:
    """The texts of these systems in a JSON file without fault: under the keys that the first segment has."""
    try:
        value = json.loads(Path(path).read_bytes())
    except (ValueError, OSError, RecursionError):
        value = None
    if not isinstance(value, dict):
        return {}
    if not isinstance(value.get("translations"), list):
        return {
            name: {key: _column(segment.get(key) for segment in segments) for key in TEXTS if key in segments[0]}
            for name, segments in value.items()
            if name in systems
        }
    found = {}
    for system in value["translations"]:  # of comet-compare
        columns = zip(TEXTS, (value.get("source"), system.get("mt"), value.get("reference")), strict=True)
        n = len(system["scores"])
        found[system["name"]] = {key: _column(of) for key, of in columns if isinstance(of, list) and len(of) == n}
    return found


def _column(texts: Iterable[Any]) -> list[str | None]:
    return [None if text is None else str(text) for text in texts]


def _by_name(files: Sequence[ScoreFile], translations: Sequence[str]) -> dict[str, tuple[NDArray[np.float64], Texts]]:
    """Scores and texts of each system; one that has no name in its file is called after its place or its file."""
    unnamed = [file for file in files if file.systems == ("system",) and "system" not in file.texts]
    by_place = len(unnamed) == len(files) == len(translations)
    found: dict[str, tuple[NDArray[np.float64], Texts]] = {}
    for place, file in enumerate(files):
        names = list(file.systems)
        if file in unnamed:
            names = [translations[place] if by_place else file.path]
        for system, name, scores in zip(file.systems, names, file.scores, strict=True):
            if name in found:
                raise InputError(f"{file.path} has scores of {name}, which an earlier file of --scores has, too")
            missing = np.flatnonzero(np.isnan(scores))
            if missing.size:
                raise InputError(f"{file.path}: {name} has no score of segment {missing[0] + 1:,}")
            found[name] = scores, file.texts.get(system, {})
    return found


def _match(path: str, known: Sequence[str]) -> str:
    """The name of the scores of a file of translations: the same path, or else the same file name."""
    same = [name for name in known if os.path.normpath(name) == os.path.normpath(path)]
    same = same or [name for name in known if Path(name).name == Path(path).name]
    if len(same) != 1:
        got = ", ".join(known) if len(known) <= 10 else f"{len(known)} systems"
        problem = f"{len(same)} systems fit: {', '.join(same)}" if same else f"there are scores of {got}"
        raise InputError(f"no scores of {path} in the files of --scores: {problem}")
    return same[0]


def _lines(path: str) -> list[str]:
    """The lines of a text as COMET reads them: a carriage return ends a line, too."""
    try:
        with open(path, encoding="utf-8") as file:
            return [line.strip() for line in file]
    except (OSError, UnicodeDecodeError):  # which has a message, or is compressed
        return [line.strip() for line in read_lines(path)]


def _check(name: str, lines: Sequence[str], scored: Sequence[str | None] | None, n: int) -> None:
    """Check that a text is the one that was scored."""
    if len(lines) != n:
        raise InputError(
            f"{name} has {len(lines):,} line{'s' * (len(lines) != 1)}, but there are scores of {n:,} segments: they "
            "must match"
        )
    if scored is None or lines == scored:
        return
    for number, (line, text) in enumerate(zip(lines, scored, strict=True), 1):
        if text is not None and text != line:
            raise InputError(f"{name}, line {number}: {text!r} was scored, but the text is {line!r}")


def _side(path: str | None, scored: Sequence[str | None] | None, n: int) -> list[str] | None:
    """The source or the reference: the lines of the file, or those that were scored."""
    if path is not None:
        lines = _lines(path)
        _check(path, lines, scored, n)
        return lines
    return None if scored is None else list(map(str, scored))
