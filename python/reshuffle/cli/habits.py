"""Advice for arguments that are right in other tools, or nearly right here: by what they mean, not by their letters."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import get_args

from ..errors import InputError, nearest, quoted, shortened
from ..names import is_metric
from ..toml import loads

_AFTER_REF = "outputs of systems are arguments after REF"
_MORE_REFS = "use --refs FILE FILE"
# Options of some commands, where others do not have them.
ELSEWHERE = {
    "--baseline": "if there is a baseline, it is the first of the outputs; of votes, all pairs are compared",
    "--docs": "use --units",
    "--threshold": "use --margin METRIC=VALUE",
    "--save": "use -o",
    "--test": "use --exchange",
}


@cache
def habits(kind: str) -> Mapping[str, str]:
    """The advice for each name of a kind in ``habits.toml``, none for an unknown kind; ``{name}`` is the name."""
    table = loads((Path(__file__).parent / "habits.toml").read_text("utf-8"))
    return {name: advice for advice, names in table.get(kind, {}).items() for name in names}


def check_habits(args: Sequence[str], own: Collection[str] = ()) -> None:
    """Raise :class:`InputError` for an option of another tool, with the one to use here.

    ``own`` are options of the command, which are not meant. An option that the command does not have is not advised.
    """
    for option, value in zip(args, [*args, ""][1:], strict=True):
        if option == "--":
            return
        name = option.split("=", 1)[0]
        if option == "--confidence" and option in own and (not value or value.startswith("-")):  # a switch in sacreBLEU
            raise InputError("--confidence needs a level: --confidence 0.95")
        if name in own or not name.startswith("-"):
            continue
        if name.startswith("--hyps-sys"):  # of MultEval, with a number
            raise InputError(f"there is no option {name}: use 'reshuffle runs' with --system NAME FILE FILE ...")
        advice = _advice(name, value, own)
        if advice is not None and _has_what_is_advised(name, advice, own):
            raise InputError(f"there is no option {name}: {advice.replace('{name}', name)}")


def _advice(name: str, value: str, own: Collection[str]) -> str | None:
    if name == "-s" and is_metric(value.partition(":")[0]):
        return f"use -m {shortened(value)}"
    with_hyphens = name[:2] + name[2:].replace("_", "-")
    options = habits("option")
    if options.get(name) == _MORE_REFS and "reference" in own:
        return "the reference is the first argument, without an option; --refs FILE FILE adds others"
    if name not in options and with_hyphens != name and with_hyphens in own:
        return f"use {with_hyphens}"
    return options.get(name) or ELSEWHERE.get(name) or _of_name(name)


def _of_name(written: str) -> str | None:
    """The option that takes a name which was written as an option: ``--bonferroni``, ``--wilcoxon``, ``--chrf``."""
    from .. import types  # not at start-up

    taken = {"-m": types.MetricName, "--test": types.Test, "--interval": types.Interval, "--adjust": types.Adjustment}
    name = written.removeprefix("--")
    # Words that may mean something else.
    known = {} if name in ("auto", "none", "by", written) else taken
    return next((f"use {option} {name}" for option, names in known.items() if name in get_args(names)), None)


def _has_what_is_advised(name: str, advice: str, own: Collection[str]) -> bool:
    """Whether the command has the option that the text names first, or the argument. Other commands have their own.

    >>> [_has_what_is_advised("--method", "use --test, or --exchange", [own]) for own in ("--test", "--exchange")]
    [True, False]
    """
    if not own or advice.startswith(("use 'reshuffle", "'reshuffle compare'")):
        return True
    if advice.startswith(_AFTER_REF):
        return "reference" in own
    named = [each for each in re.findall(r"(?<![\w-])--?[a-z][\w-]*", re.sub(r"'[^']*'", "", advice)) if each != name]
    return not named or named[0] in own


def without_options_of_outputs(args: Sequence[str]) -> list[str]:
    """Words without the options that other tools have before the outputs of systems.

    >>> without_options_of_outputs(["ref.txt", "-i", "a.txt", "-m", "bleu"])
    ['ref.txt', 'a.txt', '-m', 'bleu']
    """
    return [word for word in args if habits("option").get(word) != _AFTER_REF]


def command_advice(name: str) -> str | None:
    """The command that is called otherwise elsewhere."""
    return habits("command").get(name.lower())


def name_advice(kind: str, name: str, known: Sequence[str] | None = None) -> InputError | None:
    """The error for a name that other tools know and reshuffle does not.

    With ``known``, also for a name that is like one of these and like none that is known.
    """
    every = {**habits(kind), **habits(f"another {kind}")}
    near = [] if known is None or nearest(name, known) else nearest(name, every, cutoff=0.8)
    # Names are written as they are asked for: COMET, not comet.
    written = next((each for each in [name.lower(), *near] if each in every), None)
    if written is None:
        return None
    is_known = written == name.lower()
    advice = every[written].replace("{name}", name if is_known else written)
    meant = "" if is_known else f" ({written})"
    return InputError(f"unknown {kind} {quoted(shortened(name))}: {advice}{meant}")
