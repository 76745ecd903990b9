"""From the options of ``reshuffle meta`` to test sets: outputs, scores of metrics, and human judgments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from attrs import evolve

from ...data.count_files import is_count_file
from ...data.judgments import Judgments, read_judgments
from ...data.reading import split_name
from ...data.score_tables import ScoreFile, ScoreTable, read_all_scores, read_scores
from ...data.system_names import read_sysmap
from ...errors import Argument, InputError, quoted, unknown_name
from ...meta.material import JudgedSet
from ...options.declare import call, check, check_combined, files_in, refused, taken
from ...options.evaluations import Evaluation, ReadAllScores, ReadJudgments, ReadScores
from ...options.files import SetFiles
from ...options.meta_files import MetaFiles
from ...resampling.counting import Data, labels_of
from ...sets import on_each
from ...settings import Resampling
from ..declared import by_name
from ..inputs.sets import Inputs, check_one_set, command_line, completed, in_manifest, read_manifest
from ..inputs.test_set import Input, needs_texts
from ..metric_options import metrics_of

T = TypeVar("T")

# The name of people's scores in --lower-is-better.
HUMAN = "human"
METRICS = Argument("metrics", as_flag="-m")
TEXTS = Argument("references and systems", as_flag="--refs and --systems")
NAME_OF_LOWER = Argument("name in lower_is_better", as_flag="name in --lower-is-better")
FLAGS = {"segment_base": "--segment-base"}


@dataclass(frozen=True)
class MetaInput:
    """The checked files of one test set, and what reads its texts."""

    name: str
    files: MetaFiles
    texts: Input | None

    @classmethod
    def checked(cls, name: str, files: MetaFiles, default: str, threads: int | None) -> MetaInput:
        """Check all that can be checked before files are read. ``default`` is the metric on texts if none is named."""
        _check_files(files)
        texts = None
        if files.references:
            own = taken(SetFiles, files, lower_is_better=())
            texts = Input.checked(own, least=1, default=default, threads=threads)
        elif files.metrics:
            others = Argument("metrics of metric_scores", as_flag="metrics of --metric-scores")
            raise needs_texts(files.metrics[0].name, TEXTS, others)
        else:
            metrics_of([], files.metric_options)
        checked = cls(name, files, texts)
        checked.check_metric_names()
        return checked

    @property
    def paths(self) -> list[str]:
        """All files that will be read."""
        texts = [] if self.texts is None else self.texts.paths
        return [*texts, *files_in(evolve(self.files, references=(), systems=()))]

    def check_metric_names(self) -> None:
        """:class:`InputError` for two metrics of the same name, and unknown names in ``--lower-is-better``."""
        metrics = [] if self.texts is None else self.texts.known_metrics
        native = labels_of(metrics)
        for label in native:
            if label in self.files.metric_scores:
                scores = Argument(f"metric_scores, {label}", as_flag=f"--metric-scores {label}=…")
                problem = "{scores} has the name of a metric of {metrics}: choose another name"
                raise refused(MetaFiles, problem, scores=scores, metrics=METRICS)
        if HUMAN in self.files.metric_scores and HUMAN in self.files.lower_is_better:
            problem = "{lower_is_better} human: both {human} and {metric_scores} have this name: rename the latter"
            raise refused(MetaFiles, problem)
        known = [*self.files.metric_scores, *([HUMAN] if self.files.human else [])]
        for name in self.files.lower_is_better:
            if name not in known and not self.files.score_files:
                if name in native:
                    problem = "{lower_is_better} {name} is for {metric_scores}, not for {metrics}: leave it out"
                    raise refused(MetaFiles, problem, name=name, metrics=METRICS)
                raise unknown_name(NAME_OF_LOWER, name, known)

    def read(self, resampling: Resampling) -> JudgedSet:
        """Read all files, and score the outputs."""
        files = self.files
        sysmap = None if files.sysmap is None else read_sysmap(files.sysmap, max_input=files.max_input)
        known: dict[str, Any] = {"sysmap": sysmap, "systems": None, "n_segments": None}
        if self.texts is not None:
            found = self.texts.read()
            data = Data.from_arguments(found.references, found.systems, found.metrics or (), warn_of_duplicates=False)
            known |= {"systems": data.names, "n_segments": data.n_segments}
            judgments, human, scores = self._judgments(known), self._human(known), self._scores(known)
            return JudgedSet.from_data(data, judgments, human, scores, self.name, resampling)
        # Without texts, the systems are those that metrics scored, and all files tell how many segments there are.
        scores = self._scores(known)
        # The map has been applied to these names, and its targets need no mapping.
        known["systems"] = tuple(dict.fromkeys(system for table in scores for system in table.systems))
        judgments, human = self._judgments(known), self._human(known)
        sizes = [each.n_segments for each in (*scores, human, judgments) if each is not None]
        n_segments = max((n for n in sizes if n is not None), default=1)
        return JudgedSet.from_scores(
            [_padded(table, n_segments) for table in scores],
            judgments=judgments,
            human=None if human is None else _padded(human, n_segments),
            name=self.name,
        )

    def _judgments(self, known: Mapping[str, Any]) -> Judgments | None:
        """The votes, if there are any. ``known`` are options that other files tell."""
        path, own_format = self.files.judgments, self.files.judgments_format
        if path is None:
            return None
        return self._read(read_judgments, ReadJudgments, known, path=path, input_format=own_format)

    def _human(self, known: Mapping[str, Any]) -> ScoreTable | None:
        """The human scores, if there are any."""
        files = self.files
        if files.human is None:
            return None
        is_error = HUMAN in files.lower_is_better and HUMAN not in files.metric_scores
        return self._table(files.human, known, higher_is_better=not is_error, input_format=files.human_format)

    def _scores(self, known: Mapping[str, Any]) -> list[ScoreTable]:
        """The scores of metrics from other programs, by the names that the user chose."""
        files, found = self.files, []
        # Outputs that no one judged may have no scores, and scores of systems without outputs do not matter.
        unknown = "error" if known["systems"] is None else files.missing_systems
        of_metrics = {**known, "unknown": unknown, "repeated": "error"}
        for name, given in files.metric_scores.items():
            table = self._called(name, given, of_metrics, higher_is_better=name not in files.lower_is_better)
            found.append(replace(table, name=name))
        lower = {name for name in files.lower_is_better if name not in (HUMAN, *files.metric_scores)}
        for given in files.score_files:
            path, metric = split_name(given)
            if metric is None:
                tables = self._read(read_all_scores, ReadAllScores, of_metrics, path=path, lower_is_better=())
                human = self._human(known) if split_name(files.human or "")[0] == path else None
                if human is not None:
                    # The scores of people in a file that has both are not those of a metric.
                    tables.pop(human.name, None)
            else:
                tables = {metric: self._table(given, of_metrics)}
            found += [replace(table, higher_is_better=name not in lower) for name, table in tables.items()]
            lower -= set(tables)
        if lower:
            raise unknown_name(NAME_OF_LOWER, min(lower), [table.name for table in found])
        return found

    def _called(self, name: str, given: str, known: Mapping[str, Any], **others: Any) -> ScoreTable:
        """The scores in a file that are called ``name``, which the file may have, too."""
        path, metric = split_name(given)
        if metric is not None:
            return self._table(given, known, **others)
        people, column = split_name(self.files.human or "")

        file = self._read(ScoreFile.read, ReadScores, known, path=path, metric=None, **others)
        own = file.chosen(next((each for each in file.names if each.casefold() == name.casefold()), None))
        if path == people and own == file.chosen(column):
            left = [each for each in file.names if each != own]
            raise InputError(
                "{scores}: these are the human scores ({own}): {advice}",
                scores=Argument(f"metric_scores, {name}", as_flag=f"--metric-scores {name}={given}"),
                own=quoted(own),
                advice=f"write FILE#{left[0]}" if left else "name another column, as in FILE#NAME, or another file",
            )
        return file.table(own, file.options.higher_is_better)

    def _table(self, given: str, known: Mapping[str, Any], **others: Any) -> ScoreTable:
        """The scores in ``FILE`` or ``FILE#NAME``."""
        return self._read(read_scores, ReadScores, known, path=given, **others)

    def _read(
        self, read: Callable[..., T], record: Callable[..., Evaluation], known: Mapping[str, Any], **others: Any
    ) -> T:
        """What a reader makes of its options: those of the files that have the same names, and others."""
        given = {"unknown": self.files.missing_systems, "input_format": None, **known, **others}
        found = taken(record, self.files, **given)
        check(found, FLAGS)
        return call(read, found)


