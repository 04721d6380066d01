"""One look for all pictures, what they are made of, and how a picture becomes a file.

Colours are those of Okabe & Ito (2008), which can be distinguished with any kind of colour vision; no plot relies on
colour alone. The same data gives the same bytes.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from qrowd.errors import ArgumentError, QrowdError
from qrowd.kernels.arrays import Bools, Floats, Ints
from qrowd.reports.short_names import fitted_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from pandas import DataFrame

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
LINES = ("-", "--", "-.", ":")
GREY = "#767676"
WIDTH, HEIGHT = 5.2, 3.4  # inches: a column and a half of most journals
FORMATS = ("svg", "pdf", "png")

RULES: dict[str, Any] = {
    "figure.figsize": (WIDTH, HEIGHT),
    "figure.constrained_layout.use": True,
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "font.family": "DejaVu Sans",  # comes with Matplotlib, so that pictures are alike everywhere
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E5E5E5",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "svg.hashsalt": "qrowd",
    "svg.fonttype": "none",  # text stays text
    "pdf.fonttype": 42,
}

SMALL = 7.0  # points, of names and of numbers in cells
ROW = 0.155  # inches that a row of a list takes
PLACES = (("left", 4, 0), ("right", -4, 0), ("center", 0, 7), ("center", 0, -7))  # of a name beside its dot, in points
LONGEST = 44  # letters of a name
LETTER = 0.075  # inches
MARGIN = 0.3  # inches beside the axes and their names
CELL = (0.30, 0.185)  # inches, width and height of a cell with a number


@dataclass(frozen=True, eq=False)
class Figure:
    """A plot with its caption and its data.

    name : as in `qrowd plot NAME`. caption : what is drawn, in one or two sentences. draw : draws onto axes.
    frame : the data, one row per mark. panels : rows and columns of axes, all of which `draw` is given.
    """

    name: str
    caption: str
    draw: Callable[[Any], object]
    frame: Callable[[], DataFrame]
    panels: tuple[int, int] = (1, 1)
    size: tuple[float, float] | None = None

    def _repr_html_(self) -> str:
        """The picture with its caption, for notebooks."""
        picture = b64encode(render(self, "svg")).decode()
        style = "max-width: 100%; background: white; padding: .5em"
        image = f'<img alt="{escape(self.caption)}" style="{style}" src="data:image/svg+xml;base64,{picture}">'
        return f"<figure>{image}<figcaption>{escape(self.caption)}</figcaption></figure>"


@contextmanager
def styled() -> Iterator[None]:
    """Pictures made within look alike; Matplotlib's own settings come back afterwards.

    Raises
    ------
    QrowdError
        Matplotlib is not installed.
    """
    try:
        import matplotlib.rcsetup
    except ImportError:
        raise QrowdError("pictures need Matplotlib; pip install 'qrowd[plots]'") from None
    rules: Any = {**RULES, "axes.prop_cycle": matplotlib.rcsetup.cycler(color=PALETTE)}
    with matplotlib.rc_context(rules):
        yield


def axes_or_new(ax: Axes | None) -> Axes:
    """The axes given, or those of a new figure in our style."""
    if ax is not None:
        return ax
    with styled():
        from matplotlib.figure import Figure as Canvas

        return Canvas().subplots()


def render(figure: Figure, format: str) -> bytes:
    """A picture as a file.

    format : svg, pdf or png.

    Raises
    ------
    ArgumentError
        Any other format.
    """
    if format not in FORMATS:
        raise ArgumentError(f"a plot is written as {', '.join(FORMATS)}", "format", format)
    with styled():
        canvas = drawn(figure)
        out = BytesIO()
        # No date and no version in the file: the same data gives the same bytes.
        about: Any = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
        canvas.savefig(out, format=format, metadata=about[format])
        return out.getvalue()


def drawn(figure: Figure) -> Canvas:
    """The plot on a canvas of Matplotlib's, as large as it needs to be."""
    with styled():
        from matplotlib.figure import Figure as Canvas

        rows, columns = figure.panels
        size = figure.size or (WIDTH * min(columns, 2), HEIGHT * (1 if rows == 1 else 0.7 * rows))
        canvas = Canvas(figsize=size)
        figure.draw(canvas.subplots(rows, columns))
        return canvas


# ---------------------------------------------------------------------- what several pictures are made of


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
    beside = name_width(rows) + 0.35
    below = name_width(columns) + 0.5
    return beside + max(cell[0] * len(columns), 2.5), max(below + cell[1] * len(rows), 1.6)


def name_rows(ax: Axes, names: Sequence[str]) -> Ints:
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
    bold: Bools | None = None,
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


def name_points(ax: Axes, x: Floats, y: Floats, names: Sequence[str], most: int = 30) -> None:
    """Names beside dots, where there is room for them; the dots furthest from the middle are named first.

    A name that would cover a dot or another name on every side is left out, and so is an empty one.
    """
    from matplotlib.transforms import Bbox

    defined = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))
    if not defined.size:
        return
    picture: Any = ax.get_figure(root=True)
    picture.draw_without_rendering()  # places the axes
    points = ax.transData.transform(np.column_stack([x[defined], y[defined]]))
    radius = 3 * picture.dpi / 72
    taken = [Bbox([point - radius, point + radius]) for point in points]
    spread = np.where(points.std(axis=0) > 0, points.std(axis=0), 1.0)
    distance = (((points - points.mean(axis=0)) / spread) ** 2).sum(axis=1)
    labels = labels_of(names)
    order = [i for i in np.argsort(-distance, kind="stable").tolist() if names[defined[i]]]
    area = ax.get_window_extent()
    for i in order[:most]:
        place = int(defined[i])
        others = [box for box in taken if box is not taken[i]]
        for side, right, up in PLACES:
            text: Any = ax.annotate(
                labels[place],
                (x[place], y[place]),
                (right, up),
                textcoords="offset points",
                ha=side,
                va="center",
                fontsize=SMALL,
                color="#333333",
            )
            box = text.get_window_extent()
            inside = area.contains(box.x0, box.y0) and area.contains(box.x1, box.y1)
            if inside and not box.count_overlaps(others):
                taken.append(box)
                break
            text.remove()


def note(ax: Axes, text: str, corner: str = "lower right") -> None:
    """A line of small print in a corner that holds no dots."""
    vertical, horizontal = corner.split()
    place = {"lower": 0.03, "upper": 0.97, "left": 0.02, "right": 0.98}
    side: Any = {"ha": horizontal, "va": "bottom" if vertical == "lower" else "top"}
    ax.annotate(
        text, (place[horizontal], place[vertical]), xycoords="axes fraction", fontsize=SMALL + 0.5, color=GREY, **side
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
