# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A fleet on disk: a docker config per cluster, and the variables file with the list of clusters."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

# Like OpenShift's pull secrets: a few registries with long tokens, about 3 kB in total.
_REGISTRIES = {
    "cloud.openshift.com": 420,
    "quay.io": 420,
    "registry.connect.redhat.com": 560,
    "registry.redhat.io": 560,
    "registry.example.com:5000": 32,
}
CLUSTERS_PER_PROJECT = 10


class Fleet:
    """``size`` clusters in their own directory; two fleets of one lab need different values of ``prefix``."""

    def __init__(self, directory: Path, size: int, *, prefix: str = "cls") -> None:
        self.directory = directory
        self.size = size
        self._prefix = prefix

    def write(self) -> None:
        """Write every docker config and ``clusters.json``, the variables file."""
        secrets = self.directory / "secrets"
        secrets.mkdir(parents=True)
        for index in range(self.size):
            self._path(index).write_text(docker_config(index, "first"))
        self.variables.write_text(json.dumps({"clusters": [self.cluster(i) for i in range(self.size)]}))

    @property
    def variables(self) -> Path:
        return self.directory / "clusters.json"

    def _path(self, index: int) -> Path:
        return self.directory / "secrets" / f"{self.identity(index)}.json"

    def identity(self, index: int) -> str:
        return f"{self._prefix}-{index:05d}"

    def namespaces(self) -> list[str]:
        return [self.namespace(index) for index in range(self.size)]

    def namespace(self, index: int) -> str:
        return f"clusters-{self.identity(index)}"

    def project(self, index: int) -> str:
        return f"bench-{self._prefix}-{index // CLUSTERS_PER_PROJECT:04d}"

    def cluster(self, index: int) -> dict[str, Any]:
        return {
            "cluster_id": self.identity(index),
            "cluster_name": f"cluster-{index:05d}",
            "gcp_project_id": self.project(index),
            "management_namespace": self.namespace(index),
            "source": {"file": str(self._path(index))},
        }

    def change(self, count: int) -> None:
        """Change the credential of ``count`` clusters that are spread over the fleet."""
        step = max(1, self.size // count)
        for index in range(0, step * count, step):
            self._path(index).write_text(docker_config(index, "second"))

    def bytes_of_one(self) -> int:
        return self._path(0).stat().st_size


def docker_config(index: int, generation: str) -> str:
    auths = {}
    for registry, length in _REGISTRIES.items():
        password = f"example-password-{generation}-{index:05d}-".ljust(length, "x")
        auth = base64.b64encode(f"example-user:{password}".encode()).decode()
        auths[registry] = {"auth": auth, "email": "fleet@example.com"}
    return json.dumps({"auths": auths})
