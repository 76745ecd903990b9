"""``python -m reshuffle``."""

from .cli import main

main()
