"""Caveats in words: ``words/caveats.toml`` has the sentence of each kind."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from ..errors import InputError, quoted
from ..grouping import grouped
from ..results import Caveat, Comparison, SetComparison
from .layout import Layout, by_name, sets_of
from .systems import pairs_of
from .wording import named, spelled
from .words import Template, words, words_of

# Caveats of intervals, which do not help a reader who sees none.
OF_INTERVALS = {"few-draws", "star-and-interval"}


# Caveats of what the draws take into account already.
ACCOUNTED_FOR = {"dependence"}


def cautions(result: Comparison | SetComparison, layout: Layout, accounted: bool | None = None) -> Iterator[str]:
    """The caveats in words, with the test sets that have them. ``accounted``: only those accounted for, or the others.

    One that several metrics have in the same words is said once: ``BLEU, TER: …``.
    """
    comparisons = by_name(result)
    found = [
        (name, with_pairs(comparison, caveat, name))
        for name, comparison in comparisons.items()
        for caveat in comparison.caveats
        if layout.shows_intervals(comparison) or caveat.kind not in OF_INTERVALS
        if accounted in (None, caveat.kind in ACCOUNTED_FOR)
    ]
    texts: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    every = {metric.name for comparison in comparisons.values() for metric in comparison.metrics}
    for names, caveat in _added_up(found, every):
        if len(names) == 1 and "named" in caveat.values:  # the note begins with the only name
            pairs = [pair.removesuffix(f" ({names[0]})") for pair in caveat.values["named"]]
            caveat = replace(caveat, values={**caveat.values, "named": pairs})
        sentence = worded(caveat, layout.command is not None)
        about = f"{caveat.values.get('metric')}: "
        start = about if sentence.startswith(about) else ""
        texts.setdefault((sentence.removeprefix(start), names), []).append(start.removesuffix(": "))
    said = (
        (f"{', '.join(metrics)}: {text}" if all(metrics) else text, name)
        for (text, names), metrics in texts.items()
        for name in names
    )
    return where_said(result, grouped(said))


def where_said(result: Comparison | SetComparison, notes: Mapping[str, list[str]]) -> Iterator[str]:
    """The notes, each after the test sets that it is about unless it is about all."""
    sets, n_all = [*sets_of(result)], len(by_name(result))
    for note, of in notes.items():
        where = "[Each test set] " if of == sets else f"[{named(of, f'of {n_all:,} test set')}] "
        yield note if len(of) == n_all else f"{where}{note}"


def counts_of(kind: str) -> Sequence[str]:
    """The values of a caveat that are added up over metrics and test sets."""
    counts: Sequence[str] = words("caveats")["caveat"].get(kind, {}).get("counts", ())
    return counts


# What else may differ between caveats that are added up.
APART = ("metric", "named", "enough", "reasons")


def _added_up(found: Iterable[tuple[str, Caveat]], every: Set[str]) -> Iterator[tuple[tuple[str, ...], Caveat]]:
    """The caveats with the names of their comparisons; as one, those that differ in what they count.

    ``every``: the metrics; a caveat about all of them names none.
    """

    def kind(caveat: Caveat) -> Any:
        counts = counts_of(caveat.kind)
        left_out = (*counts, *APART) if counts else ()
        would_decide = caveat.values.get("enough", 0) is not None
        values = {key: value for key, value in caveat.values.items() if key not in left_out}
        return caveat.kind, would_decide, repr(values)

    for alike in grouped((kind(caveat), (name, caveat)) for name, caveat in found).values():
        names, caveats = zip(*alike, strict=True)
        one = len(caveats) == 1 or not counts_of(caveats[0].kind)
        yield tuple(dict.fromkeys(names)), caveats[0] if one else _sum(caveats, every)


def _sum(caveats: Sequence[Caveat], every: Set[str]) -> Caveat:
    """One caveat for several of a kind."""
    first = caveats[0]
    values = {**first.values, "several": True}
    for key in counts_of(first.kind):
        values[key] = sum(caveat.values[key] for caveat in caveats)
    if first.kind == "near-alpha":
        values["named"] = [name for caveat in caveats for name in caveat.values["named"]]
        if "enough" in values:
            values["enough"] = max((caveat.values["enough"] for caveat in caveats), key=lambda n: n or 0)
    else:
        metrics = list(dict.fromkeys(caveat.values["metric"] for caveat in caveats))
        values["metric"] = None if every <= {*metrics} or None in metrics else ", ".join(metrics)
        reasons = [tuple(caveat.values["reasons"]) for caveat in caveats]
        values["reasons"] = tuple(dict.fromkeys(reason for each in reasons for reason in each))
        values["differ"] = len({*reasons}) > 1
    return replace(first, values=values)


# Of more pairs, the conclusions have the number.
MAX_PAIRS = 2


def with_pairs(comparison: Comparison, caveat: Caveat, name: str = "") -> Caveat:
    """The caveat with the pairs that it is about, if its sentence names them. ``name``: that of the comparison."""
    # The conclusions name the pairs with a baseline that are skewed.
    if caveat.kind != "near-alpha" and (caveat.kind != "skewed" or comparison.baseline is not None):
        return caveat
    several = len(comparison.metrics) > 1 and caveat.kind == "near-alpha"
    names = [
        (f"{pair.system} − {pair.baseline}" if comparison.baseline is None else pair.system)
        + (f" under {pair.metric}" if several else "")
        + (f" ({name})" if name else "")
        for metric in comparison.metrics
        if caveat.values.get("metric") in (None, metric.name)
        for pair in pairs_of(comparison, metric)
        if caveat.kind in pair.caveats
    ]
    return replace(caveat, values={**caveat.values, "named": names})


def caveat_kinds() -> Mapping[str, Mapping[str, Any]]:
    """All kinds of caveats, those of tests of systems with several runs last: when each applies, and what to do."""
    return {**words("caveats")["caveat"], **words("caveats")["run"]}


# An output is about as long as the references if the difference is at most so many standard errors.
AS_LONG = 3.0


def worded(caveat: Caveat, for_command: bool = False) -> str:
    """The sentence for a caveat, with options as flags of the command line or as keyword arguments.

    >>> worded(Caveat("near-alpha", {"near": 2, "tests": 120, "alpha": 0.05, "adjusted": False}))[:64]
    'For 2 of 120 tests, Monte Carlo error leaves open whether p ≤ 0.'
    """
    return spelled(_filled(caveat, "sentence", words_of("caveats", "caveat", caveat.kind)), for_command)


def doubt(caveat: Caveat, unit: str) -> str:
    """Why significant differences may be chance, or nothing. ``unit`` is that of the comparison."""
    parts = words("caveats")["caveat"].get(caveat.kind, {})
    return _filled(caveat, "doubt", parts, unit=unit) if "doubt" in parts else ""


def _filled(caveat: Caveat, part: str, parts: Mapping[str, Any], **others: str) -> str:
    try:
        values = {**caveat.values, **_computed(caveat), **others}
        return Template({**words("caveats")["phrase"], **parts}).filled(part, values)
    except (KeyError, TypeError, ValueError) as error:  # read from damaged JSON
        raise InputError(f"the values of the caveat {quoted(caveat.kind)} are not complete: {error}") from error


def _computed(caveat: Caveat) -> Mapping[str, Any]:
    """What a sentence says besides the values of the caveat."""
    values = caveat.values
    if caveat.kind == "near-kink":
        both = (values["system"], values["baseline"])
        near = [system for system, z in zip(both, values["lengths"], strict=True) if abs(z) <= AS_LONG] or both
        return {"near": near, "n_near": len(near)}
    if caveat.kind == "few-units":
        n = values.get("systems")
        return {"ways": (2 if n is None else math.factorial(n)) ** values["units"]}
    if caveat.kind == "star-and-interval":
        reasons = words("caveats")["reason"]
        also = ", or because " if values.get("differ") else ", and "
        why = also.join(reasons[each] for each in values["reasons"])
        return {"others": values["pairs"] - values["starred"], "why": why}
    return {}
