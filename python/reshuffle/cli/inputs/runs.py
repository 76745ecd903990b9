"""From the options of ``reshuffle runs`` to outputs of runs on a test set and a development set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from attrs import evolve

from ...data.corpus import system_names
from ...data.files import display_name
from ...errors import Argument, InputError, counted, listed, unknown_name
from ...metrics.precomputed import output_name
from ...options.declare import check_combined, refused, taken
from ...options.files import OfSystems, SetFiles
from ...options.run_files import GivenRuns, OfRuns, RunFiles
from ...runs import Development, Runs, check_same_runs
from ...settings import Units
from .run_options import check_system, files_from_options, outputs_of
from .sets import Inputs, check_one_set, check_outputs, command_line, completed, in_manifest, read_manifest
from .test_set import Input, needs_texts


@dataclass(frozen=True, kw_only=True)
class RunInputs(Inputs[Input]):
    """What reads the runs on the test set and, if their outputs are scored there, on the development set."""

    files: RunFiles

    @classmethod
    def from_options(cls, given: GivenRuns, options: dict[str, Any], threads: int | None) -> RunInputs:
        """Check all that can be checked before files are read, and take the options used here out of ``options``."""
        path = given.manifest
        if path is None:
            files = files_from_options(given, options)
        else:
            check_one_set(
                RunFiles, options, "{flag} and --manifest cannot be combined: use the key '{key}' of the manifest"
            )
            check_combined(given)
            manifest = read_manifest(path, "the files of systems' runs, in JSON or TOML")
            named, values = command_line(RunFiles, options), manifest.values(RunFiles)
            with in_manifest(path, ": "):
                files = _with_systems(completed(named, values, manifest.folder))
        with in_manifest(path, ": "):
            _check_development(files)
            if not files.references:
                _check_without_texts(files)
            test = _test_input(files, threads)
            dev = _dev_input(files, test)
        return cls({"test": test, **({} if dev is None else {"dev": dev})}, path, files=files)

    def read(self) -> tuple[Runs, Development]:
        """Read all files."""
        with in_manifest(self.manifest, ": "):
            return self._read()

    def _read(self) -> tuple[Runs, Development]:
        found, runs = self.sets["test"].read(), self.sets["test"].runs
        names = dict(
            zip(_flat(runs), system_names(_flat(self.files.systems), max_input=self.files.max_input), strict=True)
        )
        shown = {name: [names[output] for output in own] for name, own in runs.items()}
        systems, units = _by_system(runs, found.systems), Units(found.documents, found.strata)
        test, dev = Runs.from_arguments(found.references, systems, found.metrics or (), units, shown), None
        if "dev" in self.sets:
            try:
                found, runs = self.sets["dev"].read(), self.sets["dev"].runs
                dev = Runs.from_arguments(found.references, _by_system(runs, found.systems), found.metrics or ())
            except InputError as error:
                raise error.with_prefix("development set: ") from error
        return test, Development(dev, self.files.dev.scores)


def _outputs(systems: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The names of the outputs of each system."""
    return {name: [output_name(name, run) for run in range(len(files))] for name, files in systems.items()}


def _flat(systems: Mapping[str, Sequence[str]]) -> list[str]:
    """What the systems have, one after the other."""
    return [*chain.from_iterable(systems.values())]


def _by_system(runs: Mapping[str, Sequence[str]], outputs: Any) -> dict[str, Any]:
    """The outputs of each system's runs, or their number if there are no texts."""
    return {name: len(own) if outputs is None else [outputs[key] for key in own] for name, own in runs.items()}


def _test_input(files: RunFiles, threads: int | None) -> Input:
    """The test set, whose systems are the outputs of all runs."""
    if files.parses and not files.references:
        raise refused(RunFiles, "{parses} needs texts: add {references}, or leave it out")
    runs = _outputs(files.systems)

    def by_output(what: str, given: Mapping[str, OfRuns]) -> dict[str, OfSystems]:
        found: dict[str, OfSystems] = {}
        for metric, own in given.items():
            if isinstance(own, tuple):
                found[metric] = own
            elif own.keys() == runs.keys() and len({*_flat(own)}) == 1:  # one file with the numbers of all runs
                found[metric] = tuple({*_flat(own)})
            else:
                found[metric] = _of_outputs(f"{what}, {metric}", own, runs)
        return found

    numbers = {"scores": by_output("scores", files.scores), "counts": by_output("counts", files.counts)}
    systems = dict(zip(_flat(runs), _flat(files.systems), strict=True))
    # Missing scores are read, so that the error can say that runs need all of them.
    own = taken(SetFiles, files, systems=systems, missing="pairwise" if files.scores else "error", **numbers)
    return Input.checked(own, least=1, threads=threads, runs=runs)


