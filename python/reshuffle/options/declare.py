"""What follows from the declaration of an option.

A group of options is an attrs class, and an option is one of its fields::

    @frozen(kw_only=True, slots=False, eq=False, repr=False)
    class Resampled(Options):
        TITLE: ClassVar[str] = "Resampling"
        seed: Annotated[int, Ge(0), Le(MAX_SEED)] = 12345
        '''The same seed gives the same result.'''

A record for a function inherits from the groups that the function has. :func:`called_with` makes its fields the keyword
arguments of the function, with their checks and their part of the docstring; :mod:`reshuffle.cli.declared` makes them
options of a command. A field that a record declares again has another default or another text there. A text that
several fields share, or that is computed, is a ``Doc`` of their type instead.

This module imports little, because ``--help`` needs it.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import string
import textwrap
import types
from collections.abc import Callable, Mapping, Sequence
from typing import (
    Annotated,
    Any,
    ClassVar,
    Concatenate,
    Literal,
    NamedTuple,
    ParamSpec,
    Protocol,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    overload,
)

import attrs
from annotated_types import Ge, Gt, Le, Lt, MinLen
from typing_extensions import Doc, Self

from ..documented import own_texts
from ..errors import Argument, InputError, counted, either, flag, meant_argument, quoted
from ..lazy import lazy
from ..validate import LARGEST, check_flag, check_integer, check_level, check_name, check_number, check_text
from .hints import meant_here

P = ParamSpec("P")
R = TypeVar("R")
R_contra = TypeVar("R_contra", covariant=True)
S = TypeVar("S")
T = TypeVar("T")

# The width of docstrings.
WIDTH = 120


@attrs.frozen(slots=False, eq=False)
class Options:
    """The base of all groups. ``TITLE`` is the heading of the group in the help of commands."""

    TITLE: ClassVar[str] = "Options"

    def check_together(self) -> None:
        """Raise :class:`InputError` for options that do not fit each other. Each of them has been checked."""


class Flag(NamedTuple):
    """How an option is written on the command line: by default ``--name``, with hyphens for underscores.

    ``metavar`` stands for its value in the help, and the word ``none`` for the value None. Without ``shown``, the
    option has no flag: its value is a Python object, or the command reads it from files. ``note`` says how the value is
    written; the help has it in brackets. The ``greedy`` ones of its names take all words up to the next option;
    ``noun`` is what such a word is called in messages. ``joined`` words are one value: the option cannot be repeated.
    The help leaves out a ``hidden`` option.
    """

    names: Sequence[str] = ()
    metavar: str | None = None
    shown: bool = True
    note: str = ""
    none: str | None = None
    greedy: Sequence[str] = ()
    noun: str = "file"
    hidden: bool = False
    joined: bool = False


class Kind(NamedTuple):
    """What the value of an option is, in a docstring and in errors, where the type does not say it well."""

    text: str = ""
    # What a name from a list is a name of; by default the name of the option in the singular.
    noun: str = ""


class Except(NamedTuple):
    """Names of the option's ``Literal`` type that cannot be used here, and what an error says of them."""

    names: tuple[str, ...]
    reason: str = ""


class Excludes(NamedTuple):
    """Options that cannot be combined with this one, and what to do."""

    others: tuple[str, ...]
    advice: str = "leave one of them out"


class Needs(NamedTuple):
    """Options of which this one needs at least one, and what to do without: by default, add one or leave this out."""

    others: tuple[str, ...]
    advice: str = ""


class Check(NamedTuple):
    """A function that raises :class:`InputError` for a bad value, instead of the check of the type.

    It gets the name of the option, and the value.
    """

    function: Callable[[str, Any], object]


class Reads(NamedTuple):
    """What reads a value of a mapping on the command line: a number by default. It raises ValueError for bad text."""

    function: Callable[[str], Any] = float
    only: str | None = None
    """The key of a value that is given without one."""
    examples: str = "bleu=0.5"


class Trait(NamedTuple):
    """What else a value is."""

    name: str


