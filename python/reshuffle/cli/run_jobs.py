"""From the options of ``reshuffle runs`` to outputs of runs on a test set and a development set."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..data.corpus import system_names
from ..data.count_files import is_count_file
from ..data.files import STDIN, check_stdin, display_name
from ..data.run_manifest import DevFiles, RunFiles, read_run_manifest
from ..errors import InputError, listed, quoted, unknown_name
from ..resampling.counting import labels_of, metrics_named
from ..runs import Development, Runs, output_name
from ..settings import Resampling
from .command import name_and_words, words
from .job import Job
from .metric_options import MetricChoice, flags, parse_metric

# What the baseline is called without --baseline-name.
BASELINE = "baseline"
# The options that a manifest replaces, with its keys.
IN_MANIFEST: Mapping[str, tuple[str, str]] = {
    "refs": ("--refs", "references"),
    "baseline": ("--baseline", "systems"),
    "systems": ("--system", "systems"),
    "scores": ("--scores", "scores"),
    "lower_is_better": ("--lower-is-better", "lower_is_better"),
    "parses": ("--parses", "parses"),
    "documents": ("--docs", "documents"),
    "strata": ("--strata", "strata"),
    "dev_refs": ("--dev-refs", "dev"),
    "dev_baseline": ("--dev-baseline", "dev"),
    "dev_systems": ("--dev-system", "dev"),
    "dev_scores": ("--dev-scores", "dev"),
}


@dataclass(frozen=True)
class RunJob:
    """The checked options of ``runs``: the files of all runs, and jobs that read those of each set."""

    files: RunFiles
    job: Job
    dev: Job | None
    manifest: str | None

    @classmethod
    def from_options(cls, options: dict[str, Any]) -> RunJob:
        """Check all that can be checked before texts are read, and remove the options used here from ``options``."""
        manifest = options.pop("manifest")
        own = {name: options.pop(name) for name in (*IN_MANIFEST, "baseline_name")}
        files = _from_options(own) if manifest is None else _from_manifest(manifest, own)
        _check_systems(files.systems)
        _check_development(files, options["median_on"])
        if files.metrics is not None:
            options["metrics"] = [parse_metric(text, files.folder) for text in files.metrics]
        elif not options["metrics"] and files.references and not is_count_file(files.references[0]):
            options["metrics"] = [MetricChoice("bleu")]
        if not files.references:
            _check_without_texts(files, options["metrics"])
        options |= files.options
        job = _job(files, options)
        _check_metric_names(job, files.dev, options["median_metric"])
        if manifest is not None:  # which names the systems
            job = replace(job, in_order=list(files.scores))
        checked = cls(files, job, _dev_job(files.dev, job), manifest)
        check_stdin(checked.inputs.count(STDIN))
        return checked

    @property
    def inputs(self) -> list[str]:
        """All files that will be read, and the manifest."""
        own = [] if self.manifest is None else [self.manifest]
        dev = [] if self.dev is None else self.dev.files
        return [*own, *self.job.files, *dev]

    @property
    def resampling(self) -> Resampling:
        """The settings of the replicates."""
        return self.job.resampling

    def read(self) -> tuple[Runs, Development]:
        """Read all files."""
        (references, outputs, metrics), units = self.job.read()
        names = dict(zip(self.job.names, _shown(self.files), strict=True))
        shown = {name: [names[key] for key in keys] for name, keys in _keys(self.files.systems).items()}
        runs = Runs.from_arguments(references, _by_system(self.files.systems, outputs), metrics, units, shown)
        dev = None
        if self.dev is not None:
            try:
                (references, outputs, metrics), _ = self.dev.read()
                systems = self.files.dev.systems
                dev = Runs.from_arguments(references, _by_system(systems, outputs), metrics)
            except InputError as error:
                raise InputError(f"development set: {error}") from error
        return runs, Development(dev, self.files.dev.scores)


def _keys(systems: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The name of each output, by system."""
    return {name: [output_name(name, run) for run in range(len(files))] for name, files in systems.items()}


def _flat(systems: Mapping[str, Sequence[str]]) -> list[str]:
    return [file for files in systems.values() for file in files]


def _shown(files: RunFiles) -> list[str]:
    """The shortest names that distinguish the outputs' files."""
    return system_names(_flat(files.systems))


