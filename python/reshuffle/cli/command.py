"""The command class of ``compare`` and its like: options that take several words, and those of metrics."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from ..errors import InputError, listed, quoted, shortened, warn
from .habits import check_habits
from .help import WithHelp
from .params import Words

# The option that takes metrics.
METRIC = ("-m", "--metric", "--metrics")
# A negative number, which no option looks like.
NEGATIVE = re.compile(r"-\.?\d")


class Command(WithHelp):
    """A command with a hidden flag for every option of any metric.

    Parameters
    ----------
    instead : str
        What to write instead of words that belong to no option, for a command whose files all follow options.
    """

    def __init__(self, *args: Any, instead: str = "", **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.instead, self.allow_extra_args = instead, True

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        from .metric_flags import hidden_flags  # imports the metrics

        self.params += [each for each in hidden_flags() if each not in self.params]
        return super().get_params(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        every = self.get_params(ctx)
        check_habits(args, [name for param in every for name in (*param.opts, *param.secondary_opts)])
        try:
            rest = super().parse_args(ctx, list(map(_marked, _spread(args, self.takers()))))
        except click.BadOptionUsage as error:
            option = next((param for param in every if error.option_name in param.opts and param.metavar), None)
            if option is None:
                raise
            raise InputError(f"{error.option_name} needs {option.metavar}, got nothing after it") from None
        except click.NoSuchOption as error:
            file = next((arg for arg in args if arg.startswith(error.option_name) and Path(arg).is_file()), None)
            if file is None:
                raise
            raise InputError(f"there is no option {error.option_name}: for the file {file} write ./{file}") from None
        except InputError as error:
            raise (_own_scores(args) if error.fields.get("kind") == "metric" else None) or error from None
        ctx.params.update({name: _unmarked(value) for name, value in ctx.params.items()})
        if ctx.args and not ctx.resilient_parsing:
            takes = [param.make_metavar(ctx) for param in self.params if isinstance(param, click.Argument)]
            them = "it" if len(ctx.args) == 1 else "them"
            own = f"'{ctx.command_path}' takes {f'only {listed(takes)}' if takes else 'no files'}: leave {them} out"
            hint = f"expected a file after an option: write {self.instead}" if self.instead else own
            raise InputError(f"{listed(ctx.args)}: {hint}")
        return rest

    def takers(self) -> dict[str, Words]:
        """The options that take several words."""
        takers: dict[str, Words] = {}
        for param in self.params:
            accepts = getattr(param.type, "accepts", None)
            if accepts is not None:
                takers |= dict.fromkeys(param.opts, Words(accepts))
            takers |= getattr(param, "takes", {})
        return takers


def _own_scores(args: Sequence[str]) -> InputError | None:
    """The error for a name after -m that no metric has, but a column or key of scores in the files after it has."""
    from ..data.score_columns import with_scores

    names = [name for option, name in itertools.pairwise(args) if option in METRIC]
    for name in names:
        files = [word for word in args if word != name and with_scores(word, name)]
        if files:
            written = shlex.join(["--scores", name, *files])
            return InputError(f"unknown metric {quoted(name)}: {files[0]} has scores of this name, so write {written}")
    return None


def _spread(args: list[str], takers: Mapping[str, Words]) -> list[Any]:
    """The same arguments with one value per option, as click wants them.

    Repeats an option before each of its words, as in ``--refs FILE FILE``, or makes its words one value, a tuple.

    Raises
    ------
    InputError
        If another word follows ``--refs=FILE``, or the same with another option that takes all words.
    """
    spread: list[Any] = []
    name = ""  # the option that takes the words that follow
    closed = ""  # an argument like --refs=FILE, which takes no further words
    for index, arg in enumerate(args):
        if arg == "--":
            return spread + args[index:]
        taker = takers.get(name)
        is_first = bool(spread) and spread[-1] == name  # the value that click takes anyway
        if _is_option(arg, taker):
            name = arg if arg in takers else ""
            its = takers.get(arg.split("=")[0])
            closed = arg if its is not None and its.noun is not None and "=" in arg else ""
        elif closed:
            # It may be meant for the option or as another argument: a wrong guess would change the result.
            option, value = closed.split("=", 1)
            noun = takers[option].noun
            raise InputError(
                f"{option}= takes one {noun}, but {shortened(arg)!r} follows {closed!r}: for several {noun}s write "
                f"{option} {value} {shortened(arg)}; if it is another argument, put -- or another option before it"
            )
        elif taker is not None and taker.joined and not is_first:
            spread[-1] = (*(spread[-1] if isinstance(spread[-1], tuple) else spread[-1:]), arg)
            continue
        elif taker is not None and not is_first:
            if taker.accepts(arg):
                if name in METRIC and Path(arg).is_file():
                    read = f"{arg!r} after -m is read as a metric, though a file with this name exists"
                    warn(f"{read}: for the file write ./{arg}")
                spread.append(name)
            else:  # the list ends here
                name = ""
        spread.append(arg)
    return spread


def _is_option(arg: str, taker: Words | None) -> bool:
    """Whether an argument is an option: neither ``-`` nor ``-#NAME``, nor a negative number after one of words."""
    if not arg.startswith("-") or arg == "-" or arg.startswith("-#"):
        return False
    return not (taker is not None and NEGATIVE.match(arg))


# A safe mark, because no argument can contain one: before -#NAME it keeps click from seeing options there.
MARK = "\0"


def _marked(arg: Any) -> Any:
    """The argument, with the mark if it is ``-#NAME``."""
    return f"{MARK}{arg}" if isinstance(arg, str) and arg.startswith("-#") else arg


def _unmarked(value: Any) -> Any:
    """The value of an option without the mark, also in a tuple."""
    if isinstance(value, tuple):
        return tuple(map(_unmarked, value))
    return value[1:] if isinstance(value, str) and value.startswith(MARK) else value
