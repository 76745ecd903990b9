"""Runs sacreBLEU's command line with many sets of arguments. Each runs in a fork of one process, to import only once.

``python commands.py host`` runs sacreBLEU's own command, ``python commands.py ours`` the drop-in. The sets of arguments
are read as JSON from standard input, and results are written as JSON.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import IO, Any


def run_in_child(main: Callable[[], Any], argv: list[str], stdin: bytes, environment: dict[str, str]) -> list[Any]:
    """Run ``main`` in a forked child. Returns its exit code, standard output and standard error."""
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        return [_code_of_child(main, argv, stdin, environment, files), *map(_text, files[1:])]


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8")


def _code_of_child(
    main: Callable[[], Any], argv: list[str], stdin: bytes, environment: dict[str, str], files: Sequence[IO[bytes]]
) -> int:
    files[0].write(stdin)
    files[0].seek(0)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            for number, file in enumerate(files):
                os.dup2(file.fileno(), number)
            os.environ.update(environment)
            sys.argv[:] = argv
            main()
            code = 0
        except SystemExit as stopped:
            code = stopped.code if isinstance(stopped.code, int) else int(stopped.code is not None)
        except BaseException as error:
            sys.excepthook(type(error), error, error.__traceback__)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> None:
    commands = json.loads(sys.stdin.read())
    if sys.argv[1] == "host":
        from sacrebleu.sacrebleu import main as command_of_sacrebleu

        name, run = "sacrebleu", command_of_sacrebleu
    else:
        import sacrebleu.sacrebleu  # noqa: F401

        from reshuffle.compat.sacrebleu.__main__ import main as our_command

        name, run = "python -m reshuffle.compat.sacrebleu", our_command
    results = [
        run_in_child(run, [name, *command["arguments"]], command["stdin"].encode("utf-8"), command["environment"])
        for command in commands
    ]
    print(json.dumps(results))


if __name__ == "__main__":
    main()
