# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# `make` lists what there is. A fresh machine needs git, make and Python >= 3.11; everything else is installed
# into .venv and, for the tools, into environments in the user's cache (see tests/tools/env.py).

SHELL := /usr/bin/env bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

ifndef PYTHON
PYTHON := $(shell sh tests/tools/find-python.sh)
endif
VENV := .venv
BIN := $(VENV)/bin
LINT := .venvs/lint/bin

# pytest-xdist processes of the fast tests; the real parts share one control plane and run in one process.
WORKERS ?= auto
# One more than processors for the fast ones, which wait about as long as they work.
FAST_WORKERS ?= $(shell n=$$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN) && expr $$n + 1)
REAL_WORKERS ?= 0
PYTEST_ARGS ?=
# Of `make fuzz`: without a seed it takes a random one, and prints it.
SEED ?=
INPUTS ?= 10000
# Every test is in one of these: the marker `exhaustive` is for what tries the same in every other way, `alone` for
# the real parts that share neither control plane nor nodes with the others.
FAST := not real and not exhaustive
EXHAUSTIVE := exhaustive and not real
REAL := real and not alone
REAL_ALONE := real and alone
# A feature has a folder of each kind of tests; a large one has parts with such folders.
parts = $(wildcard tests/*/$1 tests/*/*/$1)
PYTEST = $(BIN)/python -m pytest $(PYTEST_ARGS)

# `make lab-up LAB=real` puts the real control plane in the place of the Kubernetes stand-in.
LAB ?=
# `make nodes-up KUBELET=3` gives the nodes kubelets, control planes and a registry.
KUBELET ?=

# What runs before each part; `make test` has the checks give way to the tests beside them, and `make test-real`
# all else to the real parts, whose timing matters.
NICE ?=
PART = @$(NICE) bash tests/tools/part.sh
MODULE = $(BIN)/python -m

.PHONY: help
help: ## list the targets
	@printf 'make TARGET\n\n'
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

##@ Environments

.PHONY: python runtime venv lint-env lock
python:
	@if [ -z "$(PYTHON)" ]; then echo "error: Python 3.11 or newer is needed, and none was found on PATH (or say make PYTHON=...)" >&2; exit 1; fi
	@if ! $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then echo "error: $(PYTHON) does not run, or is older than Python 3.11" >&2; exit 1; fi

runtime: python
	@$(PYTHON) -m tests.tools.env runtime > /dev/null

venv: python ## make .venv with all that the collection and its tests need
	@$(PYTHON) -m tests.tools.env test > /dev/null

lint-env: venv
	@$(MODULE) tests.tools.env lint > /dev/null

lock: venv ## write down the exact versions of what the pinned packages need (requirements/constraints)
	@$(MODULE) tests.tools.lock

##@ Trying it

.PHONY: quickstart lab-up lab-seed lab-down
quickstart: runtime ## provision a small fleet against stand-ins, and see what it did
	@$(MODULE) tests.quickstart

lab-up: runtime ## start the stand-ins and write .lab/env (LAB=real: a real control plane)
	@$(MODULE) tests.lab up $(if $(filter real,$(LAB)),--real)

lab-seed: runtime ## put namespaces, sample pull secrets and a foreign secret there
	@$(MODULE) tests.lab seed

lab-down: runtime ## stop them
	@$(MODULE) tests.lab down

.PHONY: nodes-up nodes-down
nodes-up: runtime ## boot three real nodes (systemd, D-Bus; KUBELET=3: a whole cluster; needs root)
	@$(MODULE) tests.lab.nodes up $(if $(KUBELET),--kubelet $(KUBELET))

nodes-down: runtime ## end them, and what killed tests left of theirs
	@$(MODULE) tests.lab.nodes down

##@ Tests

# What starts Ansible; the tests that call our code in-process say nothing about ansible-core.
MATRIX := $(addprefix tests/,provision/integration dockerconfig/integration job/integration variables/integration modules/integration \
	secret_manager/integration/test_ansible.py secret_manager/integration/test_login.py \
	hosted/integration/test_playbook.py adapter/integration/test_playbooks.py adapter/integration/test_killed.py \
	hyperfleet_api/integration/test_status.py adapter_events/integration/test_cloud_event.py) \
	tests/docs/examples tests/fuzz \
	$(addprefix tests/secrecy/test_,vault.py adapter.py ansible_prints.py callbacks.py plugins.py quiet_module.py)

.PHONY: test fast exhaustive fuzz unit contract integration
test: venv lint-env ## lint, the fast tests, and the built tarball installed and used
	@$(MAKE) -j2 NICE="nice -n 10" fast lint install-test

fast: override NICE :=
fast: venv ## the tests that need neither root nor Go, but for those that try the same in every other way
	$(PART) "tests" $(PYTEST) -n $(FAST_WORKERS) -m "$(FAST)" tests

