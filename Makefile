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
# There are as many processes as cores: more threads in each would wait for one another for minutes.
tests test-thorough test-neural: export OMP_NUM_THREADS := 1
tests test-thorough test-neural: export OPENBLAS_NUM_THREADS := 1
# Tests write and sync thousands of small files: in memory, where there is room, nobody waits for a disk.
tests: export PYTEST_DEBUG_TEMPROOT := $(shell df -Pm /dev/shm 2> /dev/null | awk 'NR == 2 && $$4 > 2048 { print "/dev/shm" }')

.DEFAULT_GOAL := help
.PHONY: help demo test test-thorough test-neural fuzz mutations site distributions wheel-check audit lock \
	image-digests image-check compiled lint types tests coverage format benchmarks screenshots clean

help:  ## Show what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/page  ## Set up, search the built-in sampler, and open the page on it
	@$(BIN)/python examples/demo.py

test: lint types tests  ## Set up, check style and types, and run the tests

# The tests that say themselves that they need an extra, in the packages that use some; the others have passed
# without. Properties hold there as they do without extras, and take long.
# ranx compiles for minutes what runs in no time uncompiled, so that the integrations run by themselves.
PACKAGES := encoders evaluation graphs languages ranking recipes retrieval training
NEEDING = $(shell grep -rlE 'importorskip|MissingExtra|tiny' --include='test_*.py' $(PACKAGES:%=tests/%))
# What `make test-neural` runs; CI leaves out what takes minutes.
WITH_EXTRAS := not hypothesis
test-neural: $(NEURAL)/all  ## The tests of what may use torch and other extras, where these are
	$(NEURAL)/bin/$(PYTEST) -m '$(WITH_EXTRAS)' src/mathsetu/encoders src/mathsetu/training $(NEEDING) tests/cli/test_library_cli.py \
		tests/test_engines.py tests/test_layers.py tests/test_public.py tests/test_own_models.py
	NUMBA_DISABLE_JIT=1 $(NEURAL)/bin/$(PYTEST) src/mathsetu/integrations tests/integrations tests/cli/test_evaluate_cli.py

compiled: $(COMPILED)/all  ## Compile the hot modules; run the tests and the speeds with them
	$(COMPILED)/bin/pytest tests
	$(COMPILED)/bin/python benchmarks/formula_speed.py
	$(COMPILED)/bin/python benchmarks/posts_xml.py

tests: $(VENV)/dev  ## Run the tests and the examples in the docstrings
	$(BIN)/$(PYTEST) -m 'not thorough' -p no:schemathesis

# What `make test-thorough` runs; CI leaves properties to `make test`, which has fewer examples of each.
THOROUGH := thorough or hypothesis
test-thorough: $(VENV)/dev  ## The tests that take long, and many examples for each property
	$(BIN)/$(PYTEST) -m '$(THOROUGH)' --hypothesis-profile thorough

# How long `make fuzz` goes on: make fuzz SECONDS=600
SECONDS := 3600
fuzz: $(VENV)/dev  ## Feed changed inputs to every reader, interface and library file for an hour
	$(BIN)/python -m benchmarks.fuzz --seconds $(SECONDS)

# How many faults `make mutations` makes in each folder.
NUMBER := 40
mutations: $(VENV)/dev  ## Break the code on purpose and count which faults the tests notice
	$(BIN)/python -m benchmarks.mutations --faults
	$(BIN)/python -m benchmarks.mutations --number $(NUMBER)

site: $(VENV)/site  ## Build the documentation as a site in build/site, links checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

distributions: $(VENV)/release  ## Build sdist, pure wheel and SBOM in dist/, and print checksums
	$(BIN)/python .ci/distributions.py

wheel-check: $(VENV)/dev $(VENV)/compile  ## Build a compiled wheel, install it where there is no compiler, try it
	$(BIN)/python .ci/compiled_wheel.py

audit: $(VENV)/audit  ## Ask a public list whether a locked version has a known weakness
	@$(BIN)/python .ci/audit.py

lock: $(VENV)/lock  ## Lock what pyproject.toml and constraints.txt say, with hashes, in requirements/
	@$(BIN)/python .ci/lock.py

