"""Options declared once: what follows from a declaration, for every record of options."""

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, cast

import click
import numpy as np
import pytest
from annotated_types import Ge, MinLen
from attrs import frozen

import reshuffle
import reshuffle.meta
from reshuffle import InputError, study, tune
from reshuffle.cli.declared import declared_options, given_values, made
from reshuffle.options import arrays, files, list_files
from reshuffle.options.declare import (
    Excludes,
    Flag,
    Needs,
    Option,
    Options,
    call,
    called_with,
    check,
    flag_of,
    options_of,
)


def records() -> Iterator[tuple[Callable[..., Any], type[Options]]]:
    """Every public function that is called with the fields of a record, and the record."""
    public = [getattr(module, name) for module in (reshuffle, study, tune, reshuffle.meta) for name in module.__all__]
    for function in (*public, reshuffle.meta.JudgedSet.from_texts):
        if inspect.isroutine(function) and hasattr(function, "__wrapped__"):
            for annotation in inspect.get_annotations(function.__wrapped__, eval_str=True).values():
                if isinstance(annotation, type) and issubclass(annotation, Options):
                    yield function, annotation


FUNCTIONS = dict(records())
# Values of required arguments that would be refused after all others.
REQUIRED: dict[str, Any] = {
    "sets": {},
    "systems": {},
    **dict.fromkeys(
        ("references", "lists", "counts", "scores", "lengths", "targets", "apply_to", "a", "b", "path", "votes")
    ),
    "test_sets": [],
    "optimizer": "mert",
    "threshold": 1.0,
}


def required(record: type[Options]) -> dict[str, Any]:
    """The arguments that a record must have."""
    options = options_of(record).items()
    return {name: REQUIRED[name] for name, each in options if each.default is inspect.Parameter.empty}


def bad_values(option: Option) -> Iterator[Any]:
    """Values that break the declared constraints, of an option whose type has checks."""
    if option.choices:
        yield "no such name"
    elif option.number is int:
        yield from (-1, 1.5, "x", True)
    elif option.number is float:
        yield from (float("nan"), float("inf"), "x", True)
    elif option.is_flag:
        yield from (2, "yes")
    elif option.element is str or option.is_mapping:
        yield [5] if option.is_mapping else 5
    if option.several and MinLen(0) not in option.rules:
        yield ()


def assert_bad_values_are_one_sentence_that_names_the_option(
    record: type[Options], call: Callable[[dict[str, Any]], object]
) -> None:
    for option in options_of(record).values():
        for value in bad_values(option):
            given = {option.name: value if not option.several or value == () else (value,)}
            message = ""
            try:
                call(given)
            except InputError as error:
                message = str(error)
            assert re.fullmatch(f".*({re.escape(option.name)}|{re.escape(option.noun)}).*", message), (given, message)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_a_bad_value_is_one_sentence_that_names_the_option(function: Callable[..., Any]) -> None:
    record = FUNCTIONS[function]
    assert_bad_values_are_one_sentence_that_names_the_option(record, lambda given: function(**required(record) | given))


@pytest.mark.parametrize("record", [each.options for each in tune.OPTIMIZERS.values()], ids=lambda each: each.__name__)
def test_a_bad_option_of_an_optimizer_is_one_sentence_that_names_it(record: Callable[..., Any]) -> None:
    assert_bad_values_are_one_sentence_that_names_the_option(
        cast("type[Options]", record), lambda given: tune.tune(record(**given), None, [])
    )


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_signature_and_docstring_are_those_of_the_record(function: Callable[..., Any]) -> None:
    options = options_of(FUNCTIONS[function])
    parameters = inspect.signature(function).parameters
    assert list(parameters) == list(options)
    assert {each.kind for each in parameters.values()} <= {
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.KEYWORD_ONLY,
    }
    text = function.__doc__ or ""
    assert text.index("\nParameters\n") < text.index("\nReturns\n")
    assert re.findall(r"^(\w+) : ", text[: text.index("\nReturns\n")], re.M) == list(options)
    assert max(map(len, text.splitlines())) <= 120
    assert "{names}" not in text
    by_position, of_record = (
        [each.name for each in inspect.signature(called).parameters.values() if each.kind is each.POSITIONAL_OR_KEYWORD]
        for called in (function, FUNCTIONS[function])
    )
    assert by_position == of_record
    # A default of several values is shown as callers write it.
    for name, parameter in parameters.items():
        default = parameter.default
        assert not (isinstance(default, tuple) and len(default) == 1), name
        assert default == (options[name].default[0] if options[name].default == (default,) else options[name].default)
    # The error of an unknown keyword names the function.
    with pytest.raises(TypeError, match=rf"^{function.__name__}\(\) got an unexpected keyword argument 'sed'"):
        function(sed=1)


