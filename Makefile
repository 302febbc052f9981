# Each target creates the environment that it needs in .venv, and reuses it the next time.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
NEURAL := .venv-neural
COMPILED := .venv-compiled
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Keep compiled bytecode: otherwise every test process would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE
# One process runs all tests of a file, so that module fixtures are built once.
PYTEST := pytest -n auto --dist loadfile
# One thread per process: there are as many processes as cores, and more threads would slow each other down.
tests test-thorough test-neural: export OMP_NUM_THREADS := 1
tests test-thorough test-neural: export OPENBLAS_NUM_THREADS := 1
# Tests write and sync thousands of small files: use memory instead of a disk if there is room.
tests: export PYTEST_DEBUG_TEMPROOT := $(shell df -Pm /dev/shm 2> /dev/null | awk 'NR == 2 && $$4 > 2048 { print "/dev/shm" }')

.DEFAULT_GOAL := help
.PHONY: help demo test test-thorough test-neural fuzz mutations site distributions wheel-check audit lock \
	image-digests image-check compiled lint types tests coverage format benchmarks screenshots clean

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/page  ## Set up, search the built-in sampler, and open the page on it
	@$(BIN)/python examples/demo.py

test: lint types tests  ## Set up, check style and types, and run the tests

# Test files that need an extra, in the packages that use extras; `make test` has run the others. Property
# tests are left out: they take long, and extras do not change them.
# The integrations run separately: without JIT, because ranx would compile for minutes.
PACKAGES := encoders evaluation graphs languages ranking recipes retrieval training
NEEDING = $(shell grep -rlE 'importorskip|MissingExtra|tiny' --include='test_*.py' $(PACKAGES:%=tests/%))
# The marks that `make test-neural` runs; CI leaves out the slowest tests.
WITH_EXTRAS := not hypothesis
test-neural: $(NEURAL)/all  ## Run the tests that need torch and other extras
	$(NEURAL)/bin/$(PYTEST) -m '$(WITH_EXTRAS)' src/mathsetu/encoders src/mathsetu/training $(NEEDING) tests/cli/test_library_cli.py \
		tests/test_engines.py tests/test_layers.py tests/test_public.py tests/test_own_models.py
	NUMBA_DISABLE_JIT=1 $(NEURAL)/bin/$(PYTEST) src/mathsetu/integrations tests/integrations tests/cli/test_evaluate_cli.py

compiled: $(COMPILED)/all  ## Compile the performance-critical modules, then run tests and speed benchmarks
	$(COMPILED)/bin/pytest tests
	$(COMPILED)/bin/python benchmarks/formula_speed.py
	$(COMPILED)/bin/python benchmarks/posts_xml.py

tests: $(VENV)/dev  ## Run the tests and the examples in the docstrings
	$(BIN)/$(PYTEST) -m 'not thorough' -p no:schemathesis

# The marks that `make test-thorough` runs; CI leaves out the property tests, which `make test` runs with fewer examples.
THOROUGH := thorough or hypothesis
test-thorough: $(VENV)/dev  ## Run slow tests, and property tests with many examples
	$(BIN)/$(PYTEST) -m '$(THOROUGH)' --hypothesis-profile thorough

# Duration of `make fuzz`: make fuzz SECONDS=600
SECONDS := 3600
fuzz: $(VENV)/dev  ## Feed mutated inputs to every reader, interface and library file for an hour
	$(BIN)/python -m benchmarks.fuzz --seconds $(SECONDS)

# Mutants per folder for `make mutations`.
NUMBER := 40
mutations: $(VENV)/dev  ## Mutate the code and count the mutants that the tests detect
	$(BIN)/python -m benchmarks.mutations --faults
	$(BIN)/python -m benchmarks.mutations --number $(NUMBER)

# Not with --quiet: then --strict does not see the warnings.
site: $(VENV)/site  ## Build the documentation as a site in build/site, links checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

distributions: $(VENV)/release  ## Build sdist, pure wheel and SBOM in dist/, and print checksums
	$(BIN)/python .ci/distributions.py

wheel-check: $(VENV)/dev $(VENV)/compile  ## Build a compiled wheel, and test it in an environment without a compiler
	$(BIN)/python .ci/compiled_wheel.py

audit: $(VENV)/audit  ## Check all locked versions against a list of known vulnerabilities
	@$(BIN)/python .ci/audit.py

lock: $(VENV)/lock  ## Lock the versions of pyproject.toml and constraints.txt, with hashes, in requirements/
	@$(BIN)/python .ci/lock.py

image-digests:  ## Pin the container images to the current digests of their tags (needs docker)
	@$(PYTHON) .ci/images.py

image-check:  ## Check that all container images are pinned by digest
	@$(PYTHON) .ci/images.py --check

screenshots: $(VENV)/dev  ## Take the screenshots of the page again (needs Chromium and fonts-noto-core)
	$(BIN)/python -m benchmarks.screenshots

lint: $(VENV)/dev  ## Check the style
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet

types: $(VENV)/dev  ## Check the types
	$(BIN)/mypy --no-error-summary

coverage: $(VENV)/dev  ## Run the tests; show uncovered lines and coverage by folder
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

clean:  ## Remove environments and build outputs
	rm -rf $(VENV) $(NEURAL) $(COMPILED) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage \
		src/mathsetu/retrieval/kernels/*.so

%/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "MathSetu needs Python 3.11 \
	or newer; set one with: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv $*

# All packages are pinned and checked against their hashes (requirements/), so that every machine runs the
# same versions. The project itself is then built by the installed backend.
LOCKED := pyproject.toml $(wildcard requirements/*)
PROJECT := install --quiet --no-deps --no-build-isolation
# Sources of the inner loops, which are compiled at installation (hatch_build.py).
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
