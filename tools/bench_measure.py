# SPDX-License-Identifier: Apache-2.0
"""How tools/bench measures: it waits for a quiet machine, scales the programs, and lets them take turns."""
import collections
import datetime
import json
import math
import os
import resource
import signal
import statistics
import subprocess
import time

from bench_programs import OURS, ROOT, first_line, say

NOT_HERE = 4  # the exit code of a program that does not have a workload

Row = collections.namedtuple("Row", "workload threads")
# times multiplies and scale divides N; a sample is this many starts of the program.
Setting = collections.namedtuple("Setting", "times scale starts")
# value is None when the program failed; then why says how.
Sample = collections.namedtuple("Sample", "values why")

ROWS = [Row(w, t) for w, threads in (
    ("pingpong_local", (1, 2)), ("pingpong_cross", (2,)), ("ring", (1, 2)), ("fanin20", (1, 2)),
    ("fanin2", (1, 2)), ("counting", (1, 2)), ("spawn_tree", (1, 2)), ("idle_memory", (1,)),
    ("big", (1, 2)), ("bank_ask", (1, 2)), ("bank_ask_c20", (1, 2)), ("timer_storm", (1,)))
    for t in threads]

# These measure a fresh process: instead of more operations they get more starts.
COLD = ("spawn_tree", "idle_memory", "timer_storm")
# These take seconds until the last timer has fired, however few operations they measure: one start
# for a sample, and not in a quick run unless --rows asks for them.
SLOW = ("timer_storm",)


# ---- the machine ----

def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def busy_seconds():
    """CPU seconds that the machine has spent on anything but waiting, and those stolen from it."""
    fields = [int(x) for x in read("/proc/stat").split("\n", 1)[0].split()[1:9]]
    user, nice, system, _idle, _iowait, irq, softirq, steal = (fields + [0] * 8)[:8]
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def child_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Quiet:
    """Waits until nothing else runs, for so many seconds in all, and remembers what it saw."""

    LIMIT = 0.15  # CPUs that may be busy with other things

    def __init__(self, patience):
        self.patience = patience
        self.has_given_up = False
        self.loads = []  # CPUs busy with other things while our programs ran

    def wait(self, sample=0.25):
        while not self.has_given_up:
            before = busy_seconds()
            began = time.monotonic()
            time.sleep(sample)
            load = (busy_seconds() - before) / (time.monotonic() - began)
            if load <= self.LIMIT:
                return
            if self.patience <= 0:
                self.has_given_up = True
                say(f"The machine is not quiet ({load:.2f} CPUs are busy); measuring all the same.")
                return
            say(f"waiting for a quiet machine: {load:.2f} CPUs are busy")
            time.sleep(min(3, self.patience))
            self.patience -= 3 + sample

    def summary(self):
        if not self.loads:
            return "unknown"
        worst = max(self.loads)
        text = f"{statistics.median(self.loads):.2f} CPUs (median), {worst:.2f} at worst"
        return text + ("; the machine did not get quiet" if self.has_given_up else "")


