# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The API server's paths of objects and of lists. Pure."""

from __future__ import annotations

from urllib.parse import quote

__all__ = ["api_version_of", "list_path", "object_path", "plural_of"]

# The API groups of kinds outside the core group.
_GROUPS = {
    "daemonsets": "apps/v1",
    "hostedcontrolplanes": "hypershift.openshift.io/v1beta1",
    "jobs": "batch/v1",
    "leases": "coordination.k8s.io/v1",
    "rolebindings": "rbac.authorization.k8s.io/v1",
    "roles": "rbac.authorization.k8s.io/v1",
}


def plural_of(kind: str) -> str:
    """Return ``clusters`` of ``clusters.v1beta2.cluster.x-k8s.io``, as kubectl writes a kind with its version."""
    return kind.partition(".")[0]


def api_version_of(kind: str) -> str | None:
    """Return ``cluster.x-k8s.io/v1beta2`` of ``clusters.v1beta2.cluster.x-k8s.io``; None without a version."""
    version, _dot, group = kind.partition(".")[2].partition(".")
    return f"{group}/{version}" if group else None


def object_path(namespace: str | None, kind: str, name: str, subresource: str = "") -> str:
    """Return the path of one object, or of a subresource; a slash in a name cannot change the path."""
    return f"{list_path(namespace, kind)}/{_part(name)}{'/' if subresource else ''}{subresource}"


def list_path(namespace: str | None, kind: str) -> str:
    """Return the path of all objects of a kind: of one namespace, or of all without one."""
    base = api_version_of(kind) or _GROUPS.get(kind)
    within = f"namespaces/{_part(namespace)}/" if namespace else ""
    return f"/{f'apis/{base}' if base else 'api/v1'}/{within}{plural_of(kind)}"


def _part(name: str) -> str:
    return quote(name, safe=":")
