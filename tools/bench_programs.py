# SPDX-License-Identifier: Apache-2.0
"""The programs that tools/bench runs: ours and the peers, how they are built and started.

Each is started as PROGRAM WORKLOAD THREADS, heeds SCALE and TIMES of the environment, and prints
one line of JSON per result. Exit 4 means that it does not have this workload.
"""
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCES = os.path.join(ROOT, "bench", "peers")
BUILT = os.path.join(ROOT, "build", "peers")
OURS = "troupe"
FLOOR = "floor"


def say(text):
    print(text, file=sys.stderr, flush=True)


def first_line(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, cwd=ROOT)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip().split("\n")[0] if done.returncode == 0 else ""


class Program:
    """A program that runs a workload. Its binary is build/peers/NAME unless a subclass says so."""

    sources = ()
    is_quick = True  # takes part in a quick run

    def __init__(self, name):
        self.name = name
        self.path = os.path.join(BUILT, name)

    def is_installed(self):
        return True

    def build_command(self):
        raise NotImplementedError

    def command(self, row):
        return [self.path, row.workload, str(row.threads)]

    def version(self):
        return "compiled here"

    def build(self):
        """None, or why it could not be built."""
        sources = [os.path.join(SOURCES, x) for x in self.sources]
        newest = max(os.path.getmtime(x) for x in sources + [__file__])
        if os.path.exists(self.path) and os.path.getmtime(self.path) >= newest:
            return None
        os.makedirs(BUILT, exist_ok=True)
        say(f"building {os.path.relpath(self.path, ROOT)}")
        done = subprocess.run(self.build_command(), cwd=os.path.dirname(sources[0]),
                              env=dict(os.environ, GOFLAGS="-buildvcs=false"),
                              capture_output=True, text=True)
        return None if done.returncode == 0 else (done.stderr or done.stdout).strip()


class Ours(Program):
    def __init__(self, path):
        super().__init__(OURS)
        self.path = os.path.abspath(path)

    def build(self):
        if os.path.exists(self.path):
            return None
        return f"{os.path.relpath(self.path)} is not there: run make first"

    def version(self):
        return first_line(self.path, "--version")


class Compiled(Program):
    """One file in C or C++, with the libraries and the header that it needs."""

    def __init__(self, name, source, libraries, header=None, package=None, is_quick=True):
        super().__init__(name)
        self.sources = (source, "benchutil.h")
        self.libraries = libraries
        self.header = header
        self.package = package
        self.is_quick = is_quick
        self.is_cxx = source.endswith(".cpp")
        self.compiler = ["g++", "-std=c++17", "-DNDEBUG"] if self.is_cxx else ["gcc", "-std=gnu17"]

    def is_installed(self):
        if not shutil.which(self.compiler[0]):
            return False
        if not self.header:
            return True
        probe = subprocess.run([self.compiler[0], "-E", "-x", "c++" if self.is_cxx else "c", "-"],
                               input=f"#include <{self.header}>\n", text=True, capture_output=True)
        return probe.returncode == 0

    def build_command(self):
        return (self.compiler + ["-O3", "-march=native", "-pthread", self.sources[0]]
                + ["-o", self.path] + self.libraries)

    def version(self):
        if not self.package:
            return super().version()
        return first_line("dpkg-query", "-W", "-f", "${Package} ${Version}", self.package)


class Go(Program):
    sources = ("go/main.go", "go/latency.go", "go/go.mod")

    def is_installed(self):
        return bool(shutil.which("go"))

    def build_command(self):
        return ["go", "build", "-o", self.path, "."]

    def version(self):
        return first_line("go", "version")


class Erlang(Program):
    sources = ("erlang/bench.erl", "erlang/latency.erl")

    def __init__(self, name):
        super().__init__(name)
        self.path = os.path.join(BUILT, "bench.beam")

    def is_installed(self):
        return bool(shutil.which("erlc") and shutil.which("erl"))

    def build_command(self):
        return ["erlc", "-o", BUILT, "bench.erl", "latency.erl"]

    def command(self, row):
        schedulers = max(2, row.threads) if row.workload == "pingpong_cross" else row.threads
        return ["erl", "+S", f"{schedulers}:{schedulers}", "+P", "4194304", "-noshell", "-noinput",
                "-pa", BUILT, "-run", "bench", "main", row.workload, str(row.threads)]

    def version(self):
        return first_line("erl", "-noshell", "-eval",
                          'io:format("Erlang/OTP ~s, erts ~s~n", [erlang:system_info(otp_release), '
                          'erlang:system_info(version)]), halt().')


def all_peers():
    return [Go("go"), Compiled("caf", "caf_bench.cpp", ["-lcaf_core"], "caf/all.hpp", "libcaf-dev"),
            Erlang("erlang"), Compiled("pthread", "pthread_bench.c", [], is_quick=False),
            Compiled("libuv", "libuv_bench.c", ["-luv"], "uv.h", "libuv1-dev", is_quick=False),
            Compiled(FLOOR, "floor_bench.c", [])]
