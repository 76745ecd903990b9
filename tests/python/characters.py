"""All characters, and those at the boundaries of tables, which stand for the others in the default tier."""

import sys
import unicodedata

import pytest
from sacrebleu.tokenizers.tokenizer_zh import _UCODE_RANGES

__all__ = ["BOUNDARIES", "CHARACTERS", "EVERY"]

EVERY = [chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000]


def _boundaries() -> list[str]:
    """The characters where a class of Unicode, a block or a range of the tokenizer ``zh`` begins or ends.

    Blocks have 16 characters, but 256 within letters without case, such as Chinese ones: most characters are of these.
    """
    of_zh = {ord(c) + beside for ends in _UCODE_RANGES for end in ends for c in end for beside in (-1, 0, 1)}
    classes = ["", *map(unicodedata.category, EVERY), ""]
    return [
        c
        for c, before, own, after in zip(EVERY, classes, classes[1:], classes[2:], strict=False)
        if not before == own == after or ord(c) in of_zh or (own not in ("Cn", "Co") and _ends_block(ord(c), own))
    ]


def _ends_block(code: int, own: str) -> bool:
    size = 256 if own == "Lo" else 16
    return code % size in (0, size - 1)


BOUNDARIES = _boundaries()
CHARACTERS = pytest.mark.parametrize(
    "characters", [BOUNDARIES, pytest.param(EVERY, marks=pytest.mark.slow)], ids=["boundaries", "every"]
)
