"""``python -m reshuffle.compat.mteval``: the command line of mteval-v13a.pl and mteval-v14.pl."""

from __future__ import annotations

from ..commands import main_of_process
from . import main

if __name__ == "__main__":
    main_of_process(main)
