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
# Each process of Ansible, and each process of pytest, would compile what it imports again.
unexport PYTHONDONTWRITEBYTECODE

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
# Every test is in one of these. The marker `nightly` takes a test out of the gate; `alone` is for the real parts that
# share neither control plane nor nodes with the others.
QUICK := not real and not nightly
# `make test-real` runs those that start Ansible, on both ends of the ansible-core range.
FAST := $(QUICK) and not cores
REAL := real and not nightly and not alone
REAL_ALONE := real and not nightly and alone
NIGHTLY := nightly and not real
NIGHTLY_REAL := nightly and real
# A feature has a folder of each kind of tests; a large one has parts with such folders.
parts = $(wildcard tests/*/$1 tests/*/*/$1)
# A test that hangs ends its worker, which says where, and fails alone. The real parts run in one process.
HANG := -o faulthandler_timeout=420 -o faulthandler_exit_on_timeout=true

# `make lab-up LAB=real` puts the real control plane in the place of the Kubernetes stand-in.
LAB ?=
# `make nodes-up KUBELET=3` gives the nodes kubelets, control planes and a registry.
KUBELET ?=

# What a new checkout can use of earlier ones, as in tests/tools/env.py.
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/hyperfleet-pull-secret

# `make test` lowers the priority of the checks, `make test-real` that of all parts except the real ones.
NICE ?=
PART = @$(NICE) $(MODULE) tests.tools.part
TESTS = $(PART) --tests
WITH_GO = PATH="$$($(MODULE) tests.tools.go):$$PATH"
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

.PHONY: operator-up
operator-up: venv go ## custom resources on a real API server, run as the Ansible Operator would, until Ctrl-C
	@$(MODULE) tests.tools.env rulebook > /dev/null
	@export $(WITH_GO); $(MODULE) tests.lab.operator

##@ Tests

# What starts Ansible; the tests that call our code in-process say nothing about ansible-core.
MATRIX := $(addprefix tests/,provision/integration dockerconfig/integration job/integration variables/integration modules/integration \
	secret_manager/integration/test_ansible.py secret_manager/integration/test_login.py \
	hosted/integration/test_playbook.py adapter/integration/test_playbooks.py adapter/integration/test_killed.py \
	hyperfleet_api/integration/test_status.py adapter_events/integration/test_cloud_event.py) \
	tests/docs/examples tests/fuzz \
	$(addprefix tests/secrecy/test_,vault.py adapter.py ansible_prints.py callbacks.py plugins.py quiet_module.py)

.PHONY: test fast fuzz unit contract integration
test: venv ## lint, the fast tests, and the built tarball installed and used (needs neither root nor Go)
	@$(MAKE) -k -j2 NICE="nice -n 10" fast lint install-test

# Each process of pytest would rewrite all test files of a new checkout, so one does it before the others start.
fast: override NICE :=
fast: venv ## the fast tests
	@$(MODULE) pytest --collect-only -qq tests > /dev/null || true
	$(TESTS) "fast tests" $(HANG) -n $(FAST_WORKERS) -m "$(FAST)" $(PYTEST_ARGS) tests

fuzz: venv ## wrong options for everything that takes options, on both ends of the ansible-core range (SEED=, INPUTS=)
	@$(MODULE) tests.fuzz --core 2.18 --core 2.21 --inputs $(INPUTS) $(if $(SEED),--seed $(SEED))

unit: venv ## the unit tests
	$(TESTS) unit -n $(WORKERS) -m "$(QUICK)" $(PYTEST_ARGS) $(call parts,unit)

contract: venv ## the stand-ins held to their contracts
	$(TESTS) contract -n $(WORKERS) -m "$(QUICK)" $(PYTEST_ARGS) $(call parts,contract)

integration: venv ## the workflows against the stand-ins
	$(TESTS) integration -n $(WORKERS) -m "$(QUICK)" $(PYTEST_ARGS) $(call parts,integration)

.PHONY: cost
cost: venv ## run the fast tests and print what each folder of them costs
	@$(MODULE) tests.tools.cost -n $(FAST_WORKERS) -q -m "$(FAST)" $(PYTEST_ARGS) tests