exhaustive: venv ## those: every step, every boundary, many examples (`make matrix` runs the ones that start Ansible)
	$(PART) "exhaustive tests" $(PYTEST) -n $(FAST_WORKERS) -m "$(EXHAUSTIVE)" $(addprefix --ignore=,$(MATRIX)) tests

fuzz: venv ## wrong options for everything that takes options, on both ends of the ansible-core range (SEED=, INPUTS=)
	@$(MODULE) tests.fuzz --core 2.18 --core 2.21 --inputs $(INPUTS) $(if $(SEED),--seed $(SEED))

unit: venv ## the unit tests
	$(PART) unit $(PYTEST) -n $(WORKERS) -m "$(FAST)" $(call parts,unit)

contract: venv ## the stand-ins held to their contracts
	$(PART) contract $(PYTEST) -n $(WORKERS) -m "$(FAST)" $(call parts,contract)

integration: venv ## the workflows against the stand-ins
	$(PART) integration $(PYTEST) -n $(WORKERS) -m "$(FAST)" $(call parts,integration)

.PHONY: cost
cost: venv ## run the fast tests and print what each folder of them costs
	@$(MODULE) tests.tools.cost -n $(FAST_WORKERS) -q -m "$(FAST)" $(PYTEST_ARGS) tests

.PHONY: test-real real real-alone beside-real go nodes-build matrix sanity-matrix sanity-python3.9
test-real: venv go ## all other tests: the real control plane, the oracle, both ends of the ansible-core range, the exhaustive ones
	@$(MAKE) -j2 NICE="nice -n 19" real beside-real

# One after the other, so that the real parts have one neighbour; a sub-make, since -j2 is for those two.
beside-real:
	@failed=0; for part in real-alone sanity-matrix exhaustive matrix; do $(MAKE) $$part || failed=1; done; exit $$failed

go: venv
	@$(MODULE) tests.tools.go > /dev/null

nodes-build: venv go
	$(PART) "nodes' parts" env PATH="$$($(MODULE) tests.tools.go):$$PATH" $(MODULE) tests.lab.nodes build

real: override NICE :=
real: venv go nodes-build ## the tests of real parts (needs root for some; Go is installed if it is missing)
	$(PART) "real parts" env PATH="$$($(MODULE) tests.tools.go):$$PATH" $(PYTEST) -n $(REAL_WORKERS) -m "$(REAL)" tests

# It waits more than it works, and for nothing that the other real parts use.
real-alone: override NICE :=
real-alone: venv ## those that need neither control plane nor nodes: brokers, rulebooks, Prometheus, the long chaos (needs root and Java)
	$(PART) "real parts, alone" $(PYTEST) -n $(REAL_WORKERS) -m "$(REAL_ALONE)" tests

.PHONY: molecule
molecule: venv ## the molecule scenario of the role node on three real nodes (needs root)
	$(PART) molecule $(MODULE) tests.tools.molecule

matrix: venv ## the tests that start Ansible, on the oldest and the newest ansible-core
	$(PART) "ansible-core matrix" $(MODULE) tests.tools.matrix $(PYTEST_ARGS) -n $(WORKERS) -m "not real" $(MATRIX)

sanity-matrix: sanity-python3.9 sanity-core2.18 sanity-core2.21 ## ansible-test sanity of both ansible-cores, and on Python 3.9

sanity-python3.9: venv
	$(PART) "sanity, Python 3.9" $(MODULE) tests.tools.ansible_test --oldest-python sanity

sanity-core%: venv
	$(PART) "sanity, ansible-core $*" $(MODULE) tests.tools.ansible_test --core $* sanity

##@ Quality

.PHONY: lint ruff mypy layers house yamllint shellcheck actionlint ansible-lint changelog docs importer sanity format messages
lint: ruff mypy layers house yamllint shellcheck actionlint ansible-lint changelog docs importer sanity ## all checks below

ruff: lint-env ## Python style and formatting
	$(PART) "ruff check" $(LINT)/ruff check .
	$(PART) "ruff format" $(LINT)/ruff format --check .

format: lint-env ## let ruff format the Python files
	@$(LINT)/ruff format .

mypy: venv ## types, strict
	$(PART) "mypy, plugins" $(BIN)/mypy -p ansible_collections.hyperfleet.pull_secret.plugins
	$(PART) "mypy, extensions" $(BIN)/mypy -p ansible_collections.hyperfleet.pull_secret.extensions.eda
	$(PART) "mypy, tests" $(BIN)/mypy

layers: lint-env ## each layer imports only what stands below it
	$(PART) layers env PYTHONPATH=.collections $(LINT)/lint-imports --config pyproject.toml --no-logo

house: venv ## the limits of the house: lengths, private and public names, imports between tests, machine paths
	$(PART) house $(MODULE) tests.tools.house

