"""``reshuffle verify``: runs a command again, and compares its result with a saved one."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from typing import IO, Any, NamedTuple, cast

import click

from ..data.files import display_name, read_bytes
from ..data.saved import EXPECTED, is_saved, read_json
from ..errors import InputError, printable, quoted
from ..options.declare import options_of
from ..options.display import ComparisonDisplay
from ..report.wording import counted
from ..results import Comparison, Gate, InputFile, SetComparison
from .input_files import changes, files_here, other_files, unknown_files
from .inputs.folders import files_in, is_folder
from .output import ON_INPUTS
from .process import DIFFERENT

# Options that say what is written, or that continue an earlier run. They have no effect here.
WITHOUT_EFFECT = ("outputs", "table", "full", "save", "checkpoint", "history", "page", *options_of(ComparisonDisplay))
MISSING_FILES = (
    "Files are looked up in the current folder, and some are not there: go to the one that holds them (if all paths "
    "are absolute, they are saved relative to their common folder), or repeat the command, with its files, after "
    "RESULT."
)
# The most differences to list.
MAX_SHOWN = 20


def verify(source: str, words: Sequence[str]) -> int:
    """Run the command, say whether its result is the saved one, and return the exit code.

    Without a command, say only whether the files here are those that the result was read from, or each in a folder.
    """
    if is_folder(source):
        if words:
            raise InputError(f"{display_name(source)} is a folder, and a command computes one result: name its file")
        return _verify_folder(source)
    saved = read_json(source)
    if not words:
        return _verify_files(saved.inputs)
    now = read_json(_json_of(words, saved.inputs))
    others = other_files(saved.inputs, now.inputs)
    _show_lines(others, sys.stdout)
    has_other_files = bool(others or changes(saved.inputs, now.inputs))
    # Shown by name already, so they are no differences of values, too.
    now = replace(now, inputs=saved.inputs)
    if isinstance(saved, Comparison | SetComparison) and isinstance(now, Comparison | SetComparison):
        now = replace(now, display_names=saved.display_names)  # display names are no values
    if isinstance(saved, Gate) and isinstance(now, Gate):
        now = replace(now, n_runs=saved.n_runs, trends=saved.trends)  # of a history, which is not read
    expected, found = saved.render("json"), now.render("json")
    if found == expected:
        _say(f"same {'values from other files' if has_other_files else 'bytes'}: {printable(saved.signature)}")
        return DIFFERENT if has_other_files else 0
    differences = sorted(compared(json.loads(expected), json.loads(found)), key=_rank)
    verdicts = _verdicts(saved)
    changed = [*compared(verdicts, _verdicts(now))]
    if changed:
        _list("verdict", changed)
    _list("value", differences, "; all verdicts are the same" if verdicts and not changed else "")
    return DIFFERENT


def _verify_folder(folder: str) -> int:
    """Compare the files here with the digests of each result in a folder; the last problem is raised at the end."""
    results = [file for file in files_in(folder, "result") if is_saved(read_bytes(file, EXPECTED))]
    if not results:
        raise InputError(f"the folder {display_name(folder)} has no results: expected reports in JSON or HTML")
    codes, problems = [0], list[InputError]()
    for file in results:
        _say(f"{printable(file)}:")
        try:
            codes.append(_verify_files(read_json(file).inputs))
        except InputError as error:
            problems.append(error if file in str(error) else error.with_prefix(f"{file}: "))
    _show_lines(map(str, problems[:-1]))
    if problems:
        raise problems[-1]
    return max(codes)


def _verify_files(saved: Sequence[InputFile]) -> int:
    """Compare the files here with the digests of a result."""
    unknown = unknown_files(saved)
    named = [file for file in saved if file.name not in unknown]
    if not named:
        what = "names no files" if not saved else "was not read from files that can be compared"
        raise InputError(f"RESULT {what}: expected a command after it: reshuffle verify RESULT compare REF SYS SYS")
    _show_lines(f"{name}: not compared ({why})" for name, why in unknown.items())
    here = files_here(named)
    differing = changes(named, here)
    if None in here:
        _say(MISSING_FILES)
    _show_lines(differing)
    if differing:
        return DIFFERENT
    names = ", ".join(file.name for file in named)
    _say(f"same files: {printable(names)}; add the command to compute the result again")
    return 0


def _say(line: str, out: IO[str] | None = None) -> None:
    """Show a line. If nobody reads on, the comparison still has an exit code."""
    with suppress(BrokenPipeError):
        click.echo(line, file=out)


def _show_lines(lines: Iterable[str], out: IO[str] | None = None) -> None:
    for each in lines:
        _say(printable(each), out)


def _list(noun: str, changes: Sequence[tuple[str, str]], more: str = "") -> None:
    """Show what has changed, at most :data:`MAX_SHOWN` lines."""
    _say(f"{counted(len(changes), noun)} {'differs' if len(changes) == 1 else 'differ'} (saved → now){more}:")
    for place, change in changes[:MAX_SHOWN]:
        _say(f"  {printable(f'{place}: {change}')}")
    if len(changes) > MAX_SHOWN:
        _say(f"  … and {len(changes) - MAX_SHOWN:,} others")


def _verdicts(result: Any) -> dict[str, str]:
    """Of every pair of a comparison, by what a reader calls the pair; of a gate."""
    if isinstance(result, SetComparison):
        average = {} if result.average is None else {"average": result.average}
        sets = {**average, **result.sets}
        return {f"{key} on {name}": each for name, own in sets.items() for key, each in _verdicts(own).items()}
    if isinstance(result, Gate):
        return {"gate": result.verdict}
    if not isinstance(result, Comparison):
        return {}
    return {f"{p.system} against {p.baseline} under {p.metric}": result.verdict(p) for p in result.comparisons}


def _json_of(words: Sequence[str], saved: Sequence[InputFile]) -> str:
    """What a command writes as JSON. Only words of the user's own command line get here.

    Before it computes anything, it shows which files are not the ``saved`` ones.
    """
    context = _context(words[1:] if words[:1] == ("reshuffle",) else words)
    # show computes nothing.
    if context.info_name == "show" or not {"fmt", "outputs"} <= {*context.params}:
        raise InputError(
            f"'{context.info_name}' computes no result to compare: expected compare, score, runs, or another that does"
        )
    for param in context.command.params:
        if param.name in WITHOUT_EFFECT:
            context.params[param.name] = () if param.multiple else None
    context.params["fmt"] = "json"
    context.meta[ON_INPUTS] = lambda now, out=sys.stdout: _show_lines(changes(saved, now), out)
    written = io.StringIO()
    with redirect_stdout(written), context:
        context.command.invoke(context)
    return written.getvalue()


def _context(words: Sequence[str]) -> click.Context:
    """The parsed words of a command."""
    root = click.get_current_context().find_root()
    command: click.Command = root.command
    left, name = list(words), None
    while isinstance(command, click.Group):
        if not left:
            raise InputError("expected a command after RESULT: reshuffle verify RESULT compare REF SYS SYS")
        name, found, left = command.resolve_command(root, left)
        command = cast("click.Command", found)  # an unknown one was an error
    return command.make_context(name, left, parent=root)


class Difference(NamedTuple):
    """A value that differs from the saved one."""

    place: str
    change: str


def compared(saved: Any, now: Any, place: str = "") -> Iterator[Difference]:
    """The values of parsed JSON that differ, in the order of the saved ones. A list of numbers is one value.

    >>> for each in compared({"a": [{"x": 2.5}], "b": [1, 2, 3]}, {"a": [{"x": 2.25}], "b": [1, 4, 1], "c": None}):
    ...     print(*each)
    a[0].x 2.5 → 2.25 (-0.25)
    b 2 of 3 numbers, by at most 2
    c missing → None
    """
    same_length = isinstance(saved, list) and isinstance(now, list) and len(saved) == len(now)
    if isinstance(saved, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*saved, *now)):
            yield from compared(saved.get(key, MISSING), now.get(key, MISSING), f"{place}.{key}" if place else key)
    elif same_length and all(map(_is_number, (*saved, *now))):
        changes = [abs(b - a) for a, b in zip(saved, now, strict=True) if repr(a) != repr(b)]
        if changes:
            yield Difference(place, f"{len(changes)} of {len(saved)} numbers, by at most {max(changes):.3g}")
    elif same_length:
        for i, (one, other) in enumerate(zip(saved, now, strict=True)):
            yield from compared(one, other, f"{place}[{i}]")
    elif repr(saved) != repr(now):  # 0.0 is not -0.0
        yield Difference(place, _change(saved, now))


# In place of the value of a key that one of the results lacks.
MISSING = object()


# The last keys of what a reader asks for first, in this order.
FIRST = ("score", "statistic", "pvalue", "adjusted_pvalue", "groups", "best", "rank_low", "rank_high")
# Records of histograms.
HISTOGRAMS = ("draws", "null")


def _rank(difference: Difference) -> int:
    """The place of a difference in the list: settings, scores and p-values first, histograms and seeds last.

    >>> places = ["scores[0].draws.counts", "scores[0].details.bp", "comparisons[0].test.pvalue", "scores[0].score"]
    >>> [each.place for each in sorted((Difference(place, "") for place in places), key=_rank)]
    ['scores[0].score', 'comparisons[0].test.pvalue', 'scores[0].details.bp', 'scores[0].draws.counts']
    """
    *within, key = re.sub(r"\[\d+\]", "", difference.place).split(".")
    if not within and key == "signature":
        return -1
    if key in ("seed", "signature") or within[-1:] in ([name] for name in HISTOGRAMS):
        return len(FIRST) + 1
    return FIRST.index(key) if key in FIRST else len(FIRST)


def _change(saved: Any, now: Any) -> str:
    """From one value to the other: of numbers also by how much, and of signatures only the parts that differ."""
    by = f" ({now - saved:+.3g})" if _is_number(saved) and _is_number(now) else ""
    if isinstance(saved, str) and isinstance(now, str) and "|" in saved:
        parts, parts_now = saved.split("|"), now.split("|")
        saved = "|".join(part for part in parts if part not in parts_now)
        now = "|".join(part for part in parts_now if part not in parts)
    return f"{_shown(saved)} → {_shown(now)}{by}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _shown(value: Any) -> str:
    """A value, or how many there are."""
    if value is MISSING:
        return "missing"
    return f"a list of {len(value)}" if isinstance(value, list) else quoted(value)
