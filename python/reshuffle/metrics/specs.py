"""Descriptions of a metric and of its options. This module does not import numpy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OptionSpec:
    """Description of an option of a metric.

    ``kind`` is ``flag``, ``integer``, ``real``, ``reals``, ``choice``, ``choices``, ``path``, ``language`` or ``text``.
    Values of ``reals`` and ``choices`` are lists. ``minimum`` and ``maximum`` are the limits of a number, or of each
    number in a list. ``choices`` are the values allowed if ``kind`` is ``choice`` or ``choices``.
    """

    name: str
    about: str
    kind: str
    minimum: float | None
    maximum: float | None
    choices: list[str]
    default: bool | int | float | str | None


@dataclass(frozen=True)
class MetricSpec:
    """Description of a metric.

    ``source`` is an ACL id or DOI, or empty. ``reads_parses`` is True if the metric reads parses in CoNLL-U instead of
    texts.
    """

    name: str
    about: str
    source: str
    reads_parses: bool
    options: list[OptionSpec]
