"""The options of ``reshuffle study``: those that a study declares, its input, and its output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from ... import types
from ...options.declare import Options
from ...options.files import Unstratified
from ..declared import Decorator, declared_options
from ..options import COUNTS, EXECUTOR, METRICS, all_of, output_options, table_options, with_texts

ARGUMENTS = (
    (
        "REF, SYS",
        "As for 'reshuffle compare': UTF-8 text with one segment per line, mteval, tables (FILE#NAME), JSON lines or "
        "parses; - is standard input.",
    ),
    *COUNTS,
)


def study_options(record: type[Options], *others: Sequence[Decorator], systems: str | None = "SYS SYS...") -> Decorator:
    """The options of a study: those of its record, ``others``, input, metrics and output.

    ``systems`` stands for the outputs in the usage; None for studies without data.
    """
    own = (
        declared_options(record),
        *others,
        (EXECUTOR, *table_options()),
        output_options(get_args(types.Format), "text"),
    )
    return all_of(*own) if systems is None else with_texts(systems, declared_options(Unstratified), METRICS, *own)
