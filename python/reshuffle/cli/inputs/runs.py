"""From the options of ``reshuffle runs`` to outputs of runs on a test set and a development set."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from attrs import evolve

from ...data.corpus import system_names
from ...data.files import STDIN, check_stdin, display_name
from ...data.manifest import Manifest
from ...errors import InputError, listed, quoted, unknown_name
from ...options.comparisons import Medians
from ...options.declare import options_of, taken
from ...options.files import DevFiles, GivenRuns, OfSystems, RunFiles, SetFiles
from ...resampling.counting import labels_of
from ...runs import Development, Runs, output_name
from ...settings import Units
from ..declared import files_by_name, flag_of, given_values
from ..params import name_and_words
from .metrics import metric_flags
from .sets import completed, keys_with_flags, read_manifest
from .test_set import Input

# The keys of manifests that say what these options say.
KEYS: Mapping[str, str] = {
    "baseline": "systems",
    "systems": "systems",
    "baseline_name": "baseline",
    "dev_refs": "dev",
    "dev_baseline": "dev",
    "dev_systems": "dev",
    "dev_scores": "dev",
}


@dataclass(frozen=True)
class RunInputs:
    """The files of all runs, and what reads those of the test set and of the development set."""

    files: RunFiles
    test: Input
    dev: Input | None
    manifest: str | None

    @classmethod
    def from_options(
        cls, given: GivenRuns, options: dict[str, Any], medians: Medians, threads: int | None
    ) -> RunInputs:
        """Check all that can be checked before files are read, and take the options used here out of ``options``."""
        path = given.manifest
        if path is None:
            files = _from_options(given, options)
        else:
            _check_only_manifest(given, options)
            files = _from_manifest(read_manifest(path, "the files of systems' runs, in JSON or TOML"), options)
        _check_systems(files.systems)
        _check_development(files, medians.median_on)
        if not files.references:
            _check_without_texts(files)
        test = _test_input(files, threads, by_name=path is not None)
        _check_metric_names(test, files.dev, medians.median_metric)
        checked = cls(files, test, _dev_input(files, test), path)
        check_stdin(checked.paths.count(STDIN))
        return checked

    @property
    def paths(self) -> list[str]:
        """All files that will be read, and the manifest."""
        own = [] if self.manifest is None else [self.manifest]
        dev = [] if self.dev is None else self.dev.paths
        return [*own, *self.test.paths, *dev]

    def read(self) -> tuple[Runs, Development]:
        """Read all files."""
        found, systems = self.test.read(), self.files.systems
        names = dict(zip(_by_output(systems), _shown(systems), strict=True))
        shown = {name: [names[key] for key in _outputs(name, files)] for name, files in systems.items()}
        units = Units(found.documents, found.strata)
        metrics = found.metrics or ()
        runs = Runs.from_arguments(found.references, _by_system(systems, found.systems), metrics, units, shown)
        dev = None
        if self.dev is not None:
            try:
                found, systems = self.dev.read(), self.files.dev.systems
                dev = Runs.from_arguments(found.references, _by_system(systems, found.systems), found.metrics or ())
            except InputError as error:
                raise InputError(f"development set: {error}") from error
        return runs, Development(dev, self.files.dev.scores)


def _outputs(name: str, files: Sequence[str]) -> list[str]:
    """The name of each output of a system."""
    return [output_name(name, run) for run in range(len(files))]


def _by_output(systems: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The files of all runs by the names of their outputs."""
    return {key: file for name, own in systems.items() for key, file in zip(_outputs(name, own), own, strict=True)}


def _shown(systems: Mapping[str, Sequence[str]]) -> list[str]:
    """The shortest names that distinguish the outputs' files."""
    return system_names([file for files in systems.values() for file in files])


def _by_system(systems: Mapping[str, Sequence[str]], outputs: Any) -> dict[str, Any]:
    """The outputs of each system's runs, or their number if there are no texts."""
    if outputs is None:
        return {name: len(files) for name, files in systems.items()}
    return {name: [outputs[key] for key in _outputs(name, files)] for name, files in systems.items()}


