"""The formats of files: how each is recognized, what a file of it has, and what reads it.

To add one, write a module with its readers, and list it in :data:`FORMATS` and, by its name, in a ``Literal`` of
:mod:`reshuffle.types`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

from ... import types
from ...errors import InputError
from ..files import display_name, uncompressed
from . import comet, conll, jsonl, meeteval, mteval, named, table, text, transcripts
from .base import ZIP, Column, Format, Source, any_of, begins, has_keys

__all__ = [
    "FORMATS", "INPUT_FORMATS", "JUDGMENT_FORMATS", "LOGS", "SCORE_FORMATS", "Column", "Format", "Source", "format_in",
    "format_of", "usual_metric",
]  # fmt: skip


def _later(place: str) -> Callable[..., Any]:
    """The function ``MODULE:NAME``, whose module is imported when it is called: most commands read no logs or votes."""
    module, _, name = place.partition(":")
    return lambda *args: getattr(import_module(f".{module}", __package__), name)(*args)


# Of several logs that a file may be by its beginning, the first counts; of other formats, the first of their Literal.
FORMATS: Mapping[str, Format] = {
    "inspect": Format(
        "a log of inspect_ai",
        recognizes=begins(rf'{ZIP.decode()}|\s*\{{\s*"version"\s*:\s*[^\s,{{\[]+\s*,\s*"(status|eval)"'),
        samples=_later("inspect_logs:samples"),
    ),
    "lm-eval": Format(
        "a sample of lm-evaluation-harness on each line",
        recognizes=has_keys("doc_id", "filtered_resps"),
        samples=_later("harnesses:lm_eval"),
    ),
    "pearmut": Format(
        "an annotation of Pearmut on each line",
        recognizes=has_keys("annotation", "user_id"),
        samples=_later("pearmut:samples"),
    ),
    "human-eval": Format(
        "a sample of human-eval on each line (task_id, passed), or a problem with its numbers n and c",
        recognizes=any_of(has_keys("task_id", "passed", "completion"), has_keys("task_id", "n", "c")),
        samples=_later("code_results:human_eval"),
    ),
    "evalplus": Format(
        "the results of EvalPlus",
        recognizes=begins(r'\s*\{\s*"date"\s*:\s*"[^"]*"\s*,\s*"hash"\s*:'),
        samples=_later("code_results:evalplus"),
    ),
    "swe-bench": Format(
        "a report of SWE-bench",
        recognizes=begins(r'\s*\{\s*"total_instances"\s*:\s*\d+\s*,\s*"submitted_instances"'),
        samples=_later("harnesses:swe_bench"),
    ),
    "helm": Format(
        "the statistics of HELM for each instance",
        recognizes=any_of(
            lambda file, line: Path(file).name == "per_instance_stats.json",
            begins(r'\s*\[\s*\{\s*"instance_id"\s*:\s*"[^"]*"\s*,\s*"(perturbation|train_trial_index)"\s*:'),
        ),
        samples=_later("harnesses:helm"),
    ),
    "text": text.FORMAT,
    "mteval": mteval.FORMAT,
    "tsv": table.TSV,
    "csv": table.CSV,
    "conllu": conll.PARSES,
    "conll": conll.FORMAT,
    "comet": comet.FORMAT,
    "comet-printed": comet.PRINTED,
    "numbers": text.NUMBERS,
    "table": table.FORMAT,
    "mt-metrics-eval": named.FORMAT,
    "jsonl": jsonl.FORMAT,
    "trn": transcripts.TRN,
    "kaldi": transcripts.KALDI,
    "utt2spk": transcripts.UTT2SPK,
    "meeteval": meeteval.FORMAT,
    "trec-eval": Format(
        "a measure, a query and a value on each line, as by trec_eval -q",
        recognizes=begins(r"\S+ *\t(all\t\S+|\S+\t[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?)\r?$"),
        samples=_later("harnesses:trec_eval"),
    ),
    "rank": Format(
        "segment, language pair, better system, language pair, worse system",
        recognizes=begins(r"\s*\d+(\s+\S+){4}\s*$"),
        votes=_later("wmt_judgments:read_rank"),
    ),
    "rnk": Format(
        "a CSV file with the columns srclang, trglang, srcIndex, system1Id …, system1rank …",
        recognizes=begins("srclang,trglang,"),
        votes=_later("wmt_judgments:read_rnk"),
        judge="judgeId",
    ),
    "rnk-2008": Format(
        "a CSV file with the columns TASK, TYPE, ITEM_ID, SYSTEM_0, SCORE_0_A …",
        recognizes=begins("TASK,TYPE,"),
        votes=_later("wmt_judgments:read_2008"),
        judge="ANNOTATOR_ID",
    ),
}
# Those that each option takes by name.
INPUT_FORMATS, SCORE_FORMATS, JUDGMENT_FORMATS = (
    {name: FORMATS[name] for name in get_args(names)}
    for names in (types.InputFormat, types.ScoreFormat, types.JudgmentFormat)
)
LOGS = {name: each for name, each in FORMATS.items() if each.samples is not None}


def format_in(source: Source) -> str:
    """The same for a file that was read: JSON with an object on each line is JSON lines."""
    name = format_of(source.file)
    return "jsonl" if name == "comet" and re.match(rb"\s*\{.*\}[ \t\r]*\n\{", source.data) else name


def usual_metric(file: str, input_format: str | None = None) -> str:
    """The metric of the texts in a file if none is named: of transcripts the word error rate, of tags F1 of spans.

    >>> usual_metric("ref.trn"), usual_metric("ref", "kaldi"), usual_metric("gold.tags.gz"), usual_metric("ref.txt")
    ('asr-wer', 'asr-wer', 'span-f1', 'bleu')
    """
    if input_format is None and Path(uncompressed(file)).suffix.lower() == ".tags":  # plain text is read alike
        return conll.FORMAT.metric
    return FORMATS[input_format or format_of(file)].metric


def format_of(file: str) -> str:
    """The format for the file's extension, or its name if it has none; ``text`` if that is unknown.

    The extension of a compression is ignored. :class:`InputError` for files of the times of words or utterances.

    >>> format_of("newstest.SGM.gz"), format_of("out/online-A.0"), format_of("-")
    ('mteval', 'text', 'text')
    >>> format_of("utt2gender"), format_of("utt2spk.test"), format_of("utt2lang.csv")
    ('utt2spk', 'utt2spk', 'csv')
    """
    path = Path(uncompressed(file))
    ending = path.suffix.lower() or path.name
    if ending in (".ctm", ".stm"):
        advice = "write a line for each utterance, TRANSCRIPT (ID), in files *.trn"
        raise InputError(f"{display_name(file)}: CTM and STM are not read: {advice}")
    others = "utt2spk" if re.match("utt2[a-z]", path.name) else "text"
    return next((name for name, each in FORMATS.items() if ending in each.endings), others)