def _dev_input(files: RunFiles, test: Input) -> Input | None:
    """The development set: with the metrics that read texts, for these alone need its outputs."""
    metrics = [metric for metric in test.metrics if not metric.reads_parses or not files.parses]
    if not files.dev.systems or not metrics:
        return None
    runs = _outputs(files.dev.systems)
    systems = dict(zip(_flat(runs), _flat(files.dev.systems), strict=True))
    own = taken(
        SetFiles, files.dev, systems=systems, scores={}, input_format=files.input_format, max_input=files.max_input
    )
    return replace(test, files=own, systems=systems, metrics=metrics, runs=runs)


def _with_systems(files: RunFiles) -> RunFiles:
    """The files that a manifest names, with the outputs of each system and the baseline."""
    if not files.references:  # a log of several epochs is several runs
        by_run = {
            metric: {name: outputs_of(each, files.max_input, texts=False) for name, each in own.items()}
            for metric, own in files.scores.items()
            if isinstance(own, Mapping)
        }
        files = evolve(files, scores={**files.scores, **by_run})
    numbers = {**files.scores, **files.counts}
    check_outputs(files, numbers)
    # Without texts, the first metric that has files by name names the systems.
    systems = files.systems or next((own for own in numbers.values() if isinstance(own, Mapping)), {})
    if "" in systems or not systems:
        got = "an empty one" if systems else "none: add the key 'systems', or scores by system"
        raise InputError(f"expected a name for each system, got {got}")
    systems = {name: outputs_of(own, files.max_input) for name, own in systems.items()}
    baseline = files.baseline or next(iter(systems))
    if baseline not in systems:
        raise unknown_name("baseline", baseline, systems)
    return evolve(files, systems=systems, baseline=baseline)


def _of_outputs(what: str, files: Mapping[str, Sequence[str]], runs: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The file of each output, from the files of each system."""
    for name in files:
        check_system(what, name, runs)
    lacking = [name for name in runs if name not in files]
    if lacking:
        raise InputError(f"{what}: expected files for each system, got none for {listed(lacking)}")
    for name, own in runs.items():
        if len(files[name]) != len(own):
            raise InputError(
                f"{what}: {name} has {counted(len(own), 'run')}, but {counted(len(files[name]), 'file')}: expected one "
                "for each run"
            )
    return {output: file for name, own in runs.items() for output, file in zip(own, files[name], strict=True)}


def _check_development(files: RunFiles) -> None:
    """Raise :class:`InputError` unless the outputs on the development set are of the runs on the test set."""
    dev, n_runs = files.dev, {name: len(own) for name, own in files.systems.items()}
    if dev.systems and not dev.references:
        refs = Argument("'references' of 'dev'", as_flag="--dev-refs")
        raise InputError("outputs on the development set without references: add {refs}", refs=refs)
    if dev.references and not dev.systems:
        flags = "--dev-baseline FILE FILE ... and --dev-system NAME FILE FILE ..."
        outputs = Argument("'systems' of 'dev'", as_flag=flags)
        raise InputError("references of the development set without outputs: add {outputs}", outputs=outputs)
    if dev.systems and not files.references:
        scores = Argument("'scores' of 'dev'", as_flag="--dev-scores")
        problem = "outputs on the development set need metrics on texts: add {references}, or use {scores}"
        raise refused(RunFiles, problem, scores=scores)
    for name, own in dev.systems.items():
        check_same_runs(n_runs, name, len(own), "output")
    for name, of_metrics in (dev.scores or {}).items():
        for metric, values in of_metrics.items():
            check_same_runs(n_runs, name, len(values), "score", f" of {metric}")


def _check_without_texts(files: RunFiles) -> None:
    """Raise :class:`InputError` unless the files are scores or counts from other tools."""
    if files.metrics:
        raise needs_texts(files.metrics[0].name, Argument("references", as_flag="--refs"))
    if not files.scores and not files.counts:
        shown = display_name(_flat(files.systems)[0])
        raise InputError(
            f"no references for {shown}: add --refs FILE; if the files of --baseline and --system have segment scores, "
            "add --scores NAME with the name of the metric; if they have counts, --counts NAME:FORMULA"
        )
