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
# Two workers more than cores: some tests wait for servers and time limits. A file stays on one worker, as its fixtures
# are shared, except some with many long tests. Files with the longest tests begin: see conftest.py.
WORKERS = $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 2)' 2>/dev/null)
PYTEST = pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder
# A test with sockets and time limits may fail beside others on a busy machine: what failed (code 1) runs again, alone.
ALONE = pytest --last-failed --last-failed-no-failures none --verbose --snapshot-warn-unused

.PHONY: certify test static mypy pyright lint docs pytest coverage pytest-again thorough installed-again compiled others bench payloads pages cassettes record-local mutants torture subjects bridges clean python

certify: $(VENV)/certify
	$(BIN)/art certify --built-in

test: static pytest coverage

static: $(VENV)/test
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target pyright mypy lint docs compiled $(BESIDE)

# What else runs beside the static checks.
BESIDE ?=

# Byte code of all that the tests import: otherwise each worker compiles everything, all at the same time.
compiled:
	@$(BIN)/python -m pytest --collect-only --quiet --quiet >/dev/null || true # what is wrong, the tests will say

mypy: $(VENV)/test
	$(BIN)/mypy

pyright: $(VENV)/test
	$(BIN)/pyright --pythonpath $(BIN)/python

lint: $(VENV)/test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache

# The documentation, as a site in build/docs/site. Broken links and public names without a docstring fail it.
docs: $(VENV)/test
	$(BIN)/python docs/site/make_site.py

# What happens between the static checks and the tests: waiting for programs that are being installed, say.
BEFORE_TESTS ?= true

pytest: $(VENV)/test
	@$(BEFORE_TESTS)
	$(BIN)/coverage erase
	$(BIN)/coverage run -m $(PYTEST) || { [ $$? -eq 1 ] && $(BIN)/coverage run -m $(ALONE); }

# What the tests before it have measured.
coverage: $(VENV)/test
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

# For a second Python, which needs every test function to run, but not every row of a table: without coverage and
# static checks, and without the tests that one Python is enough for.
pytest-again: installed-again
	$(BIN)/python -m $(PYTEST) -m "not once" --sample || { [ $$? -eq 1 ] && $(BIN)/python -m $(ALONE); }

# Every miniature around every adapter that it can be around, and whole certifications of what `make test` judges in
# part: after a check changed, and before a release.
thorough: $(VENV)/test
	$(BIN)/python -m $(PYTEST) --thorough -m thorough

installed-again: $(VENV)/pytest

# What some tests want in place of a part of their environment: they are skipped without it.
others: $(VENV)/others/pytest-9.0 $(VENV)/others/pytest-asyncio

$(VENV)/others/pytest-9.0: WANTED = pytest==9.0.0
$(VENV)/others/pytest-asyncio: WANTED = pytest-asyncio==1.5.0
$(VENV)/others/%: | $(BIN)/python
	@$(subst PIP_CONSTRAINT=constraints.txt,,$(PIP)) --no-deps --target $@ $(WANTED) || \
	  echo "--- $(WANTED) cannot be installed: the tests that want it are skipped"

# Ours, the floors and other libraries, each in an environment of its own, and docs/performance.md:
# make bench [OPTIONS="--only haystack ..."] (see benchmarks/README.md)
bench: $(VENV)/test
	$(BIN)/python -m benchmarks.run $(OPTIONS)

# The scenarios of agents' own prompts, then the canonical payloads, fixtures/payloads: after a scenario is added, changed
# or deleted, or an agent changed.
payloads: $(VENV)/certify
	PYTHONPATH=art_sdk/tests $(BIN)/python compliance/tests/agent_scenarios.py
	$(BIN)/python compliance/tests/browser_scenarios.py
	$(BIN)/python compliance/tests/canonical_payloads.py

# What is made of code and data: tables of adapters, losses and repairs, docs/rules.md, docs/slot-maps.md, JSON Schemas.
pages: $(VENV)/certify
	$(BIN)/python compliance/tests/generated_pages.py

cassettes: $(VENV)/certify
	$(BIN)/art record --built-in --from-strict-provider --into cassettes

record-local: $(VENV)/certify
	$(BIN)/python compliance/local_engine/record.py
	PYTHONPATH=art_sdk/tests $(BIN)/python compliance/local_engine/replies.py

# make mutants MODULE="module or folder ..." [SAMPLE=300] [SEED=1] [SESSION=file] [JOBS=1] [AGAIN=yes] (see docs/mutants.md)
mutants: $(VENV)/test
	$(PIP) cosmic-ray==8.7.0
	$(BIN)/python compliance/mutants/run.py $(MODULE) $(SAMPLE:%=--sample %) $(SEED:%=--seed %) \
		$(SESSION:%=--session %) $(JOBS:%=--jobs %) $(AGAIN:%=--again)

# Every fault of the table, each in a process of its own, and docs/robustness.md. make torture [ONLY="art serve"]
# tries those whose name contains the text, and writes nothing.
torture: $(VENV)/test
	$(BIN)/python compliance/torture/run.py $(if $(ONLY),--only "$(ONLY)",--page docs/robustness.md)

# make subjects [LIBRARY="langchain ..."] [OPTIONS="--provider Gemini ..."] (see docs/libraries.md)
subjects: | $(BIN)/python
	$(BIN)/python examples/subjects/run.py $(LIBRARY) $(OPTIONS)

# The bridges in examples/bridges: each is certified. Go comes from the system's packages, where this may install them;
# Node comes with pyright. Without one of them, its tests are skipped, and say so.
bridges: $(VENV)/test
	@command -v go >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  apt-get install --yes --no-install-recommends golang-go; } || echo "install Go 1.19 or newer: apt install golang-go" >&2
	$(BIN)/python -m pytest --thorough compliance/tests/test_bridges.py compliance/tests/test_reference_bridges.py

clean:
	rm -rf .venv .coverage art-report

$(VENV)/certify: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable '.[compliance]'
	@touch $@

# make test EXTRAS=dev,cluster runs the tests with a Dask cluster, too.
EXTRAS ?= dev
$(VENV)/test: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable '.[$(EXTRAS)]'
	@touch $@

$(VENV)/pytest: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable '.[test]'
	@touch $@

# Each Python brings a pip of its own age, which may take twice the time to install all this.
$(BIN)/python: | python
	$(PYTHON) -m venv $(VENV)
	$(PIP) pip==26.3

python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; $(PYTHON) is $(VERSION). Choose another one: make PYTHON=python3.13 ..." >&2; exit 2; }
