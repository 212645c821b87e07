# The front door. `make profile` and `make test` do everything on a fresh Debian 12 machine.
SHELL := /bin/bash
.DELETE_ON_ERROR:
.PHONY: setup build test profile bench fuzz lint fmt dist clean

FUZZ_SECONDS ?= 300
# As many compilers as processors: Ninja's two more cost a tenth of the time, because the units are large.
JOBS := $(shell nproc)

setup:
	scripts/setup.sh build

build: setup
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS) --target llmprof llmprof_collector workloads

profile: build
	build/bin/llmprof run

test:
	scripts/test.sh

bench:
	scripts/setup.sh bench
	cmake --preset bench
	cmake --build --preset bench --parallel $(JOBS)
	python3 bench/run.py
	python3 bench/serving.py
	python3 bench/load.py

fuzz:
	scripts/setup.sh fuzz
	cmake --preset asan
	cmake --build --preset asan --parallel $(JOBS) --target fuzz_targets test_robustness
	scripts/fuzz.sh $(FUZZ_SECONDS)

lint:
	scripts/setup.sh test
	scripts/lint.sh

fmt:
	scripts/setup.sh test
	git ls-files -co --exclude-standard '*.cpp' '*.h' | xargs clang-format-19 -i

dist:
	scripts/setup.sh dist
	scripts/dist.sh

clean:
	rm -rf build dist
