# Everything a newcomer needs: each target sets up what it needs in .venv and is fast the next time.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
NEURAL := .venv-neural
COMPILED := .venv-compiled
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# What is compiled once need not be compiled by every process of every run.
unexport PYTHONDONTWRITEBYTECODE
# Each file is tested in one process, which makes what its tests share once.
PYTEST := pytest -n auto --dist loadfile

.DEFAULT_GOAL := help
.PHONY: help demo test test-thorough test-neural fuzz audit compiled lint types tests coverage format benchmarks clean

help:  ## Show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/page  ## Set up, search the built-in sampler, and open the page on it
	@$(BIN)/python examples/demo.py

test: lint types tests  ## Set up, check style and types, and run the tests

test-neural: $(NEURAL)/all  ## The tests but the page's once more, where torch and the other extras are
	$(NEURAL)/bin/$(PYTEST) --ignore tests/service/pages

compiled: $(COMPILED)/all  ## Compile the hot modules; run the tests and the speeds with them
	$(COMPILED)/bin/pytest tests
	$(COMPILED)/bin/python benchmarks/formula_speed.py
	$(COMPILED)/bin/python benchmarks/posts_xml.py

tests: $(VENV)/dev  ## Run the tests and the examples in the docstrings
	$(BIN)/$(PYTEST) -m 'not thorough' -p no:schemathesis

test-thorough: $(VENV)/dev  ## The tests that take long, and many examples for each property
	$(BIN)/$(PYTEST) -m 'thorough or hypothesis' --hypothesis-profile thorough

# How long `make fuzz` goes on: make fuzz SECONDS=600
SECONDS := 3600
fuzz: $(VENV)/dev  ## Feed changed inputs to every reader, door and library file for an hour
	$(BIN)/python -m benchmarks.fuzz --seconds $(SECONDS)

audit: $(VENV)/dev  ## Ask a public list whether a pinned version has a known weakness
	@$(BIN)/python .ci/audit.py

lint: $(VENV)/dev  ## Check the style
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet

types: $(VENV)/dev  ## Check the types
	$(BIN)/mypy --no-error-summary

coverage: $(VENV)/dev  ## Run the tests and show which lines they never reach
	$(BIN)/pytest --cov --cov-report=term-missing:skip-covered

format: $(VENV)/dev  ## Put the code into the house style
	$(BIN)/ruff check --fix --quiet
	$(BIN)/ruff format --quiet

benchmarks: $(VENV)/dev  ## List the benchmarks and how to run them
	@for file in benchmarks/[a-z]*.py; do name=$$(basename $$file .py); [ $$name = shared ] || \
		printf '  $(BIN)/python -m benchmarks.%-22s %s\n' $$name \
		"$$(sed -n '1s/^r*"""\(.*[^"]\)"*$$/\1/p' $$file)"; done
	@printf '  $(BIN)/python -m benchmarks.%-22s %s\n' fuzz \
		"$$(sed -n '1s/^"""\(.*\)$$/\1/p' benchmarks/fuzz/__main__.py)"

clean:  ## Remove the environment and what was built
	rm -rf $(VENV) $(NEURAL) $(COMPILED) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage

%/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "MathSetu needs Python 3.11 \
	or newer; set one with: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $*

# Versions are pinned in constraints.txt, so that every machine tests the same thing.
$(VENV)/page: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[web]'
	@touch $@

$(VENV)/dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@ $(VENV)/page

$(COMPILED)/all: pyproject.toml constraints.txt hatch_build.py $(shell find src -name '*.py') \
		| $(COMPILED)/bin/python
	MATHSETU_COMPILE=1 PIP_CONSTRAINT=constraints.txt \
		$(COMPILED)/bin/pip install --quiet --force-reinstall '.[dev]'
	@touch $@

$(NEURAL)/all: pyproject.toml constraints.txt | $(NEURAL)/bin/python
	$(NEURAL)/bin/pip install --quiet --constraint constraints.txt \
		--editable '.[dev,neural,ctranslate2,rivals]'
	@touch $@
