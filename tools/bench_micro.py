# SPDX-License-Identifier: Apache-2.0
"""The programs of bench/micro: runs them, takes figures out of what they print, and sets the aims beside.

They are built by the target micro, into build/micro. Each prints medians or best rounds by itself; the
table has the median of several runs of the program.
"""
import collections
import os
import re
import statistics
import subprocess

from bench_measure import number
from bench_programs import ROOT, say
from bench_report import markdown

BUILT = os.path.join(ROOT, "build", "micro")
REPEAT = 3
TIMEOUT = 120

# `pattern` finds the number in the output of the program; `minus`, if any, one to take off. The aim is
# the most or the least that is wanted, as the sign before it says.
Figure = collections.namedtuple("Figure", "program pattern what unit aim minus", defaults=("", None))

NUMBER = r"([\d.]+(?:e[+-]?\d+)?)"


def figures():
    live = r"{} +{} live +pair +" + NUMBER
    for key in ("without a key", "with a key"):
        for count in (0, 1000, 1000000):
            yield Figure("timer", live.format(key, count),
                         f"timer {key}: arm and cancel, {count:,} others live", "ns", "≤ 80")
    yield Figure("timer", "fire and handle +" + NUMBER, "timer: fire and handle", "ns")
    yield Figure("wire", "tr_pack +" + NUMBER, "six fields: write MessagePack", "ns", "≤ 30")
    yield Figure("wire", "tr_unpack_in_place +" + NUMBER, "six fields: read in place", "ns", "≤ 25")
    yield Figure("wire", "tr_unpack and free +" + NUMBER, "six fields: read into a copy", "ns")
    yield Figure("wire", "msgpack-c pack +" + NUMBER, "msgpack-c: write", "ns")
    yield Figure("wire", "msgpack-c unpack and destroy +" + NUMBER, "msgpack-c: read", "ns")
    yield Figure("json", "tr_json_read and free +best +" + NUMBER, "JSON of 216 bytes: read", "ns", "≤ 400")
    yield Figure("json", "tr_json_read_in +best +" + NUMBER, "JSON of 216 bytes: read into memory that is there", "ns")
    yield Figure("json", "tr_json_write +best +" + NUMBER, "JSON of 216 bytes: write", "ns", "≤ 400")
    tell = r"tell and reply +median +" + NUMBER
    yield Figure("await", tell, "tell and reply, round trip", "ns")
    for words, aim in (("a stretch each", "≤ 60"), ("a turn each", "")):
        yield Figure("await", f"ask, {words} +median +{NUMBER}",
                     f"ask and await, {words}: more than tell and reply", "ns", aim, tell)
    yield Figure("restart", "median " + NUMBER, "restart of a leaf", "ns", "≤ 2000")
    for way in ("in order", "by force"):
        for shape in ("one parent", "a thousand parents", "a binary tree"):
            yield Figure("stop", rf"{shape} +{way} +\d+ actors +" + NUMBER,
                         f"stop a million actors {way}, two workers: {shape}", "ms", "≤ 1000")
    for case in ("looping handler", "all handlers loop", "sleeping handler", "flood", "depth 64",
                 "width 100,000"):
        yield Figure("overshoot", rf"{case} +(-?[\d.]+) ms late", f"shutdown after its deadline: {case}",
                     "ms", "≤ 50")
    yield from figures_of_workers()


