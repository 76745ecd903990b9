"""Values that may be missing, by their types."""

from typing import TypeVar

__all__ = ["known"]

T = TypeVar("T")


def known(value: T | None) -> T:
    """The value, which must not be None."""
    assert value is not None
    return value
