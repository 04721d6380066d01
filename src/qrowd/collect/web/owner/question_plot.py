"""The plot of a question: how the interval closed, judgment by judgment. Numbers only; the template draws them."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

from qrowd.collect.campaigns.question_progress import EarlierLook, QuestionProgress
from qrowd.collect.protocols.messages import Message
from qrowd.collect.web.owner.formatting import Formats, english

WIDTH, HEIGHT = 640.0, 220.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 8.0, 10.0, 30.0
SHARE = 0.6  # of the looks whose whole interval fits into the drawing


@dataclass(frozen=True)
class QuestionPlot:
    """Where everything stands in a drawing of `WIDTH` x `HEIGHT`.

    band : corners of the interval. line : of the estimate. zero : height of no difference. across, up : (place, label)
    of the ticks. tolerance : heights of its two ends, None without one.
    """

    band: str
    line: str
    zero: float
    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]
    tolerance: tuple[float, float] | None
    label: str

    def to_svg(self) -> str:
        """The drawing for a page of its own, in the colours of its text."""
        left, right = f'x1="{LEFT:g}"', f'x2="{WIDTH - RIGHT:g}"'
        parts = []
        for at, label in self.up:
            parts.append(f'<line {left} {right} y1="{at}" y2="{at}" stroke="currentColor" stroke-opacity=".15"/>')
            parts.append(f'<text x="{LEFT - 6:g}" y="{at + 4}" text-anchor="end">{label}</text>')
        parts += [
            f'<text x="{at}" y="{HEIGHT - 12:g}" text-anchor="middle">{label}</text>' for at, label in self.across
        ]
        if self.tolerance is not None:
            top, bottom = self.tolerance
            size = f'width="{WIDTH - LEFT - RIGHT:g}" height="{bottom - top:g}"'
            parts.append(f'<rect x="{LEFT:g}" y="{top:g}" {size} fill="currentColor" fill-opacity=".1"/>')
        parts += [
            f'<polygon points="{self.band}" fill="#4466bb" fill-opacity=".25"/>',
            f'<polyline points="{self.line}" fill="none" stroke="#4466bb" stroke-width="2"/>',
            f'<line {left} {right} y1="{self.zero}" y2="{self.zero}" stroke="currentColor"/>',
        ]
        size = f'viewBox="0 0 {WIDTH:g} {HEIGHT:g}" width="{WIDTH:g}" overflow="visible"'
        about = f'role="img" aria-label="{escape(self.label)}" font-size="13" fill="currentColor"'
        return f"<svg {size} {about}>{''.join(parts)}</svg>"


def question_plot(question: QuestionProgress, formats: Formats = english) -> QuestionPlot | None:
    """The plot; None before there are two looks with an interval. formats : of the numbers and of the label."""
    looks = [one for one in question.looks if one.difference.low is not None and one.difference.high is not None]
    if len(looks) < 2:
        return None
    first, last = looks[0].n_judged, max(looks[-1].n_judged, looks[0].n_judged + 1)
    most = _extent(looks)

    def x(n: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (n - first) / (last - first), 1)

    def y(value: float) -> float:
        share = (min(max(value, -most), most) + most) / (2 * most)
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share, 1)

    low, estimate, high = ([_value(one, key) for one in looks] for key in ("low", "estimate", "high"))
    places = [x(one.n_judged) for one in looks]
    top = [f"{at},{y(value)}" for at, value in zip(places, high, strict=True)]
    below = [f"{at},{y(value)}" for at, value in zip(places, low, strict=True)]
    middle = [f"{at},{y(value)}" for at, value in zip(places, estimate, strict=True)]
    tolerance = (y(question.tolerance), y(-question.tolerance)) if question.tolerance else None
    now = looks[-1].difference
    label = Message(
        "%(first)s minus %(second)s by %(measure)s: %(estimate)s, interval %(low)s to %(high)s after %(n)s documents, "
        "from %(early_low)s to %(early_high)s after %(early_n)s",
        first=now.first,
        second=now.second,
        measure=question.measure,
        estimate=formats.signed(estimate[-1]),
        low=formats.signed(low[-1]),
        high=formats.signed(high[-1]),
        n=looks[-1].n_judged,
        early_low=formats.signed(low[0]),
        early_high=formats.signed(high[0]),
        early_n=first,
    )
    return QuestionPlot(
        " ".join(top + below[::-1]),
        " ".join(middle),
        y(0.0),
        tuple((x(n), formats.count(n)) for n in _round_numbers(first, last)),
        tuple(
            (y(value), formats.signed(float(f"{value:.2g}"), 0) if value else "0")
            for value in (-most, -most / 2, 0.0, most / 2, most)
        ),
        tolerance,
        formats.language.text(label),
    )


def _value(look: EarlierLook, key: str) -> float:
    return float(getattr(look.difference, key) or 0.0)


def _extent(looks: list[EarlierLook]) -> float:
    """The largest difference in the drawing: the first intervals are wide, and are cut off."""
    reach = sorted(max(abs(_value(one, "low")), abs(_value(one, "high"))) for one in looks)
    most = max(reach[int(SHARE * (len(reach) - 1))], 1e-3)
    unit = 10.0 ** floor(log10(most))
    return min(unit * next(step for step in (1, 2, 5, 10) if step * unit >= most - 1e-12), 1.0)


def _round_numbers(first: int, last: int) -> list[int]:
    """At most six round numbers from first to last."""
    span = max(last - first, 1)
    unit = 10 ** max(floor(log10(span)) - 1, 0)
    step = next(unit * one for one in (1, 2, 5, 10, 20, 50, 100) if span / (unit * one) <= 6)
    return list(range(ceil(first / step) * step, last + 1, step))
