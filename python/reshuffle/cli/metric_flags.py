"""The options of metrics as flags of commands: ``--tokenize intl``."""

from __future__ import annotations

from functools import cache
from typing import Any

import click
from click.shell_completion import CompletionItem

from ..errors import flag
from ..options.choices import read_value
from ..options.declare import Option
from . import params
from .metric_options import check_names, flags
from .params import Parsed, starting


class FlagValue(Parsed):
    """The value of a metric's option that was written as a flag."""

    def __init__(self, option: Option) -> None:
        super().__init__("value", self._read, "a value")
        self.option = option

    def _read(self, text: str) -> Any:
        written = flag(self.option.name)
        value = read_value(self.option, written, text)
        check_names(self.option, value, written)
        return value

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        return starting(self.option.choices, last, before + comma)


@cache
def hidden_flags() -> list[click.Option]:
    """A flag for every option of any metric. ``reshuffle explain NAME`` describes them."""

    def hidden(each: Option) -> click.Option:
        kind: dict[str, Any] = {"is_flag": True} if each.is_flag else {"type": FlagValue(each)}
        return params.Option([flag(each.name), each.name], default=None, hidden=True, **kind)

    return [hidden(each.option) for each in flags()]
