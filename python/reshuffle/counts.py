"""Counts on disk: texts are counted once, block by block, into a file that takes their place.

:func:`reshuffle.open_counts` opens it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from numpy.typing import NDArray

from ._core import Progress
from .data.columns import named_columns, segment_list
from .data.corpus import (
    Corpus,
    DocumentIds,
    References,
    StratumIds,
    Systems,
    number_of_references,
    number_systems,
    reference_columns,
)
from .data.count_files import ENDINGS, BlockSpool, narrowest, write_arrays
from .data.files import display_name
from .errors import InputError, either, quoted, warn, writing
from .leftovers import replacements
from .metrics.given import PrecomputedCounts
from .metrics.native import NativeMetric, block_step, count_all
from .metrics.stored import CountedMetric, describe
from .progress import AnyProgress, reported
from .resampling.counting import TOKENIZED_PERIODS, Data, resolved_metrics, warn_of_tokenized
from .resampling.units import numbered
from .types import MetricName

if TYPE_CHECKING:
    from .metrics.counted import TextMetric

Metrics: TypeAlias = "MetricName | str | CountedMetric | Sequence[MetricName | str | CountedMetric]"

# Metrics that see all references before they count (NIST's information), and those whose counts are multiplied by a
# number that depends on the numbers of references of all segments.
WHOLE = ("nist",)
BY_NUMBERS_OF_REFERENCES = ("nist", "ter", "wer", "per")
# Segments that are counted at a time.
BLOCK = 1 << 16


class CountsWriter:
    """Counts texts block by block into a file, in memory for one block.

    A context manager: the file is written at its end, as a whole, and not at all after an error.

    Parameters
    ----------
    path : str or path
        ``FILE.npz``, or ``FILE.npy`` for one metric without documents and strata. A file of this name is replaced.
    metrics : str, metric, or sequence of these
        As for :func:`reshuffle.compare`: metrics that read texts.
    documents, strata : sequence of S str or int, optional
        The id of each segment's document and stratum, which the file then has.
    workers : int, optional
        Number of threads. By default all cores. The file does not depend on it, nor on the blocks.

    Raises
    ------
    InputError
        If a metric has to see all texts at once (``nist``), or the ending of the file is another.

    Examples
    --------
    >>> import reshuffle
    >>> first = ["a b c d"], {"A": ["a b c"], "B": ["a b c d"]}
    >>> second = ["e f", "g"], {"A": ["e", "g"], "B": ["f e", "g"]}
    >>> with reshuffle.CountsWriter("counts.npz", "chrf") as writer:
    ...     for references, systems in (first, second):
    ...         writer.add(references, systems)
    >>> counts = reshuffle.open_counts("counts.npz")
    >>> counts.n_segments, [(score.system, round(score.score, 2)) for score in reshuffle.score(metrics=counts).scores]
    (3, [('A', 62.5), ('B', 93.75)])
    >>> from pathlib import Path
    >>> Path("counts.npz").unlink()
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        metrics: Metrics = "bleu",
        *,
        documents: DocumentIds | None = None,
        strata: StratumIds | None = None,
        workers: int | None = None,
    ) -> None:
        self._path = os.fspath(path)
        check_ending(self._path)
        resolved = resolved_metrics(metrics)
        for m in resolved:
            if not isinstance(m, NativeMetric):
                raise InputError(f"{m.name} does not read texts block by block: use save_counts")
        if self._path.lower().endswith(".npy"):
            check_fits_npy(resolved, documents, strata)
        self._ids = {"documents": documents, "strata": strata}
        self._counting = BlockCounting(resolved, Path(self._path).parent, workers)

    def __enter__(self) -> CountsWriter:
        return self

    def add(self, references: References, systems: Systems, *, progress: Progress | None = None) -> None:
        """Count the next segments: references and systems as for :func:`reshuffle.compare`, in every block the same.

        Raises
        ------
        InputError
            As :func:`reshuffle.score`; if the systems are not those of the first block; if numbers of references vary
            and a metric averages over references (``ter``, ``wer``, ``per``).
        """
        if references is None or systems is None or isinstance(references, str) or isinstance(systems, str):
            raise InputError("expected sequences of references and systems, got None or a string")
        named = named_columns("systems", systems) or number_systems(segment_list("systems", systems))
        outputs = {name: segment_list(name, lines) for name, lines in named.items()}
        self._counting.add(outputs, reference_columns(references), progress)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                with _replaced(self._path) as file:
                    self._counting.write(file, self._path, self._ids)
        finally:
            self._counting.close()