def _test_input(files: RunFiles, threads: int | None, by_name: bool) -> Input:
    """The test set, whose systems are the outputs of all runs. ``by_name``: the files of scores are named by system."""
    if files.parses and not files.references:
        raise InputError("--parses needs texts: add --refs, or leave it out")
    outputs = _by_output(files.systems)
    every = {metric: _scores_in_order(metric, own, files.systems) for metric, own in files.scores.items()}
    scores: dict[str, OfSystems] = {
        metric: dict(zip(outputs, own, strict=True)) if by_name and len(own) == len(outputs) else tuple(own)
        for metric, own in every.items()
    }
    # Missing scores are read, so that the error can say that runs need all of them.
    own = taken(SetFiles, files, systems=outputs, scores=scores, missing="pairwise" if scores else "error")
    return Input.checked(own, least=1, threads=threads, runs=dict(zip(_shown(files.systems), outputs, strict=True)))


def _dev_input(files: RunFiles, test: Input) -> Input | None:
    """The development set: with the metrics that read texts, for these alone need its outputs."""
    metrics = [metric for metric in test.metrics if not metric.reads_parses or not files.parses]
    if not files.dev.systems or not metrics:
        return None
    outputs = _by_output(files.dev.systems)
    own = taken(
        SetFiles, files.dev, systems=outputs, scores={}, input_format=files.input_format, max_input=files.max_input
    )
    return replace(test, files=own, systems=outputs, metrics=metrics)


def _check_only_manifest(given: GivenRuns, options: Mapping[str, Any]) -> None:
    """:class:`InputError` for options that a manifest replaces."""
    declared = options_of(GivenRuns)
    used = [(flag, key) for key, flag in keys_with_flags(RunFiles).items() if options[key]]
    used += [
        (flag_of(declared[name]), key) for name, key in KEYS.items() if getattr(given, name) != declared[name].default
    ]
    for flag, key in used:
        raise InputError(f"{flag} and --manifest cannot be combined: use the key '{key}' of the manifest")


def _command_line(options: dict[str, Any], **others: Any) -> RunFiles:
    """The files and metrics of a command line, taken out of ``options``, and other fields."""
    values = given_values(RunFiles, options)
    metrics = tuple(options.pop("metrics")) or None
    return RunFiles(**values | others, metrics=metrics, metric_options=metric_flags(options))


def _from_manifest(manifest: Manifest, options: dict[str, Any]) -> RunFiles:
    """The files that a manifest names."""
    name, files = manifest.name, completed(_command_line(options), manifest.values(RunFiles), manifest.folder)
    if not files.references and files.systems:
        raise InputError(f"{name} has systems without references: add the key 'references'")
    if files.references and not files.systems:
        raise InputError(f"{name} has references without systems: add the key 'systems'")
    # Without texts, the first metric names the systems.
    systems = files.systems or next(iter(files.scores.values()), {})
    if not systems:
        raise InputError(f"{name} names no systems: add the keys 'references' and 'systems', or 'scores'")
    if "" in systems:
        raise InputError(f"{name}: expected a name for each system, got an empty one")
    baseline = files.baseline or next(iter(systems))
    if baseline not in systems:
        raise InputError(f"{name}: {unknown_name('baseline', baseline, systems)}")
    return evolve(files, systems=systems, baseline=baseline)


def _from_options(given: GivenRuns, options: dict[str, Any]) -> RunFiles:
    """The files that the options name."""
    baseline = given.baseline_name
    if not baseline:
        raise InputError("--baseline-name: expected a name, got an empty one")
    if not given.baseline:
        raise InputError("no baseline: add --baseline FILE FILE ..., the outputs of the baseline's runs")
    systems = {baseline: given.baseline}
    for name, files in _named("--system", given.systems, "the output of each run"):
        if name == baseline:
            raise InputError(
                f"--system {name} has the name of the baseline: choose another name, or rename the baseline with "
                "--baseline-name"
            )
        if name in systems:
            raise InputError(f"--system {name} is used twice: choose different names, or put all its runs into one")
        systems[name] = files
    scores = _scores(files_by_name("--scores", options.pop("scores")), systems, not options["references"])
    dev = _development(given, systems)
    return _command_line(options, systems=systems, baseline=baseline, scores=scores, dev=dev)


