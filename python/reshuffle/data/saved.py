"""Reading results that were saved as JSON, or as an HTML report, which embeds the JSON."""

from __future__ import annotations

import json
import os
import re
from typing import IO, Any

from ..errors import InputError, quoted
from ..results.schemas import Result
from .decoding import Mismatch
from .files import at_line, decoded, display_name, read_bytes
from .from_json import DOCTOR, result_from_document

EXPECTED = "the JSON of a result"
EXPECTED_PAGE = "an HTML report of reshuffle"
# The element that holds the JSON. It occurs once, because all other text in the page is escaped.
ELEMENT, END = '<script type="application/json" id="result">', "</script>"
BLANK = "\ufeff \t\r\n"
START = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\{\s*"schema":|<!doctype html|<html)', re.IGNORECASE)


def read_json(source: str | os.PathLike[str] | IO[str] | IO[bytes]) -> Result:
    """Read a result that ``--format json`` or ``render("json")`` wrote.

    Parameters
    ----------
    source : str, path or file
        The name of a file, which may be compressed by gzip, bzip2 or xz; ``-`` is standard input. Or the JSON itself: a
        string that starts with ``{``. Or an open file. An HTML report is also accepted (:func:`read_html`).

    Returns
    -------
    Comparison, SetComparison, StudyResult, Flips or Gate
        Equal (``==``) to the result that was written. It renders the same reports.

    Raises
    ------
    InputError
        If the file cannot be read, is not JSON, has a schema that this version does not know, lacks a key, or has a
        value of the wrong type. The message names the line or the key.

    Notes
    -----
    docs/json.md describes the keys. Cost: linear in the length of the JSON.

    Examples
    --------
    >>> import reshuffle
    >>> ratings = reshuffle.SegmentScores("rating", {"a": [1, 2, 3, 4], "b": [2, 3, 3, 5]})
    >>> comparison = reshuffle.compare(metrics=ratings, test="ar")
    >>> reshuffle.read_json(comparison.render("json")) == comparison
    True
    """
    name, text = _text(source)
    return _result(name, _embedded(text, name) if _is_page(text) else text)


def read_html(source: str | os.PathLike[str] | IO[str] | IO[bytes]) -> Result:
    """Read the result from an HTML report that ``--format html`` or ``render("html")`` wrote.

    Parameters
    ----------
    source : str, path or file
        The name of a file, which may be compressed by gzip, bzip2 or xz; ``-`` is standard input. Or the HTML itself: a
        string that starts with ``<``. Or an open file.

    Returns
    -------
    Comparison, SetComparison, StudyResult, Flips or Gate
        Equal (``==``) to the result that was written. It renders the same reports.

    Raises
    ------
    InputError
        If the file cannot be read, is not such a report, or its JSON has been changed (:func:`read_json`).

    Examples
    --------
    >>> import reshuffle
    >>> ratings = reshuffle.SegmentScores("rating", {"a": [1, 2, 3, 4], "b": [2, 3, 3, 5]})
    >>> comparison = reshuffle.compare(metrics=ratings, test="ar")
    >>> reshuffle.read_html(comparison.render("html")) == comparison
    True
    """
    name, text = _text(source, EXPECTED_PAGE)
    if not _is_page(text):
        got = "JSON: use read_json" if text.lstrip(BLANK).startswith("{") else quoted(text[:40])
        raise InputError(f"{name}: expected {EXPECTED_PAGE}, got {got}")
    return _result(name, _embedded(text, name))


def is_saved(data: bytes) -> bool:
    """Whether a file begins as a result, or as a page, which may have one.

    >>> is_saved(b'{"schema": "reshuffle.gate/1"'), is_saved(b"<!DOCTYPE html>"), is_saved(b'{"a": 1}')
    (True, True, False)
    """
    return START.match(data) is not None


def _is_page(text: str) -> bool:
    return text.lstrip(BLANK).startswith("<")


def _embedded(page: str, name: str) -> str:
    """The JSON in a page."""
    start = page.find(ELEMENT)
    end = page.find(END, start)
    if start < 0 or end < 0:
        raise InputError(
            f"{name}: expected {EXPECTED_PAGE}, got HTML without a whole result: it may be another page, or cut off"
        )
    return page[start + len(ELEMENT) : end]


def _result(name: str, text: str) -> Result:
    try:
        return result_from_document(_parsed(text, name))
    except Mismatch as mismatch:
        place = f", {mismatch.place}" if mismatch.place else ""
        raise InputError("{file}{place}: {problem}", file=name, place=place, problem=mismatch.problem) from None
    except RecursionError:
        raise InputError(f"{name}: expected {EXPECTED}, got one that is nested too deeply") from None


def _text(source: str | os.PathLike[str] | IO[str] | IO[bytes], expected: str = EXPECTED) -> tuple[str, str]:
    """What messages call the source, and its text."""
    if isinstance(source, str) and source.lstrip(BLANK).startswith(("{", "<")):
        return "HTML" if source.lstrip(BLANK).startswith("<") else "JSON", source
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        name = display_name(path)
        return name, decoded(read_bytes(path, expected), name)
    if not hasattr(source, "read"):
        raise InputError(f"expected the name of a file, an open file or a string of JSON, got {quoted(source)}")
    name = str(getattr(source, "name", "JSON"))
    content = source.read()
    return name, content if isinstance(content, str) else decoded(content, name)


def _parsed(text: str, name: str) -> Any:
    try:
        return json.loads(text.removeprefix("\ufeff"), parse_constant=_refused)
    except json.JSONDecodeError as error:
        if not text.removeprefix("\ufeff").lstrip(BLANK).startswith(("{", "[")):
            raise InputError(f"{name} is not JSON: expected {EXPECTED}, got {quoted(text)}{DOCTOR}") from None
        if error.msg == "Extra data" and error.lineno > 1:
            raise InputError(f"{name}: expected {EXPECTED}, got JSON lines{DOCTOR}") from None
        problem = f"expected {EXPECTED}, got: {error.msg} (column {error.colno}){DOCTOR}"
        raise at_line(name, error.lineno, problem) from None
    except ValueError as error:  # a constant or a number of thousands of digits
        raise InputError(f"{name}: expected {EXPECTED}, got: {error}") from None


def _refused(constant: str) -> Any:
    raise ValueError(f'{constant}, which JSON does not have: write "{constant}" in quotes')