def _by_system(systems: Mapping[str, Sequence[str]], outputs: Any) -> dict[str, Any]:
    """The outputs of each system's runs, or their number if there are no texts."""
    if outputs is None:
        return {name: len(files) for name, files in systems.items()}
    return {name: [outputs[key] for key in keys] for name, keys in _keys(systems).items()}


def _job(files: RunFiles, options: dict[str, Any]) -> Job:
    """The job of the test set, whose systems are the outputs of all runs."""
    scores = []
    for metric, by_system in files.scores.items():
        scores.append("\0".join([metric, *_scores_in_order(metric, by_system, files.systems)]))
    options.update(
        refs=files.references[1:],
        scores=scores,
        lower_is_better=files.lower_is_better,
        # Missing scores are read, so that the error can say that runs need all of them.
        missing="pairwise" if scores else "error",
        parses=files.parses,
        documents=files.documents,
        strata=files.strata,
        input_format=files.input_format or options["input_format"],
    )
    if files.parses and not files.references:
        raise InputError("--parses needs texts: add --refs, or leave it out")
    reference = files.references[0] if files.references else None
    names = _flat(_keys(files.systems))
    job = Job.from_arguments(reference, _flat(files.systems), options, min_systems=1, names=names)
    return replace(job, outputs="runs", aliases=dict(zip(_shown(files), names, strict=True)))


def _dev_job(dev: DevFiles, job: Job) -> Job | None:
    """The job of the development set: with the metrics that read texts, for these alone need its outputs."""
    metrics = [metric for metric in job.metrics if not metric.reads_parses or not job.parses]
    if not dev.systems or not metrics:
        return None
    return replace(
        job,
        reference=dev.references[0],
        refs=dev.references[1:],
        systems=_flat(dev.systems),
        parses=(),
        metrics=metrics,
        scores={},
        lower_is_better=(),
        documents=None,
        strata=None,
        own_names=_flat(_keys(dev.systems)),
    )


def _from_manifest(path: str, own: dict[str, Any]) -> RunFiles:
    """The files that a manifest names."""
    for name, (flag, key) in IN_MANIFEST.items():
        if own[name]:
            raise InputError(f"{flag} and --manifest cannot be combined: use the key '{key}' of the manifest")
    if own["baseline_name"] != BASELINE:
        raise InputError("--baseline-name and --manifest cannot be combined: use the key 'baseline' of the manifest")
    known = [each.option for each in flags()]
    paths = [option.name for option in known if option.kind == "path"]
    return read_run_manifest(path, [option.name for option in known], paths)


def _from_options(own: dict[str, Any]) -> RunFiles:
    """The files that the options name."""
    baseline = own["baseline_name"]
    if not baseline:
        raise InputError("--baseline-name: expected a name, got an empty one")
    if not own["baseline"]:
        raise InputError("no baseline: add --baseline FILE FILE ..., the outputs of the baseline's runs")
    systems = {baseline: list(own["baseline"])}
    for name, files in _named("--system", own["systems"], "the output of each run"):
        if name == baseline:
            raise InputError(
                f"--system {name} has the name of the baseline: choose another name, or rename the baseline with "
                "--baseline-name"
            )
        if name in systems:
            raise InputError(f"--system {name} is used twice: choose different names, or put all its runs into one")
        systems[name] = files
    return RunFiles(
        references=list(own["refs"]),
        systems=systems,
        baseline=baseline,
        scores=_scores(own["scores"], systems, not own["refs"]),
        dev=_development(own, baseline, systems),
        lower_is_better=list(own["lower_is_better"]),
        parses=list(own["parses"]),
        documents=own["documents"],
        strata=own["strata"],
    )


def _named(flag: str, values: Sequence[str], what: str, known: Collection[str] = ()) -> Iterator[tuple[str, list[str]]]:
    """The name and the other words of each value of an option, whose name may be left out if the words have one.

    A file may have one of the ``known`` names.
    """
    for value in values:
        name, *rest = words(value)
        if name not in known:
            common = _common_name([name, *rest])
            name, rest = name_and_words(flag, value, what) if common is None else (common, [name, *rest])
        if not rest:
            raise InputError(f"{flag} {name}: expected {what} after the name, got none")
        yield name, rest


