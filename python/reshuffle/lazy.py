"""``lazy``: a decorator for attributes that are computed on first access, without a lock.

``lazy_names`` does the same for the public names of a package.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, Generic, NoReturn, TypeVar, overload

from .advice import advice

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801
    """``functools.cached_property`` without its lock.

    Before Python 3.12, the standard library holds one lock for *all* instances while an attribute is computed. Some of
    these attributes take long to compute, so a short call in another thread would wait for a long one, and a process
    that was forked in the meantime would wait forever. Here two threads that access the attribute at the same time may
    both compute it. The value must be a pure function of the instance; both threads get the one that is stored first.

    >>> class Circle:
    ...     def __init__(self, radius):
    ...         self.radius = radius
    ...     @lazy
    ...     def area(self):
    ...         return 3 * self.radius**2
    >>> circle = Circle(2)
    >>> circle.area, vars(circle)
    (12, {'radius': 2, 'area': 12})
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.__doc__ = function.__doc__
        self.__wrapped__ = function

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> lazy[T]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: object | None, owner: type | None = None) -> T | lazy[T]:
        if instance is None:
            return self
        # A descriptor without __set__ is looked up after the instance's own attributes, so this runs only once.
        value: T = instance.__dict__.setdefault(self._name, self.__wrapped__(instance))
        return value


def lazy_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package whose public names its stub declares.

    The stub, ``__init__.pyi`` beside ``file``, has an import statement for each name, for type checkers:
    ``from .module import name as name``; other forms are not found. The module is imported when the name is first used,
    so that short scripts start quickly. Names in ``from . import`` are modules, and not in ``__all__``. A function that
    has the name of its module, such as ``reshuffle.compare``, stays when an import would set it to the module.
    """
    with open(f"{file.removesuffix('c')}i", encoding="utf-8") as stub:  # without sources, the file is a .pyc
        text = stub.read()
    imports = re.findall(r"^from (\.\S*) import \(?\s*(\w+) as \2\b", text, re.MULTILINE)
    module_of = {name: module for module, name in imports if module != "."}
    modules = {name for module, name in imports if module == "."}
    public = sorted([*module_of, *re.findall(r"^(?!__all__)(\w+): ", text, re.MULTILINE)])

    class Package(ModuleType):
        def __setattr__(self, name: str, value: object) -> None:
            if name in module_of and isinstance(value, ModuleType):
                if module_of[name] != f".{name}":  # the name of a function elsewhere: found when it is used
                    return
                value = getattr(value, name)
            super().__setattr__(name, value)

        def __call__(self, *args: object, **options: object) -> NoReturn:
            functions = [name for name in public if name[0].islower()]
            raise TypeError(f"{package} is a package, not a function: call one of {', '.join(functions)}")

    def find(name: str) -> Any:
        if name in module_of:
            value = getattr(import_module(module_of[name], package), name)
        elif name in modules:
            value = import_module(f".{name}", package)
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}{advice(name, package)}")
        vars(sys.modules[package])[name] = value
        return value

    def names() -> list[str]:
        return sorted({*public, *modules, *(name for name in vars(sys.modules[package]) if name.startswith("__"))})

    sys.modules[package].__class__ = Package
    return find, names, public
