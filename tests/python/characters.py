"""All characters, and those at the boundaries of tables, which stand for the others in the default tier."""

import sys
import unicodedata
from functools import cache

import pytest

__all__ = ["CHARACTERS", "characters", "every"]


@cache
def every() -> list[str]:
    return [chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000]


@cache
def boundaries() -> list[str]:
    """The characters where a class of Unicode, a block or a range of the tokenizer ``zh`` begins or ends.

    Blocks have 16 characters, but 256 within letters without case, such as Chinese ones: most characters are of these.
    """
    from sacrebleu.tokenizers.tokenizer_zh import _UCODE_RANGES

    of_zh = {ord(c) + beside for ends in _UCODE_RANGES for end in ends for c in end for beside in (-1, 0, 1)}
    classes = ["", *map(unicodedata.category, every()), ""]
    return [
        c
        for c, before, own, after in zip(every(), classes, classes[1:], classes[2:], strict=False)
        if not before == own == after or ord(c) in of_zh or (own not in ("Cn", "Co") and _ends_block(ord(c), own))
    ]


def _ends_block(code: int, own: str) -> bool:
    size = 256 if own == "Lo" else 16
    return code % size in (0, size - 1)


@pytest.fixture(scope="session")
def characters(request: pytest.FixtureRequest) -> list[str]:
    """Made when a test needs them, which takes half a second."""
    return {"boundaries": boundaries, "every": every}[request.param]()


CHARACTERS = pytest.mark.parametrize(
    "characters", ["boundaries", pytest.param("every", marks=pytest.mark.slow)], indirect=True
)