def _padded(table: ScoreTable, n_segments: int) -> ScoreTable:
    """With missing scores for the segments after the last one of the table."""
    if table.segments is None or table.segments.shape[1] == n_segments:
        return table
    more = n_segments - table.segments.shape[1]
    return replace(table, segments=np.pad(table.segments, ((0, 0), (0, more)), constant_values=np.nan))


def _check_files(files: MetaFiles) -> None:
    """:class:`InputError` if something that every evaluation needs is missing."""
    if files.judgments is None and files.human is None:
        raise InputError(
            "nothing from people: add {judgments} (votes) or {human} (scores)",
            judgments=Argument("judgments", as_flag="--judgments FILE"),
            human=Argument("human", as_flag="--human FILE"),
        )
    if files.references and not files.systems and not is_count_file(files.references[0]):
        raise refused(MetaFiles, "references without outputs: add {systems}")
    if files.systems and not files.references:
        raise refused(MetaFiles, "outputs without references: add {references}")
    if not files.references and not files.metric_scores and not files.score_files:
        raise InputError(
            "no metrics: add {texts} for metrics on texts, or {scores}",
            texts=TEXTS,
            scores=Argument("metric_scores", as_flag="--metric-scores NAME=FILE"),
        )
    check_combined(files)


def checked_sets(options: dict[str, Any], default: str, threads: int | None) -> Inputs[MetaInput]:
    """Check all that can be checked before files are read, and take the options used here out of ``options``."""
    path = options["manifest"]
    if path is not None:
        check_one_set(MetaFiles, options, "{flag} is for one test set: use the key '{key}' in the manifest")
    given = _with_names(command_line(MetaFiles, options))
    if path is None:
        return Inputs({"": MetaInput.checked(given.language_pair or "", given, default, threads)})
    manifest = read_manifest(path, "test sets with people's judgments in JSON or TOML")

    def checked(name: str, values: Mapping[str, Any]) -> MetaInput:
        return MetaInput.checked(name, completed(given, values, manifest.folder), default, threads)

    found = manifest.sets(MetaFiles, reserved=("average", "pooled"))
    with in_manifest(path):
        return Inputs(on_each(found, checked), path)


def _with_names(given: MetaFiles) -> MetaFiles:
    """With those of ``--metric-scores`` by name that are written as NAME=FILE."""
    named: list[tuple[str, str]] = []
    files: list[str] = []
    for word in given.score_files:
        name, equals, path = word.partition("=")
        if not equals or Path(split_name(word)[0]).is_file():
            files.append(word)
        elif not name or not path:
            raise InputError(f"--metric-scores: expected NAME=FILE, got {quoted(word)}")
        else:
            named.append((name, path))
    return evolve(given, metric_scores=by_name("--metric-scores", named), score_files=tuple(files))
