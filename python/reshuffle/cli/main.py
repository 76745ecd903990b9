"""The entry point: runs a command and turns errors and warnings into lines on standard error."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import click

from ..errors import InputError, InputNote, InputWarning, Option, counted, either, flag, listed
from .process import BAD_INPUT, leave
from .root import COMPLETE, ClosedPipeError, cli

# More options are not listed for an unknown one.
MOST_OPTIONS = 8
BEFORE_A_COMMAND = "a command comes first, as in 'reshuffle compare REF SYS SYS'"
OF_SACREBLEU = "; 'python -m reshuffle.compat.sacrebleu' takes the arguments of sacreBLEU"
# The columns of a terminal that does not know them.
NO_WIDTH = 80


@contextlib.contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Show each :class:`InputWarning` as one line on standard error, once; PYTHONWARNINGS takes precedence.

    Of several files with the same problem, the first has a line, and at the end one line names the others.
    """
    shown: set[str] = set()
    files: dict[tuple[str, str], list[str]] = {}

    def show(message: Warning | str, category: type[Warning], *args: Any, **kwargs: Any) -> None:
        if not isinstance(message, InputWarning):
            others(message, category, *args, **kwargs)
        elif (text := _with_flags(message)) not in shown:
            shown.add(text)
            file = message.fields.get("file")
            kind = "" if issubclass(category, InputNote) else "warning: "
            alike = [] if file is None else files.setdefault((kind, text.removeprefix(file)), [])
            alike.append(text if file is None else file)
            if len(alike) == 1:
                _say(f"reshuffle: {kind}{text}")

    with warnings.catch_warnings():
        if not sys.warnoptions:
            warnings.simplefilter("always", InputWarning)
        others, warnings.showwarning = warnings.showwarning, show
        try:
            yield
        finally:
            for (kind, _), (first, *more) in files.items():
                if more:
                    held = f"what is said of {first} holds for {counted(len(more), 'more file')}: {listed(more)}"
                    _say(f"reshuffle: {kind}{held}")


def _say(line: str) -> None:
    """Write to standard error, above a progress bar; in a terminal, with breaks between words."""
    if sys.stderr is not None and sys.stderr.isatty():
        from ..progress import Bar

        line = wrapped(line, _width())
        if Bar.say(line):
            return
    click.echo(line, err=True)


def _width() -> int:
    """The columns of the terminal on standard error, or of ``COLUMNS``."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or NO_WIDTH
    except (OSError, ValueError):
        return NO_WIDTH


def wrapped(line: str, width: int) -> str:
    """A line as several, none of which breaks a word.

    >>> wrapped("a warning about long-named/files.txt", 12)
    'a warning\\nabout\\nlong-named/files.txt'
    """
    import textwrap

    return textwrap.fill(line, width, break_long_words=False, break_on_hyphens=False)


def _with_flags(warning: InputWarning) -> str:
    """The message with options and arguments as they are written on the command line."""
    return str(warning.with_names(Option, flag).with_flags())


def _missing(error: click.MissingParameter) -> str:
    """What is missing, with the first sentence of its help."""
    from .help import first_sentence

    about = first_sentence(getattr(error.param, "help", None) or "")
    if isinstance(error.param, click.Argument) and error.ctx is not None and not about:
        about = f"'{error.ctx.command_path} --help' has examples"
    if about[1:2].islower():  # the help of an option, inside the sentence
        about = about[:1].lower() + about[1:]
    return ": ".join(sentence.rstrip(".") for sentence in (_unlike_click(error.format_message()), about) if sentence)


def _unlike_click(message: str) -> str:
    """A message of click as others are: without a capital and a full stop."""
    return message[:1].lower() + message[1:].rstrip(".")


def _unknown(error: click.NoSuchOption) -> str:
    near = sorted(error.possibilities or ())
    short = error.option_name.removeprefix("-")  # of --n: -n
    if error.ctx is not None and any(short in param.opts for param in error.ctx.command.params):
        near = [short]
    meant = f": did you mean {either(near)}?" if near else ""
    if error.ctx is not None and isinstance(error.ctx.command, click.Group) and error.ctx.parent is not None:
        group, commands = error.ctx.command_path, either(error.ctx.command.list_commands(error.ctx))
        return f"'{group}' has no option {error.option_name}: a command comes first, {commands}"
    params = [] if error.ctx is None else [param for param in error.ctx.command.params if param.expose_value]
    own = [param.opts[0] for param in params if param.opts[0][:1] == "-"]
    if not meant and error.ctx is not None and error.ctx.parent is None:
        meant = f": {BEFORE_A_COMMAND}{OF_SACREBLEU if error.option_name in ('-t', '-l', '--test-set') else ''}"
    if error.option_name in ("-v", "-V", "--version"):
        meant = ": the version is shown by 'reshuffle --version'"
    elif not meant and 1 < len(own) <= MOST_OPTIONS:
        meant = f"; the options are {listed(own)}"
    return f"there is no option {error.option_name}{meant}"


def run(args: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Raises
    ------
    InputError
        If arguments or input cannot be used.
    """
    stdout = sys.stdout
    if isinstance(stdout, io.TextIOWrapper):
        # Whatever the locale and the system: a report redirected to a file is the same everywhere.
        stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    if COMPLETE in os.environ:  # a shell asks
        from .completion import register

        register()
    try:
        with _warnings_as_lines():
            return cli.main(args, prog_name="reshuffle", standalone_mode=False) or 0
    except InputWarning as error:  # raised under PYTHONWARNINGS=error
        raise InputError(_with_flags(error)) from None
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return BAD_INPUT
    except click.MissingParameter as error:
        raise InputError(_missing(error)) from None
    except click.NoSuchOption as error:
        raise InputError(_unknown(error)) from None
    except click.ClickException as error:
        raise InputError(_unlike_click(error.format_message())) from None
    except click.Abort:
        raise KeyboardInterrupt from None
    except ClosedPipeError as gone:
        raise BrokenPipeError from gone


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code; see :func:`reshuffle.cli.process.leave`."""
    leave(lambda: run(args))
