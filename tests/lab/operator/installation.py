# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The controller's objects in a control plane of the lab, as the page says, and their removal."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import conftest  # noqa: F401 - makes the collection importable
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.managed_object import (
    GROUP,
    VERSION,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.custom_resources import KINDS
from tests.lab.control_plane.build import build
from tests.lab.nodes.api import Api, ApiError
from tests.lab.supervisor import LabError, wait_until
from tests.tools.env import ROOT

__all__ = ["CRDS", "installed", "kubectl", "wait_until_served"]

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_DEFAULT = ROOT / "extensions" / "operator" / "config" / "default"
_NAMESPACES = ("pullsecret-system", "hyperfleet-system", "clusters-cls-123")


def kubectl(kubeconfig: Path, *words: str, cwd: Path = ROOT) -> str:
    """Return what kubectl prints; LabError when it fails."""
    command = [str(build() / "kubectl"), f"--kubeconfig={kubeconfig}", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)
    if done.returncode != 0:
        raise LabError(f"kubectl {' '.join(words)}: {done.stderr}")
    return done.stdout


@contextmanager
def installed(api: Api, admin: Path) -> Iterator[str]:
    """Install the controller without its pod; give a token of its account."""
    try:
        kubectl(admin, "apply", "-k", str(_DEFAULT))
        for kind in KINDS.values():
            wait_until_served(api, f"{kind.plural}.{GROUP}")
        yield kubectl(admin, "create", "token", "pullsecret-controller", "-n", "pullsecret-system").strip()
    finally:
        for kind in KINDS.values():
            for item in api.items(f"/apis/{GROUP}/{VERSION}/{kind.plural}"):
                metadata = item["metadata"]
                path = f"namespaces/{metadata['namespace']}/{kind.plural}/{metadata['name']}"
                api.merge(f"/apis/{GROUP}/{VERSION}/{path}", {"metadata": {"finalizers": None}})
            api.delete(f"{CRDS}/{kind.plural}.{GROUP}")
        for name in _NAMESPACES:
            api.delete(f"/api/v1/namespaces/{name}")
        for plural in ("clusterroles", "clusterrolebindings"):
            api.delete(f"/apis/rbac.authorization.k8s.io/v1/{plural}/pullsecret-controller")


def wait_until_served(api: Api, name: str) -> None:
    """Wait until the API server serves a CustomResourceDefinition, and lists its objects."""
    plural, _dot, group = name.partition(".")

    def is_served() -> bool:
        definition = api.get(f"{CRDS}/{name}")
        conditions = (definition.get("status") or {}).get("conditions") or []
        if not any(each["type"] == "Established" and each["status"] == "True" for each in conditions):
            return False
        try:
            # For a moment after it is established: "storage is (re)initializing".
            api.items(f"/apis/{group}/{definition['spec']['versions'][0]['name']}/{plural}")
        except ApiError:
            return False
        return True

    wait_until(is_served, name)
