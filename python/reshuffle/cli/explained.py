"""Everything that is chosen by name, as ``reshuffle explain`` tells it: made from the registries."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from .. import _core
from ..errors import InputError, either, quoted, shortened
from ..inference.estimates import MEANS, SUMS
from ..inference.exchange import EXCHANGES
from ..inference.few_differing import FEW_DIFFERING, FOR_FEW
from ..inference.gate import RULES
from ..inference.hypotheses import FAMILIES
from ..inference.intervals import INTERVALS, Interval
from ..inference.multiplicity import ADJUSTMENTS, Adjustment
from ..inference.tests import ADJUSTMENT_CHOICES, DEFAULT, TEST_CHOICES, TESTS, SignificanceTest
from ..meta.coefficients import COEFFICIENTS
from ..meta.coefficients import TESTS as META_TESTS
from ..metrics.in_python import IN_PYTHON
from ..metrics.registry import MetricSpec, OptionSpec, metric_specs, tokenizer_specs
from ..names import metric_key
from ..options.choices import INTERVALS_WITH_OPTIONS, TESTS_WITH_OPTIONS, Named
from ..options.declare import Option, options_of
from ..options.nulls import NULLS_WITH_OPTIONS
from ..report import computed
from ..report.words import words_of
from ..resampling.schemes import SCHEMES
from ..resampling.stopping import STOPPING
from ..results import UsedTest
from ..signature import for_metric
from ..study.nulls import NULLS
from ..study.power import MODELS
from ..study.testing import SCHEMES as STUDY_SCHEMES
from ..tune.options import OPTIMIZERS
from .metric_options import describe_option, flag
from .studies import COMMANDS

# Which metrics a test or an interval is for, by its kind.
METRICS_OF: Mapping[str, str] = {
    SUMS: "metrics that are computed from summed counts, so no functions of texts",
    MEANS: "means of segment scores: --scores, and metrics whose score is such a mean",
}
# The tests that all schemes and stopping rules are for.
SHUFFLED = ("ar", "ar-studentized")
# When --test auto takes a test.
WHEN: Mapping[str, str] = {
    DEFAULT: f"by default (auto), for systems that differ in {FEW_DIFFERING} segments or documents or more",
    FOR_FEW: f"by default (auto), for systems that differ in fewer than {FEW_DIFFERING} segments or documents; near "
    "the kink of a brevity penalty only together with bootstrap-kink",
}


@dataclass(frozen=True)
class Entry:
    """A name and what it stands for."""

    name: str
    about: str
    """One line, for lists."""
    source: str = ""
    """The paper, or empty."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What else there is to say, by heading. Empty texts are left out."""
    options: Sequence[Sequence[str]] = ()
    """Options: how each is written, what it takes, its default, its description."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Other values, for JSON."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", {heading: text for heading, text in self.facts.items() if text})


@dataclass(frozen=True)
class Kind:
    """A kind of things that are chosen by name."""

    key: str
    """Its name in JSON, which ``reshuffle explain`` also takes."""
    noun: str
    """What one is, and the heading of all."""
    title: str
    chosen_by: str
    """The option or command with which one is chosen."""
    entries: Callable[[], Iterable[Entry]]
    """All of them."""
    about: str = "About"
    """The heading of what each does."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Further columns of the list: the heading, and the key in ``data``."""


def _metrics() -> Iterable[Entry]:
    for spec in metric_specs():
        core = _core.Metric(spec.name, {})  # it does not look for installed files: the same on every machine
        signature = for_metric(core.name, core.signature, "1")
        yield Entry(
            spec.name,
            spec.about,
            spec.source,
            {"In reports": core.name, "Counts": ", ".join(core.columns), "Signature": signature},
            [[flag(o.name), _takes(o), _default(o.default), describe_option(o.about)] for o in spec.options],
            {"columns": core.columns, "signature": signature, "options": _option_data(spec)},
        )
    for spec in IN_PYTHON.values():
        defaults = {o.name: o.default for o in spec.options}
        signature = for_metric(spec.shown, spec.signature(defaults), "1")
        yield Entry(
            spec.name,
            spec.about,
            spec.source,
            {"In reports": spec.shown, "Counts": spec.counts, "Signature": signature},
            [[flag(o.name)[2:], _takes(o), _default(o.default), o.about] for o in spec.options],
            {"columns": [], "signature": signature, "options": _option_data(spec)},
        )


def _option_data(spec: MetricSpec) -> list[dict[str, Any]]:
    return [{"name": o.name, "takes": _takes(o), "default": o.default, "about": o.about} for o in spec.options]


