"""Files with the weights of features."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..data.files import MAX_INPUT, at_line, decoded, display_name, read_bytes, split_lines, unique_json
from ..data.formats.base import is_finite
from ..documented import record
from ..errors import InputError, listed, quoted


@record(eq=False)
class Weights:
    """A weight for each feature."""

    dense: NDArray[np.float64]
    """Shape (F,)."""
    sparse: NDArray[np.float64]
    """The weight of each sparse feature; 0 where the file has none."""
    low: NDArray[np.float64] | None = None
    """Shape (F,). Between which values random weights are drawn, if the file says so."""
    high: NDArray[np.float64] | None = None
    """Shape (F,)."""


def read_weights(
    path: str | os.PathLike[str],
    names: Sequence[str],
    sparse_names: Sequence[str] = (),
    *,
    max_input: int = MAX_INPUT,
) -> Weights:
    """Read the weights of features.

    Parameters
    ----------
    path : str
        One of these, found from the first line that is neither empty nor a comment (``#``):

        - lines of F numbers, in the order of the features: the weights, and optionally the lower and the upper limits
          of random weights, as in ``init.opt`` of Moses' mert
        - ``name value``, ``name=value`` or ``name= value …``, as in files of decoders; in ``moses.ini``, the lines of
          the section ``[weight]``
        - a JSON object with the weight of each name
    names, sparse_names : sequence of str
        The features of the lists. Other names in the file are ignored.

    Raises
    ------
    InputError
        If the file cannot be read or violates its format, with the line; if it lacks a dense feature, with its name; if
        a weight is not a finite number, or a lower limit is above the upper one.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("weights.txt").write_text("lm= 0.5\\ntm= 0.2 -0.3\\n")
    >>> read_weights("weights.txt", ["tm_0", "tm_1", "lm"]).dense
    array([ 0.2, -0.3,  0.5])
    >>> Path("weights.txt").unlink()
    """
    file, lines = _lines(path, max_input)
    found = _by_name(lines, file)
    if found is None:
        return _in_order(lines, names, sparse_names, file)
    return weights_by_name(found, names, sparse_names, file=file)


def read_named_weights(
    path: str | os.PathLike[str], names: Sequence[str] | None = None, *, max_input: int = MAX_INPUT
) -> dict[str, float]:
    """Read the weights of all features in a file that :func:`read_weights` reads, by name.

    Parameters
    ----------
    path : str
    names : sequence of str, optional
        The dense features, in the order of a file without names. They need a weight.

    Raises
    ------
    InputError
        As :func:`read_weights`; if neither the file nor ``names`` name the features.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("weights.txt").write_text("lm 0.5\\nother 1\\n")
    >>> read_named_weights("weights.txt", ["lm"])
    {'lm': 0.5, 'other': 1.0}
    >>> Path("weights.txt").unlink()
    """
    file, lines = _lines(path, max_input)
    found = _by_name(lines, file)
    if found is not None:
        weights_by_name(found, names or (), file=file)
        return {name: float(weight) for name, weight in found.items()}
    if names is None:
        raise InputError(
            f"{file}: expected weights with names, such as `name value`: without lists, features have no order"
        )
    return dict(zip(names, map(float, _in_order(lines, names, (), file).dense), strict=True))


def _lines(path: str | os.PathLike[str], max_input: int) -> tuple[str, list[tuple[int, str]]]:
    """What messages call a file, and its lines with their numbers, without empty ones and comments."""
    path = os.fspath(path)
    file = display_name(path)
    text = decoded(read_bytes(path, "the weights of features", max_input), file)
    lines = [
        (number, line.strip())
        for number, line in enumerate(split_lines(text), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise InputError(f"{file}: expected the weights of features, got no line with weights")
    return file, lines


def _by_name(lines: Sequence[tuple[int, str]], file: str) -> dict[str, float] | None:
    """The weights of a file with names; None for one without."""
    first = lines[0][1]
    if first.startswith("{"):
        return _from_json("\n".join(line for _, line in lines), file)
    if _is_number(first.split()[0]):
        return None
    if any(line.startswith("[") for _, line in lines):
        return _named(_section(lines), file)
    return _named(lines, file)


def weights_by_name(
    weights: Mapping[str, float], names: Sequence[str], sparse_names: Sequence[str] = (), *, file: str = "weights"
) -> Weights:
    """Put weights into the order of the features. Sparse features without a weight have 0.

    Raises :class:`InputError` if a dense feature has no weight, or a weight is not a finite number.

    >>> weights_by_name({"lm": 1, "s_a": 2}, ["lm"], ["s_b", "s_a"]).sparse
    array([0., 2.])
    """
    missing = [name for name in names if name not in weights]
    if missing:
        raise InputError(
            f"{file}: no weight for the feature {quoted(missing[0])}; it has weights for {listed(weights) or 'none'}"
        )
    for name, weight in weights.items():
        if not is_finite(weight):
            raise InputError(f"{file}: expected a finite number as the weight of {quoted(name)}, got {quoted(weight)}")
    dense = np.array([weights[name] for name in names], dtype=np.float64)
    return Weights(dense, np.array([weights.get(name, 0.0) for name in sparse_names], dtype=np.float64))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text  # which Python takes


def _number(text: str, file: str, line: int) -> float:
    if _is_number(text) and math.isfinite(float(text)):
        return float(text)
    raise at_line(file, line, f"expected a finite number, got {quoted(text)}")


def _in_order(
    lines: Sequence[tuple[int, str]], names: Sequence[str], sparse_names: Sequence[str], file: str
) -> Weights:
    """Weights without names, and limits."""
    if len(lines) not in (1, 3):
        raise InputError(
            f"{file}: expected a line of weights, or three with weights, lower and upper limits, got {len(lines)} lines"
        )
    rows = []
    for line, text in lines:
        row = [_number(token, file, line) for token in text.split()]
        if len(row) != len(names):
            expected = f"expected {len(names)} numbers, for the features {listed(names)}"
            raise at_line(file, line, f"{expected}, got {len(row)}")
        rows.append(np.array(row, dtype=np.float64))
    weights = Weights(rows[0], np.zeros(len(sparse_names)), *rows[1:])
    if len(rows) == 3 and (wrong := np.flatnonzero(rows[1] > rows[2])).size:
        i = int(wrong[0])
        raise InputError(
            f"{file}: the lower limit {rows[1][i]:g} of {quoted(names[i])} is above the upper limit {rows[2][i]:g}"
        )
    return weights


def _from_json(text: str, file: str) -> dict[str, float]:
    found = unique_json(text, file, "weights of features", "a second weight for the feature {}")
    if not isinstance(found, dict):
        raise InputError(f"{file}: expected a JSON object with the weight of each feature")
    return found


def _section(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The lines of the section ``[weight]``."""
    inside = False
    for number, line in lines:
        if line.startswith("["):
            inside = line == "[weight]"
        elif inside:
            yield number, line


def _named(lines: Iterable[tuple[int, str]], file: str) -> dict[str, float]:
    """Weights by name."""
    weights: dict[str, float] = {}
    for number, line in lines:
        for name, value in _of_line(line, file, number):
            if name in weights:
                raise at_line(file, number, f"a second weight for the feature {quoted(name)}")
            weights[name] = value
    return weights


def _of_line(line: str, file: str, number: int) -> list[tuple[str, float]]:
    """The names and weights of a line."""
    tokens = line.split()
    if not tokens[0].endswith(("=", ":")) and "=" not in tokens[0] and len(tokens) == 2:  # name value
        return [(tokens[0], _number(tokens[1], file, number))]
    groups: list[tuple[str, list[float]]] = []
    found: list[tuple[str, float]] = []
    for token in tokens:
        name, equals, value = token.rpartition("=")
        if token.endswith(("=", ":")) and len(token) > 1:
            groups.append((token[:-1], []))
        elif equals and name:
            found.append((name, _number(value, file, number)))
        elif groups:
            groups[-1][1].append(_number(token, file, number))
        else:
            raise at_line(file, number, f"expected weights as `name value` or `name= value …`, got {quoted(line)}")
    for name, values in groups:
        if not values:
            raise at_line(file, number, f"no weight for {quoted(name)}")
        names = [name] if len(values) == 1 else [f"{name}_{i}" for i in range(len(values))]
        found += zip(names, values, strict=True)
    return found
