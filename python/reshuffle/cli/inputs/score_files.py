"""Files of ``--scores``: which belongs to which system, and their scores by metric and system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...data.alignment import in_numeric_order, order_by, unclear_order
from ...data.corpus import system_names
from ...data.file_names import few, files_by_name, same_names
from ...data.files import display_name
from ...data.formats.base import Source
from ...data.reading import split_name
from ...data.scores import Table, not_one_system, opened, scores_in
from ...errors import InputError, counted, listed, quoted
from ...grouping import grouped

if TYPE_CHECKING:
    from ...data.score_tables import ScoreFile, ScoreTable
    from ...options.files import OfSystems, SetFiles

# Formats that name systems by their files.
BY_FILE = ("comet", "comet-printed")
# What logs call the score of people who rate outputs: users call it DA, quality and so on.
UNNAMED_SCORE = "score"
# The system of a file that names none.
UNNAMED = ""


class Groups(NamedTuple):
    """The ids of the segments' documents or strata, and those of the segments, if the file has them."""

    path: str
    values: Sequence[str]
    ids: Sequence[str] | None


@dataclass(frozen=True)
class ReadScores:
    """A table for each metric and system. Those with ids of segments are from logs, and have the same ids."""

    rows: Mapping[tuple[str, str], ScoreTable]
    keys: tuple[str, Sequence[str] | None] = ("", None)
    """A table whose rows have ids, and these: all are in this order."""
    moved: str | None = None
    """A table whose rows were in another order."""
    plain: str | None = None
    """A table without ids."""
    n_left_out: int = 0
    """How many segments that not all files have were left out."""

    @property
    def by_metric(self) -> dict[str, dict[str, list[float]]]:
        """The scores by metric and system."""
        found: dict[str, dict[str, list[float]]] = {}
        for (metric, system), table in self.rows.items():
            assert table.segments is not None
            found.setdefault(metric, {})[system] = table.segments[0].tolist()
        return found

    @property
    def log(self) -> ScoreTable | None:
        """The first row that is from a log."""
        return next((table for table in self.rows.values() if table.segment_ids is not None), None)

    @property
    def shown_ids(self) -> tuple[str, ...] | None:
        """The ids that reports show, of the samples of logs or of rows; None if they are 1, 2, 3 …"""
        if self.log is not None:
            return self._samples
        keys = self.keys[1]
        numbered = keys is None or all(key == str(number) for number, key in enumerate(keys, 1))
        return None if numbered else tuple(keys or ())

    @property
    def _samples(self) -> tuple[str, ...]:
        """The ids of the samples of logs: those of lm-evaluation-harness without the hash."""
        from ...data.joined_scores import NUMBER

        assert self.log is not None
        assert self.log.segment_ids is not None
        ids = self.log.segment_ids
        numbers = tuple(found[1] for name in ids if (found := NUMBER.fullmatch(name)))
        return numbers if len(set(numbers)) == len(ids) else ids

    def in_order(
        self, what: str, n_segments: int | None = None, rows: tuple[str, Sequence[str] | None] = ("", None)
    ) -> ReadScores:
        """The samples of logs in the order of the segments of texts or of other files. ``what`` is named in errors.

        ``rows``: a file of texts, and the ids of its rows. If it has none, those of tables of scores are used.
        """
        if self.log is None or self.log.segment_ids is None:
            return self
        from ...data.joined_scores import on_segments, segment_order

        file, keys = self.keys if rows[1] is None else rows
        order: Sequence[int] | None = order_by((self.log.source, self._samples), (file, keys))
        moved = self.moved
        if order is not None and not in_numeric_order(keys or ()):
            moved = self.log.source
            if self.plain is not None:
                raise unclear_order(file, moved, self.plain)
        elif order is None and keys is not None and self._samples == (*keys,):
            order = range(len(keys))
        elif order is None:
            order = segment_order(self.log.segment_ids, self.log.source, what, n_segments)
        found = {key: row if row.segment_ids is None else on_segments(row, order) for key, row in self.rows.items()}
        return replace(self, rows=found, moved=moved)

    def on_rows(self, file: str, keys: Sequence[str] | None) -> ReadScores:
        """The scores in the order of the rows of another file, if both have the same ids."""
        order = order_by(self.keys, (file, keys))
        self._check_order(file, keys, order is not None)
        if order is None:
            return self
        rows = {key: row if row.segment_ids is not None else _reordered(row, order) for key, row in self.rows.items()}
        return replace(self, rows=rows, keys=(file, keys))

    def _check_order(self, file: str, keys: Sequence[str] | None, is_other: bool) -> None:
        """:class:`InputError` if tables have different orders and a file has no ids, as ``file`` may."""
        if keys is None and self.moved is not None:
            raise unclear_order(self.keys[0], self.moved, file)
        if is_other and self.plain is not None:
            raise unclear_order(self.keys[0], file, self.plain)

    def with_groups(self, *groups: Groups | None) -> tuple[ReadScores, Sequence[str] | None, Sequence[str] | None]:
        """The scores, documents and strata of the same segments, without texts: of logs by the ids of samples."""
        others = [display_name(each.path) for each in groups if each is not None and each.ids is None]
        others += [row.source for row in self.rows.values() if row.segment_ids is None]
        scores = self.in_order(others[0]) if others else self
        for each in groups:
            if each is not None:
                scores._check_order(display_name(each.path), each.ids, False)
        ids = None if scores.log is None else scores.log.segment_ids
        documents, strata = (
            None if each is None else self._of_rows(each) if ids is None else _of_samples(each, ids) for each in groups
        )
        return scores, documents, strata

    def _of_rows(self, groups: Groups) -> Sequence[str]:
        """The documents or strata of the rows of tables."""
        file, ids = display_name(groups.path), self.keys[1]
        if ids is not None and groups.ids is not None and len(ids) < len(groups.ids):  # rows were left out
            return _of_samples(groups, ids)
        order = order_by((file, groups.ids), self.keys)
        self._check_order(file, groups.ids, order is not None)
        return groups.values if order is None else [groups.values[at] for at in order]


