# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Every module reports a host that cannot be reached as unreachable."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.docker_configs import docker_config
from tests.support.nightly import some
from tests.support.processes import Ansible

_CONNECTION = '''
from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection import ConnectionBase

DOCUMENTATION = """
name: unreachable
short_description: Reaches nobody
description: For a test.
author: nobody
options: {}
"""


class Connection(ConnectionBase):
    transport = "unreachable"
    has_pipelining = True

    def _connect(self):
        raise AnsibleConnectionFailure("nobody answers")

    def exec_command(self, cmd, in_data=None, sudoable=True):
        self._connect()

    put_file = fetch_file = close = lambda self, *args: None
'''
_TASKS: dict[str, dict[str, Any]] = {
    "kubelet_auth_sync": {"source": {"file": "source.json"}},
    "hyperfleet_adapter": {"config": "/etc/adapter.yml", "cluster_ids": ["cls-1"]},
    "dockerconfig_merge": {"source": {"file": "source.json"}, "dest": "/nowhere"},
}


@pytest.mark.parametrize("module", some(_TASKS))
@pytest.mark.cores
def test_a_host_that_cannot_be_reached_is_unreachable(tmp_path: Path, module: str) -> None:
    ansible = Ansible(tmp_path / "ansible")
    plugins = tmp_path / "connection"
    plugins.mkdir()
    (plugins / "unreachable.py").write_text(_CONNECTION)
    source = tmp_path / "source.json"
    source.write_text(json.dumps(docker_config(quay_io="one")))
    options = {**_TASKS[module]}
    if "source" in options:
        options["source"] = {"file": str(source)}
    play = {
        "hosts": "nodes",
        "gather_facts": False,
        "tasks": [{"name": "one", f"hyperfleet.pull_secret.{module}": options}],
    }
    inventory = tmp_path / "inventory"
    inventory.write_text(
        "[nodes]\nnode ansible_connection=unreachable ansible_python_interpreter=/usr/bin/python3\n"
    )
    ansible.env["ANSIBLE_CONNECTION_PLUGINS"] = str(plugins)
    finished = ansible.playbook([play], flags=["-i", str(inventory)])
    assert [task.status for task in finished.tasks] == ["unreachable"], finished.output
    assert "internal error" not in finished.output
