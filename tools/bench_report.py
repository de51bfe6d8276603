# SPDX-License-Identifier: Apache-2.0
"""What tools/bench keeps of a run (bench/results.json), and the tables of bench/RESULTS.md made of it."""
import collections
import json
import os
import statistics

from bench_measure import Row, Sample, Setting, number, scale_text
from bench_programs import FLOOR, OURS, ROOT

REMARKS = os.path.join(ROOT, "bench", "REMARKS.md")
# Written by bench/net/run, bench/http/run and bench/store/run
PARTS = [os.path.join(ROOT, "bench", name) for name in ("NET.md", "HTTP.md", "STORE.md")]

# What one line of the table shows; `source` is the row whose run gives it.
Line = collections.namedtuple("Line", "source workload metric unit")

UNITS = {"pingpong_local": "M round trips/s", "pingpong_cross": "M round trips/s",
         "ring": "M hops/s", "spawn_tree": "M actors/s", "big": "M round trips/s",
         "bank_ask": "M asks/s", "bank_ask_c20": "M asks/s",
         "timer_storm": "M armed or cancelled/s"}

# What Troupe aims at, in the unit of the line: three to five times the best runtime that was known when
# they were set, on a machine of the same kind, or as near to the floor as physics allows.
AIMS = {("pingpong_local", 1, "rate"): 40, ("pingpong_local", 2, "rate"): 40,
        ("pingpong_cross", 2, "rate"): 1.9, ("ring", 1, "rate"): 70, ("ring", 2, "rate"): 70,
        ("fanin20", 1, "rate"): 100, ("fanin20", 2, "rate"): 60, ("fanin2", 1, "rate"): 100,
        ("fanin2", 2, "rate"): 60, ("counting", 1, "rate"): 100, ("counting", 2, "rate"): 60,
        ("spawn_tree", 1, "rate"): 6, ("spawn_tree", 2, "rate"): 9,
        ("idle_memory", 1, "bytes"): 200, ("idle_touched", 1, "bytes"): 250,
        ("idle_memory", 1, "rate"): 12, ("big", 1, "rate"): 45, ("big", 2, "rate"): 45,
        ("bank_ask", 1, "rate"): 18, ("bank_ask", 2, "rate"): 18, ("bank_ask_c20", 1, "rate"): 18,
        ("bank_ask_c20", 2, "rate"): 22, ("timer_storm", 1, "rate"): 25}

NOTES = """\
- The floor is no runtime: an intrusive queue and a free list on one thread, or two threads that
  spin (pingpong_cross), without lifecycle, accounting, generations or supervision. On the rows with
  two threads it still uses one, except for pingpong_cross.
- fanin20, fanin2 and counting: the receiver of Troupe has a mailbox of 1,024 messages whose senders
  wait for capacity (`.mailbox_max = 1024, .overflow = TR_PARK`), as the channels of Go have a capacity of 1,024
  and make theirs wait: the messages stay in cache. The senders of all others flood, and their
  messages go through memory.
- Go's other channels: 1 in ping-pong and ring, 256 in big. In bank_ask a teller of Troupe awaits a
  hundred replies in a turn and then continues in the next, since replies live as long as their turn.
- pingpong_cross: CAF gives each of the two actors a thread of its own, Erlang binds them to two
  schedulers, Go locks its goroutines to threads, libuv and pthread pin theirs to two CPUs.
- pthread and libuv have one thread per actor or sender whatever the row says; with one thread all
  of them share one CPU. The trees and idle actors of pthread are 10,000 at most.
- With two threads Troupe leaves an actor where its parent is, which is its default; only in
  spawn_tree the ten topmost branches are spread over the workers.
- idle_*: growth of the resident set per actor. Erlang's includes the list of the processes, Go's
  the channel of each goroutine.
- The peers are compiled with -O3 -march=native, Troupe as its users get it.
- Each workload is that of bench/README.md, scaled as the last table says: a sample has N operations
  times or divided by that. spawn_tree and idle_memory are not made larger but started more often,
  since what they measure is a fresh process; timer_storm is not made larger either, for one actor
  has a million timers at most.
- timer_storm is the time to arm and to take back, without that of the timers which fire. CAF 0.17,
  which Debian packages, cannot take a single message back; from 1.1 on it can. Go's Stop marks a
  timer, and its memory goes later.
"""


