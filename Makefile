# The commands of this project. Each brings what it needs (scripts/setup.sh),
# configures a preset of CMakePresets.json, and hands the work to ninja.
#
#   make              build everything into build/release
#   make test         build, then run every test
#   make demo         build the tools, then run examples/ on real data
#   make prove        prove the rewrite rules by Z3, with long time limits
#   make bench        build, then print the table of measurements
#   make asan         run the tests under address and undefined-behaviour checks
#   make docs         generate the documents of the ops and passes
#   make format tidy  clang-format, clang-tidy
#   make clean        remove build/ (.venv stays)

PRESET ?= release
BUILD := build/$(PRESET)
PYTHON := .venv/bin/python
JOBS ?= $(shell nproc)

# Objects found in ccache by one clone serve every other clone.
export CCACHE_BASEDIR ?= $(CURDIR)

.DEFAULT_GOAL := build
.PHONY: setup setup-dev build test prove demo bench asan docs format tidy clean

setup:
	@scripts/setup.sh

setup-dev:
	@scripts/setup.sh --dev

# Ninja re-runs cmake by itself when a CMakeLists.txt changes.
build/%/build.ninja: CMakePresets.json | setup
	cmake --preset $*

build: $(BUILD)/build.ninja
	cmake --build $(BUILD)

test: build
	ctest --preset $(PRESET) -j $(JOBS)

prove: $(BUILD)/build.ninja
	cmake --build $(BUILD) --target UopProofTests
	UOP_PROVE=1 $(BUILD)/bin/UopProofTests --gtest_brief=1

demo: $(BUILD)/build.ninja
	cmake --build $(BUILD) --target uop-run
	$(PYTHON) scripts/demo.py --build $(BUILD)

bench: build
	$(PYTHON) benchmarks/run.py $(BUILD)

asan: setup-dev
	$(MAKE) test PRESET=asan

docs: $(BUILD)/build.ninja
	cmake --build $(BUILD) --target uop-doc

format: setup-dev
	git ls-files -z '*.cpp' '*.h' | xargs -0 -r clang-format-22 -i

tidy: setup-dev build
	git ls-files -z '*.cpp' | xargs -0 -r -n 1 -P $(JOBS) \
	  clang-tidy-22 --quiet -p $(BUILD)

clean:
	rm -rf build