def _named(
    flag: str, values: Sequence[tuple[str, ...]], what: str, known: Collection[str] = ()
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The name and the other words of each value of an option, whose name may be left out if the words have one.

    A file may have one of the ``known`` names.
    """
    for words in values:
        name, rest = words[0], words[1:]
        if name not in known:
            common = _common_name(words)
            name, rest = name_and_words(flag, words, what) if common is None else (common, words)
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
    given: Mapping[str, tuple[str, ...]], systems: Mapping[str, tuple[str, ...]], without_texts: bool
) -> dict[str, Mapping[str, tuple[str, ...]]]:
    """The files of ``--scores``, by metric and system."""
    found: dict[str, Mapping[str, tuple[str, ...]]] = {}
    for name, files in given.items():
        own = next((metric for metric, by_system in found.items() if by_system is systems), None)
        if not files and (not without_texts or own is not None):
            reason = "" if own is None else f"; the files of --baseline and --system have the scores of {own}"
            raise InputError(
                f"--scores {name}: expected a file for each of {_runs_of(systems)} after the name, got none{reason}"
            )
        found[name] = _split(name, files, systems) if files else systems
    if without_texts and found and not any(by_system is systems for by_system in found.values()):
        raise InputError(
            "no --refs, and --scores with files: the files of --baseline and --system would not be read; add --refs "
            "for texts, or write --scores NAME without files if they have the scores"
        )
    return found


def _split(metric: str, files: tuple[str, ...], systems: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
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
    return {name: tuple(next(rest) for _ in own) for name, own in systems.items()}


def _runs_of(systems: Mapping[str, Sequence[str]]) -> str:
    """How many runs there are, for messages."""
    n_runs = sum(map(len, systems.values()))
    return f"{n_runs} runs ({listed(f'{len(files)} of {name}' for name, files in systems.items())})"


def _scores_in_order(
    metric: str, by_system: Mapping[str, Sequence[str]], systems: Mapping[str, Sequence[str]]
) -> Sequence[str]:
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


def _development(given: GivenRuns, systems: Mapping[str, Sequence[str]]) -> DevFiles:
    """The development set that the options name."""
    outputs = {given.baseline_name: given.dev_baseline} if given.dev_baseline else {}
    what = "the output of each run on the development set"
    for name, files in _named("--dev-system", given.dev_systems, what, systems):
        _check_system("--dev-system", name, systems)
        if name in outputs:
            used = "--dev-baseline" if name == given.baseline_name else f"--dev-system {name}"
            raise InputError(f"the outputs of {name} on the development set are given twice, also by {used}")
        outputs[name] = files
    scores: dict[str, dict[str, tuple[float, ...]]] = {}
    for name, rest in _named("--dev-scores", given.dev_scores, "a metric and the score of each run", systems):
        _check_system("--dev-scores", name, systems)
        metric, values = rest[0], rest[1:]
        if not values:
            raise InputError(
                f"--dev-scores {name} {metric}: expected the score of each of {_number(len(systems[name]), 'run')} "
                "after the metric, got none"
            )
        if metric in scores.setdefault(name, {}):
            raise InputError(f"--dev-scores {name} {metric} is used twice: leave out one of them")
        scores[name][metric] = tuple(_number_of(f"--dev-scores {name} {metric}", value) for value in values)
    return DevFiles(references=given.dev_refs, systems=outputs, scores=scores)


def _number_of(where: str, text: str) -> float:
    """A finite number."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{where}: expected a finite number for each run, got {quoted(text)}")
    return number


def _check_system(where: str, name: str, systems: Mapping[str, Sequence[str]]) -> None:
    """Raise :class:`InputError` for a name that is not that of a system."""
    if name not in systems:
        raise InputError(f"{where}: {unknown_name('system', name, systems)}")


def _check_systems(systems: Mapping[str, Sequence[str]]) -> None:
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


def _check_without_texts(files: RunFiles) -> None:
    """Raise :class:`InputError` unless the files are scores from other tools."""
    if files.metrics:
        raise InputError(f"-m {files.metrics[0].name} needs texts: add --refs; external scores need no -m")
    if not files.scores:
        shown = display_name(next(iter(_by_output(files.systems).values())))
        raise InputError(
            f"no references for {shown}: add --refs FILE; if the files of --baseline and --system have segment scores, "
            "add --scores NAME with the name of the metric"
        )


def _check_metric_names(test: Input, dev: DevFiles, median_metric: str | None) -> None:
    """Raise :class:`InputError` for a metric of ``--dev-scores`` or ``--median-metric`` that is not computed."""
    metrics = test.known_metrics
    known = [*labels_of(metrics), *test.files.scores]
    names = {*known, *(m.key for m in metrics), *(m.name for m in metrics)}
    used = [(f"scores of {name} on the development set", each) for name in dev.scores for each in dev.scores[name]]
    if median_metric is not None:
        used.append(("--median-metric", median_metric))
    for where, name in used:
        if name not in names:
            raise InputError(f"{where}: {unknown_name('metric', name, known)}")
