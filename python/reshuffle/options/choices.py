"""Names that have options of their own: ``ar:scheme=subgroup``, in Python also ``AR(scheme="subgroup")``.

A choice is an attrs class whose fields are the options, declared as in :mod:`reshuffle.options.declare`. The name that
users type may stand for a class with some of its options set: ``ar-studentized`` is ``AR(studentized=True)``.
"""

# Annotations are evaluated here, unlike elsewhere: types of modules that take long to import are in quotes.

import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union

from attrs import field, frozen

from .. import types
from ..errors import InputError, quoted
from ..validate import check_name
from .declare import Except, Kind, Option, Options, check, documented, options_of
from .groups import by_metric

if TYPE_CHECKING:
    from ..resampling.stopping import AnyRule

# What users type for a flag that is set or not.
FLAG_VALUES = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


class Choice(Options):
    """A name together with its options."""

    def __attrs_post_init__(self) -> None:
        check(self)

    @property
    def settings(self) -> dict[str, Any]:
        """The name and the options as settings of a comparison or a study."""
        raise NotImplementedError


# By the name that users type, what makes the choice from its options.
Named = Mapping[str, partial[Any]]


def read(noun: str, text: Any, named: Named, known: Collection[str]) -> Any:
    """``NAME`` as it is, or the choice that ``NAME:OPTION=VALUE,OPTION`` stands for.

    ``noun`` says what it is a name of, ``named`` has the names with options, and ``known`` all names. What is no text
    with a colon stays as it is, for the check of the option.

    >>> read("test", "ar:scheme=subgroup,stopping=gandy", TESTS_WITH_OPTIONS, ("t-test", "ar"))
    AR(scheme='subgroup', stopping='gandy', studentized=False)
    >>> read("test", "equivalence:bleu=0.5,ter=1", TESTS_WITH_OPTIONS, ("equivalence",)).margins
    {'bleu': 0.5, 'ter': 1.0}

    Raises
    ------
    InputError
        If the name, an option or a value does not exist, or an option comes twice.
    """
    if not isinstance(text, str) or ":" not in text:
        return text
    name, _, rest = text.partition(":")
    check_name(noun, name, list(known))
    if name not in named:
        raise InputError(f"the {noun} {name!r} has no options: leave out {text[len(name) :]!r}")
    make = named[name]
    options = {key: each for key, each in options_of(make.func).items() if key not in make.keywords}
    values: dict[str, Any] = {}
    for part in rest.split(","):
        written, equals, value = part.strip().partition("=")
        key, read_value = _value(f"{noun} {name}", options, written, value if equals else None)
        if isinstance(read_value, dict) and not read_value.keys() & values.get(key, {}).keys():
            values[key] = values.get(key, {}) | read_value
        elif key in values:
            raise InputError(f"{text}: {written} is set twice")
        else:
            values[key] = read_value
    choice: Choice = make(**values)
    return choice


def _value(where: str, options: Mapping[str, Option], written: str, value: str | None) -> tuple[str, Any]:
    """The name of an option and its value, as text has them. The name of a metric gives it a margin."""
    each = options.get(written.replace("-", "_"))
    if each is None or each.is_mapping:
        margins = next((key for key, other in options.items() if other.is_mapping), None)
        if margins is not None and value is None and written:
            is_number = re.fullmatch(r"-?[.\d]+(?:e-?\d+)?", written)
            example = f"METRIC={written} (and decimals with a point)" if is_number else f"{written}=VALUE"
            raise InputError(f"{where}: {written} has no {'metric' if is_number else 'value'}: write {example}")
        if margins is None or value is None:
            examples = [_written(other) for other in options.values()]
            check_name(f"option of {where}", written, examples)
        return str(margins), {written: _number(where, written, float, value)}
    if each.element is bool:
        if value is not None and value.lower() not in FLAG_VALUES:
            raise InputError(f"{where}: {written} must be yes or no, got {quoted(value)}")
        return each.name, value is None or FLAG_VALUES[value.lower()]
    if value is None:
        raise InputError(f"{where}: {written} has no value: write {written}=VALUE")
    return each.name, value if each.number is None else _number(where, written, each.number, value)


