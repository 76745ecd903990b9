"""Completion in bash, zsh and fish: click's, with options that take several words, and with files.

A shell asks for it by the environment variable that click defines; ``reshuffle doctor`` shows how to switch it on.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from pathlib import Path

import click
from click import shell_completion
from click.shell_completion import CompletionItem, ShellComplete

from ..errors import InputError
from .command import Command
from .help import first_sentence
from .root import COMPLETE

# What switches it on, by shell, and the file in which it belongs.
SWITCHES: Mapping[str, tuple[str, str]] = {
    "bash": (f'eval "$({COMPLETE}=bash_source reshuffle)"', "~/.bashrc"),
    "zsh": (f'eval "$({COMPLETE}=zsh_source reshuffle)"', "~/.zshrc"),
    "fish": (f"{COMPLETE}=fish_source reshuffle | source", "~/.config/fish/completions/reshuffle.fish"),
}


def switch() -> tuple[str, str]:
    """What switches completion on in the user's shell, and the file in which it belongs."""
    return SWITCHES.get(Path(os.environ.get("SHELL", "")).name, SWITCHES["bash"])


class _Completion(ShellComplete):
    """What has no names of its own is completed as the shell does: by files."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        words = [word for word in args if word != "="]  # bash takes --test=ar apart
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = super().get_completions(_continued(self.cli, words), incomplete)
            except InputError:  # what is written so far is wrong, and will be explained when it is run
                found = []
        for item in found:
            item.help = first_sentence(item.help or "") or None
        return found or [CompletionItem(incomplete, type="file")]


def _continued(command: click.Command, words: list[str]) -> list[str]:
    """The words, followed by the option that would also take the next one: click knows only the word after it."""
    context = click.Context(command)
    for word in words:
        inner = command.get_command(context, word) if isinstance(command, click.Group) else None
        command = inner or command
    at = max((i for i, word in enumerate(words) if word.startswith("-")), default=len(words) - 1)
    takers = command.takers() if isinstance(command, Command) else {}
    if words[at:-1] and words[at] in takers and all(map(takers[words[at]].accepts, words[at + 1 :])):
        return [*words, words[at]]
    return words


class _Bash(_Completion, shell_completion.BashComplete):
    pass


class _Zsh(_Completion, shell_completion.ZshComplete):
    pass


class _Fish(_Completion, shell_completion.FishComplete):
    pass


def register() -> None:
    """Put these in the place of click's."""
    for shell in (_Bash, _Zsh, _Fish):
        shell_completion.add_completion_class(shell)
