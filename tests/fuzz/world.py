# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The environment of an input: a scratch directory with files of every kind, and stand-ins on loopback."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.fuzz.bases import HOSTED
from tests.stand_ins.hyperfleet import HyperFleetLab
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.stand_ins.kubernetes.lab import ADMIN_TOKEN, KubernetesLab
from tests.stand_ins.secret_manager.lab import SecretManagerLab
from tests.support.secrecy.canary import Canary
from tests.support.secrecy.labs import PROJECT, Labs

__all__ = ["Addresses", "fill", "serve"]

# Addresses of the stand-ins, by name: rest, grpc, kubernetes, hyperfleet.
Addresses = Mapping[str, str]
_CLOSED = dict.fromkeys(("rest", "kubernetes", "hyperfleet"), "http://127.0.0.1:9") | {"grpc": "127.0.0.1:9"}
_SERVING: list[Labs] = []
# A kubelet that is always healthy, and is another process after each restart.
_SYSTEMCTL = """#!/bin/sh
count="$FUZZ_ROOT/restarts"
case "$1" in
  show) printf '%s\\n' LoadState=loaded ActiveState=active SubState=running Result=success NRestarts=0 \\
    ConditionResult=yes Type=notify "InvocationID=$(printf %032d "$(cat "$count" 2>/dev/null || echo 1)")";;
  restart) echo $(($(cat "$count" 2>/dev/null || echo 1) + 1)) > "$count";;
esac
exit 0
"""


def serve(canary: Canary, clusters: list[Any]) -> Addresses:
    """Start the stand-ins in this process, with a pull secret in each place."""
    # The labs of the secrecy tests. Nothing ends them, because the process is killed.
    labs = Labs(SecretManagerLab(threads=2).start(), KubernetesLab().start(), HyperFleetLab().start())
    # A server without a reference to it ends.
    _SERVING.append(labs)
    for namespace in ("clusters", "sources", "hyperfleet-system"):
        labs.post("/api/v1/namespaces", {"metadata": {"name": namespace}})
    text = canary.text.encode()
    labs.put_kubernetes("one", text)
    labs.secret_manager.seed([{"project": PROJECT, "secret": "one", "versions": [{"data": text}]}])
    spec = {"provider": "gcp", "gcp": {"projectId": PROJECT}, "pullSecret": {"data": canary.text}}
    for cluster in [{"id": "cls-1", "name": "first", "spec": spec}, *clusters]:
        # The API refuses such a cluster, so the adapter never reads it.
        with suppress(Exception):
            labs.hyperfleet.store.seed([cluster])
    return {
        "rest": labs.secret_manager.rest,
        "grpc": labs.secret_manager.grpc,
        "kubernetes": labs.kubernetes.url,
        "hyperfleet": labs.hyperfleet.url,
    }


def fill(here: Path, canary: Canary, addresses: Addresses | None) -> dict[str, str]:
    """Write the files; return the environment variables for them."""
    found = addresses or _CLOSED
    document = canary.document
    for name in ("directory", "fleet", "run", "home", "tmp", "node", "bin", "a/b/cwd"):
        (here / name).mkdir(parents=True)
    cluster = {
        "id": "cls-1",
        "name": "first",
        "spec": {"gcp": {"projectId": PROJECT}, "pullSecret": {"data": canary.text}},
    }
    files: dict[str, str | bytes] = {
        "good.json": canary.text,
        "bad.json": canary.text[:-4],
        "odd\nname": canary.text,
        "empty": "",
        "garbage": bytes(range(256)),
        "deep.json": "[" * 3000,
        "bomb.yaml": _bomb(),
        "cluster.yaml": json.dumps(cluster),
        "fleet/cls-1.json": json.dumps(cluster),
        "fleet/cls-2.yml": "id: cls-2\nname: second\nspec: {gcp: {projectId: p}, pullSecret: {data: x}}\n",
        "token": ADMIN_TOKEN,
        "url": "amqp://127.0.0.1:9/",
        "ca.crt": "no certificate",
        "credentials.json": json.dumps({"type": "authorized_user", "refresh_token": canary.entries[2].token}),
        "adapter.json": json.dumps(adapter_config(here, found)),
        "clusters.yml": json.dumps({"clusters": [HOSTED]}),
        "run/lock": "",
        "node/config.json": json.dumps(document),
    }
    for name, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        (here / name).write_bytes(data)
    os.mkfifo(here / "pipe")
    (here / "loop").symlink_to(here / "loop")
    (here / "dangling").symlink_to(here / "nowhere")
    (here / "unreadable").write_text(canary.text)
    (here / "unreadable").chmod(0)
    with socket.socket(socket.AF_UNIX) as listener, suppress(OSError):
        listener.bind(str(here / "socket"))
    (here / "bin" / "systemctl").write_text(_SYSTEMCTL)
    (here / "bin" / "systemctl").chmod(0o755)
    write_kubeconfig(here / "kubeconfig", [Cluster("mgmt-1", found["kubernetes"], ADMIN_TOKEN)])
    return {
        "HOME": str(here / "home"),
        "TMPDIR": str(here / "tmp"),
        "KUBECONFIG": str(here / "kubeconfig"),
        "SECRET_MANAGER_EMULATOR_HOST": found["grpc"],
        # The job's program speaks REST only.
        "FUZZ_REST": found["rest"],
        "HYPERFLEET_API_URL": found["hyperfleet"],
        "PULL_SECRET": canary.text,
        "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={here}/nowhere",
        "XDG_RUNTIME_DIR": str(here / "tmp"),
        "PATH": f"{here}/bin{os.pathsep}{os.environ['PATH']}",
        "FUZZ_ROOT": str(here),
        "CANARY_RECORD": str(here / "record"),
        # gRPC resolves names itself. Send connections to other machines to a port without a listener.
        "grpc_proxy": "http://127.0.0.1:9",
        "no_grpc_proxy": "127.0.0.1,localhost",
    }


def adapter_config(here: Path, found: Addresses) -> dict[str, Any]:
    """Return an AdapterConfig that works."""
    return {
        "apiVersion": "hyperfleet.redhat.com/v1alpha1",
        "kind": "AdapterConfig",
        "metadata": {"name": "pullsecret-adapter", "namespace": "hyperfleet-system"},
        "spec": {
            "criteria": {"preconditions": [{"expression": "spec.pullSecret.data != nil"}]},
            "hyperfleetAPI": {"url": found["hyperfleet"], "timeout": "2s"},
            "jobTemplate": {"image": "registry.example.com/pullsecret-job:1"},
            "broker": {
                "type": "rabbitmq",
                "url": "amqp://127.0.0.1:9/",
                "topic": "events",
                "subscription": "one",
            },
            "metrics": {"port": 0},
            "kubernetes": {"kubeconfig": str(here / "kubeconfig")},
            "gcp": {"endpoint": found["rest"], "transport": "rest"},
        },
    }


def _bomb() -> str:
    """Return nine levels of YAML aliases: three billion values in 463 bytes."""
    lines = ["a0: &a0 {k: v}"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    return "\n".join(lines)
