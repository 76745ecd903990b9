"""Attributes that are computed on first access, without a lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

__all__ = ["lazy"]

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801
    """``functools.cached_property`` without its lock.

    Before Python 3.12 the standard library holds one lock for *all* instances while one computes. Long calls run inside
    these attributes, so a short call in another thread would wait for a long one, and a child made by ``fork`` in the
    meantime would wait forever. Here two threads that access the attribute at once may both compute it; the value is a
    pure function of the instance, and both get the one that was stored first.

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
        # Without __set__ this is no data descriptor: from now on the instance's own attribute is found first.
        value: T = vars(instance).setdefault(self._name, self.__wrapped__(instance))
        return value
