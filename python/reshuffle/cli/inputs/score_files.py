"""Files of ``--scores``: which belongs to which system, and their scores by metric and system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import click
import numpy as np

from ...data.alignment import aligned, in_numeric_order, order_by, unclear_order, without_parts
from ...data.corpus import system_names
from ...data.file_names import BY_POSITION, few, same_names
from ...data.files import display_name
from ...data.formats.base import Column, Others, Source
from ...data.id_columns import PARTS, QUESTIONS, TOTALS, are_numbers_of_rows, warn_of_passages, warn_of_repeated
from ...data.joined_scores import LEAVES_OUT, NUMBER, PASSED, join, open_log, problems_in, segment_order
from ...data.reading import split_name, split_path
from ...data.retrieval import check_no_run, scores_of_run
from ...data.score_columns import Table, columns_of_scores, opened
from ...data.score_tables import ScoreFile, ScoreTable, cells_of, of_system, on_segments
from ...data.scores import UNNAMED, not_one_system, scores_in
from ...data.unnamed_ids import with_unnamed_ids
from ...errors import InputError, MisreadWarning, counted, listed, printable, quoted, warn
from ...grouping import grouped
from .given_files import ReadScores, of_metric, ordered_files, wrong_number_of_files

if TYPE_CHECKING:
    from ...options.files import SetFiles

# What each file has, by metric and number.
ByFile: TypeAlias = "dict[tuple[str, int], ScoreTable]"
# The rows of files in one order, by the ids of the segments; files without ids are in this order.
Placed: TypeAlias = Mapping["tuple[str, ...] | None", Column]
# The ids of the segments that a system or file lacks, of those that others have.
Lacking: TypeAlias = Mapping[tuple[str, str], Sequence[str]]

# Formats that name systems by their files.
BY_FILE = ("comet", "comet-printed")
# What logs call the score of people who rate outputs: users call it DA, quality and so on.
UNNAMED_SCORE = "score"


def _rows(name: str, n: int, ids: Sequence[str] | None, others: Others | None = None) -> Column:
    """The rows of a file, by number."""
    return Column(name, range(n), range(n), keys=None if ids is None else (*ids,), others=others)


def _rows_of(table: ScoreTable, others: Others | None = None) -> Column:
    return _rows(table.source, table.n_segments or 0, table.segment_ids, others)


def _in_one_order(files: Iterable[Column]) -> Placed:
    """The rows of files in the order of the first that has ids."""
    distinct: dict[tuple[str, ...] | None, Column] = {}
    for each in files:
        ids = None if each.keys is None else (*each.keys,)
        distinct.setdefault(ids, _rows(each.name, len(each.lines), ids))
    return dict(zip(distinct, aligned([*distinct.values()]), strict=True))


def _first_with_ids(placed: Placed) -> Column:
    return next((each for each in placed.values() if each.keys is not None), Column("", [], []))


def _order_of_samples(log: ScoreTable, placed: Placed, what: str, n_segments: int | None) -> Sequence[int]:
    """The samples of a log in the order of other files, by their ids or numbers."""
    samples, first = _shown(log), _first_with_ids(placed)
    order = order_by((log.source, samples), (first.name, first.keys))
    if order is None:
        is_same = first.keys is not None and samples == (*first.keys,)
        ids = log.segment_ids or ()
        return range(len(samples)) if is_same else segment_order(ids, log.source, what, n_segments)
    if None in placed and not in_numeric_order(first.keys or ()):
        raise unclear_order(first.name, log.source, placed[None].name)
    return order


def _shown(log: ScoreTable) -> tuple[str, ...]:
    """The ids of the samples of a log: those of lm-evaluation-harness without the hash."""
    ids = log.segment_ids or ()
    numbers = tuple(found[1] for name in ids if (found := NUMBER.fullmatch(name)))
    return numbers if len(set(numbers)) == len(ids) else ids


def _check_rows(log: ScoreFile | None, path: str, rows: Mapping[str, str]) -> dict[str, str]:
    """The epoch that ``path`` chooses of a log, if any; :class:`InputError` for other rows.

    ``log`` is None for a run with judgments, which has no rows to choose.
    """
    if not rows:
        return {}
    samples = () if log is None else log.samples
    epochs = dict.fromkeys(str(each.epoch) for each in samples if each.epoch is not None)
    if epochs and [name.lower() for name in rows] == ["epoch"]:
        return {"epoch": next(iter(rows.values()))}
    got = ",".join(f"{name}={value}" for name, value in rows.items())
    what = "run with relevance judgments" if log is None else "log"
    expected = (
        f"an epoch of this {what}, such as epoch={next(iter(epochs))}" if epochs else f"no choice of rows of a {what}"
    )
    raise InputError(f"{display_name(split_name(path)[0])}: expected {expected}, got {quoted(got)}")


def _check_asked(log: ScoreFile, asked: dict[str, tuple[str, str]]) -> None:
    """Warn if a question in a log has another id in an earlier one. ``asked`` has the file and the text of each id."""
    earlier = {text for _, text in asked.values()}
    for sample in log.samples:
        file, text = asked.setdefault(sample.segment, (log.source.name, sample.asked))
        if text != sample.asked and sample.asked and sample.asked in earlier:
            warn(
                f"the input of the sample {quoted(sample.segment)} in {log.source.name} has another id in {file}, so "
                "rows may be matched wrongly: samples without ids of their own are numbered after they were shuffled",
                MisreadWarning,
            )
            return


def _check_parts(paths: Iterable[str]) -> None:
    """Warn if rows of different benchmarks are matched: their questions may have the same numbers."""
    chosen = [{name: value for name, value in split_path(path)[2].items() if name.lower() in PARTS} for path in paths]
    first, *others = [each for each in chosen if each] or [{}]
    if other := next((each for each in others if each != first), None):
        shown = [",".join(f"{name}={value}" for name, value in each.items()) for each in (first, other)]
        matched = f"rows of {' and '.join(shown)} are matched, but are different questions"
        warn(f"{matched}: choose the same for all files", MisreadWarning)


def _tell_of_means(file: str, log: ScoreFile | None) -> None:
    """Say that the scores of some segments in a log or a table are means of several."""
    if log is not None and log.format_name != "inspect":
        warn(
            f"{file}: some samples occur several times, and the means of their scores are taken: has it the same log "
            "twice?"
        )
        return
    segment, runs = ("segment", "runs") if log is None else ("sample", "epochs")
    shown = f"reshuffle: the score of each {segment} of {printable(file)} is the mean over its {runs}"
    click.echo(f"{shown}; for conclusions about new {runs}, use 'reshuffle runs'", err=True)


def _ordered(groups: Column, placed: Placed) -> Sequence[str]:
    """The documents or strata in the order of other files."""
    if groups.keys is None:
        return groups.lines
    return [groups.lines[at] for at in placed[tuple(groups.keys)].lines]


def _in_samples(groups: Column, samples: Sequence[str]) -> Sequence[str]:
    """The documents or strata of samples, by the ids of segments."""
    found: dict[str, str] = {}
    pairs = zip(groups.keys or (), groups.lines, strict=True)
    twice = list(dict.fromkeys(name for name, value in pairs if found.setdefault(name, value) != value))
    if twice:
        raise InputError(f"{groups.name}: {counted(len(twice), 'segment')} with several values: {few(twice)}")
    # The ids of lm-evaluation-harness are a number and a hash.
    keys = [name if name in found else name.partition(" ")[0] for name in samples]
    lacking = [name for name, key in zip(samples, keys, strict=True) if key not in found]
    if lacking:
        raise InputError(
            f"{groups.name}: {len(lacking):,} of {len(samples):,} samples of the logs have no row with their id: "
            f"{few(lacking)}"
        )
    return [found[key] for key in keys]


def _perhaps_scores(table: Table, name: str) -> list[str]:
    """The column of the scores; of a table without one of this name all that may have some."""
    if name in table.header:
        return [name]
    return columns_of_scores(table, table.perhaps_scores())


def _with_unnamed_ids(
    tables: ByFile,
    logs: ByFile,
    others: Mapping[tuple[str, int], Others],
    beside: Column | None,
    groups: Sequence[Column | None],
) -> tuple[ByFile, Sequence[Column | None]]:
    """The tables and groups, with the ids that their values show: see :func:`with_unnamed_ids`."""
    columns = [] if beside is None else [beside]
    columns += [_rows(each.source, each.n_segments or 0, _shown(each)) for each in logs.values()]
    n = len(columns)
    columns += [_rows_of(table, others.get(key)) for key, table in tables.items()]
    if columns:
        columns += [each for each in groups if each is not None and each.keys is None]
    found = with_unnamed_ids(columns)[n:]
    with_ids = {
        key: table if rows.keys is None else replace(table, segment_ids=(*rows.keys,))
        for (key, table), rows in zip(tables.items(), found, strict=False)
    }
    by_name = {each.name: each for each in found[len(tables) :]}
    return with_ids, [each and by_name.get(each.name, each) for each in groups]


def _warn_of_lacking_ids(tables: ByFile) -> None:
    """Warn if a file has ids of rows, and another under the same metric has none."""
    having: dict[str, ScoreTable] = {}
    for (metric, _), table in tables.items():
        if not are_numbers_of_rows(table.segment_ids) and len({*(table.segment_ids or ())}) == table.n_segments:
            having.setdefault(metric, table)
    for (metric, _), table in tables.items():
        ids = table.segment_ids or ()
        if (
            metric in having
            and len({*ids}) < (table.n_segments or 0) == having[metric].n_segments
            and [*ids] != without_parts(having[metric].segment_ids or ())
        ):
            own = f"{table.source} has {'no ids' if not ids else 'ids that occur several times'}"
            warn(
                f"{own}, unlike {having[metric].source}, so rows are matched by position: give both the same ids, or "
                "remove them if both files are in the same order",
                MisreadWarning,
            )
            return


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

    def read(self, beside: Column | None = None, what: str = "", groups: Sequence[Column | None] = ()) -> ReadScores:
        """Read all files, each one once.

        ``beside``: texts or counts, of whose segments the scores are, and which are ``what`` in errors; ``groups``: the
        documents and strata, if there are no texts.
        """
        files = {
            metric: ordered_files(of_metric("scores", metric), own, self.systems, self.files.by_position)
            for metric, own in self.files.scores.items()
        }
        for own in files.values():
            _check_parts(own)
        tables, logs, left = self._read(
            {(metric, i): file for metric, own in files.items() for i, file in enumerate(own)}
        )
        tables, groups = _with_unnamed_ids(tables, logs, left, beside, groups)
        tables, lacking = self._on_common(tables)
        ids = next((each.segment_ids for each in tables.values() if each.segment_ids is not None), None)
        # Samples of logs, and the rows that all tables have, are chosen from those of documents by their ids.
        given = [each for each in groups if each is not None]
        by_id = [each for each in given if each.keys is not None and (logs or (ids and len(ids) < len(each.keys)))]
        others = [each for each in given if each not in by_id]
        of_tables = [*map(_rows_of, tables.values())]
        placed = _in_one_order([*([] if beside is None else [beside]), *of_tables, *others])
        _warn_of_lacking_ids(tables)
        for key, table in tables.items():
            if table.segment_ids is not None:  # which only logs keep
                tables[key] = replace(on_segments(table, placed[table.segment_ids].lines), segment_ids=None)
        rows, shown = self._by_system(files, tables | logs), None
        if logs:
            joined, of_logs = join(
                {key: row for key, row in rows.items() if row.segment_ids is not None},
                self.files.unmatched,
                self._drop,
            )
            named = what or next((each.name for each in (*others, *of_tables)), None)
            if named is not None:
                n = None if beside is None else len(beside.lines)
                own_order = _order_of_samples(next(iter(joined.values())), placed, named, n)
                joined = {key: on_segments(row, own_order) for key, row in joined.items()}
            rows, lacking = rows | joined, {**lacking, **of_logs}
            log = next(iter(joined.values()))
            ids, shown = log.segment_ids, _shown(log)
        elif ids is not None:
            ids = tuple(_first_with_ids(placed).keys or ())
            shown = None if all(key == str(number) for number, key in enumerate(ids, 1)) else ids
        found = [
            None if each is None else _in_samples(each, ids or ()) if each in by_id else _ordered(each, placed)
            for each in groups
        ]
        n_left_out = len({name for names in lacking.values() for name in names})
        by_metric = grouped((metric, (system, cells_of(row)[0].tolist())) for (metric, system), row in rows.items())
        scores = {metric: dict(own) for metric, own in by_metric.items()}
        return ReadScores(scores, [*placed.values()], shown, found, n_left_out)

    @property
    def _drop(self) -> str:
        """What is said of the option that leaves out segments; nothing for runs, which have none."""
        return "" if self.runs else f"; --unmatched drop {LEAVES_OUT}"

    def _by_system(self, files: Mapping[str, Sequence[str]], tables: ByFile) -> dict[tuple[str, str], ScoreTable]:
        """The scores of each metric and system."""
        rows: dict[tuple[str, str], ScoreTable] = {}
        wanted = dict(self.systems) if self.known else {}
        for metric, own in files.items():
            if len(own) == 1:
                table = tables[metric, 0]
                keys = self._systems_of(metric, table, wanted)
                wanted = wanted or {system: key or system for system, key in keys.items()}
                rows |= {(metric, system): of_system(table, key) for system, key in keys.items()}
                continue
            for i, system in enumerate(self.names[: len(own)]):
                rows[metric, system] = table = tables[metric, i]
                if len(table.systems) != 1:
                    raise not_one_system(table.source, table.systems)
        return rows

    def _read(self, wanted: Mapping[tuple[str, int], str]) -> tuple[ByFile, ByFile, dict[tuple[str, int], Others]]:
        """What each table and each log has, and the other columns of tables without ids, or with numbers of rows alone.

        Of a file that is named several times, the content is kept.
        """
        others: dict[tuple[str, int], Others] = {}
        tables: ByFile = {}
        logs: ByFile = {}
        # With texts, --input-format is their format, and the extension gives that of a file of scores.
        input_format, qrels = None if self.files.references else self.files.input_format, self.files.qrels
        judged = None if qrels is None else Source.read(qrels, "relevance judgments", self.files.max_input)
        by_file = grouped((split_name(path)[0], key) for key, path in wanted.items())
        asked: dict[str, tuple[str, str]] = {}
        is_noted = False
        for number, (file, keys) in enumerate(by_file.items()):
            opened_table, _ = opened(file, input_format, self.files.max_input)
            source = opened_table.source
            if judged is None:
                check_no_run(source)
            log = open_log(source) if judged is None and input_format is None else None
            for key in keys:
                metric = key[0]
                _, name, rows = split_path(wanted[key])
                if log is not None or judged is not None:
                    rows = _check_rows(log, wanted[key], rows)
                kept = replace(opened_table, rows=rows)
                may_have_problems = judged is None and "epoch" not in rows
                problems = problems_in(metric, kept, log, name) if may_have_problems else None
                if judged is not None:
                    found, table = logs, scores_of_run(source, judged, metric)
                elif problems is not None:
                    found, table = logs, problems.table(problems.chosen(metric))
                elif log is not None:
                    chosen = log.chosen(_name_in_log(log, metric) if name is None else name)
                    found, table = logs, log.table(chosen, epoch=rows.get("epoch"))
                else:
                    found, table = tables, self._in_table(metric, kept, name)
                    left = kept.others(_perhaps_scores(kept, name or metric))
                    # Segments that are sorted by their numbers are in another order than the other columns.
                    is_sorted = table.segment_ids is not None and [*table.segment_ids] != kept.ids()
                    if left is not None and not is_sorted:
                        others[key] = left
                if problems is None and not is_noted and table.n_ratings > np.isfinite(cells_of(table)).sum():
                    _tell_of_means(source.name, log)
                    is_noted = True
                found[key] = replace(table, source=display_name(wanted[key]))
            if log is not None:
                _check_asked(log, asked)
            if number == 0 and judged is None and self.files.documents is None:
                said, ids = (opened_table, opened_table.ids()) if log is None else (log.content, None)
                warn_of_passages(source.name, said.header, said.values, ids)
        return tables, logs, others

    def _on_common(self, found: ByFile) -> tuple[ByFile, Lacking]:
        """The tables with ids on the rows that all of them have, if ``--unmatched`` asks for it; what each lacks.

        :class:`InputError` if it does not, and they have different numbers of rows.
        """
        keyed = {key: each for key, each in found.items() if each.segment_ids is not None}
        ids = [each.segment_ids or () for each in keyed.values()]
        if len({frozenset(own) if self.files.unmatched == "drop" else len(own) for own in ids}) < 2:
            return found, {}
        empty = "; an empty score, not a missing row, is a missing score" * (self.files.missing == "pairwise")
        by_file = {(key[0], each.source): each for key, each in keyed.items()}
        joined, lacking = join(by_file, self.files.unmatched, empty + self._drop)
        return found | {key: joined[key[0], each.source] for key, each in keyed.items()}, lacking

    def _in_table(self, metric: str, table: Table, name: str | None) -> ScoreTable:
        ids = [split_name(path) for path in (self.files.documents, self.files.strata) if path is not None]
        own = (table.source.file, table.id_column(()))
        found = scores_in(
            table,
            name,
            missing=self.files.missing,
            metric=metric,
            several=len(self.files.scores[metric]) == 1,
            systems=self.names if self.known else (),
            others=[column for file, column in ids if column is not None and (file == own[0] or column == own[1])],
        )
        if found.segment_ids is None and self.files.documents is None:
            for column in (each for each in table.header if each.lower() in QUESTIONS):
                warn_of_repeated(f"{table.source.name}#{column}", [*map(str, table.values(column))])
        if found.segment_ids and found.segment_ids[-1].lower() in TOTALS:
            last = quoted(found.segment_ids[-1])
            problem = f"{last} in the last row is taken as a segment: if it sums up the others, leave it out"
            warn(f"{table.source.name}: {problem}", MisreadWarning)
        if table.format_name in BY_FILE and not self.known and found.systems != (UNNAMED,):
            return replace(found, systems=tuple(system_names(found.systems, with_numbers=True)))
        return found

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
                    "{option}: {file} has the scores of {n} systems ({names}), expected {wanted}, because of "
                    "{by_position}",
                    option=of_metric("scores", metric),
                    file=table.source,
                    n=len(keys),
                    names=listed(keys),
                    wanted=len(wanted),
                    by_position=BY_POSITION,
                )
            return dict(zip(wanted, keys, strict=True))
        # Runs may also be called by the shortest names that tell their files apart.
        short = system_names(list(self.systems.values()), max_input=self.files.max_input) if self.runs else ()
        called = dict(zip(short, self.systems, strict=False))
        called |= {file: name for name, file in wanted.items()} | {name: name for name in wanted}
        found = {called[key]: key for key in reversed(keys) if key in called}
        lost = [name for name in wanted if name not in found]
        left = [key for key in keys if key not in found.values()]
        same = same_names(left, [wanted[name] for name in lost])
        found |= {name: left[at] for name, at in zip(lost, same, strict=True) if at is not None}
        lost = [name for name in wanted if name not in found]
        if lost:
            hint = "; if they are in the order of the systems, add {by_position}" if len(keys) == len(wanted) else ""
            raise InputError(
                "{option}: {file} has no scores of {n} of {all} {outputs}: {lost}; it has those of {known}" + hint,
                option=of_metric("scores", metric),
                file=table.source,
                n=len(lost),
                all=len(wanted),
                outputs="runs" if self.runs else "systems",
                lost=few(lost),
                known=few(keys),
                by_position=BY_POSITION,
            )
        return {name: found[name] for name in wanted}


def _name_in_log(log: ScoreFile, metric: str) -> str | None:
    """The score of a log that is called like the metric; None for the only one, if it has no name of its own.

    :class:`InputError` for another name: the scores would be reported as what they are not.
    """
    if metric in log.names:
        return metric
    if metric in PASSED and "pass@1" in log.names:  # of a problem, the mean of its samples
        return "pass@1"
    if UNNAMED_SCORE in log.names:
        return None
    own = log.names[0] if len(log.names) == 1 else "NAME"
    raise log.unknown(metric, f"; to report another as {quoted(metric)}, write FILE#{own} (for folders, in a manifest)")
