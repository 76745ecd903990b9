"""Records show the docstrings of their fields."""

import ast
import inspect
import pickle
import re
import sys
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from itertools import pairwise
from typing import Any, get_args

import pytest

import reshuffle
from reshuffle import types
from reshuffle.documented import Field, documented, fields_of, own_texts
from reshuffle.options.declare import Options
from reshuffle.results.studies import MODULES, types_of
from test_options import FUNCTIONS

RECORDS_OF_STUDIES: set[Any] = {record for study in MODULES for record in types_of(study).tables.values()}
PUBLIC: set[Any] = {each for name in reshuffle.__all__ if is_dataclass(each := getattr(reshuffle, name))}


@documented
@dataclass(frozen=True, slots=True)
class Point:
    """A point.

    Notes
    -----
    In the plane.
    """

    x: float
    """To the right."""
    y: float
    z: float | None = None
    names: tuple[str, ...] = ()
    """Its names,

    if it has some."""


def test_the_fields_stand_before_other_sections() -> None:
    assert Point.__doc__ == (
        "A point.\n\nAttributes\n----------\nx : float\n    To the right.\ny : float\nz : float or None\n"
        "names : tuple of str\n    Its names,\n\n    if it has some.\n\nNotes\n-----\nIn the plane."
    )
    assert fields_of(Point)["x"] == Field("float", "To the right.")
    assert pickle.loads(pickle.dumps(Point(1, 2))) == Point(1, 2)
    assert Point(1, 2).__doc__ == Point.__doc__


def test_without_the_source_the_text_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_source(record: Any) -> str:
        raise OSError

    monkeypatch.setattr(inspect, "getsource", no_source)
    assert Point.__doc__ is not None
    assert Point.__doc__.startswith("A point.")
    assert "Attributes" not in Point.__doc__


@cache
def classes_of(module: str) -> dict[str, ast.ClassDef]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def texts_of_tree(record: type[Any]) -> dict[str, str]:
    tree = classes_of(record.__module__)[record.__name__]
    return {
        ast.unparse(node.target): inspect.cleandoc(ast.literal_eval(after.value))
        for node, after in pairwise(tree.body)
        if isinstance(node, ast.AnnAssign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
    }


def test_docstrings_of_fields_are_those_of_the_syntax_tree() -> None:
    options = {each for record in FUNCTIONS.values() for each in record.__mro__ if issubclass(each, Options)}
    for record in RECORDS_OF_STUDIES | PUBLIC | options:
        assert own_texts(record) == texts_of_tree(record), record


def test_metrics_and_tokenizers_are_listed_in_their_docstrings() -> None:
    for function, kind in ((reshuffle.metric, types.MetricName), (reshuffle.tokenize, types.Tokenizer)):
        listed = re.findall(r"[^\s,]+(?=[,.]\s)", function.__doc__ or "")
        assert {*get_args(kind)} <= {*listed}, function
        assert max(map(len, (function.__doc__ or "").splitlines())) <= 120


def test_every_record_lists_all_its_fields() -> None:
    n_lists = 0
    for record in RECORDS_OF_STUDIES | PUBLIC:
        text = record.__doc__ or ""
        own = [field.name for field in fields(record) if field.init and not field.name.startswith("_")]
        head = "Parameters" if "\nParameters\n" in text else "Attributes"
        _, has_list, listed = text.partition(f"\n{head}\n")
        if own and has_list:
            heads = [line.split(" : ")[0] for line in listed.splitlines() if " : " in line and line[:1] != " "]
            assert set(own) <= {name.strip() for head in heads for name in head.split(",")}, record
            n_lists += 1
    assert n_lists > 50
