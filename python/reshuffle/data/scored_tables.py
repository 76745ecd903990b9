"""Tables of scores whose header names the columns: DA, MQM, WMT's system scores, and segment scores of this package.

Formats that number the segments of each system by their rows are such tables, too: mt-metrics-eval and comet-score's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NoReturn

import numpy as np

from ..errors import Argument, InputError, counted, listed, quoted, warn
from ..options.evaluations import ReadScores
from .evaluations import Cells, integers
from .files import at_line, uncompressed
from .formats import comet, format_of, jsonl
from .formats.base import Column, is_score
from .formats.table import ROLES
from .id_columns import MODELS
from .score_columns import SYSTEM, TABLES, Integers, Table, check_header, codes, columns_of_scores

# For readers without options.
NO_OPTIONS = ReadScores("")
# All known headers of segments count from 1. WMT17's SID: the sources of all 560 segments of de-en are on these lines.
BASE = 1
# The system of a table that has no column of systems.
UNNAMED = "system"
# Formats that number the segments of each system by their rows, and the number of the first.
BY_ROWS = {"comet": 1, "comet-printed": 0, "mt-metrics-eval": 1, "numbers": 1}
# What names the column of the scores.
OF_SCORES = Argument("columns", {"score": "NAME"})
# Endings of names of files of mt-metrics-eval.
OF_SEGMENTS, OF_SYSTEMS = ".seg.score", ".sys.score"


@dataclass(frozen=True)
class ScoredTable(Table):
    """A table, and what the options say about its columns."""

    options: ReadScores = NO_OPTIONS

    @property
    def by_rows(self) -> bool:
        """Whether the rows of each system are its segments."""
        return self.format_name in BY_ROWS

    @cached_property
    def columns_by_role(self) -> dict[str, str]:
        """The header of the column for each role."""
        if self.by_rows:
            return {role: role for role in ("system", "segment") if role in self.header}
        roles = self.roles(self.options.columns, without_ids=True)
        # A file whose header has no known name may be something else, unless its extension says that it is a table.
        if not roles and (not self.header or format_of(self.source.file) not in TABLES):
            known = listed(first for first, *_ in ROLES.values())
            problem = "expected a header with columns such as {known}, got {names}: name the columns with {columns}"
            columns = Argument("columns", {"system": "NAME", "score": "NAME"})
            self.source.fail(problem, 1, known=known, names=listed(self.header) or "none", columns=columns)
        return roles

    @property
    def is_obvious(self) -> bool:
        """Whether one of the metrics is the obvious choice, the first."""
        return self.by_rows or ("score" in self.columns_by_role and "metric" not in self.columns_by_role)

    @cached_property
    def names(self) -> list[str]:
        """The names of the metrics."""
        name = Path(uncompressed(self.source.file)).name
        if self.format_name == "comet":
            first = self.source.once(comet.read_records).segments[0]
            score = comet.score_key(self.source, list(first), first)
            return [score, *(key for key in comet.score_keys(first) if key != score)]
        if self.format_name == "comet-printed":
            return [comet.KEYS[0]]
        if self.format_name == "mt-metrics-eval":
            endings = (OF_SEGMENTS, OF_SYSTEMS, ".score")
            return [next((name[: -len(ending)] for ending in endings if name.endswith(ending)), name)]
        return [name] if self.by_rows else self._in_header()

    def _in_header(self) -> list[str]:
        """The metrics of a table with a header."""
        roles, options = self.columns_by_role, self.options
        check_header(self)
        if "metric" in roles:
            (column,) = self._chosen([roles["metric"]])
            return list(dict.fromkeys(self.names_in(column, "the name of a metric")))
        if "score" in (options.columns or ()):
            return [roles["score"]]
        wanted = roles.get("score"), options.metric
        taken = set(roles.values()).difference(wanted)
        others = [name for name in self.perhaps_scores() if name not in taken]
        found, problem = [], None
        for name in self.header:
            try:
                if name in wanted or (name in others and self._is_numeric(name)):
                    found.append(name)
            except InputError as error:  # some line has no such key
                problem = error
                is_json = self.format_name == "jsonl"
                if is_json and options.metric is None and is_score(self.source.once(jsonl.values)[0][name]):
                    warn(f"{error}; the scores in {quoted(name)} are left out")
        if not found:
            wrong = "expected a column of scores, got {names}: name it with {columns}"
            raise problem or at_line(self.source.name, 1, wrong, names=listed(self.header), columns=OF_SCORES)
        if "score" in roles:
            found = [roles["score"], *(name for name in found if name != roles["score"])]
        return found

    def _is_numeric(self, name: str) -> bool:
        """Whether a column has only numbers and missing scores. Warns of one with mostly numbers, if all are read."""
        (column,) = self.columns([name])
        wrong = self.not_numbers(column)
        if not wrong:
            return bool(columns_of_scores(self, [name]))
        n_filled = len(column.lines) - sum(map(self.is_missing, column.lines))
        if self.options.metric is None and 2 * len(wrong) < n_filled:
            warn(
                f"{column.place(wrong[0] + 1)}: {quoted(column.lines[wrong[0]])} is not a number, so the column "
                f"{quoted(name)} is left out: missing scores are empty fields, NA, NaN, None or null"
            )
        return False

    def _chosen(self, names: Sequence[str | None], **metric: str) -> list[Column]:
        """Columns, with the rows of the language pair, the test set and the metric."""
        wanted = {"language_pair": self.options.language_pair, "test_set": self.options.test_set}
        for role, name in wanted.items():
            if role not in self.columns_by_role and name is not None and not self.by_rows:
                self.source.fail(f"there is no column of {role.replace('_', ' ')}s to choose {quoted(name)} from")
        return self.chosen(names, self.columns_by_role, wanted | metric)

    def cells(self, metric: str) -> Cells:
        """The scores of a metric."""
        roles = self.columns_by_role
        score: str | None = metric if metric in self.header else None
        if "metric" in roles:
            if "score" not in roles:
                self.source.fail("expected a column SCORE: name it with {columns}", 1, columns=OF_SCORES)
            score = roles["score"]
        by_role = [role for role in ("segment", "system") if role in roles]
        column, *others = self._chosen([score, *(roles[role] for role in by_role)], metric=metric)
        found, keys = dict(zip(by_role, others, strict=True)), column.keys
        cells = Cells(metric, [UNNAMED], None, None, self.numbers(column, True), column.first_lines)
        if "segment" in found:
            base, segment = self._segments(found["segment"])
            cells = cells._replace(segment=segment, base=base)
        if "system" in found:
            names, (system,) = codes([self.names_in(found["system"], SYSTEM)])
            cells = cells._replace(ids=names, system=system)
            if cells.segment is None and keys is not None and roles["system"].lower() in MODELS:
                names, (segment,) = codes([keys])  # a row for each model and id
                cells = cells._replace(segment=segment, base=0, keys=names)
            return self._in_order(cells) if self.by_rows else cells
        if cells.segment is None:
            once = keys if keys is not None and len(set(keys)) == len(keys) else None
            cells = cells._replace(segment=np.arange(len(cells.values)), in_order=True, keys=once)
        return cells

    def _in_order(self, cells: Cells) -> Cells:
        """The cells of a file that does not number the segments: it must have as many of each system."""
        assert cells.system is not None
        source, counts, ids = self.source, np.bincount(cells.system), cells.ids
        file = uncompressed(source.file)
        if self.format_name == "mt-metrics-eval" and counts.max() == 1 and not file.endswith(OF_SEGMENTS):
            return cells._replace(segment=None)
        if file.endswith(OF_SYSTEMS):
            twice = int(np.flatnonzero(counts > 1)[0])
            again = int(np.flatnonzero(cells.system == twice)[1])
            problem = f"expected one score of each system, got a second one of {quoted(ids[twice])}"
            source.fail(problem, cells.lines[again])
        if (counts != counts[0]).any():
            other = int(np.flatnonzero(counts != counts[0])[0])
            got = f"{quoted(ids[other])} has {counted(counts[other], 'score')}, and {quoted(ids[0])} has {counts[0]:,}"
            source.fail(f"expected the same number of scores for each system, but {got}; a missing one is None or null")
        return cells._replace(in_order=True)

    def _segments(self, column: Column) -> tuple[int, Integers]:
        """The number of the first segment, and the segments from 0."""
        source, name, base = self.source, self.columns_by_role["segment"], self.options.segment_base

        def fail(row: int, problem: str) -> NoReturn:
            source.fail(problem, column.first_lines[row])

        if self.by_rows:
            base = BY_ROWS[self.format_name]
        elif base is None and name.lower() not in ROLES["segment"]:
            problem = "say with {base} whether {name} counts from 0 or from 1"
            source.fail(problem, base=Argument("segment_base"), name=quoted(name))
        base, what = BASE if base is None else base, "the number of a segment"
        return base, integers(fail, name, self.names_in(column, what), what) - base
