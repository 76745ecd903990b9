"""The hosts: libraries that can be patched. To add one, add a module with its ``SEAMS`` and an entry in ``HOSTS``."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["HOSTS", "Host", "only_help"]


class Host(NamedTuple):
    """A library that can be patched.

    ``package`` is its name on PyPI. Versions from ``lowest`` up to but not including ``below`` are supported.
    ``module`` defines ``SEAMS``. ``by_default`` is False if patching changes the library's numbers; it is then patched
    only if the user names it.
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
    """The help text of options that name libraries."""
    default = ", ".join(name for name, host in HOSTS.items() if host.by_default)
    others = ", ".join(name for name, host in HOSTS.items() if not host.by_default)
    only_if_named = f". Numbers change for {others}, which are patched only if named" if others else ""
    return f"libraries to patch, separated by commas (default: {default}){only_if_named}"
