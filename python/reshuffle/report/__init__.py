"""Results as something to read or to read in.

A result of any kind becomes a :class:`~reshuffle.report.document.Document` of tables and sentences
(:mod:`reshuffle.report.kinds`), which each format in ``WRITERS`` writes, or the numbers in full, in the formats in
``DATA`` (:mod:`reshuffle.report.formats`). A new format is a function, an entry there and its name in
:mod:`reshuffle.types`, for type checkers and the command line. Studies have a package of their own,
:mod:`reshuffle.report.studies`.
"""

from __future__ import annotations

from ..lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