def describe(programs):
    """What was measured, where: pairs of a word and its value."""
    cpu = {}
    for line in read("/proc/cpuinfo").split("\n"):
        key, _, value = line.partition(":")
        cpu.setdefault(key.strip(), value.strip())
    memory = {}
    for line in read("/proc/meminfo").split("\n"):
        key, _, value = line.partition(":")
        memory[key] = value.split()[0] if value.split() else "0"
    kind = ", a virtual machine" if "hypervisor" in cpu.get("flags", "").split() else ""
    changes = [x for x in first_lines("git", "status", "--porcelain") if "RESULTS" not in x.upper()]
    commit = first_line("git", "rev-parse", "--short=12", "HEAD") or "none"
    facts = [
        ("date", datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")),
        ("commit", commit + (" with changes" if changes else "")),
        ("machine", f"{cpu.get('model name', os.uname().machine)}, {cpu.get('cache size', '?')} "
                    f"cache, {os.cpu_count()} CPUs{kind}, "
                    f"{int(memory.get('MemTotal', 0)) / 2 ** 20:.1f} GiB"),
        ("kernel", f"{os.uname().sysname} {os.uname().release} {os.uname().machine}"),
        ("C library", os.confstr("CS_GNU_LIBC_VERSION") or "unknown"),
        ("compiler", first_line("gcc", "--version")),
    ]
    for program in programs:
        facts.append((program.name, program.version() or "unknown"))
    return facts


def first_lines(*command):
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    return done.stdout.rstrip("\n").split("\n") if done.stdout else []


# ---- running ----

def run(program, row, setting, timeout, quiet=None):
    """Starts the program once: ({(workload, metric): value}, None), or (None, why); {} is n/a."""
    environment = dict(os.environ, SCALE=str(setting.scale), TIMES=str(setting.times))
    busy, child, began = busy_seconds(), child_seconds(), time.monotonic()
    try:
        process = subprocess.Popen(program.command(row), env=environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   stdin=subprocess.DEVNULL, start_new_session=True)
    except OSError as error:
        return None, f"does not start: {error.strerror}"
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, f"no result in {timeout} s"
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    took = time.monotonic() - began
    if quiet and took > 0.2:
        other = busy_seconds() - busy - (child_seconds() - child)
        quiet.loads.append(max(0.0, other) / took)
    if process.returncode == NOT_HERE:
        return {}, None
    if process.returncode < 0:
        return None, f"crashed: {signal.Signals(-process.returncode).name}"
    if process.returncode:
        words = errors.strip().split("\n")[-1][:120]
        return None, f"exit {process.returncode}: {words}"
    return parse(row, output)


def parse(row, output):
    results = {}
    for text in output.split("\n"):
        if not text.startswith("{"):
            continue
        try:
            line = json.loads(text)
            name = line["workload"]
            results[name, "ops"] = int(line["ops"])
            results[name, "seconds"] = float(line["seconds"])
            results[name, "rss"] = int(line["rss_bytes"])
            if "bytes_per_actor" in line:
                results[name, "bytes"] = float(line["bytes_per_actor"])
        except (ValueError, KeyError) as error:
            return None, f"prints no result that can be read: {error}"
    if results.get((row.workload, "ops"), 0) < 1 or results[row.workload, "seconds"] <= 0:
        return None, "ended well without a result"
    return results, None


def take_sample(program, row, setting, timeout, quiet):
    """One value per metric, from as many starts as the setting says."""
    sums = collections.Counter()
    sizes = collections.defaultdict(list)
    for _ in range(setting.starts):
        results, why = run(program, row, setting, timeout, quiet)
        if why:
            return Sample(None, why)
        for (workload, metric), value in results.items():
            if metric == "bytes":
                sizes[workload].append(value)
            else:
                sums[workload, metric] += value
    values = {(w, "bytes"): statistics.median(x) for w, x in sizes.items()}
    for workload, metric in list(sums):
        if metric == "seconds" and sums[workload, metric] > 0:
            values[workload, "rate"] = sums[workload, "ops"] / sums[workload, "seconds"]
            values[workload, "seconds"] = sums[workload, "seconds"]
            values[workload, "rss"] = sums[workload, "rss"] / setting.starts
    return Sample(values, None)


def take_fit_sample(program, row, setting, mode, quiet):
    """A sample and its setting; a second one when the first was much too short to tell."""
    sample = take_sample(program, row, setting, mode.timeout, quiet)
    if sample.why or row.workload in COLD:
        return sample, setting
    seconds = sample.values[row.workload, "seconds"]
    better = rescale(setting, row, seconds, sample.values[row.workload, "rss"], mode)
    if seconds > mode.seconds / 3 or better == setting:
        return sample, setting
    return take_sample(program, row, better, mode.timeout, quiet), better


def fit(row, factor):
    """The setting whose N is nearest to `factor` times the workload's own."""
    if row.workload == "spawn_tree":  # its leaves are a power of ten
        return Setting(1, 10 ** max(0, min(3, math.ceil(-math.log10(min(1, factor)) - 0.3))), 1)
    if row.workload in COLD:
        factor = min(1, factor)
    if factor >= 1.5:
        return Setting(round(factor), 1, 1)
    return Setting(1, max(1, round(1 / factor)), 1)


def rescale(setting, row, seconds, rss, mode):
    """The setting with which a run would have taken as long as it should."""
    factor = setting.times / setting.scale
    # Memory grows with N where senders flood: stay within what the machine has.
    factor *= min(mode.seconds / seconds, mode.memory / max(rss, 1))
    return fit(row, min(factor, mode.cold_factor) if row.workload in COLD else factor)


def calibrate(program, row, mode):
    """(setting, None), or (None, None) when it has no such workload, or (None, why it failed)."""
    setting = fit(row, 0.01)
    for _ in range(4):
        results, why = run(program, row, setting, mode.timeout)
        if why:
            return None, why
        if not results:
            return None, None
        seconds = results[row.workload, "seconds"]
        last, setting = setting, rescale(setting, row, seconds, results[row.workload, "rss"], mode)
        if seconds >= mode.seconds / 6 or setting == last:
            break
    if row.workload in COLD and row.workload not in SLOW and setting == last:
        starts = max(1, min(mode.starts_max, math.ceil(mode.seconds_min / seconds)))
        setting = setting._replace(starts=starts)
    return setting, None


class Mode:
    def __init__(self, is_quick):
        available = 2 ** 30
        for line in read("/proc/meminfo").split("\n"):
            if line.startswith("MemAvailable:"):
                available = int(line.split()[1]) * 1024
        self.is_quick = is_quick
        self.memory = available / 4
        self.seconds = 0.15 if is_quick else 1.2  # what a sample should take
        self.seconds_min = 0.1 if is_quick else 1.0
        self.cold_factor = 0.1 if is_quick else 1.0
        self.starts_max = 1 if is_quick else 6
        self.timeout = 10 if is_quick else 60
        self.repeat = 3 if is_quick else 5
        self.patience = 10 if is_quick else 120
        self.deadline = time.monotonic() + 110 if is_quick else math.inf


def measure(programs, rows, mode, quiet, repeat):
    """Calibrates, then samples: settings and samples by (program, row)."""
    settings, samples = {}, collections.defaultdict(list)
    for row in rows:
        quiet.wait()
        for program in programs:
            if time.monotonic() > mode.deadline:
                samples[program.name, row].append(Sample(None, "not run: the time was up"))
                continue
            setting, why = calibrate(program, row, mode)
            if program.name == OURS and not setting and not why:
                why = "has no such workload"
            if why:
                say(f"{program.name} {row.workload} {row.threads}: {why}")
                samples[program.name, row].append(Sample(None, why))
            settings[program.name, row] = setting
        said = " ".join(f"{p.name}:{scale_text(settings.get((p.name, row)))}" for p in programs)
        say(f"scaling {row.workload} {row.threads}: {said}")
    for turn in range(repeat):
        for row in rows:
            if time.monotonic() > mode.deadline:
                say("The time is up: the rest of the repetitions is left out.")
                return settings, samples
            if not mode.is_quick:
                quiet.wait()
            said = []
            shift = turn % len(programs)
            for program in programs[shift:] + programs[:shift]:
                setting = settings.get((program.name, row))
                if setting:
                    sample, setting = take_fit_sample(program, row, setting, mode, quiet)
                    settings[program.name, row] = setting
                    samples[program.name, row].append(sample)
                    said.append(f"{program.name} {sample_text(row, sample)}")
            say(f"[{turn + 1}/{repeat}] {row.workload} {row.threads}: {', '.join(said)}")
    return settings, samples


def scale_text(setting):
    if not setting:
        return "–"
    if setting.times > 1:
        return f"×{setting.times}"
    text = f"÷{setting.scale}" if setting.scale > 1 else "×1"
    return text + (f", {setting.starts} starts" if setting.starts > 1 else "")


def sample_text(row, sample):
    if sample.why:
        return sample.why
    rate = sample.values[row.workload, "rate"]
    return f"{number(rate / 1e6)} ({sample.values[row.workload, 'seconds']:.2f} s)"


def number(x):
    """Three significant digits, without an exponent."""
    if x <= 0 or not math.isfinite(x):
        return "0"
    digits = max(0, 2 - math.floor(math.log10(x)))
    return f"{x:.{digits}f}"
