"""Figures: the options that all have, and that they are fit for a paper."""

from __future__ import annotations

import io
import itertools
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from pages import contrast, luminance
from plotted import (
    HOSTILE,
    KINDS,
    LONG,
    compared,
    digests,
    drawn,
    key_of,
    names_of,
    numbered,
    plotted,
    saved_as_pdf,
    systems,
    texts_of,
    with_histograms,
)
from reshuffle import InputError, InputWarning, SegmentScores, compare
from reshuffle.report.plots import figure_of, style
from reshuffle.report.plots.intervals import set_limits
from reshuffle.report.plots.labels import columns, printable, wrapped
from reshuffle.report.plots.look import COLUMN, INK, PAGE
from reshuffle.report.plots.style import STYLE

# The options that all figures have.


@pytest.mark.parametrize("kind", KINDS)
def test_axes_are_drawn_into_and_returned(kind: str) -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert plotted(compared(numbered(3)), kind, ax=right) is right
    assert [*left.lines, *left.texts, *left.collections] == []
    drawn(right)


@pytest.mark.parametrize("tight", [False, True])
def test_columns_in_the_wider_font_of_users_axes_overlap_neither_one_another_nor_the_next_axes(tight: bool) -> None:
    figure = Figure(figsize=(9, 2.5))
    left, right = figure.subplots(1, 2)
    compared(numbered(4)).plot.ranking(ax=left)
    if tight:
        figure.tight_layout()
    figure.draw_without_rendering()
    assert any(text.get_text() == "group" for text in left.texts)
    assert max(text.get_window_extent().x1 for text in left.texts) < right.get_window_extent().x0
    assert left.get_window_extent().width > 130  # pixels; a little less with old matplotlib
    ax = compared(numbered(3)).plot.forest(ax=Figure(figsize=(6, 3), layout="constrained").subplots())
    drawn(ax)
    (difference, pvalue) = (text.get_window_extent() for text in ax.texts if text.get_text() in ("Δ", "adjusted $p$"))
    assert difference.x1 + 5 < pvalue.x0


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_around_users_axes_is_cut_without_a_layout_engine(kind: str) -> None:
    ax = plotted(compared(numbered(16)), kind, ax=Figure(figsize=(7, 4)).subplots())
    figure = drawn(ax)
    box = figure.get_tightbbox()
    assert min(box.x0, box.y0, 7 - box.x1, 4 - box.y1) >= 0
    if kind == "matrix":  # values are narrower than their cells
        values = [text.get_window_extent().width for text in ax.texts if text.get_text().startswith((".", "<"))]
        assert 0 < max(values) < ax.bbox.width / 16
        figure.set_size_inches(3, 3)
        for _ in range(2):
            drawn(ax)
        assert not any(text.get_visible() for text in ax.texts if text.get_text().startswith((".", "<")))


@pytest.mark.parametrize("kind", KINDS)
def test_a_metric_is_chosen_by_its_name_and_display_names_replace_those_of_the_input(kind: str) -> None:
    values = systems(numbered(3))
    metrics = [SegmentScores("first", values), SegmentScores("second", {s: [-x for x in v] for s, v in values.items()})]
    comparison = with_histograms(compare(metrics=metrics, all_pairs=True, n_resamples=200))
    pair: Any = {"system": "system-2", "baseline": "system-1"} if kind == "null" else {}
    ax = plotted(comparison, kind, metric="SECOND", names={"system-1": "First", "system-2": "Second"}, **pair)
    if kind == "null":
        assert all(part in ax.get_xlabel() for part in ("Δsecond", "First", "Second"))
    else:
        assert names_of(ax) == ["system-3", "Second", "First"][kind == "forest" :]
    assert "system-2" not in " ".join([*names_of(ax), ax.get_xlabel(), *key_of(ax)])
    panels = plotted(comparison, kind, **pair or {"metric": None}).figure.axes
    titles = [panel.get_title(loc="left") or panel.get_xlabel() for panel in panels]
    assert [name in title for name, title in zip(("first", "second"), titles, strict=True)] == [True, True]


def test_a_notebook_displays_axes_as_the_picture() -> None:
    axes: Any = compared(numbered(2)).plot.ranking()
    content, size = axes._repr_png_()
    assert content.startswith(b"\x89PNG")
    assert size["width"] == pytest.approx(144 * axes.figure.get_figwidth())


