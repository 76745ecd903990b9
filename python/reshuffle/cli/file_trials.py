"""What the readers of commands say of files before anything is computed, for ``reshuffle doctor``."""

from __future__ import annotations

import contextlib
import io
import shlex
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..data.formats import LOGS
from ..data.id_columns import GOLD
from ..data.score_columns import opened
from ..errors import InputError, InputWarning, counted, listed
from ..options.files import SetFiles
from ..sets import SetData
from .commands import compare_command, score_command
from .file_kinds import BY_SCORES, REFERENCES, TABLE, TEXTS, Found, called_reference, found_in, gated, of_runs
from .inputs.folders import files_of_tasks
from .inputs.sets import checked_sets, given_files, read_sets
from .inputs.test_set import Input


class Tried(NamedTuple):
    """What is said of the files of a command."""

    watch: Sequence[str]
    """Warnings and notes."""
    problem: str
    """The error that ends reading."""


def tried(command: str) -> Tried:
    """What ``reshuffle compare ...`` or ``score`` would say while it reads its files (without OTHER)."""
    _, name, *words = (word for word in shlex.split(command) if word != "OTHER")
    notes, problem = io.StringIO(), ""
    with _warned() as said, contextlib.redirect_stderr(notes):
        try:
            used = score_command if name == "score" else compare_command
            with used.make_context(name, words) as context:
                options = context.params
                texts = options.pop("reference"), options.pop("systems")
                if name == "score":
                    SetData.of(Input.checked(given_files(SetFiles, options, *texts), least=1).read())
                else:
                    read_sets(checked_sets(*texts, options, None))
        except InputError as error:
            problem = str(error.with_flags())
    return Tried([*notes.getvalue().replace("reshuffle: ", "").splitlines(), *said], problem)


