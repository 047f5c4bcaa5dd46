# SPDX-License-Identifier: GPL-2.0
# AF_SANX: one short target for each thing that a person does.
# The modules themselves are described in Kbuild.

# A kernel release, or one of 6.1, 6.12, debug, kcsan, um; empty is the running kernel.
KVER ?=
# Which kernels, and which tests, `make selftests` runs.
KERNEL ?=
TEST ?=
# One test of a program, and the ways to meet that it is run in.
CASE ?=
VARIANT ?=
# Which stages make check and make check-full run.
STAGES ?=
# Which end of the tunables, of least and most; empty is both.
TUNE ?=
# An earlier run's bench.json, for make bench to compare with, or bench-nodes.json.
BASELINE ?=
# How long make soak takes, and what it begins with; empty is any.
SOAK_MINUTES ?= 30
SOAK_SEED ?=
# How long make siege takes.
SIEGE_MINUTES ?=
# One world of make sim; how much of it, if not one world.
SEED ?=
STEPS ?=
MINUTES ?=
# One target of make fuzz; a file that it runs instead of its corpus.
TARGET ?=
INPUT ?=
# A log of make syz that it runs again; 1 for loop.
REPLAY ?=
LOOP ?=
PREFIX ?= /usr/local
DESTDIR ?=

TREE := $(CURDIR)
BUILD := $(TREE)/build
RELEASE = $(shell scripts/kernel/resolve.sh "$(KVER)" release)

.PHONY: all modules tools install uninstall clean check check-full check-seconds kcsan check-extremes check-python \
	check-programs check-rails soak siege \
	check-packages check-dashboard deb gates kunit selftests sim sim-bites sim-coverage fuzz fuzz-corpus syz try bench bench-nodes demo nodes deps help

all: modules tools

modules:
	@scripts/build-modules.sh "$(KVER)"

tools:
	@$(MAKE) -s --no-print-directory -C tools O=$(BUILD)/tools

install: all
install uninstall:
	@scripts/install.sh $@ "$(RELEASE)" "$(PREFIX)" "$(DESTDIR)"

clean:
	@rm -rf $(BUILD) $(TREE)/dist

deps:
	@scripts/deps.sh

# Packages of Debian, into dist/.
deb:
	@scripts/deb.sh

# These reach the scripts through the environment.
export KERNEL TEST CASE VARIANT STAGES TUNE BASELINE SOAK_MINUTES SOAK_SEED SIEGE_MINUTES SEED STEPS MINUTES TARGET INPUT REPLAY LOOP

check:
	@scripts/check.sh all

# Longer than make check may take: every test and variant on every kernel that can run it.
check-full:
	@scripts/check.sh full

# What tests took in the last run, into the file that their limits come from.
check-seconds:
	@scripts/check.sh seconds

gates kunit selftests:
	@scripts/check.sh $@

# The engine in user space: worlds at random, each repeated by its seed.
sim:
	@scripts/sim.sh run

# Defects of the past, put back; lines of the engine.
sim-bites sim-coverage:
	@scripts/sim.sh $(@:sim-%=%)

# Parsers and the engine with inputs of any kind: of libFuzzer, or those committed.
fuzz:
	@fuzz/fuzz.sh run

fuzz-corpus:
	@fuzz/fuzz.sh corpus

# Calls at random on a native debug kernel, guided by what of the modules they cover.
syz:
	@scripts/syz.sh

# From an edit to the verdict, in seconds.
try:
	@scripts/try.sh

# Accesses of the modules that race, on two CPUs: every test, or TEST.
kcsan:
	@KERNEL=kcsan scripts/check.sh selftests

# On two CPUs, with every tunable at its least (TUNE=least) and at its most.
check-extremes:
	@scripts/check.sh extremes

# CPython's tests of its sockets, over AF_SANX and over TCP.
check-python:
	@scripts/deps.sh suites
	@KERNEL="$(or $(KERNEL),6.1)" TEST=python scripts/check.sh selftests

# Larger programs, for longer.
check-programs:
	@scripts/deps.sh suites
	@KERNEL="$(or $(KERNEL),6.1)" TEST="more_programs mpi dgram_programs" scripts/check.sh selftests

# Three cables cut and joined at random, STORM_EVENTS times, under STORM_PROGRAMS.
check-rails:
	@scripts/deps.sh suites
	@KERNEL="$(or $(KERNEL),um)" TEST=storm scripts/check.sh selftests

