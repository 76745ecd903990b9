"""Advice for names that do not exist, by what they mean, from ``advice.toml``."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def _table() -> dict[str, dict[str, str]]:
    from pathlib import Path  # every script imports this module, and few need the table

    from .toml import loads

    read = loads((Path(__file__).parent / "advice.toml").read_text("utf-8"))
    return {
        owner: {name: text.replace("{name}", name) for text, names in group.items() for name in names}
        for owner, group in read.items()
    }


def advice(name: str, *owners: str) -> str:
    """The end of an error for an unknown name: what to use instead, by the first of the owners that has advice.

    >>> advice("df", "Comparison", "Reported"), advice("colour", "Comparison", "Reported")
    (': use to_pandas()', '')
    """
    if name.startswith("_"):
        return ""
    return next((f": {_table()[owner][name]}" for owner in owners if name in _table().get(owner, {})), "")


def meant(argument: str) -> str | None:
    """What an argument that other packages have is called here."""
    return _table()["argument"].get(argument)


def advised(record: Any, name: str) -> Any:
    """``__getattr__`` of records: Python's own error, with advice if there is some."""
    try:
        return object.__getattribute__(record, name)
    except AttributeError as error:
        found = advice(name, *(kind.__name__ for kind in type(record).__mro__))
        if not found:
            raise
        raise AttributeError(f"{error}{found}") from None
