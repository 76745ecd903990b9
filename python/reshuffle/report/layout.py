"""The options of reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, TypeVar

from attrs import evolve, field, frozen

from .. import types
from ..errors import ALL_PAIRS, Argument, InputError, quoted, unknown_name
from ..options.declare import check_each, taken
from ..results import Caveat, ComparedTexts, Comparison, SetComparison
from ..results.compared import Displayed
from .cells import decimals_in_column, decimals_of, under
from .terminal import Terminal
from .wording import file_name, spelled

# What reports call the average over test sets.
AVERAGE = "Average"
# Tables of pairs are shown by default if there are at most this many tests; likewise tables of components of scores,
# and all documents.
FEW = 12
# A triangular matrix of more systems does not fit 80 columns.
MAX_TRIANGLE = 20
# The fields of a result that have names of systems, or records with such fields.
NAMING = {
    "system", "systems", "baseline", "dropped", "groups", "best", "mcb_best", "sets", "average", "scores",
    "document_scores", "comparisons", "rankings", "caveats",
}  # fmt: skip
# Bytes, before compression; browsers read them within seconds.
MAX_TEXTS = 50_000_000

# The label of a layout that is not given one. A result that is saved to a file sets it while it is rendered.
LABEL = ContextVar("label", default="reshuffle")

R = TypeVar("R", bound=Comparison | SetComparison)


@frozen(slots=False, repr=False)
class Layout(Displayed):
    """The options of a report: those that users have, and what formats and commands decide."""

    terminal: Terminal = field(factory=Terminal)
    """Used only by the format text."""
    parts: bool | None = None
    """Whether to show what the parts of formulas contribute to the differences, if the result has it. None to show it
    if ``pairs`` is True.
    """
    paper: bool = False
    """Whether the report is for a paper: captions explain the symbols, and pairs are shown only on request."""
    full: bool = False
    """Whether text shows everything, for results that have a short form."""
    methods: bool = False
    """In text, add the paragraph for a paper and the BibTeX entries of what it cites."""
    page: str | None = None
    """The address of the HTML report, to which Markdown of a gate links."""
    command: str | None = None
    """The command line that computed the result, which HTML shows; empty if it is not known. If it is None, sentences
    name arguments of Python instead of flags.
    """
    label: str = field(factory=LABEL.get)
    """What labels contain in papers: the name of the file or folder, so that several can be parts of one article."""
    since_name: str = "the earlier result"
    """What the earlier result is called."""

    def __attrs_post_init__(self) -> None:
        check_each(taken(Displayed, self))

    def for_paper(self) -> Layout:
        """The same options for a paper."""
        return evolve(self, paper=True, pairs=bool(self.pairs))

    def labelled(self, name: str) -> Layout:
        """The same options for a report in a file or folder of this name, without the ending."""
        return evolve(self, label=file_name(name))

    def shows_group(self, kind: types.Groups, n_metrics: int) -> bool:
        """Whether tables of systems show the letters or the ranks."""
        chosen = self.groups or ("letters" if self.paper and n_metrics > 1 else "both")
        return chosen in (kind, "both")

    def decimals(self, comparison: Comparison, metric: str) -> int:
        """The decimals of scores under a metric, and of their differences."""
        return decimals_of(under(metric, comparison.scores), self.digits)

    def decimals_of(self, differences: Iterable[float], decimals: int) -> int:
        """The chosen decimals, or those of a column with these differences: ``decimals`` are those of the scores."""
        return decimals if self.digits is not None else decimals_in_column(decimals, differences)

    @property
    def wants_pairs(self) -> bool:
        """Whether tables or triangles of pairs were asked for."""
        return self.triangle or bool(self.pairs)

    def check_texts(self, texts: Iterable[ComparedTexts | None]) -> None:
        """Raise :class:`InputError` if the texts of all test sets together are too large for an HTML report."""
        n_bytes = sum(each.n_bytes for each in texts if each is not None)
        limit = MAX_TEXTS if self.max_texts is None else self.max_texts
        if n_bytes > limit:
            enough = -(-n_bytes // 1_000_000)
            raise InputError(
                f"the texts have {n_bytes:,} bytes, but the limit for an HTML report is {limit:,}: raise the limit "
                "with {max_texts}, or leave out {texts}",
                max_texts=Argument(f"max_texts={enough * 1_000_000:_}", as_flag=f"--max-texts {enough}MB"),
                texts=Argument("include", ("texts",)),
            )

    def spelled(self, sentence: str) -> str:
        """The sentence with its options as the reader writes them: as flags if a command shows it, else in Python."""
        return spelled(sentence, self.command is not None)

    def named(self, result: object) -> Layout:
        """The layout with the display names of a result, unless it has its own."""
        names = getattr(result, "display_names", None)
        return self if self.names or not names else evolve(self, names=names)

    def name(self, system: str) -> str:
        """The display name of a system."""
        return self.names.get(system, system)

    def shows_pairs(self, comparison: Comparison) -> bool:
        """Whether the report has tables of the comparisons."""
        if self.pairs is None:
            return not self.triangle and 0 < len(comparison.comparisons) <= FEW
        return self.pairs and bool(comparison.comparisons)

    def shows_all_documents(self, comparison: Comparison) -> bool:
        """Whether the report has the scores on all documents, if the result has them."""
        few = len({each.document for each in comparison.document_scores}) <= FEW
        return not comparison.document_scores or bool(self.pairs) or (few and self.pairs is None)

    def shows_parts(self, comparison: Comparison) -> bool:
        """Whether the report has what parts of formulas contribute to the differences: on request, if it is known."""
        wanted = self.pairs if self.parts is None else self.parts
        return bool(wanted) and any(pair.contributions is not None for pair in comparison.comparisons)

    def shows_intervals(self, comparison: Comparison) -> bool:
        """Whether the report has confidence intervals. With several metrics, the first table has no room for them."""
        has_room = len(comparison.metrics) == 1 or (comparison.baseline is None and not comparison.rankings)
        return comparison.interval is not None and (has_room or self.shows_pairs(comparison))

    def shows_details(self, comparison: Comparison) -> bool:
        """Whether tables of the components of scores follow a table of scores under several metrics."""
        return not comparison.comparisons and len(comparison.metrics) > 1 and len(comparison.scores) <= FEW

    def apply(self, result: R) -> R:
        """The result with the names of the report, for the formats that people read.

        Names of systems that were left out count as well.

        Raises
        ------
        InputError
            If no display name is for a system of the result, if two systems would have the same display name, or if
            there are too many systems for a triangular matrix.
        """
        first = next(iter(sets_of(result).values()))
        if self.triangle:
            check_triangle(len(first.systems), first.baseline is None and bool(first.comparisons))
        if not self.names:
            return result
        check_names(self.names, named_systems(result))
        renamed: R = self._renamed(result)
        return renamed

    def _renamed(self, value: Any) -> Any:
        """What is in one of the fields :data:`NAMING`, with the names of the report."""
        if isinstance(value, str):
            return self.name(value)
        if isinstance(value, tuple):
            return tuple(map(self._renamed, value))
        if isinstance(value, Mapping):
            return {name: self._renamed(each) for name, each in value.items()}
        if isinstance(value, Caveat):
            named = {key: self.name(each) for key, each in value.values.items() if key in ("system", "baseline")}
            return replace(value, values={**value.values, **named})
        own = {name: getattr(value, name) for name in NAMING.intersection(value.__dataclass_fields__)}
        return replace(value, **{name: self._renamed(each) for name, each in own.items() if each is not None})


def named_systems(result: Comparison | SetComparison) -> list[str]:
    """The systems of a result that reports name, also those that were left out."""
    return [*result.systems, *getattr(result, "dropped", ())]


def sets_of(result: Comparison | SetComparison) -> Mapping[str, Comparison]:
    """The comparison on each test set, by its name; the only one has none."""
    return {"": result} if isinstance(result, Comparison) else result.sets


def by_name(result: Comparison | SetComparison, average: str = AVERAGE) -> dict[str, Comparison]:
    """The average, if there is one, and then the test sets, one of which may itself be called Average."""
    if isinstance(result, Comparison) or result.average is None:
        return dict(sets_of(result))
    while average in result.sets:
        average += " of all"
    return {average: result.average, **result.sets}


def averaged(result: Comparison | SetComparison) -> Mapping[str, Comparison]:
    """The average over test sets, without a name; without an average, the comparison on each test set."""
    average = getattr(result, "average", None)
    return sets_of(result) if average is None else {"": average}


def check_names(
    names: Mapping[str, str], systems: Sequence[str], where: Callable[[str], str] = lambda system: "names"
) -> None:
    """Raise :class:`InputError` if no display name is for one of the systems, or if two systems get the same.

    Names of other systems are ignored, so that one list serves many tables. ``where`` returns the place from which the
    display name of a system was read, for the message.
    """
    if names and not set(names) & set(systems):
        first, *others = names
        none = "" if not others else f" (no name of the {len(names)} is for one of the systems)"
        raise InputError(f"{where(first)}: {unknown_name('system', str(first), systems)}{none}")
    for system, name in names.items():
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"{where(system)}: expected a name to display for {quoted(system)}, got {quoted(name)}")
    shown: dict[str, str] = {}
    for system in systems:
        name = names.get(system, system)
        if name in shown:
            both = f"{quoted(shown[name])} and {quoted(system)}"
            source = where(system if system in names else shown[name])
            raise InputError(f"{source}: {both} would both be called {quoted(name)}: choose different names")
        shown[name] = system


TRIANGLE = Argument("triangle=True", as_flag="--triangle")


def check_triangle(n_systems: int, all_pairs: bool) -> None:
    """Raise :class:`InputError` unless the pairs can be shown as a triangular matrix."""
    if not all_pairs:
        raise InputError(
            "{triangle} needs all pairs: compare with {all_pairs}, or leave it out",
            triangle=TRIANGLE,
            all_pairs=ALL_PAIRS,
        )
    if n_systems > MAX_TRIANGLE:
        raise InputError(
            f"{{triangle}} shows at most {MAX_TRIANGLE} systems, got {n_systems}: use {{pairs}}, or the formats csv "
            "or json, which have every pair",
            triangle=TRIANGLE,
            pairs=Argument("pairs=True", as_flag="--pairs"),
        )