yamllint: lint-env ## YAML files
	$(PART) yamllint $(LINT)/yamllint --strict .

shellcheck: lint-env ## shell scripts
	$(PART) shellcheck $(MODULE) tests.tools.shellcheck $(LINT)/shellcheck

actionlint: lint-env ## the workflows of .github (builds actionlint once, with Go)
	$(PART) actionlint $(MODULE) tests.tools.actionlint $(LINT)/shellcheck

messages: venv ## list every error message of the collection, with its file and line, to be read against one another
	@$(MODULE) tests.tools.messages

ansible-lint: lint-env ## playbooks and roles, profile production
	$(PART) ansible-lint $(MODULE) tests.tools.in_tree lint ansible-lint --offline --strict

changelog: lint-env ## the changelog's fragments
	$(PART) changelog $(MODULE) tests.tools.in_tree lint antsibull-changelog lint

docs: venv ## check and build the documentation (build/docs)
	$(PART) docs $(MODULE) tests.tools.docs

.PHONY: screenshots
screenshots: docs ## pictures of five pages, as on a desktop and on a phone (build/screenshots; needs Chromium)
	@$(MODULE) tests.tools.screenshots

importer: build ## the tarball through Galaxy's importer
	$(PART) galaxy-importer $(MODULE) tests.tools.importer

# pylint takes twice as long as all the others together; `make sanity-matrix` runs it on both ansible-cores.
sanity: venv ## ansible-test sanity, with no ignores, without pylint
	$(PART) "ansible-test sanity" $(MODULE) tests.tools.ansible_test sanity --skip-test pylint

##@ Release and measure

.PHONY: release-notes build install-test release-check publish github-release sign bench bench-smoke clean distclean
build: runtime ## build the collection's tarball into dist/ and check what is in it
	$(PART) build $(MODULE) tests.tools.artifact

install-test: build ## install the tarball into a clean environment and provision with it
	$(PART) "install test" $(MODULE) tests.tools.install_test

release-notes: lint-env ## gather the changelog's fragments into CHANGELOG.md
	$(PART) release-notes $(MODULE) tests.tools.in_tree --keep CHANGELOG.md --keep changelogs/changelog.yaml lint python tests/tools/release_notes.py

# The workflow `release` gives these three the tag (TAG or GITHUB_REF_NAME) and, to the last two, a token each.
release-check: importer install-test ## check that TAG, the version and the changelog fit together, and the tarball
	$(PART) "release check" $(MODULE) tests.tools.release check

publish: venv ## publish the tarball in dist/ to Galaxy (the token is in GALAXY_TOKEN)
	$(PART) publish $(MODULE) tests.tools.release publish

github-release: venv ## create the release of TAG, with its notes and the tarball (the token is in GH_TOKEN)
	$(PART) "GitHub release" $(MODULE) tests.tools.release github

sign: venv ## sign the tarball in dist/ with your own key (TAG=, SIGNING_KEY=)
	$(PART) sign $(MODULE) tests.tools.release sign

# Each says which of its goals are not reached; what ends the target is an error, after all have run.
BENCHES := tests.bench $(addprefix tests.bench.,hosted syncer job adapter_run adapter nodes)
# Per bench, the options of its smallest size.
SMALLEST.tests.bench := --clusters 1 --loop 1 --repeat 1
SMALLEST.tests.bench.hosted := --merged 1 --idle 1 --nodes 1
SMALLEST.tests.bench.syncer := --changes 1
SMALLEST.tests.bench.job := --runs 1
SMALLEST.tests.bench.adapter_run := --clusters 1
SMALLEST.tests.bench.adapter := --clusters 1 --singles 1
SMALLEST.tests.bench.nodes := --changes 1

bench: venv go ## measure 1,000 and 10,000 clusters, beside the loop people write today; hosted clusters, the syncer, the job, the adapter (Java; as root), real nodes (as root)
bench-smoke: venv go ## run each bench once at its smallest size (Java; as root)
bench-smoke: bench_options = $(SMALLEST.$1) --results build/bench-smoke

bench bench-smoke:
	@$(MODULE) tests.tools.env bench > /dev/null
	@export PATH="$$($(MODULE) tests.tools.go):$$PATH"; failed=; \
	$(foreach bench,$(BENCHES),bash tests/tools/part.sh $(bench) $(MODULE) $(bench) $(call bench_options,$(bench)) || failed="$$failed $(bench)";) \
	if [ -n "$$failed" ]; then echo "error: not measured:$$failed" >&2; exit 1; fi

clean: ## remove what builds and tests leave (environments stay)
	@rm -rf build dist .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis .ansible tests/output importer_result.json
	@find plugins tests -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## remove the environments as well
	@rm -rf .venv .venvs .collections
