# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""HyperShift's HostedControlPlane for a real API server; the stand-in serves it without being told.

The schema accepts anything, and there is no status subresource, so that a test may write the status.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
BASE = "/apis/hypershift.openshift.io/v1beta1"
_ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "hostedcontrolplanes.hypershift.openshift.io"},
    "spec": {
        "group": "hypershift.openshift.io",
        "scope": "Namespaced",
        "names": {
            "plural": "hostedcontrolplanes",
            "singular": "hostedcontrolplane",
            "kind": "HostedControlPlane",
        },
        "versions": [
            {
                "name": "v1beta1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"spec": _ANYTHING, "status": _ANYTHING},
                    }
                },
            }
        ],
    },
}


def hosted_control_plane(name: str) -> dict[str, Any]:
    """The object for a hosted cluster, which names its pull secret and its kubeconfig."""
    return {
        "apiVersion": "hypershift.openshift.io/v1beta1",
        "kind": "HostedControlPlane",
        "metadata": {"name": name},
        "spec": {"pullSecret": {"name": "pull-secret"}},
        "status": {"kubeConfig": {"name": "admin-kubeconfig", "key": "kubeconfig"}},
    }


def serve_hosted_control_planes(
    request: Callable[[str, str, Any], tuple[int, Any]], seconds: float = 60
) -> None:
    """Make the API server serve the kind; harmless where it does.

    :param request: takes a method, a path and a body, and gives the HTTP status and the answer.
    """
    if request("GET", f"{BASE}/hostedcontrolplanes", None)[0] == 200:
        return
    assert request("POST", CRDS, CRD)[0] in (201, 409)
    deadline = time.monotonic() + seconds
    while request("GET", f"{BASE}/hostedcontrolplanes", None)[0] != 200:
        assert time.monotonic() < deadline, "HostedControlPlanes are not served"
        time.sleep(0.05)
