"""The colours of the HTML report for readers who see fewer of them, and its names for screen readers."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from browser import Browser
from reshuffle import SegmentScores, compare, gate
from reshuffle.data.demo import demo_corpus
from reshuffle.report.page import HERE

# From linear RGB to linear RGB, for dichromats: Machado, Oliveira and Fernandes 2009, doi:10.1109/TVCG.2009.113.
SIGHT = {
    "all colours": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def palette(theme: int) -> dict[str, str]:
    """The colours of the light (0) or dark (1) theme, by name."""
    found = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", (HERE / "page.css").read_text("utf-8"))
    return {name: colours[theme] for name, *colours in found}


def lab(colour: str, sight: str) -> Any:
    """The coordinates of CIELAB that somebody perceives."""
    values = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(SIGHT[sight] @ linear, 0, 1) / TO_XYZ.sum(axis=1)
    x, y, z = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def distance(one: str, other: str, sight: str) -> float:
    return float(np.linalg.norm(lab(one, sight) - lab(other, sight)))


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("sight", SIGHT)
def test_neighbouring_colours_are_told_apart(sight: str, theme: int) -> None:
    colours = palette(theme)
    classes = [colours[f"p{i}"] for i in range(5)]
    # The lightness of the classes of p-values runs in one direction, as in black and white.
    lightness = [lab(colour, sight)[0] for colour in classes]
    assert lightness == sorted(lightness, reverse=theme == 1)
    steps = [distance(a, b, sight) for a, b in pairwise(classes)]
    assert min(steps) > 8
    assert distance(classes[2], classes[3], sight) > 15  # significant, and not
    assert distance(colours["better"], colours["worse"], sight) > 40
    for name in ("better", "worse", "accent"):
        assert distance(colours[name], colours["surface"], sight) > 30
        assert distance(colours[name], colours["text"], sight) > 20


# --- Screen readers


def tree(browser: Browser) -> list[tuple[str, str]]:
    """The role and the name of everything that a screen reader meets, in its order."""
    nodes = browser.cdp("Accessibility.getFullAXTree", {})["nodes"]
    by_id = {node["nodeId"]: node for node in nodes}
    found = []

    def visit(node: Any) -> None:
        if not node["ignored"]:
            found.append((node["role"]["value"], node.get("name", {}).get("value", "")))
        for child in node.get("childIds", []):
            if child in by_id:
                visit(by_id[child])

    visit(nodes[0])
    return found


@pytest.mark.parametrize("width", [1400, 390])
def test_the_accessibility_tree_has_names_in_reading_order(browser: Browser, width: int) -> None:
    corpus = demo_corpus()
    texts = corpus.references, corpus.systems
    ids = [f"talk {i // 40}" for i in range(400)]
    result = compare(*texts, ["bleu", "ter"], all_pairs=True, n_resamples=99, include="texts", documents=ids)
    browser.resize(width)
    browser.open(result.render("html"))
    # Sections out of sight are not laid out, and not in the tree.
    for section in browser.all("main section"):
        browser.run("arguments[0].scrollIntoView()", section)
    browser.wait("return document.querySelector('#ngrams table') !== null")
    nodes = tree(browser)
    controls = "button combobox searchbox checkbox tab listbox option application image table grid region".split()
    assert [node for node in nodes if node[0] in controls and not node[1].strip()] == []
    headings = [name for role, name in nodes if role == "heading"]
    first = ["4 systems under BLEU and TER", "Results", "BLEU", "Ranking", "Differences", "p-values"]
    rest = ["Bootstrap distributions", "Pairs", "Metrics", "Selected pair"]
    rest += "Parts Lengths Documents Words Segments Methods".split()
    for expected in (first, rest):
        assert [name for name in headings if name in expected] == expected
    # The name of each button that copies says what it copies.
    copies = [name for role, name in nodes if role == "button" and name.startswith("Copy")]
    assert len(copies) == len(set(copies)) > 12
    roles = [role for role, _ in nodes]
    assert roles.index("banner") < roles.index("main") < roles.index("contentinfo")


def test_figures_of_studies_follow_the_theme(browser: Browser) -> None:
    scores = SegmentScores("points", {"base": [0.0] * 40, "new": [0.1, -0.1] * 20})
    browser.open(gate(metrics=scores, margin={"points": 1}).render("html"))
    filters = []
    for theme in ("light", "dark"):
        browser.run("document.documentElement.dataset.theme = arguments[0]", theme)
        filters.append(browser.run("return getComputedStyle(document.querySelector('.drawings img')).filter"))
    assert filters == ["none", "invert(0.89) hue-rotate(180deg)"]
