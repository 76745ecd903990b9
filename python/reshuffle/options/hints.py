"""Errors for arguments that do not exist, which say what may be meant: also of functions without declared options."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Collection
from typing import ParamSpec, TypeVar

from ..advice import advice, meant
from ..errors import listed, meant_argument

P = ParamSpec("P")
T = TypeVar("T")


def meant_here(name: str, known: Collection[str]) -> str | None:
    """What an argument that other packages have is called here, if it is one of those that are known."""
    found = meant(name)
    return found if found and re.split(r"\W", found, maxsplit=1)[0] in known else None


def with_hints(made: type[T]) -> type[T]:
    """A class whose errors for arguments that do not exist say which do, as those of functions."""
    made.__init__ = hinting(made.__init__, made.__name__)  # type: ignore[method-assign]
    return made


def hinting(function: Callable[P, T], called: str | None = None) -> Callable[P, T]:
    """A function or method whose errors for arguments that do not exist say which one may be meant, or name all."""
    declared = inspect.signature(function).parameters
    parameters = [*declared]
    required = [name for name, each in declared.items() if each.default is each.empty and name != "self"]
    known = [name for name in parameters if name != "self"]
    name, owner = called or function.__name__, f"arguments of {function.__qualname__.partition('.')[0]}"

    @functools.wraps(function)
    def public(*args: P.args, **kwargs: P.kwargs) -> T:
        for given in kwargs:
            if given not in known:
                hint = advice(given, owner) or meant_argument(given, known, meant_here(given, known))
                raise TypeError(f"{name}() got an unexpected keyword argument {given!r}{hint}")
        if len(args) > len(parameters):
            n = len(args) - (len(parameters) - len(known))
            raise TypeError(f"{name}() takes only {listed(known)}, got {n} arguments")
        if lacking := [each for each in required if each not in kwargs and each not in parameters[: len(args)]]:
            raise TypeError(f"{name}() lacks {listed(lacking)}: write {name}({', '.join(required)})")
        return function(*args, **kwargs)

    return public
