"""Docstrings of records from those of their fields.

The fields of a record have docstrings of their own: string literals after them, which editors show and Python ignores.
:func:`documented` adds them to what ``help`` shows. The JSON Schemas and docs/json.md have them from :func:`fields_of`,
and the help of commands has those of options from :func:`own_texts`.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import groupby
from typing import Any, NamedTuple, TypeVar, get_args, overload

from typing_extensions import dataclass_transform

from .advice import advised

T = TypeVar("T")

WIDTH = 120
# The most items of a tuple in a repr.
MOST_ITEMS = 12
# A class, or a field with the docstring after it. Further lines of the field are indented, or begin with a bracket.
CLASS_OR_FIELD = re.compile(r'^ *class (\w+)|^( *)(\w+): .*\n(?:\2(?: |[])}]).*\n)*\2(r?"""[\s\S]*?""")', re.MULTILINE)
# What types of this package stand for.
ALIASES = {
    "Any": "object",
    "Flag": "bool, or (batch,) ndarray of bool",
    "OptionalReal": "float, or (batch,) ndarray of float, or None",
    "OptionalText": "str, or (batch,) ndarray of str, or None",
    "OptionalWhole": "int, or (batch,) ndarray of int, or None",
    "Real": "float, or (batch,) ndarray of float",
    "Whole": "int, or (batch,) ndarray of int",
}


class Field(NamedTuple):
    """The type of a field in words, and its docstring, which is empty if the name says it all."""

    kind: str
    about: str


def documented(record: type[T]) -> type[T]:
    """Let the docstring of a record end with its fields. It is made when it is asked for, from the source."""
    record.__doc__ = _Docstring(record.__doc__ or "")  # type: ignore[assignment]
    return record


def listing(kind: Any) -> Callable[[T], T]:
    """Let ``{names}`` in the docstring of a function stand for the names of a ``Literal``."""
    names = textwrap.wrap(", ".join(get_args(kind)), WIDTH - 9, break_on_hyphens=False)

    def decorate(function: T) -> T:
        function.__doc__ = (function.__doc__ or "").replace("{names}", "\n        ".join(names))
        return function

    return decorate


def _with_advice(record: type[T]) -> type[T]:
    if not hasattr(record, "__getattr__"):
        record.__getattr__ = advised  # type: ignore[attr-defined]
    return record


@overload
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(kind: type[T], /) -> type[T]: ...


@overload
def record(*, slots: bool = True, **options: bool) -> Callable[[type[T]], type[T]]: ...


def record(kind: type[T] | None = None, /, *, slots: bool = True, **options: bool) -> Any:
    """A frozen dataclass with slots and the docstring of :func:`documented`. The options are those of ``dataclass``.

    Errors for attributes that it lacks have the advice of advice.toml. Its repr has six digits of numbers.
    """

    def made(each: type[Any]) -> type[Any]:
        own = "__repr__" in vars(each) or not options.get("repr", True)
        found = dataclass(frozen=True, slots=slots, **{**options, "repr": False})(each)
        if not own:
            found.__repr__ = _repr  # type: ignore[assignment]
        return _with_advice(documented(found))

    return made if kind is None else made(kind)


def _repr(record: Any) -> str:
    shown = (f"{each.name}={_short(getattr(record, each.name))}" for each in fields(record) if each.repr)
    return f"{type(record).__qualname__}({', '.join(shown)})"


def _short(value: Any) -> str:
    """The repr of a value, with six digits of the numbers in it, and the first items of long tuples.

    >>> _short({"p_1": (96.90173745173745, 3)})
    "{'p_1': (96.9017, 3)}"
    """
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key!r}: {_short(each)}' for key, each in value.items())}}}"
    if isinstance(value, tuple) and type(value) is tuple:
        more = [f"… {len(value):,} in all"] if len(value) > MOST_ITEMS else []
        return f"({', '.join([*map(_short, value[:MOST_ITEMS]), *more])}{',' if len(value) == 1 else ''})"
    return repr(value)


class _Docstring:
    """The docstring of a class as a descriptor."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __get__(self, instance: object, owner: type[Any]) -> str:
        return _with_fields(self.text, fields_of(owner))


