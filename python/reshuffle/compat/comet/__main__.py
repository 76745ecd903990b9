"""``python -m reshuffle.compat.comet``: comet-compare's command line, from segment scores."""

from __future__ import annotations

import gc

from ..commands import main_of_process
from .command import main

if __name__ == "__main__":
    # Modules and texts are kept to the end, so that looking for garbage among them takes time and finds nothing.
    gc.disable()
    main_of_process(main)
