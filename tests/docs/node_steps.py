# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of the node's examples: a directory for the node, and a ``systemctl`` that counts."""

from __future__ import annotations

import json
import os
from typing import Any

from tests.docs.world import World, auths, config
from tests.support.processes import Finished

FILE = "/var/lib/kubelet/config.json"
MODULE = "hyperfleet.pull_secret.kubelet_auth_sync"
FOREIGN = auths(registry_redhat_io="node")
_SYSTEMCTL = """#!/bin/sh
count=$(cat {count} 2>/dev/null || echo 0)
case $1 in
  show) printf 'LoadState=loaded\\nActiveState=active\\nSubState=running\\nResult=success\\nNRestarts=0\\n'
        printf 'ConditionResult=yes\\nType=notify\\nInvocationID=%s\\n' "$count" ;;
  restart) echo $((count + 1)) > {count} ;;
esac
"""


def _file(world: World) -> Any:
    return json.loads(world.path(FILE).read_text())["auths"]


def _restarts(world: World) -> int:
    count = world.path("/run/restarts")
    return int(count.read_text()) if count.exists() else 0


def a_node(world: World) -> None:
    world.write(FILE, json.dumps({"auths": FOREIGN}))
    world.write("/usr/bin/systemctl", _SYSTEMCTL.format(count=world.path("/run/restarts")))
    program = world.path("/usr/bin/systemctl")
    program.chmod(0o755)
    world.path("/run").mkdir(exist_ok=True)
    world.ansible.env["PATH"] = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    # Those of this machine are not touched, nor is its kubelet.
    world.defaults[MODULE] = {
        "path": str(world.path(FILE)),
        "healthz": "",
        "systemd": "systemctl",
        "window": 0,
    }
    world.store("customer-prod-12345", "cls-123", config(quay_io="original"))
    world.put_secret("kube-system", "additional-pull-secret", config(ghcr_io="additional"))


def in_step(world: World, done: Finished) -> None:
    assert done.result["actions"] == ["written", "restarted"]
    assert _file(world) == {**FOREIGN, **auths(quay_io="original", ghcr_io="additional")}
    assert _restarts(world) == 1


def another_source(world: World) -> None:
    world.write("/etc/pull-secrets/platform.json", config(quay_io="platform"))


def written(world: World, done: Finished) -> None:
    assert done.result["actions"] == ["written"]
    assert done.result["restart"]["effective"] == "within 5 minutes"
    assert _file(world) == {**FOREIGN, **auths(quay_io="platform")}
    assert _restarts(world) == 1


def taken_out(world: World, done: Finished) -> None:
    assert done.result["changed"]
    assert _file(world) == FOREIGN
    assert [path.name for path in world.path(FILE).parent.iterdir()] == ["config.json"]
    assert _restarts(world) == 2


def rotated(world: World) -> None:
    task = {"source": {"file": "/etc/pull-secrets/platform.json"}}
    assert world.run({"name": "Rotate", MODULE: task}).result["actions"] == ["written", "restarted"]


def went_back(world: World, done: Finished) -> None:
    assert done.result["actions"] == ["rolled back", "restarted"]
    assert _file(world) == FOREIGN
    assert _restarts(world) == 4
