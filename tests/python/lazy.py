"""Values by name that are computed when a test first asks for them, not when pytest collects the module."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

__all__ = ["Lazy"]

T = TypeVar("T")


class Lazy(Mapping[str, T]):
    """A mapping whose values are the results of functions without arguments, each called once.

    Every process of pytest-xdist imports every module, also those whose tests another one runs.
    """

    def __init__(self, makers: Mapping[str, Callable[[], T]]) -> None:
        self.makers = makers
        self.made: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self.made:
            self.made[name] = self.makers[name]()
        return self.made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.makers)

    def __len__(self) -> int:
        return len(self.makers)
