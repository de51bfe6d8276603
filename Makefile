# SPDX-License-Identifier: Apache-2.0
# Short commands in front of CMake, for people. `make help` lists them.
PREFIX ?= /usr/local
DESTDIR ?=
EXAMPLE ?= 42_bank_online
ARGS ?=
SOURCES = $(shell find include src tests bench examples -name '*.[ch]' 2>/dev/null)

all: writable build/build.ninja ## build everything in build/, with all tests and benchmarks, which takes minutes; after make bootstrap
	cmake --build --preset release

# A warning of a compiler that nobody here has tried must not stop a user. tools/test switches -Werror on again.
build/build.ninja: | writable
	@command -v cmake >/dev/null || { echo "cmake is missing: run make bootstrap" >&2; exit 1; }
	cmake --preset release -DTROUPE_WERROR=OFF

# A build of its own, which takes half of the time of a release build.
run: writable bootstrap ## build and run the bank on the web (ARGS="--rate 1000"; EXAMPLE=01_hello for another one)
	@[ -f build/run/build.ninja ] || cmake --preset run
	cmake --build --preset run --target example_$(EXAMPLE) troupe_tool
	@build/run/examples/$(EXAMPLE) $(if $(filter 42_%,$(EXAMPLE)),--store build/bank.data --inspect-token build/bank.token) $(ARGS)

top: ## look into what make run has started, from a second terminal
	@[ -x build/run/bin/troupe ] || { echo "make: nothing runs here: make run, in another terminal" >&2; exit 1; }
	@build/run/bin/troupe top

test: writable ## everything that must hold before a commit, twelve to sixteen minutes on two cores
	@tools/bootstrap test
	tools/test

check-long: writable ## the explorer, power cuts, stress tests and fuzzers with long settings, all tests with clang, hours
	@tools/bootstrap long
	TROUPE_LONG=1 tools/test long

bench: writable ## compare with other runtimes, which it installs; takes a while
	@tools/bootstrap bench
	@$(MAKE) --no-print-directory all
	tools/bench

bench-quick: writable ## the same with shorter runs, in less than two minutes
	@tools/bootstrap measure
	@$(MAKE) --no-print-directory all
	tools/bench --quick

guard: writable ## count the instructions of hot paths, compare with bench/guard.baseline
	@tools/bootstrap measure
	@$(MAKE) --no-print-directory build/build.ninja
	cmake --build --preset release --target troupe-guard
	tools/bench-guard

spec: ## which promises of docs/contract.md the last test run has proved
	@tools/spec

deb: writable ## Debian packages in build/deb: library, -dev, tool, gdb, documentation
	@tools/bootstrap docs
	@$(MAKE) --no-print-directory build/build.ninja
	cmake --build --preset release --target troupe troupe_static troupe_tool
	tools/deb

amalgamation: writable ## the library as two files: build/amalgamation/troupe.c, troupe.h
	@tools/bootstrap docs
	tools/amalgamate

docs: writable ## the documentation as a site: build/docs/index.html
	@tools/bootstrap docs
	tools/docs

format: ## format all C files
	clang-format -i $(SOURCES)

# The loader of Debian looks into /usr/local/lib, but only for what ldconfig has found there. Without the right to
# run it, the prefix is a directory of the user, of which ldconfig knows nothing anyway.
install: build/build.ninja ## install under $(DESTDIR)$(PREFIX)
	@at="$(DESTDIR)$(PREFIX)"; while [ ! -e "$$at" ] && [ "$$at" != "$${at%/*}" ]; do at=$${at%/*}; done; [ -w "$${at:-/}" ] || { \
	    echo "make: $${at:-/} cannot be written: run it as root, or name a directory of your own: make install PREFIX=$$HOME/.local" >&2; exit 1; }
	cmake --build --preset release --target troupe troupe_static troupe_tool
	DESTDIR=$(DESTDIR) cmake --install build --prefix $(PREFIX)
	@[ -n "$(DESTDIR)" ] || PATH=$$PATH:/usr/sbin:/sbin ldconfig 2>/dev/null || true
	@[ -n "$(DESTDIR)" ] || [ "$$(pkg-config --variable=pcfiledir troupe 2>/dev/null)" -ef "$(abspath $(PREFIX))/lib/pkgconfig" ] || \
	    printf '%s\n' "pkg-config does not look in this prefix by itself. In your shell:" \
	        "    export PKG_CONFIG_PATH=$(abspath $(PREFIX))/lib/pkgconfig PATH=$(abspath $(PREFIX))/bin:\$$PATH" \
	        "A program that \`troupe new\` did not make also needs LD_LIBRARY_PATH=$(abspath $(PREFIX))/lib, one built by CMake CMAKE_PREFIX_PATH=$(abspath $(PREFIX))."

# Before anything is installed or built.
writable:
	@mkdir -p build 2>/dev/null && [ -w build ] || { \
	    echo "make: this directory cannot be written: copy the tree to one that can, and run make there" >&2; exit 1; }

bootstrap: ## install the Debian packages that are missing for run and install
	@tools/bootstrap

clean: ## remove build/
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

.PHONY: all run top writable test check-long bench bench-quick guard spec deb amalgamation docs format install bootstrap clean help