def _written(each: Option) -> str:
    """An option as text has it."""
    return "METRIC=VALUE" if each.is_mapping else each.name.replace("_", "-")


def _number(where: str, written: str, kind: type[int] | type[float], value: str | None) -> float:
    try:
        return kind(value or "")
    except ValueError:
        expected = "a whole number" if kind is int else "a number"
        raise InputError(f"{where}: {written} must be {expected}, got {quoted(value or '')}") from None


def _scheme(name: str) -> dict[str, Any]:
    """The setting of a scheme. ``auto`` sets nothing, so that a scheme of another test in the same study applies."""
    return {} if name == "auto" else {"scheme": name}


@documented
@frozen(slots=False)
class AR(Choice):
    """Approximate randomization, the tests ``ar`` and ``ar-studentized``, with its options.

    >>> AR(scheme="subgroup")
    AR(scheme='subgroup', stopping=None, studentized=False)
    """

    scheme: types.Scheme | types.StudyScheme | str = field(default="auto", kw_only=True)
    """How the null distribution is obtained: iid (Monte Carlo), subgroup (2^m shuffles that form a group), exact
    (enumeration or convolution), or auto (exact if no slower than iid, else iid).

    See :func:`reshuffle.approximate_randomization`. ``auto`` decides for each pair and metric, and the result names the
    scheme used. The adjustments ``maxt`` and ``minp`` need ``iid``, so ``auto`` is ``iid`` with them. In studies
    ``auto`` is ``iid``; there is no ``exact``, but ``orbit`` (with ``sampling="fixed"``: all simulations share one set
    of shuffles).
    """
    stopping: Annotated[
        Union[types.Stopping, str, "AnyRule", None],
        Kind("{'besag-clifford', 'gandy'}, BesagClifford or Gandy, optional", "stopping rule"),
    ] = field(default=None, kw_only=True)
    """Stop the shuffles early: besag-clifford (after 20 shuffles that reach the observed difference) or gandy (once p
    <= alpha or p > alpha is decided, with error probability 0.001).

    For each pair and metric, with the scheme ``iid``, and after ``n_resamples`` at the latest (sequential Monte Carlo):
    :class:`~reshuffle.BesagClifford` or :class:`~reshuffle.Gandy`. In studies, only besag-clifford: it ends the
    shuffles as soon as they cannot reject at any level, so that rates stay the same. It does so at the h-th exceedance,
    where h is the smallest number with h/R > α for the largest α, but at least 20 (Besag & Clifford 1991,
    doi:10.1093/biomet/78.2.301). Shuffles that stop early, at the n-th, make p = h/n, so the table ``pvalues`` differs
    there. Without a difference and with R = 9,999, ``ar`` is then about twice as fast for α up to .1 and three times
    for α up to .05; with R = 999 little is saved.
    """
    studentized: bool = field(default=False, kw_only=True)
    """Divide every difference by its standard error: the test ``ar-studentized``."""

    @property
    def settings(self) -> dict[str, Any]:
        """The test and its options as settings of a comparison."""
        name = "ar-studentized" if self.studentized else "ar"
        return {"test": name, "stopping": self.stopping} | _scheme(self.scheme)


@frozen(slots=False)
class WithMargin(Choice):
    """A test with a margin."""

    shows: ClassVar[str]
    """What the test shows: the first word of its name."""

    margins: Annotated[Mapping[str, float], Kind("mapping of str to float")] = field(default=None, converter=by_metric)
    """The margin of each metric, a positive number in points of the metric.

    For example ``{'bleu': 0.5}``. In a study, a test without a margin takes that of another test.
    """
    by: Annotated[Literal["bootstrap", "studentized", "ar"], Kind(noun="way to test")] = field(
        default="bootstrap", kw_only=True
    )
    """How p is computed: from bootstrap draws (bootstrap), from draws that are divided by their standard errors
    (studentized), or by approximate randomization (ar), for metrics that are means of segment scores.
    """
    scheme: Annotated[types.Scheme | str, Except(("subgroup",))] = field(default="auto", kw_only=True)
    """For equivalence-ar and non-inferiority-ar (``by='ar'`` in Python): shuffles by Monte Carlo (iid), all of them
    (exact), or auto.
    """

    def __attrs_post_init__(self) -> None:
        check(self)
        if self.scheme != "auto" and self.by != "ar":
            raise InputError(
                f"scheme {self.scheme!r} is for shuffles: leave it out, or use {self.shows}-ar (by='ar' in Python)"
            )

    @property
    def settings(self) -> dict[str, Any]:
        """The test and its options as settings of a comparison."""
        name = self.shows if self.by == "bootstrap" else f"{self.shows}-{self.by}"
        return {"test": name, "margins": self.margins} | _scheme(self.scheme)


