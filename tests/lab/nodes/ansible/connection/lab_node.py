# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection plugin ``lab_node``: a node of the lab, with pipelining.

``community.docker.nsenter`` would do, but without pipelining, so that a module's arguments lie in a file on
the node; and it takes pid 1, the host itself, where an inventory names none. This one has no default, and
goes to the first process of another pid namespace only.
"""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection import ConnectionBase

from tests.lab.nodes.node import enter
from tests.lab.supervisor import LabError

DOCUMENTATION = """
name: lab_node
short_description: Run tasks on a node of the lab
description: Runs tasks as root in the namespaces of a node that systemd-nspawn booted.
author: HyperFleet contributors
options:
  leader:
    description: Pid of the node's first process, as the host sees it.
    type: int
    required: true
    vars:
      - name: ansible_lab_node_leader
"""


class Connection(ConnectionBase):  # type: ignore[misc]
    """See the module's text."""

    transport = "lab_node"
    has_pipelining = True

    def _connect(self) -> Connection:
        try:
            self._enter = enter(self.get_option("leader"))
        except LabError as error:
            raise AnsibleConnectionFailure(str(error)) from None
        self._connected = True
        return self

    def exec_command(
        self, cmd: str, in_data: bytes | None = None, sudoable: bool = True
    ) -> tuple[int, bytes, bytes]:
        super().exec_command(cmd, in_data=in_data, sudoable=sudoable)
        return self._run(["/bin/sh", "-c", cmd], in_data)

    def put_file(self, in_path: str, out_path: str) -> None:
        super().put_file(in_path, out_path)
        self._copy(f"cat > {shlex.quote(out_path)}", Path(in_path).read_bytes(), out_path)

    def fetch_file(self, in_path: str, out_path: str) -> None:
        super().fetch_file(in_path, out_path)
        Path(out_path).write_bytes(self._copy(f"cat {shlex.quote(in_path)}", None, in_path))

    def close(self) -> None:
        self._connected = False

    def _copy(self, script: str, data: bytes | None, path: str) -> bytes:
        code, out, told = self._run(["/bin/sh", "-c", script], data)
        if code:
            raise AnsibleConnectionFailure(f"{path}: {told.decode(errors='replace').strip()}")
        return out

    def _run(self, argv: list[str], data: bytes | None) -> tuple[int, bytes, bytes]:
        done: subprocess.CompletedProcess[Any] = subprocess.run(
            [*self._enter, *argv],
            input=data or b"",
            capture_output=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr
