"""The report's charts: small SVG pictures with the colours of the page, for light and dark mode.

Each mark has a tooltip; nothing is shown by colour alone; the numbers are in a table beside each chart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from math import ceil, floor, isnan, log10

from qrowd.evaluation import bounds_of
from qrowd.reports.phrases import interval, number, signed, with_minus_signs
from qrowd.reports.short_names import fitted_names
from qrowd.reports.systems import SystemRow

LETTER, WIDE, NARROW = 7.4, "ABCDEFGHKMNOPQRUVWXYZmw_@%", "fijlrt.,:;-|1I"  # widths of letters, for labels
LONGEST = 30  # letters of a label
TICKS = 6  # about so many


def systems_chart(rows: Sequence[SystemRow], compared_with: str, measure: str, *, width: int = 960) -> str:
    """A dot at each system's mean, and the interval of its difference to the system all are compared with.

    The interval is drawn from the mean of that system, and ends where the measure does. Filled: significantly different
    from it.
    """
    mean = next((row.mean for row in rows if row.system == compared_with), rows[0].mean)
    lowest, highest = bounds_of(measure)
    bars = [
        (max(mean + (row.difference_low or 0), lowest), min(mean + (row.difference_high or 0), highest)) for row in rows
    ]
    ends = [value for row, bar in zip(rows, bars, strict=True) for value in (row.mean, *bar) if not isnan(value)]
    labels = _labels(row.system for row in rows)
    left, height, top = _label_width(labels.values()), 24, 8
    x, ticks = _axis(min(ends), max(ends), left, width - 16)
    bottom = top + height * len(rows)
    parts = _grid(x, ticks, top, bottom, f"mean {measure}")
    parts.append(_line(x(mean), top, x(mean), bottom, "comparison"))
    for i, (row, (low, high)) in enumerate(zip(rows, bars, strict=True)):
        y = top + height * (i + 0.5)
        tip = f"{row.system}: mean {measure} {number(row.mean)}"
        if row.system == compared_with:
            tip += "; the others are compared with it"
            marks = _circle(x(mean), y, 5, "compared")
        else:
            verdict = "significantly different" if row.significant else "not significantly different"
            difference = (
                f"{signed(row.difference or 0, 3)} {interval(row.difference_low or 0, row.difference_high or 0)}"
            )
            tip += f"; {difference} compared with {compared_with}: {verdict}"
            bar = "" if isnan(low) else _line(x(low), y, x(high), y, "bar")
            marks = bar + _circle(x(row.mean), y, 4.5, "dot" if row.significant else "dot open")
        parts.append(_marked(tip, _text(left - 10, y, labels[row.system], "end") + marks))
    return _svg(width, bottom + 40, f"Systems by mean {measure}, with intervals", parts)


# ---------------------------------------------------------------------- pieces


def _svg(width: float, height: float, name: str, parts: Iterable[str]) -> str:
    return (
        f'<svg role="img" aria-label="{escape(name)}; the numbers are in the table" viewBox="0 0 {width:.0f} '
        f'{height:.0f}" style="max-width:{1.15 * width:.0f}px">{"".join(parts)}</svg>'
    )


def _axis(low: float, high: float, start: float, end: float) -> tuple[Callable[[float], float], list[float]]:
    """Where a value stands between two places, and round values along the way."""
    if high - low < 1e-9:
        low, high = low - 0.05, high + 0.05
    margin = 0.04 * (high - low)
    low, high = low - margin, high + margin
    raw = (high - low) / TICKS
    power = 10 ** floor(log10(raw))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw)
    ticks = [round(k * step, 10) for k in range(ceil(low / step), floor(high / step) + 1)]
    return lambda value: start + (end - start) * (value - low) / (high - low), ticks


def _grid(x: Callable[[float], float], ticks: Sequence[float], top: float, bottom: float, name: str) -> list[str]:
    parts = [
        _line(x(at), top, x(at), bottom, "grid")
        + _text(x(at), bottom + 13, with_minus_signs(f"{at:g}"), "middle", "tick")
        for at in ticks
    ]
    middle = (x(ticks[0]) + x(ticks[-1])) / 2
    return [*parts, _text(middle, bottom + 31, name, "middle", "tick")]


def _marked(tip: str, marks: str) -> str:
    return f'<g class="mark"><title>{escape(with_minus_signs(tip))}</title>{marks}</g>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def _circle(x: float, y: float, r: float, kind: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:g}" class="{kind}"/>'


def _text(x: float, y: float, text: str, anchor: str, kind: str = "label") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" dy=".35em" text-anchor="{anchor}" class="{kind}">{escape(text)}</text>'


def _labels(names: Iterable[str]) -> dict[str, str]:
    """{name: label} of names in a chart: short, and different where the names are."""
    distinct = list(dict.fromkeys(names))
    return dict(zip(distinct, fitted_names(distinct, LONGEST), strict=True))


def _label_width(labels: Iterable[str]) -> float:
    def width(label: str) -> float:
        return sum(1.2 * LETTER if c in WIDE else 0.75 * LETTER if c in NARROW else LETTER for c in label)

    return max(60.0, 26 + max(map(width, labels)))  # 16 to the marks, and some to spare: fonts differ
