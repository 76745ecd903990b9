"""The runs of a file of scores that has several epochs."""

from __future__ import annotations

from .files import MAX_INPUT
from .formats._samples import Samples
from .id_columns import RUNS
from .joined_scores import open_log
from .reading import split_name
from .score_columns import TABLES, opened


def runs_in(path: str, max_input: int = MAX_INPUT) -> list[str]:
    """``FILE#epoch=1``, ``FILE#epoch=2`` … of a log or table that has several scores of each segment; else the path.

    The rows of a table are of several runs if a column says so by its name, and no run has two of a segment.
    """
    table, _ = opened(path, None, max_input)
    log = open_log(table.source)
    column, found = "epoch", list[str]()
    if log is not None and isinstance(log.content, Samples):
        found = [str(each.epoch) for each in log.content.found]
    elif log is None and table.format_name in TABLES:
        column = next((name for name in table.header if name.lower() in RUNS), column)
        own, ids = [*map(str, table.values(column))], table.ids([column]) or ()
        found = own if len(ids) == len(own) == len({*zip(ids, own, strict=False)}) > len({*ids}) else []
    runs = [*dict.fromkeys(found)]
    if len(runs) < 2:
        return [path]
    file, name = split_name(path)
    before = "" if name is None else f"{name},"
    return [f"{file}#{before}{column}={run}" for run in runs]
