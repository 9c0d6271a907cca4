# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The process gets the task's ``environment`` while the docker config is read, and then its own back."""

from __future__ import annotations

import os

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.action.kubelet_auth_sync import ActionModule


class WithEnvironment(ActionModule):
    """The action of a task with this ``environment``."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment

    def task_environment(self) -> dict[str, str]:
        return self._environment


@pytest.fixture(autouse=True)
def before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXAMPLE_SET", "controller")
    monkeypatch.delenv("EXAMPLE_NEW", raising=False)


def test_only_its_variables_are_set_and_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    with WithEnvironment({"EXAMPLE_SET": "task", "EXAMPLE_NEW": "task"})._in_task_environment():
        assert (os.environ["EXAMPLE_SET"], os.environ["EXAMPLE_NEW"]) == ("task", "task")
        monkeypatch.setenv("EXAMPLE_OTHER", "of a library")
    assert os.environ["EXAMPLE_SET"] == "controller"
    assert "EXAMPLE_NEW" not in os.environ
    assert os.environ["EXAMPLE_OTHER"] == "of a library"


@pytest.mark.parametrize("wrong", [{"EXAMPLE_BAD": "a\0b"}, {"EXAMPLE\0BAD": "a"}, {"": "a"}, {"A=B": "a"}])
def test_one_that_the_system_refuses_leaves_none_of_them(wrong: dict[str, str]) -> None:
    usual = dict(os.environ)
    action = WithEnvironment({"EXAMPLE_SET": "task", "EXAMPLE_NEW": "task", **wrong})
    with pytest.raises((ValueError, OSError)), action._in_task_environment():
        pytest.fail("it was entered")
    assert dict(os.environ) == usual
