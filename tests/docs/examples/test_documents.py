# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every plugin has examples, and each of them has a test here, which runs them in their order as written."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.examples.documents import documents


def test_the_examples_of_every_plugin_are_run() -> None:
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    run = re.findall(r"^def test_(\w+)\(world: World\)", tests, re.MULTILINE)
    assert sorted(run) == sorted(plugin.replace("/", "_") for plugin in documents())
