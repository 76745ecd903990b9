"""Statistics of HELM for each instance: ``per_instance_stats.json``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..formats.base import Source
from ._joined import Record, joined_cells
from .base import Cells, ScoreFormat, ScoreOptions

FILE = "per_instance_stats.json"


class Instances(NamedTuple):
    """The means of each instance and trial, by the name of the statistic."""

    source: Source
    stats: Sequence[tuple[str, Mapping[str, float]]]


def names(file: Instances, options: ScoreOptions) -> tuple[list[str], bool]:
    """See :class:`ScoreFormat`."""
    return list(dict.fromkeys(name for _, own in file.stats for name in own)), False


def read(file: Instances, metric: str, options: ScoreOptions) -> Cells:
    """See :class:`ScoreFormat`. The system is the folder of the run. Trials of an instance are averaged."""
    system = Path(file.source.file).resolve().parent.name
    records = [Record(system, instance, own.get(metric, math.nan), 1) for instance, own in file.stats]
    return joined_cells(metric, records)


def _instances(source: Source) -> Instances:
    """HELM 0.5: a list of instances, each with a list of statistics. A perturbed instance is one of its own."""
    try:
        found = [(_id(each), _means(each["stats"])) for each in json.loads(source.text())]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        source.fail("expected a list of instances with an 'instance_id' and 'stats', as HELM 0.5 writes it")
    if not any(own for _, own in found):
        source.fail("no instance has a statistic with a number")
    return Instances(source, found)


def _id(instance: Mapping[str, Any]) -> str:
    perturbation = instance.get("perturbation")
    return str(instance["instance_id"]) + (f" {json.dumps(perturbation, sort_keys=True)}" if perturbation else "")


def _means(stats: list[Mapping[str, Any]]) -> Mapping[str, float]:
    return {str(each["name"]["name"]): each["sum"] / each["count"] for each in stats if each.get("count")}


FORMAT = ScoreFormat(
    "the statistics of HELM for each instance", lambda file, line: Path(file).name == FILE, names, read, _instances
)
