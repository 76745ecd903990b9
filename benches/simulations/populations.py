"""Populations of pairs of outputs whose true difference is known: real outputs, changed until two scores are equal.

Words are cut, repeated or replaced in the tokenized texts, and the metric counts the result, so counts are always those
of texts. Samples are drawn with replacement. So the difference between the scores of a whole population is the true
difference, and its segments are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy.stats

from benches.data import Array, Texts
from reshuffle import Metric, SegmentScores, metric, tokenize

__all__ = ["ANY", "NULLS", "PAIRS", "WRONG", "Cuts", "Pair", "Population"]

Outputs: TypeAlias = list[list[str]]  # the tokens of each segment

BLEU = metric("bleu", tokenize="none")
TOKENIZER = "13a"
SEED = 2026

# A token that is in no reference. It takes away the matches of the word that it replaces, and keeps all lengths.
UNMATCHED = "\N{EMPTY SET}"


@dataclass(frozen=True, eq=False)
class Population:
    """Segments from which samples are drawn.

    ``counts`` are (2, N, K). In a sample, the two outputs of each segment are swapped with probability ``swapped``: ½
    makes them exchangeable, and η/2 multiplies their difference by about 1 − η.
    """

    about: str
    metric: Metric
    counts: Array
    swapped: float = 0.0

    def sample(self, rng: np.random.Generator, problems: int, segments: int) -> Array:
        """Samples of S segments with replacement: (2, problems, S, K)."""
        drawn = self.counts[:, rng.integers(self.counts.shape[1], size=(problems, segments))]
        if self.swapped:
            swap = rng.random((problems, segments, 1)) < self.swapped
            drawn = np.where(swap, drawn[::-1], drawn)
        return np.ascontiguousarray(drawn)

    def difference(self) -> float:
        """The difference between the two scores of the whole population, before swaps."""
        first, second = self.metric.score(self.counts.sum(axis=1))
        return float(first - second)

    def length_ratios(self) -> tuple[float, float] | None:
        """The lengths of the two outputs relative to the reference, or None if the metric does not count lengths."""
        if not self._has_lengths():
            return None
        hypothesis, reference = (self._column(name).sum(axis=1) for name in ("hyp_len", "ref_len"))
        first, second = self._mixed(hypothesis / reference)
        return float(first), float(second)

    def length_errors(self, segments: int) -> tuple[float, float] | None:
        """How many standard errors each output of a sample is expected to be longer than the reference."""
        if not self._has_lengths():
            return None
        excess = self._column("hyp_len") - self._column("ref_len")
        means, squares = (self._mixed(values.mean(axis=1)) for values in (excess, excess**2))
        first, second = means / np.sqrt((squares - means**2) / segments)
        return float(first), float(second)

    def near_kink(self, segments: int) -> bool:
        """Whether an output of a sample may be on either side of the reference length: within 2 standard errors of it.

        The derivative of the brevity penalty jumps there.
        """
        errors = self.length_errors(segments)
        return errors is not None and min(map(abs, errors)) <= 2

    def _has_lengths(self) -> bool:
        return "hyp_len" in (self.metric.columns or ())

    def _column(self, name: str) -> Array:
        return self.counts[..., list(self.metric.columns or ()).index(name)]

    def _mixed(self, values: Array) -> Array:
        """The expectations of two outputs after swaps, from those before."""
        return values + self.swapped * (values[::-1] - values)


# Changes to texts.


def tokens(lines: Sequence[str]) -> Outputs:
    """The tokens of each line."""
    return tokenize(lines, TOKENIZER)


def _length(outputs: Outputs) -> int:
    return sum(map(len, outputs))


def resized(outputs: Outputs, length: int, may_change: Array, rng: np.random.Generator) -> Outputs:
    """Cut random words, or repeat them, until the outputs have ``length`` words.

    ``may_change`` says which words may be cut or repeated, in the order of the whole text.
    """
    missing = length - _length(outputs)
    chosen = np.zeros(_length(outputs), dtype=bool)
    chosen[rng.choice(np.flatnonzero(may_change), abs(missing), replace=False)] = True
    at = iter(chosen)
    times = 0 if missing < 0 else 2
    return [[word for word in output for _ in range(times if next(at) else 1)] for output in outputs]


class Words(NamedTuple):
    """Which words may be cut or repeated: a function from outputs and references, and how sentences name them."""

    mark: Callable[[Outputs, Outputs], Array]
    name: str


def _all(outputs: Outputs, _: Outputs) -> Array:
    return np.ones(_length(outputs), dtype=bool)


def _wrong(outputs: Outputs, references: Outputs) -> Array:
    known = map(set, references)
    return np.array([word not in words for output, words in zip(outputs, known, strict=True) for word in output])


# Where any word is cut, matches of n-grams are lost: two copies differ in matches and in length. Where only wrong
# words are cut, they differ in little but their length, as when one model is tuned to another length.
ANY = Words(_all, "random words")
WRONG = Words(_wrong, "random words that are not in the reference")


def emptied(outputs: Outputs, share: float, rng: np.random.Generator) -> Outputs:
    """Empty a share of the outputs."""
    empty = rng.permuted(np.arange(len(outputs)) < round(share * len(outputs)))
    return [[] if without else output for output, without in zip(outputs, empty, strict=True)]


def count(outputs: Outputs, references: Outputs) -> Array:
    """The counts of BLEU, (N, K)."""
    joined = [[" ".join(words) for words in texts] for texts in (outputs, references)]
    counts: Array = BLEU.suff_stats([joined[1]], [joined[0]])[0]
    return counts


def with_unmatched(outputs: Outputs, positions: Array) -> Outputs:
    """Replace the words at some positions in the whole text."""
    chosen = np.zeros(_length(outputs), dtype=bool)
    chosen[positions] = True
    at = iter(chosen)
    return [[UNMATCHED if next(at) else word for word in output] for output in outputs]


def equalized(outputs: Outputs, score: float, references: Outputs, rng: np.random.Generator) -> Array:
    """The counts after random words of the outputs were replaced until BLEU is ``score``, to 10⁻⁴ points or less.

    Bisection finds the number of words. The last three are those whose replacement brings BLEU closest to ``score``.
    """
    order = rng.permutation(_length(outputs))
    few, many = 0, len(order)
    while many - few > 1:
        middle = (few + many) // 2
        totals = count(with_unmatched(outputs, order[:middle]), references).sum(axis=0)
        few, many = (middle, many) if BLEU.score(totals) > score else (few, middle)
    replaced, rest = np.split(order, [max(few - 2, 0)])
    counts = count(with_unmatched(outputs, replaced), references)
    segments, effects = _effects_of_next(outputs, replaced, rest, references, counts)
    # Words of the same effect are interchangeable; there are a few dozen effects, and so some 10^5 triples.
    distinct, kind, words = np.unique(effects, axis=0, return_inverse=True, return_counts=True)
    common = np.flatnonzero(words >= 3)
    sums = sum(distinct[common[index]] for index in np.ix_(*[np.arange(len(common))] * 3))
    distances = np.abs(BLEU.score(counts.sum(axis=0) + sums) - score)
    closest = common[list(np.unravel_index(distances.argmin(), distances.shape))]
    for place, which in enumerate(closest):
        word = np.flatnonzero(kind.ravel() == which)[place]
        counts[segments[word]] += effects[word]
    return counts


def _effects_of_next(
    outputs: Outputs, replaced: Array, words: Array, references: Outputs, counts: Array
) -> tuple[Array, Array]:
    """What replacing one more word changes in the counts, for the next of ``words`` in each segment.

    Returns the segments and the changes, (segments, K). The words are of different segments, so their effects add up.
    """
    ends = np.cumsum([len(output) for output in outputs])
    segments, first = np.unique(np.searchsorted(ends, words, side="right"), return_index=True)
    changed = with_unmatched(outputs, np.concatenate([replaced, words[first]]))
    return segments, count(changed, references)[segments] - counts[segments]


def equal_pair(pair: Sequence[Outputs], references: Outputs, rng: np.random.Generator) -> Array:
    """The counts of two outputs, (2, N, K), after words of the better one were replaced until both have equal BLEU."""
    counts = [count(outputs, references) for outputs in pair]
    scores = [float(BLEU.score(rows.sum(axis=0))) for rows in counts]
    better = int(scores[1] > scores[0])
    counts[better] = equalized(pair[better], scores[1 - better], references, rng)
    return np.stack(counts)


# Populations with equal scores.


def of_lengths(which: Words, name: str, *ratios: float) -> Callable[[Texts], Population]:
    """One system at two lengths, relative to the reference."""

    def build(texts: Texts) -> Population:
        rng = np.random.default_rng(SEED)
        references, outputs = tokens(texts.references[0]), tokens(texts.systems[name])
        lengths = [round(ratio * _length(references)) for ratio in ratios]
        pair = [resized(outputs, length, which.mark(outputs, references), rng) for length in lengths]
        about = (
            f"{name} twice, with {which.name} cut or repeated until the lengths are {ratios[0]:g} and {ratios[1]:g} "
            "of the reference; words of the better copy replaced until BLEU is equal"
        )
        return Population(about, BLEU, equal_pair(pair, references, rng))

    return build


def with_cut(which: Words, name: str, share: float) -> Callable[[Texts], Population]:
    """One system, and a copy with a share of its words cut."""

    def build(texts: Texts) -> Population:
        rng = np.random.default_rng(SEED)
        references, outputs = tokens(texts.references[0]), tokens(texts.systems[name])
        shorter = resized(outputs, round((1 - share) * _length(outputs)), which.mark(outputs, references), rng)
        about = (
            f"{name}, and a copy with {share:.0%} of its words cut, {which.name}; words of the better one replaced "
            "until BLEU is equal"
        )
        return Population(about, BLEU, equal_pair([outputs, shorter], references, rng))

    return build


def with_empty(name: str, share: float, ratio: float | None = None) -> Callable[[Texts], Population]:
    """One system, and a copy in which a share of the outputs is empty."""

    def build(texts: Texts) -> Population:
        rng = np.random.default_rng(SEED)
        references, outputs = tokens(texts.references[0]), tokens(texts.systems[name])
        at = "" if ratio is None else f" at {ratio:g} of the length of the reference"
        if ratio is not None:
            length = round(ratio * _length(references))
            outputs = resized(outputs, length, WRONG.mark(outputs, references), rng)
        about = (
            f"{name}{at}, and a copy in which {share:.0%} of the outputs are empty; words of the whole one replaced "
            "until BLEU is equal"
        )
        return Population(about, BLEU, equal_pair([outputs, emptied(outputs, share, rng)], references, rng))

    return build


def equal_systems(one: str, other: str) -> Callable[[Texts], Population]:
    """Two systems, the better one thinned."""

    def build(texts: Texts) -> Population:
        rng = np.random.default_rng(SEED)
        references, *pair = (tokens(lines) for lines in (texts.references[0], texts.systems[one], texts.systems[other]))
        about = f"{one} and {other}; words of the better one replaced until BLEU is equal"
        return Population(about, BLEU, equal_pair(pair, references, rng))

    return build


def real_pair(one: str, other: str, eta: float) -> Callable[[Texts], Population]:
    """Two systems as they are; each segment's outputs are swapped with probability η/2."""

    def build(texts: Texts) -> Population:
        references = tokens(texts.references[0])
        counts = np.stack([count(tokens(texts.systems[name]), references) for name in (one, other)])
        about = f"{one} and {other}, the two outputs of each sampled segment swapped with probability {eta / 2:g}"
        return Population(about, BLEU, counts, swapped=eta / 2)

    return build


