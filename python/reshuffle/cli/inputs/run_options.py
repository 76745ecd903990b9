"""The files of runs that the options of ``reshuffle runs`` name."""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import click
from attrs import evolve

from ...data.corpus import system_names
from ...data.count_files import is_count_file
from ...data.formats.base import number_in
from ...data.reading import split_name
from ...errors import InputError, counted, listed, quoted, unknown_name, warn
from ...options.run_files import DevFiles, GivenRuns, OfRuns, RunFiles
from ..params import is_input, name_and_words
from .folders import files_in, is_folder
from .given_files import numbered
from .sets import command_line


def files_from_options(given: GivenRuns, options: dict[str, Any]) -> RunFiles:
    """The files that the options name."""
    found = command_line(RunFiles, options)
    if not given.baseline_name:
        raise InputError("--baseline-name: expected a name, got an empty one")
    if not given.baseline:
        _check_models(found.scores, found.max_input)
        name = next(iter(found.scores), None)
        raise InputError(
            "no baseline: add --baseline FILE FILE ..., the outputs of the baseline's runs"
            if name is None
            else f"no baseline: without texts, write --scores {name} --baseline FILE FILE ... --system FILE FILE ..., "
            "with the scores of a run in each file"
        )
    named = [*_named("--system", given.systems, "the output of each run", found.max_input, like=given.baseline)]
    systems: dict[str, tuple[str, ...]] = {}
    texts = bool(found.references) or not found.scores
    if _is_name(given.baseline, [name for name, _ in named], in_file=any(map(is_count_file, found.references))):
        (name,) = given.baseline
        if given.baseline_name not in (GivenRuns().baseline_name, name):
            raise InputError(f"--baseline-name {given.baseline_name}: the baseline is the system {name}: leave it out")
        given = evolve(given, baseline_name=name)
    else:
        systems[given.baseline_name] = outputs_of(given.baseline, found.max_input, texts=texts)
    baseline = given.baseline_name
    for name, files in named:
        if name in systems and name == baseline and given.baseline != (name,):
            raise InputError(
                f"--system {name} has the name of the baseline: choose another name, or rename the baseline with "
                "--baseline-name"
            )
        if name in systems:
            raise InputError(
                f"--system {name} is used twice: write the files of all runs of {name} after one --system {name}, or, "
                "if they are two systems, name them, as in --system NAME FILE FILE"
            )
        systems[name] = outputs_of(files, found.max_input, texts=texts)
    numbers = {"--scores": found.scores, "--counts": found.counts}
    scores, counts = _own_numbers(numbers, systems, found.max_input, without_texts=not found.references)
    dev = _development(given, systems, found.max_input)
    return evolve(found, systems=systems, baseline=baseline, scores=scores, counts=counts, dev=dev)


def _is_name(baseline: Sequence[str], systems: Sequence[str], *, in_file: bool) -> bool:
    """Whether what follows ``--baseline`` is the name of another system and not of files, or of a run ``in_file``."""
    first, *others = baseline
    if others and not in_file and not re.search(r"[-./#]", first) and not is_input(first) and not is_folder(first):
        raise InputError(f"--baseline {first}: no such file; if it is a name, write --baseline-name {first}")
    if len(baseline) != 1 or is_input(baseline[0]) or is_folder(baseline[0]):
        return False
    if baseline[0] not in systems and systems and not in_file and not re.search(r"[./]", baseline[0]):
        raise InputError(
            f"--baseline {baseline[0]}: expected the file of each run of the baseline, or the name of a system "
            f"({listed(systems)})"
        )
    return baseline[0] in systems


def outputs_of(words: Sequence[str], max_input: int, *, texts: bool = True) -> tuple[str, ...]:
    """The outputs of a system's runs: files, and those in folders, by name; or the runs in a file of scores."""
    folders = [word for word in words if is_folder(word)]
    if len(folders) > 1:  # as if --system had been forgotten
        warn(f"the folders {listed(folders)} are taken as runs of one system: if they are of several, name each apart")
    files = tuple(file for word in words for file in (files_in(word, "run") if is_folder(word) else [word]))
    if texts or len(files) != 1 or not Path(split_name(files[0])[0]).is_file():
        return files
    from ...data.joined_scores import paths_of_runs  # texts alone should not wait for readers of scores

    found = paths_of_runs(files[0], max_input)
    if len(found) > 1:
        column = re.split("[#,]", found[0].rpartition("=")[0])[-1]
        click.echo(f"reshuffle: {files[0]}: each {column} is taken as a run ({len(found)} in all)", err=True)
    return tuple(found)