def save_counts(
    path: str | os.PathLike[str],
    references: References = None,
    systems: Systems = None,
    metrics: Metrics = "bleu",
    *,
    documents: DocumentIds | None = None,
    strata: StratumIds | None = None,
    workers: int | None = None,
    progress: AnyProgress = None,
) -> None:
    """Count texts, or take counts that are known, into a file that takes the place of texts.

    Parameters
    ----------
    path : str or path
        ``FILE.npz``, or ``FILE.npy`` for one metric without documents and strata. A file of this name is replaced.
    references, systems, metrics
        As for :func:`reshuffle.compare`. Without references and systems, all metrics have counts: those of
        :class:`FromCounts` with the formula of a metric, or of another file.
    documents, strata : sequence of S str or int, optional
        The id of each segment's document and stratum, which the file then has.
    workers : int, optional
        Number of threads. By default all cores.
    progress : bool or Progress, optional
        As for :func:`reshuffle.compare`.

    Returns
    -------
    None
        :func:`open_counts` opens the file.

    Raises
    ------
    InputError
        As :func:`reshuffle.score`; if the formula of a metric is a Python function, which a file cannot have; if
        the ending of the file is another; if the file cannot be written.

    Notes
    -----
    Cost: that of counting, and of writing (systems) × S × K numbers of 8 to 64 bits: as few as hold all of them.
    Memory: the texts, and the counts of one block of segments. :class:`CountsWriter` and ``reshuffle count`` also read
    texts block by block.

    Examples
    --------
    Counts of another tool, in the order of the metric's columns:

    >>> import reshuffle
    >>> reshuffle.metric("length").columns
    ['hyp_len', 'ref_len']
    >>> given = reshuffle.FromCounts("lengths", {"A": [[3, 4], [5, 5]], "B": [[4, 4], [5, 5]]}, "length")
    >>> reshuffle.save_counts("lengths.npy", metrics=given)
    >>> (lengths,) = reshuffle.open_counts("lengths.npy")
    >>> lengths.name, lengths.systems, lengths.signature()
    ('lengths', ('A', 'B'), 'lengths|counts:given|length|tok:13a')
    >>> from pathlib import Path
    >>> Path("lengths.npy").unlink()
    """
    path = os.fspath(path)
    check_ending(path)
    data = Data.from_arguments(references, systems, metrics, documents=documents)
    with reported(progress) as watched, _replaced(path) as file:
        write_counts(file, path, data, {"documents": documents, "strata": strata}, workers, watched)


def write_counts(
    file: IO[bytes],
    path: str,
    data: Data,
    ids: Mapping[str, Any],
    threads: int | None,
    progress: Progress | None,
) -> None:
    """Count texts in memory and write the counts. ``path`` names the file, and its ending the format."""
    if path.lower().endswith(".npy"):
        check_fits_npy(data.metrics, *ids.values())
    native = [m for m in data.metrics if isinstance(m, NativeMetric)]
    counting = BlockCounting(native, Path(path).parent, threads)
    try:
        given = {i: _given(m, data.names) for i, m in enumerate(data.metrics) if isinstance(m, PrecomputedCounts)}
        corpus = data.corpus
        if corpus is not None and native:
            if progress is not None:
                progress.plan([block_step(native)])
                progress.begin("counting", corpus.n_segments)
            for part in _parts(corpus, native):
                outputs = {name: lines[part] for name, lines in corpus.systems.items()}
                counting.add(outputs, [column[part] for column in corpus.references])
                if progress is not None:
                    progress.update(counting.n_segments)
        counting.write(file, path, ids, data, given)
    finally:
        counting.close()


