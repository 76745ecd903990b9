"""Files of ``--scores``: which belongs to which system, and their scores by metric and system."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...data.corpus import system_names
from ...data.file_names import few, files_by_name, same_names
from ...data.files import display_name
from ...data.reading import split_name
from ...data.scores import may_be_log, not_one_system, opened, scores_in
from ...errors import InputError, listed

if TYPE_CHECKING:
    from ...data.formats.base import Source
    from ...data.score_tables import ScoreFile, ScoreTable
    from ...options.files import OfSystems, SetFiles

# Formats that name systems by their files.
BY_FILE = ("comet", "comet-printed")


class Groups(NamedTuple):
    """The ids of the segments' documents or strata, and those of the segments, if the file has them."""

    path: str
    values: Sequence[str]
    ids: Sequence[str] | None


@dataclass(frozen=True)
class ReadScores:
    """Scores by metric and system.

    ``ids`` has the ids of the segments, if any file is a log. ``log`` is the first log, ``logs`` has the metrics and
    systems whose scores are from logs, and ``other`` is the first file that is no log.
    """

    scores: Mapping[str, Mapping[str, list[float]]]
    ids: tuple[str, ...] | None = None
    log: str = ""
    logs: Collection[tuple[str, str]] = ()
    other: str | None = None

    def in_order(self, what: str, n_segments: int | None = None) -> ReadScores:
        """The samples of logs in the order of the segments of texts or of other files. ``what`` is named in errors."""
        if self.ids is None:
            return self
        from ...data.joined_scores import segment_order

        order = segment_order(self.ids, self.log, what, n_segments)
        scores = {
            name: {
                system: [values[at] for at in order] if (name, system) in self.logs else values
                for system, values in by_system.items()
            }
            for name, by_system in self.scores.items()
        }
        return replace(self, scores=scores, ids=tuple(self.ids[at] for at in order))

    def with_groups(self, *groups: Groups | None) -> tuple[ReadScores, Sequence[str] | None, Sequence[str] | None]:
        """The scores, documents and strata of the same segments, without texts: of logs by the ids of samples."""
        scores = self
        by_line = next((each.path for each in groups if each is not None and each.ids is None), self.other)
        if self.ids is not None and by_line is not None:
            scores = self.in_order(display_name(by_line))
        documents, strata = (
            None if each is None else each.values if scores.ids is None else _of_samples(each, scores.ids)
            for each in groups
        )
        return scores, documents, strata


def _of_samples(groups: Groups, samples: Sequence[str]) -> Sequence[str]:
    """The documents or strata of samples. Without ids of segments, these are in the order of the samples."""
    if groups.ids is None:
        return groups.values
    found = dict(zip(groups.ids, groups.values, strict=True))
    if len(found) < len(groups.ids):
        twice = list(dict.fromkeys(name for name in groups.ids if groups.ids.count(name) > 1))
        raise InputError(f"{display_name(groups.path)}: {len(twice):,} ids of segments occur twice: {few(twice)}")
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
class _InFile:
    """What a file has: scores by system, or a log."""

    file: str
    by_system: Mapping[str | None, list[float]] = field(default_factory=dict)
    by_file_names: bool = False
    log: ScoreTable | None = None

    def scores_of(self, system: str | None) -> list[float]:
        """The scores of a system, by its name in the file; None for the only one."""
        return self.by_system[system] if system is not None else next(iter(self.by_system.values()))


