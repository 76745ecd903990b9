"""From the options of ``reshuffle runs`` to outputs of runs on a test set and a development set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from attrs import evolve

from ...data.corpus import system_names
from ...data.files import display_name
from ...data.manifest import Manifest
from ...errors import InputError, counted, listed, unknown_name
from ...metrics.precomputed import output_name
from ...options.declare import options_of, taken
from ...options.files import OfSystems, SetFiles
from ...options.run_files import GivenRuns, RunFiles
from ...runs import Development, Runs, check_same_runs
from ...settings import Units
from ..declared import flag_of
from .run_options import check_system, files_from_options, outputs_of
from .sets import command_line, completed, keys_with_flags, read_manifest
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
    def from_options(cls, given: GivenRuns, options: dict[str, Any], threads: int | None) -> RunInputs:
        """Check all that can be checked before files are read, and take the options used here out of ``options``."""
        path = given.manifest
        if path is None:
            files = files_from_options(given, options)
        else:
            _check_only_manifest(given, options)
            files = _from_manifest(read_manifest(path, "the files of systems' runs, in JSON or TOML"), options)
        _check_development(files)
        if not files.references:
            _check_without_texts(files)
        test = _test_input(files, threads, by_name=path is not None)
        return cls(files, test, _dev_input(files, test), path)

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

    def of_outputs(what: str, given: Mapping[str, Mapping[str, Sequence[str]]]) -> dict[str, OfSystems]:
        every = {metric: _in_order(f"{what} of {metric}", own, files.systems) for metric, own in given.items()}
        return {
            metric: dict(zip(outputs, own, strict=True)) if by_name and len(own) == len(outputs) else tuple(own)
            for metric, own in every.items()
        }

    numbers = {"scores": of_outputs("scores", files.scores), "counts": of_outputs("counts", files.counts)}
    # Missing scores are read, so that the error can say that runs need all of them.
    own = taken(SetFiles, files, systems=outputs, missing="pairwise" if files.scores else "error", **numbers)
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


def _from_manifest(manifest: Manifest, options: dict[str, Any]) -> RunFiles:
    """The files that a manifest names."""
    name, files = manifest.name, completed(command_line(RunFiles, options), manifest.values(RunFiles), manifest.folder)
    if not files.references and files.systems:
        raise InputError(f"{name} has systems without references: add the key 'references'")
    if files.references and not files.systems:
        raise InputError(f"{name} has references without systems: add the key 'systems'")
    # Without texts, the first metric names the systems.
    systems = files.systems or next(iter({**files.scores, **files.counts}.values()), {})
    if not systems:
        raise InputError(f"{name} names no systems: add the keys 'references' and 'systems', or 'scores' or 'counts'")
    if "" in systems:
        raise InputError(f"{name}: expected a name for each system, got an empty one")
    systems = {name: outputs_of(own) for name, own in systems.items()}
    baseline = files.baseline or next(iter(systems))
    if baseline not in systems:
        raise InputError(f"{name}: {unknown_name('baseline', baseline, systems)}")
    return evolve(files, systems=systems, baseline=baseline)


def _in_order(what: str, by_system: Mapping[str, Sequence[str]], systems: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The files of a metric in the order of all runs; a single one if it has the scores of all runs."""
    for name in by_system:
        check_system(what, name, systems)
    lacking = [name for name in systems if name not in by_system]
    if lacking:
        raise InputError(f"{what}: expected files for each system, got none for {listed(lacking)}")
    every = [by_system[name] for name in systems]
    if len(systems) > 1 and all(files == every[0] and len(files) == 1 for files in every):
        return every[0]
    for name, files in systems.items():
        if len(by_system[name]) != len(files):
            raise InputError(
                f"{what}: {name} has {counted(len(files), 'run')}, but {counted(len(by_system[name]), 'file')}: "
                "expected one for each run"
            )
    return [file for files in every for file in files]


def _check_development(files: RunFiles) -> None:
    """Raise :class:`InputError` unless the runs on the development set are those on the test set."""
    dev, n_runs = files.dev, {name: len(own) for name, own in files.systems.items()}
    if dev.systems and not dev.references:
        raise InputError("outputs on the development set without references: add --dev-refs (references of 'dev')")
    if dev.references and not dev.systems:
        raise InputError(
            "references of the development set without outputs: add --dev-baseline FILE FILE ... and --dev-system NAME "
            "FILE FILE ... (systems of 'dev')"
        )
    if dev.systems and not files.references:
        raise InputError("outputs on the development set need metrics on texts: add --refs, or use --dev-scores")
    for name, own in dev.systems.items():
        check_same_runs(n_runs, name, len(own), "outputs")
    for name, of_system in dev.scores.items():
        for metric, values in of_system.items():
            check_same_runs(n_runs, name, len(values), f"scores of {metric}")


def _check_without_texts(files: RunFiles) -> None:
    """Raise :class:`InputError` unless the files are scores or counts from other tools."""
    if files.metrics:
        raise InputError(f"-m {files.metrics[0].name} needs texts: add --refs; external scores need no -m")
    if not files.scores and not files.counts:
        shown = display_name(next(iter(_by_output(files.systems).values())))
        raise InputError(
            f"no references for {shown}: add --refs FILE; if the files of --baseline and --system have segment scores, "
            "add --scores NAME with the name of the metric; if they have counts, --counts NAME:FORMULA"
        )