class Results:
    """A run: the programs, what each sample gave, and where. `parts` has what is not of the table:
    micro, latency and scale, each as the module that measures it keeps it. `before` is the summary of
    the run with as many peers that was kept before this one."""

    def __init__(self):
        self.programs, self.rows, self.facts = [], [], []
        self.settings, self.samples, self.parts = {}, collections.defaultdict(list), {}
        self.load, self.repeat = "unknown", 0
        self.before = {}

    def summary(self):
        facts = dict(self.facts)
        kept = [[line.workload, line.source.threads, line.metric, self.median(OURS, line),
                 self.best_peer(line), self.ratio(self.best_peer(line), line)]
                for line in self.lines() if self.median(OURS, line) and self.best_peer(line)]
        return {"when": f"{facts.get('date')}, commit {facts.get('commit')}", "load": self.load,
                "lines": kept}

    def follow(self, older):
        """Remembers the run that was kept so far, if that had all the peers of this one."""
        is_like = set(older.programs) >= set(self.programs) and older.rows == self.rows
        self.before = older.summary() if is_like else {}

    def save(self, path):
        kept = {
            "facts": self.facts, "load": self.load, "repeat": self.repeat,
            "programs": self.programs, "rows": self.rows,
            "settings": [[name, *row, setting] for (name, row), setting in self.settings.items()],
            "samples": [[name, *row, sample.why,
                         {" ".join(k): float(f"{v:.6g}") for k, v in (sample.values or {}).items()}]
                        for (name, row), samples in self.samples.items() for sample in samples],
            "parts": self.parts, "before": self.before}
        texts = [f"{json.dumps(key)}: " + (
            "[\n" + ",\n".join(json.dumps(x, ensure_ascii=False) for x in value) + "\n]"
            if isinstance(value, list) and value else json.dumps(value, indent=1, ensure_ascii=False))
            for key, value in kept.items()]
        with open(path, "w", encoding="utf-8") as file:
            file.write("{\n" + ",\n".join(texts) + "\n}\n")

    @staticmethod
    def load_from(path):
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
        results = Results()
        results.facts, results.load, results.repeat = kept["facts"], kept["load"], kept["repeat"]
        results.programs, results.parts = kept["programs"], kept["parts"]
        results.before = kept.get("before", {})
        results.rows = [Row(*row) for row in kept["rows"]]
        for name, workload, threads, setting in kept["settings"]:
            results.settings[name, Row(workload, threads)] = setting and Setting(*setting)
        for name, workload, threads, why, values in kept["samples"]:
            results.samples[name, Row(workload, threads)].append(
                Sample({tuple(k.split()): v for k, v in values.items()} if values else None, why))
        return results

    def lines(self):
        for row in self.rows:
            if row.workload == "idle_memory":
                yield Line(row, "idle_memory", "bytes", "bytes/actor (less is better)")
                yield Line(row, "idle_touched", "bytes", "bytes/actor (less is better)")
                yield Line(row, "idle_memory", "rate", "M spawned/s")
                yield Line(row, "idle_touched", "rate", "M touched/s")
            else:
                yield Line(row, row.workload, "rate", UNITS.get(row.workload, "M messages/s"))

    def values(self, name, line):
        key = (line.workload, line.metric)
        return [s.values[key] for s in self.samples.get((name, line.source), [])
                if s.values and key in s.values]

    def median(self, name, line):
        """In the unit of the line; None when there is none."""
        values = self.values(name, line)
        if not values:
            return None
        return statistics.median(values) / (1e6 if line.metric == "rate" else 1)

    def score(self, name, line):
        """The median, or for what should be small its inverse: more is better."""
        middle = self.median(name, line)
        return 1 / middle if middle and line.metric == "bytes" else middle

    def peers(self):
        return [n for n in self.programs if n not in (OURS, FLOOR)]

    def best_peer(self, line):
        known = [(self.score(n, line), n) for n in self.peers() if self.score(n, line)]
        return max(known)[1] if known else None

    def ratio(self, name, line):
        """How many times better ours is than that one's; None when one of the two has no value."""
        ours, theirs = self.score(OURS, line), self.score(name, line)
        return ours / theirs if ours and theirs else None

    def failures(self):
        counts = collections.Counter((name, row, s.why) for (name, row), samples
                                     in self.samples.items() for s in samples if s.why)
        return [f"{name} {row.workload} {row.threads}: {why} ({count} of "
                f"{len(self.samples[name, row])})" for (name, row, why), count in counts.items()]


def aim_of(line):
    return AIMS.get((line.workload, line.source.threads, line.metric))


def reached(results, line):
    """How much of the aim ours has reached; None where there is no aim."""
    aim, middle = aim_of(line), results.median(OURS, line)
    if not aim or not middle:
        return None
    return middle / aim if line.metric == "rate" else aim / middle


