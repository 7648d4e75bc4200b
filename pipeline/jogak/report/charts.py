"""Charts as inline SVG, without a plotting library.

Three kinds of chart do not pay for one: matplotlib would be the page's only heavy dependency, and
draws Hangul only with a font that it is given; here the reader's browser does it. A chart is as
wide as a phone, so that its text is never shrunk; wide screens show several in a row. Series differ
by dash pattern and place as well as by colour.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

WIDTH = 360
LABEL = 96
"""Room for the labels of bars."""
ROW = 20
PLOT = (46, 10, 304, 190)
"""Left, top, width and height of the area of curves."""
LINE = 14
COLOURS = ("#0b5fa5", "#b3470b", "#0a7a5c", "#8a3c86", "#5b5b00", "#a3123a", "#3d4a5c", "#00707d")
"""Each has a contrast of at least 4.5 on white."""
DASHES = ("", "6 3", "2 3", "8 3 2 3", "10 4", "4 4", "1 3", "12 3")
MOST_LETTERS = 13

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: its label, its length, how that is shown, and the series it is of."""

    label: str
    value: float
    shown: str
    series: int = 0


def short(text: str) -> str:
    """Cut a label that is too long for its room."""
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…"


def bars(title: str, rows: Sequence[Bar], series: Sequence[str] = ()) -> Markup:
    """Draw horizontal bars, and a legend of the series where there are several."""
    legend = list(_legend(series, dashed=False)) if len(series) > 1 else []
    top = LINE * len(legend) + 4
    longest = max((row.value for row in rows), default=0) or 1
    room = WIDTH - LABEL - 72
    body = [_placed(each, 4, LINE * (place + 1) - 3) for place, each in enumerate(legend)]
    for place, row in enumerate(rows):
        y = top + ROW * place
        length = max(room * row.value / longest, 1)
        colour = COLOURS[row.series % len(COLOURS)]
        label, shown = escape(short(row.label)), escape(row.shown)
        body.append(
            f'<text x="{LABEL - 6}" y="{y + 14}" text-anchor="end">{label}</text>'
            f'<rect x="{LABEL}" y="{y + 3}" width="{length:.1f}" height="{ROW - 6}" '
            f'fill="{colour}"><title>{escape(row.label)}: {shown}</title></rect>'
            f'<text x="{LABEL + length + 5:.1f}" y="{y + 14}">{shown}</text>'
        )
    return _svg(title, top + ROW * len(rows) + 4, body)


def _legend(series: Sequence[str], *, dashed: bool = True) -> Iterator[str]:
    for place, name in enumerate(series):
        colour = COLOURS[place % len(COLOURS)]
        dash = DASHES[place % len(DASHES)] if dashed else ""
        yield (
            f'<line x1="0" y1="-4" x2="24" y2="-4" stroke="{colour}" stroke-width="4" '
            f'stroke-dasharray="{dash}"/><text x="30" y="0">{escape(name)}</text>'
        )


def _placed(element: str, x: float, y: float) -> str:
    return f'<g transform="translate({x:g} {y:g})">{element}</g>'


