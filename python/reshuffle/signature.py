"""Signatures: one line with everything needed to reproduce a number. This module formats every part of them.

The signature of a metric is its name and the options that change a score, such as
``BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp``. The signature of a run adds the test and how its replicates were
made. Defaults that everyone would assume, such as segments as the resampling unit, are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _core
from .seeds import format_seed

PRECOMPUTED_COUNTS = "counts:given"
# The generator of random numbers, and the version of this package.
RNG = f"rng:{_core.GENERATOR}"
VERSION = f"version:reshuffle-{_core.VERSION}"


def joined(parts: Iterable[str | None]) -> str:
    """The parts that are not None, separated by bars.

    >>> joined(["TER", None, "case:lc"])
    'TER|case:lc'
    """
    return "|".join([part for part in parts if part is not None])


def for_metric(name: str, options: Iterable[tuple[str, str]] = (), n_references: str | None = None) -> str:
    """Name, references per segment (a number, or ``var`` if it varies) and the options that change a score.

    >>> for_metric("TER", [("case", "lc")], "1")
    'TER|nrefs:1|case:lc'
    """
    parts = [name] if n_references is None else [name, f"nrefs:{n_references}"]
    return "|".join([*parts, *[f"{option}:{value}" for option, value in options]])


def for_precomputed_counts(name: str, formula: str | None) -> str:
    """Name of a metric whose counts the user supplied, and the signature of the formula that scores them, if any.

    >>> for_precomputed_counts("mine", "BLEU|case:lc"), for_precomputed_counts("F1", None)
    ('mine|counts:given|BLEU|case:lc', 'F1|counts:given')
    """
    return joined([name, PRECOMPUTED_COUNTS, formula])


def for_scheme(scheme: str, bits: int | None = None) -> str:
    """Scheme of shuffling, and the number of shuffles if it is a power of two, 2^bits.

    >>> for_scheme("exact", 6)
    'exact[2^6]'
    """
    return scheme if bits is None else f"{scheme}[2^{bits}]"


def for_replay(n: int) -> str:
    """Scheme of n user-supplied replicates.

    >>> for_replay(1000)
    'replay[1000]'
    """
    return f"replay[{n}]"


def for_stopping(rule: str, *values: object) -> str:
    """Rule for early stopping, and its parameters.

    >>> for_stopping("gandy", 0.05, 0.001)
    'gandy[0.05,0.001]'
    """
    return f"{rule}[{','.join(map(str, values))}]"


def for_interval(interval: str, confidence_level: float, simultaneous: bool = False) -> str:
    """Kind of confidence interval, its level, and whether those of differences are simultaneous.

    >>> for_interval("bca", 0.95), for_interval("percentile", 0.95, simultaneous=True)
    ('bca[0.95]', 'percentile[0.95]+simultaneous')
    """
    return f"{interval}[{confidence_level:g}]{'+simultaneous' if simultaneous else ''}"


def for_margins(margins: Iterable[float]) -> str:
    """Margins of equivalence or non-inferiority, in the order of the metrics; only one if all are equal.

    Of those in percent, digits that are only rounding errors are left out.

    >>> for_margins([0.5, 1]), for_margins([0.5, 0.5]), for_margins([0.014039999999999999])
    ('0.5,1', '0.5', '0.01404')
    """
    formatted = [f"{float(margin):.12g}" for margin in margins]
    return ",".join(formatted[:1] if len(set(formatted)) == 1 else formatted)


def for_seeds(seeds: Iterable[int]) -> str:
    """Number of a batch's seeds, and the first 4 bytes of their SHA-256 as little-endian 64-bit integers.

    >>> for_seeds([1, 2, 3])
    '3[sha256:e2e2033a]'
    """
    import hashlib

    numbers = list(seeds)
    digest = hashlib.sha256(b"".join(seed.to_bytes(8, "little") for seed in numbers)).hexdigest()
    return f"{len(numbers)}[sha256:{digest[:8]}]"


def merged(signatures: Iterable[str]) -> str:
    """One signature of a metric on several test sets: values that differ are joined by ``+``.

    >>> merged(["BLEU|nrefs:1|tok:13a", "BLEU|nrefs:2|tok:zh", "BLEU|nrefs:1|tok:13a"])
    'BLEU|nrefs:1+2|tok:13a+zh'
    """
    values: dict[str, dict[str, None]] = {}
    for line in signatures:
        for part in line.split("|"):
            key, _, value = part.partition(":")
            values.setdefault(key, {})[value] = None
    return joined(f"{key}:{'+'.join(own)}" if list(own) != [""] else key for key, own in values.items())


def for_batch(n: int) -> str:
    """Number of problems that one call tested."""
    return f"batch:{n}"


def for_sets(names: Iterable[str]) -> str:
    """Names of test sets.

    >>> for_sets(["newstest17", "newstest18"])
    'sets:newstest17,newstest18'
    """
    return f"sets:{','.join(names)}"


def for_unit(unit: str, units: int) -> str | None:
    """Resampling unit and the number of units; None for segments."""
    return None if unit == "segment" else f"{unit}[{units}]"


def for_units(unit: str, units: int, strata: int | None = None) -> list[str]:
    """Resampling units and strata of a test set, where they are not its segments.

    >>> for_units("document", 7, 2), for_units("segment", 400, None)
    (['strata:2', 'unit:document[7]'], [])
    """
    shown = {"strata": strata, "unit": for_unit(unit, units)}
    return [f"{part}:{value}" for part, value in shown.items() if value is not None]


def for_flips(metric: str, threshold: float, unit: str, units: int) -> str:
    """Signature of flips under a metric: the threshold with all its digits, and the documents if these are counted.

    >>> for_flips("TER", 50.0, "document", 7).partition("|version")[0]
    'TER|flips:50|unit:document[7]'
    """
    digits = repr(threshold).removesuffix(".0")
    return joined([metric, f"flips:{digits}", *for_units(unit, units), VERSION])


def without_seed(study: str, settings: Mapping[str, Any], metrics: Iterable[str]) -> str:
    """Signature of a study that draws nothing: its settings that are not None, and the signatures of the metrics.

    >>> without_seed("watch", {"method": "sign", "bounds": None, "alpha": 0.05}, ["accuracy"]).partition("|version")[0]
    'watch|method:sign|alpha:0.05|accuracy'
    """
    parts = [f"{key}:{_value(value)}" for key, value in settings.items() if value is not None]
    return joined([study, *parts, *metrics, VERSION])


def for_gate(metrics: Iterable[str], rule: str, margins: Sequence[float], alpha: float, n: int, seed: int) -> str:
    """Signature of a gate: the metrics on all test sets, the rule, the margins in points, the level and the replicates.

    A gate of labels has no replicates.

    >>> print(for_gate(["BLEU", "BLEU", "TER"], "non-inferior", [0.5, 0.5, 1], 0.05, 99, 1).partition("|rng")[0])
    BLEU|TER|gate:non-inferior|margin:0.5,0.5,1|alpha:0.05|n:99|seed:1
    """
    drawn = [f"n:{n}", f"seed:{format_seed(seed)}", RNG] if n else []
    run = [f"alpha:{alpha!r}", *drawn, VERSION]
    return joined(
        [*dict.fromkeys(metrics), f"gate:{rule}", *([f"margin:{for_margins(margins)}"] if margins else []), *run]
    )


def for_study(study: str, settings: Mapping[str, Any], seed: int, metrics: Iterable[str]) -> str:
    """Signature of a study: its settings that are not None, the seed, and the signatures of the metrics.

    Values are separated by commas; a mapping is ``key=value``.

    >>> settings = {"null": ["swap"], "sizes": [100, 500], "alternative": None, "margins": {"BLEU": 0.5}, "n": 999}
    >>> print(for_study("type1", settings, 1, ["BLEU|case:mixed"]).partition("|version")[0])
    study:type1|null:swap|sizes:100,500|margins:BLEU=0.5|n:999|seed:1|rng:philox4x32-10|BLEU|case:mixed
    """
    parts = [f"{key}:{_value(value)}" for key, value in settings.items() if value is not None and value != {}]
    last = [f"seed:{format_seed(seed)}", RNG, *metrics, VERSION]
    return joined([f"study:{study}", *parts, *last])


def _value(value: object) -> str:
    """A setting of a study."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        of_metrics = {
            key: repr(each).removesuffix(".0") if isinstance(each, float) else each for key, each in value.items()
        }
        return ",".join(f"{key}={_value(each)}" for key, each in of_metrics.items())
    if isinstance(value, list | tuple):
        return ",".join(map(_value, value))
    return repr(value) if isinstance(value, float) else str(value)


# The parts of the signature of a run, in their order. Those that are None are left out. ``average`` is the number of
# test sets that the scores are means over, ``strata`` that of strata, if the result depends on them. ``family`` and
# ``ties`` are those that not everyone would assume.
RUN: Mapping[str, Any] = dict.fromkeys(
    [
        *("average", "interval", "test", "margin", "alternative", "adjust", "family", "scheme", "ties", "stopping"),
        *("strata", "unit", "n", "seed", "rng"),
    ]
)


def drawn(n: int, seed: int) -> dict[str, Any]:
    """The parts of :data:`RUN` about random replicates."""
    return {"n": n, "seed": format_seed(seed), "rng": _core.GENERATOR}


def for_run(parts: Mapping[str, Any]) -> str:
    """Signature of a run, the test and how its replicates were made, from its parts and :data:`RUN`.

    >>> print(for_run({**RUN, "test": "ar", **drawn(99, 1), "alternative": "two-sided"}).partition("|version")[0])
    test:ar|alternative:two-sided|n:99|seed:1|rng:philox4x32-10
    """
    return "|".join([*[f"{part}:{value}" for part, value in parts.items() if value is not None], VERSION])
