"""What the readers of commands say of files before anything is computed, for ``reshuffle doctor``."""

from __future__ import annotations

import contextlib
import io
import shlex
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ..data.formats import LOGS
from ..data.score_columns import opened
from ..errors import InputError, InputWarning, counted, listed
from ..options.files import SetFiles
from ..sets import SetData
from .commands import score_command
from .file_kinds import BY_SCORES, REFERENCES, TABLE, TEXTS, Found
from .inputs.sets import given_files
from .inputs.test_set import Input


class Tried(NamedTuple):
    """What is said of the files of a command."""

    watch: Sequence[str]
    """Warnings and notes."""
    problem: str
    """The error that ends reading."""


def tried(command: str) -> Tried:
    """What ``reshuffle compare ...`` would say of its files, without OTHER, until it has read them."""
    words = [word for word in shlex.split(command)[2:] if word != "OTHER"]
    notes, problem = io.StringIO(), ""
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stderr(notes):
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", InputWarning)
        try:
            # Unlike compare, score accepts a single system.
            with score_command.make_context("compare", words) as context:
                options = context.params
                files = given_files(SetFiles, options, options.pop("reference"), options.pop("systems"))
                SetData.of(Input.checked(files, least=1).read())
        except InputError as error:
            problem = str(error.with_flags())
    said = [str(each.message.with_flags()) for each in caught if isinstance(each.message, InputWarning)]
    return Tried([*notes.getvalue().replace("reshuffle: ", "").splitlines(), *dict.fromkeys(said)], problem)


def watched(found: Found) -> Found:
    """What a file is, with what compare says of it if it has scores."""
    if not found.commands or not found.commands[0].startswith(BY_SCORES) or "--qrels" in found.commands[0]:
        return found
    said = tried(found.commands[0])
    problem = [said.problem] if said.problem and not found.watch else []
    return replace(found, watch=[*found.watch, *said.watch, *problem])


def found_together(found: Mapping[str, Sequence[Found]]) -> Found | None:
    """What several files are that may be compared with each other; None if they are of other or several kinds."""
    files = {file: kinds[0] for file, kinds in found.items() if kinds}
    if len(files) < 2:
        return None
    if all(each.kind == TEXTS.name for each in files.values()):
        return _texts_together([*files])
    commands = [shlex.split(each.commands[0]) if each.commands else [] for each in files.values()]
    if not all(" ".join(words[:3]) == BY_SCORES and words[5:6] == ["OTHER"] for words in commands):
        return None
    names = [words[3] for words in commands]
    shown = [*files] if len({*names}) == 1 else [f"{file}#{name}" for file, name in zip(files, names, strict=True)]
    missing = ["--missing", "pairwise"] if any("--missing" in words for words in commands) else []
    command = f"{BY_SCORES} {shlex.join([names[0] if len({*names}) == 1 else 'METRIC', *shown, *missing])}"
    said = tried(command)
    if said.problem and not (in_common := tried(f"{command} --unmatched drop")).problem:
        said, command = in_common, f"{command} --unmatched drop"
    watch = [*said.watch, *filter(None, [said.problem])]
    how = "" if said.problem else _matched(files, said.watch)
    return Found(how, "", [command], kind=f"scores of {counted(len(files), 'system')}", watch=watch)


def _matched(files: Mapping[str, Found], said: Sequence[str]) -> str:
    """How the rows of files belong together, unless something else is said."""
    if all(each.format.partition(":")[0] in LOGS for each in files.values()):
        return "samples are matched by id"
    ids = {file: opened(file)[0].ids() if each.kind == TABLE.name else None for file, each in files.items()}
    first, *others = ids.values()
    if first is None or None in others:
        return "" if said else "rows are matched by position"
    moved = [file for file, own in ids.items() if own != first and sorted(own or ()) == sorted(first)]
    return "rows are matched by id" + (f"; those of {listed(moved)} are in another order" if moved else "")


def _texts_together(files: Sequence[str]) -> Found:
    """Texts, of which one may be called like a reference."""
    references = [file for file in files if Path(file).stem.casefold() in REFERENCES]
    known = references if len(references) == 1 else []
    systems = [file for file in files if file not in known]
    said = tried(f"reshuffle compare {shlex.join([*known, *systems])}")
    watch = [*(said.watch if known else ()), *filter(None, [said.problem])]
    command = "score" if len(systems) == 1 else "compare"
    words = shlex.join([*(known or ["REF"]), *systems])
    kind = f"outputs of {counted(len(systems), 'system')}"
    about = f"and the reference {known[0]}" if known else ""
    return Found(about, "", [f"reshuffle {command} {words}"], kind=kind, watch=watch)
