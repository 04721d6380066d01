"""One look for all pictures, and how a picture becomes a file.

Colours are those of Okabe & Ito (2008), which can be distinguished with any kind of colour vision; no plot relies on
colour alone. The same data gives the same bytes.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any

from qrowd.errors import ArgumentError, QrowdError

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