@dataclass(frozen=True, slots=True)
class Axis:
    """One direction of a plot: what is shown in it, and whether by its logarithm."""

    name: str
    low: float
    high: float
    is_log: bool = False

    def share(self, value: float) -> float:
        """Return where a value stands, 0 to 1."""
        low, high, at = self.low, self.high, value
        if self.is_log:
            low, high, at = math.log(low), math.log(high), math.log(value)
        return (at - low) / (high - low) if high > low else 0.0

    def ticks(self) -> list[float]:
        """Return round numbers inside the axis, about five."""
        if self.is_log:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            step = max(1, (last - first + 4) // 5)
            found = [10.0**power for power in range(first, last + 1, step)]
            if len(found) > 2:
                return found
            fine = (10.0**power * by for power in range(first - 1, last + 1) for by in (1, 2, 5))
            return [each for each in fine if self.low <= each <= self.high]
        span = self.high - self.low or 1
        step = 10 ** math.floor(math.log10(span / 3))
        step *= next(times for times in (1, 2, 5, 10) if span / (step * times) <= 6)
        start = math.ceil(self.low / step)
        return [step * place for place in range(start, math.floor(self.high / step) + 1)]


def curves(title: str, x: Axis, y: Axis, series: Sequence[tuple[str, Points]]) -> Markup:
    """Draw one line for each series, and their legend below."""
    left, top, width, height = PLOT
    body = list(_grid(x, y))
    for place, (_, points) in enumerate(series):
        path = " ".join(
            f"{left + width * x.share(at):.1f},{top + height * (1 - y.share(value)):.1f}"
            for at, value in points
        )
        body.append(
            f'<polyline points="{path}" fill="none" stroke="{COLOURS[place % len(COLOURS)]}" '
            f'stroke-width="2" stroke-dasharray="{DASHES[place % len(DASHES)]}"/>'
        )
    legend = list(_legend([name for name, _ in series])) if len(series) > 1 else []
    below = top + height + 38
    body += [_placed(each, left, below + LINE * (at + 1)) for at, each in enumerate(legend)]
    return _svg(title, below + LINE * len(legend) + 8, body)


def _grid(x: Axis, y: Axis) -> Iterator[str]:
    left, top, width, height = PLOT
    bottom = top + height
    for value in x.ticks():
        at = left + width * x.share(value)
        yield (
            f'<line class="grid" x1="{at:.1f}" y1="{top}" x2="{at:.1f}" y2="{bottom}"/>'
            f'<text x="{at:.1f}" y="{bottom + 15}" text-anchor="middle">{number(value)}</text>'
        )
    for value in y.ticks():
        at = bottom - height * y.share(value)
        yield (
            f'<line class="grid" x1="{left}" y1="{at:.1f}" x2="{left + width}" y2="{at:.1f}"/>'
            f'<text x="{left - 5}" y="{at + 4:.1f}" text-anchor="end">{number(value)}</text>'
        )
    yield f'<text x="{left + width}" y="{bottom + 31}" text-anchor="end">{escape(x.name)}</text>'
    yield f'<line class="axis" x1="{left}" y1="{bottom}" x2="{left + width}" y2="{bottom}"/>'


def columns(title: str, name: str, values: Sequence[tuple[str, int]]) -> Markup:
    """Draw a histogram: a column for each label, in their order."""
    left, top, width, height = PLOT
    most = max((value for _, value in values), default=0) or 1
    axis, room = Axis("", 0, most), width / max(len(values), 1)
    body = [each for each in _grid(Axis(name, 0, 0), axis) if 'text-anchor="middle"' not in each]
    every = math.ceil(len(values) / 9)
    for place, (label, value) in enumerate(values):
        tall = height * value / most
        at = left + room * place
        body.append(
            f'<rect x="{at + 0.5:.1f}" y="{top + height - tall:.1f}" '
            f'width="{max(room - 1, 0.5):.1f}" height="{tall:.1f}" fill="{COLOURS[0]}">'
            f"<title>{escape(label)}: {value:,}</title></rect>"
        )
        if place % every == 0:
            body.append(
                f'<text x="{at + room / 2:.1f}" y="{top + height + 15}" '
                f'text-anchor="middle">{escape(label)}</text>'
            )
    return _svg(title, top + height + 38, body)


def number(value: float) -> str:
    """Show a number shortly.

    >>> number(1_500_000), number(20_000), number(0.25), number(2**30), number(12)
    ('1.5M', '20k', '0.25', '1.07G', '12')
    """
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def _svg(title: str, height: float, body: Sequence[str]) -> Markup:
    # All text in `body` is escaped where it is put in.
    name = escape(title)
    drawing = "".join(body)
    return Markup(
        f'<figure><figcaption>{name}</figcaption><svg role="img" aria-label="{name}" '
        f'viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}">{drawing}</svg>'
        "</figure>"
    )