def _takes(option: OptionSpec) -> str:
    if option.kind == "choice":
        return ", ".join(option.choices)
    if option.kind == "choices":
        return f"one or more of {', '.join(option.choices)}, separated by commas"
    if option.kind in ("path", "text"):
        return f"a {option.kind}"
    if option.kind == "language":
        return "an ISO 639 code"
    if option.kind == "flag":
        return "yes or no"
    what = {"real": "a number from ", "reals": "numbers separated by commas, from "}.get(option.kind, "")
    return f"{what}{option.minimum:.10g} to {option.maximum:.10g}"


def _default(value: object) -> str:
    return {None: "–", False: "no", True: "yes"}[value] if isinstance(value, bool | None) else str(value)


def _tokenizers() -> Iterable[Entry]:
    return (Entry(spec.name, spec.about) for spec in tokenizer_specs())


def _tests() -> Iterable[Entry]:
    yield from (Entry(name, about, "–") for name, about in TEST_CHOICES.items() if name not in TESTS)
    for test in TESTS.values():
        about = f"{test.title}: {test.about}"
        options = _with_options(test.name, TESTS_WITH_OPTIONS)
        data = {"alternatives": [*test.alternatives]}
        yield Entry(test.name, about, test.source, _facts_of_test(test), options, data)


def _facts_of_test(test: SignificanceTest) -> dict[str, str]:
    used = UsedTest(test.name, test.title, test.alternatives[0], test.replicates)
    smallest = test.smallest_numerator(test.alternatives[0])
    others = [name for name, each in ADJUSTMENTS.items() if each.of_pvalues is not None]
    return {
        "When": WHEN.get(test.name, ""),
        "Null hypothesis": f"a difference of at least the margin ({test.margin} is shown if it is rejected)"
        if test.margin is not None
        else words_of("methods", "test", test.name)["null"].format(unit="segment"),
        "p-value": computed.pvalue_sentence(used).removeprefix("Here "),
        "Smallest p": ""
        if test.replicates is None
        else f"{smallest}/(R + 1) for R {test.replicates} (-n)"
        + " of the scheme iid; 'reshuffle explain schemes' has the others" * (test.name in SHUFFLED),
        "For": METRICS_OF.get(test.kind, ""),
        "Alternatives": "" if test.margin else f"{', '.join(test.alternatives)} (--alternative)",
        "Adjustments": f"{', '.join([*test.step_down, *others])} (--adjust)",
        "Options": f"after a colon, as in {test.name}:{'bleu=0.5' if test.margin else 'scheme=subgroup'}"
        if test.name in TESTS_WITH_OPTIONS
        else "",
        "Caveats": " ".join(_caveats_of_test(test)),
    }


def _caveats_of_test(test: SignificanceTest) -> Iterable[str]:
    if test.liberal is not None:
        yield f"Rejects about {100 * test.liberal:.0f}% of true null hypotheses at 0.05: use ar or {DEFAULT}."
    if test.liberal_family is not None:
        yield (
            f"Where the variances of systems differ, the chance of any false star was {test.liberal_family:g} at 0.05, "
            "in a simulation."
        )
    if test.needs_exchangeable:
        yield (
            "Rejects too often or too rarely where equally good systems are not exchangeable, as when one has longer "
            "outputs; a note says so."
        )
    if test.needs_all_systems:
        yield "Needs the scores of all systems on each segment."
    if test.approximate_unless_mean:
        yield "Approximate for scores that are not means of segment scores."
    if test.for_texts is not None:
        yield f"Functions of texts are tested by {test.for_texts} instead."
    if not test.averages:
        yield "Not for averages over test sets."


def _intervals() -> Iterable[Entry]:
    for each in INTERVALS.values():
        yield Entry(each.name, each.about, each.source, _facts_of_interval(each))
    about = "intervals of the differences in a family that hold at once with the confidence level"
    yield Entry("simultaneous", about, options=_with_options("simultaneous", INTERVALS_WITH_OPTIONS))


def _facts_of_interval(interval: Interval) -> dict[str, str]:
    ends = words_of("methods", "interval", interval.name)["ends"].format(alpha="α")
    return {
        "Ends": f"{ends}; α is 1 − confidence" if "α" in ends else ends,
        "For": METRICS_OF.get(interval.kind, ""),
        "Replicates": "bootstrap draws (-n)" if interval.draws else "none",
        "Needs": f"--test {interval.inverts}, which it inverts" if interval.inverts else "",
        "Scores": f"those of single systems have the interval {interval.of_scores}" if interval.of_scores else "",
        "Caveats": "" if interval.averages else "Not for averages over test sets.",
    }