.PHONY: test-real real beside-real real-alone cores go nodes-build
test-real: venv go ## each real part and each workflow once, end to end, both ends of the ansible-core range, docs-lint
	@$(MAKE) -k -j2 NICE="nice -n 19" real beside-real

# One after the other, so that the real parts have one neighbour; a sub-make, since -j2 is for those two.
beside-real:
	@$(MAKE) -k -j1 real-alone cores docs-lint

go: venv
	@$(MODULE) tests.tools.go > /dev/null

nodes-build: venv go
	$(PART) --limit 1800 "nodes' parts" env $(WITH_GO) $(MODULE) tests.lab.nodes build
	$(PART) --limit 1800 "Cluster API's manager" env $(WITH_GO) $(BIN)/python -c "from tests.lab.cluster_api.build import build; build()"

real: override NICE :=
real: venv go nodes-build ## the tests of real parts (needs root for some; Go is installed if it is missing)
	@export $(WITH_GO); $(MODULE) tests.tools.part --limit 1500 --tests "real parts" -n $(REAL_WORKERS) -m "$(REAL)" $(PYTEST_ARGS) tests

# It mostly waits, and shares nothing with the other real parts.
real-alone: override NICE :=
real-alone: venv go ## those that need neither control plane nor nodes: brokers, Prometheus, other readers (needs root, Java, Go)
	@export $(WITH_GO); $(MODULE) tests.tools.part --tests "real parts, alone" -n $(REAL_WORKERS) -m "$(REAL_ALONE)" $(PYTEST_ARGS) tests

cores: cores-2.18 cores-2.21 ## what differs between ansible-cores, on the oldest and the newest one

cores-%: venv
	$(TESTS) --core $* "ansible-core $*" -n $(WORKERS) -m "cores and $(QUICK)" $(PYTEST_ARGS) tests

.PHONY: test-all all-parts nightly nightly-real matrix sanity-matrix sanity-python3.9 fuzz-short
test-all: venv ## what the gate leaves out: every night, and before a release
	@$(MODULE) tests.tools.gate all

all-parts: nightly nightly-real matrix sanity-matrix fuzz-short bench-smoke docs importer

nightly: venv ## every other step, boundary and example (`make matrix` runs the ones that start Ansible)
	$(TESTS) --limit 3600 "nightly tests" $(HANG) -n $(FAST_WORKERS) -m "$(NIGHTLY)" $(PYTEST_ARGS) $(addprefix --ignore=,$(MATRIX)) tests

nightly-real: venv go nodes-build ## every other real outcome, and the long chaos
	@export $(WITH_GO); $(MODULE) tests.tools.part --limit 5400 --tests "real parts, nightly" -n $(REAL_WORKERS) -m "$(NIGHTLY_REAL)" $(PYTEST_ARGS) tests

matrix: matrix-2.18 matrix-2.21 ## all tests that start Ansible, on the oldest and the newest ansible-core

matrix-%: venv
	$(TESTS) --limit 3600 --core $* "ansible-core matrix, $*" -n $(WORKERS) -m "not real" $(PYTEST_ARGS) $(MATRIX)

sanity-matrix: sanity-python3.9 sanity-core2.18 sanity-core2.21 ## ansible-test sanity of both ansible-cores, and on Python 3.9

sanity-python3.9: venv
	$(PART) "sanity, Python 3.9" $(MODULE) tests.tools.ansible_test --oldest-python sanity

sanity-core%: venv
	$(PART) --limit 1800 "sanity, ansible-core $*" $(MODULE) tests.tools.ansible_test --core $* sanity

fuzz-short: venv
	$(PART) "short fuzz" $(MODULE) tests.fuzz --core 2.18 --core 2.21 --inputs 200

.PHONY: gate-record soak
gate-record: venv ## what .ci/run said of this commit on this machine
	@$(MODULE) tests.tools.gate record

N ?= 2
soak: venv ## .ci/run N times from fresh clones beside one busy process, without its retry
	@$(MODULE) tests.tools.soak $(N)