# The path of a file. In a manifest, it is relative to the manifest's folder.
FILE = Trait("file")
# A number of bytes, which may be written with a unit: 4GiB.
SIZE = Trait("size")
# What computes a result: a number of threads, or an executor.
WORKERS = Trait("workers")
# An option that is no key of manifests.
NO_KEY = Trait("no key")
# An option that a command line may have beside a manifest, for the test sets that do not have the key.
OF_ALL_SETS = Trait("of all test sets")


@dataclasses.dataclass(frozen=True, eq=False)
class Option:
    """A declared option.

    Attributes
    ----------
    element : type
        The type of a value, or of one of several values.
    several, optional : bool
        Whether the value is a tuple, and whether it may be None.
    length : int, optional
        The length of the tuple, or of those in a mapping, if it is always the same.
    text : str
        What the option does, with ``{names}`` for the names to choose from.
    title : str
        The heading of its group.
    """

    name: str
    element: Any
    several: bool = False
    optional: bool = True
    text: str = ""
    rules: tuple[Any, ...] = ()
    default: Any = None
    flag: Flag = dataclasses.field(default_factory=Flag)
    kind: Kind = dataclasses.field(default_factory=Kind)
    title: str = ""
    positional: bool = False
    length: int | None = None

    @property
    def about(self) -> str:
        """What the option does. The first paragraph stands alone in the help of a command."""
        return self.text.replace("{names}", either(names)) if (names := self.choices or self.keys) else self.text

    @lazy
    def choices(self) -> tuple[str, ...]:
        """The names to choose from; empty if the value is no such name."""
        return tuple(dict.fromkeys(name for name in _names_in(self.element) if name not in self.excepted))

    @lazy
    def excepted(self) -> dict[str, str]:
        """The names that cannot be used here, and what an error says of them."""
        return {name: rule.reason for rule in self.rules if isinstance(rule, Except) for name in rule.names}

    @property
    def is_flag(self) -> bool:
        """Whether the value is True or False; it may also be an object that only Python has."""
        return self.element is bool or bool in get_args(self.element)

    @property
    def noun(self) -> str:
        """What a name to choose is a name of."""
        return self.kind.noun or (self.name[:-1] if self.several and self.name.endswith("s") else self.name)

    @lazy
    def takes_objects(self) -> bool:
        """Whether the value may also be an object that only Python has, instead of a name."""
        return any(get_origin(each) is not Literal and each is not str for each in get_args(self.element))

    @property
    def has_options(self) -> bool:
        """Whether a name may have options of its own, after a colon: see :mod:`reshuffle.options.choices`."""
        return any(isinstance(each, type) and issubclass(each, Options) for each in get_args(self.element))

    @lazy
    def is_mapping(self) -> bool:
        """Whether the value has numbers, or files, for each name."""
        return get_origin(self.element) is Mapping

    @property
    def keys(self) -> tuple[str, ...]:
        """The names that keys of a mapping are chosen from; empty if they can be any."""
        return _names_in(get_args(self.element)[0]) if self.is_mapping else ()

    @lazy
    def number(self) -> type[int] | type[float] | None:
        """The type of number, if the value is one."""
        return self.element if self.element in (int, float) else None

    @lazy
    def limits(self) -> tuple[float | None, float | None, bool]:
        """The smallest and the largest value, and whether both are excluded."""
        low = next(
            (getattr(rule, "ge", getattr(rule, "gt", None)) for rule in self.rules if isinstance(rule, Ge | Gt)), None
        )
        high = next(
            (getattr(rule, "le", getattr(rule, "lt", None)) for rule in self.rules if isinstance(rule, Le | Lt)), None
        )
        return low, high, not any(isinstance(rule, Ge | Le) for rule in self.rules)

    @lazy
    def check(self) -> Callable[[str, Any], object] | None:
        """Raises :class:`InputError` for a bad value, which it gets after the name to show. None if all are good."""
        own = next((rule.function for rule in self.rules if isinstance(rule, Check)), None)
        return own or (self._check_several if self.several else self._check_of_type)

    def _check_several(self, shown: str, values: Any) -> None:
        if not values and MinLen(0) not in self.rules:
            raise InputError(f"no {shown}: expected at least one")
        if self._check_of_type is not None:
            for each in values:
                self._check_of_type(shown, each)
        for at, each in enumerate(values):
            if each in values[:at] and FILE not in self.rules:
                raise InputError(f"{shown}: {quoted(each)} is given twice: leave one out")

    @lazy
    def _check_of_type(self) -> Callable[[str, Any], object] | None:
        low, high, strict = self.limits
        if self.number is int:
            least, most = -(2**63) if low is None else int(low), None if high is None else int(high)
            return functools.partial(check_integer, minimum=least, maximum=most)
        if self.number is float and strict and (low, high) == (0, 1):
            return check_level
        if self.number is float:
            is_open = any(isinstance(rule, Gt) for rule in self.rules)
            smallest, largest = -LARGEST if low is None else low, LARGEST if high is None else high
            return functools.partial(check_number, minimum=smallest, maximum=largest, is_open=is_open)
        if self.element is bool:
            return check_flag
        if self.choices:
            return self._check_choice
        if self.is_mapping:
            return _check_mapping
        return check_text if self.element is str else None

    def _check_choice(self, shown: str, value: Any) -> None:
        """Raise :class:`InputError` for a name or an object that cannot be chosen."""
        if isinstance(value, list | tuple):
            raise InputError(f"{shown} takes one value per call, got {quoted(value)}")
        if isinstance(value, str) or not self.takes_objects:
            reason = self.excepted.get(value) if isinstance(value, str) else None
            if reason:
                raise InputError(reason)
            check_name(self.noun, value, self.choices)
            return
        classes = tuple(each for each in get_args(self.element) if isinstance(each, type) and each is not str)
        if classes and not isinstance(value, classes):
            raise InputError(f"{shown} must be {self.kind.text}, got {quoted(value)}")

    @property
    def written(self) -> str:
        """The option as it is written after a name and a colon."""
        return "METRIC=VALUE" if self.is_mapping else self.name.replace("_", "-")

    @property
    def takes(self) -> str:
        """What a text must be that stands for a value: one of some names, or what it is in words."""
        if self.choices:
            names = ", ".join(self.choices)
            return f"one or more of {names}, separated by commas" if self.several else names
        if self.is_flag:
            return "yes or no"
        if self.is_mapping:
            return "a number"
        if self.number is None:
            return self.documented_type.removesuffix(", optional")
        low, high, is_open = self.limits
        within = "" if low is None or high is None or is_open else f"from {low:.10g} to {high:.10g}"
        if self.several:
            return ", ".join(filter(None, ("numbers separated by commas", within)))
        return f"a {'whole number' if self.number is int else 'number'} {within}".rstrip()

    @property
    def documented_type(self) -> str:
        """The type as docstrings have it."""
        if self.kind.text:
            return self.kind.text
        if self.choices and len(self.choices) <= 5:
            one = f"{{{', '.join(map(repr, self.choices))}}}"
        else:
            one = "str" if self.choices else getattr(self.element, "__name__", str(self.element))
        text = f"{one} or sequence of {'these' if one.startswith('{') else one}" if self.several else one
        return f"{text}, optional" if self.default is None else text

    @property
    def shown_default(self) -> Any:
        """The default as callers write it: one value instead of a tuple of one."""
        return self.default[0] if self.several and self.default and len(self.default) == 1 else self.default

    @property
    def documented_default(self) -> str:
        """A sentence on the default, unless the text has one, or it is None or no."""
        if self.default in (None, False, ()) or "efault" in self.about or self.positional:
            return ""
        return f" By default {self.shown_default!r}." if not isinstance(self.default, Mapping) else ""


