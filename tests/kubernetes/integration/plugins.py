# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kubeconfigs whose user logs in with an exec plugin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig

_VERSION = "client.authentication.k8s.io/v1"


def exec_kubeconfig(path: Path, url: str, script: str, status: dict[str, Any] | None = None) -> Path:
    """A kubeconfig, and beside it its plugin: a shell script that prints an ExecCredential of ``status``.

    :param status: None prints nothing.
    """
    write_kubeconfig(path, [Cluster("mgmt-1", url, "")])
    plugin = path.with_name(f"{path.name}-plugin")
    answer = {"apiVersion": _VERSION, "kind": "ExecCredential", "status": status}
    said = f"cat <<'END'\n{json.dumps(answer)}\nEND\n" if status is not None else ""
    plugin.write_text(f"#!/bin/sh\n{script}\n{said}")
    plugin.chmod(0o700)
    document = json.loads(path.read_text())
    document["users"][0]["user"] = {"exec": {"apiVersion": _VERSION, "command": str(plugin)}}
    path.write_text(json.dumps(document))
    return path
