"""What comet-compare prints and writes, in its layout."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

# Of the table; the text about a pair rejects at this level or below it.
LEVEL = 0.05
CORNER = "system_x \\ system_y"
# White space that a table adds to the width of a header.
PADDING = 2
# Of the JSON file.
INDENT = 4
_string = json.encoder.encode_basestring


Results = Sequence[Mapping[str, Any]]


def report(results: Results, systems: Sequence[str]) -> str:
    """The text that comet-compare prints: each pair, then the table of the systems.

    ``results`` are those of :func:`statistical_results`, and ``systems`` the names in the order of the table.

    >>> from reshuffle.compat.comet import statistical_results
    >>> scores = {"a.txt": [0.5, 0.625, 0.75, 0.5], "b.txt": [0.375, 0.5, 0.5, 0.375]}
    >>> print(*report(statistical_results(scores), list(scores)).splitlines()[-4:], sep="\\n")
    system_x \\ system_y    a.txt    b.txt
    ---------------------  -------  -------
    a.txt                           True
    b.txt                  False
    """
    return "".join(map(_pair, results)) + "\n" + _summary(results, systems)


def _pair(result: Mapping[str, Any]) -> str:
    x, y = result["x_name"], result["y_name"]
    lines = ["==========================", f"x_name: {x}", f"y_name: {y}", "", "Bootstrap Resampling Results:"]
    lines += [f"{name}:\t{value:.4f}" for name, value in result["bootstrap_resampling"].items()]
    lines += ["", "Paired T-Test Results:"]
    lines += [f"{name}:\t{value:.4f}" for name, value in result["paired_t-test"].items()]
    if result["paired_t-test"]["p_value"] <= LEVEL:
        x_mean, y_mean = (result["bootstrap_resampling"][name] for name in ("x-mean", "y-mean"))
        better, worse = x if x_mean > y_mean else y, x if x_mean < y_mean else y
        lines += ["Null hypothesis rejected according to t-test.", "Scores differ significantly across samples."]
        lines.append(f"{better} outperforms {worse}.")
    else:
        lines += ["Null hypothesis can't be rejected.", "Both systems have equal averages."]
    return "".join(f"{line}\n" for line in lines)


def _summary(results: Results, systems: Sequence[str]) -> str:
    wins = {}
    for result in results:
        means = result["bootstrap_resampling"]
        significant = result["paired_t-test"]["p_value"] < LEVEL
        x_better = means["x-mean"] > means["y-mean"]
        wins[result["x_name"], result["y_name"]] = significant and x_better
        wins[result["y_name"], result["x_name"]] = significant and not x_better
    header = [CORNER, *systems]
    rows = [[row, *("" if row == column else str(wins[row, column]) for column in systems)] for row in systems]
    lines = [
        "Summary",
        "If system_x is better than system_y then:",
        f"Null hypothesis rejected according to t-test with p_value={LEVEL}.",
        "Scores differ significantly across samples.",
        *_table(header, rows),
    ]
    return "".join(f"{line}\n" for line in lines)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table as tabulate prints it in its format ``simple``."""
    columns = list(zip(*rows, strict=True))
    widths = [max(len(name) + PADDING, *map(len, column)) for name, column in zip(header, columns, strict=True)]
    lines = [header, ["-" * width for width in widths], *rows]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def as_json(value: Any, indent: str = "") -> str:
    """The content of the file of ``--to_json``: the same as from ``json.dumps`` with an indent of 4, but faster.

    >>> print(as_json({"a": ["x", "é"], "b": [0.5, 1.0], "c": []}))
    {
        "a": [
            "x",
            "é"
        ],
        "b": [
            0.5,
            1.0
        ],
        "c": []
    }
    """
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    if not value or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    deeper = indent + " " * INDENT
    separator = f",\n{deeper}"
    kinds = set(map(type, value))
    if isinstance(value, dict):
        inside = separator.join(f"{_string(key)}: {as_json(each, deeper)}" for key, each in value.items())
    elif kinds == {str}:
        inside = separator.join(map(_string, value))
    elif kinds == {float} and all(map(math.isfinite, value)):
        inside = separator.join(map(repr, value))
    else:
        inside = separator.join(as_json(each, deeper) for each in value)
    first, last = "{}" if isinstance(value, dict) else "[]"
    return f"{first}\n{deeper}{inside}\n{indent}{last}"
