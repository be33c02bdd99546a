# Every command of the project; `make` alone lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
# The first that runs: a name on the PATH may be a version manager's stand-in for one not installed.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14; do $$p -c '' 2>/dev/null && { echo $$p; exit; }; done; echo python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input

.PHONY: help run install install-dev install-train browser test test-fast check lint format bench train demo screenshots messages images lock sbom clean

help: ## List these commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-12s %s\n", $$1, $$2}'

run: install ## Install, migrate and start everything; prints the addresses and the first key
	@exec $(BIN)/slopsieve up

install: .venv/installed ## Make the virtual environment .venv, nothing else

install-dev: .venv/installed-dev ## The same with what the tests need

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null \
		|| { echo "Slopsieve needs Python 3.11 to 3.14; $(PYTHON) is $$($(PYTHON) --version 2>/dev/null || echo not there). Set PYTHON=/path/to/python." >&2; exit 1; }
	@$(PYTHON) -m venv .venv \
		|| { rm -rf .venv; echo "$(PYTHON) cannot make a virtual environment; on Debian and Ubuntu, install its package python3-venv." >&2; exit 1; }

.venv/installed: .venv/bin/python requirements.lock pyproject.toml
	$(PIP) install --quiet --require-hashes -r requirements.lock
	$(PIP) install --quiet --no-deps -e .
	@touch $@

.venv/installed-dev: .venv/installed requirements-dev.lock
	$(PIP) install --quiet --require-hashes -r requirements-dev.lock
	@touch $@

# Pinned by constraints, not by hashes: torch has builds of its own for machines without a GPU.
install-train: .venv/installed-train ## The same with what training needs: torch, transformers

.venv/installed-train: .venv/installed requirements-train.lock
	$(PIP) install --quiet --constraint requirements-train.lock torch
	$(PIP) install --quiet --constraint requirements-train.lock -e .[train]
	@touch $@

browser:
	@command -v chromium >/dev/null || { echo "The browser tests need Chromium; installing Debian's package." ; \
		apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null ; } \
		|| { echo "Install Chromium (as root: apt-get install chromium) for the browser tests." >&2; exit 1; }

# These start many Pythons, which would each compile all anew where this is set.
test test-fast bench: export PYTHONDONTWRITEBYTECODE =

test: install-dev install-train browser ## Run everything: unit, contract, integration, functional, behaviour, guards
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

test-fast: install-dev ## Run unit, behaviour and guards without torch, browser and PostgreSQL
	$(BIN)/python -m pytest --fast --numprocesses 2 --dist worksteal tests/unit tests/behaviour tests/guards

lint: check

check: install-dev install-train ## Check style, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install-dev ## Rewrite the code in the project's layout
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: install-dev install-train ## Measure speed and memory; prints tables
	$(BIN)/python -m tests.benchmarks

train: install-train ## Train the classifier and write a candidate; ARGS="--data DIR" adds sources
	$(BIN)/python -m training.train $(ARGS)

demo: install ## Feed a few hundred comments to a running Slopsieve and show the verdicts
	@$(BIN)/slopsieve demo $(ARGS)

screenshots: install-dev browser ## Photograph the pages into var/screenshots
	$(BIN)/python -m tests.benchmarks.screenshots --out var/screenshots

messages: install-dev ## Collect the texts of the pages for the translators, into every languages/*.po
	@mkdir -p var
	$(BIN)/pybabel -q extract -F pyproject.toml -k gettext -k ngettext:1,2 -k N_ -k Phrase --sort-output --no-location --omit-header -o var/messages.pot .
	@for po in service/web/languages/*.po; do \
		sed '/^$$/q' $$po > var/messages.po; \
		$(BIN)/pybabel -q update -i var/messages.pot -o $$po -l $$(basename $$po .po) --no-fuzzy-matching --ignore-obsolete --omit-header --width 100 \
			&& cat $$po >> var/messages.po && mv var/messages.po $$po ; done

images: install-dev ## Build the images and run them, as root on Debian; docker/IMAGES.md says how
	$(BIN)/python docker/try_images.py $(ARGS)

lock: ## Pin every package anew after a change of pyproject.toml (needs uv)
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --extra postgres pyproject.toml -o requirements.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --extra dev --extra postgres pyproject.toml -o requirements-dev.lock
	uv pip compile -q --python-version 3.11 --no-emit-index-url --no-annotate --extra train -c requirements.lock pyproject.toml -o requirements-train.lock

sbom: .venv/bin/python ## Write what an installation is made of into var/sbom.cdx.json (CycloneDX)
	@mkdir -p var && $(BIN)/python -m venv var/sbom
	var/sbom/bin/pip install --quiet --require-hashes -r docker/sbom.lock
	var/sbom/bin/cyclonedx-py requirements requirements.lock --pyproject pyproject.toml --output-reproducible --of JSON -o var/sbom.cdx.json
	@rm -rf var/sbom

clean: ## Remove the virtual environment and caches; keeps your data in var/
	rm -rf .venv build *.egg-info .mypy_cache .ruff_cache .import_linter_cache .hypothesis
