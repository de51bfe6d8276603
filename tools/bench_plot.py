# SPDX-License-Identifier: Apache-2.0
"""Draws bench/RESULTS.svg: one row for each line of the table, all against the best peer.

The scale is logarithmic, and 1 is the best peer of the row. Troupe is a bar that begins there: to the
right it is so many times better, to the left worse. The other runtimes are dots, the floor a stroke, the
aim a diamond. No library is needed; the colours follow the light or dark theme of the reader.
"""
import html
import math

from bench_measure import number
from bench_programs import FLOOR, OURS
from bench_report import aim_of, reached

WIDTH, LEFT, RIGHT, ROW, TOP, BOTTOM = 1000, 252, 192, 24, 112, 62
NAMES = {OURS: "Troupe", "go": "Go", "caf": "CAF", "erlang": "Erlang", "pthread": "pthreads",
         "libuv": "libuv", FLOOR: "floor: no runtime"}
# Told apart also by those who do not see red and green alike.
COLOURS = {"go": "#0072b2", "caf": "#d55e00", "erlang": "#cc79a7", "pthread": "#8a8a8a",
           "libuv": "#e0a800"}
STYLE = """\
  .back { fill: #ffffff } .band { fill: #f3f5f7 } .grid { stroke: #d5dae0; stroke-width: 1 }
  .one { stroke: #57606a; stroke-width: 1.5 } text { fill: #1f2328 } .weak { fill: #59636e }
  .better { fill: #1a9850 } .worse { fill: #d73027 } .floor { stroke: #1f2328; stroke-width: 3 }
  .aim { fill: none; stroke: #1f2328; stroke-width: 1.6 } .dot { stroke: #ffffff; stroke-width: 1 }
  @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117 } .band { fill: #161b22 } .grid { stroke: #30363d } .one { stroke: #9198a1 }
    text { fill: #e6edf3 } .weak { fill: #9198a1 } .better { fill: #2fbf71 } .worse { fill: #f4675c }
    .floor, .aim { stroke: #e6edf3 } .dot { stroke: #0d1117 }
  }
"""


def text(x, y, words, anchor="start", kind="", size=13, weight=400):
    kind = f' class="{kind}"' if kind else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}"{kind} text-anchor="{anchor}" font-size="{size}" '
            f'font-weight="{weight}">{html.escape(words)}</text>\n')


def diamond(x, y, size=5.5):
    return (f'<path class="aim" d="M{x:.1f} {y - size:.1f}l{size} {size} -{size} {size} '
            f'-{size} -{size}z"/>\n')


def dot(x, y, name):
    return (f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="5" '
            f'fill="{COLOURS.get(name, "#888888")}"><title>{html.escape(NAMES.get(name, name))}'
            '</title></circle>\n')


def floor(x, y):
    return f'<path class="floor" d="M{x:.1f} {y - 8:.1f}v16"/>\n'


def marks_of(results, line):
    """Where the others, ours, and the aim are: times the best peer."""
    best = results.score(results.best_peer(line), line)
    marks = {n: results.score(n, line) / best for n in results.programs if results.score(n, line)}
    part = reached(results, line)
    aim = marks[OURS] / part if part and OURS in marks else None
    return marks, aim


class Scale:
    """From a quotient to a place on the paper."""

    def __init__(self, quotients):
        self.low = math.floor(math.log10(min(quotients)) * 2 - 0.2) / 2
        self.high = math.ceil(math.log10(max(quotients)) * 2 + 0.2) / 2

    def __call__(self, quotient):
        share = (math.log10(quotient) - self.low) / (self.high - self.low)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def ticks(self):
        """1 and 3 of each decade; only some of them have space for their labels."""
        for decade in range(math.floor(self.low), math.ceil(self.high) + 1):
            for step in (1, 3):
                if self.low <= math.log10(step * 10 ** decade) <= self.high:
                    yield step * 10.0 ** decade, step == 1 or self.high - self.low < 5.5


def times(quotient):
    return f"{quotient:g}×" if quotient >= 0.01 else f"1/{1 / quotient:.0f}"


def draw_grid(scale, bottom):
    drawing = ""
    for quotient, has_words in scale.ticks():
        x = scale(quotient)
        kind = "one" if quotient == 1 else "grid"
        drawing += f'<path class="{kind}" d="M{x:.1f} {TOP - 6}V{bottom}"/>\n'
        if has_words:
            drawing += text(x, TOP - 12, times(quotient), "middle", "weak", 12)
            drawing += text(x, bottom + 16, times(quotient), "middle", "weak", 12)
    return drawing