RECORDS = [*FUNCTIONS.values(), *(each.options for each in tune.OPTIMIZERS.values())]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_flags_are_unique_and_have_help(record: type[Options]) -> None:
    def nothing(**options: Any) -> None: ...

    decorated: Callable[..., Any] = nothing
    for decorate in reversed(declared_options(record)):
        decorated = decorate(decorated)
    command = click.command()(decorated)
    flags = [name for param in command.params for name in param.opts]
    assert len(flags) == len({*flags})
    for param in command.params:
        assert isinstance(param, click.Option)
        assert param.help
        assert "``" not in param.help
        assert ":func:" not in param.help
        assert ":data:" not in param.help


def test_a_word_of_a_command_stands_for_no_limit() -> None:
    record = cast("type[Options]", tune.OPTIMIZERS["pro"].options)
    assert given_values(record, {"samples": "all", "kept": 3}) == {"samples": None, "kept": 3}


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Small(Options):
    n_items: Annotated[int, Ge(2)] = 2
    """Number of ``items``. By default two."""
    is_quick: bool = False
    """Hurry.

    Only in docstrings.
    """


@called_with(Small)
def counted(options: Small) -> int:
    """Count.

    Returns
    -------
    int
    """
    return options.n_items


def test_a_new_option_is_one_declaration() -> None:
    assert counted(n_items=3) == 3
    assert call(counted, Small(n_items=4)) == 4
    assert inspect.getdoc(counted) == (
        "Count.\n\nParameters\n----------\nn_items : int\n    Number of ``items``. By default two.\n"
        "is_quick : bool\n    Hurry.\n    Only in docstrings.\n\nReturns\n-------\nint"
    )
    assert [flag_of(each) for each in options_of(Small).values()] == ["--n-items", "--is-quick"]
    options = {"n_items": 1, "is_quick": None, "other": 5}
    values = given_values(Small, options)
    assert (values, options) == ({"n_items": 1}, {"other": 5})
    with pytest.raises(InputError, match=r"^--n-items must be a whole number of at least 2, got 1$"):
        made(Small, values)


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Joined(Options):
    """Options that need and exclude others."""

    weights: Annotated[Any, Flag(("-w",)), Needs(("path", "size"), "weights are of something")] = None
    """Perhaps an array."""
    path: Annotated[str | None, Excludes(("size", "names"))] = None
    """A path."""
    size: int = 0
    """A size."""
    names: tuple[str, ...] = ()
    """Names."""


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, None),
        ({"weights": np.zeros(2), "size": 1}, None),
        ({"path": "a", "size": 0, "names": ()}, None),
        ({"weights": np.zeros(2)}, "-w needs --path or --size: weights are of something"),
        ({"path": "a", "names": ("b",)}, "--path and --names cannot be combined: leave one of them out"),
        ({"path": "a", "size": 1, "names": ("b",)}, "--path and --size cannot be combined: leave one of them out"),
    ],
)
def test_options_that_need_or_exclude_others_are_declared(values: dict[str, Any], message: str | None) -> None:
    if message is None:
        made(Joined, values)
        return
    with pytest.raises(InputError) as raised:
        check(Joined(**values))
    assert str(raised.value.with_flags()) == message
    in_words = re.sub("--?(w)?", lambda found: "weights" * bool(found[1]), message)
    assert str(raised.value) == str(raised.value.with_keys(toml=True)) == in_words


@pytest.mark.parametrize("record", [*FUNCTIONS.values(), files.SetFiles, list_files.TuneFiles, list_files.ListFiles])
def test_what_an_option_needs_or_excludes_is_an_option(record: type[Options]) -> None:
    options = options_of(record)
    for option in options.values():
        for rule in option.rules:
            if isinstance(rule, Excludes | Needs):
                assert options.keys() >= {*rule.others}


def test_no_seed_is_the_default_seed() -> None:
    # Of arrays, no seed is the default seed where replicates are made: a seed beside masks or indices is an error.
    for record in FUNCTIONS.values():
        if "seed" in options_of(record) and not issubclass(record, arrays.OfArrays):
            make: Callable[..., Any] = record
            given = required(record)
            assert make(**given, seed=None).seed == make(**given).seed == options_of(record)["seed"].default == 12345


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("compare --help-all", "to compare with (its name or file).  [default: the first]"),
        (
            "study type1 --help-all",
            "by name (separated by commas or spaces; options follow a colon: ar:scheme=subgroup).",
        ),
        ("study exchange --help", "[OPTIONS] REF RUN RUN..."),
        ("runs --help-all", "Match --scores and --counts with runs by order, not by name."),
    ],
)
def test_the_help_says_how_values_are_written(run: Any, command: str, text: str) -> None:
    assert " ".join(text.split()) in " ".join(run(*command.split()).out.split())
