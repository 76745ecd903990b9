"""Names that have options of their own: ``ar:scheme=subgroup``, in Python also ``AR(scheme="subgroup")``.

A choice is an attrs class whose fields are the options, declared as in :mod:`reshuffle.options.declare`. The name that
users type may stand for a class with some of its options set: ``ar-studentized`` is ``AR(studentized=True)``.
"""

# Annotations are evaluated here, unlike elsewhere: types of modules that take long to import are in quotes.

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Union

from attrs import field, frozen

from .. import types
from ..errors import InputError, quoted, unknown_name
from ..names import names_in
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
    values = read_options(noun, name, rest, options_after(named[name]) if name in named else {})
    choice: Choice = named[name](**values)
    return choice


def options_after(make: partial[Any]) -> dict[str, Option]:
    """The options that may follow a name: those that it does not set."""
    return {key: each for key, each in options_of(make.func).items() if key not in make.keywords}


def read_options(
    noun: str,
    name: str,
    text: str,
    options: Mapping[str, Option],
    advise: Callable[[str], object] = lambda part: None,
) -> dict[str, Any]:
    """The values of options, from ``OPTION=VALUE,OPTION`` after a name. The names among them are not checked.

    A part that is no option belongs to the values of the one before, if that takes several, or else is the margin of a
    metric, if there are such. For others, ``advise`` may raise an error that is better than this one.

    Raises
    ------
    InputError
        If an option does not exist, has no value that it can have, or comes twice.
    """
    if not options:
        raise InputError(f"the {noun} {name!r} has no options: leave out {quoted(f':{text}')}")
    if not text:
        first = next(iter(options.values()))
        example = first.written + ("" if first.is_flag or first.is_mapping else "=VALUE")
        raise InputError(
            f"{quoted(f'{name}:')} ends with a colon: expected options of the {noun}, such as {name}:{example}"
        )
    margins = next((each for each in options.values() if each.is_mapping), None)
    values: dict[str, Any] = {}
    of_metrics: dict[str, float] = {}
    for part in _parts(text, options):
        written, equals, value = part.partition("=")
        each = options.get(_key(part))
        if each is None or each.is_mapping:
            advise(part)
            if margins is None or not equals:
                raise _no_option(noun, name, written, options)
            each, own, key = margins, of_metrics, written
        else:
            own, key = values, each.name
        if key in own:
            raise InputError(f"{noun} {name}: {written} is set twice")
        own[key] = read_value(each, f"{noun} {name}: {written}", value if equals else None)
    return values if margins is None or not of_metrics else {**values, margins.name: of_metrics}


def _parts(text: str, options: Mapping[str, Option]) -> list[str]:
    """The options in a text with their values: ``lowercase``, ``weights=0.5,0.5``."""
    parts: list[str] = []
    for part in map(str.strip, text.split(",")):
        before = options.get(_key(parts[-1])) if parts and "=" in parts[-1] else None
        goes_on = before is not None and before.several and "=" not in part and _key(part) not in options
        parts[-1:] = [f"{parts[-1]},{part}"] if goes_on else [*parts[-1:], part]
    return parts


def _key(part: str) -> str:
    return part.partition("=")[0].replace("-", "_")


def _no_option(noun: str, name: str, written: str, options: Mapping[str, Option]) -> InputError:
    """The error for what is no option, and no margin of a metric where there are some."""
    if not written or not any(each.is_mapping for each in options.values()):
        return unknown_name(f"option of {noun} {name}", written, [each.written for each in options.values()])
    is_number = re.fullmatch(r"-?[.\d]+(?:e-?\d+)?", written)
    example = f"METRIC={written} (and decimals with a point)" if is_number else f"{written}=VALUE"
    return InputError(f"{noun} {name}: {written} has no {'metric' if is_number else 'value'}: write {example}")


def read_value(each: Option, shown: str, text: str | None) -> Any:
    """The value of an option from a text; one that is yes or no needs none. ``shown`` is what errors call it."""
    try:
        if each.is_flag:
            return text is None or FLAG_VALUES[text.lower()]
        if text is not None:
            return _converted(each, text)
    except (KeyError, ValueError):
        pass
    got = f"no value: write {each.written}=VALUE" if text is None else quoted(text)
    one_of = "one of " if each.choices and not each.several else ""
    of_points = " of points, without % or sd" if each.is_mapping else ""
    raise InputError(f"{shown} must be {one_of}{each.takes}{of_points}, got {got}")


def _converted(each: Option, text: str) -> Any:
    if each.several:
        number = each.number
        return names_in(text) if number is None else [number(part) for part in text.split(",")]
    return float(text) if each.is_mapping else (each.number or str)(text)


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
