"""The options of :func:`reshuffle.gate`."""

# Annotations are evaluated here, unlike elsewhere: types of modules that take long to import are in quotes.

import math
import re
from collections.abc import Collection, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from annotated_types import MinLen
from attrs import field, frozen

from .. import types
from ..errors import Argument, InputError, quoted
from ..validate import check_path
from .comparisons import Resampled, Stratified, Texts
from .declare import Check, Flag, Kind, Options, Reads
from .files import File, References, ScoreFiles, SetFiles, Sets
from .groups import ONLY, PYTHON, FixedLevel, names

if TYPE_CHECKING:
    import os

    from .inputs import AnySet

# A number, and what it is a multiple of.
WRITTEN = re.compile(r"([-+.\w]+?)(sd|%)?")


@frozen
class Margin:
    """A margin as users write it: ``0.8`` points, ``0.1sd`` or ``1%``.

    >>> Margin.from_text("0.1sd"), str(Margin.from_text("1%"))
    (Margin(value=0.1, unit='sd'), '1%')
    """

    value: float
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.value:.12g}{self.unit}"

    @classmethod
    def from_text(cls, text: str) -> "Margin":
        """A margin from text; ValueError for other text."""
        found = WRITTEN.fullmatch(text.strip())
        if found is None:
            raise ValueError(text)
        return cls(float(found[1]), found[2] or "")


def margins(value: Any) -> Any:
    """The margin of each metric. What is no margin and no mapping is left as it is, for the check of the option."""
    if value is None:
        return {}
    if isinstance(value, Margin | str | Real) and not isinstance(value, bool):
        value = {ONLY: value}
    return {name: _margin(name, each) for name, each in value.items()} if isinstance(value, Mapping) else value


def of_test_set(margins: Mapping[str, Any], test_set: str, known: Collection[str]) -> list[dict[str, Margin]]:
    """The margins that are given for one test set, and those for all, which hold where it has no other.

    >>> of_test_set({"bleu": Margin(1), "news/bleu": Margin(2)}, "news", ["news", "talks"])
    [{'bleu': Margin(value=2, unit='')}, {'bleu': Margin(value=1, unit='')}]
    """
    own, of_all = {}, {}
    for name, each in margins.items():
        of_set, _, metric = name.rpartition("/")
        if of_set not in known:
            of_all[name] = each
        elif of_set == test_set:
            own[metric] = each
    return [own, of_all]


def _margin(name: str, value: Any) -> Margin:
    """The margin of a metric; :class:`InputError` unless there is one, which is above 0 and finite."""
    of = f"the margin of {name}" if name else "the margin"
    if isinstance(value, Margin):
        found = value
    elif isinstance(value, tuple | list):
        if len(value) != 1:
            raise InputError(f"{of} is given twice: leave one out")
        return _margin(name, value[0])
    else:
        try:
            found = Margin.from_text(value) if isinstance(value, str) else Margin(_number(value))
        except (TypeError, ValueError):
            raise InputError(
                f"{of} must be a number of points, such as 0.5, a number of standard deviations, such "
                f"as 0.1sd, or a percentage of the baseline's score, such as 1%, got {quoted(value)}"
            ) from None
    if not 0 < found.value < math.inf:
        raise InputError(f"{of} must be a finite number above 0, got {quoted(str(found))}")
    return found


