"""The help of commands: short (``--help``) and whole (``--help-all``), with the texts of ``help.toml``."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import click
from click.shell_completion import CompletionItem

from ..grouping import grouped
from ..toml import loads
from ..validate import check_name
from .params import Option

# The most examples in the short help, which has only those that fit on a line.
MAX_EXAMPLES = 4
# The width of the options' column. A wider option has a line of its own.
OPTION_WIDTH = 22
# The key of whether the help is whole, in `click.Context.meta`.
SHOW_ALL = "reshuffle.show_all"


@cache
def _texts() -> Mapping[str, Any]:
    return loads((Path(__file__).parent / "help.toml").read_text("utf-8"))


def _each(command: str) -> dict[str, Any]:
    """The texts that the commands of its group share."""
    group: Mapping[str, dict[str, Any]] = _texts().get(command.rpartition(" ")[0], {})
    return group.get("each", {})


def _of(command: str) -> dict[str, Any]:
    """The texts of a command, which is named as users type it: ``study type1``."""
    own: dict[str, Any] = _texts()[command]
    return _each(command) | own


def about(command: str) -> str:
    """What a command does."""
    return str(_of(command)["about"]).strip()


def examples_of(command: str) -> list[str]:
    """Examples of a command."""
    return str(_of(command)["examples"]).splitlines()


def tests_of(command: str) -> str:
    """What a command tests, for those whose help does not say so."""
    return " ".join(_of(command).get("tests", "").split())


def _arguments_of(command: str) -> list[tuple[str, str]]:
    """The arguments of a command, and what they are."""
    arguments = _of(command).get("arguments", {})
    return [(name, " ".join(text.format_map(_texts()["texts"]).split())) for name, text in arguments.items()]


def _short_of(command: str) -> set[str]:
    """The options that the short help of a command shows; empty if it shows all."""
    own = f"{_each(command).get('short', '')} {_texts()[command].get('short', '')}"
    return {*own.split(), *_texts()["short"].split()} if own.strip() else set()


def first_sentence(text: str) -> str:
    """The first sentence of a help text, and the default after the text.

    >>> first_sentence("The seed. It is a number.  [default: 1]"), first_sentence("Files (.tsv, .csv) of scores")
    ('The seed.  [default: 1]', 'Files (.tsv, .csv) of scores')
    """
    about, mark, default = text.partition("  [default")
    return re.split(r"(?<=\.) (?=[A-Z-])", about, maxsplit=1)[0] + mark + default


def one_line(text: str, width: int) -> str:
    """As much of the first sentence of a help text as fits on a line; at least what is before a colon or semicolon.

    For a list of names, the first few, and where the others are explained. The default is left out if there is no room,
    or if it is not one of the names.

    >>> one_line("How: auto, holm, maxt or bh. More.  [default: auto; none]", 40)
    'How: auto, holm …  [default: auto]'
    >>> one_line("A file (.tsv) of scores: one for each. More.", 20)
    'A file of scores.'
    """
    about, _, extra = first_sentence(text).partition("  [")
    extras = [f"  [{each.rstrip(']')}]" for each in (extra, extra.partition(";")[0])] if extra else [""]
    plain = re.sub(r" \([^()]*\)", "", about)
    whole, names = [about, plain, _clause("; ", plain)], []
    if re.fullmatch(r"(?:[^:,]+: )?[^\s,]+(?:, [^\s,]+)+(?: or \S+|, … .*| …)", plain.rstrip(".")):
        names = [f"{', '.join(plain.split(', ')[:n])} …" for n in range(plain.count(", "), 1, -1)]
        extras = [each for each in extras if each[12:-1] in about] or [""]
    explained = re.search(r" \('reshuffle explain \w+'", about)
    fitting = next((each for each in names if len(each) <= width), None)
    if explained and fitting and len(about) > width:
        return f"{fitting}{explained[0]}){extras[-1]}"
    clauses = [_clause("[;:] ", about), _clause("[;:] ", plain)]
    lines = [*(each + end for each in (*whole, *names) for end in extras), *whole]
    lines += [each + end for each in clauses for end in (*extras, "")]
    return next((each for each in lines if len(each) <= width), clauses[-1])


def _clause(mark: str, text: str) -> str:
    """A sentence up to a mark that is not in brackets."""
    return re.split(rf"{mark}(?![^()]*\))", text, maxsplit=1)[0].rstrip(".") + "."


def _one_name(written: str) -> str:
    """An option with the longer one of its long names.

    >>> _one_name("-m, --metric, --metrics NAME...")
    '-m, --metrics NAME...'
    """
    return re.sub(r"(--[\w-]+), (--[\w-]+)", lambda found: max(found[1], found[2], key=len), written)


def _show_all(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta[SHOW_ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


HELP_ALL = Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show all options, with all details.",
)


class WithHelp(click.Command):
    """A command or group with the texts of ``help.toml``, and options in groups.

    The short help has one line for each option, if possible, and no description after a form feed.

    Parameters
    ----------
    place : str
        What users type after ``reshuffle``: ``study type1``. By default the name.
    """

    def __init__(self, *args: Any, place: str = "", **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.place = place or str(self.name)
        self.params.append(HELP_ALL)  # accepted even where --help already shows all

    @property
    def description(self) -> str:
        """What the command does. For commands that are made from a registry, its text comes first."""
        return "\n\n".join(filter(None, (self.help, about(self.place))))

    def get_short_help_str(self, limit: int = 0) -> str:
        return _summary(self.description)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        text, _, more = self.description.partition("\f")
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text + more if SHOW_ALL in ctx.meta else text)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows, examples, last = self._rows(ctx), examples_of(self.place), self.get_help_option(ctx)
        if SHOW_ALL not in ctx.meta:
            whole, width = (rows, examples, ""), formatter.width - OPTION_WIDTH - 4
            common = self._rows(ctx, _short_of(self.place))
            rows = [(group, _one_name(name), one_line(text, width)) for group, name, text in common]
            examples = [each for each in examples if len(each) <= formatter.width][:MAX_EXAMPLES]
            last = last if (rows, examples, self.description.partition("\f")[2]) == whole else HELP_ALL
        record = last and last.get_help_record(ctx)
        groups = grouped((group, (name, text)) for group, name, text in rows)
        groups["Output"] = [*groups.pop("Output", []), *([record] if record else [])]
        if examples:
            with formatter.section("Examples"):
                formatter.write("".join(f"{'':{formatter.current_indent}}{each}\n" for each in examples))
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)
        for group, of_group in groups.items():
            with formatter.section(group if len(groups) > 1 else "Options"):
                _write_rows(formatter, of_group)

    def _rows(self, ctx: click.Context, only: Collection[str] = ()) -> list[tuple[str, str, str]]:
        """The group, the name and the text of each argument and option; of the options, ``only`` some."""
        rows = [("Input", *argument) for argument in _arguments_of(self.place)]
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            is_help = param is HELP_ALL or param is self.get_help_option(ctx)
            if record is not None and not is_help and (not only or {*param.opts} & {*only}):
                rows.append((getattr(param, "group", "Output"), *record))
        return rows


def _write_rows(formatter: click.HelpFormatter, rows: Sequence[tuple[str, str]]) -> None:
    """Unlike click's ``write_dl``, break no name at its hyphens, and align all groups alike."""
    hanging = " " * (formatter.current_indent + OPTION_WIDTH + 2)
    for written, text in rows:
        first = f"{'':{formatter.current_indent}}{written:{OPTION_WIDTH}}  "
        if len(first) > len(hanging):
            formatter.write(f"{first.rstrip()}\n")
            first = hanging
        lines = textwrap.wrap(
            text, formatter.width, initial_indent=first, subsequent_indent=hanging, break_on_hyphens=False
        )
        formatter.write("".join(f"{line}\n" for line in lines))


