"""Everything that is chosen by name, as ``reshuffle explain`` tells it: made from the registries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import get_args

from .. import types
from ..errors import InputError, either, nearest, quoted, shortened
from ..lazy import lazy
from ..names import metric_key
from .entries import Entry
from .habits import name_advice


@dataclass(frozen=True)
class Kind:
    """A kind of things that are chosen by name."""

    key: str
    """Its name in JSON, which ``reshuffle explain`` also takes, and the function of its entries."""
    noun: str
    """What one is, and the heading of all."""
    title: str
    chosen_by: str
    """The option or command with which one is chosen."""
    module: str
    """The module of its entries, which is imported when they are needed."""
    names: Sequence[str] = ()
    """Their names, if they are known without the entries."""
    about: str = "About"
    """The heading of what each does."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Further columns of the list: the heading, and the key in ``data``."""

    @lazy
    def entries(self) -> list[Entry]:
        """All of them."""
        return list(getattr(import_module(f"{__package__}.entries.{self.module}"), self.key)())

    def is_called(self, name: str) -> bool:
        """Whether the kind has this name."""
        return name.casefold() in (self.key, self.key.removesuffix("s"))

    @property
    def known(self) -> Sequence[str]:
        """The names of all entries."""
        return self.names or [name for entry in self.entries for name in (entry.name, *entry.also)]


METRICS, TOKENIZERS = get_args(types.MetricName), get_args(types.Tokenizer)
SCHEMES = (*get_args(types.Scheme), *get_args(types.StudyScheme))
STOPPING, INTERVALS, TESTS = get_args(types.Stopping), get_args(types.IntervalChoice), get_args(types.TestChoice)
ADJUSTMENTS = (*get_args(types.Adjustment), *get_args(types.SequentialAdjustment)[1:])
OF_EXCHANGES = ("What is exchanged", {"Null hypothesis": "null", "Caveat": "caveat"})
ON_MODELS = "Models of the true difference in studies of power"

# In the order of use: words of reports, what the options of the main commands take, and what studies have. A name that
# several kinds have is explained in this order.
USED = (
    Kind("terms", "word", "Terms used in reports", "in results", "terms"),
    Kind("columns", "head of a column", "Heads of columns", "in tables", "terms"),
    Kind("caveats", "kind of note", "Notes below reports", "caveats in CSV and JSON", "terms", (), "About",
         {"To do": "advice"}),
    Kind("metrics", "metric", "Metrics", "-m", "metrics", METRICS),
    Kind("tokenizers", "tokenizer", "Tokenizers", "--tokenize", "metrics", TOKENIZERS),
    Kind("tests", "significance test", "Tests", "--test", "tests", TESTS),
    Kind("schemes", "scheme", "Schemes of shuffles", "--test ar:scheme=NAME", "studies", SCHEMES),
    Kind("stopping", "stopping rule", "Stopping rules of shuffles", "--test ar:stopping=NAME", "tests", STOPPING),
    Kind("intervals", "confidence interval", "Intervals", "--interval", "tests", INTERVALS),
    Kind("adjustments", "adjustment for multiple tests", "Adjustments", "--adjust", "tests", ADJUSTMENTS),
    Kind("families", "family of tests", "Families", "--family", "tests", get_args(types.Family)),
    Kind("rules", "rule of gates", "Rules of gates", "reshuffle gate --rule", "tests", get_args(types.GateRule)),
    Kind("exchanges", "exchange unit of runs", "Exchange units of runs", "reshuffle runs --exchange", "tests",
         get_args(types.Exchange), *OF_EXCHANGES),
    Kind("looks", "test while data arrive", "Tests while data arrive", "reshuffle watch --method", "tests",
         get_args(types.SequentialMethod)[1:]),
)  # fmt: skip
OF_STUDIES = (
    Kind("studies", "study", "Studies", "reshuffle study", "studies", get_args(types.Study)),
    Kind("nulls", "null hypothesis of studies", "Null hypotheses of studies", "--null", "studies",
         get_args(types.Null)),
    Kind("models", "model of the true difference", ON_MODELS, "--models", "studies", get_args(types.PowerModel)),
    Kind("coefficients", "coefficient of agreement with people", "Coefficients of agreement with people",
         "reshuffle meta --coefficient", "studies", get_args(types.MetaCoefficient)),
    Kind("meta_tests", "test of two metrics", "Tests of two metrics", "reshuffle meta --test", "studies",
         get_args(types.MetaTest)),
    Kind("optimizers", "optimizer of weights", "Optimizers of weights", "reshuffle tune", "studies",
         get_args(types.OptimizerName)),
)  # fmt: skip
KINDS = (*USED, *OF_STUDIES)

