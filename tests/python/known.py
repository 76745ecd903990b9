"""Values that may be missing, by their types, and ends of intervals."""

from typing import Any, TypeVar

__all__ = ["ends", "known"]

T = TypeVar("T")


def known(value: T | None) -> T:
    """The value, which must not be None."""
    assert value is not None
    return value


def ends(record: Any) -> tuple[float, float]:
    """The ends of the interval of a record, which must have one."""
    interval = known(record.confidence_interval)
    return interval.low, interval.high
