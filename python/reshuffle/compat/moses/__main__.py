"""``python -m reshuffle.compat.moses``: multi-bleu.perl and Moses' bootstrap test."""

from __future__ import annotations

import os
import sys

from .command import main

__all__: list[str] = []

if __name__ == "__main__":
    # Threads of numpy's OpenBLAS wait busily and take the processors from those that count and resample.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(main())