def _common_name(files: Sequence[str]) -> str | None:
    """The name of a system whose files only differ in a number: what is before it. None for other files.

    >>> _common_name(["out/new.0", "out/new.1"]), _common_name(["new/0.txt", "new/1.txt"]), _common_name(["a", "a.1"])
    ('new', 'new', None)
    """
    first, *others = parts = [re.split(r"(\d+)", file) for file in files]
    if not others or any(len(part) != len(first) for part in others):
        return None
    differing = [i for i, column in enumerate(zip(*parts, strict=True)) if len(set(column)) > 1]
    # Of the parts, those with odd places are numbers.
    if len(differing) != 1 or differing[0] % 2 == 0 or len({part[differing[0]] for part in parts}) < len(parts):
        return None
    before, after = "".join(first[: differing[0]]), "".join(first[differing[0] + 1 :])
    name = re.split(r"[/\\#]", before.rstrip("._-/\\#"))[-1]
    return None if not name or "/" in after else name


def _scores(
    values: Sequence[str], systems: Mapping[str, list[str]], without_texts: bool
) -> dict[str, Mapping[str, list[str]]]:
    """The files of ``--scores``, by metric and system."""
    found: dict[str, Mapping[str, list[str]]] = {}
    for value in values:
        name, files = name_and_words("--scores", value, "files")
        if name in found:
            raise InputError(f"--scores {name} is used twice: choose different names")
        if not files:
            own = next((metric for metric, by_system in found.items() if by_system is systems), None)
            if not without_texts or own is not None:
                reason = "" if own is None else f"; the files of --baseline and --system have the scores of {own}"
                raise InputError(
                    f"--scores {name}: expected a file for each of {_runs_of(systems)} after the name, got none{reason}"
                )
            found[name] = systems
        else:
            found[name] = _split(name, files, systems)
    if without_texts and found and not any(by_system is systems for by_system in found.values()):
        raise InputError(
            "no --refs, and --scores with files: the files of --baseline and --system would not be read; add --refs "
            "for texts, or write --scores NAME without files if they have the scores"
        )
    return found


def _split(metric: str, files: list[str], systems: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Files of scores in the order of all runs, by system. One file may hold the scores of all runs."""
    n_runs = sum(map(len, systems.values()))
    if len(files) == 1 < n_runs:
        return dict.fromkeys(systems, files)
    if len(files) != n_runs:
        hint = "; it takes all files up to the next option" if len(files) > n_runs else ""
        raise InputError(
            f"--scores {metric}: expected a file for each of {_runs_of(systems)} after the name, got {len(files)}{hint}"
        )
    rest = iter(files)
    return {name: [next(rest) for _ in own] for name, own in systems.items()}


def _runs_of(systems: Mapping[str, list[str]]) -> str:
    """How many runs there are, for messages."""
    n_runs = sum(map(len, systems.values()))
    return f"{n_runs} runs ({listed(f'{len(files)} of {name}' for name, files in systems.items())})"


def _scores_in_order(metric: str, by_system: Mapping[str, list[str]], systems: Mapping[str, list[str]]) -> list[str]:
    """The files of scores in the order of all runs; a single one if it has the scores of all runs."""
    for name in by_system:
        _check_system(f"scores of {metric}", name, systems)
    lacking = [name for name in systems if name not in by_system]
    if lacking:
        raise InputError(f"scores of {metric}: expected files for each system, got none for {listed(lacking)}")
    every = [by_system[name] for name in systems]
    if len(systems) > 1 and all(files == every[0] and len(files) == 1 for files in every):
        return every[0]
    for name, files in systems.items():
        if len(by_system[name]) != len(files):
            raise InputError(
                f"scores of {metric}: {name} has {_number(len(files), 'run')}, but "
                f"{_number(len(by_system[name]), 'file')} of scores: expected one for each run"
            )
    return [file for files in every for file in files]


def _number(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' * (n != 1)}"


def _development(own: dict[str, Any], baseline: str, systems: Mapping[str, list[str]]) -> DevFiles:
    """The development set that the options name."""
    outputs = {baseline: list(own["dev_baseline"])} if own["dev_baseline"] else {}
    what = "the output of each run on the development set"
    for name, files in _named("--dev-system", own["dev_systems"], what, systems):
        _check_system("--dev-system", name, systems)
        if name in outputs:
            used = "--dev-baseline" if name == baseline else f"--dev-system {name}"
            raise InputError(f"the outputs of {name} on the development set are given twice, also by {used}")
        outputs[name] = files
    scores: dict[str, dict[str, list[float]]] = {}
    for name, rest in _named("--dev-scores", own["dev_scores"], "a metric and the score of each run", systems):
        _check_system("--dev-scores", name, systems)
        metric, *values = rest
        if not values:
            raise InputError(
                f"--dev-scores {name} {metric}: expected the score of each of {_number(len(systems[name]), 'run')} "
                "after the metric, got none"
            )
        if metric in scores.setdefault(name, {}):
            raise InputError(f"--dev-scores {name} {metric} is used twice: leave out one of them")
        scores[name][metric] = [_number_of(f"--dev-scores {name} {metric}", value) for value in values]
    return DevFiles(list(own["dev_refs"]), outputs, scores)


def _number_of(where: str, text: str) -> float:
    """A finite number."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{where}: expected a finite number for each run, got {quoted(text)}")
    return number