def _reordered(table: ScoreTable, order: Sequence[int]) -> ScoreTable:
    assert table.segments is not None
    return replace(table, segments=table.segments[:, order])


class _Keyed(NamedTuple):
    """A table, and the ids of its rows if it has them."""

    table: ScoreTable
    keys: Sequence[str] | None

    def in_order_of(self, file: str, keys: Sequence[str] | None) -> ScoreTable:
        """The table in the order of the rows of a file, if both have the same ids."""
        order = order_by((self.table.source, self.keys), (file, keys))
        return self.table if order is None else _reordered(self.table, order)


def _of_samples(groups: Groups, samples: Sequence[str]) -> Sequence[str]:
    """The documents or strata of samples. Without ids of segments, these are in the order of the samples."""
    if groups.ids is None:
        return groups.values
    found: dict[str, str] = {}
    pairs = zip(groups.ids, groups.values, strict=True)
    twice = list(dict.fromkeys(name for name, value in pairs if found.setdefault(name, value) != value))
    if twice:
        raise InputError(
            f"{display_name(groups.path)}: {counted(len(twice), 'segment')} with several values: {few(twice)}"
        )
    # The ids of lm-evaluation-harness are a number and a hash.
    keys = [name if name in found else name.partition(" ")[0] for name in samples]
    lacking = [name for name, key in zip(samples, keys, strict=True) if key not in found]
    if lacking:
        raise InputError(
            f"{display_name(groups.path)}: {len(lacking):,} of {len(samples):,} samples of the logs have no row with "
            f"their id: {few(lacking)}"
        )
    return [found[key] for key in keys]


