# Two commands do everything: `make demo` and `make test`. `make` alone lists the targets.
# Any Python from 3.12 on will do; PYTHON=... chooses one.
PYTHON ?= $(shell for p in python3 python3.13 python3.14 python3.12 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
OUT ?= demo-output
NOTEBOOKS := 01-one-group.ipynb 07-your-own-defense.ipynb 11-knowledge-for-free.ipynb

.PHONY: help demo docs test quick test-all test-lowest notebooks lint types bench cells reproduction clean
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

# The folders as one package, for programs that check types: a folder of links, and its path in an environment.
define layout
@mkdir -p .types/foreknow
@for f in $(filter-out %/__pycache__,$(wildcard package/*)) models attacks defenses evaluation app; do ln -sfn "../../$$f" .types/foreknow/; done
@echo "$(CURDIR)/.types" > "$$($(1)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/foreknow-layout.pth"
endef

.venv/installed: pyproject.toml
	@test -n "$(PYTHON)" || { echo "foreknow needs Python 3.12 or newer; found none on PATH. Name one: make PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	PYTHONWARNINGS="ignore:Editable installation" $(BIN)/python -m pip install --quiet --editable ".[demo,docs,households,notebooks,report,test]"
	$(call layout,$(BIN))
	@touch $@

demo: .venv/installed ## publish a real follow-up in three ways, attack it, write tables and pictures
	$(BIN)/foreknow demo --out $(OUT) --overwrite

# Kernels of the tests are compiled with less optimization, which takes a fifth less time, and kept apart from those of users.
test test-all test-lowest quick: export NUMBA_OPT := 1
test test-all test-lowest quick: export NUMBA_CACHE_DIR := $(CURDIR)/.pytest_cache/numba
test-all quick: export FOREKNOW_SMALL := 1

# Types take a minute of one core, so they are checked beside the tests.
test: lint ## style, types, a test of each idea, three notebooks in their small mode: five minutes on two cores
	@$(MAKE) --no-print-directory --jobs=2 types quick

quick: .venv/installed
	$(BIN)/python -m pytest -n 2 --quick tests
	$(BIN)/python -m pytest -n 2 --nbmake --nbmake-timeout=300 $(addprefix notebooks/,$(NOTEBOOKS))

test-all: lint types ## all tests with all their examples, and all notebooks in their small mode
	$(BIN)/python -m pytest -n 2
	$(BIN)/python -m pytest -n 2 --nbmake --nbmake-timeout=300 notebooks

.venv-lowest/installed: pyproject.toml
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet uv
	.venv-lowest/bin/uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct \
		--editable ".[demo,distributed,docs,report,test]"
	$(call layout,.venv-lowest/bin)
	@touch $@

test-lowest: .venv-lowest/installed ## the tests with each dependency at its lowest version, in an environment of its own
	.venv-lowest/bin/python -m pytest -n 2 -m "not slow" $(LOWEST)

notebooks: .venv/installed ## run the notebooks whole, and keep their outputs
	PYTHONHASHSEED=0 $(BIN)/python -m pytest --nbmake --nbmake-timeout=1200 --overwrite notebooks
	$(BIN)/python notebooks/tidy.py

docs: .venv/installed ## the documentation site, in docs/_build/html; a warning is an error
	$(BIN)/python -m sphinx -b html -c docs -j 2 -W --keep-going --quiet . docs/_build/html
	@echo "Open docs/_build/html/index.html"

lint: .venv/installed ## ruff, style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/installed ## mypy, strict
	$(BIN)/mypy

bench: .venv/installed ## the figures of benchmarks/, on this machine; fails if one costs over 1.5 times the best kept run, or a job over 1.05 times fb50bca
	$(BIN)/python benchmarks/run.py --guard 1.5

cells: .venv/installed ## measure the cells of experiments/ that are missing or stale, and write the tables of the documentation
	$(BIN)/python -m experiments.run_cells

reproduction: .venv/installed ## the figures and claims of the five papers, into docs/reproduction; FOREKNOW_ADULT names the folder of UCI Adult
	$(BIN)/foreknow reproduce all --full --out docs/reproduction

clean: ## remove what the targets made
	rm -rf .venv .venv-lowest .types docs/_build docs/api .mypy_cache .ruff_cache .pytest_cache .hypothesis build *.egg-info $(OUT)
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
