"""Types of command-line parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError, quoted
from ..validate import check_name

# A command imports what it runs in its body, and asks the engine for names only when they are needed: --help and
# completion should not wait for numpy.

if TYPE_CHECKING:
    StrParam = click.ParamType[str]
    IntParam = click.ParamType[int]
else:  # generic at run time only in later releases of click
    StrParam = IntParam = click.ParamType


class Name(StrParam):
    """One of the names in a registry; the error for another tells the nearest."""

    name = "name"

    def __init__(self, kind: str, known: Sequence[str] | Callable[[], Sequence[str]]) -> None:
        self.kind = kind
        self._known = known

    @property
    def known(self) -> list[str]:
        return list(self._known() if callable(self._known) else self._known)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "|".join(self.known)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        known = self.known
        if self.kind == "metric":
            from .options import known_case

            value = known_case(value, known)
        check_name(self.kind, value, known)
        return str(value)


class Numbers(StrParam):
    """Numbers separated by commas."""

    name = "numbers"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return "X,X,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return [float(number) for number in value.split(",")]
        except ValueError:
            option = param.opts[0] if param is not None else "expected"
            raise InputError(f"{option} must be numbers separated by commas, got {quoted(value)}") from None


class Size(IntParam):
    """A number of bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from ..data.files import parse_size

        try:
            return parse_size(value) if isinstance(value, str) else int(value)
        except InputError as error:
            raise InputError(f"--max-input: {error}") from None
