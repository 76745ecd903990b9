"""Replicates that the workers of an executor compute: what is sent to them, what they return, and how it is merged.

A worker computes a range of the replicates, by the same code as one process. What it returns is the state of the
reductions, which are merged in the order of the replicates: integers are added, and sums of floats are joined by a tree
over the numbers of the replicates. So the result has the same bytes, however the replicates are split.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .. import _core
from .incomplete import IncompleteSample
from .samples import CountSample, NativeSample, Sample, TextSample
from .stored import StoredSample
from .studentized import StudentizedFormula, StudentizedNative, with_constants
from .units import Documents, Strata

# Ranges of replicates begin at multiples of so many: those that the core reduces, which it does in batches of 64; of
# formulas in Python; computed one after the other; and of functions of texts.
OF_CORE, OF_FORMULA, OF_OTHERS, OF_TEXTS = 512, 64, 16, 4
# Counts in a file are sent up to this size, 64 MB; beyond, workers open the file, which they all have to see.
SENT_BYTES = 1 << 26

U = TypeVar("U", Documents, Strata)


@dataclass(frozen=True, eq=False)
class SentSample:
    """A sample as it is sent to a worker: what replicates need of it, without anything that can be computed again."""

    make: Callable[..., Sample]
    """A function of a module, from ``arguments`` to the sample."""
    arguments: Mapping[str, Any]
    together: int
    """Ranges of replicates begin at multiples of this power of two."""

    def sample(self) -> Sample:
        """The sample."""
        return self.make(**self.arguments)


def sent_whole(sample: Sample) -> SentSample:
    """A sample whose own pickle has only what replicates need, such as the name of a file."""
    return SentSample(_itself, {"sample": sample}, OF_OTHERS if sample.native("shuffles") is None else OF_CORE)


def _itself(sample: Sample) -> Sample:
    return sample


def _counts(sample: CountSample) -> SentSample:
    own = _shared(sample) | {"strata": _bare(sample.strata)}
    return SentSample(CountSample.from_interleaved, own, _together(sample))


def _stored(sample: StoredSample) -> SentSample:
    is_named = sample.is_whole and sample.array.nbytes > SENT_BYTES
    own = {
        "metric": sample.metric if is_named else sample.metric.without_data(),
        "array": None if is_named else np.ascontiguousarray(sample.array),
        "strata": _bare(sample.strata),
    }
    return SentSample(StoredSample.from_stored, own, OF_CORE)


def _studentized(sample: StudentizedNative | StudentizedFormula) -> SentSample:
    names = ("constants", "width", "follows_difference")
    own = _shared(sample) | {name: getattr(sample, name) for name in names}
    return SentSample(with_constants, own, _together(sample))


def _texts(sample: TextSample) -> SentSample:
    own = {name: getattr(sample, name) for name in ("metric", "systems", "references")}
    units = {"documents": _bare(sample.documents), "strata": _bare(sample.strata)}
    return SentSample(TextSample, own | units, OF_TEXTS)


def _shared(sample: CountSample) -> dict[str, Any]:
    """The arguments that all samples of counts in memory have."""
    return {"metric": sample.metric.without_data(), "arrays": tuple(sample.arrays), "unit": sample.unit}


def _together(sample: CountSample) -> int:
    return OF_FORMULA if sample.metric.core is None else OF_CORE


def _bare(units: U | None) -> U | None:
    """Documents or strata, if there are any, without what has been computed of them."""
    return None if units is None else replace(units)


# By the class itself: a subclass may compute its replicates in another way.
SENT: dict[type, Callable[[Any], SentSample | None]] = {
    NativeSample: _counts,
    CountSample: _counts,
    StoredSample: _stored,
    IncompleteSample: _counts,  # its rows for pairs are among the counts
    StudentizedNative: _studentized,
    StudentizedFormula: _studentized,
    TextSample: _texts,
}


# The same for samples whose shuffles alone can be computed elsewhere.
SENT_FOR_SHUFFLES: dict[type, Callable[[Any], SentSample | None]] = {}


def sent(samples: Sequence[Sample], kind: str) -> tuple[SentSample, ...] | None:
    """The samples as they are sent; None if replicates of one of them can only be computed in this process."""
    forms = SENT | SENT_FOR_SHUFFLES if kind == "shuffles" else SENT
    found = []
    for sample in samples:
        form = forms[type(sample)](sample) if type(sample) in forms else None
        if form is None:
            return None
        found.append(form)
    return tuple(found)


class Part(NamedTuple):
    """What a worker has computed of a range of replicates."""

    states: tuple[tuple[Any, ...], ...]
    """For each pass over the replicates, the state of each reduction."""
    evaluations: tuple[int, ...]
    """How many times the function of each sample of texts was called, 0 for other samples."""


def merged(specification: Any, states: Sequence[Any]) -> Any:
    """The reduction of the core whose parts, in the order of the replicates, have these states."""
    parts: list[_core.Reduction] = [specification.with_state(state) for state in states]
    # By halves: parts that hold series are copied when they are merged.
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=False)
        parts = [*(a.merge(b) for a, b in pairs), *(parts[-1:] if len(parts) % 2 else [])]
    return parts[0]