@dataclass(frozen=True)
class ScoreFiles:
    """The files of each metric, and the systems whose scores they have."""

    files: SetFiles
    systems: Mapping[str, str]
    """The file of each system, by name. Without texts, those of the first metric."""
    known: bool
    """Whether the systems are known before files of scores are read: not if a single file may hold several."""
    aliases: Mapping[str, str]
    """The systems by other names that files may have for them, if they are runs."""

    @property
    def names(self) -> list[str]:
        """The names of the systems."""
        return list(self.systems)

    @property
    def outputs(self) -> str:
        """What the systems are, for messages."""
        return "runs" if self.aliases else "systems"

    @property
    def input_format(self) -> str | None:
        """With texts, ``--input-format`` is their format, and the extension gives that of a file of scores."""
        return None if self.files.references else self.files.input_format

    def read(self) -> ReadScores:
        """Read all files, each one once."""
        files = {
            metric: ordered_files(f"--scores {metric}", own, self.systems, self.files.by_position)
            for metric, own in self.files.scores.items()
        }
        found = self._read({(metric, i): file for metric, own in files.items() for i, file in enumerate(own)})
        plain: dict[str, dict[str, list[float]]] = {}
        logs: dict[tuple[str, str], ScoreTable] = {}
        wanted = dict(self.systems) if self.known else {}
        for metric, own in files.items():
            tables = [found[metric, i] for i in range(len(own))]
            if len(tables) > 1:
                keys = dict.fromkeys(self.names)
                of_system = dict(zip(self.names, map(_checked, tables), strict=True))
            else:
                keys = self._systems_of(metric, tables[0], wanted)
                of_system = dict.fromkeys(keys, tables[0])
                wanted = wanted or {system: system if key is None else key for system, key in keys.items()}
            plain[metric] = {}
            for system, table in of_system.items():
                if table.log is None:
                    plain[metric][system] = table.scores_of(keys[system])
                else:
                    logs[metric, system] = _row_of(table.log, keys[system])
        return self._joined(plain, logs, found)

    def _joined(
        self,
        plain: Mapping[str, dict[str, list[float]]],
        logs: Mapping[tuple[str, str], ScoreTable],
        found: Mapping[tuple[str, int], _InFile],
    ) -> ReadScores:
        """The scores, with those of logs on the samples that match."""
        if not logs:
            return ReadScores(plain)
        from ...data.joined_scores import join

        scores, ids, _ = join(logs, self.files.unmatched, "--unmatched drop")
        for (name, system), values in scores.items():
            plain[name][system] = values
        log = next(each.file for each in found.values() if each.log is not None)
        other = next((each.file for each in found.values() if each.log is None), None)
        return ReadScores(plain, ids, log, frozenset(logs), other)

    def _read(self, wanted: Mapping[tuple[str, int], str]) -> dict[tuple[str, int], _InFile]:
        """What each file has. Of a file that is named several times, the content is kept as long as it is needed."""
        of_file: dict[str, list[tuple[str, int]]] = {}
        for key, path in wanted.items():
            of_file.setdefault(split_name(path)[0], []).append(key)
        found = {}
        for keys in of_file.values():
            source, _, format_name = opened(wanted[keys[0]], self.input_format, self.files.max_input)
            if self.files.qrels is not None:
                found.update(self._of_run(source, self.files.qrels, keys))
                continue
            log = self._log(source)
            for key in keys:
                name = split_name(wanted[key])[1]
                if log is not None:
                    own = key[0] if name is None and key[0] in log.names else name
                    found[key] = _InFile(wanted[key], log=log.table(log.chosen(own)))
                    continue
                found[key] = _InFile(
                    wanted[key], self._in_table(key[0], source, name, format_name), format_name in BY_FILE
                )
        return {key: found[key] for key in wanted}

    def _of_run(self, run: Source, qrels: str, keys: Sequence[tuple[str, int]]) -> dict[tuple[str, int], _InFile]:
        """The scores of queries under each measure, from the documents that a system retrieved for them."""
        from ...data.retrieval import scores_of_run

        judged = type(run).read(qrels, "relevance judgments", self.files.max_input)
        return {key: _InFile(run.file, log=scores_of_run(run, judged, key[0])) for key in keys}

    def _in_table(
        self, metric: str, source: Source, name: str | None, format_name: str
    ) -> dict[str | None, list[float]]:
        ids = [split_name(path) for path in (self.files.documents, self.files.strata) if path is not None]
        return scores_in(
            source,
            name,
            format_name,
            missing=self.files.missing,
            metric=metric,
            several=len(self.files.scores[metric]) == 1,
            systems=self.names if self.known else (),
            others=[column for file, column in ids if file == source.file and column is not None],
        )

    def _log(self, source: Source) -> ScoreFile | None:
        if self.input_format is not None or not may_be_log(source):
            return None
        from ...data.joined_scores import open_log

        return open_log(source)

    def _systems_of(self, metric: str, table: _InFile, wanted: Mapping[str, str]) -> dict[str, str | None]:
        """What the file of a metric calls each system. ``wanted`` has the systems' files, by name, if any are known."""
        given = [*(table.by_system if table.log is None else table.log.systems)]
        if given == [None] or (table.log is not None and len(given) == 1):
            names = list(wanted) or list(self.names)
            if len(names) > 1:
                raise wrong_number_of_files(metric, [table.file], names, self.outputs)
            return {names[0]: given[0]}
        keys = [str(key) for key in given]
        if not wanted:  # comet-score names systems by their files
            return dict(zip(system_names(keys) if table.by_file_names else keys, given, strict=True))
        if self.files.by_position:
            if len(keys) != len(wanted):
                raise InputError(
                    f"--scores {metric}: {display_name(table.file)} has the scores of {len(keys)} systems "
                    f"({listed(keys)}), expected {len(wanted)}, because of --by-position"
                )
            return dict(zip(wanted, keys, strict=True))
        found = {
            name: next((key for key in keys if key in (name, file) or self.aliases.get(key) == name), None)
            for name, file in wanted.items()
        }
        lost = [name for name, key in found.items() if key is None]
        left = [key for key in keys if key not in found.values()]
        for name, at in zip(lost, same_names(left, [wanted[name] for name in lost]), strict=True):
            found[name] = None if at is None else left[at]
        lost = [name for name in lost if found[name] is None]
        if lost:
            hint = "; if they are in the order of the systems, add --by-position" if len(keys) == len(wanted) else ""
            raise InputError(
                f"--scores {metric}: {display_name(table.file)} has no scores of {len(lost)} of {len(wanted)} "
                f"{self.outputs}: {few(lost)}; it has those of {few(keys)}{hint}"
            )
        return found


def _checked(table: _InFile) -> _InFile:
    """The same file, after a check that it has the scores of one system."""
    systems = table.by_system if table.log is None else table.log.systems
    if len(systems) != 1:
        raise not_one_system(table.file if table.log is None else table.log.source, systems)
    return table


def _row_of(log: ScoreTable, system: str | None) -> ScoreTable:
    from ...data.joined_scores import row

    return row(log, 0 if system is None else log.systems.index(system))


def ordered_files(option: str, files: OfSystems, systems: Mapping[str, str], by_position: bool) -> Sequence[str]:
    """The files of a metric in the order of the systems, whose own files they are named like."""
    if isinstance(files, Mapping):
        return [files[name] for name in systems]
    own = list(systems.values())
    if len(files) < 2 or by_position or list(files) == own:
        return files
    return files_by_name(option, files, own)


def wrong_number_of_files(
    name: str, files: Sequence[str], systems: Sequence[str], outputs: str = "systems", option: str = "--scores"
) -> InputError:
    """The error for another number of files than systems."""
    hint = ""
    if len(files) > len(systems):
        hint = "; it takes all files up to the next option, so put it last"
    elif Path(split_name(name)[0]).is_file():
        hint = f"; {name} is a file: write a name before it"
    return InputError(
        f"{option} {name}: expected a file for each of {len(systems)} {outputs} after the name, got {len(files)}{hint}"
    )
