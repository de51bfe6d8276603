# SPDX-License-Identifier: Apache-2.0
# Short commands in front of CMake, for people. `make help` lists them.
PREFIX ?= /usr/local
DESTDIR ?=
EXAMPLE ?= $(notdir $(firstword $(wildcard examples/*_bank)))
ARGS ?=
SOURCES = $(shell find include src tests bench examples -name '*.[ch]' 2>/dev/null)

all: build/build.ninja ## build libraries, examples and benchmarks in build/, and tests if their packages are there
	cmake --build --preset release

build/build.ninja:
	@command -v cmake >/dev/null || { echo "cmake is missing: run tools/bootstrap" >&2; exit 1; }
	cmake --preset release

run: bootstrap ## build and run the bank (EXAMPLE=01_name for another one, ARGS="--workers 2")
	@$(MAKE) --no-print-directory build/build.ninja
	cmake --build --preset release --target example_$(EXAMPLE)
	build/examples/$(EXAMPLE) $(ARGS)

test: ## everything that must hold before a commit, less than twenty minutes
	@tools/bootstrap test
	tools/test

check-long: ## the explorer, power cuts, stress tests and fuzzers with long settings, all tests with clang, hours
	@tools/bootstrap test
	TROUPE_LONG=1 tools/test long

bench: ## compare with other runtimes, which it installs; takes a while
	@tools/bootstrap bench
	@$(MAKE) --no-print-directory all
	tools/bench

bench-quick: ## the same with shorter runs, in less than two minutes
	@tools/bootstrap measure
	@$(MAKE) --no-print-directory all
	tools/bench --quick

guard: ## count the instructions of hot paths, compare with bench/guard.baseline
	@tools/bootstrap measure
	@$(MAKE) --no-print-directory build/build.ninja
	cmake --build --preset release --target troupe-guard
	tools/bench-guard

spec: ## which promises of docs/contract.md the last test run has proved
	@tools/spec

format: ## format all C files
	clang-format -i $(SOURCES)

# The loader of Debian looks into /usr/local/lib, but only for what ldconfig has found there. Without the right to
# run it, the prefix is a directory of the user, of which ldconfig knows nothing anyway.
install: build/build.ninja ## install under $(DESTDIR)$(PREFIX)
	cmake --build --preset release --target troupe troupe_static troupe_tool
	DESTDIR=$(DESTDIR) cmake --install build --prefix $(PREFIX)
	@[ -n "$(DESTDIR)" ] || PATH=$$PATH:/usr/sbin:/sbin ldconfig 2>/dev/null || true

bootstrap: ## install the Debian packages that are missing for run and install
	@tools/bootstrap

clean: ## remove build/
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

.PHONY: all run test check-long bench bench-quick guard spec format install bootstrap clean help