.PHONY: molecule
molecule: venv ## the molecule scenario of the role node on three real nodes (needs root)
	$(PART) molecule $(MODULE) tests.tools.molecule

##@ Quality

.PHONY: lint ruff mypy layers house yamllint shellcheck actionlint ansible-lint changelog docs-lint docs importer sanity format messages
lint: ruff mypy layers house yamllint shellcheck actionlint ansible-lint changelog sanity ## the checks of every change

ruff: lint-env ## Python style and formatting
	$(PART) ruff bash -c '$(LINT)/ruff check . && $(LINT)/ruff format --check .'

format: lint-env ## let ruff format the Python files
	@$(LINT)/ruff format .

mypy: export MYPY_CACHE_DIR := $(CACHE)/mypy
mypy: venv ## types, strict
	$(PART) mypy bash -c '$(BIN)/mypy -p ansible_collections.hyperfleet.pull_secret.plugins && $(BIN)/mypy -p ansible_collections.hyperfleet.pull_secret.extensions.eda && $(BIN)/mypy'

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

docs-lint: venv ## the documentation's markup, options and references
	$(PART) "docs lint" $(MODULE) tests.tools.docs lint

docs: venv ## check and build the documentation (build/docs)
	$(PART) docs $(MODULE) tests.tools.docs

.PHONY: crds
crds: venv ## write the controller's CRDs from the modules' options (extensions/operator/config/crd)
	@$(MODULE) tests.tools.crds

.PHONY: screenshots
screenshots: docs ## pictures of five pages, as on a desktop and on a phone (build/screenshots; needs Chromium)
	@$(MODULE) tests.tools.screenshots

importer: build ## the tarball through Galaxy's importer
	$(PART) galaxy-importer $(MODULE) tests.tools.importer

# Three take nine tenths of the time; `make sanity-matrix` runs them, and the workflows do for each change. `make docs-lint`
# loads all documentation, too.
sanity: venv ## ansible-test sanity, with no ignores, without pylint, import, pep8 and ansible-doc
	$(PART) "ansible-test sanity" $(MODULE) tests.tools.ansible_test sanity $(addprefix --skip-test ,pylint import pep8 ansible-doc)

##@ Release and measure

.PHONY: release-notes build install-test release-check publish github-release sign bench bench-smoke bench-env clean distclean
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
BENCHES := tests.bench $(addprefix tests.bench.,hosted guests controller awx syncer job adapter_run adapter nodes)
# Per bench, the options of its smallest size.
SMALLEST.tests.bench := --clusters 1 --loop 1 --repeat 1
SMALLEST.tests.bench.hosted := --merged 1 --idle 1 --nodes 1
SMALLEST.tests.bench.guests := --guests 1 --rotations 1
SMALLEST.tests.bench.controller := --clusters 1 --singles 1
SMALLEST.tests.bench.awx := --clusters 2 --slices 2
SMALLEST.tests.bench.syncer := --changes 1
SMALLEST.tests.bench.job := --runs 1
SMALLEST.tests.bench.adapter_run := --clusters 1
SMALLEST.tests.bench.adapter := --clusters 1 --singles 1
SMALLEST.tests.bench.nodes := --changes 1

bench: ## measure 1,000 and 10,000 clusters, beside the loop people write today; hosted and guest clusters, the syncer, the job, the adapter (Java; as root), real nodes (as root)
	@$(MAKE) -k $(addprefix measure.,$(BENCHES))

bench-smoke: $(addprefix smoke.,$(BENCHES)) ## run each bench once at its smallest size (Java; as root)

bench-env: venv go
	@$(MODULE) tests.tools.env bench > /dev/null

measure.%: bench-env
	@export $(WITH_GO); $(MODULE) tests.tools.part --limit 7200 "$*" $(MODULE) $*

smoke.%: bench-env
	@export $(WITH_GO); $(MODULE) tests.tools.part "smoke of $*" $(MODULE) $* $(SMALLEST.$*) --results build/bench-smoke

clean: ## remove what builds and tests leave (environments stay)
	@rm -rf build dist .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis .ansible tests/output importer_result.json
	@find plugins tests -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## remove the environments as well
	@rm -rf .venv .venvs .collections
