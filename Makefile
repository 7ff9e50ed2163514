# Every target sets up what it needs; a bare machine with Python 3.11+ and make is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Native checkpoints need gigabytes of libraries: an environment of their own.
TORCH_VENV := .venv-torch
CORPUS ?=
DEMO_DIR ?= .eagle/demo

.PHONY: help demo test test-torch coverage check clean
help:  ## show the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Eagle-RAG needs Python 3.11 or newer; set PYTHON=python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

# torchvision must be the release made for torch's.
$(TORCH_VENV)/.ready: pyproject.toml
	@test -x $(TORCH_VENV)/bin/python || $(PYTHON) -m venv $(TORCH_VENV)
	$(TORCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,torch]' 'torch==2.13.0' 'torchvision==0.28.0'
	@touch $@

demo: $(VENV)/.ready  ## ingest the sample corpus (or CORPUS=path) and answer questions
	@$(BIN)/eagle demo --data-dir $(DEMO_DIR) $(if $(CORPUS),--corpus '$(CORPUS)')

test: $(VENV)/.ready-dev  ## run all tests
	$(BIN)/python -m pytest tests

test-torch: $(TORCH_VENV)/.ready  ## run the tests of native checkpoints in an environment with torch
	$(TORCH_VENV)/bin/python -m pytest -q tests/integration/torch -m torch

coverage: $(VENV)/.ready-dev  ## branch coverage of model, ops and kernel, at least 95 %
	$(BIN)/python -m pytest -q tests/unit/ops tests/unit/kernel tests/unit/retrieve tests/property tests/contract \
		--cov=eagle_rag.model --cov=eagle_rag.ops --cov=eagle_rag.kernel --cov-branch \
		--cov-report=term:skip-covered --cov-fail-under=95

check: $(VENV)/.ready-dev  ## format, lint, types, import contracts, sizes
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q tests/contract/test_sizes.py tests/contract/test_docs.py tests/contract/test_hooks.py tests/contract/test_public_names.py tests/contract/test_imports.py

clean:  ## remove environments, caches and the demo's data
	rm -rf $(VENV) $(TORCH_VENV) .venv-bench .mypy_cache .ruff_cache .pytest_cache .hypothesis $(DEMO_DIR)
