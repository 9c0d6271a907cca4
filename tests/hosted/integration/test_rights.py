# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The rights of the syncer's service account: read one Secret, write its report, use its Leases, nothing else."""

from __future__ import annotations

import time

import pytest

from tests.hosted.integration.world import ADDITIONAL, GLOBAL, STATUS, SYNCER, World
from tests.support.docker_configs import docker_config
from tests.support.kubernetes.running import SERVERS
from tests.support.kubernetes.world import path

MERGE = "application/merge-patch+json"


# The stand-in has no RBAC: it only tells admins from others.
@pytest.mark.parametrize("servers", SERVERS[1:], indirect=True)
def test_the_syncers_token_is_good_for_what_it_needs_and_no_more(world: World) -> None:
    world.additional(docker_config(registry_example_com="tenant"))
    world.run(max_restarting="2")
    account = f"{path(world.namespace, 'serviceaccounts', SYNCER)}/token"
    token = world.hosted.post(account, {"spec": {}})["status"]["token"]

    def status(method: str, at: str, body: object = None, content: str = "application/json") -> int:
        return world.hosted.request(method, at, body, content, token)[0]

    secret = path(world.namespace, "secrets", GLOBAL)
    deadline = time.monotonic() + 180
    while status("GET", secret) == 403:
        assert time.monotonic() < deadline, "the syncer's account still has no access after 60 s"
        time.sleep(0.05)
    secrets, own = path(world.namespace, "secrets"), f"?fieldSelector=metadata.name%3D{GLOBAL}"
    assert status("GET", f"{secrets}{own}") == 200
    assert status("GET", f"{secrets}{own}&watch=true&timeoutSeconds=1&resourceVersion=1") in (200, 410)
    reported = {"data": {"node-1": "{}"}}
    assert status("PATCH", path(world.namespace, "configmaps", STATUS), reported, MERGE) == 200
    assert status("GET", path(world.namespace, "configmaps", STATUS)) == 200
    for number in range(2):
        at = path(world.namespace, "leases", f"{SYNCER}-restart-{number}")
        code, lease = world.hosted.request("GET", at, token=token)
        assert code == 200
        lease["spec"] = {"holderIdentity": "node-1", "leaseDurationSeconds": 30}
        assert status("PUT", at, lease) == 200
        assert status("DELETE", at) == 403
        assert status("PATCH", at, {"metadata": {"labels": {"a": "b"}}}, MERGE) == 403

    for method, at, body in (
        ("GET", path(world.namespace, "secrets", ADDITIONAL), None),
        ("GET", secrets, None),
        ("GET", "/api/v1/secrets", None),
        ("PATCH", secret, {"metadata": {"labels": {"a": "b"}}}),
        ("DELETE", secret, None),
        ("GET", path(world.namespace, "configmaps"), None),
        ("GET", path(world.namespace, "configmaps", "kube-root-ca.crt"), None),
        ("PATCH", path(world.namespace, "configmaps", "kube-root-ca.crt"), {"data": {"a": "b"}}),
        ("DELETE", path(world.namespace, "configmaps", STATUS), None),
        ("GET", path(world.namespace, "leases"), None),
        ("GET", path(world.namespace, "leases", f"{SYNCER}-restart-2"), None),
        ("GET", path(world.namespace, "daemonsets", SYNCER), None),
        ("GET", path(world.namespace, "pods"), None),
        ("GET", "/api/v1/nodes", None),
        ("GET", "/api/v1/namespaces", None),
        ("GET", path("default", "secrets", GLOBAL), None),
        ("POST", secrets, {"metadata": {"name": "another"}}),
        ("POST", f"{path(world.namespace, 'events')}", {"metadata": {"name": "one"}}),
        ("POST", account, {"spec": {}}),
    ):
        assert status(method, at, body, MERGE if method == "PATCH" else "application/json") == 403, (
            method,
            at,
        )