def _named(
    flag: str,
    values: Sequence[tuple[str, ...]],
    what: str,
    max_input: int,
    known: Collection[str] = (),
    like: Sequence[str] = (),
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The name and the other words of each value of an option, whose name may be left out if the words have one.

    A file may have one of the ``known`` names. A name that the files ``like`` these have, too, says nothing: then it is
    that of the folder.
    """
    for words in values:
        name, rest = words[0], words[1:]
        if name not in known:
            common = _own_name(words, max_input)
            if common is not None and common == _common_name(like):
                common = Path(words[0]).parent.name or common
            name, rest = name_and_words(flag, words, what) if common is None else (common, words)
        if not rest:
            is_pattern = re.search(r"[*?[]", name)
            problem = "no file fits this pattern" if is_pattern else f"expected {what} after the name, got none"
            raise InputError(f"{flag} {name}: {problem}")
        yield name, outputs_of(rest, max_input)


def _own_name(words: Sequence[str], max_input: int) -> str | None:
    """The name that the files of a system have: a single one's own or, if that is a number, its folder's."""
    if len(words) > 1:
        return _common_name(words)
    if is_folder(words[0]):
        return Path(os.path.realpath(words[0])).name
    if not is_input(words[0]):
        return None
    (name,) = system_names(words, max_input=max_input)
    return Path(words[0]).parent.name or name if name.isdecimal() else name


def _common_name(files: Sequence[str]) -> str | None:
    """The name of a system whose files only differ in a number: what is before it. None for other files.

    >>> _common_name(["out/new.0", "out/new.1"]), _common_name(["new/0.txt", "new/1.txt"]), _common_name(["a", "a.1"])
    ('new', 'new', None)
    """
    first, *others = parts = [re.split(r"(\d+)", file) for file in files]
    if any(len(part) != len(first) for part in others):
        return None
    differing = [i for i, column in enumerate(zip(*parts, strict=True)) if len(set(column)) > 1]
    # Of the parts, those with odd places are numbers.
    if len(differing) != 1 or differing[0] % 2 == 0 or len({part[differing[0]] for part in parts}) < len(parts):
        return None
    before, after = "".join(first[: differing[0]]), "".join(first[differing[0] + 1 :])
    name = re.split(r"[/\\#]", before.rstrip("._-/\\#"))[-1]
    return None if not name or "/" in after else name


def _check_models(scores: Mapping[str, OfRuns], max_input: int) -> None:
    """:class:`InputError` if a single file is given that is a table of models' runs, with the command for it."""
    if len(scores) != 1:
        return
    ((metric, files),) = scores.items()
    if len(files) != 1 or not isinstance(files, tuple) or not Path(split_name(files[0])[0]).is_file():
        return
    from ...data.joined_scores import paths_of_models  # texts alone should not wait for readers of scores

    baseline, *others = paths_of_models(files[0], max_input) or [""]
    if others:
        form = f"--scores {shlex.quote(metric)} --baseline {baseline}" + "".join(f" --system {each}" for each in others)
        raise InputError(f"{files[0]} has the scores of {len(others) + 1} models: write {form}")


def _own_numbers(
    given: Mapping[str, Mapping[str, OfRuns]],
    systems: Mapping[str, tuple[str, ...]],
    max_input: int,
    *,
    without_texts: bool,
) -> list[dict[str, OfRuns]]:
    """The files of each option, ``--scores`` or ``--counts``, by metric: without texts, those of the systems of one."""
    found: list[dict[str, OfRuns]] = []
    own = ""
    if without_texts:
        _check_models(given["--scores"], max_input)
    for flag, by_metric in given.items():
        found.append({})
        for name, files in by_metric.items():
            if not files and (not without_texts or own):
                reason = f"; the files of --baseline and --system are those of {own}" if own else ""
                raise InputError(
                    f"{flag} {name}: expected a file for each of {numbered(systems)} after the name, got none{reason}"
                )
            own = own if files else f"{flag} {name}"
            found[-1][name] = files or tuple(chain.from_iterable(systems.values()))
    used = [flag for flag, by_metric in given.items() if by_metric]
    if without_texts and used and not own:
        form = "NAME" if used[0] == "--scores" else "NAME:FORMULA"
        raise InputError(
            f"no --refs, and {used[0]} with files: the files of --baseline and --system would not be read; add --refs "
            f"for texts, or write {used[0]} {form} without files if they have the {used[0][2:]}"
        )
    return found


def _development(given: GivenRuns, systems: Mapping[str, Sequence[str]], max_input: int) -> DevFiles:
    """The development set that the options name."""
    outputs = {given.baseline_name: outputs_of(given.dev_baseline, max_input)} if given.dev_baseline else {}
    what = "the output of each run on the development set"
    for name, files in _named("--dev-system", given.dev_systems, what, max_input, systems):
        check_system("--dev-system", name, systems)
        if name in outputs:
            used = "--dev-baseline" if name == given.baseline_name else f"--dev-system {name}"
            raise InputError(f"the outputs of {name} on the development set are given twice: leave out one {used}")
        outputs[name] = files
    scores: dict[str, dict[str, tuple[float, ...]]] = {}
    for name, rest in _named(
        "--dev-scores", given.dev_scores, "a metric and the score of each run", max_input, systems
    ):
        check_system("--dev-scores", name, systems)
        metric, values = rest[0], rest[1:]
        if not values:
            raise InputError(
                f"--dev-scores {name} {metric}: expected the score of each of {counted(len(systems[name]), 'run')} "
                "after the metric, got none"
            )
        if metric in scores.setdefault(name, {}):
            raise InputError(f"--dev-scores {name} {metric} is used twice: leave out one of them")
        scores[name][metric] = tuple(_finite(f"--dev-scores {name} {metric}", value) for value in values)
    return DevFiles(references=given.dev_refs, systems=outputs, scores=scores)


def _finite(where: str, text: str) -> float:
    """A finite number."""
    number = number_in(text)
    if not math.isfinite(number):
        raise InputError(f"{where}: expected a finite number for each run, got {quoted(text)}")
    return number


def check_system(where: str, name: str, systems: Mapping[str, Sequence[str]]) -> None:
    """Raise :class:`InputError` for a name that is not that of a system."""
    if name not in systems:
        raise InputError(f"{where}: {unknown_name('system', name, systems)}")
