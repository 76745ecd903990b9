"""Cases beside other compiled packages on PyPI."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benches.data import BASELINE, OTHER, Texts
from reshuffle import bootstrap_test, metric

from ..agreement import same_pvalues, same_scores
from ..race import Contender, Race, call, first_call
from ..rivals import ONE_THREAD, RESHUFFLE, forget_tokens, name, unless_missing
from .counting import sizes, systems_of
from .resampling import SEED, pair

__all__ = ["peers"]

DRAWS = 5_000  # as in the example of evaluatio's README

Columns = Sequence[Sequence[str]]
Scores = Callable[[], Any]


class Peer(NamedTuple):
    """A package, its module, the score it computes, and how to prepare it and reshuffle for the same scores."""

    package: str
    module: str
    what: str
    theirs: Callable[[Columns, Columns], Scores]
    ours: Callable[[Columns, Columns, int | None], Scores]


def bleuscore(systems: Columns, references: Columns) -> Scores:
    """Corpus BLEU without smoothing, which makes no difference if every order has a match."""
    compute = import_module("bleuscore").compute
    columns = [[line] for line in references[0]]
    return lambda: [100 * compute(columns, list(lines), ref_len_method="closest")["bleu"] for lines in systems]


def mojo_bleu(systems: Columns, references: Columns) -> Scores:
    """Corpus BLEU, one system per call."""
    corpus_bleu = import_module("sacrebleu_mojo").corpus_bleu
    return lambda: [corpus_bleu(lines, references).score for lines in systems]


def mojo_chrf(systems: Columns, references: Columns) -> Scores:
    """Corpus chrF, one system per call."""
    corpus_chrf = import_module("sacrebleu_mojo").corpus_chrf
    return lambda: [corpus_chrf(lines, references).score for lines in systems]


def fastchrf(systems: Columns, references: Columns) -> Scores:
    """chrF of every segment, all systems in one call, as it compares several hypotheses with several references."""
    pairwise_chrf = import_module("fastchrf").pairwise_chrf
    hypotheses = [list(segment) for segment in zip(*systems, strict=True)]
    columns = [[line] for line in references[0]]
    return lambda: np.squeeze(pairwise_chrf(hypotheses, columns), axis=-1).T


def corpus_bleu(systems: Columns, references: Columns, threads: int | None) -> Scores:
    """reshuffle's BLEU, counts and scores."""
    return corpus_scores("bleu", systems, references, threads)


def corpus_chrf(systems: Columns, references: Columns, threads: int | None) -> Scores:
    """reshuffle's chrF, counts and scores."""
    return corpus_scores("chrf", systems, references, threads)


def corpus_scores(key: str, systems: Columns, references: Columns, threads: int | None) -> Scores:
    native = metric(key)
    return lambda: native.score(native.suff_stats(references, systems, workers=threads).sum(axis=1))


def segment_chrf(systems: Columns, references: Columns, threads: int | None) -> Scores:
    """reshuffle's chrF of segments, counts and scores."""
    native = metric("chrf")
    return lambda: native.segment_scores(native.suff_stats(references, systems, workers=threads))


PEERS = (
    Peer("bleuscore", "bleuscore", "BLEU", bleuscore, corpus_bleu),
    Peer("sacrebleu-mojo", "sacrebleu_mojo", "BLEU", mojo_bleu, corpus_bleu),
    Peer("fastchrf", "fastchrf", "chrF of segments", fastchrf, segment_chrf),
    Peer("sacrebleu-mojo", "sacrebleu_mojo", "chrF", mojo_chrf, corpus_chrf),
)


def peers(texts: Texts) -> list[Race]:
    """Shows reshuffle beside other compiled packages, from texts to scores. The first call of each in a new process is
    timed, without imports, because some cache tokenized lines and would be faster in a second call. fast-bleu is left
    out, as it scores every hypothesis against all references of the set; sacrebleu-mojo needs Python 3.12. evaluatio
    counts with sacreBLEU and resamples in Rust: its paired bootstrap (Koehn 2004) of one pair is timed from texts and
    from counts."""

    def check(expected: Any, *others: Any) -> None:
        for actual in others:
            same_scores(expected, actual)

    races = []
    for peer in PEERS:
        for size, systems in sizes(texts):
            columns = (systems_of(texts, systems), texts.references)
            rival = Contender(name(peer.package), first_call(peer.theirs, *columns), things=systems)
            contenders = [
                unless_missing(peer.package, peer.module, rival),
                Contender(RESHUFFLE, first_call(peer.ours, *columns, None), target=1.5, things=systems),
                Contender(ONE_THREAD, first_call(peer.ours, *columns, 1), things=systems),
            ]
            races.append(Race(f"{peer.what} beside {peer.package}, {size}", contenders, check))
    return [*races, *paired_bootstrap(texts)]


def paired_bootstrap(texts: Texts) -> list[Race]:
    """Races against evaluatio's paired bootstrap of BLEU (Koehn 2004)."""
    a, b = pair(texts)
    both = [texts.systems[OTHER], texts.systems[BASELINE]]

    def check(p: float, *others: float) -> None:
        for q in others:
            same_pvalues(p, DRAWS, q, DRAWS)

    def from_texts() -> float:
        references = [[line] for line in texts.references[0]]
        return float(import_module("evaluatio.metrics.bleu").bleu_bootstrap_test(references, *both, DRAWS))

    @cache
    def statistics() -> list[Any]:
        make = import_module("evaluatio._bindings").BLEUSufficientStats
        return [[make(row[2:6], row[6:], row[0], row[1]) for row in counts.tolist()] for counts in (a, b)]

    def from_counts() -> float:
        return float(import_module("evaluatio._bindings").bleu_bootstrap_test(*statistics(), DRAWS))

    def ours(count: Callable[[int | None], Any], threads: int | None) -> float:
        options: dict[str, Any] = {"test": "paired-bootstrap", "n_resamples": DRAWS, "seed": SEED, "workers": threads}
        first, second = count(threads)
        return float(bootstrap_test(first, second, "bleu", **options).pvalue)

    def counted(threads: int | None) -> Any:
        return metric("bleu").suff_stats(texts.references, both, workers=threads)

    def race(what: str, theirs: Contender, count: Callable[[int | None], Any], target: float | None) -> Race:
        contenders = [
            unless_missing("evaluatio", "evaluatio.metrics.bleu", theirs),
            Contender(RESHUFFLE, call(lambda: ours(count, None)), target=target),
            Contender(ONE_THREAD, call(lambda: ours(count, 1))),
        ]
        return Race(f"paired bootstrap of BLEU beside evaluatio, {DRAWS:,} draws, {what}", contenders, check)

    package = name("evaluatio")
    return [
        race("from texts", Contender(package, call(from_texts, forget_tokens), at_most=3), counted, 50),
        race("from counts", Contender(package, call(from_counts, statistics), at_most=3), lambda threads: (a, b), None),
    ]
