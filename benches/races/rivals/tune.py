"""Tuning on k-best lists in numpy: line searches and MERT in two ways, batch MIRA; a reader of lists in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from benches.data import Array

__all__ = ["Found", "Lists", "at_once", "mert", "mira", "one_by_one", "read_nbest"]


@dataclass(frozen=True)
class Lists:
    """Lists of entries: where they begin, features, counts of BLEU (hypothesis, reference, 4 matches, 4 n-grams)."""

    offsets: Array
    features: Array
    counts: Array

    def spans(self) -> list[tuple[int, int]]:
        """The first entry of each list, and the one after its last."""
        return list(zip(self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True))


class Found(NamedTuple):
    """The best part of a line: how far to go, BLEU there, its ends."""

    position: float
    score: float
    interval: tuple[float, float]


# The places where the best entry of a list changes, the changes of counts there, and the counts far to the left.
Corners: TypeAlias = tuple[Array, Array, Array]
Search: TypeAlias = Callable[[Lists, Array, Array], Found]


def bleu(rows: Array) -> Array:
    """BLEU of rows of summed counts, without smoothing."""
    matches, possible = rows[:, 2:6], rows[:, 6:10]
    with np.errstate(divide="ignore"):
        logs = np.log(matches / possible).mean(1)
    return np.asarray(100 * np.exp(logs + np.minimum(0, 1 - rows[:, 1] / rows[:, 0])))


def heights(features: Array, weights: Array) -> Array:
    """Features by weights, summed in the order of the features as elsewhere, so that results are equal to the bit."""
    sums = np.zeros(len(features))
    for values, weight in zip(features.T, weights, strict=True):
        sums += weight * values
    return sums


def best_part(corners: Corners, margin: float = 0.1, min_width: float = 1e-9) -> Found:
    """The best part of a line: sorted corners, cumulated counts, BLEU of all parts."""
    places, changes, leftmost = corners
    order = np.argsort(places, kind="stable")
    places, rows = places[order], leftmost + np.cumsum(changes[order], axis=0)
    last = np.append(places[1:] != places[:-1], True) if len(places) else np.zeros(0, bool)
    ends = np.concatenate([[-np.inf], places[last], [np.inf]])
    scores = bleu(np.concatenate([leftmost[None], rows[last]]))
    scores[np.diff(ends) <= min_width] = -1
    ties = np.flatnonzero(scores == scores.max())
    here = ties[(ends[ties] <= 0) & (ends[ties + 1] >= 0)]
    part = int(here[0] if len(here) else ties[0])
    low, high = float(ends[part]), float(ends[part + 1])
    if len(here):
        position = 0.0
    elif np.isfinite(low) and np.isfinite(high):
        position = low + (high - low) / 2
    else:
        position = low + margin if np.isfinite(low) else high - margin
    return Found(position, float(scores[part]), (low, high))


def one_by_one(lists: Lists, weights: Array, direction: Array) -> Found:
    """Och's line search, list by list: sorted by slope, a stack of lines that are the highest somewhere."""
    height, slope = heights(lists.features, weights), heights(lists.features, direction)
    leftmost = np.zeros(lists.counts.shape[1], np.int64)
    places: list[float] = []
    before: list[int] = []
    after: list[int] = []
    for a, b in lists.spans():
        order = a + np.lexsort((-height[a:b], slope[a:b]))
        stack: list[tuple[float, float, float, int]] = []
        for m, y, entry in zip(slope[order].tolist(), height[order].tolist(), order.tolist(), strict=True):
            if stack and stack[-1][0] == m:
                continue
            start = -np.inf
            while stack:
                m_top, y_top, began, _ = stack[-1]
                start = (y_top - y) / (m - m_top)
                if start > began:
                    break
                stack.pop()
                start = -np.inf
            stack.append((m, y, start, entry))
        leftmost += lists.counts[stack[0][3]]
        for (*_, left), (_, _, start, right) in pairwise(stack):
            places.append(start)
            before.append(left)
            after.append(right)
    return best_part((np.array(places), lists.counts[after] - lists.counts[before], leftmost))


