"""The gallery of figures: its commands run, and its pictures are those that they draw.

After a change of figures, run this file with ``RESHUFFLE_UPDATE_DOCS=1`` and look at the pictures.
"""

import os
import re
import shlex
import shutil
import struct
from pathlib import Path
from typing import Any, get_args

import pytest

from browser import Browser
from conftest import parsed
from reshuffle import types
from reshuffle.report import PLOTS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/gallery.md").read_text("utf-8")
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
UPDATE = "RESHUFFLE_UPDATE_DOCS" in os.environ
# The size of the picture of the page, in pixels.
REPORT = (1400, 1900)


def size(path: Path) -> tuple[int, int]:
    """The width and height of a PNG file in pixels."""
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    return width, height


def test_the_gallery_shows_every_kind_of_figure_by_commands_that_parse() -> None:
    drawn = re.findall(r"^reshuffle plot \S+ (\S+) ", PAGE, re.MULTILINE)
    assert set(PLOTS) <= set(drawn) <= {*PLOTS, *get_args(types.StudyPlotKind)}
    shown = re.findall(r"^!\[[^\]]+\]\(([^)]+)\)$", PAGE, re.MULTILINE)
    assert len(shown) >= len(PLOTS)
    assert set(re.findall(r"^reshuffle plot .* -o (\S+)$", PAGE, re.MULTILINE)) <= set(shown)
    for picture in shown:
        assert UPDATE or (ROOT / "docs" / picture).is_file()
    for file in (ROOT / "docs/gallery").iterdir():
        assert f"gallery/{file.name}" in shown
    assert len(COMMANDS) >= len(PLOTS)
    for command in COMMANDS:
        assert parsed(command), command


@pytest.mark.slow
def test_the_commands_of_the_gallery_draw_its_pictures(
    tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gallery").mkdir()
    for command in COMMANDS:
        _, *arguments = shlex.split(command)
        outcome = run(*arguments)
        assert (outcome.code, outcome.err) == (0, ""), command
    drawn = sorted((tmp_path / "gallery").iterdir())
    assert drawn
    for path in drawn:
        if UPDATE:
            shutil.copy(path, ROOT / "docs/gallery")
        # Other releases of matplotlib and FreeType draw letters with slightly other pixels.
        assert size(path) == pytest.approx(size(ROOT / "docs/gallery" / path.name), abs=4), path.name


def test_the_picture_of_the_report_is_that_of_its_command(
    tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch, browser: Browser
) -> None:
    monkeypatch.chdir(tmp_path)
    (command,) = (command for command in COMMANDS if command.endswith(" -o report.html"))
    for _, *arguments in (shlex.split(COMMANDS[0]), shlex.split(command)):
        assert run(*arguments).code == 0
    browser.resize(*REPORT)
    browser.prefer(prefers_color_scheme="light")
    browser.load((tmp_path / "report.html").as_uri())
    browser.wait("return document.querySelector('#null svg') !== null")
    picture = tmp_path / "report.png"
    assert browser.driver.save_screenshot(str(picture))
    if UPDATE:
        shutil.copy(picture, ROOT / "docs/gallery")
    assert size(picture) == size(ROOT / "docs/gallery" / picture.name) == REPORT
