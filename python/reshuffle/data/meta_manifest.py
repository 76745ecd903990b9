"""The files of meta-evaluations, also of several test sets from a manifest in JSON or TOML."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import InputError, quoted
from .files import STDIN
from .manifest import KeyReader, check_keys, manifest_table, table_of

# The columns of scores that can be named.
COLUMNS = ("system", "segment", "score", "language_pair", "test_set", "metric")


@dataclass(frozen=True)
class MetaFiles:
    """The files of a test set: outputs, references and human judgments, and its own metrics and options.

    Attributes
    ----------
    references : list of str
        ``FILE`` or ``FILE#NAME``; empty if all scores come from other tools.
    systems : mapping of str to str, or list of str
        The file of each output, by name; or a list of files and folders, from which the outputs get their names.
    judgments, judgments_format : str or None
        A file of votes, and its format.
    human, human_format : str or None
        A file of human scores, perhaps ``FILE#NAME`` for a column or metric of it, and its format.
    columns : mapping of str to str
        The headers of columns of the files of scores, by what they hold (:data:`COLUMNS`).
    sysmap : str or None
        A file with the name of the output for each id.
    language_pair, test_set : str or None
        Which rows of the files to read.
    segment_base : int or None
        The number of the first segment.
    repeats, missing_systems : str or None
        As for the command line; None for what is said there.
    metric_scores : mapping of str to str
        The file of each metric from another program, perhaps ``FILE#NAME``.
    score_files : list of str
        Files of which all metrics are read.
    lower_is_better : list of str
    metrics : list of str, or None
        Metrics with options, such as ``sentbleu:smoothing=7``; None for those of the command line.
    input_format, options, folder
        As for :class:`~reshuffle.data.manifest.SetFiles`.
    """

    references: list[str] = field(default_factory=list)
    systems: Mapping[str, str] | list[str] = field(default_factory=list)
    judgments: str | None = None
    judgments_format: str | None = None
    human: str | None = None
    human_format: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    sysmap: str | None = None
    language_pair: str | None = None
    test_set: str | None = None
    segment_base: int | None = None
    repeats: str | None = None
    missing_systems: str | None = None
    metric_scores: Mapping[str, str] = field(default_factory=dict)
    score_files: list[str] = field(default_factory=list)
    lower_is_better: list[str] = field(default_factory=list)
    metrics: list[str] | None = None
    input_format: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    folder: Path = Path()


def read_meta_manifest(path: str, options: Collection[str], path_options: Collection[str] = ()) -> dict[str, MetaFiles]:
    """The test sets of a manifest, by name.

    Parameters
    ----------
    path, options, path_options
        As for :func:`~reshuffle.data.manifest.read_manifest`.

    Raises
    ------
    InputError
        If the file cannot be read or parsed, has no test sets, or has an unexpected key or type of value. The message
        has the file, the test set, and the nearest known key.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("meta.toml").write_text("[sets.cs-en]\\njudgments = 'cs-en.rank'\\nreferences = 'r'\\nsystems = 'sys'")
    >>> read_meta_manifest("meta.toml", [])["cs-en"].judgments
    'cs-en.rank'
    >>> Path("meta.toml").unlink()
    """
    name, top, folder = manifest_table(path, "test sets with people's judgments in JSON or TOML")
    check_keys(name, top, ["sets"])
    if "sets" not in top:
        raise InputError(f"{name}: the key 'sets' is missing: expected an object with a test set for each name")
    sets = table_of(f"{name}, sets", top["sets"])
    if not sets:
        raise InputError(f"{name} names no test sets: expected at least one in 'sets'")
    for reserved in ("", "average", "pooled"):
        if reserved in sets:
            raise InputError(f"{name}, sets: a test set cannot be called {quoted(reserved)}: choose another name")
    return {
        set_name: _meta_files(KeyReader(f"{name}, test set {quoted(set_name)}", folder), each, options, path_options)
        for set_name, each in sets.items()
    }


def _meta_files(reader: KeyReader, value: Any, options: Collection[str], path_options: Collection[str]) -> MetaFiles:
    """The files of a test set."""
    readers: dict[str, Callable[[str, Any], Any]] = {
        "references": reader.paths,
        "systems": reader.named_paths,
        "judgments": reader.path,
        "judgments_format": reader.string,
        "human": reader.path,
        "human_format": reader.string,
        "columns": lambda key, columns: _columns(reader, key, columns),
        "sysmap": reader.path,
        "language_pair": reader.string,
        "test_set": reader.string,
        "segment_base": lambda key, number: _number(reader, key, number),
        "repeats": reader.string,
        "missing_systems": reader.string,
        "metric_scores": lambda key, files: reader.table(key, files, reader.path),
        "score_files": reader.paths,
        "lower_is_better": reader.strings,
        "metrics": reader.strings,
        "input_format": reader.string,
    }
    read, own = reader.read(value, readers, options, path_options)
    return MetaFiles(**read, options=own, folder=reader.folder)


def _columns(reader: KeyReader, key: str, value: Any) -> dict[str, str]:
    columns = reader.table(key, value, reader.string)
    check_keys(f"{reader.where}, {key}", columns, COLUMNS)
    return columns


def _number(reader: KeyReader, key: str, value: Any) -> int:
    """A whole number from 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise reader.fail(key, "a whole number from 0", value)
    return value


def files_of_outputs(where: str, paths: list[str]) -> list[str]:
    """The files, and those in the folders, in the order of their names. Hidden files and folders in them are skipped.

    :class:`InputError` if a folder has none, or cannot be read.
    """
    found: list[str] = []
    for path in paths:
        folder = Path(path)
        if path == STDIN or not folder.is_dir():
            found.append(path)
            continue
        try:
            own = sorted(each for each in folder.iterdir() if not each.name.startswith(".") and each.is_file())
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror or error}") from None
        if not own:
            raise InputError(f"{where}: the folder {path} has no files: expected an output in each")
        found += map(str, own)
    return found