def fields_of(record: type[Any]) -> dict[str, Field]:
    """The fields of a record by name; none where Python has no source.

    >>> from reshuffle import ConfidenceInterval
    >>> fields_of(ConfidenceInterval)["confidence_level"]
    Field(kind='float', about='For example 0.95.')
    """
    found: dict[str, Field] = {}
    for each in reversed(inspect.getmro(record)):
        if "__annotations__" in vars(each):
            found |= _own_fields(each)
    return found


def _own_fields(record: type[Any]) -> dict[str, Field]:
    """The fields that a class declares, without those of its bases."""
    try:
        source = textwrap.dedent(inspect.getsource(record))
    except OSError:
        return {}
    (tree,) = ast.parse(source).body
    assert isinstance(tree, ast.ClassDef)
    texts = own_texts(record)
    return {
        node.target.id: Field(_in_words(node.annotation), texts.get(node.target.id, ""))
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        if not ast.unparse(node.annotation).startswith("ClassVar")
    }


def own_texts(record: type[Any]) -> Mapping[str, str]:
    """The docstrings of the fields that a class declares."""
    literals = _literals_in(record.__module__).get(record.__name__, {})
    return {name: inspect.cleandoc(ast.literal_eval(literal)) for name, literal in literals.items()}


@cache
def _literals_in(module: str) -> Mapping[str, Mapping[str, str]]:
    """The docstrings of fields by class, as in the source. ``--help`` needs them, and a full parse would be slow."""
    try:
        source = inspect.getsource(sys.modules[module])
    except (OSError, TypeError):  # TypeError: the module has no file, as in a console
        return {}
    found: dict[str, dict[str, str]] = {}
    for name, _, attribute, literal in CLASS_OR_FIELD.findall(source):
        if name:
            fields = found[name] = {}
        else:
            fields[attribute] = literal
    return found


def _in_words(node: ast.expr) -> str:
    """A type as docstrings have it.

    >>> _in_words(ast.parse("Mapping[str, tuple[float, ...]] | None", mode="eval").body)
    'mapping of str to tuple of float, or None'
    """
    if isinstance(node, ast.BinOp):
        kind, other = _in_words(node.left), _in_words(node.right)
        return f"{kind}, or {other}" if " of " in kind else f"{kind} or {other}"
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _in_words(ast.parse(node.value, mode="eval").body)
    if not isinstance(node, ast.Subscript):
        name = ast.unparse(node).rpartition(".")[2]
        return ALIASES.get(name, name)
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    items = [_in_words(each) for each in inner if ast.unparse(each) != "..."]
    outer = ast.unparse(node.value).rpartition(".")[2]
    if outer == "Mapping":
        return f"mapping of {items[0]} to {items[1]}"
    if outer == "Literal":
        return f"{{{', '.join(items)}}}"
    if outer == "tuple" and len(items) == len(inner):
        return f"({', '.join(items)})"
    return f"{'ndarray' if outer == 'NDArray' else outer.lower()} of {items[0]}"


def _with_fields(text: str, fields: dict[str, Field]) -> str:
    """A docstring with a section on the fields before its other sections."""
    if not fields:
        return text
    lines = ["Attributes", "----------"]
    for _, group in groupby(fields.items(), key=lambda item: item[1].about or item[1].kind):
        names, (field, *_) = zip(*group, strict=True)
        lines += [f"{', '.join(names)} : {field.kind}", *textwrap.indent(field.about, "    ").splitlines()]
    before, *after = re.split(r"\n\n(?=\w+\n---)", inspect.cleandoc(text), maxsplit=1)
    return "\n\n".join([before.rstrip(), "\n".join(lines), *after])
