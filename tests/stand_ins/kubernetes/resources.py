# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kinds the stand-in serves, as a table, and the discovery documents made from it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

_VERBS = ["create", "delete", "get", "list", "patch", "update", "watch"]


@dataclass(frozen=True)
class Resource:
    """One resource; ``group`` is empty for the core group.

    ``subresources`` are those that are read, put and patched like the object itself.
    """

    plural: str
    kind: str
    short: str = ""
    namespaced: bool = True
    group: str = ""
    version: str = "v1"
    subresources: tuple[str, ...] = ()

    @property
    def api_version(self) -> str:
        """``v1``, ``apps/v1``."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """The plural with the group, as messages have it: ``daemonsets.apps``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def base(self) -> str:
        """The path of its group and version, without the first slash: ``api/v1``."""
        return f"{'apis' if self.group else 'api'}/{self.api_version}"


_RBAC = "rbac.authorization.k8s.io"
_CLUSTER_API = "cluster.x-k8s.io"
_STATUS = ("status",)
_CONTROLLER = ("PullSecret", "PullSecretFleet", "GlobalPullSecret", "GuestPullSecret")

RESOURCES = {
    r.plural: r
    for r in (
        Resource("configmaps", "ConfigMap", "cm"),
        Resource("events", "Event", "ev"),
        Resource("namespaces", "Namespace", "ns", namespaced=False),
        Resource("secrets", "Secret"),
        Resource("serviceaccounts", "ServiceAccount", "sa"),
        Resource("nodes", "Node", "no", namespaced=False),
        Resource("persistentvolumeclaims", "PersistentVolumeClaim", "pvc"),
        Resource("pods", "Pod", "po", subresources=_STATUS),
        Resource("jobs", "Job", group="batch", subresources=_STATUS),
        Resource("daemonsets", "DaemonSet", "ds", group="apps"),
        Resource("roles", "Role", group=_RBAC),
        Resource("rolebindings", "RoleBinding", group=_RBAC),
        Resource("leases", "Lease", group="coordination.k8s.io"),
        # What the management cluster of a hosted control plane has from HyperShift's CRDs.
        Resource("clusters", "Cluster", group=_CLUSTER_API, version="v1beta2"),
        Resource(
            "clusterresourcesets", "ClusterResourceSet", group=f"addons.{_CLUSTER_API}", version="v1beta2"
        ),
        Resource(
            "clusterresourcesetbindings",
            "ClusterResourceSetBinding",
            group=f"addons.{_CLUSTER_API}",
            version="v1beta2",
        ),
        Resource(
            "hostedcontrolplanes", "HostedControlPlane", group="hypershift.openshift.io", version="v1beta1"
        ),
        *(
            Resource(
                f"{kind.lower()}s",
                kind,
                group="pullsecret.hyperfleet.io",
                version="v1alpha1",
                subresources=_STATUS,
            )
            for kind in _CONTROLLER
        ),
    )
}


def discovery() -> dict[str, bytes]:
    """Return path → body of every discovery document."""
    versions: dict[str, list[Resource]] = {}
    for resource in RESOURCES.values():
        versions.setdefault(resource.base, []).append(resource)
    documents: dict[str, dict[str, Any]] = {
        "/version": {"major": "1", "minor": "34", "gitVersion": "v1.34.4"},
        "/api": {"kind": "APIVersions", "versions": ["v1"]},
        "/apis": {
            "kind": "APIGroupList",
            "apiVersion": "v1",
            "groups": [_api_group(first) for first, *_others in versions.values() if first.group],
        },
        "/openapi/v3": {"paths": {base: {"serverRelativeURL": f"/openapi/v3/{base}"} for base in versions}},
    }
    groups: list[dict[str, Any]] = documents["/apis"]["groups"]
    documents |= {
        f"/apis/{group['name']}": {"kind": "APIGroup", "apiVersion": "v1", **group} for group in groups
    }
    for base, resources in versions.items():
        documents[f"/{base}"] = {
            "kind": "APIResourceList",
            "groupVersion": resources[0].api_version,
            "resources": [item for resource in resources for item in _api_resources(resource)],
        }
        # Without schemas: kubectl looks whether PATCH takes ``fieldValidation``, and no further.
        documents[f"/openapi/v3/{base}"] = {
            "openapi": "3.0.0",
            "info": {"title": "Kubernetes", "version": "v1.34.4"},
            "paths": dict(map(_patch_of, resources)),
        }
    return {path: json.dumps(document).encode() for path, document in documents.items()}


def _api_group(resource: Resource) -> dict[str, Any]:
    version = {"groupVersion": resource.api_version, "version": resource.version}
    return {"name": resource.group, "versions": [version], "preferredVersion": version}


def _api_resources(resource: Resource) -> list[dict[str, Any]]:
    """The resource and its subresources."""
    common = {"namespaced": resource.namespaced, "kind": resource.kind, "singularName": ""}
    own = {"name": resource.plural, "singularName": resource.kind.lower(), "verbs": _VERBS}
    if resource.short:
        own["shortNames"] = [resource.short]
    below = {"verbs": ["get", "patch", "update"]}
    return [
        {**common, **own},
        *[{**common, **below, "name": f"{resource.plural}/{name}"} for name in resource.subresources],
    ]


def _patch_of(resource: Resource) -> tuple[str, dict[str, Any]]:
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    parameters = [
        {"name": name, "in": "query", "schema": {"type": "string"}} for name in ("dryRun", "fieldValidation")
    ]
    space = "namespaces/{namespace}/" if resource.namespaced else ""
    patch = {"parameters": parameters, "responses": {}, "x-kubernetes-group-version-kind": kind}
    return f"/{resource.base}/{space}{resource.plural}/{{name}}", {"patch": patch}
