"""The fixture ``not_worse`` for pytest, which loads this module if reshuffle is installed.

It imports nothing of reshuffle until a test uses the fixture.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from reshuffle import Gate

__all__: list[str] = []


@pytest.fixture
def not_worse() -> Callable[..., Gate]:
    """Fails unless new outputs are allowed: ``not_worse(base, new, margin=0.5)``.

    ``base`` and ``new`` are scores of segments, such as accuracies; with ``references``, they are texts. If the gate
    is inconclusive the test fails, too; with ``inconclusive="skip"`` it is skipped. Other arguments are those of
    :func:`reshuffle.gate`. Returns its result.
    """
    return _not_worse


def _not_worse(
    base: Sequence[Any],
    new: Sequence[Any],
    *,
    references: Any = None,
    metrics: Any = "bleu",
    higher_is_better: bool = True,
    inconclusive: str = "fail",
    **options: Any,
) -> Gate:
    __tracebackhide__ = True
    from reshuffle import InputError, SegmentScores, gate

    if inconclusive not in ("fail", "skip"):
        raise InputError(f"inconclusive must be 'fail' or 'skip', got {inconclusive!r}")
    systems: Any = {"base": base, "new": new}
    try:
        if references is None:
            metrics, systems = SegmentScores("score", systems, higher_is_better), None
        result = gate(references, systems, metrics, **options)
    except InputError as error:
        raise error.with_traceback(None) from None
    except TypeError as error:
        if not str(error).startswith("gate() "):
            raise
        raise error.with_traceback(None) from None  # an argument that gate does not have
    if result.verdict == "inconclusive" and inconclusive == "skip":
        pytest.skip(f"{result}")
    if not result.allowed:
        pytest.fail(f"{result}", pytrace=False)
    return result
