"""Files of one system with columns or keys that no other format knows: read as ``reshuffle compare --scores`` does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import InputError, listed
from ..formats import INPUT_FORMATS, format_of
from ..formats.base import Source
from ..id_columns import names_ids
from ..scores import TEXTS, roles_of, scores_in, sniffed
from .base import Cells, ScoreFormat, ScoreOptions
from .tables import UNNAMED


class _File(NamedTuple):
    source: Source
    format_name: str

    @property
    def header(self) -> list[str]:
        """The names of the columns or keys."""
        names = INPUT_FORMATS[self.format_name].names
        return [] if names is None else names(self.source)


def _opened(source: Source) -> _File:
    return _File(source, sniffed(source, format_of(source.file)))


def is_of_columns(source: Source) -> bool:
    """Whether a file has columns or keys, and none of them is known as that of systems, segments or metrics."""
    try:
        header = _opened(source).header
    except InputError:
        return False
    is_json = source.data.lstrip().startswith(b"{")
    return len(header) > (0 if is_json else 1) and set(roles_of(header)) <= {"score"}


def _names(file: _File, options: ScoreOptions) -> tuple[list[str], bool]:
    """See :class:`ScoreFormat`."""
    header = file.header
    if options.metric in header:
        return header, False
    score = roles_of(header).get("score")
    others = [name for name in header if name != score and not names_ids(name) and name.lower() not in TEXTS]
    found = [*filter(None, [score]), *(name for name in others if _has_numbers(file, name))]
    if not found:
        file.source.fail(f"expected a column of scores, got {listed(header)}")
    return found, score is not None


def _has_numbers(file: _File, name: str) -> bool:
    try:
        return not np.isnan(_read(file, name, ScoreOptions()).values).all()
    except InputError:
        return False


def _read(file: _File, metric: str, options: ScoreOptions) -> Cells:
    """See :class:`ScoreFormat`."""
    by_system, ids = scores_in(file.source, metric, file.format_name, missing="pairwise", several=False)
    ((_, scores),) = by_system.items()
    keys = None if ids is None or len(set(ids)) < len(ids) else ids
    rows = range(len(scores))
    return Cells(metric, [UNNAMED], None, np.array(rows), np.array(scores), rows, in_order=True, keys=keys)


FORMAT = ScoreFormat("columns of scores, or keys of JSON lines", lambda file, line: False, _names, _read, _opened)
