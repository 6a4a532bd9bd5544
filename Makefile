# Everything runs in an environment of its own: .venv. Python 3.11 or later and make are all it takes.

PYTHON ?= python3
JOBS ?= 3
# Tests start some 300 processes of ours, which would each compile the source again.
export PYTHONDONTWRITEBYTECODE =
BIN := .venv/bin
# Made when .venv has what the program needs, and when it also has what tests and checks need.
READY := .venv/ready
READY_DEV := .venv/ready-dev
PIP := $(BIN)/python -m pip --disable-pip-version-check
PAGE := tests/page

.PHONY: setup match test figures coverage lint types page-types contracts check clean

setup: $(READY_DEV)

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(PIP) install --editable .
	@touch $@

$(READY_DEV): $(READY)
	$(PIP) install --editable '.[dev]'
	@touch $@

match: $(READY)  ## two games of the static player against the greedy one
	$(BIN)/tilewire match static greedy --games 2 --time 1m --seed 7

test: $(READY_DEV)  ## the test suite, in so many processes: one waits on clocks
	$(BIN)/python -m pytest -n $(JOBS)

figures: $(READY_DEV)  ## the README's figures again, in twenty minutes where nothing else runs
	$(BIN)/python docs/results/figures.py --of README.md

coverage: $(READY_DEV)  ## which lines the tests reach; compiled ones are not seen
	$(BIN)/python -m pytest -n $(JOBS) --cov --cov-report=term:skip-covered

lint: $(READY_DEV)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(READY_DEV) page-types
	$(BIN)/mypy

page-types:  ## the page's JavaScript, by the types in its comments
	@if command -v npm >/dev/null; then \
		npm ci --prefix $(PAGE) --silent --no-audit --no-fund && $(PAGE)/node_modules/.bin/tsc --project $(PAGE); \
	else echo "the types of harness/page are not checked: that takes npm (apt-get install npm)"; fi

contracts: $(READY_DEV)  ## who may import what
	$(BIN)/lint-imports --no-cache

check: lint types contracts test  ## all that CI runs

clean:
	rm -rf .venv build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
