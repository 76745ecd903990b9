"""The hosts: libraries that can be patched. To add one, add a module with its ``SEAMS`` and an entry in ``HOSTS``."""

from __future__ import annotations

from typing import NamedTuple


class Host(NamedTuple):
    """A library that can be patched.

    ``package`` is its name on PyPI. Versions from ``lowest`` up to but not including ``below`` are supported.
    ``module`` defines ``SEAMS``. ``only_if_named`` is why the library is patched only if the user names it; it is empty
    for libraries that are patched by default.
    """

    package: str
    lowest: str
    below: str
    module: str
    only_if_named: str = ""

    @property
    def supported(self) -> str:
        """The supported versions, as pip writes them."""
        return f"{self.package}>={self.lowest},<{self.below}"


# The keys are the names by which the libraries are imported.
HOSTS = {
    "sacrebleu": Host("sacrebleu", "2.4.2", "2.7", "reshuffle.compat.sacrebleu.significance"),
    "nltk": Host("nltk", "3.9.1", "3.11", "reshuffle.compat.nltk", only_if_named="takes long to import"),
    "lm_eval": Host("lm_eval", "0.4.13", "0.5", "reshuffle.compat.lm_eval", only_if_named="numbers change"),
    "lighteval": Host("lighteval", "0.13", "0.14", "reshuffle.compat.lighteval", only_if_named="numbers change"),
}


def only_help() -> str:
    """The help text of options that name libraries."""
    default = ", ".join(name for name, host in HOSTS.items() if not host.only_if_named)
    reasons: dict[str, list[str]] = {}
    for name, host in HOSTS.items():
        if host.only_if_named:
            reasons.setdefault(host.only_if_named, []).append(name)
    others = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
    only_if_named = f". Others are patched only if named ({others})" if others else ""
    return f"libraries to patch, separated by commas (default: {default}){only_if_named}"
