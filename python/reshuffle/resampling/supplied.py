"""User-supplied replicates: masks of the swapped segments, or indices of the drawn segments, in blocks.

They may come from another program, or from a resampling design that reshuffle does not have.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._core import Progress
from ..data.arrays import as_array, holds_array
from ..errors import InputError, quoted
from ..metrics.base import Counts, Scores, counts_array, thread_count
from ..settings import Resampling
from .reductions import Reduction
from .replicates import PROGRESS_STAGES, Replicates
from .samples import Batch, CountSample, Pairs

# An (R, S) array, or an iterable of blocks of its rows.
Blocks: TypeAlias = "ArrayLike | Iterable[ArrayLike]"

# The largest number of masks or indices that are checked and converted at a time.
BLOCK_CELLS = 1 << 22

# The core takes as long for one shuffle as for this many, so smaller blocks of masks are joined.
SHUFFLES_TOGETHER = 32

# The systems that shuffles swap.
ONLY_PAIR = [(0, 1)]


@dataclass(frozen=True, eq=False)
class Supplied:
    """User-supplied masks or indices, which are checked block by block."""

    name: str
    """The argument: ``masks``, which define shuffles, or ``indices``, which define draws."""
    blocks: Any
    """See :data:`Blocks`."""

    @classmethod
    def from_arguments(cls, masks: Blocks | None, indices: Blocks | None) -> Supplied:
        """From the two arguments, exactly one of which must be None."""
        if masks is not None and indices is not None:
            raise InputError("masks and indices were both passed: they define different replicates, pass one of them")
        if masks is None and indices is None:
            raise InputError("pass masks, an (R, S) array of bool, or indices, an (R, n) array of integers")
        return cls("masks", masks) if masks is not None else cls("indices", indices)

    @property
    def kind(self) -> str:
        """The kind of the replicates."""
        return "shuffles" if self.name == "masks" else "draws"

    @property
    def n_resamples(self) -> int | None:
        """R, or None if it is not known before the last block is read."""
        shape = getattr(self.blocks, "shape", None)
        if shape is None:
            return len(self.blocks) if _is_nested(self.blocks) else None
        return int(shape[0]) if len(shape) else None

    def of(self, n_units: int) -> Iterator[dict[str, Any]]:
        """The blocks, for S segments, as arguments of the core: ``masks`` of bool, or ``indices`` of uint32.

        Raises
        ------
        InputError
            If there are no replicates, the shape of a block is wrong, or a value is not a mask or an index.
        """
        for block in self._joined(n_units) if self.kind == "shuffles" else self._blocks(n_units, 1):
            yield {self.name: block}

    def _joined(self, n_units: int) -> Iterator[NDArray[Any]]:
        waiting: list[NDArray[Any]] = []
        for block in self._blocks(n_units, SHUFFLES_TOGETHER):
            if not waiting and len(block) >= SHUFFLES_TOGETHER:
                yield block
                continue
            waiting.append(block.copy())  # the iterable may write its next block into the same memory
            if sum(map(len, waiting)) >= SHUFFLES_TOGETHER:
                yield np.concatenate(waiting)
                waiting = []
        if waiting:
            yield np.concatenate(waiting)

    def _blocks(self, n_units: int, least: int) -> Iterator[NDArray[Any]]:
        """The blocks in the core's type. Large ones are split, into no fewer than ``least`` replicates."""
        done, width = 0, n_units if self.kind == "shuffles" else None
        for array in self._arrays():
            width = self._check_shape(array, width, done)
            rows = max(least, BLOCK_CELLS // width)
            for first in range(0, len(array), rows):
                block = array[first : first + rows]
                checked = self._masks(block, done) if self.kind == "shuffles" else self._indices(block, done, n_units)
                yield np.ascontiguousarray(checked)
                done += len(block)
        if not done:
            raise InputError(f"{self.name}: expected at least one replicate, got none")

    def _arrays(self) -> Iterator[NDArray[Any]]:
        if holds_array(self.blocks, self.name) or _is_nested(self.blocks):
            yield as_array(self.blocks, self.name)
            return
        if isinstance(self.blocks, str) or not isinstance(self.blocks, Iterable):
            raise InputError(
                f"{self.name}: expected an array of two dimensions, or an iterable of such blocks, got "
                f"{quoted(self.blocks)}"
            )
        for number, block in enumerate(self.blocks, 1):
            yield as_array(block, f"{self.name}, block {number}")

    def _check_shape(self, array: NDArray[Any], width: int | None, done: int) -> int:
        """The number of columns, or :class:`InputError` if it is not ``width``."""
        at = f" from replicate {done} on" if done else ""
        if array.ndim != 2:
            per = "segments" if self.kind == "shuffles" else "drawn segments"
            raise InputError(f"{self.name}{at} must have 2 dimensions (replicates, {per}), got shape {array.shape}")
        if width is not None and array.shape[1] != width:
            expected = f"{width:,} columns, " + (
                "one for each segment" if self.kind == "shuffles" else "as in the rows before"
            )
            raise InputError(f"{self.name}{at} must have {expected}, got shape {array.shape}")
        if not array.shape[1]:
            raise InputError(f"{self.name}: expected at least one index in each replicate, got shape {array.shape}")
        return int(array.shape[1])

    def _masks(self, block: NDArray[Any], done: int) -> NDArray[np.bool_]:
        if block.dtype == np.bool_:
            return block
        expected = "masks must be booleans, or the integers 0 and 1"
        if block.dtype.kind not in "iu":
            raise InputError(f"{expected}, got {block.dtype}")
        masks = block.astype(np.bool_)
        wrong = np.argwhere(masks != block)
        if wrong.size:
            row, column = wrong[0].tolist()
            raise InputError(f"{expected}, got {block[row, column]} in replicate {done + row}, segment {column}")
        return masks

    def _indices(self, block: NDArray[Any], done: int, n_units: int) -> NDArray[np.uint32]:
        if block.dtype.kind not in "iu":
            hint = ": pass booleans as masks" if block.dtype == np.bool_ else ""
            raise InputError(f"indices must be integers, got {block.dtype}{hint}")
        if (block.dtype.kind == "i" and block.min() < 0) or block.max() >= n_units:
            row, column = np.argwhere((block < 0) | (block >= n_units))[0].tolist()
            raise InputError(
                f"indices must be from 0 to {n_units - 1}, because there are {n_units:,} segments, got "
                f"{block[row, column]} in replicate {done + row}"
            )
        return block.astype(np.uint32, copy=False)


def _is_nested(values: Any) -> bool:
    """Whether ``values`` is a list of rows, not of blocks."""
    return isinstance(values, list | tuple) and len(values) > 0 and as_array(values[0], "the first block").ndim < 2


class SuppliedReplicates(Replicates):
    """User-supplied replicates of one or more samples of one or two systems. The constructor reads all of them.

    It keeps the statistic score(a) − score(b) of every shuffle, or the score of every system on every draw: (pairs or
    systems, R) for each sample.

    Parameters
    ----------
    samples : sequence of Sample
        All with the same segments, and without strata. Shuffles swap the first and the second system.
    supplied : Supplied
    settings : Resampling
        Its threads, and who watches them.
    """

    is_replay = True

    def __init__(self, samples: Sequence[CountSample], supplied: Supplied, settings: Resampling) -> None:
        super().__init__(samples, Resampling(1, 0, settings.threads, settings.progress))
        self.kind = supplied.kind
        self.stored = self._replayed(samples, supplied)
        self.n_resamples = self.stored[0].shape[1]

    def _replayed(self, samples: Sequence[CountSample], supplied: Supplied) -> list[Scores]:
        """The statistics or scores of each sample on all replicates."""
        native = {m: pair for m, sample in enumerate(samples) if (pair := sample.native(self.kind)) is not None}
        resampler = None
        if native:
            resampler = _core.Resampler(list(native.values()), kind=self.kind, threads=self.threads)
        progress = self.progress or Progress()
        progress.begin(PROGRESS_STAGES[self.kind], supplied.n_resamples or 0)
        parts: list[list[Scores]] = [[] for _ in samples]
        done = 0
        for block in supplied.of(self.n_units):
            if resampler is not None:
                for m, values in zip(native, self._in_core(resampler, samples[0], block), strict=True):
                    parts[m].append(values)
            for m, sample in enumerate(samples):
                if m not in native:
                    parts[m] += self._in_python(sample, block)
            done += len(block[supplied.name])
            progress.update(done)
        return [np.concatenate(values, axis=1) for values in parts]

    def _in_core(self, resampler: _core.Resampler, sample: CountSample, block: dict[str, Any]) -> list[Scores]:
        """The statistics or scores of each native sample on a block of replicates."""
        if self.kind == "shuffles":
            (series,) = resampler.run([_core.Series(ONLY_PAIR)], n=0, threads=self.threads, **block)
            return list(series.statistics)
        (draws,) = resampler.run([_core.Draws()], n=0, threads=self.threads, **block)
        return list(draws.scores.reshape(-1, len(sample.totals), draws.scores.shape[1]))

    def _in_python(self, sample: CountSample, block: dict[str, Any]) -> Iterator[Scores]:
        """The statistics or scores of a sample with a formula in Python, batch by batch."""
        ((name, rows),) = block.items()
        for first in range(0, len(rows), sample.batch_size):
            some = rows[first : first + sample.batch_size]
            batch = Batch(self.seed, first, len(some), self.threads, **{name: some})
            yield sample.shuffle_statistics(ONLY_PAIR, batch) if name == "masks" else sample.draw_scores(batch)

    def run(self, reductions: Sequence[Reduction], pairs: Pairs = ()) -> list[Any]:
        """See :meth:`Replicates.run`. All reductions must be for ``kind``, and the only pair is (0, 1)."""
        assert {reduction.kind for reduction in reductions} == {self.kind}
        assert self.kind == "draws" or list(pairs) == ONLY_PAIR
        return [
            reduction.combine([self._row(reduction, m) for m in range(len(self.samples))]) for reduction in reductions
        ]

    def _row(self, reduction: Reduction, m: int) -> Any:
        feed = _core.Feed([reduction.fed(ONLY_PAIR, m)], len(self.samples[m].scores), n=self.n_resamples)
        feed.update(np.ascontiguousarray(self.stored[m]), feed.active)
        (fed,) = feed.results()
        return reduction.row_from_fed(fed, m)

    def batches(self, largest: int, stage: str, size: int | None = None) -> Iterator[Batch]:
        """Raises an error, because the masks or indices have already been read, and are not kept."""
        raise NotImplementedError("user-supplied replicates can be read only once")


def resampled_sums(
    counts: Any, *, masks: Blocks | None = None, indices: Blocks | None = None, workers: int | None = None
) -> Counts:
    """Sums of counts over user-supplied subsets or draws of the segments.

    A program with its own random numbers and its own formula gets the sums of all replicates in one call:
    ``masks @ counts``, or ``counts[indices].sum(axis=1)``, in exact integers.

    Parameters
    ----------
    counts : (k, S, K) or (S, K) array_like of int, or sequence of k (S, K) array_like of int
        K counts of each of S segments, for k systems or one.
    masks : (R, S) array_like of bool, or iterable of such blocks
        Replicate r sums the segments for which ``masks[r]`` is true (or 1).
    indices : (R, n) array_like of int, or iterable of such blocks
        Replicate r sums the segments ``indices[r]``, from 0 to S − 1, each as often as it occurs. n need not be S.
    workers : int, optional
        Number of threads. By default all cores.

    Returns
    -------
    (R, k, K) ndarray of int64, or (R, K) for (S, K) counts

    Raises
    ------
    InputError
        If both ``masks`` and ``indices`` are passed or neither, there are no replicates, shapes do not match, a value
        is not a mask or an index, counts are not whole numbers, or their sums could exceed 2⁶².

    See Also
    --------
    approximate_randomization, bootstrap_test : Tests from user-supplied masks or indices.

    Notes
    -----
    Cost: for counts below 256, about 2·S·k·K additions of bytes for each replicate, 64 per instruction, and fewer for
    masks. Memory: 8·R·k·K bytes for the result, a few bytes for each count, and one block of masks or indices.

    Examples
    --------
    >>> counts = [[1, 2], [0, 3], [4, 4]]
    >>> resampled_sums(counts, masks=[[True, True, False], [False, False, True]])
    array([[1, 5],
           [4, 4]])
    >>> resampled_sums(counts, indices=[[2, 2, 0]])
    array([[ 9, 10]])

    The masks of sacreBLEU's approximate randomization, in blocks of 320 so that they are never all in memory:

    >>> import numpy as np
    >>> rng = np.random.default_rng(12345)
    >>> blocks = (rng.integers(2, size=(320, 3), dtype=bool) for _ in range(10))
    >>> resampled_sums(counts, masks=blocks).shape
    (3200, 2)
    """
    array = counts_array(counts, "counts")
    if array.ndim not in (2, 3):
        raise InputError(
            "counts must have 2 dimensions (segments, counts) or 3 (systems, segments, counts), got shape "
            f"{array.shape}"
        )
    systems = np.ascontiguousarray(array if array.ndim == 3 else array[None])
    k, n_units, width = systems.shape
    supplied = Supplied.from_arguments(masks, indices)
    own = [systems[i : i + 1] for i in range(k)]
    # The core's sums of shuffles are relative to the first system, which is therefore one without counts.
    zeros = [np.zeros((1, n_units, width), dtype=np.int64)] if supplied.kind == "shuffles" else []
    resampler = _core.Resampler([(None, _core.Counts([*zeros, *own]))], kind=supplied.kind)
    n_threads = thread_count(workers)
    parts = []
    for block in supplied.of(n_units):
        (sums,) = resampler.run([_core.Sums()], n=0, threads=n_threads, **block)
        parts.append(np.asarray(sums.sums).reshape(-1, len(zeros) + k, width)[:, len(zeros) :])
    all_sums = np.concatenate(parts)
    return all_sums if array.ndim == 3 else all_sums[:, 0]
