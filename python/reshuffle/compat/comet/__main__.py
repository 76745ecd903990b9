"""``python -m reshuffle.compat.comet``: comet-compare's command line, from segment scores."""

from __future__ import annotations

import gc
import os
import sys

from .command import main

__all__: list[str] = []

if __name__ == "__main__":
    # Threads of numpy's OpenBLAS wait busily and take the processors from those that count and resample.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Modules and texts are kept to the end, so that looking for garbage among them takes time and finds nothing.
    gc.disable()
    sys.exit(main())
