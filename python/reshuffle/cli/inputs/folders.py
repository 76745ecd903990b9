"""Folders and files of several systems in place of files: every file in a folder is that of a system."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from attrs import evolve

from ...data.corpus import SAMPLES, system_names
from ...data.files import STDIN, display_name, uncompressed
from ...data.reading import is_log, path_is, split_name, systems_in
from ...errors import Argument, InputError, listed, printable, warn
from ...options.files import OfSystems, SetFiles


def is_folder(path: str) -> bool:
    """Whether a word names a folder. A word that cannot be a path does not."""
    return path != STDIN and path_is(path, Path.is_dir)


# What to do about files of several test sets.
SETS_OF_TEXTS = "write --set NAME REF SYS SYS with those of each"
SETS_OF_SCORES = "name only folders, one of each system, or the files of each test set in a manifest (--manifest)"
# If only folders are named, the command takes one test set. Beside texts, folders cannot be test sets.
ONE_SET = "use 'reshuffle compare' or 'reshuffle gate' with a folder for each system"
BESIDE_TEXTS = "'reshuffle compare' and 'reshuffle gate' take a manifest (--manifest)"
# So many files in the order of their names may be what the shell made of a pattern such as *.txt.
MANY = 3


def note_baseline(files: SetFiles, names: Sequence[str], otherwise: str, in_one: Sequence[str] = ()) -> None:
    """Say which system is the baseline if its file was not chosen: the first of a folder, or of those of a pattern.

    ``in_one``: the systems that a single file may have, if the report has no row of the baseline.
    """
    given = files.systems or next(iter(files.numbers.values()), ())
    if not names or isinstance(given, Mapping) or not given:
        return
    if is_folder(given[0]):
        first = f"first file of {printable(display_name(given[0]))} by name"
    elif len(given) >= MANY and _may_be_a_pattern(given):
        first = f"first of {len(given):,} files by name"
    elif len(given) == 1 and len(in_one) == 2:
        names, first = in_one, f"first system in {printable(display_name(given[0]))}"
        otherwise = "to choose another, name both systems, as FILE#NAME or FILE#model=NAME"
    else:
        return
    click.echo(f"reshuffle: the baseline is {printable(names[0])}, the {first}: {otherwise}", err=True)


def _may_be_a_pattern(paths: Sequence[str]) -> bool:
    """Whether files follow each other in a folder, in the order of one of the locales of shells."""
    folder = Path(paths[0]).parent
    own = [Path(path).name for path in paths]
    if any(path == STDIN or Path(path).parent != folder for path in paths) or not folder.is_dir():
        return False
    names = [path.name for path in folder.iterdir() if path.suffix == Path(own[0]).suffix]
    orders = (sorted(names), sorted(names, key=_as_in_locales))
    starts = [(order, order.index(own[0])) for order in orders if own[0] in order]
    return any(order[start : start + len(own)] == own for order, start in starts)


def _as_in_locales(name: str) -> tuple[str, str]:
    """The order of names in most locales: case and punctuation count only if names are otherwise the same."""
    return "".join(filter(str.isalnum, name)).casefold(), name


def of_single_systems(files: SetFiles) -> SetFiles:
    """The same files, each of one system: with those in a folder in its place, and ``FILE#NAME`` for files of several.

    A file that is named twice counts once, unless files of something else are in the order of the systems.

    :class:`InputError` if a folder is empty, or has a file that is named elsewhere or like that of another system; or
    if a file that may have several systems cannot be read.
    """
    of_segments = [
        path for path in (files.documents, files.strata) if path and not is_log(split_name(path)[0], files.max_input)
    ]
    others = [*files.references, *files.parses, *of_segments]
    systems = _of_systems(files.systems, others, files.max_input)
    if not isinstance(systems, Mapping):
        every = [systems_in(path, files.input_format, files.max_input) for path in systems]
        systems = tuple(path for own in every for path in own)
        if len(systems) > len(every):
            _check_names(systems, max_input=files.max_input)
    for metric, own in files.scores.items():
        _check_metric(metric, own)
    several = BESIDE_TEXTS if systems else SETS_OF_SCORES
    scores, counts = (
        {metric: _of_systems(own, others, files.max_input, several) for metric, own in of.items()}
        for of in (files.scores, files.counts)
    )
    if not scores and not counts and not files.parses and not isinstance(systems, Mapping):
        systems = _once(systems)
    elif not systems and len(scores) == 1 and not counts:
        scores = {metric: own if isinstance(own, Mapping) else _once(own) for metric, own in scores.items()}
    return evolve(files, systems=systems, scores=scores, counts=counts)


def _once(files: Sequence[str]) -> tuple[str, ...]:
    """The files without copies, such as the baseline among the files of a folder; but a file and its copy alone."""
    first: dict[object, str] = {}
    copies = []
    for at, path in enumerate(files):
        file, name = split_name(path)
        place = at if file == STDIN else (os.path.realpath(file), name)
        if place in first:
            copies.append((path, first[place]))
        else:
            first[place] = path
    if len(first) < 2:
        return tuple(files)
    for copy, path in copies:
        named = "is named twice" if copy == path else f"is the same file as {display_name(path)}"
        warn(f"{display_name(copy)} {named}: the copy is left out")
    return tuple(first.values())


def _of_systems(given: OfSystems, others: Sequence[str], max_input: int, several: str = SETS_OF_TEXTS) -> OfSystems:
    """The files of systems. ``others`` are the files of references, parses, documents and strata."""
    if isinstance(given, Mapping):
        return given
    for folder, _, name in (path.partition("#") for path in given if not path_is(path)):
        if name and is_folder(folder):
            raise InputError(
                f"{display_name(folder)} is a folder, which has no columns: write --scores {name} and the "
                f"folders without #{name}, or name their files, as FILE#{name}"
            )
    found = {path: files_in(path) for path in given if is_folder(path)}
    files = tuple(file for path in given for file in found.get(path, (path,)))
    for folder, own in found.items():
        _check_others(folder, own, others)
    if found:
        what = ONE_SET if several is SETS_OF_SCORES and len(found) == len(given) else several
        _check_names(files, what, max_input=max_input)
    return files


def _check_metric(metric: str, given: OfSystems) -> None:
    """:class:`InputError` if what follows ``--scores NAME`` seems to be another name."""
    first, *others = given
    if (
        others
        and not isinstance(given, Mapping)
        and re.fullmatch(r"[^-./#][^./#]*", first)
        and not Path(first).exists()
    ):
        name = display_name(first)
        hint = (
            f": if it is another metric, it needs a --scores of its own, as in --scores {metric} FILE FILE --scores "
            f"{name} FILE FILE"
        )
        raise InputError("{file}: no such file{hint}", file=name, hint=Argument("", as_flag=hint))


def files_in(folder: str, of: str = "system") -> list[str]:
    """The files in a folder, one ``of`` each, sorted by name, without hidden ones."""
    try:
        every = sorted(each for each in Path(folder).iterdir() if not each.name.startswith("."))
        own = [str(each) for each in every if each.is_file()]
    except OSError as error:
        raise InputError(f"{display_name(folder)} cannot be read: {error.strerror or error}") from None
    if not own:
        folders = [each.name for each in every if each.is_dir()]
        hint = f", but it has the folders {listed(folders)}, which can be named instead" if folders else ""
        raise InputError(f"the folder {display_name(folder)} has no files: expected one for each {of}{hint}")
    return own


def task_of(file: str) -> str:
    """The task of samples of lm-eval in a file with the harness's own name, else nothing."""
    found = SAMPLES.fullmatch(Path(file).name)
    return found[1] if found else ""


