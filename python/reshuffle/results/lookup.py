"""Names in results, and how errors and representations show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import Argument, InputError, printable, shortened, unknown_name
from ..names import metric_key, printed_name


def metric_name(metric: str | None, known: Sequence[str]) -> str:
    """The known name that equals ``metric``, ignoring case if need be. For None, the only known name.

    >>> metric_name("chrf", ["BLEU", "chrF2"]), metric_name("Bleu", ["BLEU", "chrF2"])
    ('chrF2', 'BLEU')
    """
    if metric is None:
        if len(known) > 1:
            raise InputError(
                "there are {n} metrics: choose one with {metric}", n=len(known), metric=Argument("metric", tuple(known))
            )
        return known[0]
    if metric in known:
        return metric
    folded, key = str(metric).casefold(), metric_key(str(metric))
    alike = [name for name in known if name.casefold() == folded] or [n for n in known if metric_key(n) == key]
    alike = alike or [name for name in known if name == printed_name(key)]
    if len(alike) != 1:
        raise unknown_name("metric", str(metric), known)
    return alike[0]


def first_names(names: Iterable[str]) -> str:
    """At most four names, shortened, for a repr."""
    names = list(names)
    return ", ".join([*(printable(shortened(name)) for name in names[:4]), *(["…"] if len(names) > 4 else [])])