def _check_mapping(shown: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise InputError(
            f"{shown} must be a mapping of metrics to numbers, such as {{'bleu': 0.5}}, got {quoted(value)}"
        )


def _names_in(kind: Any) -> tuple[str, ...]:
    """The names of a Literal, or of the Literals of a union."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    if get_origin(kind) in (Union, types.UnionType):
        return tuple(name for each in get_args(kind) for name in _names_in(each))
    return ()


def options_of(record: Callable[..., Any]) -> dict[str, Option]:
    """The options of a record by name: those that may be passed by position, its own, and those of its groups."""
    return _options_of(record)


@functools.cache
def _options_of(record: Any) -> dict[str, Option]:
    texts = {owner: own_texts(owner) for owner in record.__mro__}
    found = {field.name: _declared(record, field, texts) for field in attrs.fields(record)}
    own = inspect.get_annotations(record)
    return dict(sorted(found.items(), key=lambda item: 0 if item[1].positional else 1 if item[0] in own else 2))


def _declared(record: Any, field: attrs.Attribute[Any], texts: Mapping[type, Mapping[str, str]]) -> Option:
    """The declaration of a field. If it has several flags, one of them from a named type, the last one counts."""
    owner = next(each for each in record.__mro__ if field.name in inspect.get_annotations(each))
    kind, *rules = get_args(field.type) if get_origin(field.type) is Annotated else (field.type,)
    members = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    rest = [each for each in members if each is not type(None)]
    # What a manifest may also have by name, a command line has in a row.
    row = next((each for each in rest if get_origin(each) is tuple), None)
    element = Union[tuple(rest)] if row is None else get_args(row)[0]  # noqa: UP007 - of members that are computed
    if get_origin(element) is Annotated:
        element, *of_element = get_args(element)
        rules += of_element
    return Option(
        field.name,
        element,
        row is not None,
        type(None) in members,
        texts[owner].get(field.name) or ["", *(rule.documentation for rule in rules if isinstance(rule, Doc))][-1],
        tuple(rule for rule in rules if not isinstance(rule, Doc | Flag | Kind)),
        _default(field),
        [Flag(), *(rule for rule in rules if isinstance(rule, Flag))][-1],
        [Kind(), *(rule for rule in rules if isinstance(rule, Kind))][-1],
        owner.TITLE,
        not field.kw_only,
        _length(element if row is None else row),
    )


def _length(kind: Any) -> int | None:
    """The length of a tuple, or of the tuples in a mapping; None if it has no fixed one."""
    if get_origin(kind) is Mapping:
        return _length(get_args(kind)[1])
    members = get_args(kind) if get_origin(kind) is tuple else (...,)
    return None if ... in members else len(members)


def _default(field: attrs.Attribute[Any]) -> Any:
    """The default of a field, as signatures have it."""
    if isinstance(field.default, attrs.Factory):  # type: ignore[arg-type]
        return field.default.factory()  # type: ignore[union-attr]
    return inspect.Parameter.empty if field.default is attrs.NOTHING else field.default


def several(value: Any) -> tuple[Any, ...]:
    """One value, or a sequence of values, as a tuple.

    >>> import numpy as np
    >>> several("ar"), several(np.array(0.05)), several(["ar", "bootstrap"])
    (('ar',), (0.05,), ('ar', 'bootstrap'))
    """
    if getattr(value, "ndim", None) == 0:  # numpy's arrays without dimensions have an iterator that fails
        value = value.item()
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        return (value,)
    return tuple(value)


class Several(tuple[T, ...]):
    """The converter of an option that takes one value or several, as ``converter=Several[int]``: see :func:`several`.

    Type checkers take what a converter accepts for the type of the keyword argument.
    """

    def __new__(cls, value: T | Sequence[T]) -> Self:
        return several(value)  # type: ignore[return-value]  # a plain tuple


def taken(record: Callable[..., R], *options: object, **others: Any) -> R:
    """A record with those of its options that other records have, too, the last one counting, and ``others``."""
    make: Callable[..., R] = record
    return make(**{name: getattr(options[at], name) for name, at in _shared(record, *map(type, options))} | others)


@functools.cache
def _shared(record: Any, *kinds: Any) -> list[tuple[str, int]]:
    """The names of a record's options that records of these kinds have, too, and which of them is the last one."""
    places = {name: at for at, kind in enumerate(kinds) for name in {*dir(kind), *_names_of(kind)}}
    return [(name, places[name]) for name in _names_of(record) if name in places]


def _names_of(record: Any) -> list[str]:
    return [each.name for each in (attrs.fields(record) if attrs.has(record) else dataclasses.fields(record))]


def files_in(options: Options) -> list[str]:
    """The paths among the values of a record: those of the fields whose type has :data:`FILE`."""
    fields = [each.name for each in attrs.fields(type(options)) if _has_files(each.type)]
    return [path for name in fields for path in _paths(getattr(options, name))]


def _has_files(kind: Any) -> bool:
    return FILE in get_args(kind) or any(map(_has_files, get_args(kind)))


def _paths(value: Any) -> list[str]:
    """A path, those in a tuple or among the values of a mapping, or none."""
    if isinstance(value, str | None):
        return [] if value is None else [value]
    return [path for each in (value.values() if isinstance(value, Mapping) else value) for path in _paths(each)]


def chosen(options: Options, *names: str) -> dict[str, Any]:
    """Some options as plain values, for the plan of a result: tuples are lists."""
    values = {name: getattr(options, name) for name in names}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def check(options: Options, names: Mapping[str, str] | None = None) -> None:
    """:class:`InputError` for a value that cannot be used, or for values that do not fit each other.

    ``names`` has the names of options that errors show, where these are not the names of the fields.
    """
    check_each(options, names)
    check_combined(options)
    options.check_together()


def flag_of(each: Option) -> str:
    """The option as it is written on the command line: its first name, which takes several words if any does."""
    return (each.flag.greedy or each.flag.names or (flag(each.name),))[0].partition("/")[0]


def check_each(options: Options, names: Mapping[str, str] | None = None) -> None:
    """The first part of :func:`check`: each value alone."""
    record: Any = type(options)  # mypy takes classes of attrs for unhashable
    values = vars(options)
    for name, default, optional, check_value in _checked(record):
        value = values[name]
        # Defaults need no check, and many calls have little else.
        if value is not default and (value is not None or not optional):
            check_value((names or {}).get(name, name), value)


@functools.cache
def _checked(record: Any) -> list[tuple[str, Any, bool, Callable[[str, Any], object]]]:
    """The options of a record that have a check: their names and defaults, whether they may be None, and the checks."""
    options = options_of(record).items()
    return [(name, each.default, each.optional, each.check) for name, each in options if each.check is not None]


def check_combined(options: Options) -> None:
    """The second part of :func:`check`: what the declared options need and exclude."""
    record: Any = type(options)  # mypy takes classes of attrs for unhashable
    for name, rule in _combining(record):
        if not _is_given(options, name):
            continue
        given = [other for other in rule.others if _is_given(options, other)]
        others = given or [*rule.others]
        if isinstance(rule, Excludes) and given:
            raise refused(record, f"{{{name}}} and {{{others[0]}}} cannot be combined: {{advice}}", advice=rule.advice)
        if isinstance(rule, Needs) and not given:
            names = either(f"{{{each}}}" for each in others)
            raise refused(record, f"{{{name}}} needs {names}: {rule.advice or f'add {names}, or leave {{{name}}} out'}")


def refused(record: type[Options], message: str, **others: Any) -> InputError:
    """The error with a message in which ``{name}`` is an option of the record, or else one of ``others``."""
    options = options_of(record)
    names = [name for _, name, _, _ in string.Formatter().parse(message) if name and name not in others]
    found: dict[str, Any] = {name: Argument(name) for name in names}
    for name in options.keys() & names:
        flag = flag_of(options[name])
        found[name] = Argument(name, as_flag=flag, as_key=flag if NO_KEY in options[name].rules else "")
    return InputError(message, **found, **others)


@functools.cache
def _combining(record: Any) -> list[tuple[str, Excludes | Needs]]:
    """The rules of a record's options that name other options, with the name of the option."""
    rules = [(name, rule) for name, option in options_of(record).items() for rule in option.rules]
    return [(name, rule) for name, rule in rules if isinstance(rule, Excludes | Needs)]


def _is_given(options: Options, name: str) -> bool:
    """Whether an option differs from its default, as arrays always do; not if the record does not have it."""
    value, option = getattr(options, name, None), options_of(type(options)).get(name)
    is_plain = isinstance(value, str | float | int | tuple | Mapping | None)
    return option is not None and (not is_plain or value != option.default)


class _Decorator(Protocol[P, R_contra]):
    """What :func:`called_with` returns: for a function of a record, or for such a method."""

    @overload
    def __call__(self, function: Callable[[R_contra], T], /) -> Callable[P, T]: ...
    @overload
    def __call__(self, function: Callable[[S, R_contra], T], /) -> Callable[Concatenate[S, P], T]: ...


def called_with(record: Callable[P, R]) -> _Decorator[P, R]:
    """Make a function of a record a function that has the record's fields as keyword arguments; so for methods.

    Its docstring gets a section of parameters, before that of what it returns.
    """

    def decorate(function: Callable[..., T]) -> Callable[..., T]:
        own = inspect.signature(function).parameters
        me = [each.replace(kind=each.POSITIONAL_ONLY) for each in own.values()][:-1]

        @functools.wraps(function)
        def public(*args: Any, **kwargs: Any) -> T:
            bound, args = args[: len(me)], args[len(me) :]
            if len(args) > len(positional):  # Python would count the record, too
                takes = f"{counted(len(positional), 'positional argument')} ({', '.join(positional)})"
                raise TypeError(
                    f"{function.__name__}() takes at most {takes}, got {len(args)}: pass the others by name"
                )
            try:
                given: Any = record(*args, **kwargs)
            except TypeError as error:  # names the record instead of the function
                from ..names import metric_option_error  # --help does not need it

                of_metric = metric_option_error(function.__name__, kwargs, list(options))
                if of_metric is not None:
                    raise TypeError(of_metric) from None
                text = str(error).replace(f"{record.__name__}.__init__()", f"{function.__name__}()")
                raise TypeError(f"{text}{_meant(kwargs, options)}") from None
            check(given)
            return function(*bound, given)

        options = options_of(record)
        positional = [name for name, option in options.items() if option.positional]
        kinds = {True: inspect.Parameter.POSITIONAL_OR_KEYWORD, False: inspect.Parameter.KEYWORD_ONLY}
        parameters = me + [
            inspect.Parameter(name, kinds[option.positional], default=option.shown_default)
            for name, option in options.items()
        ]
        returned = inspect.get_annotations(function).get("return", inspect.Signature.empty)
        public.__signature__ = inspect.Signature(parameters, return_annotation=returned)  # type: ignore[attr-defined]
        public.__annotations__ = {"return": returned}
        public.__doc__ = _with_parameters(inspect.cleandoc(function.__doc__ or ""), options)
        return public

    return cast("_Decorator[P, R]", decorate)


def _meant(given: Mapping[str, Any], options: Mapping[str, Option]) -> str:
    """What an argument that does not exist may mean: an option of a choice such as a test, a flag, a similar name."""
    for name in given:
        if name in options:
            continue
        of_flag = (each.name for each in options.values() if name in [flag.lstrip("-") for flag in each.flag.names])
        if near := next(of_flag, meant_here(name, options)):
            return meant_argument(name, options, near)
        for option in options.values():
            for record in (each for each in get_args(option.element) if isinstance(each, type)):
                if issubclass(record, Options) and name in options_of(record):
                    (shown, *_) = record.__subclasses__() or [record]
                    return f": write {option.name}={shown.__name__}({name}=…)"
        return meant_argument(name, options)
    return ""


def documented(record: type[R]) -> type[R]:
    """Add the parameters to the docstring of a record that users make. To be applied after attrs' decorator."""
    options = options_of(record)
    record.__doc__ = _with_parameters(f"{inspect.cleandoc(record.__doc__ or '')}\n", options).rstrip()
    # Declarations would fill the signature. (A signature of its own would be that of subclasses, too.)
    record.__init__.__annotations__ = {"return": None}
    return record


def call(function: Callable[..., T], options: Options) -> T:
    """The result of a function that :func:`called_with` has made, from its record, which has been checked."""
    result: T = inspect.unwrap(function)(options)
    return result


def _with_parameters(text: str, options: Mapping[str, Option]) -> str:
    """A docstring with a section on the options before its first section."""
    before, heading, after = text.partition("\nReturns\n-------\n")
    lines = ["Parameters", "----------"]
    for name, option in options.items():
        lines.append(f"{name} : {option.documented_type}")
        first, *more = option.about.split("\n\n")
        for paragraph in (f"{first}{option.documented_default}", *more):
            lines += textwrap.wrap(
                " ".join(paragraph.split()), WIDTH, initial_indent="    ", subsequent_indent="    ",
                break_long_words=False, break_on_hyphens=False,
            )  # fmt: skip
    return f"{before}\n{chr(10).join(lines)}\n{heading}{after}"