@pytest.mark.parametrize("kind", ["forest", "matrix"])
def test_a_figure_without_room_for_its_labels_is_refused(kind: str) -> None:
    figure: Any = plotted(compared(numbered(4)), kind, width=0.3).figure
    message = r"a figure of 0.3 × .* inches has no room for its labels: choose a larger width"
    with pytest.raises(InputError, match=message):
        figure.savefig(io.BytesIO())


@pytest.mark.parametrize(("kind", "fmt"), [("ranking", "svg"), ("forest", "pdf"), ("ranking", "png")])
def test_a_long_name_has_room_in_every_format(kind: str, fmt: str) -> None:
    """Texts have other widths in a file than on the canvas, where they are measured."""
    scores = SegmentScores("m", {"a": [1, 2, 3, 4] * 9, "wvgybzvffkqidtovfapvnsqjulm-vi": [2, 3, 4, 4] * 9})
    figure: Any = plotted(compare(metrics=scores, n_resamples=99), kind).figure
    figure.savefig(io.BytesIO(), format=fmt)


def test_too_many_pixels_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is that of matplotlib; newer releases have a higher one, which takes gigabytes to reach."""

    def savefig(*args: Any, **options: Any) -> None:
        raise ValueError("Image size of 909x70000 pixels is too large. It must be less than 2^16 in each direction.")

    figure: Any = compared(numbered(2)).plot.ranking().figure
    monkeypatch.setattr(Figure, "savefig", savefig)
    with pytest.raises(InputError, match=r"Choose PDF or SVG, or a smaller width or height"):
        figure.savefig(io.BytesIO(), format="png")


# Fit for a paper.


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("names", "all_pairs"),
    [
        (numbered(2), True),
        ((*LONG, *numbered(17)), True),  # the most whose values are in the cells of a matrix
        (LONG, False),
        *(
            pytest.param(names, all_pairs, marks=pytest.mark.slow)
            for names in (numbered(4), numbered(16), (*LONG, *numbered(45)))
            for all_pairs in (True, False)
        ),
    ],
    ids=lambda value: str(value if isinstance(value, bool) else len(value)),
)
def test_no_text_is_cut_or_overlaps_another(kind: str, names: tuple[str, ...], all_pairs: bool) -> None:
    if kind == "matrix" and not all_pairs:
        return
    check_texts(plotted(compared(names, all_pairs, adjust="none"), kind))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_100_systems_fit_a_page(kind: str) -> None:
    ax = plotted(compared(numbered(100), adjust="none"), kind)
    width, height = drawn(ax).get_size_inches()
    assert (width <= PAGE, height <= 9.1) == (True, True)
    check_texts(ax, smallest=4.7)  # room for the caption below is worth a quarter of a point
    if kind == "matrix":  # numbers of columns are not over the cells before them
        numbers = [text for text in ax.texts if text.get_text() == "100"]
        left = max(text.get_window_extent(drawn(ax).canvas.get_renderer()).x0 for text in numbers)
        assert left >= ax.transData.transform((99, 0))[0]


def check_texts(ax: Axes, smallest: float = 5.0) -> None:
    """All texts are inside the figure, names and cells in columns are apart, and letters are not too small."""
    figure = drawn(ax)
    renderer = figure.canvas.get_renderer()
    # Ticks beyond the limits of an axis have labels that are not drawn.
    low, high = ax.get_xlim()
    hidden = [
        label for tick, label in zip(ax.get_xticks(), ax.get_xticklabels(), strict=True) if not low <= tick <= high
    ]
    found: list[Any] = figure.findobj(Text)
    texts = [text for text in found if text.get_visible() and text.get_text() and text not in hidden]
    boxes = [text.get_window_extent(renderer) for text in texts]
    outer = figure.bbox
    for text, box in zip(texts, boxes, strict=True):
        inside = box.x0 >= outer.x0 - 1 and box.x1 <= outer.x1 + 1 and box.y0 >= outer.y0 - 1 and box.y1 <= outer.y1 + 1
        assert inside, (text.get_text(), box.bounds, outer.bounds)
        assert text.get_fontsize() >= smallest
    small = [box.padded(-0.09 * box.height) for box in boxes]
    for i, box in enumerate(small):
        for other, text in zip(small[:i], texts[:i], strict=True):
            assert not box.overlaps(other), (texts[i].get_text(), text.get_text())


def test_figures_are_as_wide_as_a_column_or_a_page() -> None:
    for kind in KINDS:
        assert saved_as_pdf(kind)[0].get_size_inches()[0] == pytest.approx(7.7 / 2.54)
    assert drawn(compared(numbered(16)).plot.matrix()).get_size_inches()[0] == pytest.approx(PAGE)
    assert drawn(compared(numbered(4)).plot.ranking(width=5, height=2)).get_size_inches().tolist() == [5, 2]
    assert (round(COLUMN, 2), round(PAGE, 2)) == (3.03, 6.3)


@pytest.mark.parametrize("kind", ["ranking", "forest"])
def test_figures_are_page_wide_where_axes_would_be_narrower_than_3_cm(kind: str) -> None:
    comparison, widths = compared(numbered(9), adjust="none"), set()
    for length in (4, 16, 40):
        names = {system: system[-1] * length for system in comparison.systems}
        ax = plotted(comparison, kind, names=names)
        figure = drawn(ax)
        width = figure.get_size_inches()[0]
        widths.add(round(width, 2))
        axes = ax.get_position().width * width
        # The estimate is by the widths of letters.
        assert axes > 2.8 / 2.54
        if width > COLUMN:
            assert axes - (PAGE - COLUMN) < 3.2 / 2.54
    assert widths == {round(COLUMN, 2), round(PAGE, 2)}


@pytest.mark.parametrize("width", [1.2, COLUMN, PAGE])
@pytest.mark.parametrize("limits", [(-0.0031, 0.0034), (-0.00002, 0.00007), (0.7901, 0.8102), (15, 29), (-1e-7, 3e-6)])
def test_labels_of_ticks_are_apart(limits: tuple[float, float], width: float) -> None:
    class Axis:
        size, font_size = (width, 1.0), 7.5

        def draw(self, ax: Axes) -> None:
            set_limits(ax, limits, [])
            ax.set_yticks([])

    ax = style.axes_of(Axis(), None, None, None)
    figure = drawn(ax)
    low, high = ax.get_xlim()
    places, every = ax.get_xticks(), ax.get_xticklabels()
    shown = [label for place, label in zip(places, every, strict=True) if low <= place <= high]
    boxes = [label.get_window_extent(figure.canvas.get_renderer()) for label in shown]
    assert len(shown) >= 2
    assert all(right.x0 - left.x1 > 0.4 * left.height for left, right in itertools.pairwise(boxes))


def test_digits_are_those_of_scores_and_differences_which_keep_two() -> None:
    comparison = compared(numbered(3), all_pairs=False)
    assert f"{comparison.scores[0].score:.4f}" in texts_of(comparison.plot.ranking(digits=4))
    difference = f"{comparison.comparisons[0].difference:+.0f}".replace("-", "−")
    assert difference in texts_of(comparison.plot.forest(digits=0))
    comparison, small = compared(numbered(4), all_pairs=False), (-0.000021, 0.0, -0.0)
    pairs = [
        replace(pair, test=replace(pair.test, statistic=difference))
        for pair, difference in zip(comparison.comparisons, small, strict=True)
    ]
    for kind in ("forest", "ranking"):
        texts = texts_of(plotted(replace(comparison, comparisons=tuple(pairs)), kind))
        assert texts.count("\N{MINUS SIGN}0.000021") == 1
        assert texts.count("+0.000000") == 2


def test_lines_of_labels_do_not_end_inside_a_term() -> None:
    for width in range(12, 60):
        lines = wrapped("Averaged BLEU from a baseline, 95% CI (→ better)", width).split("\n")
        assert not [line for line in lines if line.endswith(("95%", "→"))]
    draws = compared(("a system with a name of words", "other"))
    renamed = replace(draws, metrics=(replace(draws.metrics[0], name="rating of all people"),))
    scores = tuple(replace(score, metric="rating of all people") for score in draws.scores)
    label = replace(renamed, scores=scores, comparisons=()).plot.densities().get_xlabel()
    assert label.split("\n")[-1] == "filled: 95% CI"


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_names_are_shown_as_they_are(kind: str) -> None:
    metric = r"$\frac{1}{" + "long_metric " * 5 + "\n\0"
    scores = SegmentScores(metric, systems(HOSTILE))
    ax = plotted(with_histograms(compare(metrics=scores, all_pairs=True, n_resamples=500, adjust="none")), kind)
    drawn(ax)
    if kind != "matrix":  # which does not name the metric
        assert r"$\frac{1}{long_" in ax.get_xlabel()
    for label in (label for label in [*ax.get_yticklabels(), ax.xaxis.label] if label.get_text()):
        assert not label.get_parse_math()
        assert not label.get_usetex()
    if kind in ("ranking", "matrix", "densities"):
        assert sorted(map(printable, HOSTILE)) == sorted(name.replace("\n", " ") for name in names_of(ax))
    figure: Any = ax.figure
    for fmt in ("pdf", "svg") if kind == "ranking" else ():
        figure.savefig(io.BytesIO(), format=fmt)


@given(st.text(max_size=80), st.integers(6, 40))
def test_wrapped_names_have_short_lines_and_keep_their_letters(name: str, width: int) -> None:
    lines = wrapped(name, width).split("\n")
    assert len(lines) <= 3
    assert all(columns(line) <= width or len(line) == 1 for line in lines)
    kept = "".join("".join(lines).split())
    whole = "".join(printable(name).split())
    assert whole == kept or (kept.endswith("…") and whole.startswith(kept[:-1]))


def test_missing_letters_give_one_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "_fonts", lambda: style.FONTS)
    names = ("系统", "b")
    with pytest.warns(
        InputWarning, match="no installed font has the characters 系, 统: install a font that has them"
    ) as raised:
        drawn(compared(names).plot.ranking())
    assert len(raised) == 1
    with pytest.warns(InputWarning, match="no installed font") as raised:
        figure_of("ranking", {"one": (compared(names), None), "other": (compared(names), None)})
    assert len(raised) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_fonts_are_embedded_as_truetype(kind: str, tmp_path: Path) -> None:
    content = saved_as_pdf(kind)[1]
    fonts = re.findall(rb"/Subtype /(Type0|Type1|Type3|TrueType|CIDFontType\d)\b", content)
    assert set(fonts) == {b"Type0", b"CIDFontType2"}
    # Every descriptor of a font names the stream with its outlines.
    assert content.count(b"/FontFile2") == content.count(b"/Type /FontDescriptor") == fonts.count(b"CIDFontType2") > 0
    assert b"STIXGeneral" in content
    if shutil.which("pdffonts"):
        path = tmp_path / "figure.pdf"
        path.write_bytes(content)
        listed = subprocess.run(["pdffonts", path], capture_output=True, text=True, check=True).stdout.splitlines()[2:]
        assert listed
        assert all(re.search(r"CID TrueType +Identity-H +yes yes yes", line) for line in listed)


@pytest.mark.parametrize("kinds", [["matrix"], pytest.param([*KINDS], marks=pytest.mark.slow)], ids=["one", "all"])
def test_files_do_not_depend_on_the_process_the_time_or_the_settings_of_the_user(
    tmp_path: Path, kinds: list[str]
) -> None:
    """A matplotlibrc sets what a user may have set: other fonts, sizes, colours and LaTeX."""
    settings = tmp_path / "matplotlibrc"
    settings.write_text(
        "font.family: monospace\nfont.size: 20\ntext.usetex: True\naxes.facecolor: black\npdf.fonttype: 3\n"
        "savefig.dpi: 50\nsavefig.bbox: tight\nsvg.fonttype: none\naxes.unicode_minus: False\n"
    )
    source = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); from plotted import digests; "
    source += f"print(*digests({kinds!r}), 'matplotlib.pyplot' in sys.modules, matplotlib.rcParams['font.size'])"
    source = source.replace("import sys;", "import sys, matplotlib;", 1)
    environment = {**os.environ, "PYTHONHASHSEED": "1", "MATPLOTLIBRC": str(settings), "SOURCE_DATE_EPOCH": "9"}
    command = [sys.executable, "-c", source]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == [*digests(kinds), "False", "20.0"]  # pyplot is not imported


def test_settings_of_matplotlib_are_left_as_they_are() -> None:
    before = dict(matplotlib.rcParams)
    for kind in KINDS:
        figure: Any = plotted(compared(numbered(3)), kind).figure
    content = io.BytesIO()
    figure.savefig(content, format="svg")
    assert b"<text" not in content.getvalue()  # texts are paths
    assert b"<dc:date>" not in content.getvalue()
    assert before == dict(matplotlib.rcParams)
    assert set(STYLE) <= set(before)


def test_shades_are_apart_in_black_and_white() -> None:
    """The lightness L* of CIELAB, in steps of which 5 would be clear, and the contrast of the values on them."""
    from matplotlib.colors import to_rgb

    from reshuffle.report.plots.matrix import SHADES

    def rgb(color: str) -> list[float]:
        return [255 * value for value in to_rgb(color)]

    lightness = [116 * luminance(rgb(shade)) ** (1 / 3) - 16 for shade in SHADES]
    assert all(np.diff(lightness) > 9), lightness
    for i, shade in enumerate(SHADES):
        assert contrast(rgb("white" if i < 2 else INK), rgb(shade)) >= 4.5, shade