def draw_legend(names):
    drawing = '<rect class="better" x="24" y="60" width="26" height="11" rx="2"/>\n'
    drawing += text(56, 70, "Troupe", weight=600)
    x = 124
    for name in [n for n in names if n != OURS]:
        words = NAMES.get(name, name)
        drawing += floor(x, 66) if name == FLOOR else dot(x, 66, name)
        drawing += text(x + 12, 70, words)
        x += 34 + 7.4 * len(words)
    drawing += diamond(x, 66) + text(x + 12, 70, "aim")
    return drawing


def draw_row(results, line, scale, y, marks, aim):
    middle = y + ROW / 2
    threads = f"{line.source.threads} thread" + ("s" if line.source.threads > 1 else "")
    words = line.workload + {"bytes": " bytes", "rate": ""}[line.metric]
    if line.workload == "idle_memory" and line.metric == "rate":
        words = "idle_memory spawn"
    drawing = text(24, middle + 4.5, words, weight=600)
    drawing += text(LEFT - 14, middle + 4.5, threads, "end", "weak", 12)
    ours = marks.get(OURS)
    if ours:
        left, right = sorted((scale(1), scale(ours)))
        drawing += (f'<rect class="{"better" if ours >= 1 else "worse"}" x="{left:.1f}" '
                    f'y="{middle - 7:.1f}" width="{max(2.0, right - left):.1f}" height="14" rx="2"/>\n')
    for name, quotient in marks.items():
        if name == FLOOR:
            drawing += floor(scale(quotient), middle)
        elif name != OURS:
            drawing += dot(scale(quotient), middle, name)
    if aim:
        drawing += diamond(scale(aim), middle)
    if ours:
        unit = "B/actor" if line.metric == "bytes" else "M/s"
        drawing += text(WIDTH - RIGHT + 88, middle + 4.5, f"{number(ours)}×", "end",
                        "better" if ours >= 1 else "worse", 13, 700)
        drawing += text(WIDTH - 24, middle + 4.5, f"{number(results.median(OURS, line))} {unit}",
                        "end", "", 12)
    return drawing


def draw(results):
    """The text of the drawing; None when there is nothing to compare with."""
    lines = [x for x in results.lines() if results.best_peer(x)]
    if not lines:
        return None
    rows = [(x, *marks_of(results, x)) for x in lines]
    scale = Scale([q for _, marks, aim in rows for q in [*marks.values(), aim or 1, 1]])
    bottom = TOP + ROW * len(rows)
    height = bottom + BOTTOM
    facts = dict(results.facts)
    drawing = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
               f'width="{WIDTH}" height="{height}" role="img" font-family="-apple-system, Segoe UI, '
               'Helvetica, Arial, DejaVu Sans, sans-serif">\n'
               "<title>Troupe against the best peer of each workload</title>\n"
               f"<style>\n{STYLE}</style>\n"
               f'<rect class="back" width="{WIDTH}" height="{height}" rx="6"/>\n')
    drawing += text(24, 30, "Troupe against the best other runtime, workload by workload", size=18,
                    weight=700)
    drawing += text(24, 49, "Times the best peer of the row, on a logarithmic scale. To the right is "
                            "better; a bar to the left is behind.", kind="weak")
    for i in range(0, len(rows), 2):
        drawing += (f'<rect class="band" x="12" y="{TOP + i * ROW}" width="{WIDTH - 24}" '
                    f'height="{ROW}"/>\n')
    drawing += draw_grid(scale, bottom) + draw_legend(results.programs)
    drawing += text(WIDTH - RIGHT + 88, TOP - 12, "to the best", "end", "weak", 12)
    drawing += text(WIDTH - 24, TOP - 12, "Troupe", "end", "weak", 12)
    for i, (line, marks, aim) in enumerate(rows):
        drawing += draw_row(results, line, scale, TOP + i * ROW, marks, aim)
    drawing += text(24, height - 16,
                    f"Medians of {results.repeat}. {facts.get('machine', '')}. "
                    f"{facts.get('date', '')}, commit {facts.get('commit', '')}.", kind="weak", size=12)
    return drawing + "</svg>\n"
