# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The versions that SUPPORT.md and meta/runtime.yml promise are those that the tests run."""

from __future__ import annotations

import re

import yaml

from tests.tools import env
from tests.tools.ansible_test import OLDEST_PYTHON

SUPPORT = (env.ROOT / "SUPPORT.md").read_text()


def test_the_table_of_supported_versions_is_what_the_tests_run() -> None:
    rows = re.findall(r"^\| (2\.\d+) \| (.*) \|$", SUPPORT, re.MULTILINE)
    assert {core: tuple(pythons.split(", ")) for core, pythons in rows} == {
        core: pythons for core, (_version, pythons) in env.CORES.items()
    }
    assert f"Python {OLDEST_PYTHON} or newer" in SUPPORT


def test_the_oldest_supported_core_is_the_one_that_the_collection_requires() -> None:
    required = yaml.safe_load((env.ROOT / "meta" / "runtime.yml").read_text())["requires_ansible"]
    assert required == f">={next(iter(env.CORES))}.0"