@dataclass(frozen=True)
class ScoreFiles:
    """The files of each metric, and the systems whose scores they have."""

    files: SetFiles
    systems: Mapping[str, str]
    """The file of each system, by name. Without texts, those of the first metric."""
    known: bool
    """Whether the systems are known before files of scores are read: not if a single file may hold several."""
    runs: Mapping[str, Sequence[str]]
    """If the systems are runs: the names of those of each system."""

    @property
    def names(self) -> list[str]:
        """The names of the systems."""
        return list(self.systems)

    @property
    def input_format(self) -> str | None:
        """With texts, ``--input-format`` is their format, and the extension gives that of a file of scores."""
        return None if self.files.references else self.files.input_format

    @property
    def _aliases(self) -> dict[str, str]:
        """Runs by the shortest names that tell their files apart, which files of scores may have for them, too."""
        return dict(zip(system_names(list(self.systems.values())), self.names, strict=True)) if self.runs else {}

    def read(self) -> ReadScores:
        """Read all files, each one once."""
        if not self.files.scores:
            return ReadScores({})
        from ...data.joined_scores import join, row  # texts alone should not wait for readers of logs

        files = {
            metric: ordered_files(f"--scores {metric}", own, self.systems, self.files.by_position)
            for metric, own in self.files.scores.items()
        }
        found = self._read({(metric, i): file for metric, own in files.items() for i, file in enumerate(own)})
        found, lacking = self._on_common(found)
        with_ids = ((each.table.source, each.keys) for each in found.values() if each.keys is not None)
        first: tuple[str, Sequence[str] | None] = next(with_ids, ("", None))
        ordered = {key: each.in_order_of(*first) for key, each in found.items()}
        moved = next((each.source for key, each in ordered.items() if each is not found[key].table), None)
        without_ids = (each.table for each in found.values() if each.keys is None)
        plain = next((each.source for each in without_ids if each.segment_ids is None), None)
        if moved is not None and plain is not None:
            raise unclear_order(first[0], moved, plain)
        rows: dict[tuple[str, str], ScoreTable] = {}
        wanted = dict(self.systems) if self.known else {}
        for metric, own in files.items():
            tables = [ordered[metric, i] for i in range(len(own))]
            if len(tables) == 1:
                keys = self._systems_of(metric, tables[0], wanted)
                wanted = wanted or {system: key or system for system, key in keys.items()}
                places = {system: tables[0].systems.index(key) for system, key in keys.items()}
                rows |= {(metric, system): row(tables[0], at) for system, at in places.items()}
                continue
            for system, table in zip(self.names, tables, strict=True):
                if len(table.systems) != 1:
                    raise not_one_system(table.source, table.systems)
                rows[metric, system] = table
        logs = {key: table for key, table in rows.items() if table.segment_ids is not None}
        if logs:
            joined, _, of_logs = join(logs, self.files.unmatched, "--unmatched drop")
            rows, lacking = rows | joined, {**lacking, **of_logs}
        n_left_out = len({name for names in lacking.values() for name in names})
        return ReadScores(rows, first, moved, plain, n_left_out)

    def _read(self, wanted: Mapping[tuple[str, int], str]) -> dict[tuple[str, int], _Keyed]:
        """What each file has. Of a file that is named several times, the content is kept as long as it is needed."""
        from ...data.joined_scores import open_log
        from ...data.retrieval import scores_of_run

        of_file = grouped((split_name(path)[0], key) for key, path in wanted.items())
        found, qrels = {}, self.files.qrels
        judged = None if qrels is None else Source.read(qrels, "relevance judgments", self.files.max_input)
        for keys in of_file.values():
            opened_table, _ = opened(wanted[keys[0]], self.input_format, self.files.max_input)
            source = opened_table.source
            log = open_log(source) if judged is None and self.input_format is None else None
            for key in keys:
                metric, name = key[0], split_name(wanted[key])[1]
                ids = None
                if judged is not None:
                    table = scores_of_run(source, judged, metric)
                elif log is not None:
                    table = log.table(log.chosen(_name_in_log(log, metric) if name is None else name))
                else:
                    table, ids = self._in_table(metric, opened_table, name)
                found[key] = _Keyed(replace(table, source=display_name(wanted[key])), ids)
        return found

    def _on_common(
        self, found: dict[tuple[str, int], _Keyed]
    ) -> tuple[dict[tuple[str, int], _Keyed], Mapping[tuple[str, str], Sequence[str]]]:
        """The tables with ids on the rows that all of them have, if ``--unmatched`` asks for it; what each lacks.

        :class:`InputError` if it does not, and they have different numbers of rows.
        """
        from ...data.joined_scores import join

        ids = {key: tuple(each.keys) for key, each in found.items() if each.keys is not None}
        if len({frozenset(own) if self.files.unmatched == "drop" else len(own) for own in ids.values()}) < 2:
            return found, {}
        tables = {(key[0], found[key].table.source): replace(found[key].table, segment_ids=ids[key]) for key in ids}
        empty = "an empty score, not a missing row, is a missing score; " * (self.files.missing == "pairwise")
        joined, common, lacking = join(tables, self.files.unmatched, f"{empty}--unmatched drop")
        own = {key: joined[key[0], found[key].table.source] for key in ids}
        return found | {key: _Keyed(replace(table, segment_ids=None), common) for key, table in own.items()}, lacking

    def _in_table(self, metric: str, table: Table, name: str | None) -> _Keyed:
        from ...data.score_tables import ScoreTable

        ids = [split_name(path) for path in (self.files.documents, self.files.strata) if path is not None]
        found = scores_in(
            table,
            name,
            missing=self.files.missing,
            metric=metric,
            several=len(self.files.scores[metric]) == 1,
            systems=self.names if self.known else (),
            others=[column for file, column in ids if file == table.source.file and column is not None],
        )
        names = [UNNAMED if each is None else each for each in found.systems]
        if table.format_name in BY_FILE and not self.known and names != [UNNAMED]:
            names = system_names(names)
        return _Keyed(ScoreTable(metric, tuple(names), found.values), found.ids)

    def _systems_of(self, metric: str, table: ScoreTable, wanted: Mapping[str, str]) -> dict[str, str]:
        """What the file of a metric calls each system. ``wanted`` has the systems' files, by name, if any are known."""
        keys = table.systems
        if keys == (UNNAMED,) or (table.segment_ids is not None and len(keys) == 1):
            names = list(wanted) or list(self.names)
            if len(names) > 1:
                raise wrong_number_of_files(metric, [table.source], names, self.runs)
            return {names[0]: keys[0]}
        if not wanted:
            return dict(zip(keys, keys, strict=True))
        if self.files.by_position:
            if len(keys) != len(wanted):
                raise InputError(
                    f"--scores {metric}: {table.source} has the scores of {len(keys)} systems "
                    f"({listed(keys)}), expected {len(wanted)}, because of --by-position"
                )
            return dict(zip(wanted, keys, strict=True))
        aliases = self._aliases
        found = {
            name: key
            for name, file in wanted.items()
            for key in [each for each in keys if each in (name, file) or aliases.get(each) == name][:1]
        }
        lost = [name for name in wanted if name not in found]
        left = [key for key in keys if key not in found.values()]
        same = same_names(left, [wanted[name] for name in lost])
        found |= {name: left[at] for name, at in zip(lost, same, strict=True) if at is not None}
        lost = [name for name in wanted if name not in found]
        if lost:
            hint = "; if they are in the order of the systems, add --by-position" if len(keys) == len(wanted) else ""
            outputs = "runs" if self.runs else "systems"
            raise InputError(
                f"--scores {metric}: {table.source} has no scores of {len(lost)} of {len(wanted)} {outputs}: "
                f"{few(lost)}; it has those of {few(keys)}{hint}"
            )
        return {name: found[name] for name in wanted}


