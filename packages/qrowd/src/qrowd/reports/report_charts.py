"""The report's charts: small SVG pictures with the colours of the page, for light and dark mode.

Each mark has a tooltip; nothing is shown by colour alone; the numbers are in a table beside each chart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from itertools import pairwise
from math import ceil, floor, isnan, log10

from qrowd.evaluation import bounds_of
from qrowd.reports.phrases import chance, interval, number, probability, signed, with_minus_signs
from qrowd.reports.report_assessors import AssessorRow, Topics
from qrowd.reports.report_methods import Methods
from qrowd.reports.report_systems import PairRow
from qrowd.reports.short_names import fitted_names
from qrowd.reports.systems import SystemRow

WIDTH = 720
LETTER, WIDE, NARROW = 7.4, "ABCDEFGHKMNOPQRUVWXYZmw_@%", "fijlrt.,:;-|1I"  # widths of letters, for labels
LONGEST = 30  # letters of a label
SHOWN = 12  # lines of a bump chart


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


def pairs_chart(pairs: Sequence[PairRow]) -> str:
    """A triangle of the probability that another panel sees the row's system ahead; framed: significant."""
    names = list(dict.fromkeys([name for pair in pairs for name in (pair.first, pair.second)]))
    labels = _labels(names)
    left, cell, top = _label_width(f"{label} 10" for label in labels.values()), 50, 26
    height = 30
    parts = [_text(left + cell * (k + 0.5), 12, str(k + 1), "middle", "soft") for k in range(1, len(names))]
    for i, name in enumerate(names):
        parts.append(_text(left - 10, top + height * (i + 0.5), f"{labels[name]} {i + 1}", "end"))
    for pair in pairs:
        i, k = names.index(pair.first), names.index(pair.second)
        p = pair.another_panel
        step = "none" if isnan(p) else f"s{min(max(floor((p - 0.5) * 10), 0), 4)}"
        x, y = left + cell * k, top + height * i
        tip = (
            f"{pair.first} ahead of {pair.second} by {signed(pair.difference, 3)} {interval(pair.low, pair.high)}, "
            f"p = {probability(pair.p)}; {pair.ahead_for} of {pair.n_ranking} assessors agree; another panel would "
            f"agree with probability {number(p, 2)}"
        )
        box = (
            f'<rect x="{x + 1:.1f}" y="{y + 1:.1f}" width="{cell - 2}" height="{height - 2}" rx="3" '
            f'class="cell {step}{" significant" if pair.significant else ""}"/>'
        )
        text = "–" if isnan(p) else chance(p)
        parts.append(_marked(tip, box + _text(x + cell / 2, y + height / 2, text, "middle", "num")))
    width = left + cell * len(names) + 10
    return _svg(
        width,
        top + height * len(names) + 6,
        "Probability that another panel agrees, for each pair of leading systems",
        parts,
    )


def assessors_chart(rows: Sequence[AssessorRow]) -> str:
    """Agreement, ranking, severity and weight of each assessor, side by side."""
    panels: list[tuple[str, Callable[[AssessorRow], float], float | None, str]] = [
        ("agreement", lambda row: row.agreement, 0.0, ""),
        ("ranking (tau-b)", lambda row: row.tau_b, None, ""),
        ("severity", lambda row: row.severity, 0.0, ""),
        ("AWARE weight", lambda row: row.accuracy, 0.0, " %"),
    ]
    columns = [panel for panel in panels if any(not isnan(panel[1](row)) for row in rows)]
    if not columns:
        return ""
    labels = _labels(row.assessor for row in rows)
    left, height, top = _label_width(labels.values()), 22, 26
    gap = 26
    each = (960 - left - gap * len(columns)) / len(columns)
    bottom = top + height * len(rows)
    parts = [_text(left - 10, top + height * (i + 0.5), labels[row.assessor], "end") for i, row in enumerate(rows)]
    for p, (title, value, zero, unit) in enumerate(columns):
        times = 100 if unit else 1
        start = left + p * (each + gap)
        values = [times * value(row) for row in rows if not isnan(value(row))]
        x, ticks = _axis(*_span(values, zero), start, start + each, n=4)
        parts.append(_text(start, 10, title, "start", "head"))
        parts += _grid(x, ticks, top, bottom, "", unit)
        if zero is not None:
            parts.append(_line(x(zero), top, x(zero), bottom, "zero"))
        for i, row in enumerate(rows):
            v = times * value(row)
            y = top + height * (i + 0.5)
            if isnan(v):
                continue
            tip = f"{row.assessor}: {title} {number(v, 1 if unit else 3)}{unit}"
            stem = _line(x(zero), y, x(v), y, "stem") if zero is not None else ""
            parts.append(_marked(tip, stem + _circle(x(v), y, 4, "dot open" if row.outlying else "dot")))
    return _svg(960, bottom + 24, "Assessors: agreement, ranking, severity and weight", parts)


