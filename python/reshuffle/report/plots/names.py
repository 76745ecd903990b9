"""Names beside points, which cover neither one another nor other points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.text import Text
from numpy.typing import NDArray

from .labels import PLAIN
from .look import MUTED

# In points: the radius of points, and how far names are from them. Names farther than LINED have a line to theirs.
RADIUS, LINED = 2.4, 4.0
DISTANCES = (1.0, 3.0, 6.0, 10.0, 15.0, 21.0, 28.0, 36.0)
# Names are to the right, to the left, above or below, or in other directions, and move so many times.
DIRECTIONS = np.pi / 8 * np.array([0, 8, 4, 12, 2, 6, 14, 10, 1, 7, 15, 9, 3, 5, 13, 11])
SWEEPS = 5
# The space around names, in both directions, and where lines are measured: shares of their lengths.
SPACE = np.array([3.0, 0.5])
ALONG = np.linspace(0.1, 0.95, 8)


class Names(Artist):
    """Texts that find their places when the axes are drawn, since axes have their size only then."""

    def __init__(self, ax: Axes, points: NDArray[np.float64], names: Sequence[str], size: float) -> None:
        super().__init__()
        self.set_zorder(0)  # drawn before the texts
        self.points = points
        line = {"arrowstyle": "-", "linewidth": 0.4, "color": MUTED, "shrinkA": 0, "shrinkB": RADIUS}
        self.texts: list[Any] = [
            ax.annotate(
                name, (x, y), (0, 0), "data", "offset points", ha="center", va="center_baseline", fontsize=size,
                arrowprops=line, in_layout=False, annotation_clip=False, **PLAIN,
            )
            for name, (x, y) in zip(names, points.tolist(), strict=True)
        ]  # fmt: skip
        ax.add_artist(self).set_in_layout(False)

    def draw(self, renderer: Any) -> None:
        """Move the texts to their places."""
        ax: Any = self.axes
        dots = ax.figure.dpi / 72
        boxes = [Text.get_window_extent(text, renderer) for text in self.texts]
        sizes = np.array([(box.width, box.height) for box in boxes]) / dots
        points = ax.transAxes.inverted().transform(ax.transData.transform(self.points)) * ax.bbox.size / dots
        found, distances, _ = places(points, sizes, ax.bbox.size / dots)
        for text, place, distance in zip(self.texts, found.tolist(), distances.tolist(), strict=True):
            text.xyann = place
            text.arrow_patch.set_visible(distance > LINED)


def places(
    points: NDArray[np.float64], sizes: NDArray[np.float64], room: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], bool]:
    """Where the middles of names are, relative to their points, how far names are away, and whether all have room.

    In points: ``points`` from the lower left corner of axes of the size ``room``, and the widths and heights of names.

    >>> sizes, room = np.full((2, 2), 6.0), np.full(2, 100.0)
    >>> places(np.array([[50.0, 50], [54, 50]]), sizes, room)[0].tolist()
    [[-7.9, 0.0], [7.9, 0.0]]
    """
    n, sizes = len(points), sizes + SPACE
    far = np.repeat(RADIUS + np.array(DISTANCES), len(DIRECTIONS))
    way = np.tile(np.column_stack([np.cos(DIRECTIONS), np.sin(DIRECTIONS)]).round(9), (len(DISTANCES), 1))
    has_line = far > RADIUS + LINED
    dots = np.hstack([points - RADIUS, points + RADIUS])
    # Boxes of names, and of points along their lines: none yet.
    names, lines = np.full((n, 4), np.inf), np.full((n, len(ALONG), 4), np.inf)
    found, chosen, costs = np.zeros((n, 2)), np.full(n, -1), np.zeros(n)
    crowded = np.argsort(
        [np.sort(np.hypot(*(points - point).T))[: n // 3 + 1].sum() for point in points], kind="stable"
    )
    for _ in range(SWEEPS):
        before = chosen.copy()
        for at in crowded:
            offsets = way * far[:, None] + sizes[at] / 2 * np.clip(1.5 * way, -1, 1)
            boxes = np.hstack([points[at] + offsets - sizes[at] / 2, points[at] + offsets + sizes[at] / 2])
            spots = points[at] + way[:, None] * far[:, None, None] * ALONG[:, None]
            spots = np.concatenate([spots - 0.3, spots + 0.3], axis=2)
            others = np.concatenate([np.delete(each, at, 0).reshape(-1, 4) for each in (dots, names, lines)])
            covered = shared(boxes, others)
            outside = sizes[at].prod() - shared(boxes, np.array([[0.0, 0.0, *room]]))
            cost = 50 * (covered > 0) + 10 * covered + 50 * outside + far
            if has_line[np.argmin(cost)]:  # otherwise lines do not matter
                crossed = shared(spots.reshape(-1, 4), others).reshape(len(far), -1).sum(axis=1)
                cost += 100 * crossed * has_line
            best = int(np.argmin(cost))
            names[at], found[at], chosen[at] = boxes[best], offsets[best], best
            costs[at] = covered[best] + outside[best]
            lines[at] = spots[best] if has_line[best] else np.inf
        if (chosen == before).all():
            break
    return found, far[chosen] - RADIUS, bool((costs < 1e-6).all())


def shared(boxes: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """The area that each box (left, low, right, high) shares with the others."""
    ends = np.minimum(boxes[:, None, 2:], others[None, :, 2:]) - np.maximum(boxes[:, None, :2], others[None, :, :2])
    areas: NDArray[np.float64] = np.clip(ends, 0, None).prod(axis=2).sum(axis=1)
    return areas
