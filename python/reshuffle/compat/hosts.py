"""The libraries that can be patched. Adding one takes a package here and an entry in ``HOSTS``."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["HOSTS", "Host"]


class Host(NamedTuple):
    """A library: its package on PyPI, the versions that have been tested, and the module that defines ``SEAMS``."""

    package: str
    lowest: str
    below: str
    module: str


HOSTS = {
    "sacrebleu": Host("sacrebleu", "2.4.2", "2.7", "reshuffle.compat.sacrebleu.seams"),
}