def cell(results, name, line):
    values = results.values(name, line)
    failed = sum(1 for s in results.samples.get((name, line.source), []) if s.why)
    if not values:
        return f"FAILED ({failed})" if failed else "–"
    text = number(results.median(name, line))
    if len(values) > 1:
        half = (max(values) - min(values)) / 2 / statistics.median(values)
        text += f" ±{100 * half:.0f}%"
    return text + (f" FAILED ({failed})" if failed else "")


def table(results):
    """Medians, and how much better ours is; in the words of Markdown."""
    grid = [["workload", "threads", "unit"] + results.programs
            + ["to the best", "to Go", "to the floor", "aim", "of the aim"]]
    for line in results.lines():
        best = results.best_peer(line)
        best = best and results.ratio(best, line) and \
            f"{number(results.ratio(best, line))} ({best})"
        part = reached(results, line)
        grid.append([line.workload, str(line.source.threads), line.unit]
                    + [cell(results, n, line) for n in results.programs]
                    + [best or "–"]
                    + [number(r) if r else "–" for r in (results.ratio("go", line),
                                                         results.ratio(FLOOR, line))]
                    + [number(aim_of(line)) if aim_of(line) else "–",
                       f"{100 * part:.0f}%" if part else "–"])
    return markdown(grid)


def markdown(grid):
    widths = [max(len(row[i]) for row in grid) for i in range(len(grid[0]))]
    grid = [grid[0], ["-" * w for w in widths]] + grid[1:]
    return "\n".join("| " + " | ".join(x.ljust(w) for x, w in zip(row, widths)) + " |"
                     for row in grid) + "\n"


def shortfalls(results):
    """Where ours is behind a peer, and where it misses its aim."""
    text = ""
    for line in results.lines():
        where = f"{line.workload}, {line.source.threads} threads, {line.unit.split(' (')[0]}"
        where = where.replace("1 threads", "1 thread")
        best = results.best_peer(line)
        ratio = best and results.ratio(best, line)
        if ratio and ratio < 1:
            text += f"- {where}: **behind {best}**, {number(ratio)} of it.\n"
        part = reached(results, line)
        if part and part < 1:
            text += f"- {where}: {100 * part:.0f} % of the aim of {number(aim_of(line))}.\n"
    return text or "No row is behind a peer or misses its aim.\n"


def comparison(results):
    """This run and the one before it, side by side: what differs is chance, the host, or a change."""
    if not results.before:
        return ""
    then = {tuple(x[:3]): x[3:] for x in results.before["lines"]}
    grid = [["workload", "threads", "unit", "then", "now", "to the best then", "now"]]
    for line in results.lines():
        old, best = then.get((line.workload, line.source.threads, line.metric)), results.best_peer(line)
        if old and best and results.ratio(best, line):
            grid.append([line.workload, str(line.source.threads), line.unit, number(old[0]),
                         number(results.median(OURS, line)), f"{number(old[2])} ({old[1]})",
                         f"{number(results.ratio(best, line))} ({best})"])
    return (f"\n## The run before\n\nAnother full run, {results.before['when']}; other load "
            f"{results.before['load']}.\n\n" + markdown(grid))


def report(results, sections):
    """The text of bench/RESULTS.md; `sections` are the texts about the other parts."""
    scales = [["workload", "threads"] + results.programs]
    for row in results.rows:
        scales.append([row.workload, str(row.threads)]
                      + [scale_text(results.settings.get((n, row))) for n in results.programs])
    failed = results.failures()
    remarks = ""
    if os.path.exists(REMARKS):
        with open(REMARKS, encoding="utf-8") as file:
            remarks = "\n" + file.read()
    parts = ""
    for path in filter(os.path.exists, PARTS):
        with open(path, encoding="utf-8") as file:
            parts += "\n" + file.read()
    return "".join([
        "# Results\n\nWritten by `make bench` (tools/bench) from results.json, REMARKS.md, NET.md, HTTP.md and STORE.md. ",
        f"Medians of {results.repeat} interleaved\nsamples; ± is half the range. Ratios are those of "
        "Troupe to the best peer, to Go and to the floor in the\nsame run: above 1 Troupe is better. "
        "The aims were set on a machine of the same kind.\n\n",
        "![How many times faster than the best peer](RESULTS.svg)\n\n",
        table(results),
        "\n## Failures\n\n" + "\n".join(f"- {x}" for x in failed) + "\n" if failed else "",
        "\n## What falls short\n\n", shortfalls(results), remarks, comparison(results),
        "".join("\n" + x for x in sections), parts,
        "\n## What was measured, and where\n\n",
        "".join(f"- {key}: {value}\n" for key, value in results.facts),
        f"- other load on the machine during the runs: {results.load}\n",
        "\n## What is not comparable\n\n", NOTES,
        "\n## Scale\n\n", markdown(scales)])
