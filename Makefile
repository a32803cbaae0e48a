# Everything a developer runs.  `make` alone lists the targets.  Needs Python 3.11 or newer; no GPU, no CUDA toolkit.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
JOBS ?= 2
# Where the project's tests and tools find the environment's commands, whatever the caller's PATH holds.
export PATH := $(CURDIR)/$(BIN):$(PATH)

.DEFAULT_GOAL := help
.PHONY: help venv demo test test-all lint format fuzz bench-linker docs clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

venv: $(STAMP)  ## the environment in ./.venv, with everything installed

# The stamp is newer than both files when what they ask for is installed.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "PipeLink needs Python 3.11 or newer; say which: make PYTHON=python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing what constraints.txt pins into $(VENV)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --constraint constraints.txt \
		--editable '.[compiler,examples,test,dev]'
	@touch $@

demo: $(STAMP)  ## link the example GEMM, compare it with its monolith, write build/gemm.plk, run it if there is a GPU
	@$(BIN)/python examples/gemm/demo.py --output build

test: lint  ## lint, then all tests
	@$(BIN)/lit -j $(JOBS) --order=lexical --quiet test/lit test/corpus
	@$(BIN)/pytest -q -n $(JOBS) --dist worksteal $(EVERYTHING)

test-all: EVERYTHING := --all
test-all: test  ## the same with every composition's machine code, and with the ends of the dependencies' ranges
	@$(BIN)/python test/dependencies

lint: $(STAMP)  ## format, style, types, import directions
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/pyright
	@$(BIN)/lint-imports

format: $(STAMP)  ## rewrite the Python sources in the project's format
	@$(BIN)/ruff check --quiet --fix .
	@$(BIN)/ruff format --quiet .

fuzz: $(STAMP)  ## 100,000 hostile inputs (the tests try 1,000 of each kind)
	@$(BIN)/python test/fuzz --budget 100000

bench-linker: $(STAMP)  ## how fast the linker is on this machine; writes benchmarks/results
	@$(BIN)/python benchmarks/linker.py

docs: $(STAMP)  ## regenerate the pages and tables that come from the code
	@$(BIN)/python docs/generate.py

clean:  ## remove what was built, not the environment
	rm -rf build *.egg-info .pytest_cache .ruff_cache .hypothesis test/lit/Output
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
