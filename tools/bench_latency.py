# SPDX-License-Identifier: Apache-2.0
"""How long an ask takes under load: bench/micro/latency.c and the same in Go and Erlang."""
import collections
import json
import os
import statistics
import subprocess

import bench_micro
from bench_measure import Row, number
from bench_programs import OURS, Erlang, Go, Program, say
from bench_report import markdown

REPEAT = 3
ROWS = (Row("latency_local", 1), Row("latency_cross", 2))
METRICS = ("capacity", "p50", "p99", "p999")


class Micro(Program):
    """Ours, which takes no number of threads."""

    def __init__(self):
        super().__init__(OURS)
        self.path = os.path.join(bench_micro.BUILT, "latency")

    def build(self):
        return None if bench_micro.build("micro_latency") else "micro_latency does not build"

    def command(self, row):
        return [self.path, row.workload]


def choose():
    programs = []
    for program in (Micro(), Go("go"), Erlang("erlang")):
        why = program.build() if program.is_installed() else "not installed"
        if why:
            say(f"{program.name} is left out: {why}")
        else:
            programs.append(program)
    return programs


def lines_of(program, row):
    try:
        done = subprocess.run(program.command(row), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, timeout=60)
    except subprocess.TimeoutExpired:
        say(f"{program.name} {row.workload}: no result in 60 s")
        return []
    return [json.loads(x) for x in done.stdout.split("\n") if x.startswith("{")]


def measure(quiet):
    """What bench/results.json keeps: the values of each program, workload and load."""
    values = collections.defaultdict(lambda: collections.defaultdict(list))
    programs = choose()
    for turn in range(REPEAT):
        for row in ROWS:
            for program in programs:
                quiet.wait()
                say(f"[{turn + 1}/{REPEAT}] {row.workload} {program.name}")
                for line in lines_of(program, row):
                    for metric in METRICS:
                        values[row.workload, line["load"], program.name][metric].append(line[metric])
    return [{"workload": w, "load": load, "program": name, **metrics}
            for (w, load, name), metrics in sorted(values.items(), key=lambda x: x[0][:2])]


def time_text(ns):
    """In a unit that a person can read."""
    for limit, divisor, unit in ((1e3, 1, "ns"), (1e6, 1e3, "µs"), (1e9, 1e6, "ms")):
        if ns < limit:
            return f"{number(ns / divisor)} {unit}"
    return f"{number(ns / 1e9)} s"


def section(kept):
    """The part of bench/RESULTS.md."""
    grid = [["asks", "load", "runtime", "asks/s at 100 %", "p50", "p99", "p99.9"]]
    where = {"latency_local": "on one worker", "latency_cross": "to another worker"}
    for line in sorted(kept, key=lambda x: (list(where).index(x["workload"]), x["load"])):
        grid.append([where[line["workload"]], f"{line['load']} %", line["program"],
                     f"{number(statistics.median(line['capacity']) / 1e6)} M"]
                    + [time_text(statistics.median(line[m])) for m in METRICS[1:]])
    return ("## Latency\n\nHow long an ask takes, at shares of what each runtime can do by itself "
            "(bench/micro/latency.c). Asks are\ndue at random moments, whatever became of earlier ones, "
            "and the time counts from then: a delay\nshows. Medians of "
            f"{max((len(x['p50']) for x in kept), default=0)} runs. In Go and Erlang an ask is a message "
            "and its reply, without a timeout; Go places\nits goroutines by itself. At most 1,024 asks are on "
            "their way; what is due beyond that waits with the asker,\nand its time counts.\n\n"
            + markdown(grid))
