"""Results of harnesses that are read to samples in a few lines: HELM, SWE-bench, trec_eval and lm-eval."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from ...errors import listed, quoted
from ...validate import LARGEST_SCORE
from ..files import split_lines
from ._samples import Sample, Samples
from .base import Source, number_in, shown_json
from .jsonl import objects

# How HELM names the file of every run, so that the name says nothing about the system.
OF_HELM = "per_instance_stats.json"
# The lists of swebench 5.0, which together have the whole data set.
LISTS = ("completed_ids", "incomplete_ids", "empty_patch_ids", "submitted_ids", "unresolved_ids", "error_ids")
RESOLVED = "resolved"
LINE_OF_TREC = re.compile(r"(\S+)[ ]*\t(\S+)\t(\S+)")
# What is printed in place of a query, before the mean over queries.
SUMMARY = "all"


def helm(source: Source) -> Samples:
    """HELM 0.5: a list of instances, each with a list of statistics. A perturbed instance is one of its own.

    The system is the folder of the run, or the file if it has another name. Trials of an instance are averaged.
    """
    path = Path(source.file)
    system = path.resolve().parent.name if path.name == OF_HELM else path.stem
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


def swe_bench(source: Source) -> Samples:
    """Lists of the instances that were resolved, and of the others. Those without a patch or with an error are not."""
    try:
        document: Any = json.loads(source.text())
        resolved = {str(name) for name in document["resolved_ids"]}
        every = {str(name) for each in LISTS for name in document.get(each, ())} | resolved
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        source.fail("expected a report of SWE-bench, with a list of ids as 'resolved_ids'")
    if not every:
        source.fail("the report of SWE-bench has no instances")
    system = Path(source.file).name.partition(".")[0]
    return Samples(source, [Sample(system, name, {RESOLVED: float(name in resolved)}) for name in sorted(every)])


def trec_eval(source: Source) -> Samples:
    """What ``trec_eval -q`` prints: a measure, a query and a value on each line. Queries are the segments."""
    found, system = [], Path(source.file).stem
    for number, line in enumerate(split_lines(source.text()), 1):
        parts = LINE_OF_TREC.fullmatch(line)
        value = None if parts is None else _value(parts[3])
        if parts is None or (value is None and parts[2] != SUMMARY):
            source.fail("expected a measure, a query and a number, separated by tabs, as by trec_eval -q", number)
        if parts[2] != SUMMARY and value is not None:
            found.append(Sample(system, parts[2], {parts[1]: value}, number))
    if not found:
        source.fail("there is no value of a query, only means over queries: run trec_eval with -q")
    return Samples(source, found, are_complete=False)


def _value(text: str) -> float | None:
    number = number_in(text)
    return number if abs(number) <= LARGEST_SCORE else None


# Keys of a sample that are no metrics. Releases before 0.4.6 do not list the metrics.
OTHERS = frozenset(
    "doc_id doc target arguments resps filtered_resps filter metrics doc_hash prompt_hash target_hash".split()
)
# So many characters of a hash tell documents apart.
HASH = 12


def lm_eval(source: Source) -> Samples:
    """Samples of lm-evaluation-harness, as ``--log_samples`` writes them: ``samples_TASK_DATE.jsonl``.

    Of a file with the harness's own name, the system is the folder, which is called after the model; else the file.

    A score is called METRIC,FILTER, as in the harness, or METRIC if there is one filter.
    """
    lines = objects(source)
    for line, each in lines:
        lacking = [key for key in ("doc_id", "filtered_resps") if key not in each]
        if lacking:
            source.fail(f"expected a sample of lm-evaluation-harness, which has the key {quoted(lacking[0])}", line)
    path = Path(source.file)
    system = path.resolve().parent.name if OWN_NAME.match(path.name) else path.stem
    has_one_filter = len({_filter(each) for _, each in lines}) == 1
    found = []
    for line, each in lines:
        names = {name: name if has_one_filter else f"{name},{_filter(each)}" for name in _metrics(each)}
        scores = {full: each[name] for name, full in names.items()}
        fields = each["doc"] if isinstance(each.get("doc"), dict) else {}
        # Releases before 0.4.3 have no hash, which tells documents with the same number apart.
        asked = "" if "doc_hash" in each else json.dumps(fields)
        found.append(Sample(system, _document(source, each, line), scores, line, fields=fields, asked=asked))
    return _Numeric(source, found, are_complete=has_one_filter)


class _Numeric(Samples):
    """Samples whose names are those of numbers. Lists for all samples are texts, of which the corpus has a score."""

    @cached_property
    def names(self) -> list[str]:
        numeric = {name for sample in self.found for name, v in sample.scores.items() if not isinstance(v, list | dict)}
        every = super().names
        found = [name for name in every if name in numeric]
        if not found:
            self.source.fail(
                f"no metric has a number for each sample, only {listed(every) or 'none'}: for metrics of the whole "
                "corpus, such as bleu, the harness writes texts: compare these as REF and SYS"
            )
        return found


def _filter(sample: dict[str, Any]) -> str:
    return str(sample.get("filter", "none"))


def _metrics(sample: dict[str, Any]) -> list[str]:
    listed_names = sample.get("metrics")
    if isinstance(listed_names, list):
        return [name for name in listed_names if isinstance(name, str) and name in sample]
    return [name for name in sample if name not in OTHERS]


def _document(source: Source, sample: dict[str, Any], line: int) -> str:
    """The number of the document, with the beginning of its hash: another document has the same number elsewhere."""
    number, digest = sample["doc_id"], sample.get("doc_hash")
    if isinstance(number, bool) or not isinstance(number, int | str):
        source.fail(f"expected a number as 'doc_id', got {shown_json(number)}", line)
    return f"{number} {digest[:HASH]}" if isinstance(digest, str) else str(number)


# samples_TASK_DATE.jsonl
OWN_NAME = re.compile(r"samples_.+_\d{4}")
