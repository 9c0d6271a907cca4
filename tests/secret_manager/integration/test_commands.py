# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands that a process runs beside its gRPC threads: their output contains nothing of gRPC's."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.secret_manager import PROJECT, document, endpoint, owned, secret_id

# As in kubelet_auth_sync: it reads the source, then runs systemctl.
_PROGRAM = """
import json, sys, threading
sys.path[:] = json.loads(sys.argv[1])
from ansible.module_utils import basic
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.run_settings import RunSettings
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.store import (
    SecretManagerStore,
)
basic._ANSIBLE_ARGS, basic._ANSIBLE_PROFILE = b'{"ANSIBLE_MODULE_ARGS": {}}', "legacy"
module = basic.AnsibleModule(argument_spec={})
settings = RunSettings(connections={"gcp": json.loads(sys.argv[2])})
source, reference, reads = SecretManagerStore(settings), json.loads(sys.argv[3]), []
def read():
    while True:
        reads.append(source.read(reference, settings.deadline()))
for _ in range(3):
    threading.Thread(target=read, daemon=True).start()
while len(reads) < 10:
    pass
said = {module.run_command(["/bin/sh", "-c", "echo failed >&2; exit 1"]) for _ in range(150)}
assert len(reads) > 30, "nothing was read meanwhile"
print(json.dumps(sorted(said)), flush=True)
import os; os._exit(0)
"""


@pytest.mark.nightly
def test_grpc_writes_nothing_into_what_a_command_says(secret_manager: SecretManagerLab) -> None:
    secret_manager.seed([owned("cls-1", document())])
    reference = {"project": PROJECT, "secret": secret_id("cls-1")}
    arguments = [sys.path, endpoint(secret_manager, "grpc"), reference]
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *map(json.dumps, arguments)],
        env={name: value for name, value in os.environ.items() if name != "GRPC_ENABLE_FORK_SUPPORT"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == [[1, "", "failed\n"]]