def _given(m: PrecomputedCounts, names: Sequence[str]) -> NDArray[Any]:
    counts = m.counts_of(names)
    return counts.astype(narrowest(counts))


def counts_blocks(m: NativeMetric | TextMetric) -> bool:
    """Whether a metric can count one block of texts after another, if all segments have as many references."""
    return isinstance(m, NativeMetric) and m.key not in WHOLE


def _parts(corpus: Corpus, metrics: Sequence[NativeMetric]) -> list[slice]:
    """Ranges of segments that can be counted one after the other."""
    varies = corpus.n_references == "var" and any(m.key in BY_NUMBERS_OF_REFERENCES for m in metrics)
    size = corpus.n_segments if varies or any(m.key in WHOLE for m in metrics) else BLOCK
    return [slice(first, first + size) for first in range(0, corpus.n_segments, size)]


class BlockCounting:
    """The counts of native metrics, block by block, until they are written."""

    def __init__(self, metrics: Sequence[NativeMetric], folder: Path, threads: int | None) -> None:
        self.metrics, self._threads = metrics, threads
        self._spools = [BlockSpool(folder) for _ in metrics]
        self.names: tuple[str, ...] = ()
        self.n_segments, self.blocks = 0, 0
        self._numbers: set[str] = set()
        self._most = 0

    def add(
        self,
        systems: Mapping[str, Sequence[str]],
        references: Sequence[Sequence[str | None]],
        progress: Progress | None = None,
    ) -> None:
        """Count a block."""
        names, number = tuple(systems), number_of_references(references)
        if self.blocks and names != self.names:
            raise InputError(
                f"expected the systems of the first block, {', '.join(self.names)}, got {', '.join(names)}"
            )
        self.names = names
        self._numbers.add(number)
        self._most = max(self._most, len(references))
        if self.blocks and (whole := [m.name for m in self.metrics if m.key in WHOLE]):
            raise InputError(f"{', '.join(whole)} has to see all texts at once: pass them as one block")
        if self.blocks and (len(self._numbers) > 1 or number == "var"):
            averaging = [m.name for m in self.metrics if m.key in BY_NUMBERS_OF_REFERENCES]
            if averaging:
                raise InputError(
                    f"{', '.join(averaging)} has to see all texts at once if numbers of references vary: pass them as "
                    "one block"
                )
        try:
            counted = count_all(self.metrics, systems, references, self._threads, progress)
        except InputError as error:
            raise _later(error, self.n_segments) from None
        for spool, counts in zip(self._spools, counted, strict=True):
            spool.append(counts)
        self.n_segments += len(references[0])
        self.blocks += 1

    def write(
        self,
        file: IO[bytes],
        path: str,
        ids: Mapping[str, Any],
        data: Data | None = None,
        given: Mapping[int, NDArray[Any]] | None = None,
    ) -> None:
        """Write the counts. ``data`` has all metrics, in order, if the counts of some are ``given``, by place."""
        references = None if data is None else (data.n_references, data.most_references)
        data = data or Data(None, self.metrics, self.names, self.n_segments)
        metrics, n_segments = data.metrics, data.n_segments
        if not n_segments:
            raise InputError("no texts were added: there is nothing to write")
        counted: list[CountedMetric] = []
        for m in metrics:
            if not isinstance(m, NativeMetric | PrecomputedCounts):
                raise InputError(f"{m.name} has no counts that could be saved: leave it out")
            counted.append(m)
        numbers = (next(iter(self._numbers)) if len(self._numbers) == 1 else "var") if self._numbers else None
        found = {g: None if own is None else numbered(g, own, n_segments) for g, own in ids.items()}
        references = references or (numbers, self._most)
        # The labels of results distinguish metrics of one name.
        about, arrays, _ = describe(counted, data.labels, data.names, n_segments, references, found)
        spools = iter(self._spools)
        counts: dict[str, Any] = {}
        for i, (m, entry) in enumerate(zip(metrics, about["metrics"], strict=True)):
            own = next(spools) if given is None or i not in given else given[i]
            if own.shape[1] != n_segments:
                raise InputError(
                    f"{m.name} has {own.shape[1]:,} segments, the others {n_segments:,}: the numbers must be equal"
                )
            counts[entry["array"]] = own
        write_arrays(file, path.lower().endswith(".npy"), about, {**counts, **arrays})

    def close(self) -> None:
        """Remove temporary files."""
        for spool in self._spools:
            spool.close()


