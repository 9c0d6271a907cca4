# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A management control plane with Cluster API's manager, and guests' API servers."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.lab.cluster_api.build import build
from tests.lab.cluster_api.manager import Link, Manager
from tests.lab.control_plane import ControlPlane, Serving, State
from tests.lab.mounts import remove_tree
from tests.lab.nodes.api import Api
from tests.lab.scratch import supervised
from tests.lab.supervisor import LabError, Supervisor, free_ports, listing
from tests.tools import apt

__all__ = ["CLUSTER_NAME_LABEL", "ClusterApiLab", "cluster_api_lab"]

CLUSTER_NAME_LABEL = "cluster.x-k8s.io/cluster-name"


class ClusterApiLab:
    """The lab whose data lie in ``directory``. ``host`` and ``guest(name)`` return running control planes."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory.resolve()
        (self._port,) = free_ports(1)
        self._link = Link(self.directory, self._port)
        self._manager = Manager(self.directory / "manager", self._link)
        self._guests: dict[str, ControlPlane] = {}
        self._states: dict[str, State] = {}
        self._host: State | None = None

    @property
    def host(self) -> State:
        if self._host is None:
            raise LabError("the lab is not up")
        return self._host

    def guest(self, name: str) -> State:
        """The guest's API server: url, tokens, CA, and a kubeconfig whose context has the guest's name."""
        return self._states[name]

    def __enter__(self) -> ClusterApiLab:
        self.up()
        return self

    def __exit__(self, *_error: object) -> None:
        self.down()

    def up(self) -> None:
        """Start the management control plane and the manager. LabError when they cannot start."""
        apt.provide(["ip"])
        build()
        self.down()
        self.directory.mkdir(parents=True)
        try:
            self._link.up()
            serving = Serving(name="host", address=self._link.host, port=self._port)
            self._host = ControlPlane(self.directory / "host", serving=serving).up()
            self._manager.up(self._host)
        except BaseException:
            self.down()
            raise

    def down(self) -> None:
        """End everything and remove all data, also after a crash of the process that started the lab."""
        records = [*listing(self.directory, "manager/*.pid"), *listing(self.directory, "guests/*/*.pid")]
        for record in [*records, *reversed(listing(self.directory, "host/*.pid"))]:  # etcd last
            Supervisor(record.parent).stop(record.stem)
        self._link.down()
        remove_tree(self.directory)
        self._guests, self._states, self._host = {}, {}, None

    def add_guest(self, namespace: str, name: str, labels: Mapping[str, str] | None = None) -> State:
        """Start a guest's API server, and create its kubeconfig Secret and its Cluster with these labels.

        The namespace is created if it does not exist. The guest has no controllers of its own: nothing
        creates service accounts or collects garbage in it. Several threads may add guests.
        """
        etcd, prefix = self.host.etcd_port, f"/guests/{name}"
        serving = Serving(name=name, address=self._link.host, etcd_port=etcd, etcd_prefix=prefix)
        self._guests[name] = ControlPlane(self.directory / "guests" / name, serving=serving)
        self._states[name] = state = self._guests[name].up()
        api, path = Api(self.host), f"/api/v1/namespaces/{namespace}"
        api.apply(path, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
        # The Secret comes first: without it, the manager waits 30 seconds before it tries again.
        secret = {
            "metadata": {"name": f"{name}-kubeconfig", "labels": {CLUSTER_NAME_LABEL: name}},
            "type": "cluster.x-k8s.io/secret",
            "data": {"value": base64.b64encode(Path(state.kubeconfig).read_bytes()).decode()},
        }
        api.create(f"{path}/secrets", {"apiVersion": "v1", "kind": "Secret", **secret})
        host, _colon, port = state.url.removeprefix("https://").rpartition(":")
        cluster = {
            "metadata": {"name": name, "labels": dict(labels or {})},
            "spec": {"controlPlaneEndpoint": {"host": host, "port": int(port)}},
        }
        body = {"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "Cluster", **cluster}
        api.create(f"/apis/cluster.x-k8s.io/v1beta1/namespaces/{namespace}/clusters", body)
        return state

    def stop_guest(self, name: str) -> None:
        """Stop the guest's API server."""
        self._guests[name].stop_api_server()

    def start_guest(self, name: str) -> None:
        """Start the guest's API server again, with the same port and data."""
        self._guests[name].start_api_server()

    def stop_manager(self) -> None:
        """Stop the manager. Reading v1beta1 objects then fails, because it also converts versions."""
        self._manager.stop()

    def start_manager(self) -> None:
        self._manager.start(self.host)


@contextlib.contextmanager
def cluster_api_lab() -> Iterator[ClusterApiLab]:
    """Give a running lab for the time of a with block. It first ends those that killed processes left."""
    with supervised("cluster-api") as directory, ClusterApiLab(directory / "lab") as lab:
        yield lab
