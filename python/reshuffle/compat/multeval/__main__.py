"""``python -m reshuffle.compat.multeval eval|nbest``: MultEval's command line, computed by reshuffle."""

from __future__ import annotations

from ..commands import main_of_process
from . import main

if __name__ == "__main__":
    main_of_process(main)