def _later(error: InputError, first: int) -> InputError:
    """The same error, with the number of the segment among all blocks."""
    if not first or not isinstance(error.fields.get("segment"), int):
        return error
    return InputError(error._template, **{**error.fields, "segment": error.fields["segment"] + first})


class BlockChecks:
    """What is checked of texts in memory (:meth:`Corpus.check`), for texts that come in blocks."""

    def __init__(self, metrics: Sequence[NativeMetric]) -> None:
        self._metrics = metrics
        self._same: set[tuple[int, int]] | None = None
        self._periods: dict[str, int] = {}
        self._blank: list[str] = []
        self._has_text = False
        self._segments = 0

    def add(self, references: Sequence[Sequence[str]], systems: Mapping[str, Sequence[str]]) -> None:
        """See the next texts."""
        columns, n = [*references, *systems.values()], len(references)
        pairs = self._same
        if pairs is None:
            pairs = {(i, j) for j in range(n, len(columns)) for i in range(j)}
        self._same = {(i, j) for i, j in pairs if columns[i] == columns[j]}
        self._has_text = self._has_text or any(line and not line.isspace() for c in references for line in c)
        for name, lines in systems.items():
            self._periods[name] = self._periods.get(name, 0) + sum(line.endswith(" .") for line in lines)
        what = [f"reference {i + 1}" if n > 1 else "the reference" for i in range(n)]
        what += [f"system {name!r}" for name in systems]
        self._blank = [each for each, column in zip(what, columns, strict=True) if not column[-1].strip()]
        self._segments += len(columns[0])
        self._what, self._names, self._n = what, list(systems), n

    def finish(self) -> None:
        """Warn as :meth:`Corpus.check` does; :class:`InputError` if all references are empty."""
        if not self._has_text:
            raise InputError("all references are empty: there is no text in them")
        periods = [(name, n) for name, n in self._periods.items() if n >= TOKENIZED_PERIODS]
        tokenizing = [m for m in self._metrics if m.tokenizes]
        if tokenizing and periods:
            warn_of_tokenized(periods, tokenizing[0].name)
        if self._segments < 2:
            return
        for i, j in sorted(self._same or ()):
            name = self._names[j - self._n]
            if i < self._n:
                what = self._what[i]
                warn(f"the output of system {name!r} is identical to {what}: was the reference passed as a system?")
            else:
                other = self._names[i - self._n]
                warn(f"the outputs of systems {other!r} and {name!r} are identical: was a file passed twice?")
        if len(self._blank) == 1:
            warn(f"only {self._blank[0]} has an empty last segment: is it aligned with the other texts?")


def check_ending(path: str) -> None:
    """Raise :class:`InputError` for a file whose ending is not that of counts."""
    if not path.lower().endswith(ENDINGS):
        example = quoted(f"{path}{ENDINGS[0]}")
        raise InputError(f"{quoted(path)}: counts go to a file whose ending is {either(ENDINGS)}, such as {example}")


def check_fits_npy(metrics: Sequence[Any], *ids: Any) -> None:
    """Raise :class:`InputError` if a file with one array is not enough."""
    if len(metrics) > 1 or any(own is not None for own in ids):
        what = f"{len(metrics)} metrics" if len(metrics) > 1 else "documents or strata"
        raise InputError(f".npy files have one array, got {what}: write .npz")


@contextlib.contextmanager
def _replaced(path: str) -> Iterator[IO[bytes]]:
    """A file that replaces ``path`` at the end, if nothing goes wrong."""
    name = display_name(path)
    with replacements({path: name}) as (file,), writing(name):
        yield file