def _summary(description: str) -> str:
    """The first paragraph, on a line."""
    return " ".join(description.partition("\n\n")[0].split())


class HelpGroup(WithHelp, click.Group):
    """A group whose help lists its commands by section. An unknown one is an error that suggests the nearest.

    Parameters
    ----------
    kind : str
        What its commands are, for this error.
    sections : mapping of str to mapping
        By heading and name, the commands, or the modules that have them under the name ``NAME_command``.
    """

    def __init__(
        self, *args: Any, kind: str, sections: Mapping[str, Mapping[str, click.Command | str]], **attributes: Any
    ) -> None:
        super().__init__(*args, **attributes)
        self.kind, self.sections = kind, sections

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for section in self.sections.values() for name in section]  # in this order

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported if need be: --help of one should not wait for the options of all others."""
        found = next((section[cmd_name] for section in self.sections.values() if cmd_name in section), None)
        if isinstance(found, str):
            found = cast("click.Command", getattr(import_module(found, __package__), f"{cmd_name}_command"))
        return found

    def _about(self) -> dict[str, dict[str, str]]:
        """What each command does, by section, without importing any."""
        return {
            heading: {
                name: _summary(about(name)) if isinstance(command, str) else command.get_short_help_str()
                for name, command in section.items()
            }
            for heading, section in self.sections.items()
        }

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """As click, without importing the commands."""
        known = {name: text for section in self._about().values() for name, text in section.items()}
        found = [CompletionItem(name, help=text) for name, text in known.items() if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Whole sentences, which click would cut off, in one column."""
        longest = max(map(len, self.list_commands(ctx)))
        for heading, section in self._about().items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:{longest}}", text) for name, text in section.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not args[0].startswith("-"):
            check_name(self.kind, args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)
