# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every plugin has examples, and each of them has a test here, which runs them in their order as written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.examples.documents import below, documents, parse


def test_the_examples_of_every_plugin_are_run() -> None:
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    run = re.findall(r"^def test_(\w+)\(world: World\)", tests, re.MULTILINE)
    assert sorted(run) == sorted(plugin.replace("/", "_") for plugin in documents())


@pytest.mark.parametrize("text", ["", "targets: 1", "- debug: {}", "- name: One\n- name: One"])
def test_what_is_no_list_of_named_tasks_is_no_example(text: str) -> None:
    with pytest.raises(ValueError, match="EXAMPLES"):
        parse(text)


def test_no_example_reaches_the_machines_own_files() -> None:
    root = Path("/example")
    task = {
        "copy": {
            "dest": "/etc/a",
            "src": "{{ lookup('file', '/run/b') }}",
            "content": ["fleet/", "quay.io/c"],
        },
        "url": "https://example.com/d",
    }
    assert below(root, task) == {
        "copy": {
            "dest": "/example/etc/a",
            "src": "{{ lookup('file', '/example/run/b') }}",
            "content": ["fleet/", "quay.io/c"],
        },
        "url": "https://example.com/d",
    }