def at_once(lists: Lists, weights: Array, direction: Array) -> Found:
    """The same from envelopes of all lists at once: from left to right, the line that is next to cross the highest."""
    sizes = np.diff(lists.offsets)
    inside = np.arange(sizes.max()) < sizes[:, None]
    height, slope = np.full(inside.shape, -np.inf), np.full(inside.shape, -np.inf)
    height[inside], slope[inside] = heights(lists.features, weights), heights(lists.features, direction)
    # Far to the left: the smallest slope, and the highest and first of these.
    lowest = np.where(inside, slope, np.inf).min(1)
    now = np.where(slope == lowest[:, None], height, -np.inf).argmax(1)
    leftmost = lists.counts[lists.offsets[:-1] + now].sum(0)
    rows = np.arange(len(sizes))
    places, changes = [], []
    while len(rows):
        h, m = height[rows], slope[rows]
        top = h[np.arange(len(rows)), now][:, None], m[np.arange(len(rows)), now][:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            x = np.where(m > top[1], (top[0] - h) / (m - top[1]), np.inf)
        least = x.min(1)
        # The steepest of those that cross at the same place.
        nearest = np.where(x == least[:, None], m, -np.inf)
        steepest = nearest.max(1)
        following = np.where(nearest == steepest[:, None], h, -np.inf).argmax(1)
        more = np.isfinite(least)
        rows, now, following, least = rows[more], now[more], following[more], least[more]
        first = lists.offsets[rows]
        places.append(least)
        changes.append(lists.counts[first + following] - lists.counts[first + now])
        now = following
    return best_part((np.concatenate(places), np.concatenate(changes), leftmost))


def mert(lists: Lists, weights: Array, search: Search, max_lines: float = np.inf) -> tuple[Array, float, int]:
    """MERT along the axes from one start: weights, BLEU and the number of lines."""
    weights, lines, axes = weights / np.abs(weights).sum(), 0, np.eye(lists.features.shape[1])
    here, earlier = -1.0, weights
    while True:
        best = np.array([int(a + np.argmax(heights(lists.features[a:b], weights))) for a, b in lists.spans()])
        score = float(bleu(lists.counts[best].sum(0, keepdims=True))[0])
        if score <= here:
            return earlier, here, lines
        here, earlier = score, weights
        if lines >= max_lines:
            return weights, here, lines
        found = [search(lists, weights, axis) for axis in axes]
        lines += len(axes)
        axis = int(np.argmax([each.score for each in found]))
        if found[axis].score <= here or found[axis].position == 0:
            return weights, here, lines
        moved = weights + found[axis].position * axes[axis]
        weights = moved / np.abs(moved).sum()


def mira(lists: Lists, weights: Array, orders: Sequence[Sequence[int]], c: float = 0.01, decay: float = 0.999) -> Array:
    """Batch MIRA (Cherry & Foster 2012): BLEU of the averaged weights after each epoch, for given orders of lists."""
    counts, spans = lists.counts.astype(float), lists.spans()
    background, total, steps, trace = np.ones(counts.shape[1]), np.zeros_like(weights), 0, []
    for order in orders:
        for i in order:
            a, b = spans[i]
            rows, features = counts[a:b] + background, lists.features[a:b]
            precision = (rows[:, 2:6].prod(1) / rows[:, 6:10].prod(1)) ** 0.25
            gain = precision * np.exp(np.minimum(0, 1 - rows[:, 1] / rows[:, 6])) * rows[:, 1]
            score = features @ weights
            hope, fear = int(np.argmax(score + gain)), int(np.argmax(score - gain))
            gained, step = gain[hope] - gain[fear], features[hope] - features[fear]
            loss, square = gained - (score[hope] - score[fear]), float(step @ step)
            if gained > 0 and loss > 0 and square > 0:
                weights = weights + min(c, loss / square) * step
            background = decay * background + counts[a + hope]
            total, steps = total + weights, steps + 1
        scores = lists.features @ (total / steps)
        best = [a + int(np.argmax(scores[a:b])) for a, b in spans]
        trace.append(bleu(lists.counts[best].sum(0, keepdims=True))[0])
    return np.array(trace)


def read_nbest(path: str) -> tuple[list[str], Array]:
    """Hypotheses and dense features of a file in Moses' format whose features have one label in front."""
    texts, values = [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            _, text, features, _ = line.split(" ||| ")
            texts.append(text)
            values.append([float(value) for value in features.split()[1:]])
    return texts, np.array(values)
