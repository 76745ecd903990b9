"""Cases of minimum Bayes risk decoding on 100-best lists, beside loops over pairs of hypotheses and beside fastchrf."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

import numpy as np
import sacrebleu

from benches.data import FOLDER, Array, Texts
from reshuffle.tune import NBest, mbr, read_nbest

from ..agreement import same_scores
from ..race import Contender, Race, Skipped, call
from ..rivals import ONE_THREAD, RESHUFFLE, SACREBLEU, forget_tokens, name, unless_missing

__all__ = ["decoding"]

LISTS = "kbest-wmt11-de-en/dev.nbest.gz"
# A loop over pairs decodes two of the 500 sentences, and fastchrf twenty.
LOOPED, COMPARED = range(100, 500, 250), range(0, 500, 25)

Decode = Callable[[], Array]


def pairs(lists: NBest, sentences: Sequence[int]) -> int:
    """The number of pairs of entries of some sentences."""
    return int((np.diff(lists.offsets)[list(sentences)] ** 2).sum())


def utilities(lists: NBest, sentences: Sequence[int], of_list: Callable[[list[str]], Sequence[float]]) -> Array:
    """The expected utility of each entry of some sentences, from their texts; NaN for other entries."""
    found = np.full(len(lists), np.nan)
    for sentence in sentences:
        entries = range(lists.offsets[sentence], lists.offsets[sentence + 1])
        found[entries] = of_list(lists.hypotheses(entries))
    return found


def loop(lists: NBest, score: Callable[[str, list[str]], sacrebleu.metrics.base.Score]) -> Decode:
    """A call of sacreBLEU for each pair."""

    def of_list(texts: list[str]) -> list[float]:
        return [float(np.mean([score(text, [other]).score for other in texts])) for text in texts]

    return lambda: utilities(lists, LOOPED, of_list)


def fastchrf(lists: NBest) -> Decode:
    """chrF of all pairs of a list in one call."""

    def of_list(texts: list[str]) -> list[float]:
        scores = import_module("fastchrf").pairwise_chrf([texts], [texts])
        return [float(np.mean(row)) for row in scores[0]]

    return lambda: utilities(lists, COMPARED, of_list)


def agree(expected: Array, ours: Array, ours_on_one: Array, single: Array | None = None) -> None:
    """Compare the entries for which there are utilities. fastchrf's scores are in single precision."""
    known = np.isfinite(expected)
    for actual in (ours, ours_on_one):
        same_scores(expected[known], actual[known])
    if single is not None:
        same_scores(single[np.isfinite(single)], ours[np.isfinite(single)], 1e-3)


def decoding(texts: Texts) -> list[Race]:
    """Shows the time for a pair of hypotheses in minimum Bayes risk decoding, with chrF and BLEU on the 100-best lists
    of 500 sentences. A loop over pairs, which decodes two sentences, prepares both hypotheses of each pair; fastchrf
    decodes twenty sentences."""
    if not (FOLDER / LISTS).is_file():
        return [Race("chrf, per pair", [Skipped(SACREBLEU, f"there is no {LISTS} in {FOLDER}")], agree)]
    lists = read_nbest(FOLDER / LISTS)
    everything = pairs(lists, range(lists.n_sentences))

    def ours(metric: str, threads: int | None) -> Decode:
        return lambda: mbr(lists, metric, workers=threads).utilities

    races = []
    for metric, score in (("chrf", sacrebleu.sentence_chrf), ("bleu", sacrebleu.sentence_bleu)):
        contenders: list[Contender | Skipped] = [
            Contender(SACREBLEU, call(loop(lists, score), forget_tokens), at_most=2, things=pairs(lists, LOOPED)),
            Contender(RESHUFFLE, call(ours(metric, None)), target=100, things=everything),
            Contender(ONE_THREAD, call(ours(metric, 1)), things=everything),
        ]
        if metric == "chrf":
            theirs = Contender(name("fastchrf"), call(fastchrf(lists)), things=pairs(lists, COMPARED))
            contenders.append(unless_missing("fastchrf", "fastchrf", theirs))
        races.append(Race(f"{metric}, per pair", contenders, agree))
    return races