# Not in the lists of all names, because --help has them: commands, and options, for which all commands are imported.
COMMANDS = Kind("commands", "command", "Commands", "reshuffle COMMAND", "options")
OPTIONS = Kind("options", "option", "Options", "reshuffle COMMAND --help", "options")


# The word for all entries of all kinds.
EVERYTHING = "everything"


def chosen(names: Sequence[str]) -> list[tuple[Kind, list[Entry]]]:
    """The entries with these names, or of these kinds, in the order of the names; all by kind for none or "everything".

    A metric may be named as reports do, and a name with its kind (``nulls:margin``). :class:`~reshuffle.InputError` for
    a name that nothing has.
    """
    names = [name.lstrip("-") or name for name in names]
    if not names or EVERYTHING in names:
        return [(kind, kind.entries) for kind in KINDS]
    every = [*USED, OPTIONS, COMMANDS, *OF_STUDIES]
    metrics = next(kind.known for kind in KINDS if kind.key == "metrics")
    found: dict[str, tuple[Kind, list[Entry]]] = {}
    for given in names:
        of_kind, colon, own_name = given.partition(":")
        only = [kind for kind in every if colon and kind.is_called(of_kind)]
        name = own_name if only else given
        # No option and no caveat, for which much is imported, has the name of a metric.
        is_metric = metric_key(name) in metrics
        kinds = only or ([kind for kind in KINDS if kind.key != "caveats"] if is_metric else every)
        meant = [kind for kind in kinds if kind.is_called(name) or any(_same(each, name) for each in kind.known)]
        if not meant and not only:
            name = _head(name)
            meant = [kind for kind in KINDS if any(_same(each, name) for each in kind.known)]
        if not meant and not only:  # what reports call a test, which its entry has
            meant = [kind for kind in KINDS if any(_same(each, given) for one in kind.entries for each in one.also)]
            name = given if meant else name
        if not meant:
            raise _unknown(own_name if only else given, [each for kind in every for each in (*kind.known, kind.key)])
        # The list of a whole kind comes before an option of that name.
        for kind in sorted(meant, key=lambda kind: not kind.is_called(name)):
            own = [
                entry
                for entry in kind.entries
                if kind.is_called(name) or any(_same(each, name) for each in (entry.name, *entry.also))
            ]
            found[f"{kind.key} {own[0].name} {len(own)}"] = (kind, own)
    return list(found.values())


def _head(name: str) -> str:
    """The head of a column without what is particular to a table: the level, a number, an arrow, or which p it is.

    >>> [_head(head) for head in ("99% CI", "p, welch", "α=0.05", "M, α=0.1", "prec_12", "5 runs", "TER ↓")]
    ['CI', 'welch', 'α', 'M', 'prec_n', 'n runs', 'TER']
    """
    name = re.sub(r"^p, | [↑↓]$|(, α)?=[\d.,]+$|^[\d.]+% ", "", name)
    return re.sub(r"(?<=_)\d+$|^\d[\d,]*(?= )|(?<=for )[\d.]+$", "n", name) or name


def _same(known: str, name: str) -> bool:
    return known.casefold() == name.casefold().replace(" ", "-") or known == metric_key(name)


def _unknown(name: str, known: Sequence[str]) -> InputError:
    """The error for a name that nothing has: a list of more than a hundred names would not help."""
    for kind in KINDS:
        advice = name_advice(kind.key.removesuffix("s"), name)
        if advice is not None:
            return advice
    words, every = name.lower(), [each for kind in KINDS for each in kind.entries]
    about = [each for each in every if " " in words and words in each.about.lower()]
    about.sort(key=lambda each: each.about.lower().index(words))
    near = [each.name for each in about[:3]] or nearest(name, known, 3)
    meant = f": did you mean {either(map(quoted, near))}?" if near else ":"
    return InputError(f"unknown name {quoted(shortened(name))}{meant} 'reshuffle explain' lists all names")
