"""Manifests: files in JSON or TOML with the names and files of test sets.

Their keys are the fields of records of files (:mod:`reshuffle.options.files`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date, time
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import attrs

from ..errors import InputError, either, nearest, quoted, unknown_name
from ..names import is_metric
from ..options.declare import FILE, NO_KEY, Reads
from .files import STDIN, decoded, display_name, is_toml, read_bytes, shown_size, unique_json
from .formats.base import is_finite

# Limits on manifests, which are written by hand: Python's TOML parser takes a time that grows with the square of the
# parts of a dotted key, and nearly so with the number of tables.
MAX_BYTES = 1 << 20
MAX_PARTS = 32
# A dotted key of more parts, where a key can stand: at the beginning of a line, and after brackets and commas.
PART = r"""(?:[\w-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')[ \t]*"""
LONG_KEY = re.compile(rf"(?:^|[\[{{,])[ \t]*{PART}(?:\.[ \t]*{PART}){{{MAX_PARTS}}}", re.MULTILINE)


@dataclass(frozen=True)
class Manifest:
    """A manifest that was parsed. Paths in it are relative to its folder.

    ``options`` has the options of metrics, which are keys of test sets: whether they are paths, by name.
    """

    name: str
    table: Mapping[str, Any]
    folder: Path
    options: Mapping[str, bool] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str, expected: str, options: Mapping[str, bool] | None = None) -> Manifest:
        """Parse a manifest: TOML if its name ends in ``.toml``, else JSON. ``expected`` says what it should contain.

        :class:`InputError` if the file cannot be read or parsed.
        """
        name = display_name(path)
        # Some editors write a byte order mark, which neither parser skips.
        data = read_bytes(path, expected)
        if len(data) > MAX_BYTES:
            raise InputError(f"{name} has {len(data):,} bytes: expected {expected}, of at most {shown_size(MAX_BYTES)}")
        content = _parsed(path, decoded(data, name).removeprefix("\ufeff"), expected)
        return cls(name, table_of(name, content), Path() if path == STDIN else Path(path).parent, options or {})

    def values(self, record: type) -> dict[str, Any]:
        """The values of the fields of a record that are keys of the manifest."""
        return KeyReader(self.name, self).record(record, self.table)

    def sets(self, record: type, reserved: Collection[str] = ()) -> dict[str, dict[str, Any]]:
        """The same for each test set of the key ``sets``, by name. No test set may have a ``reserved`` name.

        :class:`InputError` if there are no test sets, or an unexpected key or type of value. The message has the file,
        the test set, and the nearest known key.

        >>> from reshuffle.options.files import SetFiles
        >>> table = {"sets": {"news": {"references": "ref.txt", "systems": ["a", "b"]}}}
        >>> Manifest("sets.json", table, Path("in")).sets(SetFiles)["news"]["systems"]
        ('in/a', 'in/b')
        """
        for name, each in self.table.items():
            if name != "sets" and isinstance(each, Mapping) and FILES_OF_SETS & each.keys():
                below = f"[sets.{name}]" if is_toml(self.name) else f'{{"sets": {{"{name}": {{…}}}}}}'
                raise InputError(f"{self.name}: unknown key {quoted(name)}: if it is a test set, write {below}")
            if name == "margin":
                raise InputError(f"{self.name}: expected test sets, got margins: for those of a gate write --config")
            if name in FILES_OF_SETS:
                below = "[sets.NAME]" if is_toml(self.name) else f'{{"sets": {{"NAME": {{"{name}": …}}}}}}'
                where = f"write it below 'sets' and a name, as in {below}"
                raise InputError(f"{self.name}: {quoted(name)} is a key of a test set: {where}")
        check_keys(self.name, self.table, ["sets"])
        if "sets" not in self.table:
            raise InputError(
                f"{self.name}: the key 'sets' is missing: expected an object with a test set for each name"
            )
        sets = table_of(f"{self.name}, sets", self.table["sets"])
        if not sets:
            raise InputError(f"{self.name} names no test sets: expected at least one in 'sets'")
        if "" in sets:
            raise InputError(f"{self.name}, sets: expected a name for each test set, got an empty one")
        for name in reserved:
            if name in sets:
                raise InputError(f"{self.name}, sets: a test set cannot be called {quoted(name)}: choose another name")
        return {
            name: KeyReader(f"{self.name}, test set {quoted(name)}", self).record(record, each)
            for name, each in sets.items()
        }


def _parsed(path: str, text: str, expected: str) -> Any:
    """The content of a manifest as Python objects. Its keys must differ: of two test sets, one would be lost."""
    name = display_name(path)
    if not is_toml(path):
        twice = "the key {} occurs twice in one object: use different names"
        hint = f"; expected {expected}: TOML if the name ends in .toml, else JSON"
        return unique_json(text, name, expected, twice, hint)
    from ..toml import loads

    try:
        if not LONG_KEY.search(text):
            return loads(text)
    except RecursionError:
        pass
    except ValueError as error:
        raise InputError(f"{name} is not valid TOML: {error}") from None
    raise InputError(f"{name} is nested too deeply for {expected}")


def table_of(where: str, value: Any) -> dict[str, Any]:
    """The value as an object, or :class:`InputError`."""
    if not isinstance(value, dict):
        raise InputError(f"{where}: expected an object (a table in TOML), got {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    """A value of another kind than expected, as it is written in a file."""
    if isinstance(value, date | time):  # TOML has dates, times, and a date with a time
        return f"the {'time' if isinstance(value, time) else 'date'} {value}"
    return f"the boolean {str(value).lower()}" if isinstance(value, bool) else quoted(value)


# Keys by which a test set is recognized that is not among 'sets'.
FILES_OF_SETS = {"references", "systems", "scores", "counts"}
# More keys are not listed where one of them is like an unknown one.
MOST_KEYS = 24
# Keys that are called like the flags of the same meaning.
LIKE_FLAGS = {"ref": "references", "refs": "references", "reference": "references", "docs": "documents"}


def check_keys(where: str, table: Mapping[str, Any], known: Collection[str], options: Collection[str] = ()) -> None:
    """Raise :class:`InputError` for a key that is neither known nor one of the many options, with the nearest one."""
    every = [*known, *options]
    for key in table:
        if key not in every:
            meant = LIKE_FLAGS.get(key)
            if meant in known:
                raise InputError(f"{where}: unknown key {quoted(key)}: use {quoted(meant)}")
            near = nearest(key, every)
            if near and len(every) > MOST_KEYS:
                raise InputError(f"{where}: unknown key {quoted(key)}: did you mean {quoted(near[0])}?")
            own = table[key]
            if isinstance(own, dict) and own and own.keys() <= {*known}:
                raise InputError(f"{where}: unknown key {quoted(key)}: write what is below it without {quoted(key)}")
            more = ", and options of metrics" if options else ""
            raise InputError(f"{where}: {unknown_name('key', key, known)}{more}")


@dataclass(frozen=True)
class KeyReader:
    """Reads the values of keys as the types of fields say, and names the key and ``where`` it stands in errors."""

    where: str
    manifest: Manifest

    def record(self, record: Any, value: Any, *, nested: bool = False) -> dict[str, Any]:
        """The values of the fields of a record that are keys of an object, and the options of metrics in it."""
        kinds = {each.name: each.type for each in attrs.fields(record) if NO_KEY not in get_args(each.type)}
        options = {} if nested else self.manifest.options
        table = table_of(self.where, value)
        check_keys(self.where, table, kinds, options)
        found = {name: self.value(name, kind, table[name]) for name, kind in kinds.items() if name in table}
        if nested:
            return found
        own = {
            name: self.path(name, table[name]) if is_path else table[name]
            for name, is_path in options.items()
            if name in table
        }
        return {**found, "metric_options": own}

    def value(self, key: str, kind: Any, value: Any) -> Any:
        """A value of a type."""
        if get_origin(kind) is Annotated:
            kind, *traits = get_args(kind)
            if FILE in traits and kind is str:
                return self.path(key, value)
            only = next((trait.only for trait in traits if isinstance(trait, Reads)), None)
            if only is not None and not isinstance(value, dict):  # a value without a key, as on the command line
                value = {only: value}
        members = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
        kind = next((each for each in members if (get_origin(each) is Mapping) == isinstance(value, dict)), members[0])
        if get_origin(kind) is Annotated:
            return self.value(key, kind, value)
        if get_origin(kind) is Mapping:
            return self.mapping(key, kind, value, may_be_empty=len(members) == 1)
        if get_origin(kind) is tuple:
            others = (
                ["an object with one for each system"] if any(get_origin(each) is Mapping for each in members) else []
            )
            return self.several(key, get_args(kind)[0], value, either(["a string", "a list of strings", *others]))
        if float in members:
            expected = "a finite number" if isinstance(value, float) else "a number or a string"
            metric = next(filter(is_metric, value), None) if isinstance(value, dict) else None
            if metric is not None:  # of the test set that the key ends with
                expected += f' (if it is of a test set, with the key "{key.rpartition(", ")[2]}/{metric}")'
            return float(value) if is_finite(value) else self.string(key, value, expected)
        if attrs.has(kind):
            where = f"{self.where}, {key}"
            return kind(**KeyReader(where, self.manifest).record(kind, value, nested=True))
        if kind is not int:
            return self.string(key, value)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self.fail(key, "a whole number from 0", value)
        return value

    def mapping(self, key: str, kind: Any, value: Any, may_be_empty: bool) -> dict[str, Any]:
        """An object whose values have a type."""
        names, inner = get_args(kind)
        table = table_of(f"{self.where}, {key}", value)
        if get_origin(names) is Literal:
            check_keys(f"{self.where}, {key}", table, get_args(names))
        if not table and not may_be_empty:
            raise self.fail(key, "the file of at least one system", value)
        return {name: self.value(f"{key}, {name}" if name else key, inner, each) for name, each in table.items()}

    def several(self, key: str, kind: Any, value: Any, expected: str) -> tuple[Any, ...]:
        """One value, or a list of values."""
        values = value if isinstance(value, list) else [value]
        if kind is float:
            for each in values:
                if not is_finite(each):
                    raise self.fail(key, "a list of finite numbers, one for each run", each)
            return tuple(map(float, values))
        if not values or not all(isinstance(each, str) and each for each in values):
            raise self.fail(key, expected, value)
        return tuple(self.value(key, kind, each) for each in values)

    def fail(self, key: str, expected: str, value: Any) -> InputError:
        """The error for a value of another kind than expected."""
        return InputError(f"{self.where}, {key}: expected {expected}, got {_shown(value)}")

    def string(self, key: str, value: Any, expected: str = "a string") -> str:
        """A string that is not empty."""
        if not isinstance(value, str) or not value:
            raise self.fail(key, expected, value)
        return value

    def path(self, key: str, value: Any) -> str:
        """A path, from the current folder."""
        path = self.string(key, value)
        return path if path == STDIN or path.startswith(f"{STDIN}#") else str(self.manifest.folder / path)
