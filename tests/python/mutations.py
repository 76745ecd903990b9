"""Documents of results with one value changed, and what may come of them."""

import json
import random
from collections.abc import Iterator
from typing import Any

from reshuffle import InputError, read_json
from reshuffle.types import Format

# What a value becomes. The last one is left out of its object or list.
LEFT_OUT = object()
VALUES = [None, "x", "", -1, 0, 2.5, 10**400, 1e308, "NaN", "Infinity", "\ud800", True, [], [None], {}, LEFT_OUT]
FORMATS: tuple[Format, ...] = ("text", "csv", "json", "markdown", "latex")


def places(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The keys and indices that lead to each value in a document."""
    if place:
        yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*place, key))


def mutated(written: str, n: int, seed: int = 1) -> Iterator[tuple[str, str]]:
    """n documents with a changed value, and what was changed. Each kind of place is equally likely."""
    rng = random.Random(seed)
    kinds: dict[tuple[str, ...], list[tuple[str | int, ...]]] = {}
    for place in places(json.loads(written)):
        kinds.setdefault(tuple("#" if isinstance(key, int) else key for key in place), []).append(place)
    for _ in range(n):
        document = inner = json.loads(written)
        *path, last = rng.choice(rng.choice(list(kinds.values())))
        value = rng.choice(VALUES)
        for key in path:
            inner = inner[key]
        if value is LEFT_OUT:
            del inner[last]
        else:
            inner[last] = value
        yield json.dumps(document), f"{[*path, last]} = {'nothing' if value is LEFT_OUT else repr(value)[:20]}"


def crashes(written: str, n: int) -> list[str]:
    """The mutations that end in another error than :class:`InputError`, when they are read or shown."""
    found = []
    for text, what in mutated(written, n):
        try:
            result = read_json(text)
            repr(result)
            for fmt in FORMATS:
                result.render(fmt)  # flips have fewer
        except InputError:
            continue
        except Exception as error:
            found.append(f"{what}: {error!r}")
    return found
