"""One test set or several: from options and a manifest to what is read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import click
from attrs import evolve
from click.core import ParameterSource

from ...data.corpus import system_names
from ...data.count_files import is_count_file
from ...data.files import display_name, is_toml
from ...data.manifest import Manifest
from ...data.reading import split_name
from ...errors import Argument, InputError, listed
from ...options.declare import FILE, NO_KEY, OF_ALL_SETS, Options, flag_of, options_of
from ...options.files import Measured, SetFiles, Sets
from ...options.run_files import RunFiles
from ...sets import SetData, on_each
from ..declared import given_values, taken_options
from ..metric_options import flags, metric_flags, parse_metric
from ..params import flattened
from .counts import names_in_counts
from .folders import files_of_tasks, is_folder
from .test_set import Input

AnyFiles = TypeVar("AnyFiles", bound=Measured)


class HasFiles(Protocol):
    """The checked files of a test set."""

    @property
    def paths(self) -> list[str]:
        """All files that will be read."""


AnyInput = TypeVar("AnyInput", bound=HasFiles)


@dataclass(frozen=True)
class Inputs(Generic[AnyInput]):
    """Test sets to read, by name. A test set without a name is the only one."""

    sets: Mapping[str, AnyInput]
    manifest: str | None = None

    @property
    def is_one(self) -> bool:
        """Whether there is only one test set, which has no name."""
        return list(self.sets) == [""]

    @property
    def paths(self) -> list[str]:
        """All files that will be read, and the manifest."""
        own = [] if self.manifest is None else [self.manifest]
        return [*own, *(path for each in self.sets.values() for path in each.paths)]


@contextlib.contextmanager
def in_manifest(path: str | None, before: str = ", ") -> Iterator[None]:
    """Errors in the body begin with the name of the manifest, if there is one, and ``before``.

    Arguments are keys, but for those that are on the command line, which are flags there.
    """
    try:
        yield
    except InputError as error:
        if path is None:
            raise
        context = click.get_current_context()
        flags = {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
        raise error.with_keys(flags, toml=is_toml(path)).with_prefix(f"{display_name(path)}{before}") from None


def checked_sets(
    reference: str | None, systems: Sequence[str], options: dict[str, Any], threads: int | None
) -> Inputs[Input]:
    """Check all that can be checked before files are read, and take the options used here out of ``options``."""
    sets: Sets = taken_options(Sets, options)
    of_folders = {} if reference or systems or sets.sets or sets.manifest else _of_folders(options)
    if not sets.sets and sets.manifest is None and not of_folders:
        files = given_files(SetFiles, options, reference, systems)
        return Inputs({"": Input.checked(files, least=2, threads=threads)})
    _check_several(sets, reference, options)
    given = command_line(SetFiles, options)
    folder, found = Path(), of_folders or _from_words(sets.sets)
    if sets.manifest is not None:
        manifest = read_manifest(sets.manifest, "test sets in JSON or TOML")
        folder, found = manifest.folder, manifest.sets(SetFiles)

    def checked(name: str, values: Mapping[str, Any]) -> Input:
        try:
            return Input.checked(_files_of_set(given, values, folder), least=2, threads=threads)
        except InputError as error:
            if sets.manifest is None:
                raise
            toml = is_toml(sets.manifest)  # a key takes precedence over the flag of its name, which may also be there
            raise error.with_names(Argument, lambda each: each.key(toml) if each.name in values else each) from None

    with in_manifest(sets.manifest):
        inputs = on_each(found, checked)
    if given.metrics and not any(each.files.references for each in inputs.values()):
        raise InputError(f"-m {given.metrics[0].name} needs texts, which no test set has: external scores need no -m")
    return Inputs(inputs, sets.manifest)


def read_sets(inputs: Inputs[Input]) -> dict[str, SetData]:
    """Read the files of all test sets."""
    with in_manifest(inputs.manifest):
        return on_each(inputs.sets, lambda name, each: SetData.of(each.read()))


def command_line(record: type[AnyFiles], options: dict[str, Any], **others: Any) -> AnyFiles:
    """The files and metrics of a command line, taken out of ``options``, and ``others``."""
    for name, each in options_of(record).items():
        if each.flag.hidden and options[name] is not None:
            command = click.get_current_context().command_path
            raise InputError(f"{flag_of(each)} does not apply to '{command}': leave it out")
    values: dict[str, Any] = given_values(record, options)
    metrics, flags_of = tuple(options.pop("metrics")), metric_flags(options)
    return record(**values | others, metrics=metrics or None, metric_options=flags_of)


def given_files(
    record: type[SetFiles], options: dict[str, Any], reference: str | None = None, systems: Sequence[str] = ()
) -> SetFiles:
    """The files and metrics of a command line that has REF and SYS, or only outputs and ``--ref``."""
    files = command_line(record, options, systems=tuple(systems))
    if reference is not None:
        return evolve(files, references=(reference, *files.references))
    if files.references and not systems:
        raise InputError("no REF: --refs takes all files up to the next option, so put it last")
    return files


def read_manifest(path: str, expected: str) -> Manifest:
    """A manifest, whose test sets may have the options of metrics."""
    return Manifest.read(path, expected, {each.option.name: FILE in each.option.rules for each in flags()})


def keys_with_flags(record: type[Options]) -> dict[str, str]:
    """The keys of manifests that say what files a test set has, with the flags of the same meaning."""
    return {
        name: flag_of(each)
        for name, each in options_of(record).items()
        if each.flag.shown and NO_KEY not in each.rules and OF_ALL_SETS not in each.rules
    }


def check_one_set(record: type[Options], options: Mapping[str, Any], message: str) -> None:
    """:class:`InputError` for options that belong to one test set. The message has the flag, and the key instead."""
    for key, flag in keys_with_flags(record).items():
        if options.get(key) not in (None, ()):  # 0 is a number of a segment
            like_flag = flag[2:].replace("-", "_")  # of two keys for an option, that with its name
            key = like_flag if like_flag in options_of(record) else key
            raise InputError(message.format(flag=flag, key=key))


def _check_several(sets: Sets, reference: str | None, options: Mapping[str, Any]) -> None:
    """:class:`InputError` for options that belong to one test set."""
    if reference is not None:
        chosen = "--set" if sets.sets else "--manifest"
        raise InputError(
            f"REF and SYS cannot be combined with {chosen}: make them a test set of it, or leave {reference} out"
        )
    if sets.sets and options["references"]:
        raise InputError("--refs cannot be combined with --set, which has its own: write the reference after NAME")
    check_one_set(SetFiles, options, "{flag} is for one test set: use --manifest FILE, with the key '{key}'")


def _from_words(sets: Mapping[str, Sequence[str]]) -> dict[str, dict[str, Any]]:
    """The test sets of ``--set NAME REF SYS...``."""
    for name, files in sets.items():
        if len(files) < 2 and not (files and is_count_file(files[0])):
            raise InputError(
                f"--set {name}: expected the reference and at least two systems after the name, got "
                f"{listed(files) or 'none'}"
            )
    named = _by_folder([files[1:] for files in sets.values()])
    return {
        name: {"references": files[:1], "systems": systems}
        for (name, files), systems in zip(sets.items(), named, strict=True)
    }


def _of_folders(options: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The test sets, as in a manifest, if scores are in folders, one of each system with a file for each test set.

    Their scores, which are better, and the columns of documents and strata are then taken out of ``options``.
    """
    found: dict[str, dict[str, dict[str, str]]] = {}
    for metric, files in options["scores"]:
        for task, of_task in files_of_tasks(files).items():
            found.setdefault(task, {})[metric] = of_task
    if not found:
        return {}
    lacking = next((m for m, _ in options["scores"] for scores in found.values() if m not in scores), None)
    if lacking is not None:
        raise InputError(
            f"--scores {lacking}: expected folders with files of {listed(found)}, as for the other scores; or name "
            "them in a manifest (--manifest)"
        )
    own: dict[str, Any] = {"lower_is_better": flattened(options["lower_is_better"]) or ()}
    options["scores"] = options["lower_is_better"] = ()
    for group in ("documents", "strata"):
        name = options[group]
        if name is not None and "#" not in name and not Path(name).exists():  # a column of each file
            own[group], options[group] = name, None
    sets = {task: {"scores": scores, **own} for task, scores in found.items()}
    return sets if len(sets) > 1 else dict(zip([""], sets.values(), strict=True))