# The dashboard's queries, with figures of two nodes.
check-dashboard:
	@scripts/deps.sh dashboard
	@KERNEL="$(or $(KERNEL),um)" TEST=dashboard scripts/check.sh selftests

# The packages on machines that have nothing else of ours: installed, kept over a reboot,
# upgraded and removed under connections.
check-packages:
	@scripts/check.sh packages

# Everything at random, for SOAK_MINUTES; SOAK_SEED repeats what one did.
soak:
	@KERNEL="$(or $(KERNEL),debug)" TEST=soak scripts/check.sh selftests

# Two good nodes beside two hostile ones, for SIEGE_MINUTES.
siege:
	@KERNEL="$(or $(KERNEL),um)" TEST=siege scripts/check.sh selftests

# Counted in instructions, so it may run beside other things.
bench:
	@scripts/bench.sh

# By a wall clock, so nothing else should run.
bench-nodes:
	@scripts/bench-nodes.sh

demo:
	@scripts/demo.sh

nodes:
	@scripts/nodes.sh $(KERNEL)

help:
	@sed -n 's/^#H //p' Makefile

#H make               modules for the running kernel, and the tools, into build/
#H make KVER=...      the same for another kernel: a release, 6.1, 6.12, debug or um
#H make install       modules, tools, headers, man pages (PREFIX=, DESTDIR=)
#H make uninstall     remove what install put there
#H make deb           packages of Debian, into dist/
#H make clean         remove build/ and dist/
#H make deps          install with apt what building and testing need
#H make try           one selftest on a native debug kernel, in seconds: TEST=name
#H                    [CASE=name] [VARIANT=tcp|loop|fallback|verbs|siw] [LEAKS=1]
#H make check         gates, KUnit, simulator, selftests on three kernels: half an hour
#H make check-full    every test and variant on every kernel, in hours; KERNEL=, TEST=
#H make check-seconds what tests took in the last run, as the base of their limits
#H make kcsan         the selftests on two CPUs with KCSAN; TEST=name for one
#H make check-extremes every one-node test on two CPUs, tunables at their ends; TUNE=
#H make check-python  CPython's socket tests, over AF_SANX and over TCP
#H make check-programs databases, web, FTP, SSH and name servers, MPI, for minutes
#H make check-rails   three cables cut and joined at random, under NBD, PostgreSQL,
#H                    redis and MPI; [STORM_EVENTS=1000] [STORM_PROGRAMS=] [EVENT_SEED=]
#H make check-dashboard  Documentation/grafana.json with figures of two nodes, in Prometheus
#H make check-packages  the packages on clean nodes: install, reboot, upgrade under
#H                    connections, remove, purge; half an hour
#H make soak          everything at random between debug kernels; SOAK_MINUTES=30
#H make siege         two good nodes beside two hostile ones; SIEGE_MINUTES=60
#H make gates         style, static analysis, generated code; TEST=name for one
#H make kunit         the KUnit suites, on the native debug kernel; TEST=module for one
#H make sim           the engine in user space; [SEED=n | STEPS=n | MINUTES=m]
#H                    or what many nodes cost; NODES="2 100" [RAILS=] [LANES=] [CONNS=]
#H make sim-bites     defects of the past, put back, which the simulator has to find
#H make sim-coverage  lines of the engine that the simulator runs
#H make fuzz          libFuzzer feeds each parser, and the engine; TARGET=name for one,
#H                    MINUTES=1 for each; INPUT=file repeats what one input did
#H make fuzz-corpus   the committed inputs of each fuzz target, in seconds
#H make syz           calls at random, and a peer, guided by KCOV; MINUTES=60 [SEED=n];
#H                    REPLAY=file [LOOP=1] runs the programs of a log again
#H make selftests     on booted nodes; KERNEL=6.1|6.12|debug|um, TEST=name for one,
#H                    VARIANT=rail over TCP rails, without RDMA
#H make bench         AF_SANX beside its peers: table, JSON, plots; BASELINE=bench.json
#H make bench-nodes   standard programs over two nodes, by a wall clock; BASELINE=
#H make demo          two virtual nodes, a program unmodified over AF_SANX
#H make nodes         two virtual nodes, left up, with a shell on each (KERNEL=)
