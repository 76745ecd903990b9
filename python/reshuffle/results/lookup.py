"""Names in results, and how errors and representations show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from ..errors import ALL_PAIRS, Argument, InputError, listed, printable, quoted, shortened, unknown_name
from ..names import metric_key, printed_name
from ..validate import check_name

P = TypeVar("P", bound=Any)


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


def pair_of(
    pairs: Sequence[P], names: tuple[str, str | None, str | None], systems: Sequence[str], metrics: Sequence[str],
    only: str | None, reversible: bool,
) -> P:  # fmt: skip
    """The pair with these ``names`` of the system, its baseline and the metric, reversed if need be.

    ``only`` is the baseline of all pairs, if there is one.

    Raises
    ------
    InputError
        If there is no such pair, or if the baseline or the metric is left out and there are several.
    """
    system, baseline, metric = names
    check_name("system", system, systems)
    if baseline is not None and baseline not in systems and str(baseline).casefold() in map(str.casefold, metrics):
        raise InputError(f"{quoted(baseline)} is a metric, not a baseline: name it as metric={baseline!r}")
    if baseline is not None:
        check_name("baseline", baseline, systems)
    shown = quoted(system)
    if system == baseline:
        raise InputError(f"a pair has two systems, got {shown} twice: name another baseline, or leave it out")
    name = metric_name(metric, metrics)
    pairs = [pair for pair in pairs if pair.metric == name]
    found = [pair for pair in pairs if pair.system == system and baseline in (None, pair.baseline)]
    if len(found) == 1:
        return found[0]
    if reversible:
        for pair in pairs:
            if (pair.baseline, pair.system) == (system, baseline):
                reversed_pair: P = pair.reversed
                return reversed_pair
    if found:
        raise InputError(f"{shown} was compared with {listed(pair.baseline for pair in found)}: choose a baseline")
    problem = "is always the baseline" if baseline is None else f"was not compared with baseline {quoted(baseline)}"
    if baseline is not None and only not in (None, system, baseline):
        raise InputError(
            "{system} {problem}, only with {only}: compare with {all_pairs}",
            system=shown,
            problem=problem,
            only=quoted(only),
            all_pairs=ALL_PAIRS,
        )
    others = [pair for pair in pairs if system in (pair.system, pair.baseline)]
    calls = listed(f"pair({quoted(pair.system)}, {quoted(pair.baseline)})" for pair in others)
    raise InputError(f"{shown} {problem}; its comparisons: {calls}")