def _check_system(where: str, name: str, systems: Mapping[str, list[str]]) -> None:
    """Raise :class:`InputError` for a name that is not that of a system."""
    if name not in systems:
        raise InputError(f"{where}: {unknown_name('system', name, systems)}")


def _check_systems(systems: Mapping[str, list[str]]) -> None:
    """Raise :class:`InputError` for a system without runs."""
    for name, files in systems.items():
        if not files:
            raise InputError(f"{name} has no runs: expected the output of at least one")


def _check_development(files: RunFiles, median_on: str) -> None:
    """Raise :class:`InputError` unless the runs on the development set are those on the test set."""
    dev = files.dev
    if dev.systems and not dev.references:
        raise InputError("outputs on the development set without references: add --dev-refs (references of 'dev')")
    if dev.references and not dev.systems:
        raise InputError(
            "references of the development set without outputs: add --dev-baseline FILE FILE ... and --dev-system NAME "
            "FILE FILE ... (systems of 'dev')"
        )
    if dev.systems and not files.references:
        raise InputError("outputs on the development set need metrics on texts: add --refs, or use --dev-scores")
    given = [(name, len(own), "outputs") for name, own in dev.systems.items()]
    given += [
        (name, len(values), f"scores of {metric}")
        for name, of_system in dev.scores.items()
        for metric, values in of_system.items()
    ]
    for name, n, what in given:
        _check_system("development set", name, files.systems)
        expected = len(files.systems[name])
        if n != expected:
            raise InputError(
                f"{name} has {_number(expected, 'run')} on the test set, but {n} {what} on the development set: they "
                "must be of the same runs, in the same order"
            )
    if median_on == "dev":
        lacking = [name for name in files.systems if name not in dev.systems and name not in dev.scores]
        if lacking:
            raise InputError(
                f"--median-on dev needs the development set of each system, but there is none for {listed(lacking)}: "
                "add --dev-refs with --dev-baseline and --dev-system, or --dev-scores"
            )


def _check_without_texts(files: RunFiles, metrics: Sequence[MetricChoice]) -> None:
    """Raise :class:`InputError` unless the files are scores from other tools."""
    if metrics:
        raise InputError(f"-m {metrics[0].name} needs texts: add --refs; external scores need no -m")
    if not files.scores:
        shown = display_name(_flat(files.systems)[0])
        raise InputError(
            f"no references for {shown}: add --refs FILE; if the files of --baseline and --system have segment scores, "
            "add --scores NAME with the name of the metric"
        )


def _check_metric_names(job: Job, dev: DevFiles, median_metric: str | None) -> None:
    """Raise :class:`InputError` for a metric of ``--dev-scores`` or ``--median-metric`` that is not computed."""
    metrics = job.known_metrics
    known = [*labels_of(metrics), *job.scores]
    used = [(f"scores of {name} on the development set", each) for name in dev.scores for each in dev.scores[name]]
    if median_metric is not None:
        used.append(("--median-metric", median_metric))
    for where, name in used:
        if name not in job.scores and not metrics_named(name, metrics):
            raise InputError(f"{where}: {unknown_name('metric', name, known)}")