def topics_chart(topics: Topics, *, named: int = 5) -> str:
    """Ease of every topic against the agreement of its assessors; the ones with the lowest agreement are named."""
    rows = [row for row in topics.rows if not isnan(row.alpha) and not isnan(row.ease)]
    if not rows:
        return ""
    x, across = _axis(*_span([row.alpha for row in rows], 0.0), 60, WIDTH - 24)
    y, up = _axis(*_span([row.ease for row in rows], None), 340, 14)
    parts = _grid(x, across, 14, 340, "agreement of assessors on the topic (alpha)")
    for at in up:
        parts.append(_line(60, y(at), WIDTH - 24, y(at), "grid") + _text(52, y(at), f"{at:g}", "end", "tick"))
    parts.append('<text class="tick" text-anchor="middle" transform="translate(14 177) rotate(-90)">mean score</text>')
    least = {row.topic for row in sorted(rows, key=lambda row: row.alpha)[:named]}
    labels = _labels(row.topic for row in rows)
    places: list[tuple[float, float]] = []  # of names
    for row in rows:
        tip = (
            f"topic {row.topic}: alpha {number(row.alpha, 3)}, mean score {number(row.ease, 3)}, "
            f"{row.n_documents} documents"
        )
        mark = _circle(x(row.alpha), y(row.ease), 4.5, "dot open" if row.topic in least else "dot faint")
        if row.topic in least:
            here = (x(row.alpha), y(row.ease))
            if any(abs(here[0] - a) < 90 and abs(here[1] - b) < 13 for a, b in places):
                parts.append(_marked(tip, mark))
                continue
            places.append(here)
            far = here[0] > WIDTH - 150
            mark += _text(x(row.alpha) + (-8 if far else 8), y(row.ease), labels[row.topic], "end" if far else "start")
        parts.append(_marked(tip, mark))
    return _svg(WIDTH, 380, "Topics: mean score against agreement of assessors", parts)


def methods_chart(methods: Methods, *, shown: int = SHOWN) -> str:
    """Lines from method to method: the ranks of the systems that any of them has among its first few."""
    rankings = methods.rankings
    place = [s for s in range(len(methods.systems)) if any(0 < r.ranks[s] <= shown for r in rankings)]
    orders = [sorted(place, key=lambda s: (r.ranks[s] or len(methods.systems) + 1, s)) for r in rankings]
    limit = shown + 1  # lower ranks are drawn on one line
    labels = _labels(methods.systems[s] for s in place)
    left, top, height = _label_width(labels.values()), 46, 24
    right = left
    heads = [1.15 * LETTER * len(ranking.name) for ranking in rankings]
    apart = max([12 + (a + b) / 2 for a, b in pairwise(heads)], default=0.0)
    step = max((960 - left - right) / max(len(rankings) - 1, 1), apart)
    shown_rows = [order[:shown] for order in orders]

    def at(column: int, s: int) -> float:
        row = shown_rows[column].index(s) if s in shown_rows[column] else limit - 0.3
        return top + height * (row + 0.5)

    parts = []
    for c, ranking in enumerate(rankings):
        x = left + step * c
        parts.append(_text(x, 12, ranking.name, "middle", "head"))
        parts.append(_text(x, 28, "" if c == 0 else f"tau-b {number(ranking.tau_b, 2)}", "middle", "tick"))
    for s in place:
        name = methods.systems[s]
        first = s == place[0]
        points = [(left + step * c, at(c, s)) for c in range(len(rankings))]
        moves = len({r.ranks[s] for r in rankings}) > 1
        tip = f"{name}: " + ", ".join(f"{r.name} {r.ranks[s] or 'no rank'}" for r in rankings)
        path = " ".join(f"{'M' if i == 0 else 'L'}{x:.1f} {y:.1f}" for i, (x, y) in enumerate(points))
        kind = "first" if first else "moves" if moves else "stays"
        marks = f'<path d="{path}" class="bump {kind}"/>'
        for c, (x, y) in enumerate(points):
            if s in shown_rows[c]:
                marks += f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" class="badge {kind}"/>'
                marks += _text(x, y, str(rankings[c].ranks[s]), "middle", f"rank {kind}")
        if s in shown_rows[0]:
            marks += _text(left - 16, points[0][1], labels[name], "end")
        if len(rankings) > 1 and s in shown_rows[-1]:
            marks += _text(left + step * (len(rankings) - 1) + 16, points[-1][1], labels[name], "start")
        parts.append(_marked(tip, marks))
    bottom = top + height * (limit + 0.6)
    if any(s not in rows for rows in shown_rows for s in place):
        parts.append(_text(left - 16, top + height * (limit + 0.2), "lower ranks", "end", "tick"))
    else:
        bottom = top + height * limit
    width = max(960, left + step * (len(rankings) - 1) + right)
    return _svg(width, bottom + 8, "Ranks of the leading systems by each method that combines the assessors", parts)


# ---------------------------------------------------------------------- pieces


def _svg(width: float, height: float, name: str, parts: Iterable[str]) -> str:
    return (
        f'<svg role="img" aria-label="{escape(name)}; the numbers are in the table" viewBox="0 0 {width:.0f} '
        f'{height:.0f}" style="max-width:{1.15 * width:.0f}px">{"".join(parts)}</svg>'
    )


def _axis(
    low: float, high: float, start: float, end: float, n: int = 6
) -> tuple[Callable[[float], float], list[float]]:
    """Where a value stands between two places, and round values along the way."""
    if high - low < 1e-9:
        low, high = low - 0.05, high + 0.05
    margin = 0.04 * (high - low)
    low, high = low - margin, high + margin
    raw = (high - low) / n
    power = 10 ** floor(log10(raw))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw)
    ticks = [round(k * step, 10) for k in range(ceil(low / step), floor(high / step) + 1)]
    return lambda value: start + (end - start) * (value - low) / (high - low), ticks


def _span(values: Sequence[float], zero: float | None) -> tuple[float, float]:
    ends = [*values, zero] if zero is not None else [*values]
    return min(ends), max(ends)


def _grid(
    x: Callable[[float], float], ticks: Sequence[float], top: float, bottom: float, name: str, unit: str = ""
) -> list[str]:
    parts = [
        _line(x(at), top, x(at), bottom, "grid")
        + _text(x(at), bottom + 13, with_minus_signs(f"{at:g}{unit}"), "middle", "tick")
        for at in ticks
    ]
    middle = (x(ticks[0]) + x(ticks[-1])) / 2
    return [*parts, _text(middle, bottom + 31, name, "middle", "tick")] if name else parts


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