def _by_folder(systems: Sequence[Sequence[str]]) -> Sequence[Sequence[str] | Mapping[str, str]]:
    """The files of systems on each test set, by the names of their folders if other names differ between test sets."""
    if len({frozenset(system_names(files)) for files in systems}) < 2 or any(map(is_folder, chain(*systems))):
        return systems
    folders = {tuple(Path(split_name(file)[0]).resolve().parent.name for file in files) for files in systems}
    first = folders.pop()
    if folders or len(set(first)) < len(first):
        return systems
    return [dict(zip(first, files, strict=True)) for files in systems]


def completed(given: AnyFiles, values: Mapping[str, Any], folder: Path) -> AnyFiles:
    """The files of a test set from a manifest in ``folder``. Its values take precedence over the command line's."""
    values = dict(values)
    if "metrics" in values:
        values["metrics"] = tuple(parse_metric(text, folder) for text in values["metrics"])
    options = {**given.metric_options, **values.get("metric_options", {})}
    values["metric_options"] = {name: value for name, value in options.items() if value is not None}
    references = values.get("references")
    if references and is_count_file(references[0]):
        values["systems"] = names_in_counts(references[0], values.get("systems", ()), folder)
    return evolve(given, **values)


def check_outputs(files: SetFiles | RunFiles, numbers: Mapping[str, object]) -> None:
    """:class:`InputError` unless a manifest has texts, or scores or counts."""
    if files.references and not files.systems:
        raise InputError("references without systems: add the key 'systems'")
    if files.systems and not files.references:
        raise InputError("systems without references: add the key 'references'")
    if not files.systems and not numbers:
        raise InputError(
            "no references and no systems: add the keys 'references' and 'systems', or 'scores' or 'counts'"
        )


def _files_of_set(given: SetFiles, values: Mapping[str, Any], folder: Path) -> SetFiles:
    """The files of a test set, which has texts or scores."""
    files = completed(given, values, folder)
    check_outputs(files, files.numbers)
    if not files.references and "metrics" not in values:  # -m is for test sets with texts
        return evolve(files, metrics=None)
    return files
