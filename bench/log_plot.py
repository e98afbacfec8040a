"""A log-log plot as SVG with the same look as the library's drawings (src/nest/base/drawing/svg.cpp).

    log_plot.draw(title, "devices", "CPU seconds", {"llama3.1-70b": [(64, 0.1), (128, 0.1)]}, slopes=[1])
"""
import math
from xml.sax.saxutils import escape

LEFT, TOP, WIDTH, HEIGHT, LEGEND = 70, 50, 620, 320, 190
STYLE = """<style>
  svg { background: #ffffff; font-family: system-ui, sans-serif; font-size: 12px; }
  .label { fill: #1b1f24; } .small { fill: #57606a; font-size: 10px; }
  .title { fill: #1b1f24; font-size: 15px; font-weight: 600; }
  .wire { stroke: #8c959f; stroke-width: 1; fill: none; }
  .guide { stroke: #8c959f; stroke-width: 1; stroke-dasharray: 4 3; fill: none; }
  .curve { stroke-width: 2; fill: none; }
  .quiet { fill: #f6f8fa; stroke: #57606a; stroke-width: 0.75; }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117; } .label, .title { fill: #e6edf3; } .small { fill: #9da7b1; }
    .quiet { fill: #161b22; stroke: #9da7b1; }
  }
</style>
"""
COLOURS = ("#56b4e9", "#e69f00", "#009e73", "#cc79a7")  # of the Okabe-Ito set


class Axis:
    """Values to places, both ends rounded outwards to 1, 2 or 5 times a power of ten."""

    def __init__(self, values, begin, end):
        powers = range(math.floor(math.log10(min(values))) - 1, math.ceil(math.log10(max(values))) + 2)
        steps = [first * 10.0**power for power in powers for first in (1, 2, 5)]
        self.low = max(step for step in steps if step <= min(values))
        self.high = min(step for step in steps if step >= max(values))
        self.begin, self.end = begin, end
        self.ticks = [step for step in steps if self.low <= step <= self.high]

    def at(self, value):
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.begin + share * (self.end - self.begin)


def text(x, y, words, anchor="start", style="label"):
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>\n'


def line(x1, y1, x2, y2, style="wire"):
    return f'<line class="{style}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>\n'


def frame(across, up, x_name, y_name, x_values):
    parts = [f'<rect class="quiet" x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}"/>\n']
    bottom = TOP + HEIGHT
    for value in x_values:
        x = across.at(value)
        parts += [line(x, bottom, x, bottom + 5), text(x, bottom + 18, f"{value:,}", "middle", "small")]
    for value in up.ticks:
        y = up.at(value)
        parts += [line(LEFT - 5, y, LEFT, y), text(LEFT - 8, y + 4, f"{value:g}", "end", "small")]
    parts += [text(LEFT + WIDTH / 2, bottom + 40, x_name, "middle"), text(LEFT, TOP - 8, y_name)]
    return "".join(parts)


def guide(across, up, slope):
    """A broken line of this exponent from the lower left corner, as far as it lies inside."""
    end = min(across.high, across.low * (up.high / up.low) ** (1 / slope))
    x, y = across.at(end), up.at(up.low * (end / across.low) ** slope)
    return line(LEFT, TOP + HEIGHT, x, y, "guide") + text(x - 12, y + 14, f"exponent {slope}", "end", "small")


def curve(across, up, points, colour):
    places = [(across.at(x), up.at(y), x, y) for x, y in points]
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b, _, _ in places)
    dots = "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" fill="{colour}"><title>{x:,}: {y:.3g}'
                   "</title></circle>\n" for a, b, x, y in places)
    return f'<polyline class="curve" stroke="{colour}" points="{path}"/>\n{dots}'


def draw(title, x_name, y_name, series, slopes):
    x_values = sorted({x for points in series.values() for x, _ in points})
    across = Axis(x_values, LEFT, LEFT + WIDTH)
    up = Axis([y for points in series.values() for _, y in points], TOP + HEIGHT, TOP)
    width, height = LEFT + WIDTH + LEGEND, TOP + HEIGHT + 60
    body = text(LEFT, 24, title, style="title") + frame(across, up, x_name, y_name, x_values)
    body += "".join(guide(across, up, slope) for slope in slopes)
    for i, (name, points) in enumerate(series.items()):
        colour, y = COLOURS[i % len(COLOURS)], TOP + 12 + 20 * i
        body += curve(across, up, points, colour)
        body += f'<circle cx="{LEFT + WIDTH + 20}" cy="{y}" r="5" fill="{colour}"/>\n'
        body += text(LEFT + WIDTH + 32, y + 4, name)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img">\n<title>{escape(title)}</title>\n'
            f"{STYLE}{body}</svg>\n")