@contextlib.contextmanager
def _warned() -> Iterator[list[str]]:
    """The warnings about files in the body, each once; they are there when it has ended."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", InputWarning)
        yield said
    # What is said of several files is said of the first, as when a command runs.
    texts: dict[str, str] = {}
    for each in (one.message for one in caught):
        if isinstance(each, InputWarning):
            text = str(each.with_flags())
            texts.setdefault(text.removeprefix(each.fields.get("file") or ""), text)
    said += texts.values()


def examined(path: str) -> list[Found]:
    """What a file is, and what its readers warn of."""
    with _warned() as said:
        found = found_in(path)
    return [_watched(replace(each, watch=[*each.watch, *(said if at == 0 else ())])) for at, each in enumerate(found)]


def _watched(found: Found) -> Found:
    """What a file is, with what compare says of it if it has scores."""
    command = found.commands[0] if found.commands else ""
    of_tasks = found.format == "folder" and "OTHER" in command
    if not command.startswith(BY_SCORES) or "--qrels" in command or of_tasks:
        return found
    said = tried(command)
    problem = [said.problem] if said.problem and not found.watch else []
    return replace(found, watch=[*dict.fromkeys([*found.watch, *said.watch, *problem])])


def found_together(found: Mapping[str, Sequence[Found]]) -> Found | None:
    """What several files are together, if they can be compared; None if they are of other kinds, or of several."""
    files = {file: kinds[0] for file, kinds in found.items() if kinds}
    if len(files) < 2:
        return None
    if all(each.kind == TEXTS.name for each in files.values()):
        together: Found | None = _texts_together(files)
    else:
        together = _columns_alike(files) or _scores_together(files)
    before = {text for each in files.values() for text in each.watch}
    return together and replace(together, watch=[text for text in together.watch if text not in before])


def _read_together(kind: str, n: int, about: str, commands: Sequence[str], said: Tried) -> Found:
    """What ``n`` files are together, with the commands if they can be read."""
    watch = [*said.watch, *filter(None, [said.problem])]
    return Found(about, "", () if said.problem else commands, kind=f"{kind} of {counted(n, 'system')}", watch=watch)


def _texts_together(files: Mapping[str, Found]) -> Found:
    """Texts, of which one may be called like a reference, and the metrics that suit each of them."""
    metrics = {command.partition(" -m ")[2] for each in files.values() for command in each.commands[:1]}
    metrics = {each.partition(" --")[0] for each in metrics}
    flag = "".join(f" -m {each}" for each in metrics if each and len(metrics) == 1)
    known = called_reference(files, (*REFERENCES, *GOLD) if "accuracy" in flag else REFERENCES)
    systems = [file for file in files if file not in known]
    said = tried(f"reshuffle score {shlex.join([*known, *systems])}{flag}")
    said = said if known else said._replace(watch=())
    command = "score" if len(systems) == 1 else "compare"
    commands = [f"reshuffle {command} {shlex.join([*(known or ['REF']), *systems])}{flag}"]
    return _read_together("outputs", len(systems), f"and the reference {known[0]}" if known else "", commands, said)


def _columns_alike(files: Mapping[str, Found]) -> Found | None:
    """Two tables, each with a reference and an output of one system in columns of the same names; else None."""
    first, second = [*map(shlex.quote, files)][:2]
    own = {file: "".join(each.commands[:1]) for file, each in files.items()}
    commands = {command.replace(f" {shlex.quote(file)}#", " FILE#") for file, command in own.items()}
    command = commands.pop()
    if len(files) > 2 or commands or " OTHER#" not in command or " FILE#" not in command:
        return None
    command = command.replace(" FILE#", f" {first}#").replace(" OTHER#", f" {second}#")
    return _read_together("outputs", 2, "the reference is that of the first", [command], tried(command))


def _scores_together(files: Mapping[str, Found]) -> Found | None:
    """Files of scores, each of one system; None if some file has no scores, or those of several."""
    commands = [shlex.split("".join(each.commands[:1])) for each in files.values()]
    with contextlib.suppress(InputError):
        if files_of_tasks([*files]):  # each of which alone may look like a folder of systems
            commands = [[*words[:5], "OTHER", *words[5:]] for words in commands]
    if not all(" ".join(words[:3]) == BY_SCORES and words[5:6] == ["OTHER"] for words in commands):
        return None
    names = [words[3] for words in commands]
    is_one = len({*names}) == 1
    if not is_one and any("@" in name for name in names):  # which is no column
        return None
    shown = [file if is_one else f"{file}#{name}" for file, name in zip(files, names, strict=True)]
    missing = ["--missing", "pairwise"] if any("--missing" in words for words in commands) else []
    docs = commands[0][-2:] if all("--docs" in words for words in commands) else []
    command = f"{BY_SCORES} {shlex.join([names[0] if is_one else 'METRIC', *shown, *missing, *docs])}"
    said = tried(command)
    if said.problem and not (in_common := tried(f"{command} --unmatched drop")).problem:
        said, command = in_common, f"{command} --unmatched drop"
    offered = [command, gated(command)] if len(files) == 2 else [command]
    if is_one and all(any(each.startswith("reshuffle runs ") for each in one.commands) for one in files.values()):
        offered.append(of_runs(names[0], [*map(shlex.quote, shown)]))
    return _read_together("scores", len(files), "" if said.problem else _matched(files, said.watch), offered, said)


def _matched(files: Mapping[str, Found], said: Sequence[str]) -> str:
    """How the rows of files belong together, unless something else is said."""
    formats = {each.format.partition(":")[0] for each in files.values()}
    if formats <= {*LOGS}:
        return "samples are matched by id"
    if "folder" in formats:
        return "folders with a file of each test set"
    ids = {file: opened(file)[0].ids() if each.kind == TABLE.name else None for file, each in files.items()}
    first, *others = ids.values()
    if first is None or None in others:
        return "" if said else "rows are matched by position"
    moved = [file for file, own in ids.items() if own != first and sorted(own or ()) == sorted(first)]
    return "rows are matched by id" + (f"; those of {listed(moved)} are in a different order" if moved else "")
