# SPDX-License-Identifier: GPL-2.0-or-later
# The verbs people type. meson and scripts/ do the work.
#
# Variables: BATCH=1 (boot-testbed: the demo, no shell), LOCKSTEP_CACHE=DIR,
# QEMU_SRC=DIR, LINUX_SRC=DIR (own trees), KERNEL_CONFIG=FILE (a fragment after
# images/kernel.config), JOBS=N, ARGS="..." (options for ./testbed or tests/run).

export BATCH LOCKSTEP_CACHE QEMU_SRC LINUX_SRC KERNEL_CONFIG JOBS
.PHONY: help setup boot-testbed debug test test-long bench clean

help:
	@echo 'make setup         install packages, fetch sources, build everything'
	@echo 'make boot-testbed  boot the guest with 8 controllers connected (BATCH=1: a demo)'
	@echo 'make debug         the same under gdb: make debug ARGS="--break nvme_tcp_poll"'
	@echo 'make test          the tests (under 15 minutes when built)'
	@echo 'make test-long     soaks, full counts, long fuzzing'
	@echo 'make bench         the benchmarks'
	@echo 'make clean         remove build/ (the download cache stays)'

setup:
	@scripts/setup

boot-testbed: setup
	@./testbed boot $(ARGS)

debug: setup
	@./testbed debug $(ARGS)

test: setup
	@tests/run $(ARGS)

test-long: setup
	@tests/run --long $(ARGS)

bench: setup
	@tests/run --bench $(ARGS)

clean:
	rm -rf build
