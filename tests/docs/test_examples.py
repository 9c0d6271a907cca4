# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every EXAMPLES block of every plugin is run as written, and each task does what its name says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.examples import below, documents, parse
from tests.docs.stories import STORIES
from tests.docs.world import world
from tests.support.exhaustive import some

DOCUMENTS = documents()


# `make matrix` runs the other plugins, on both ends of the ansible-core range.
@pytest.mark.parametrize(
    "plugin",
    some(DOCUMENTS, "modules/dockerconfig_merge", "modules/gcp_pull_secret", "modules/k8s_pull_secret"),
)
def test_examples_do_what_they_say(plugin: str, tmp_path: Path) -> None:
    """Run the examples in order, each as its own play; a registered result is available to the next ones."""
    examples = parse(DOCUMENTS[plugin])
    story = STORIES.get(plugin, {})
    assert [task["name"] for task in examples] == list(story), "stories.py lists other examples"
    with world(tmp_path) as here:
        for task in examples:
            step = story[task["name"]]
            step.prepare(here)
            finished = here.run(task)
            assert finished.code == step.code, f"{task['name']}: {finished.output}"
            step.check(here, finished)


def test_there_is_no_story_without_its_plugin() -> None:
    assert set(STORIES) == set(DOCUMENTS)


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
