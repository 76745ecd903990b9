"""HTML reports: their text, and the contrast of their colours."""

import re
from collections.abc import Sequence

__all__ = ["contrast", "luminance", "markup"]


def markup(page: str) -> str:
    """A page without the contents of its scripts, such as its data, and its style sheet."""
    return re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)


def luminance(colour: Sequence[float]) -> float:
    """The relative luminance of WCAG 2 of red, green and blue from 0 to 255."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (x / 255 for x in colour)]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: Sequence[float], other: Sequence[float]) -> float:
    """The ratio of contrast of WCAG 2."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)
