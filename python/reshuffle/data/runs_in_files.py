"""The runs of a file of scores that has several epochs or answers."""

from __future__ import annotations

from shlex import quote

from .formats._samples import Samples
from .id_columns import MODELS
from .joined_scores import open_log
from .reading import split_name
from .score_columns import TABLES, column_of_runs, opened


def paths_of_runs(path: str, max_input: int) -> list[str]:
    """``FILE#epoch=1``, ``FILE#epoch=2`` … of a log or table that has several scores of each segment; else the path.

    The rows of a table are of several runs if a column says so by its name, and no run has two of a segment. Columns
    like ``generation`` only count if each of their values has the same segments.
    """
    table, _ = opened(path, None, max_input)
    log = open_log(table.source)
    column, found = "epoch", list[str]()
    if log is not None and table.rows:  # an epoch is chosen
        return [path]
    if log is not None and isinstance(log.content, Samples):
        found = [str(each.epoch) for each in log.content.found]
    elif log is None and table.format_name in TABLES:
        column, found = column_of_runs(table)
    runs = [*dict.fromkeys(found)]
    if len(runs) < 2:
        return [path]
    file, name = split_name(path)
    before = "" if name is None else f"{name},"
    return [f"{file}#{before}{column}={run}" for run in runs]


def paths_of_models(path: str, max_input: int) -> list[str]:
    """``FILE#model=a``, ``FILE#model=b`` … of a table with several scores of each model on each segment; or none.

    As a shell reads them.
    """
    table, name = opened(path, None, max_input)
    system = table.roles().get("system")
    if (
        system is None
        or system.lower() not in (*MODELS, "system")
        or name is not None
        or open_log(table.source) is not None
    ):
        return []
    models = table.values(system)
    found = column_of_runs(table, models)[1]
    return [f"{quote(path)}#{system}={quote(model)}" for model in dict.fromkeys(map(str, models))] if found else []
