# SPDX-License-Identifier: Apache-2.0
"""What it costs to have many actors: bench/micro/scale.c, from a hundred to ten millions."""
import collections
import json
import statistics

import bench_micro
from bench_measure import number
from bench_report import markdown

METRICS = ("spawn_ns", "stop_ns", "next_ns", "random_ns", "bytes", "bytes_touched")
COUNTS = [10 ** n for n in range(2, 8)]
FEW = 10000  # the memory of fewer is a matter of whole pages


def measure(quiet):
    """What bench/results.json keeps: the values of each number of actors."""
    kept = []
    if not bench_micro.build("micro_scale"):
        return kept
    for count in COUNTS:
        quiet.wait()
        values = collections.defaultdict(list)
        why = ""
        for text in bench_micro.output_of("scale", str(count), timeout=180).split("\n"):
            if text.startswith("{"):
                line = json.loads(text)
                why = line.get("left_out", why)
                for metric in METRICS:
                    if metric in line:
                        values[metric].append(line[metric])
        kept.append({"actors": count, "left_out": why, **values})
    return kept


def section(kept):
    """The part of bench/RESULTS.md."""
    grid = [["actors", "spawn, ns", "stop, ns", "message to the next, ns", "message to a random one, ns",
             "bytes", "bytes, all have run"]]
    for line in kept:
        cells = []
        for metric in METRICS:
            is_known = line.get(metric) and ("bytes" not in metric or line["actors"] >= FEW)
            cells.append(number(statistics.median(line[metric])) if is_known else "–")
        grid.append([f"{line['actors']:,}"] + cells)
    left_out = [f"{x['actors']:,} actors were left out: {x['left_out']}.\n" for x in kept if x["left_out"]]
    return ("## Many actors\n\nOne worker, actors with one u64 of state (bench/micro/scale.c); times and "
            "memory for each of them. The\nmemory is that of the process, and spawning touches it for the "
            "first time. A message goes from each\nactor to the next in the order of their birth, or 64 "
            "messages go about at random: then it is the\nmemory that is waited for, as soon as the actors "
            "do not fit into the caches.\n\n" + markdown(grid) + "".join("\n" + x for x in left_out))
