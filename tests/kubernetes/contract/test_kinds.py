# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kinds of other API groups: paths, defaults, and fields that cannot be changed."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.kubernetes.contract.support import Client, Place, causes, names, version
from tests.stand_ins.kubernetes.hypershift import serve_hosted_control_planes

RBAC = "rbac.authorization.k8s.io"
DAEMON_SET: dict[str, Any] = {
    "metadata": {"name": "agent"},
    "spec": {
        "selector": {"matchLabels": {"name": "agent"}},
        "template": {
            "metadata": {"labels": {"name": "agent"}},
            "spec": {
                "serviceAccountName": "agent",
                "nodeSelector": {},
                "containers": [
                    {
                        "name": "agent",
                        "image": "registry.example.com/agent:1",
                        "env": [
                            {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
                            {"name": "NOTHING", "value": ""},
                        ],
                        "resources": {"requests": {"cpu": "1000m", "memory": "35Mi"}},
                    }
                ],
                "volumes": [{"name": "bus", "hostPath": {"path": "/run/dbus"}}],
            },
        },
    },
}
ROLE = {
    "metadata": {"name": "agent"},
    "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}],
}
BINDING = {
    "metadata": {"name": "agent"},
    "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "agent"},
    "subjects": [{"kind": "ServiceAccount", "name": "agent", "namespace": "default"}],
}
LEASE = {"metadata": {"name": "agent"}, "spec": {"holderIdentity": "node-1", "leaseDurationSeconds": 30}}
BODIES = {
    "apps/v1/daemonsets": DAEMON_SET,
    f"{RBAC}/v1/roles": ROLE,
    f"{RBAC}/v1/rolebindings": BINDING,
    "coordination.k8s.io/v1/leases": LEASE,
}


def path(place: Place, kind: str, name: str = "") -> str:
    group, version, plural = kind.split("/")
    return f"/apis/{group}/{version}/namespaces/{place.namespace}/{plural}" + (f"/{name}" if name else "")


@pytest.mark.parametrize("kind", BODIES)
def test_they_are_made_read_patched_and_deleted(admin: Client, shared_place: Place, kind: str) -> None:
    made = admin.post(path(shared_place, kind), BODIES[kind]).ok()
    try:
        assert made["apiVersion"] == kind.rpartition("/")[0]
        at = path(shared_place, kind, "agent")
        assert names(admin.get(path(shared_place, kind)).ok()) == ["agent"]
        patch = {"metadata": {"labels": {"a": "b"}, "resourceVersion": version(made)}}
        reply = admin.patch(at, patch)
        while reply.code == 409:
            # A controller of the real server changed the object first.
            patch["metadata"]["resourceVersion"] = version(admin.get(at).ok())
            reply = admin.patch(at, patch)
        assert reply.ok()["metadata"]["labels"] == {"a": "b"}
        refused = admin.patch(at, {**patch, "metadata": {**patch["metadata"], "labels": {"a": "c"}}})
        group, _version, plural = kind.split("/")
        status = refused.refused(409, "Conflict")
        assert status["details"] == {"name": "agent", "group": group, "kind": plural}
        status = admin.post(path(shared_place, kind), BODIES[kind]).refused(409, "AlreadyExists")
        assert status["message"] == f'{plural}.{group} "agent" already exists'
    finally:
        admin.delete(path(shared_place, kind, "agent"))
    status = admin.get(path(shared_place, kind, "none")).refused(404, "NotFound")
    assert status["message"] == f'{plural}.{group} "none" not found'


def test_what_the_server_adds_to_a_daemon_set(admin: Client, shared_place: Place) -> None:
    made = admin.post(path(shared_place, "apps/v1/daemonsets"), DAEMON_SET).ok()
    admin.delete(path(shared_place, "apps/v1/daemonsets", "agent"))
    template = made["spec"].pop("template")
    assert made["spec"] == {
        "selector": {"matchLabels": {"name": "agent"}},
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}},
        "revisionHistoryLimit": 10,
    }
    pod = template["spec"]
    assert pod.pop("containers") == [
        {
            "name": "agent",
            "image": "registry.example.com/agent:1",
            "env": [
                {
                    "name": "NODE",
                    "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}},
                },
                {"name": "NOTHING"},
            ],
            "resources": {"requests": {"cpu": "1", "memory": "35Mi"}},
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
            "imagePullPolicy": "IfNotPresent",
        }
    ]
    assert pod == {
        "serviceAccountName": "agent",
        "serviceAccount": "agent",
        "volumes": [{"name": "bus", "hostPath": {"path": "/run/dbus", "type": ""}}],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
    }


def test_a_selector_and_a_role_reference_stay(admin: Client, shared_place: Place) -> None:
    admin.post(path(shared_place, "apps/v1/daemonsets"), DAEMON_SET).ok()
    admin.post(path(shared_place, f"{RBAC}/v1/rolebindings"), BINDING).ok()
    try:
        other = {"name": "other"}
        patch = {"spec": {"selector": {"matchLabels": other}, "template": {"metadata": {"labels": other}}}}
        status = admin.patch(path(shared_place, "apps/v1/daemonsets", "agent"), patch).refused(422, "Invalid")
        assert ("spec.selector", "FieldValueInvalid") in causes(status)
        patch = {"roleRef": {"name": "other"}}
        at = path(shared_place, f"{RBAC}/v1/rolebindings", "agent")
        status = admin.patch(at, patch).refused(422, "Invalid")
        assert ("roleRef", "FieldValueInvalid") in causes(status)
    finally:
        admin.delete(path(shared_place, "apps/v1/daemonsets", "agent"))
        admin.delete(path(shared_place, f"{RBAC}/v1/rolebindings", "agent"))


def test_nodes_belong_to_no_namespace(admin: Client) -> None:
    name = f"node-{uuid.uuid4().hex[:8]}"
    admin.post("/api/v1/nodes", {"metadata": {"name": name, "labels": {"run": name}}}).ok()
    assert names(admin.get("/api/v1/nodes", labelSelector=f"run={name}").ok()) == [name]
    admin.delete(f"/api/v1/nodes/{name}").ok()
    admin.get(f"/api/v1/nodes/{name}").refused(404, "NotFound")


def test_a_hosted_control_plane_is_what_was_sent(admin: Client, shared_place: Place) -> None:
    serve_hosted_control_planes(lambda method, at, body: (admin.call(method, at, body).code, None))
    plane = {
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "HostedControlPlane",
        "metadata": {"name": "one"},
        "spec": {"pullSecret": {"name": "pull-secret"}},
    }
    at = path(shared_place, "hypershift.openshift.io/v1beta1/hostedcontrolplanes")
    assert admin.post(at, plane).ok()["spec"] == plane["spec"]
    status = {"kubeConfig": {"name": "admin-kubeconfig", "key": "kubeconfig"}}
    assert admin.patch(f"{at}/one", {"status": status}).ok()["status"] == status
    assert names(admin.get(at).ok()) == ["one"]
    admin.delete(f"{at}/one").ok()
