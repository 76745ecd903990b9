"""``lazy``: a decorator for attributes that are computed on first access, without a lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

__all__ = ["lazy"]

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
        value: T = vars(instance).setdefault(self._name, self.__wrapped__(instance))
        return value
