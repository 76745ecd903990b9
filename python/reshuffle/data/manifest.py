"""Manifests: files in JSON or TOML with the names and files of several test sets."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ..errors import InputError, quoted, unknown_name
from .files import STDIN, decoded, display_name, read_bytes, shown_size, uncompressed

T = TypeVar("T")

# Limits on manifests, which are written by hand: Python's TOML parser takes a time that grows with the square of the
# parts of a dotted key, and nearly so with the number of tables.
MAX_BYTES = 1 << 20
MAX_PARTS = 32
# A dotted key of more parts, where a key can stand: at the beginning of a line, and after brackets and commas.
PART = r"""(?:[\w-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')[ \t]*"""
LONG_KEY = re.compile(rf"(?:^|[\[{{,])[ \t]*{PART}(?:\.[ \t]*{PART}){{{MAX_PARTS}}}", re.MULTILINE)


@dataclass(frozen=True)
class SetFiles:
    """The files of a test set, and its own metrics and options.

    Attributes
    ----------
    references : list of str
        ``FILE`` or ``FILE#NAME``; empty if all scores come from other tools.
    systems : mapping of str to str, or list of str
        The file of each system, by name; or a list of files, from which the systems get their names.
    metrics : list of str, or None
        Metrics with options, such as ``bleu:tokenize=zh``; None for those of the command line.
    scores : mapping of str to (mapping of str to str, or list of str)
        For each metric of another tool the file of each system, as ``systems``.
    lower_is_better : list of str
    missing : str
    parses : list of str
    documents, strata, input_format : str or None
        As for the command line.
    options : mapping of str to object
        Options of metrics, for all metrics of this test set that have them.
    folder : Path
        The folder of the manifest, to which paths among the options in ``metrics`` are relative.
    """

    references: list[str] = field(default_factory=list)
    systems: Mapping[str, str] | list[str] = field(default_factory=list)
    metrics: list[str] | None = None
    scores: Mapping[str, Mapping[str, str] | list[str]] = field(default_factory=dict)
    lower_is_better: list[str] = field(default_factory=list)
    missing: str = "error"
    parses: list[str] = field(default_factory=list)
    documents: str | None = None
    strata: str | None = None
    input_format: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    folder: Path = Path()


def read_manifest(path: str, options: Collection[str], path_options: Collection[str] = ()) -> dict[str, SetFiles]:
    """The test sets of a manifest, by name.

    Parameters
    ----------
    path : str
        A file in TOML if its name ends in ``.toml``, else in JSON.
    options : collection of str
        The options of metrics that a test set may have.
    path_options : collection of str
        Those of them that are paths.

    Raises
    ------
    InputError
        If the file cannot be read or parsed, has no test sets, or has an unexpected key or type of value. The message
        has the file, the test set, and the nearest known key.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("sets.json").write_text('{"sets": {"news": {"references": "ref.txt", "systems": ["a.txt", "b.txt"]}}}')
    >>> read_manifest("sets.json", [])["news"].systems
    ['a.txt', 'b.txt']
    >>> Path("sets.json").unlink()
    """
    name, top, folder = manifest_table(path, "test sets in JSON or TOML")
    check_keys(name, top, ["sets"])
    if "sets" not in top:
        raise InputError(f"{name}: the key 'sets' is missing: expected an object with a test set for each name")
    sets = table_of(f"{name}, sets", top["sets"])
    if not sets:
        raise InputError(f"{name} names no test sets: expected at least one in 'sets'")
    if "" in sets:
        raise InputError(f"{name}, sets: expected a name for each test set, got an empty one")
    return {
        set_name: _set_files(KeyReader(f"{name}, test set {quoted(set_name)}", folder), each, options, path_options)
        for set_name, each in sets.items()
    }


def manifest_table(path: str, expected: str) -> tuple[str, dict[str, Any], Path]:
    """A manifest: its name in messages, the keys and values in it, and the folder to which its paths are relative.

    ``expected`` says what it should contain. :class:`InputError` if it cannot be read, or is no object.
    """
    name = display_name(path)
    # Some editors write a byte order mark, which neither parser skips.
    data = read_bytes(path, expected)
    if len(data) > MAX_BYTES:
        raise InputError(f"{name} has {len(data):,} bytes: expected {expected}, of at most {shown_size(MAX_BYTES)}")
    content = _parsed(path, decoded(data, name).removeprefix("\ufeff"))
    return name, table_of(name, content), Path() if path == STDIN else Path(path).parent


def _parsed(path: str, text: str) -> Any:
    """The content of a manifest as Python objects."""
    name = display_name(path)
    is_toml = uncompressed(path).lower().endswith(".toml")
    try:
        if is_toml:
            return _toml(text)
        return json.loads(text, object_pairs_hook=lambda pairs: _unique(name, pairs))
    except InputError:
        raise
    except RecursionError:
        raise InputError(f"{name} is nested too deeply for a manifest") from None
    except ValueError as error:  # of both parsers
        language = "TOML" if is_toml else "JSON"
        hint = "" if is_toml else "; the name of a manifest in TOML ends in .toml"
        raise InputError(f"{name} is not valid {language}: {error}{hint}") from None


def _toml(text: str) -> Any:
    if LONG_KEY.search(text):
        raise RecursionError
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(text)


def _unique(name: str, pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object. Its keys must differ: of two test sets with the same name, one would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise InputError(f"{name}: the key {quoted(twice)} occurs twice in one object: use different names")
    return found


def table_of(where: str, value: Any) -> dict[str, Any]:
    """The value as an object, or :class:`InputError`."""
    if not isinstance(value, dict):
        raise InputError(f"{where}: expected an object (a table in TOML), got {quoted(value)}")
    return value


def check_keys(where: str, table: Mapping[str, Any], known: Collection[str]) -> None:
    """Raise :class:`InputError` for a key that is not known, with the nearest one that is."""
    for key in table:
        if key not in known:
            raise InputError(f"{where}: {unknown_name('key', key, known)}")


def _set_files(reader: KeyReader, value: Any, options: Collection[str], path_options: Collection[str]) -> SetFiles:
    """The files of a test set."""
    readers: dict[str, Callable[[str, Any], Any]] = {
        "references": reader.paths,
        "systems": reader.named_paths,
        "metrics": reader.strings,
        "scores": lambda key, scores: reader.table(key, scores, reader.named_paths),
        "lower_is_better": reader.strings,
        "missing": reader.string,
        "parses": reader.paths,
        "documents": reader.path,
        "strata": reader.path,
        "input_format": reader.string,
    }
    read, own = reader.read(value, readers, options, path_options)
    return SetFiles(**read, options=own, folder=reader.folder)


class KeyReader:
    """Reads the values of keys, and names the key and ``where`` it stands in errors. Paths are relative to a folder."""

    def __init__(self, where: str, folder: Path) -> None:
        self.where = where
        self.folder = folder

    def read(
        self,
        value: Any,
        readers: Mapping[str, Callable[[str, Any], Any]],
        options: Collection[str] = (),
        path_options: Collection[str] = (),
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The values of the keys of an object that have readers, and those that are options of metrics."""
        table = table_of(self.where, value)
        check_keys(self.where, table, [*readers, *options])
        own = {
            key: self.path(key, value) if key in path_options else value
            for key, value in table.items()
            if key in options
        }
        return {key: read(key, table[key]) for key, read in readers.items() if key in table}, own

    def table(self, key: str, value: Any, read: Callable[[str, Any], T]) -> dict[str, T]:
        """An object, of which ``read`` reads every value."""
        table = table_of(f"{self.where}, {key}", value)
        return {name: read(f"{key}, {name}", each) for name, each in table.items()}

    def fail(self, key: str, expected: str, value: Any) -> InputError:
        """The error for a value of another kind than expected."""
        return InputError(f"{self.where}, {key}: expected {expected}, got {quoted(value)}")

    def string(self, key: str, value: Any) -> str:
        """A string that is not empty."""
        if not isinstance(value, str) or not value:
            raise self.fail(key, "a string", value)
        return value

    def strings(self, key: str, value: Any) -> list[str]:
        """A string, or a list of strings."""
        values = [value] if isinstance(value, str) else value
        if not isinstance(values, list) or not values or not all(isinstance(each, str) and each for each in values):
            raise self.fail(key, "a string or a list of strings", value)
        return values

    def path(self, key: str, value: Any) -> str:
        """A path, from the current folder."""
        path = self.string(key, value)
        return path if path == STDIN or path.startswith(f"{STDIN}#") else str(self.folder / path)

    def paths(self, key: str, value: Any) -> list[str]:
        """A path, or a list of paths."""
        return [self.path(key, path) for path in self.strings(key, value)]

    def named_paths(self, key: str, value: Any) -> dict[str, str] | list[str]:
        """Paths by the names of systems, or a list of paths."""
        if not isinstance(value, dict):
            return self.paths(key, value)
        if not value:
            raise self.fail(key, "the file of at least one system", value)
        return {system: self.path(f"{key}, {system}", path) for system, path in value.items()}
