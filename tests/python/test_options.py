"""Options declared once: what follows from a declaration, for every record of options."""

# Annotations are evaluated here, as in the modules of options.

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import click
import pytest
from annotated_types import Ge
from attrs import frozen
from typing_extensions import Doc

import reshuffle
from reshuffle import InputError, study
from reshuffle.cli.declared import declared_options, flag_of, given_values, made
from reshuffle.options import comparisons, flips, studies
from reshuffle.options.declare import Option, Options, call, called_with, options_of, taken

FUNCTIONS: dict[Callable[..., Any], type[Options]] = {
    reshuffle.compare: comparisons.Compare,
    reshuffle.compare_sets: comparisons.CompareSets,
    reshuffle.compare_runs: comparisons.CompareRuns,
    reshuffle.score: comparisons.Score,
    reshuffle.segment_scores: comparisons.SegmentScoring,
    reshuffle.flips: flips.FlipOptions,
    study.type1: studies.Type1,
    study.power: studies.Power,
    study.sensitivity: studies.Sensitivity,
    study.parametric_power: studies.ParametricPower,
    study.plan: studies.Plan,
    study.samples: studies.Samples,
    study.validate: studies.Validate,
    study.agreement: studies.Agreement,
    study.multiplicity: studies.Multiplicity,
    study.exchange: studies.Exchange,
}
REQUIRED: dict[str, Any] = {"sets": {}, "references": None, "systems": {}, "threshold": 1.0}


def bad_values(option: Option) -> Iterator[Any]:
    """Values that break the declared constraints, of an option whose type has checks."""
    if option.choices:
        yield "no such name"
    elif option.number is int:
        yield from (-1, 1.5, "x", True)
    elif option.number is float:
        yield from (float("nan"), float("inf"), "x", True)
    elif option.element is bool:
        yield from (2, "yes")
    elif option.element is str or option.is_mapping:
        yield 5
    if option.several:
        yield ()


CASES = [
    (function, option, value)
    for function, record in FUNCTIONS.items()
    for option in options_of(record).values()
    for value in bad_values(option)
    if not (value == () and option.name == "curve_sizes")  # there may be no curves
]


@pytest.mark.parametrize(
    ("function", "option", "value"), CASES, ids=[f"{f.__name__}-{o.name}-{v!r}" for f, o, v in CASES]
)
def test_a_bad_value_is_one_sentence_that_names_the_option(
    function: Callable[..., Any], option: Option, value: Any
) -> None:
    parameters = inspect.signature(function).parameters.items()
    required = {name: REQUIRED[name] for name, each in parameters if each.default is inspect.Parameter.empty}
    given = value if not option.several or value == () else (value,)
    with pytest.raises(InputError) as caught:
        function(**required | {option.name: given})
    message = str(caught.value)
    assert "\n" not in message
    assert option.name in message or option.noun in message


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


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_arguments_by_position_are_those_that_the_signature_has_there(function: Callable[..., Any]) -> None:
    def by_position(called: Callable[..., Any]) -> list[str]:
        parameters = inspect.signature(called).parameters.values()
        return [each.name for each in parameters if each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]

    assert by_position(function) == by_position(FUNCTIONS[function])


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_an_unknown_keyword_names_the_function(function: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match=rf"^{function.__name__}\(\) got an unexpected keyword argument 'sed'"):
        function(sed=1)


@pytest.mark.parametrize("record", FUNCTIONS.values(), ids=lambda record: record.__name__)
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


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Small(Options):
    n_items: Annotated[int, Ge(2), Doc("Number of ``items``. By default two.")] = 2
    is_quick: Annotated[bool, Doc("Hurry.\n\nOnly in docstrings.")] = False


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


def test_a_record_takes_the_options_that_it_shares() -> None:
    chosen = studies.Type1(tests="ar", seed=7, noise=0.1)
    settings = taken(studies.NullDetails, chosen)
    assert settings.noise == 0.1
    assert not hasattr(settings, "seed")
