"""The references that a metric caches, as texts instead of sacreBLEU's dictionaries of n-grams."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from sacrebleu.metrics.base import Metric

Columns: TypeAlias = "list[list[str | None]]"
Options: TypeAlias = "tuple[tuple[str, Any], ...]"
Info: TypeAlias = "dict[str, Any]"


class Reading(NamedTuple):
    """How a metric preprocesses a line, if reshuffle's native metric can do the same.

    If ``lowercase`` is set, Python lowercases the line. Then the native metric preprocesses it with ``options``.
    """

    lowercase: bool
    options: Options


@dataclass(eq=False, repr=False)
class ReferenceCache(Sequence[Info]):
    """The references of a metric, which replace the list of dictionaries in sacreBLEU's ``_ref_cache``.

    As a sequence, it has the same dictionaries, one for each segment. sacreBLEU's own methods compute them when they
    are first read, that is if a caller reads them or sacreBLEU itself counts.

    Parameters
    ----------
    columns : columns of S references each
        None is a missing reference. The lines are preprocessed if ``reading`` is None.
    numbers : int or list of S ints
        The number of references of each segment, or a single number if no reference is missing.
    reading : Reading or None
        How the metric preprocessed lines when the references were cached. None if its own method had to do it.
    shape : Options
        The other options that determine the counts, such as the longest n-gram.
    owner : sacreBLEU metric
        A copy of the metric, with the options it had when the references were cached.
    info : callable
        Computes the dictionary of a segment from ``owner`` and the lines of the segment.
    is_read : bool
        Whether a caller has read the dictionaries. Then only sacreBLEU's own methods may count.
    """

    columns: Columns
    numbers: int | list[int]
    reading: Reading | None
    shape: Options
    owner: Any
    info: Callable[[Any, list[str], bool], Info]
    _infos: list[Info] | None = None
    is_read: bool = False

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    def __iter__(self) -> Iterator[Info]:
        # sacreBLEU itself, which iterates when it counts, changes nothing.
        self.is_read |= sys._getframe(1).f_globals.get("__name__") != Metric.__module__
        return iter(self._all())

    def __getitem__(self, index: Any) -> Any:
        self.is_read = True
        return self._all()[index]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} segments>"

    def __reduce__(self) -> tuple[Any, ...]:
        infos = self._infos if self.is_read else None
        arguments = (self.columns, self.numbers, self.reading, self.shape, self.owner, self.info, infos, self.is_read)
        return type(self), arguments

    def _all(self) -> list[Info]:
        if self._infos is None:
            self._infos = [
                self.info(self.owner, [line for line in lines if line is not None], self.reading is None)
                for lines in zip(*self.columns, strict=True)
            ]
        return self._infos

    def first(self, n: int) -> tuple[Columns, int | list[int]]:
        """The columns and numbers of references of the first n segments."""
        if n >= len(self):
            return self.columns, self.numbers
        numbers = self.numbers if isinstance(self.numbers, int) else self.numbers[:n]
        return [column[:n] for column in self.columns], numbers
