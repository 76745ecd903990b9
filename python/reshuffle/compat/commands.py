"""What the command lines of drop-ins share: errors, exit codes, warnings, and files that are about to be written."""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from reshuffle import InputError, InputWarning

# As much of an existing file as tells whether it is an earlier output: characters.
BEGINNING = 10_000
# White space in Perl's patterns, without Python's U+001C to U+001F.
PERL_SPACE = "[ \\t\\n\\r\\f\\v\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]"
# More draws or shuffles do not fit any memory.
MOST = 10**12


class Printed(str):
    """Output of a command that ends with an exit code other than 0."""

    code = 1


class Parser(argparse.ArgumentParser):
    """A parser whose errors are an :class:`InputError`, of one line without the usage."""

    def error(self, message: str) -> NoReturn:
        """Raise :class:`InputError`."""
        raise InputError(message)


def run(
    program: str,
    job: Callable[[list[str]], str],
    arguments: Sequence[str] | None,
    option_named: Callable[[str], str] = str,
) -> int:
    """Print what ``job`` returns for the arguments, by default those of the process, and return the exit code.

    2 for wrong input and for output that cannot be written, 3 if memory runs out, with one line on standard error that
    begins with ``program``. ``option_named`` turns names of arguments in messages into those of options.
    """

    def show(message: Warning | str, *_: object) -> None:
        if isinstance(message, InputWarning):
            message = message.with_names(str, option_named).with_flags()
        say(f"{program}: warning: {message}")

    try:
        if sys.stdout is None:
            raise InputError("standard output is closed")
        with warnings.catch_warnings():
            warnings.simplefilter("always", InputWarning)
            warnings.showwarning = show  # type: ignore[assignment]
            output = job(sys.argv[1:] if arguments is None else list(arguments))
        # Bytes, because texts are UTF-8 whatever the locale.
        sys.stdout.flush()
        sys.stdout.buffer.write(output.encode("utf-8", "surrogateescape"))
        sys.stdout.flush()
    except InputError as error:
        say(f"{program}: error: {error.with_names(str, option_named).with_flags()}")
        return 2
    except MemoryError:
        say(f"{program}: error: not enough memory: fewer draws, shuffles, systems or metrics need less")
        return 3
    except BrokenPipeError:
        drop_unwritten()
        return 1
    except OSError as error:  # those of files are InputErrors
        say(f"{program}: error: standard output cannot be written: {error.strerror or error}")
        drop_unwritten()
        return 2
    except KeyboardInterrupt:
        return 130
    return output.code if isinstance(output, Printed) else 0


def main_of_process(main: Callable[[], int]) -> NoReturn:
    """Run a command that is all that its process does."""
    # Threads of numpy's OpenBLAS wait busily and take the processors from those that count and resample.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(main())


def say(message: str) -> None:
    """Print to standard error, if there is one."""
    with suppress(OSError, AttributeError):
        print(message, file=sys.stderr)


def drop_unwritten() -> None:
    """Drop what standard output did not take, so that flushing it at exit does not fail again."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def whole(text: str) -> int:
    """A whole number that is not negative, as the type of an option."""
    if not re.fullmatch(r"\d{1,18}", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"expected a whole number below 10^18, got {text[:40]!r}")
    return int(text)


def count(text: str, most: int = MOST) -> int:
    """A whole number from 1 to ``most``, as the type of an option."""
    number = whole(text)
    if not 1 <= number <= most:
        raise argparse.ArgumentTypeError(f"expected 1 to {most:,}, got {number}")
    return number


def add_number(options: Any, *names: str, default: int, about: str, kind: Callable[[str], int] = count) -> None:
    """Add an option with a whole number to a parser or a group of options."""
    options.add_argument(*names, type=kind, default=default, metavar="N", help=f"{about} (default: {default})")


def file_name(text: str) -> str:
    """A name that is not empty, as the type of an option."""
    if not text:
        raise argparse.ArgumentTypeError("expected a name, got an empty one")
    return text


def check_output(path: str | os.PathLike[str], own: str) -> None:
    """:class:`InputError` if there is a file at ``path`` that this command would not have written.

    ``own`` is a regular expression for the beginning of its files. A device or a pipe holds nothing that could be lost.
    """
    try:
        if Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir():
            return
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read(BEGINNING)
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    if text and not re.match(own, text, re.DOTALL):
        raise InputError(
            f"{path} exists and does not look like an earlier output of this command: move it, or choose another name"
        )


def check_file(path: str, own: str) -> None:
    """:func:`check_output` of a file whose folder has to exist."""
    if not Path(path).parent.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {Path(path).parent}")
    check_output(path, own)


def read_bytes(path: str) -> bytes:
    """The content of a file; :class:`InputError` if it cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:  # a NUL in the name
        raise InputError(f"{path!r} cannot be read: {error}") from None


def read_utf8(path: str) -> str:
    """The text of a file; :class:`InputError` with the line if it is not UTF-8."""
    data = read_bytes(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: 0x{data[error.start]:02x} is not valid UTF-8") from None


def write(path: str | os.PathLike[str], text: str) -> None:
    """Write a file; :class:`InputError` if that is impossible."""
    try:
        Path(path).write_text(text, "utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