@documented
@frozen(slots=False)
class Equivalence(WithMargin):
    """A test that the scores of a system and the baseline differ by less than a margin.

    The tests ``equivalence``, ``equivalence-studentized`` and ``equivalence-ar``. Intervals of differences are then
    the inverse of the test (docs/statistics/equivalence.md), and ``interval`` is that of the scores.

    >>> Equivalence({"bleu": 0.5}, by="studentized")
    Equivalence(margins={'bleu': 0.5}, by='studentized', scheme='auto')
    """

    shows: ClassVar[str] = "equivalence"


@documented
@frozen(slots=False)
class NonInferiority(WithMargin):
    """A test that a system is not worse than the baseline by a margin or more.

    The tests ``non-inferiority``, ``non-inferiority-studentized`` and ``non-inferiority-ar``; otherwise as
    :class:`Equivalence`.
    """

    shows: ClassVar[str] = "non-inferiority"


@documented
@frozen(slots=False)
class Simultaneous(Choice):
    """Intervals of the differences in a family that hold at once with the confidence level.

    >>> Simultaneous(scores="ar-studentized")
    Simultaneous(scores='ar-studentized')
    """

    scores: Annotated[types.Interval | str, Kind(noun="interval")] = field(default="percentile", kw_only=True)
    """The intervals of the scores: percentile; with the test ar-studentized also ar-studentized, which is the same."""

    @property
    def settings(self) -> dict[str, Any]:
        """The intervals of scores, and those of differences."""
        return {"interval": self.scores, "simultaneous": True}


TESTS_WITH_OPTIONS: Named = {
    "ar": partial(AR, studentized=False),
    "ar-studentized": partial(AR, studentized=True),
    "equivalence": partial(Equivalence, by="bootstrap"),
    "equivalence-studentized": partial(Equivalence, by="studentized"),
    "equivalence-ar": partial(Equivalence, by="ar"),
    "non-inferiority": partial(NonInferiority, by="bootstrap"),
    "non-inferiority-studentized": partial(NonInferiority, by="studentized"),
    "non-inferiority-ar": partial(NonInferiority, by="ar"),
}
TESTS_WITH_MARGIN = tuple(
    name for name, test in TESTS_WITH_OPTIONS.items() if test.func in (Equivalence, NonInferiority)
)


INTERVALS_WITH_OPTIONS: Named = {"simultaneous": partial(Simultaneous)}


def merged(noun: str, choices: Sequence[str | Choice], key: str) -> dict[str, Any]:
    """The names of several choices, in a tuple, and their options, which they share.

    >>> merged("test", ["bootstrap", Equivalence({"bleu": 1})], "test")
    {'margins': {'bleu': 1.0}, 'test': ('bootstrap', 'equivalence')}
    """
    found: dict[str, Any] = {}
    names: list[str] = []
    for choice in choices:
        own = settings_of(choice, key)
        name = own.pop(key)
        if name in names:
            raise InputError(f"{noun}s: {name!r} is given twice: leave one out")
        names.append(name)
        for option, value in own.items():
            before = found.get(option)
            if not any(each in (None, {}) for each in (before, value)) and value != before:
                values = f"{quoted(before)} and {quoted(value)}"
                raise InputError(f"the {noun}s of a study share their options, but {option} is {values}: choose one")
            found[option] = before if value in (None, {}) and before is not None else value
    return found | {key: tuple(names)}


def settings_of(choice: str | Choice, key: str) -> dict[str, Any]:
    """The settings that a name, or a name with options, stands for. ``key`` is the setting that has the name."""
    return choice.settings if isinstance(choice, Choice) else {key: choice}
