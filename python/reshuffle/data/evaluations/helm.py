"""Statistics of HELM for each instance: ``per_instance_stats.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..formats.base import Source
from ._samples import Sample, Samples, names, read
from .base import ScoreFormat

FILE = "per_instance_stats.json"


def _instances(source: Source) -> Samples:
    """HELM 0.5: a list of instances, each with a list of statistics. A perturbed instance is one of its own.

    The system is the folder of the run. Trials of an instance are averaged.
    """
    system = Path(source.file).resolve().parent.name
    try:
        found = [Sample(system, _id(each), _means(each["stats"])) for each in json.loads(source.text())]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        source.fail("expected a list of instances with an 'instance_id' and 'stats', as HELM 0.5 writes it")
    if not any(sample.scores for sample in found):
        source.fail("no instance has a statistic with a number")
    return Samples(source, found)


def _id(instance: Mapping[str, Any]) -> str:
    perturbation = instance.get("perturbation")
    return str(instance["instance_id"]) + (f" {json.dumps(perturbation, sort_keys=True)}" if perturbation else "")


def _means(stats: list[Mapping[str, Any]]) -> Mapping[str, float]:
    return {str(each["name"]["name"]): each["sum"] / each["count"] for each in stats if each.get("count")}


FORMAT = ScoreFormat(
    "the statistics of HELM for each instance", lambda file, line: Path(file).name == FILE, names, read, _instances
)