# Values of a population of means. They are quantiles, so that the population has no sampling error of its own.
VALUES = 20_000


def lognormal(first: float, second: float, correlation: float) -> Callable[[Texts], Population]:
    """Segment scores with lognormal distributions of equal means."""

    def build(_: Texts) -> Population:
        rng = np.random.default_rng(SEED)
        normal = rng.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], VALUES).T
        ranks = scipy.stats.rankdata(normal, axis=1)
        quantiles = scipy.stats.norm.ppf((ranks - 0.5) / VALUES)
        spreads = np.array([[first], [second]])
        scores = np.round(np.exp(spreads * quantiles - spreads**2 / 2), 3)
        # Rounding and the finite number of quantiles leave a small difference of sums: spread it over the second.
        steps = round((scores[0].sum() - scores[1].sum()) * 1000)
        share, rest = divmod(abs(steps), VALUES)
        scores[1] += np.sign(steps) * (share + (np.arange(VALUES) < rest)) / 1000
        values = SegmentScores("score", {"a": np.round(scores[0], 3), "b": np.round(scores[1], 3)})
        about = (
            f"segment scores with lognormal distributions of mean 1 and log-scale spreads {first:g} and {second:g}, "
            f"whose logarithms have a correlation of {correlation:g}"
        )
        return Population(about, values, values.counts_of(["a", "b"]))

    return build