def figures_of_workers():
    for words, aim in (("steady, 2 workers", "≥ 1.8"), ("steady, 4 workers", ""),
                       ("equal turns each, to the last, 2 workers", ""),
                       ("equal turns each, to the last, 4 workers", "")):
        yield Figure("workers", f"skewed, {words}, ratio: {NUMBER}",
                     f"skewed load on two cores, {words}", "× one worker", aim)
    yield Figure("workers", "chatty, until together: " + NUMBER, "a chatty pair: until together, median",
                 "ms", "≤ 10")
    yield Figure("workers", "chatty, until together, the longest: " + NUMBER,
                 "a chatty pair: until together, the longest of 21", "ms", "≤ 10")
    for words in ("a million, capacity 1,024, sender waits", "a million, capacity 65,536, sender waits",
                  "100,000 at once, capacity for all"):
        yield Figure("far", f"burst, {words}: {NUMBER} M", f"worker to worker, {words}",
                     "M messages/s", "≥ 20")
    for words in ("tell and tell", "ask and await"):
        yield Figure("far", f"trip, both spin, {words}: {NUMBER}",
                     f"to another worker and back, both spin: {words}", "ns", "≤ 1000")
    # Where the kernel puts the threads is a lottery whose prizes differ by ten: that one has no aim.
    for place, aim in (("a core each", "≤ 2"), ("on one core", "≤ 2"), ("anywhere", "")):
        yield Figure("far", f"trip, floor, futex, {place}: {NUMBER}",
                     f"two threads and a futex, there and back, {place}", "ns")
        for words in ("tell and tell", "ask and await"):
            yield Figure("far", f"trip, parked, {place}, {words}: {NUMBER} times the futex",
                         f"to another worker and back, both parked, {place}: {words}", "× the futex", aim)
    for verb in ("tr_find", "tr_pool_find"):
        for who in ("handler", "client"):
            yield Figure("workers", rf"lookup, {verb}, 64 of 100,000 names, {who}: {NUMBER}",
                         f"{verb}, 64 of 100,000 names, warm, {who}", "ns", "≤ 60")
    for row, what, aim in (("handshake", "handshake", "≥ 0.97"), ("resumed handshake", "resumed handshake", ""),
                           ("echo, 1", "echo of 64 bytes", "≥ 0.97"), ("echo, 16", "16 echoes at once", "≥ 1.35"),
                           ("64 KiB", "64 KiB to a client", "≥ 0.95")):
        yield Figure("tls", rf"(?m)^{row} +filter.* ratio: {NUMBER}", f"TLS, CPU of a listener: {what}",
                     "× bare OpenSSL", aim)
    for workers in (2, 256):
        yield Figure("hash_ring", rf"10 characters, +{workers} workers: +{NUMBER}",
                     f"place of a name of 10 characters, {workers} workers", "ns")


def build(target):
    done = subprocess.run(["cmake", "--build", os.path.join(ROOT, "build"), "--target", target],
                          capture_output=True, text=True)
    if done.returncode:
        say(done.stdout[-2000:] + done.stderr[-2000:])
    return done.returncode == 0


def output_of(program, *arguments, timeout=TIMEOUT):
    """What it prints; "" and a word about it when it does not end well."""
    path = os.path.join(BUILT, program)
    if not os.path.exists(path):
        say(f"{os.path.relpath(path)} is not there")
        return ""
    try:
        done = subprocess.run([path, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        say(f"{program}: no result in {timeout} s")
        return ""
    if done.returncode:
        say(f"{program}: exit {done.returncode}")
        return ""
    return done.stdout


def find(pattern, output):
    found = re.search(pattern, output, re.M)
    return float(found[1]) if found else None


def measure(quiet, repeat=REPEAT):
    """What bench/results.json keeps: for each figure its values."""
    if not build("micro"):
        return []
    wanted = list(figures())
    values = collections.defaultdict(list)
    for turn in range(repeat):
        for program in dict.fromkeys(f.program for f in wanted):
            quiet.wait()
            say(f"[{turn + 1}/{repeat}] micro {program}")
            output = output_of(program)
            for figure in [f for f in wanted if f.program == program]:
                value = find(figure.pattern, output)
                less = find(figure.minus, output) if figure.minus else 0
                if value is not None and less is not None:
                    values[figure.what].append(float(f"{value - less:.6g}"))
    return [{"what": f.what, "unit": f.unit, "aim": f.aim, "values": values[f.what]} for f in wanted]


def is_met(aim, value):
    sign, limit = aim.split()
    return value <= float(limit) if sign == "≤" else value >= float(limit)


def told(value):
    return f"−{number(-value)}" if value < 0 else number(value)


def section(kept):
    """The part of bench/RESULTS.md."""
    grid = [["what", "median", "from … to", "unit", "aim", ""]]
    for figure in kept:
        values, aim = figure["values"], figure["aim"]
        if not values:
            grid.append([figure["what"], "no result", "", figure["unit"], aim, ""])
            continue
        middle = statistics.median(values)
        mark = "" if not aim else "yes" if is_met(aim, middle) else "**no**"
        grid.append([figure["what"], told(middle), f"{told(min(values))} … {told(max(values))}",
                     figure["unit"], aim, mark])
    count = max((len(f["values"]) for f in kept), default=0)
    runs = f"medians of {count} runs" if count > 1 else "one run"
    return (f"## Single parts\n\nThe programs of bench/micro, {runs} of each; the aims are those of the "
            "design.\n\n" + markdown(grid))
