"""The terminal that a report is for: its width, and whether it shows colours."""

from __future__ import annotations

import io
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

# The width of sentences, in characters, where no terminal sets it.
PROSE_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Terminal:
    """Where text will be shown. ``width`` is None for a file or pipe: tables are then as wide as they need to be."""

    width: int | None = None
    color: bool = False

    @classmethod
    def from_stdout(cls) -> Terminal:
        """For the text of ``str(result)``: as wide as the terminal on standard output, else :data:`PROSE_WIDTH`.

        Without colours, because the text may be written to a file.
        """
        return cls(stdout_width() or PROSE_WIDTH)

    def console(self, file: io.StringIO) -> Console:
        """A rich console that writes to ``file`` in lines as wide as this terminal."""
        from rich.console import Console

        return Console(
            file=file,
            width=self.width or PROSE_WIDTH,
            force_terminal=self.color,
            color_system="standard" if self.color else None,
            highlight=False,
        )


def stdout_width() -> int | None:
    """The columns of the terminal on standard output, or of ``COLUMNS``; None for a file or pipe."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size((80, 24)).columns