# One system at two lengths near that of the reference, with equal scores of the populations or equal expected scores.

# Samples from which the expected difference is estimated: its standard error is less than a hundredth of that of the
# difference.
EXPECTATION_SAMPLES, EXPECTATION_BLOCK = 20_000, 500


@dataclass(frozen=True)
class Cuts:
    """One system at two lengths, relative to the reference: wrong words, or those of ``words``, are cut or repeated.

    ``nested``: the second output is the first with more words cut, as when a decoder stops earlier. Otherwise each
    has its own random words cut.
    """

    name: str
    longer: float
    shorter: float
    nested: bool
    words: Words = WRONG

    def outputs(self, texts: Texts, rng: np.random.Generator) -> tuple[Outputs, list[Outputs]]:
        """The references and both outputs."""
        references, outputs = tokens(texts.references[0]), tokens(texts.systems[self.name])
        first = self._resized(outputs, references, self.longer, rng)
        second = self._resized(first if self.nested else outputs, references, self.shorter, rng)
        return references, [first, second]

    def _resized(self, outputs: Outputs, references: Outputs, ratio: float, rng: np.random.Generator) -> Outputs:
        return resized(outputs, round(ratio * _length(references)), self.words.mark(outputs, references), rng)

    def as_cut(self, texts: Texts, swapped: float = 0.0) -> Population:
        """Both outputs as they are, swapped with this probability in each segment of a sample."""
        references, pair = self.outputs(texts, np.random.default_rng(SEED))
        about = f"{self._about}, and swapped with probability {swapped:g}" if swapped else self._about
        return Population(about, BLEU, np.stack([count(outputs, references) for outputs in pair]), swapped)

    def of_equal_scores(self, texts: Texts) -> Population:
        """Equal scores of the populations: words of the better output are replaced."""
        rng = np.random.default_rng(SEED)
        references, pair = self.outputs(texts, rng)
        about = f"{self._about}; words of the better output replaced until BLEU of the populations is equal"
        return Population(about, BLEU, equal_pair(pair, references, rng))

    def of_equal_expectations(self, texts: Texts, segments: int) -> Population:
        """Equal expected scores of samples of S segments."""
        rng = np.random.default_rng(SEED)
        references, pair = self.outputs(texts, rng)
        target = -expected_difference(Population("", BLEU, equal_pair(pair, references, rng)), segments)
        counts = [count(outputs, references) for outputs in pair]
        first, second = (float(BLEU.score(rows.sum(axis=0))) for rows in counts)
        if first > second + target:
            counts[0] = equalized(pair[0], second + target, references, rng)
        else:
            counts[1] = equalized(pair[1], first - target, references, rng)
        about = f"{self._about}; words replaced until the expected BLEU of {segments:,} segments is equal"
        return Population(about, BLEU, np.stack(counts))

    @property
    def _about(self) -> str:
        how = "the second the first with more words cut" if self.nested else "each cut by itself"
        return f"{self.name} at {self.longer:.3f} and {self.shorter:.3f} of the length of the reference, {how}"