def _adjustments() -> Iterable[Entry]:
    for name, about in ADJUSTMENT_CHOICES.items():
        adjustment = ADJUSTMENTS.get(name)
        facts = {} if adjustment is None else _facts_of_adjustment(adjustment)
        yield Entry(name, about, "–" if adjustment is None else adjustment.source, facts)


def _facts_of_adjustment(adjustment: Adjustment) -> dict[str, str]:
    having = [test.name for test in TESTS.values() if adjustment.name in test.step_down]
    wording = words_of("methods", "adjustment", adjustment.name)
    formula = wording.format(m="m", k="k", replicates="replicates").replace("m = m", "m")
    return {
        "Controls": adjustment.rate,
        "Adjusted p": formula.replace("k = k", "k"),
        "Tests": "all" if adjustment.of_pvalues is not None else ", ".join(having),
        "Caveats": "m tests need up to m times as many replicates (-n auto)." if adjustment.multiplies else "",
    }


def _families() -> Iterable[Entry]:
    return (Entry(name, about) for name, about in FAMILIES.items())


def _rules() -> Iterable[Entry]:
    return (Entry(name, about) for name, about in RULES.items())


def _schemes() -> Iterable[Entry]:
    for name in dict.fromkeys((*SCHEMES, *STUDY_SCHEMES)):
        of_study = STUDY_SCHEMES.get(name, "no")
        about = SCHEMES.get(name, f"in studies only: {STUDY_SCHEMES.get(name)}")
        yield Entry(name, about, facts={"Studies": of_study, "Tests": ", ".join(SHUFFLED)})


def _stopping() -> Iterable[Entry]:
    for name, rule in STOPPING.items():
        first, *more = re.sub("``", "", inspect.getdoc(rule) or "").split("\n\n")
        details = " ".join(more[0].split()) if more else ""
        yield Entry(name, " ".join(first.split()), facts={"How": details, "Tests": ", ".join(SHUFFLED)})


def _exchanges() -> Iterable[Entry]:
    for unit in EXCHANGES.values():
        runs = f"at least {unit.needs_runs} of each system{', equally many' if unit.equal_runs else ''}"
        facts = {
            "Question": unit.question,
            "Null hypothesis": unit.null,
            "Runs": runs,
            "Score": f"{' or '.join(unit.statistics)} (--statistic)",
            "Caveats": unit.caveat,
        }
        data = {"null": unit.null, "caveat": unit.caveat}
        yield Entry(unit.name, unit.about, unit.source, facts, data=data)


def _studies() -> Iterable[Entry]:
    for name, command in COMMANDS.items():
        _, _, details = inspect.cleandoc(command.help or "").partition("\n\n")
        facts = {"How": " ".join(details.split()), "Options": f"reshuffle study {name} --help"}
        yield Entry(name, command.get_short_help_str(200), facts=facts)


def _nulls() -> Iterable[Entry]:
    for null in NULLS.values():
        metrics = "simulated for each metric on its own" if null.per_metric else "the same simulations for all metrics"
        options = _with_options(null.name, NULLS_WITH_OPTIONS)
        written = f"after a colon: {null.name}:{options[0][0].removesuffix('=VALUE')}=VALUE" if options else ""
        facts = {"In reports": null.title, "Metrics": metrics, "Options": written}
        yield Entry(null.name, null.about, null.source, facts, options)


def _models() -> Iterable[Entry]:
    return (Entry(each.name, each.title, each.source, {"True": each.truth}) for each in MODELS.values())


def _coefficients() -> Iterable[Entry]:
    for each in COEFFICIENTS.values():
        facts = {
            "Command": either(f"reshuffle meta {level}s" for level in each.levels),
            "People": each.human if "segment" in each.levels else "",
            "Ties": "" if each.ties is None else f"{each.ties} (of the metric)",
        }
        yield Entry(each.name, f"{each.title}: {each.about}", each.source, facts)


def _meta_tests() -> Iterable[Entry]:
    for test in META_TESTS.values():
        facts = {"Null hypothesis": test.null, "Replicates": test.replicates or "none"}
        yield Entry(test.name, f"{test.title}: {test.about}", test.source, facts)


def _optimizers() -> Iterable[Entry]:
    for each in OPTIMIZERS.values():
        facts = {"Random": each.seeded or "nothing", "Command": f"reshuffle tune {each.name}"}
        yield Entry(each.name, each.about, each.source, facts, _declared(options_of(each.options)))


