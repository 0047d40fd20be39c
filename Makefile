# `make certify` certifies every reference adapter. `make test` runs every test and static check.
# Both install what they need into .venv: only Python 3.11 or newer and the package index are required.

PYTHON ?= python3
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
VENV := .venv/$(VERSION)
BIN := $(VENV)/bin
# Most of what is installed is never imported: Python compiles the rest at its first import.
PIP := PIP_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet --no-compile
# Without byte code on disk, every process that a test starts would compile everything again.
export PYTHONDONTWRITEBYTECODE =
# One worker more than cores: some tests wait for servers and time limits. A file stays on one worker, as its fixtures
# are shared. Files with the longest tests begin: see conftest.py.
WORKERS = $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)' 2>/dev/null)
PYTEST = pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder

.PHONY: certify test static pytest pytest-again bench payloads cassettes record-local mutants clean python

certify: $(VENV)/certify
	$(BIN)/art certify --built-in

test: static pytest

static: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports --no-cache

pytest: $(VENV)/test
	$(BIN)/coverage erase
	$(BIN)/coverage run -m $(PYTEST) -m "not (once or unmeasured)"
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report
	$(BIN)/python -m $(PYTEST) -m "once or unmeasured"

# For a second Python: without coverage, and without the tests that one Python is enough for.
pytest-again: $(VENV)/test
	$(BIN)/python -m $(PYTEST) -m "not once"

bench: $(VENV)/test
	$(BIN)/python -m pytest benchmarks --override-ini testpaths=benchmarks

# The canonical payloads, fixtures/payloads: after a scenario is added, changed or deleted.
payloads: $(VENV)/certify
	$(BIN)/python compliance/tests/canonical_payloads.py

cassettes: $(VENV)/certify
	$(BIN)/art record --built-in --from-strict-provider --into cassettes

record-local: $(VENV)/certify
	$(BIN)/python compliance/local_engine/record.py

# make mutants MODULE="module or folder ..." [SAMPLE=300] [SEED=1] [SESSION=file] [AGAIN=yes] (see docs/mutants.md)
mutants: $(VENV)/test
	$(PIP) cosmic-ray==8.7.0
	$(BIN)/python compliance/mutants/run.py $(MODULE) $(SAMPLE:%=--sample %) $(SEED:%=--seed %) \
		$(SESSION:%=--session %) $(AGAIN:%=--again)

clean:
	rm -rf .venv .coverage art-report

$(VENV)/certify: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable '.[compliance]'
	@touch $@

$(VENV)/test: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable '.[dev]'
	@touch $@

$(BIN)/python: | python
	$(PYTHON) -m venv $(VENV)

python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; $(PYTHON) is $(VERSION). Choose another one: make PYTHON=python3.13 ..." >&2; exit 2; }
