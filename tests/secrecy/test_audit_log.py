# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a real kube-apiserver writes about our requests to its audit log."""

from __future__ import annotations

import json
import secrets
import ssl
import urllib.request
from typing import Any

import pytest

from tests.lab.session import REAL, KubernetesEnv, kubernetes
from tests.secrecy.watcher import Watcher
from tests.support.secrecy.canary import Canary
from tests.support.secrecy.needles import Evidence, Needles

_MODULE = "hyperfleet.pull_secret.k8s_pull_secret"
# Options that become part of a request's path or of an object's metadata.
_NAMES = ("name", "namespace", "cluster_id", "service_accounts", "labels", "annotations")


def _request(env: KubernetesEnv, method: str, path: str, body: Any = None) -> None:
    assert env.ca_file is not None
    context = ssl.create_default_context(cafile=env.ca_file)
    headers = {"Authorization": f"Bearer {env.token}", "Content-Type": "application/json"}
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(env.url + path, data, headers, method=method)
    with urllib.request.urlopen(request, context=context) as answer:
        answer.read()


@pytest.mark.real("go")
def test_the_audit_log_holds_no_pull_secret(watcher: Watcher) -> None:
    namespace = f"canary-{secrets.token_hex(4)}"
    canaries = [
        Canary.make("inline"),
        Canary.make("rotated"),
        *(Canary.make(f"as {name}") for name in _NAMES),
    ]
    with kubernetes(REAL) as env:
        _request(env, "POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        base = {
            "namespace": namespace,
            "name": "pull-secret",
            "timeout": 20,
            "kubernetes": {"host": env.url, "api_key": env.token, "ca_cert": env.ca_file},
        }
        cases: dict[str, dict[str, Any]] = {}
        for canary in canaries[:2]:
            cases[canary.name] = {**base, "source": {"inline": canary.text}}
        for name, canary in zip(_NAMES, canaries[2:], strict=True):
            entry = canary.entries[0]
            text = f"{entry.user}:{entry.password}"
            placed: Any = {"key": canary.text} if name in ("labels", "annotations") else text
            cases[canary.name] = {**base, "source": {"inline": canary.text}, name: placed}
        tasks = [
            {"name": name, _MODULE: f"{{{{ cases['{name}'] }}}}", "ignore_errors": True} for name in cases
        ]
        recording = watcher.play(tasks, {"cases": cases}, options=["-vvv", "--diff"])
        assert env.audit_log is not None
        lines = [line for line in env.audit_log.read_bytes().splitlines() if namespace.encode() in line]
        _request(env, "DELETE", f"/api/v1/namespaces/{namespace}")
    failed = {name for name, result in recording.results.items() if result["failed"]}
    assert failed == {f"as {name}" for name in _NAMES}
    verbs = {json.loads(line)["verb"] for line in lines}
    assert {"create", "patch"} <= verbs, "the log does not show our requests"
    evidence = [Evidence("audit log", "kube-apiserver", b"\n".join(lines)), *recording.evidence]
    leaks = Needles(canaries).leaks(evidence)
    assert leaks == [], "\n".join(map(str, leaks))