image-digests:  ## Pin the images of the containers to what their tags name today (needs docker)
	@$(PYTHON) .ci/images.py

image-check:  ## Fail where an image of the containers is not pinned by its digest
	@$(PYTHON) .ci/images.py --check

screenshots: $(VENV)/dev  ## Make the pictures of the page anew (needs Chromium and fonts-noto-core)
	$(BIN)/python -m benchmarks.screenshots

lint: $(VENV)/dev  ## Check the style
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet

types: $(VENV)/dev  ## Check the types
	$(BIN)/mypy --no-error-summary

coverage: $(VENV)/dev  ## Run the tests, show which lines they never reach, and the shares by folder
	$(BIN)/pytest -m 'not thorough' -p no:schemathesis --cov --cov-report=term-missing:skip-covered
	$(BIN)/python .ci/coverage_by_folder.py

format: $(VENV)/dev  ## Format the code
	$(BIN)/ruff check --fix --quiet
	$(BIN)/ruff format --quiet

benchmarks: $(VENV)/dev  ## List the benchmarks and how to run them
	@for file in benchmarks/[a-z]*.py; do name=$$(basename $$file .py); [ $$name = shared ] || \
		printf '  $(BIN)/python -m benchmarks.%-22s %s\n' $$name \
		"$$(sed -n '1s/^r*"""\(.*[^"]\)"*$$/\1/p' $$file)"; done
	@printf '  $(BIN)/python -m benchmarks.%-22s %s\n' fuzz \
		"$$(sed -n '1s/^"""\(.*\)$$/\1/p' benchmarks/fuzz/__main__.py)"

clean:  ## Remove the environment and what was built
	rm -rf $(VENV) $(NEURAL) $(COMPILED) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage \
		src/mathsetu/retrieval/kernels/*.so

%/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "MathSetu needs Python 3.11 \
	or newer; set one with: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $*

# Every package is pinned and checked against its hash (requirements/), so that every machine tests
# the same thing. The project itself is then built by what is installed already.
LOCKED := pyproject.toml $(wildcard requirements/*)
PROJECT := install --quiet --no-deps --no-build-isolation
# The inner loops of search, which installing compiles (hatch_build.py).
LOOPS := hatch_build.py $(wildcard src/mathsetu/retrieval/kernels/*.[ch])

$(VENV)/page: $(LOCKED) $(LOOPS) | $(VENV)/bin/python
	requirements/install $(VENV) core web build
	$(BIN)/pip $(PROJECT) --editable .
	@touch $@

$(VENV)/dev: $(LOCKED) $(LOOPS) | $(VENV)/bin/python
	requirements/install $(VENV) core dev build
	$(BIN)/pip $(PROJECT) --editable .
	@touch $@ $(VENV)/page

$(VENV)/audit: $(LOCKED) | $(VENV)/bin/python
	requirements/install $(VENV) audit
	@touch $@

$(VENV)/site: $(LOCKED) | $(VENV)/page
	requirements/install $(VENV) site
	@touch $@

$(VENV)/release: $(LOCKED) | $(VENV)/bin/python
	requirements/install $(VENV) build release
	@touch $@

$(VENV)/compile: $(LOCKED) | $(VENV)/bin/python
	requirements/install $(VENV) build compile
	@touch $@

$(VENV)/lock: $(LOCKED) | $(VENV)/bin/python
	requirements/install $(VENV) lock
	@touch $@

$(COMPILED)/all: $(LOCKED) $(LOOPS) $(shell find src -name '*.py') | $(COMPILED)/bin/python
	requirements/install $(COMPILED) core dev build compile
	MATHSETU_COMPILE=1 $(COMPILED)/bin/pip $(PROJECT) --force-reinstall .
	@touch $@

$(NEURAL)/packages: $(LOCKED) | $(NEURAL)/bin/python
	requirements/install $(NEURAL) core dev neural ctranslate2 rivals ecosystem build
	@touch $@

$(NEURAL)/all: $(NEURAL)/packages $(LOOPS)
	$(NEURAL)/bin/pip $(PROJECT) --editable .
	@touch $@
