"""How files of judgments and of scores are read."""

# Annotations are evaluated here, unlike elsewhere: types of modules that take long to import are in quotes.

import dataclasses
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar

from annotated_types import Ge
from attrs import field, frozen

from .. import types
from ..validate import MAX_INPUT
from .declare import Kind, Options

if TYPE_CHECKING:
    import os

FilePath = Annotated["str | os.PathLike[str]", Kind("str")]


@dataclasses.dataclass(frozen=True)
class NameMap:
    """The name that each id or system of a file stands for, and the place of each in the file for messages."""

    names: Mapping[str, str]
    file: str = "sysmap"
    lines: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def where(self, key: str) -> str:
        """The file and, if it has lines, that of an id."""
        return f"{self.file}, line {self.lines[key]}" if key in self.lines else self.file


@frozen(slots=False, eq=False, repr=False)
class Evaluation(Options):
    """What judgments and scores have in common."""

    TITLE: ClassVar[str] = "People"
    systems: Annotated[
        "str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None", Kind("iterable of str, or str, optional")
    ] = field(default=None, kw_only=True)
    """The names of the outputs, or their files, or the folder that has their files. By default the systems in the file.
    Names match with and without ``.txt``.
    """
    sysmap: Annotated[
        "str | os.PathLike[str] | Mapping[str, str] | NameMap | None", Kind("str or mapping, optional")
    ] = field(default=None, kw_only=True)
    """The name of the output for each id in the file; a file is read by :func:`reshuffle.meta.read_sysmap`. Ids that
    are not in it are names.
    """
    language_pair: str | None = field(default=None, kw_only=True)
    """The language pair, such as ``cs-en``, or in the CSV of 2008 the task, such as ``All-English News``. By default
    the only one in the file.
    """
    segment_base: Annotated[int | None, Ge(0)] = field(default=None, kw_only=True)
    """The number of the first segment: 1, but 0 in the CSV of rankings of 2008."""
    n_segments: Annotated[int | None, Ge(1)] = field(default=None, kw_only=True)
    """The number of segments of the texts. By default the largest number in the file."""
    unknown: Annotated[types.UnknownSystems | str, Kind(noun="treatment of unknown systems")] = field(
        default="error", kw_only=True
    )
    """What to do if a system in the file has no output: an error, or a warning, and what the file has of it is left
    out.
    """
    max_input: Annotated[int, Ge(0)] = field(default=MAX_INPUT, kw_only=True)
    """As for :func:`reshuffle.read_lines`."""


@frozen(slots=False, eq=False, repr=False)
class ReadJudgments(Evaluation):
    """The options of :func:`reshuffle.meta.read_judgments`."""

    path: FilePath
    """``rank``: a ``.rank`` file of WMT's metrics task, with segment, language pair, better system, language pair and
    worse system on each line. ``rnk``: rankings of up to five outputs, in the CSV files that WMT published for 2009 and
    later. ``rnk-2008``: those of 2008, of which rows with ``TYPE`` RANK are read. A ranking of five outputs has ten
    votes or ties.
    """
    repeats: Annotated[types.Repeats | str, Kind(noun="repeats")] = field(default="net", kw_only=True)
    """Whether all votes for a pair of outputs of a segment count as one, see :class:`Judgments`."""
    input_format: Annotated[types.JudgmentFormat | str | None, Kind(noun="input format")] = field(
        default=None, kw_only=True
    )
    """By default found from the first line."""


@frozen(slots=False, eq=False, repr=False)
class Scores(Evaluation):
    """Which scores of a file are read."""

    path: FilePath
    """``table``: a table with a header, with fields separated by tabs, commas or white space. Rows without a segment
    are scores of systems. Rows without a system are the segments of one system, which is called ``system``. ``jsonl``:
    the same as JSON objects, such as those of MetricX. ``comet``: the file of COMET's ``--to_json``; ``comet-printed``:
    what ``comet-score`` prints. ``numbers``: a score on each line, of the segments of one system, as BLEURT writes it.
    ``mt-metrics-eval``: a system and a score on each line, as in its files ``*.seg.score`` and ``*.sys.score``; scores
    of segments are in the order of the segments. ``inspect``: a log of inspect_ai (``.json`` or ``.eval``);
    ``lm-eval``: what lm-evaluation-harness writes with ``--log_samples``; ``pearmut``: annotations of Pearmut. These
    have ids of segments instead of numbers.
    """
    test_set: str | None = field(default=None, kw_only=True)
    """Which rows, if the file has a column of test sets. By default those of the only one in the file."""
    columns: Annotated["Mapping[str, str] | None", Kind("mapping of str to str, optional")] = field(
        default=None, kw_only=True
    )
    """The headers of the columns ``system``, ``segment``, ``score``, ``language_pair``, ``test_set`` and ``metric``. By
    default known headers, such as those of WMT's files.
    """
    repeated: Annotated[types.RepeatedScores | str, Kind(noun="repeated")] = field(default="mean", kw_only=True)
    """What to do with several scores of an output: their mean, as for several people, or, for a metric, an error if
    they differ.
    """
    input_format: Annotated[types.ScoreFormat | str | None, Kind(noun="input format")] = field(
        default=None, kw_only=True
    )
    """One of the names of formats. By default found from the first line."""


@frozen(slots=False, eq=False, repr=False)
class ReadScores(Scores):
    """The options of :func:`reshuffle.read_scores`."""

    metric: str | None = field(default=None, kw_only=True)
    """Which metric, if the file has a column of metrics or several columns of scores. By default the only one, or the
    column whose header is known as that of people's scores, such as ``HUMAN``.
    """
    higher_is_better: bool = field(default=True, kw_only=True)
    """False for error metrics."""


@frozen(slots=False, eq=False, repr=False)
class ReadAllScores(Scores):
    """The options of :func:`reshuffle.meta.read_all_scores`."""

    lower_is_better: Annotated["Iterable[str]", Kind("iterable of str")] = field(default=(), kw_only=True)
    """The metrics for which lower scores are better."""
