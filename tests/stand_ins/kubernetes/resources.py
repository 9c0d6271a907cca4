# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The kinds the stand-in serves, as a table, and the discovery documents made from it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]

VERSION = {
    "major": "1",
    "minor": "34",
    "gitVersion": "v1.34.4",
    "gitCommit": "",
    "gitTreeState": "",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": "stand-in",
}


@dataclass(frozen=True)
class Resource:
    """One resource; ``group`` is empty for the core group.

    ``fields`` are the top-level fields that survive decoding; all others are dropped, as the API
    server does.
    ``subresources`` are those that are read, put and patched like the object itself.
    ``returns_deleted`` tells whether DELETE answers with the object instead of a ``Status``.
    """

    plural: str
    kind: str
    fields: frozenset[str]
    singular: str = ""
    namespaced: bool = True
    returns_deleted: bool = False
    short_names: tuple[str, ...] = ()
    selectable: frozenset[str] = field(default_factory=frozenset)
    verbs: tuple[str, ...] = tuple(VERBS)
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


def _resource(plural: str, kind: str, fields: str, **more: Any) -> Resource:
    selectable = frozenset({"metadata.name", "metadata.namespace", *more.pop("selectable", ())})
    return Resource(
        plural, kind, frozenset(fields.split()), singular=kind.lower(), selectable=selectable, **more
    )


_RBAC = "rbac.authorization.k8s.io"

RESOURCES = {
    r.plural: r
    for r in (
        _resource("configmaps", "ConfigMap", "data binaryData immutable", short_names=("cm",)),
        _resource(
            "events",
            "Event",
            "involvedObject reason message source firstTimestamp lastTimestamp count type eventTime series "
            "action related reportingComponent reportingInstance",
            short_names=("ev",),
            selectable=(
                "involvedObject.kind",
                "involvedObject.name",
                "involvedObject.namespace",
                "reason",
                "type",
            ),
        ),
        _resource(
            "namespaces",
            "Namespace",
            "spec status",
            namespaced=False,
            short_names=("ns",),
            selectable=("status.phase",),
            # The API server has no deletecollection for namespaces.
            verbs=("create", "delete", "get", "list", "patch", "update", "watch"),
        ),
        _resource("secrets", "Secret", "data stringData type immutable", selectable=("type",)),
        _resource(
            "serviceaccounts",
            "ServiceAccount",
            "secrets imagePullSecrets automountServiceAccountToken",
            returns_deleted=True,
            short_names=("sa",),
        ),
        _resource("nodes", "Node", "spec status", namespaced=False, short_names=("no",)),
        _resource(
            "pods",
            "Pod",
            "spec status",
            returns_deleted=True,
            short_names=("po",),
            selectable=("status.phase", "spec.nodeName"),
            subresources=("status",),
        ),
        _resource("jobs", "Job", "spec status", group="batch", subresources=("status",)),
        _resource("daemonsets", "DaemonSet", "spec status", short_names=("ds",), group="apps"),
        _resource("roles", "Role", "rules", group=_RBAC),
        _resource("rolebindings", "RoleBinding", "roleRef subjects", group=_RBAC),
        _resource("leases", "Lease", "spec", group="coordination.k8s.io"),
        # What the management cluster of a hosted control plane has from HyperShift's CRDs.
        _resource(
            "hostedcontrolplanes",
            "HostedControlPlane",
            "spec status",
            group="hypershift.openshift.io",
            version="v1beta1",
        ),
    )
}


def _api_resource(resource: Resource) -> dict[str, Any]:
    out: dict[str, Any] = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        out["shortNames"] = list(resource.short_names)
    return out


def _api_group(resource: Resource) -> dict[str, Any]:
    version = {"groupVersion": resource.api_version, "version": resource.version}
    return {"name": resource.group, "versions": [version], "preferredVersion": version}


def _subresources(resource: Resource) -> list[dict[str, Any]]:
    return [
        {
            "name": f"{resource.plural}/{name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": resource.kind,
            "verbs": ["get", "patch", "update"],
        }
        for name in resource.subresources
    ]


def _dumps(document: dict[str, Any]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def _openapi(versions: dict[str, Resource]) -> dict[str, bytes]:
    """OpenAPI documents without schemas: kubectl looks whether PATCH takes ``fieldValidation``, and no further."""
    documents = {
        "/openapi/v3": _dumps(
            {"paths": {p: {"serverRelativeURL": f"/openapi/v3/{p}"} for p in map(_path, versions.values())}}
        )
    }
    for version, first in versions.items():
        paths = {}
        for resource in RESOURCES.values():
            if resource.api_version != version:
                continue
            kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
            parameters = [
                {"name": name, "in": "query", "schema": {"type": "string"}}
                for name in ("dryRun", "fieldValidation")
            ]
            space = "namespaces/{namespace}/" if resource.namespaced else ""
            paths[f"/{_path(resource)}/{space}{resource.plural}/{{name}}"] = {
                "patch": {"parameters": parameters, "responses": {}, "x-kubernetes-group-version-kind": kind}
            }
        info = {"title": "Kubernetes", "version": VERSION["gitVersion"]}
        documents[f"/openapi/v3/{_path(first)}"] = _dumps({"openapi": "3.0.0", "info": info, "paths": paths})
    return documents


def _path(resource: Resource) -> str:
    return f"{'apis' if resource.group else 'api'}/{resource.api_version}"


def discovery(address: str) -> dict[str, bytes]:
    """Return path → body of every discovery document; ``address`` is ``host:port`` of the server."""
    versions = {r.api_version: r for r in RESOURCES.values()}
    documents = {
        f"/{_path(r)}": _dumps(
            {
                "kind": "APIResourceList",
                "groupVersion": name,
                "resources": [
                    item
                    for r in RESOURCES.values()
                    if r.api_version == name
                    for item in (_api_resource(r), *_subresources(r))
                ],
            }
        )
        for name, r in versions.items()
    }
    groups = [_api_group(r) for r in versions.values() if r.group]
    return {
        **documents,
        **_openapi(versions),
        "/version": _dumps(VERSION),
        "/api": _dumps(
            {
                "kind": "APIVersions",
                "versions": ["v1"],
                "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
            }
        ),
        "/apis": _dumps({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}),
    }
