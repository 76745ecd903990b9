"""What :func:`reshuffle.compat.install` replaces in sacreBLEU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from itertools import islice
from typing import Any, cast

import numpy as np
import sacrebleu.significance as host
from sacrebleu.compat import sentence_bleu
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.utils import print_results_table, sum_of_lists

from ..patching import Seam, current_settings
from .counting import NotNative, cached, integer_sums, statistics
from .references import ReferenceCache
from .sentences import bleu_of_sentences

__all__ = ["SEAMS"]

# sacreBLEU warns if this many hypotheses look tokenized, or more.
TOKENIZED = 100


def _extract_corpus_statistics(
    self: Any, hypotheses: Sequence[str], references: Sequence[Sequence[str | None]] | None
) -> list[list[Any]]:
    EXTRACT.count()
    # The original could not read an iterator again.
    hypotheses, references = _read(hypotheses), _read_columns(references)
    try:
        rows = statistics(self, hypotheses, references)
    except NotNative as reason:
        EXTRACT.fall_back(str(reason))
        return EXTRACT.original(self, hypotheses, references)  # type: ignore[no-any-return]
    if not self._force and len(rows) >= TOKENIZED:
        _warn_of_tokenized(islice(hypotheses, len(rows)))
    return rows


def _cache_references(self: Any, references: Sequence[Sequence[str | None]]) -> ReferenceCache:
    CACHE.count()
    references = _read_columns(references)
    try:
        return cached(self, references)
    except NotNative as reason:
        CACHE.fall_back(str(reason))
        return CACHE.original(self, references)  # type: ignore[no-any-return]


_SEQUENCES = frozenset([list, tuple, str])


def _read(values: Any) -> Any:
    return list(values) if type(values) not in _SEQUENCES and isinstance(values, Iterator) else values


def _read_columns(references: Any) -> Any:
    references = _read(references)
    if type(references) in (list, tuple) and not _SEQUENCES.issuperset(map(type, references)):
        return [_read(column) for column in references]
    return references


class _Tokenized:
    """A metric that counts nothing."""

    _force = False

    def _cache_references(self, references: list[list[str]]) -> list[str]:
        return references[0]

    def _preprocess_segment(self, line: str) -> str:
        return line

    def _compute_segment_statistics(self, hypothesis: str, info: str) -> None:
        pass


def _warn_of_tokenized(hypotheses: Iterable[str]) -> None:
    """Let sacreBLEU log its own warning if enough hypotheses look tokenized."""
    ends = [line[-2:] for line in hypotheses if line.endswith(" .")]
    if len(ends) >= TOKENIZED:
        EXTRACT.original(_Tokenized(), ends, [ends])


# Replacements of functions run with the globals of sacreBLEU's modules, so that `BLEU` is the class that other code may
# have put there. Therefore they import what they call. Each import takes a microsecond.


def _sentence_bleu(  # type: ignore[no-untyped-def]
    hypothesis,
    references,
    smooth_method,
    smooth_value,
    lowercase,
    tokenize,
    use_effective_order,
):
    from reshuffle.compat.sacrebleu.seams import bleu_of_sentence

    metric = bleu_of_sentence(BLEU, smooth_method, smooth_value, lowercase, tokenize, use_effective_order)
    return metric.sentence_score(hypothesis, references)


def _sum_of_lists(lists):  # type: ignore[no-untyped-def]
    if len(lists) == 1:
        return lists[0]
    from reshuffle.compat.sacrebleu.seams import summed

    return summed(lists)


def bleu_of_sentence(cls: Any, *options: object) -> Any:
    """The metric that ``sentence_bleu`` creates. ``options`` are in the order of its parameters."""
    SENTENCE_BLEU.count()
    return bleu_of_sentences(cls, *options)


def summed(rows: Sequence[Any]) -> Any:
    """What ``sum_of_lists`` returns for two or more rows."""
    SUM.count()
    sums = integer_sums(rows)
    return SUM.original(rows) if sums is None else sums


def _paired_ar_test(  # type: ignore[no-untyped-def]
    baseline_info,
    sys_name,
    hypotheses,
    references,
    metrics,
    n_samples,
    n_ar_confidence,
    seed,
):
    from reshuffle.compat.sacrebleu import significance
    from reshuffle.compat.sacrebleu.seams import AR

    AR.count()
    arguments = baseline_info, sys_name, hypotheses, references, metrics, n_samples, n_ar_confidence, seed
    return significance._paired_ar_test(*arguments)


def _paired_bs_test(  # type: ignore[no-untyped-def]
    baseline_info,
    sys_name,
    hypotheses,
    references,
    metrics,
    n_samples,
    n_ar_confidence,
    seed,
):
    from reshuffle.compat.sacrebleu import significance
    from reshuffle.compat.sacrebleu.seams import BS

    BS.count()
    arguments = baseline_info, sys_name, hypotheses, references, metrics, n_samples, n_ar_confidence, seed
    return significance._paired_bs_test(*arguments)


def _bootstrap_resample(stats, metric, n_samples):  # type: ignore[no-untyped-def]
    from reshuffle.compat.sacrebleu import significance
    from reshuffle.compat.sacrebleu.seams import RESAMPLE

    RESAMPLE.count()
    return significance._bootstrap_resample(stats, metric, n_samples)


def _begin_test(
    self: Any,
    named_systems: Any,
    metrics: Any,
    references: Any,
    test_type: str = "ar",
    n_samples: int = 0,
    n_ar_confidence: int = -1,
    n_jobs: int = 1,
) -> None:
    from .significance import begin

    BEGIN.count()
    begin(self, {}, named_systems, metrics, references, test_type, n_samples, n_ar_confidence, n_jobs)


def _paired_test(self: Any) -> Any:
    from .significance import tested

    CALL.count()
    return tested(self, current_settings().pvalues)


def _print_results_table(results, signatures, args):  # type: ignore[no-untyped-def]
    from reshuffle.compat.sacrebleu.seams import print_table

    return print_table(results, signatures, args)


def print_table(results: dict[str, list[Any]], signatures: Any, args: Any) -> None:
    """Print the same as ``print_results_table``, whose JSON fails with NumPy 2 because means are ``numpy.float32``."""
    PRINT.count()
    if args.format == "json":
        results = {name: list(map(_with_python_floats, column)) for name, column in results.items()}
    PRINT.original(results, signatures, args)


def _with_python_floats(result: Any) -> Any:
    if not isinstance(result, host.Result):
        return result
    changed = copy(result)
    vars(changed).update({k: float(v) for k, v in vars(result).items() if isinstance(v, np.floating)})
    return changed


EXTRACT = Seam.method(Metric, "_extract_corpus_statistics", cast(Any, _extract_corpus_statistics))
CACHE = Seam.method(Metric, "_cache_references", cast(Any, _cache_references))
SENTENCE_BLEU = Seam.function(sentence_bleu, cast(Any, _sentence_bleu))
SUM = Seam.function(sum_of_lists, cast(Any, _sum_of_lists))
AR = Seam.function(host._paired_ar_test, cast(Any, _paired_ar_test))
BS = Seam.function(host._paired_bs_test, cast(Any, _paired_bs_test))
RESAMPLE = Seam.function(host._bootstrap_resample, cast(Any, _bootstrap_resample))
BEGIN = Seam.method(host.PairedTest, "__init__", cast(Any, _begin_test))
CALL = Seam.method(host.PairedTest, "__call__", cast(Any, _paired_test))
PRINT = Seam.function(print_results_table, cast(Any, _print_results_table))

SEAMS = [EXTRACT, CACHE, SENTENCE_BLEU, SUM, AR, BS, RESAMPLE, BEGIN, CALL, PRINT]