def _number(value: Any) -> float:
    if isinstance(value, bool):
        raise TypeError
    return float(value)


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Gated(Options):
    """What a gate allows. These are also keys of ``gate.toml``."""

    TITLE: ClassVar[str] = "Gate"

    margin: Annotated[
        Mapping[str, float | str],
        Flag(metavar="METRIC=MARGIN"),
        Kind("float, str, or mapping of str to these"),
        Reads(Margin.from_text, ONLY, "bleu=0.5, bleu=0.1sd or bleu=1%"),
    ] = field(default=None, converter=margins)
    """How much worse NEW may be: bleu=0.8, 0.1sd or 1%. These are points of the metric, standard deviations of BASE's
    segments, and percent of its score. MARGIN alone is for the only metric, SET/METRIC=MARGIN for one test set. There
    is no default.

    For example ``{'bleu': 0.8, 'chrf': '1%'}``. Choose margins before you see results. The standard deviation is that
    of segment scores, or for other metrics that of the segments' contributions by the delta method, times the number of
    segments.
    """
    rule: types.GateRule | str = "non-inferior"
    """The rule: non-inferior (all within margins), superior (better under --primary, others within margins) or
    no-regression (none shown to be worse, which bounds no risk).

    A name in :data:`reshuffle.inference.gate.RULES`.
    """
    primary: Annotated[tuple[str, ...], Flag(metavar="METRIC"), Kind("str or sequence of str", "metric"), MinLen(0)] = (
        field(default=(), converter=names)
    )
    """The metrics under which NEW must be better (for superior). They need no margin."""
    human: Annotated[str | None, Flag(metavar="NAME")] = None
    """The metric with people's labels of some segments. It is tested with the help of another metric, which scores all
    segments, as in 'reshuffle human'.
    """
    alpha: FixedLevel = 0.05
    """Largest error rate: the probability of each kind of wrong verdict, in one run."""

    def check_together(self) -> None:
        """:class:`InputError` for margins and metrics that the rule does not take, and for a level of .5 or more."""
        if self.alpha >= 0.5:
            raise InputError("{alpha} must be below 0.5, got {value}", alpha=Argument("alpha"), value=self.alpha)
        margin, primary = Argument("margin"), Argument("primary")
        if self.rule == "no-regression" and self.margin:
            raise InputError(
                "the rule no-regression has no margins: leave out {margin}, or use another rule", margin=margin
            )
        if self.primary and self.rule != "superior":
            raise InputError(
                f"the rule {self.rule} has no primary metrics: leave out {{primary}}, or use the rule superior",
                primary=primary,
            )
        if self.rule == "superior" and not self.primary:
            raise InputError(
                "the rule superior needs metrics under which the new outputs must be better: name them with {primary}",
                primary=primary,
            )


@frozen(slots=False, eq=False, repr=False)
class Gate(Resampled, Gated, Stratified, Texts):
    """:func:`reshuffle.gate`."""

    TITLE: ClassVar[str] = "Gate"

    sets: Annotated[
        "Mapping[str, AnySet] | None", PYTHON, Kind("mapping of str to TestSet or (references, systems), optional")
    ] = field(default=None, kw_only=True)
    """Several test sets by name, as for :func:`reshuffle.compare_sets`, instead of references and systems."""
    history: Annotated[
        "str | os.PathLike[str] | None", Flag(metavar="FILE"), Kind("path, optional"), Check(check_path)
    ] = field(default=None, kw_only=True)
    """Append scores and verdict to FILE; test its scores for a trend.

    Each run appends a line of JSON. A damaged end of the file is dropped, with an :class:`~reshuffle.InputWarning`.
    """


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class GatedFiles(SetFiles):
    """The files of a test set of a gate."""

    references: References = ()
    """One or several references of each segment; --refs takes all files up to the next option."""
    scores: ScoreFiles = field(factory=dict)
    """Segment scores (COMET, right or wrong, lm-eval ...): a file of BASE and one of NEW. For several test sets: two
    folders with files of the same names. Results of lm-eval, inspect_ai or trec_eval can be read, too.
    """
    source: Annotated[str | None, Flag(metavar="FILE")] = None
    """The source text, for sari."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class GatedSets(Sets):
    """Several test sets of a gate."""

    sets: Annotated[
        Mapping[str, tuple[File, File, File]], Flag(("--set",), "NAME REF BASE NEW", greedy=("--set",), noun="word")
    ] = field(factory=dict)
    """A test set, instead of BASE and NEW; repeat the option for each."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class GateFiles(Options):
    """Other files of a gate."""

    TITLE: ClassVar[str] = "Gate"

    config: Annotated[str | None, Flag(metavar="FILE")] = None
    """A TOML or JSON file of options: margin, rule, primary, human, alpha, metrics and history. Options of the command
    line take precedence.
    """
    page: Annotated[str | None, Flag(metavar="URL")] = None
    """In Markdown: the address of the report, to link to."""


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class GateKeys(Gated):
    """The keys of ``gate.toml``."""

    metrics: Annotated[tuple[str, ...], MinLen(0)] = ()
    """The metrics on texts."""
    history: File | None = None
    """As --history, relative to the folder of this file."""
