# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the names of Secrets from a HostedControlPlane."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any, Callable
from urllib.parse import quote

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import DependencyMissing

__all__ = ["field_of", "kubeconfig_secret", "original_secret", "secret_path"]

Read = Callable[[str], Awaitable[Any]]
_PLANES = "/apis/hypershift.openshift.io/v1beta1/namespaces/{}/hostedcontrolplanes"


async def original_secret(read: Read, namespace: str, plane: str | None) -> str:
    """Return the name of the original pull secret.

    :raises DependencyMissing: the control plane does not exist yet, or is not ready.
    """
    name = field_of(await _plane(read, namespace, plane), "spec", "pullSecret", "name")
    return _text(name, namespace, "spec.pullSecret.name")


async def kubeconfig_secret(read: Read, namespace: str, plane: str | None) -> tuple[str, str]:
    """Return name and key of the hosted cluster's kubeconfig; raises as ``original_secret`` does."""
    found = field_of(await _plane(read, namespace, plane), "status", "kubeConfig")
    return _text(field_of(found, "name"), namespace, "status.kubeConfig.name"), field_of(
        found, "key"
    ) or "kubeconfig"


def field_of(found: Any, *names: str) -> Any:
    """Return a nested field; None if it does not exist."""
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def secret_path(namespace: str, name: str) -> str:
    """Return the API path of a Secret."""
    return f"/api/v1/namespaces/{quote(namespace, safe='')}/secrets/{quote(name, safe='')}"


async def _plane(read: Read, namespace: str, plane: str | None) -> Any:
    path = _PLANES.format(quote(namespace, safe=""))
    if plane:
        return await read(f"{path}/{quote(plane, safe='')}")
    found = field_of(await read(path), "items")
    if not isinstance(found, list) or len(found) != 1:
        count = len(found) if isinstance(found, list) else 0
        raise DependencyMissing(
            f"namespace {namespace} has {count} HostedControlPlanes; exactly one is expected"
        )
    return found[0]


def _text(name: Any, namespace: str, where: str) -> str:
    if not isinstance(name, str) or not name:
        raise DependencyMissing(f"the HostedControlPlane in namespace {namespace} has no {where} yet")
    return name
