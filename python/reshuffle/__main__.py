"""``python -m reshuffle`` and the command ``reshuffle``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from .cli.process import leave


def main(args: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code; signals are handled before anything large is imported."""

    def command() -> int:
        from .cli.main import run

        return run(args)

    leave(command)


if __name__ == "__main__":
    main()