def _name_in_log(log: ScoreFile, metric: str) -> str | None:
    """The score of a log that is called like the metric; None for the only one, if it has no name of its own.

    :class:`InputError` for another name: the scores would be reported as what they are not.
    """
    if metric in log.names:
        return metric
    if UNNAMED_SCORE in log.names:
        return None
    own = log.names[0] if len(log.names) == 1 else "NAME"
    raise log.unknown(metric, f"; to report another as {quoted(metric)}, write FILE#{own} (for folders, in a manifest)")


def ordered_files(option: str, files: OfSystems, systems: Mapping[str, str], by_position: bool) -> Sequence[str]:
    """The files of a metric in the order of the systems, whose own files they are named like."""
    if isinstance(files, Mapping):
        return [files[name] for name in systems]
    own = list(systems.values())
    if len(files) < 2 or by_position or list(files) == own:
        return files
    return files_by_name(option, files, own)


def numbered(runs: Mapping[str, Sequence[str]]) -> str:
    """How many runs there are.

    >>> numbered({"old": ["old/0.txt", "old/1.txt"], "new": ["new/0.txt"]})
    '3 runs (2 of old, 1 of new)'
    """
    return f"{sum(map(len, runs.values()))} runs ({listed(f'{len(own)} of {name}' for name, own in runs.items())})"


def wrong_number_of_files(
    name: str,
    files: Sequence[str],
    systems: Sequence[str],
    runs: Mapping[str, Sequence[str]],
    option: str = "--scores",
) -> InputError:
    """The error for another number of files than systems, or than the runs of systems."""
    hint = ""
    if len(files) > len(systems):
        hint = "; it takes all files up to the next option, so put it last"
    elif Path(split_name(name)[0]).is_file():
        hint = f"; {name} is a file: write a name before it"
    return InputError(
        f"{option} {name}: expected a file for each of {numbered(runs) if runs else f'{len(systems)} systems'} after "
        f"the name, got {len(files)}{hint}"
    )
