"""The files of a comparison of systems with several runs each, also from a manifest in JSON or TOML."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InputError, unknown_name
from .manifest import KeyReader, manifest_table


@dataclass(frozen=True)
class DevFiles:
    """What is known about the runs on a development set.

    Attributes
    ----------
    references : list of str
        ``FILE`` or ``FILE#NAME``.
    systems : mapping of str to list of str
        The files of each system's runs, in the order of its runs on the test set.
    scores : mapping of str to (mapping of str to list of float)
        For each system and metric the score of each run.
    """

    references: list[str] = field(default_factory=list)
    systems: Mapping[str, list[str]] = field(default_factory=dict)
    scores: Mapping[str, Mapping[str, list[float]]] = field(default_factory=dict)


@dataclass(frozen=True)
class RunFiles:
    """The files of systems with several runs each, and their own metrics and options.

    Attributes
    ----------
    references : list of str
        ``FILE`` or ``FILE#NAME``; empty if all scores come from other tools.
    systems : mapping of str to list of str
        The files of each system's runs.
    baseline : str
        The name of a system.
    scores : mapping of str to (mapping of str to list of str)
        For each metric of another tool the file of each system's run.
    dev : DevFiles
    metrics, lower_is_better, parses, documents, strata, input_format, options, folder
        As for :class:`~reshuffle.data.manifest.SetFiles`.
    """

    references: list[str]
    systems: Mapping[str, list[str]]
    baseline: str
    scores: Mapping[str, Mapping[str, list[str]]] = field(default_factory=dict)
    dev: DevFiles = field(default_factory=DevFiles)
    metrics: list[str] | None = None
    lower_is_better: list[str] = field(default_factory=list)
    parses: list[str] = field(default_factory=list)
    documents: str | None = None
    strata: str | None = None
    input_format: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    folder: Path = Path()


def read_run_manifest(path: str, options: Collection[str], path_options: Collection[str] = ()) -> RunFiles:
    """The files that a manifest names.

    Parameters
    ----------
    path, options, path_options
        As for :func:`~reshuffle.data.manifest.read_manifest`.

    Raises
    ------
    InputError
        If the file cannot be read or parsed, names no systems, or has an unexpected key or type of value. The message
        has the file and the nearest known key.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("runs.json").write_text('{"references": "ref.txt", "systems": {"old": ["a.0", "a.1"], "new": "b.0"}}')
    >>> found = read_run_manifest("runs.json", [])
    >>> found.baseline, found.systems
    ('old', {'old': ['a.0', 'a.1'], 'new': ['b.0']})
    >>> Path("runs.json").unlink()
    """
    name, table, folder = manifest_table(path, "the files of systems' runs, in JSON or TOML")
    reader = KeyReader(name, folder)
    readers = {
        "references": reader.paths,
        "systems": lambda key, value: reader.table(key, value, reader.paths),
        "baseline": reader.string,
        "scores": lambda key, value: reader.table(
            key, value, lambda inner, systems: reader.table(inner, systems, reader.paths)
        ),
        "dev": lambda key, value: _dev_files(KeyReader(f"{name}, {key}", folder), value),
        "metrics": reader.strings,
        "lower_is_better": reader.strings,
        "parses": reader.paths,
        "documents": reader.path,
        "strata": reader.path,
        "input_format": reader.string,
    }
    read, own = reader.read(table, readers, options, path_options)
    scores = read.get("scores", {})
    references, systems = read.pop("references", []), read.pop("systems", {})
    if not references and systems:
        raise InputError(f"{name} has systems without references: add the key 'references'")
    if references and not systems:
        raise InputError(f"{name} has references without systems: add the key 'systems'")
    # Without texts, the first metric names the systems.
    systems = systems or next(iter(scores.values()), {})
    if not systems:
        raise InputError(f"{name} names no systems: add the keys 'references' and 'systems', or 'scores'")
    if "" in systems:
        raise InputError(f"{name}: expected a name for each system, got an empty one")
    baseline = read.pop("baseline", next(iter(systems)))
    if baseline not in systems:
        raise InputError(f"{name}: {unknown_name('baseline', baseline, systems)}")
    return RunFiles(references, systems, baseline, **read, options=own, folder=folder)


def _dev_files(reader: KeyReader, value: Any) -> DevFiles:
    """The value of the key ``dev``."""
    readers = {
        "references": reader.paths,
        "systems": lambda key, value: reader.table(key, value, reader.paths),
        "scores": lambda key, value: reader.table(
            key, value, lambda inner, metrics: reader.table(inner, metrics, lambda k, v: _numbers(reader, k, v))
        ),
    }
    return DevFiles(**reader.read(value, readers)[0])


def _numbers(reader: KeyReader, key: str, value: Any) -> list[float]:
    """A list of finite numbers."""
    values = value if isinstance(value, list) else [value]
    for each in values:
        if not _is_finite(each):
            raise reader.fail(key, "a list of finite numbers, one for each run", each)
    return [float(each) for each in values]


def _is_finite(value: object) -> bool:
    """Whether a value is a number that a float can have."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer beyond all floats
        return False