def _with_options(name: str, named: Named) -> list[list[str]]:
    """The options that follow a name and a colon."""
    if name not in named:
        return []
    make = named[name]
    return _declared({key: each for key, each in options_of(make.func).items() if key not in make.keywords})


def _declared(options: Mapping[str, Option]) -> list[list[str]]:
    """A row for each option: how it is written, what it takes, its default and what it does."""
    return [
        [
            "METRIC=VALUE" if each.is_mapping else each.name.replace("_", "-"),
            _taken(each),
            "–" if each.default in (None, inspect.Parameter.empty) else _default(each.default),
            re.sub("``", "", " ".join(each.about.split("\n\n")[0].split())),
        ]
        for each in options.values()
        if each.flag.shown
    ]


def _taken(each: Option) -> str:
    """What an option takes."""
    if each.is_mapping:
        return "a number"
    kinds = {int: "a whole number", float: "a number", bool: "yes or no"}
    known = ", ".join(each.choices)
    return known or kinds.get(each.element) or each.documented_type.removesuffix(", optional")


KINDS: Sequence[Kind] = (
    Kind("metrics", "metric", "Metrics", "-m", _metrics),
    Kind("tokenizers", "tokenizer", "Tokenizers", "--tokenize", _tokenizers),
    Kind("tests", "significance test", "Tests", "--test", _tests),
    Kind("schemes", "scheme", "Schemes of shuffles", "--test ar:scheme=NAME", _schemes),
    Kind("stopping", "stopping rule", "Stopping rules of shuffles", "--test ar:stopping=NAME", _stopping),
    Kind("intervals", "confidence interval", "Intervals", "--interval", _intervals),
    Kind("adjustments", "adjustment for multiple tests", "Adjustments", "--adjust", _adjustments),
    Kind("families", "family of tests", "Families", "--family", _families),
    Kind("rules", "rule of gates", "Rules of gates", "reshuffle gate --rule", _rules),
    Kind(
        "exchanges",
        "exchange unit of runs",
        "Exchange units of runs",
        "reshuffle runs --exchange",
        _exchanges,
        "What is exchanged",
        {"Null hypothesis": "null", "Caveat": "caveat"},
    ),
    Kind("studies", "study", "Studies", "reshuffle study", _studies),
    Kind("nulls", "null hypothesis of studies", "Null hypotheses of studies", "--null", _nulls),
    Kind(
        "models",
        "model of the true difference",
        "Models of the true difference in studies of power",
        "--models",
        _models,
    ),
    Kind(
        "coefficients",
        "coefficient of agreement with people",
        "Coefficients of agreement with people",
        "reshuffle meta --coefficient",
        _coefficients,
    ),
    Kind("meta_tests", "test of two metrics", "Tests of two metrics", "reshuffle meta --test", _meta_tests),
    Kind("optimizers", "optimizer of weights", "Optimizers of weights", "reshuffle tune", _optimizers),
)


def chosen(names: Sequence[str]) -> list[tuple[Kind, list[Entry]]]:
    """The entries with these names, or of these kinds, in the order of the names; all by kind without names.

    A metric may be named as reports do. :class:`~reshuffle.InputError` for a name that nothing has.
    """
    every = [(kind, list(kind.entries())) for kind in KINDS]
    if not names:
        return every
    found: dict[str, tuple[Kind, list[Entry]]] = {}
    for name in names:
        own = [
            (kind, [entry for entry in entries if name in (kind.key, kind.key.removesuffix("s")) or _has(entry, name)])
            for kind, entries in every
        ]
        if not any(entries for _, entries in own):
            names_of_kinds = [kind.key for kind in KINDS]
            raise _unknown(name, [*(entry.name for _, entries in every for entry in entries), *names_of_kinds])
        found |= {f"{kind.key} {entries[0].name} {len(entries)}": (kind, entries) for kind, entries in own if entries}
    return list(found.values())


def _has(entry: Entry, name: str) -> bool:
    return entry.name.casefold() == name.casefold() or entry.name == metric_key(name)


def _unknown(name: str, known: Sequence[str]) -> InputError:
    """The error for a name that nothing has: a list of more than a hundred names would not help."""
    near = get_close_matches(name.casefold(), known, n=1)
    meant = f": did you mean {quoted(near[0])}?" if near else ":"
    return InputError(f"unknown name {quoted(shortened(name))}{meant} 'reshuffle explain' lists all names")
