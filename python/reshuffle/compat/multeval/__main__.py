"""``python -m reshuffle.compat.multeval eval|nbest``: MultEval's command line, computed by reshuffle."""

from __future__ import annotations

import sys

from .command import main

__all__: list[str] = []

if __name__ == "__main__":
    sys.exit(main())
