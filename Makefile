# Every target does all of its own set-up and repeats nothing that is already done.
.DEFAULT_GOAL := help
SHELL := /bin/sh

# The Python that CI tries comes first; any 3.11+ will do (PYTHON=... overrides). That of the system comes before others
# of its release: distributions build it with a profile (PGO), and one that pyenv builds by default is a fifth slower.
PYTHON ?= $(shell for name in /usr/bin/python3.11 python3.11 /usr/bin/python3.12 python3.12 /usr/bin/python3.13 \
		python3.13 python3 python; do \
	command -v $$name >/dev/null 2>&1 \
	&& $$name -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 \
	&& { echo $$name; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: help setup dev demo test collect quick bench lint format types contracts tidy ci librdkafka soak clean

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):[^#]*## */\1	/' | expand -t 12

setup: $(VENV)/.setup  ## a virtual environment with the product: leaves .venv/bin/causeway

dev: $(VENV)/.dev  ## the same with everything that tests and checks need

demo: setup  ## two regions, a link, an audit, a failover and the way back: under a minute
	$(BIN)/causeway demo

# Bytecode is kept, whatever the environment says: pytest rewrites each assertion once then, not in every run.
quick test collect: export PYTHONDONTWRITEBYTECODE =

quick: lint types  ## for the inner loop: lint, types, house rules, unit tests and playbooks, in two minutes
	$(BIN)/pytest tests/tidy tests/unit tests/playbooks -m "not soak and not slow" \
		--hypothesis-profile quick -n $$(getconf _NPROCESSORS_ONLN) --dist loadscope

test: dev  ## every test but the soak
	$(BIN)/pytest -m "not soak" -n logical --maxprocesses 6 --dist loadscope --no-loadscope-reorder

# On a clean checkout each of the workers would rewrite all assertions, a quarter of a minute of a core. What can't be
# collected is told by the tests themselves.
collect: dev  ## all tests are looked for and their bytecode is kept
	@$(BIN)/pytest --collect-only -q -m "not soak" >/dev/null 2>&1 || true

bench: dev  ## ours beside Apache Kafka and MirrorMaker 2, in turn, in one run
	$(BIN)/python -m tests.bench
	$(BIN)/python -m tests.bench.audit

lint: dev  ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet . || { echo "make format will format these" >&2; exit 1; }

format: dev  ## ruff writes the format it checks
	$(BIN)/ruff check --fix --quiet . || true
	$(BIN)/ruff format .

types: dev  ## mypy, strict on what ships and on the simulator
	$(BIN)/mypy

contracts: dev  ## who may import whom
	$(BIN)/lint-imports

tidy: dev  ## the house rules
	$(BIN)/pytest -q tests/tidy

ci:  ## what a change must pass
	.ci/run

librdkafka: dev  ## librdkafka's own tests against a region of three nodes (needs npm and a C compiler)
	$(BIN)/python -m tests.compat.librdkafka

soak: dev  ## thousands of simulated regions and federations, storms over real ones: some hours
	$(BIN)/pytest tests --ignore tests/sim -m soak --timeout 0
	$(BIN)/pytest tests/sim -m soak --timeout 0 -n logical --dist load

clean:  ## forget the environment and everything built
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer with its venv module is needed and none was found." >&2; \
		echo "Install one (Debian: apt-get install python3 python3-venv) or say where: make PYTHON=..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.setup: pyproject.toml | $(BIN)/python
	$(PIP) install --editable '.[all]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(PIP) install --editable '.[dev]'
	@touch $@ $(VENV)/.setup
