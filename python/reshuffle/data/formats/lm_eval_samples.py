"""Samples of lm-evaluation-harness, as ``--log_samples`` writes them: ``samples_TASK_DATE.jsonl``."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import Any

from ...errors import listed, quoted
from ._samples import Sample, Samples
from .base import Source, shown_json
from .jsonl import objects

# Keys of a sample that are no metrics. Releases before 0.4.6 do not list the metrics.
OTHERS = frozenset(
    "doc_id doc target arguments resps filtered_resps filter metrics doc_hash prompt_hash target_hash".split()
)
# So many characters of a hash tell documents apart.
HASH = 12


def samples(source: Source) -> Samples:
    """Of a file with the harness's own name, the system is the folder, which is called after the model; else the file.

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
        fields = each.get("doc")
        found.append(
            Sample(system, _id(source, each, line), scores, line, fields=fields if isinstance(fields, dict) else {})
        )
    return _Samples(source, found, are_complete=has_one_filter)


class _Samples(Samples):
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


def _id(source: Source, sample: dict[str, Any], line: int) -> str:
    """The number of the document, with the beginning of its hash: another document has the same number elsewhere."""
    number, digest = sample["doc_id"], sample.get("doc_hash")
    if isinstance(number, bool) or not isinstance(number, int | str):
        source.fail(f"expected a number as 'doc_id', got {shown_json(number)}", line)
    return f"{number} {digest[:HASH]}" if isinstance(digest, str) else str(number)


# samples_TASK_DATE.jsonl
OWN_NAME = re.compile(r"samples_.+_\d{4}")
