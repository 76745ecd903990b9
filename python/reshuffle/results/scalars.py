"""Numbers, names and truth values in results, which are arrays in the result of a batch of problems.

Type checkers cannot know which of the two a value is. The type in ``Annotated`` is that of a single test, which
is what is saved.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

Real: TypeAlias = Annotated[Any, float]
OptionalReal: TypeAlias = Annotated[Any, float | None]
Whole: TypeAlias = Annotated[Any, int]
OptionalWhole: TypeAlias = Annotated[Any, int | None]
Flag: TypeAlias = Annotated[Any, bool]
OptionalText: TypeAlias = Annotated[Any, str | None]