def files_by_task(folder: str) -> dict[str, str]:
    """The files in a folder by test set: by the task of samples of lm-eval, beside which others are left out, else by
    name without ending.

    :class:`InputError` for two files of a test set.
    """
    files = files_in(folder, "test set")
    samples = [*filter(task_of, files)]
    found: dict[str, str] = {}
    for file in samples or files:
        task = task_of(file) or Path(uncompressed(Path(file).name)).stem
        if task in found:
            raise InputError(
                f"{display_name(found[task])} and {display_name(file)} are both of {display_name(task)}: move one of "
                "them out of the folder, or name the file of each test set in a manifest (--manifest)"
            )
        found[task] = file
    return found


def files_of_tasks(folders: Sequence[str]) -> dict[str, dict[str, str]]:
    """The files of systems by test set and system, if each of these folders has those of a system; else none.

    That is so if there are two folders or more, and a test set is in all of them. :class:`InputError` if another one is
    not, or if folders have the same name.
    """
    if len(folders) < 2 or not all(map(is_folder, folders)):
        return {}
    files = [files_by_task(folder) for folder in folders]
    common = set.intersection(*map(set, files))
    if not common:
        return {}
    every = list(dict.fromkeys(task for own in files for task in own))
    for folder, own in zip(folders, files, strict=True):
        missing = [task for task in every if task not in own]
        if missing:
            raise InputError(
                f"the folder {display_name(folder)} has no file for {listed(missing)}, but another folder has: "
                "expected the same test sets in all folders, or those of each system in a manifest (--manifest)"
            )
    names = [Path(folder).resolve().name for folder in folders]
    if len(set(names)) < len(names):
        names = [display_name(folder) for folder in folders]
    if len(set(names)) < len(names):
        raise InputError(f"{names[0]} is named twice: expected a folder for each system")
    return {task: {name: own[task] for name, own in zip(names, files, strict=True)} for task in every}


def _check_others(folder: str, own: Sequence[str], others: Sequence[str]) -> None:
    """:class:`InputError` if a file of the folder is a reference, or has documents or strata."""
    places = {os.path.realpath(split_name(other)[0]): other for other in others}
    for file in own:
        if os.path.realpath(file) in places:
            raise InputError(
                f"{display_name(file)} is not the output of a system, but the folder {display_name(folder)} stands for "
                "all of its files: move it out of the folder, or name the files of the systems"
            )


def _check_names(files: Sequence[str], several: str = SETS_OF_TEXTS, *, max_input: int) -> None:
    """Raise :class:`InputError` for two files whose systems would have the same name: with folders, a mistake."""
    seen: dict[str, str] = {}
    for file in files:
        name = system_names([file], max_input=max_input)[0]
        if name in seen:
            first, second = display_name(seen[name]), display_name(file)
            if os.path.realpath(seen[name]) == os.path.realpath(file):
                raise InputError(f"{second} is given twice, by itself and by its folder or file: leave out one of them")
            raise InputError(
                f"{first} and {second} would both be called {display_name(name)}: rename one, or name the "
                f"files instead of the folder; for several test sets {several}"
            )
        seen[name] = file
