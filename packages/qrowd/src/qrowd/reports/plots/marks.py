"""What several pictures are made of: rows with names, tables of cells, names beside dots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from qrowd.kernels.arrays import Floats
from qrowd.reports.plots.style import GREY, WIDTH
from qrowd.reports.short_names import fitted_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SMALL = 7.0  # points, of names and of numbers in cells
ROW = 0.155  # inches that a row of a list takes
PLACES = (  # of a name beside its dot, in points; the further ones get a line
    ("left", 4, 0),
    ("right", -4, 0),
    ("center", 0, 7),
    ("center", 0, -7),
    ("left", 4, 6),
    ("left", 4, -6),
    ("right", -4, 6),
    ("right", -4, -6),
    *(
        (side, sign * dx, dy)
        for dx, dy in ((12, 10), (12, -10), (12, 18), (12, -18), (20, 0), (26, 10), (26, -10))
        for side, sign in (("left", 1), ("right", -1))
    ),
)
LONGEST = 44  # letters of a name
LETTER = 0.075  # inches
MARGIN = 0.3  # inches beside the axes and their names
CELL = (0.30, 0.185)  # inches, width and height of a cell with a number


def labels_of(names: Sequence[str]) -> tuple[str, ...]:
    """The names as they are drawn: long ones are shortened and stay different."""
    return fitted_names(names, LONGEST)


def name_width(names: Sequence[str]) -> float:
    """Inches that the longest name takes, about."""
    return LETTER * max(map(len, labels_of(names)), default=0)


def list_size(names: Sequence[str]) -> tuple[float, float]:
    """Inches of a picture that is a list; longer names than usual make it wider."""
    return max(WIDTH, name_width(names) + 3.6), 0.75 + ROW * max(len(names), 4)


def table_size(rows: Sequence[str], columns: Sequence[str], cell: tuple[float, float] = CELL) -> tuple[float, float]:
    """Inches of a picture that is a table of cells; the names of columns stand on end, a line of text fits below."""
    beside, below = name_width(rows) + 0.35, name_width(columns) + 0.5
    return beside + max(cell[0] * len(columns), 2.5), max(below + cell[1] * len(rows), 1.6)


def name_rows(ax: Axes, names: Sequence[str]) -> NDArray[np.int64]:
    """(rows,) heights of the rows, the first one on top; only the grid across them is left."""
    y = np.arange(len(names))
    ax.set_yticks(y, labels_of(names), fontsize=SMALL)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.grid(False, axis="y")
    ax.spines["left"].set_visible(False)
    return y


def cells(
    ax: Axes,
    values: Floats,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    limits: tuple[float, float],
    shown: Callable[[int, int], str],
    label: str,
    colours: str = "Blues",
    bold: NDArray[np.bool_] | None = None,
) -> None:
    """A table of (rows, columns) numbers, each in its cell on a colour; grey and empty where there is none (nan).

    limits : the numbers at the ends of the colours. shown : the text of a cell. label : what the numbers are.
    """
    from matplotlib import colormaps

    colour = colormaps[colours].with_extremes(bad="#EEEEEE")
    masked = np.ma.masked_invalid(values)
    image = ax.pcolormesh(masked, cmap=colour, vmin=limits[0], vmax=limits[1], edgecolors="white", linewidth=0.6)
    size = SMALL if max(map(len, (shown(i, j) for i, j in np.ndindex(values.shape))), default=0) < 5 else SMALL - 1
    for i, j in np.ndindex(values.shape):
        if not np.isnan(values[i, j]):
            red, green, blue, _ = image.cmap(image.norm(values[i, j]))
            dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.55
            weight = "bold" if bold is not None and bold[i, j] else "normal"
            ax.text(
                j + 0.5,
                i + 0.5,
                shown(i, j),
                ha="center",
                va="center",
                fontsize=size,
                weight=weight,
                color="white" if dark else "black",
            )
    ax.set_xticks(np.arange(len(columns)) + 0.5, labels_of(columns), rotation=90, fontsize=SMALL)
    ax.set_yticks(np.arange(len(rows)) + 0.5, labels_of(rows), fontsize=SMALL)
    ax.set_xlim(0, len(columns))
    ax.set_ylim(len(rows), 0)
    ax.set_xlabel(label, fontsize=SMALL + 1)
    ax.tick_params(length=0)
    ax.grid(False)
    for spine in ax.spines.values():
        spine.set_visible(False)


def name_points(
    ax: Axes,
    x: Floats,
    y: Floats,
    names: Sequence[str],
    most: int = 30,
    errors: tuple[Floats, Floats] | None = None,
) -> None:
    """Names beside dots, where there is room for them; the dots furthest from the middle are named first.

    errors : what lines reach from each dot to the sides, and up and down.
    A name that would cover a line, a dot or another name on every side is left out, and so is an empty one.
    """
    defined = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))
    if not defined.size:
        return
    picture: Any = ax.get_figure(root=True)
    picture.draw_without_rendering()  # places the axes
    points = ax.transData.transform(np.column_stack([x[defined], y[defined]])) * 72 / picture.dpi
    box = ax.get_window_extent()
    left, right = box.x0 * 72 / picture.dpi, box.x1 * 72 / picture.dpi
    low, high = box.y0 * 72 / picture.dpi, box.y1 * 72 / picture.dpi
    spread = np.where(points.std(axis=0) > 0, points.std(axis=0), 1.0)
    has_name = np.array([1.0 if names[i] else 0.0 for i in defined.tolist()])
    texts = dict(zip(names, labels_of(names), strict=True))
    order = np.argsort(-has_name * (((points - points.mean(axis=0)) / spread) ** 2).sum(axis=1), kind="stable")
    areas: list[tuple[float, float, float, float]] = [(px - 3, py - 3, px + 3, py + 3) for px, py in points.tolist()]
    if errors is not None:
        across, along = (np.nan_to_num(reach[defined]) for reach in errors)
        ends = ax.transData.transform(np.column_stack([x[defined] + across, y[defined] + along])) * 72 / picture.dpi
        for (px, py), (dx, dy) in zip(points.tolist(), (ends - points).tolist(), strict=True):
            areas += [(px - dx, py - 0.8, px + dx, py + 0.8), (px - 0.8, py - dy, px + 0.8, py + dy)]
    for i in order[:most].tolist():
        px, py = points[i].tolist()
        name = texts[names[int(defined[i])]]
        if not name:
            continue
        width, height = 0.59 * SMALL * len(name) + 1, SMALL
        for side, dx, dy in PLACES:
            start = px + dx - {"left": 0.0, "right": width, "center": width / 2}[side]
            area = (start, py + dy - height / 2, start + width, py + dy + height / 2)
            inside = area[0] > left and area[2] < right + 4 and area[1] > low and area[3] < high + 6
            far = max(abs(dx), abs(dy)) > 8
            way = [(px + dx * part, py + dy * part) * 2 for part in (0.4, 0.7, 0.95)] if far else []
            others = [other for other in areas if other is not areas[i]]
            if inside and not any(_overlap(one, other) for one in (area, *way) for other in others):
                end = {"left": (0, 0.5), "right": (1, 0.5), "center": (0.5, 0.5)}[side]
                leader = (
                    {"arrowstyle": "-", "color": GREY, "linewidth": 0.5, "relpos": end, "shrinkA": 0} if far else None
                )
                ax.annotate(
                    name,
                    (x[defined[i]], y[defined[i]]),
                    (dx, dy),
                    textcoords="offset points",
                    ha=side,
                    va="center",
                    fontsize=SMALL,
                    color="#333333",
                    arrowprops=leader,
                )
                areas.append(area)
                break


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def note(ax: Axes, text: str, corner: str = "lower right") -> None:
    """A line of small print in a corner that holds no dots."""
    vertical, horizontal = corner.split()
    place: Any = {"lower": 0.03, "upper": 0.97, "left": 0.02, "right": 0.98}
    ax.text(
        place[horizontal],
        place[vertical],
        text,
        transform=ax.transAxes,
        ha=horizontal,
        fontsize=SMALL + 0.5,
        va="bottom" if vertical == "lower" else "top",
        color=GREY,
    )


def above(ax: Axes, columns: int = 3) -> None:
    """The legend over the picture, where it covers nothing; in fewer columns where it would leave the picture."""
    picture: Any = ax.get_figure(root=True)
    beside = max((label.get_window_extent().width for label in ax.get_yticklabels()), default=0.0)
    room = picture.bbox.width - beside - MARGIN * picture.dpi
    for n in range(columns, 0, -1):
        legend = ax.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1),
            ncols=n,
            fontsize=SMALL + 0.5,
            borderaxespad=0.2,
            handletextpad=0.5,
            columnspacing=1.2,
        )
        if legend.get_window_extent().width <= room:
            return
