"""The libraries that can be patched. Adding one takes a package here and an entry in ``HOSTS``."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["HOSTS", "Host", "only_help"]


class Host(NamedTuple):
    """A library.

    ``package`` is its name on PyPI, ``lowest`` and ``below`` are the versions that have been tested, and ``module``
    defines ``SEAMS``. ``by_default`` is False if its numbers change, so that it is only patched when it is named.
    """

    package: str
    lowest: str
    below: str
    module: str
    by_default: bool = True

    @property
    def supported(self) -> str:
        """The supported versions, as pip writes them."""
        return f"{self.package}>={self.lowest},<{self.below}"


# The keys are the names by which the libraries are imported.
HOSTS = {
    "sacrebleu": Host("sacrebleu", "2.4.2", "2.7", "reshuffle.compat.sacrebleu.seams"),
    "lm_eval": Host("lm_eval", "0.4.13", "0.5", "reshuffle.compat.lm_eval.seams", by_default=False),
    "lighteval": Host("lighteval", "0.13", "0.14", "reshuffle.compat.lighteval.seams", by_default=False),
}


def only_help() -> str:
    """The help of options that name libraries."""
    default = ", ".join(name for name, host in HOSTS.items() if host.by_default)
    others = ", ".join(name for name, host in HOSTS.items() if not host.by_default)
    only_if_named = f"; {others}, whose numbers change, only if named" if others else ""
    return f"libraries to patch, separated by commas (default: {default}{only_if_named})"
