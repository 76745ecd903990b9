"""``python -m reshuffle.compat.moses``: multi-bleu.perl and Moses' bootstrap test."""

from __future__ import annotations

from ..commands import main_of_process
from . import main

if __name__ == "__main__":
    main_of_process(main)