def expected_difference(population: Population, segments: int) -> float:
    """The expected difference between the scores of samples of S segments, by simulation."""
    rng = np.random.default_rng(SEED)
    n = population.counts.shape[1]
    found = []
    for _ in range(EXPECTATION_SAMPLES // EXPECTATION_BLOCK):
        drawn = rng.integers(n, size=(EXPECTATION_BLOCK, segments)) + n * np.arange(EXPECTATION_BLOCK)[:, None]
        times = np.bincount(drawn.ravel(), minlength=n * EXPECTATION_BLOCK).reshape(EXPECTATION_BLOCK, n)
        # Products of floats are faster than those of integers, and exact for sums below 2⁵³.
        totals = times.astype(float) @ population.counts.astype(float)
        scores = population.metric.score(totals.astype(np.int64))
        found.append(scores[0] - scores[1])
    return float(np.mean(found))


# Populations with different scores, and the mapping of all.


@dataclass(frozen=True)
class Pair:
    """Two real systems, and for each sample size the η with which ``ar`` has a power between .3 and .9."""

    one: str
    other: str
    etas: Mapping[int, float]

    def at(self, segments: int) -> Callable[[Texts], Population]:
        """The population for samples of this size."""
        return real_pair(self.one, self.other, self.etas[segments])


PAIRS: Mapping[str, Pair] = {
    "LMU-reranked, LMU-single": Pair("LMU-nmt-reranked.4934", "LMU-nmt-single.4893", {500: 0, 2000: 0.2}),
    "uedin, online-B": Pair("uedin-nmt.4722", "online-B.0", {500: 0.1, 2000: 0.5}),
    "uedin, LMU-reranked": Pair("uedin-nmt.4722", "LMU-nmt-reranked.4934", {500: 0, 2000: 0.4}),
    "C-3MA, TALP": Pair("C-3MA.4959", "TALP-UPC.4834", {500: 0, 2000: 0.6}),
    "PROMT, online-F": Pair("PROMT-Rule-based.4735", "online-F.0", {500: 0, 2000: 0.5}),
    "RWTH, C-3MA": Pair("RWTH-nmt-ensemble.4921", "C-3MA.4959", {100: 0, 500: 0.6, 2000: 0.8}),
    "uedin, PROMT": Pair("uedin-nmt.4722", "PROMT-Rule-based.4735", {100: 0.6, 500: 0.8, 2000: 0.9}),
    "LIUM, KIT": Pair("LIUM-NMT.4900", "KIT.4950", {2000: 0}),
    "KIT, LMU-single": Pair("KIT.4950", "LMU-nmt-single.4893", {2000: 0}),
    "TALP, online-A": Pair("TALP-UPC.4834", "online-A.0", {2000: 0}),
    "xmu, RWTH": Pair("xmu.4910", "RWTH-nmt-ensemble.4921", {2000: 0}),
}

# Each shows one way in which outputs of equal scores can differ. LIUM-NMT has 1.02 times as many words as the
# reference, C-3MA 0.985, uedin-nmt 1.026 and online-G 1.056 times. Where a length is 1.00, the brevity penalty of a
# sample is below that of the population on average, so the expected difference is not quite 0.
NULLS: Mapping[str, Callable[[Texts], Population]] = {
    "swap null, close systems": real_pair("KIT.4950", "RWTH-nmt-ensemble.4921", 1),
    "swap null, different systems": real_pair("uedin-nmt.4722", "PROMT-Rule-based.4735", 1),
    "2% cut, 1.02 and 1.00": with_cut(WRONG, "LIUM-NMT.4900", 0.02),
    "2% cut, 1.06 and 1.03": with_cut(WRONG, "online-G.0", 0.02),
    "2% cut, 0.985 and 0.965": with_cut(WRONG, "C-3MA.4959", 0.02),
    "2% of any words cut, 1.02 and 1.00": with_cut(ANY, "LIUM-NMT.4900", 0.02),
    "8% cut, 1.02 and 0.94": with_cut(WRONG, "LIUM-NMT.4900", 0.08),
    "8% cut, 1.06 and 0.97": with_cut(WRONG, "online-G.0", 0.08),
    "8% of any words cut, 1.02 and 0.94": with_cut(ANY, "LIUM-NMT.4900", 0.08),
    "lengths 1.00 and 0.97": of_lengths(WRONG, "LIUM-NMT.4900", 1.00, 0.97),
    "lengths 1.00 and 0.99": of_lengths(WRONG, "LIUM-NMT.4900", 1.00, 0.99),
    "lengths 0.995 and 0.97": of_lengths(WRONG, "LIUM-NMT.4900", 0.995, 0.97),
    "lengths 1.01 and 0.99": of_lengths(WRONG, "LIUM-NMT.4900", 1.01, 0.99),
    "lengths 1.02 and 0.98": of_lengths(WRONG, "LIUM-NMT.4900", 1.02, 0.98),
    "lengths 1.02 and 0.98, any words": of_lengths(ANY, "LIUM-NMT.4900", 1.02, 0.98),
    "lengths 1.03 and 0.97": of_lengths(WRONG, "LIUM-NMT.4900", 1.03, 0.97),
    "3% empty, 1.02 and 0.99": with_empty("LIUM-NMT.4900", 0.03),
    "3% empty, 1.06 and 1.02": with_empty("online-G.0", 0.03),
    "3% empty, 0.95 and 0.92": with_empty("LIUM-NMT.4900", 0.03, 0.95),
    "3% empty, 1.10 and 1.07": with_empty("LIUM-NMT.4900", 0.03, 1.10),
    "equal BLEU: KIT, RWTH": equal_systems("KIT.4950", "RWTH-nmt-ensemble.4921"),
    "equal BLEU: LIUM, online-B": equal_systems("LIUM-NMT.4900", "online-B.0"),
    "equal BLEU: SYSTRAN, LMU-single": equal_systems("SYSTRAN.4847", "LMU-nmt-single.4893"),
    "equal BLEU: C-3MA, online-A": equal_systems("C-3MA.4959", "online-A.0"),
    **{f"equal BLEU: {name}": equal_systems(pair.one, pair.other) for name, pair in PAIRS.items()},
    "lognormal means, spreads 1 and 0.5": lognormal(1, 0.5, 0.5),
    "lognormal means, spreads 1 and 1": lognormal(1, 1, 0.5),
}
