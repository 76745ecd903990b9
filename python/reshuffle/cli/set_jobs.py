"""From ``--set`` and ``--manifest`` to a job for each test set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..data.corpus import system_names
from ..data.count_files import is_count_file
from ..data.files import STDIN, check_stdin
from ..data.manifest import SetFiles, read_manifest
from ..errors import InputError, listed
from ..resampling.counting import Data
from ..sets import SetData, on_test_set
from ..settings import Resampling
from ..validate import check_name
from .command import name_and_words
from .job import Job
from .metric_options import flags, parse_metric
from .stored import names_in_counts

# The options that belong to one test set, and the keys of manifests for them.
OF_ONE_SET: Mapping[str, tuple[str, str]] = {
    "refs": ("--refs", "references"),
    "scores": ("--scores", "scores"),
    "lower_is_better": ("--lower-is-better", "lower_is_better"),
    "parses": ("--parses", "parses"),
    "documents": ("--docs", "documents"),
    "strata": ("--strata", "strata"),
}


@dataclass(frozen=True)
class SetJobs:
    """The checked arguments of ``compare`` with several test sets: a job for each, by name."""

    jobs: Mapping[str, Job]
    manifest: str | None

    @classmethod
    def from_arguments(
        cls, reference: str | None, sets: Sequence[str], manifest: str | None, options: dict[str, Any]
    ) -> SetJobs:
        """Check all that can be checked before texts are read, and remove the options used here from ``options``."""
        chosen = "--manifest" if sets == () else "--set"
        if sets and manifest is not None:
            raise InputError("--set and --manifest cannot be combined: put all test sets into the manifest")
        if reference is not None:
            raise InputError(
                f"REF and SYS cannot be combined with {chosen}: make them a test set of it, or leave {reference} out"
            )
        for name, (flag, key) in OF_ONE_SET.items():
            if options[name]:
                raise InputError(f"{flag} is for one test set: use --manifest FILE, with the key '{key}'")
        if options["missing"] != "error":
            raise InputError("--missing is for one test set: use --manifest FILE, with the key 'missing'")
        if manifest is None:
            found = _from_words(sets)
        else:
            known = [each.option for each in flags()]
            paths = [option.name for option in known if option.kind == "path"]
            found = read_manifest(manifest, [option.name for option in known], paths)
        left: dict[str, Any] = {}
        jobs = {}
        for name, files in found.items():
            left = dict(options)
            with on_test_set(name):
                jobs[name] = _job(files, left)
        options.clear()
        options.update(left)
        checked = cls(jobs, manifest)
        check_stdin(checked.files.count(STDIN))
        return checked

    @property
    def resampling(self) -> Resampling:
        """The settings of the replicates, which are those of every job."""
        return next(iter(self.jobs.values())).resampling

    @property
    def files(self) -> list[str]:
        """All files that will be read, and the manifest."""
        own = [] if self.manifest is None else [self.manifest]
        return [*own, *(file for job in self.jobs.values() for file in job.files)]

    def system(self, name: str | None) -> str | None:
        """The name of a system, from its name or its file in one of the test sets."""
        return next((known for job in self.jobs.values() if (known := job.system(name)) != name), name)

    def read(self) -> dict[str, SetData]:
        """Read the files of all test sets."""
        found = {}
        for name, job in self.jobs.items():
            with on_test_set(name):
                arguments, units = job.read()
                found[name] = SetData(Data.from_arguments(*arguments), units)
        return found


def _from_words(sets: Sequence[str]) -> dict[str, SetFiles]:
    """The test sets of ``--set NAME REF SYS...``."""
    found: dict[str, SetFiles] = {}
    for given in sets:
        name, files = name_and_words("--set", given, "files")
        if len(files) < 3 and not (files and is_count_file(files[0])):
            raise InputError(
                f"--set {name}: expected the reference and at least two systems after the name, got "
                f"{listed(files) or 'none'}"
            )
        if name in found:
            raise InputError(f"--set {name} is used twice: choose different names")
        found[name] = SetFiles([files[0]], files[1:])
    return found


def _job(files: SetFiles, options: dict[str, Any]) -> Job:
    """The job of a test set. Its own metrics and options take precedence over those of the command line."""
    first = next(iter(files.scores.values()), None)
    if files.references and is_count_file(files.references[0]):
        files = replace(files, systems=names_in_counts(files.references[0], files.systems, files.folder))
    if files.references and not files.systems:
        raise InputError("references without systems: add the key 'systems'")
    if files.systems and not files.references:
        raise InputError("systems without references: add the key 'references'")
    systems = files.systems or first
    if systems is None:
        raise InputError("no references and no systems: add the keys 'references' and 'systems', or 'scores'")
    names = list(systems) if isinstance(systems, Mapping) else system_names(systems)
    if files.metrics is not None:
        options["metrics"] = [parse_metric(text, files.folder) for text in files.metrics]
    elif not files.references:  # -m is for test sets with texts
        options["metrics"] = []
    options.update(files.options)
    options.update(
        refs=files.references[1:],
        scores=["\0".join([metric, *_in_order(metric, own, names)]) for metric, own in files.scores.items()],
        lower_is_better=files.lower_is_better,
        missing=files.missing,
        parses=files.parses,
        documents=files.documents,
        strata=files.strata,
        input_format=files.input_format or options["input_format"],
    )
    paths = list(files.systems.values()) if isinstance(files.systems, Mapping) else files.systems
    own_names = names if isinstance(systems, Mapping) else ()
    reference = files.references[0] if files.references else None
    job = Job.from_arguments(reference, paths, options, min_systems=2, names=own_names)
    return replace(job, in_order=[metric for metric, own in files.scores.items() if isinstance(own, Mapping)])


def _in_order(metric: str, files: Mapping[str, str] | list[str], names: Sequence[str]) -> list[str]:
    """The files of scores in the order of the systems."""
    if not isinstance(files, Mapping):
        return files
    for name in files:
        check_name(f"system in scores of {metric}", name, names)
    lacking = [name for name in names if name not in files]
    if lacking:
        raise InputError(f"scores, {metric}: expected a file for each system, got none for {listed(lacking)}")
    return [files[name] for name in names]
