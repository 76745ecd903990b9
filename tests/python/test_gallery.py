"""The gallery of figures: its commands run, and its pictures are those that they draw.

After a change of figures, run this file with ``RESHUFFLE_UPDATE_DOCS=1`` and look at the pictures.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import struct
from pathlib import Path
from typing import Any

import pytest

from reshuffle.report import PLOTS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/gallery.md").read_text("utf-8")
UPDATE = "RESHUFFLE_UPDATE_DOCS" in os.environ


def size(path: Path) -> tuple[int, int]:
    """The width and height of a PNG file in pixels."""
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    return width, height


def test_the_gallery_shows_every_kind_of_figure() -> None:
    drawn = re.findall(r"^reshuffle plot \S+ (\S+) ", PAGE, re.MULTILINE)
    assert set(drawn) == set(PLOTS)
    shown = re.findall(r"^!\[[^\]]+\]\(([^)]+)\)$", PAGE, re.MULTILINE)
    assert len(shown) >= len(PLOTS)
    assert set(re.findall(r"^reshuffle plot .* -o (\S+)$", PAGE, re.MULTILINE)) <= set(shown)
    for picture in shown:
        assert UPDATE or (ROOT / "docs" / picture).is_file()
    for file in (ROOT / "docs/gallery").iterdir():
        assert f"gallery/{file.name}" in shown


def test_the_commands_of_the_gallery_draw_its_pictures(
    tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gallery").mkdir()
    commands = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
    assert len(commands) >= len(PLOTS)
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "reshuffle"
        outcome = run(*arguments)
        assert (outcome.code, outcome.err) == (0, ""), command
    drawn = sorted((tmp_path / "gallery").iterdir())
    assert drawn
    for path in drawn:
        if UPDATE:
            shutil.copy(path, ROOT / "docs/gallery")
        # Letters have slightly other pixels in other releases of matplotlib and FreeType, but figures have this size.
        assert size(path) == size(ROOT / "docs/gallery" / path.name), path.name
