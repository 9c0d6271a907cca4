# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A kubeconfig for the lab's clusters, stand-in or real."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any, NamedTuple


class Cluster(NamedTuple):
    """One context: its name, the server's URL, a bearer token and the CA certificate (PEM, for https)."""

    context: str
    url: str
    token: str
    ca: bytes | None = None


def kubeconfig_of(*clusters: Cluster) -> dict[str, Any]:
    """The document with these contexts, of which the first is the current one."""
    document: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": clusters[0].context,
        "clusters": [],
        "users": [],
        "contexts": [],
    }
    for name, url, token, ca in clusters:
        cluster = {"server": url}
        if ca:
            cluster["certificate-authority-data"] = base64.b64encode(ca).decode()
        document["clusters"].append({"name": name, "cluster": cluster})
        document["users"].append({"name": f"{name}-admin", "user": {"token": token}})
        context = {"cluster": name, "user": f"{name}-admin", "namespace": "default"}
        document["contexts"].append({"name": name, "context": context})
    return document


def write_kubeconfig(path: str | Path, clusters: list[Cluster]) -> Path:
    """Write the contexts as JSON, which is YAML, with mode 0600."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{target.name}.{os.getpid()}")
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
        json.dump(kubeconfig_of(*clusters), stream, indent=2)
        stream.write("\n")
    temporary.replace(target)
    return target
