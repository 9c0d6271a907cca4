# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The services for a measured run: stand-ins in separate processes, or a real control plane."""

from __future__ import annotations

import http.client
import json
import os
import ssl
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.lab.control_plane.cluster import ControlPlane
from tests.lab.supervisor import Supervisor, wait_for_file
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.stand_ins.process import stand_in_command

ROOT = Path(__file__).resolve().parents[2]
_THREADS = 8


class BenchLab:
    """A context manager. Secret Manager is always a stand-in; ``real`` selects a real Kubernetes API server."""

    def __init__(self, directory: Path, *, real: bool = False) -> None:
        self._directory = directory
        self._supervisor = Supervisor(directory / "processes")
        self._control_plane = ControlPlane(directory / "control-plane") if real else None
        self.real = real
        self.grpc = self.rest = self.kubeconfig = ""
        self.cluster = Cluster("", "", "")

    def __enter__(self) -> BenchLab:
        try:
            secret_manager = start_stand_in(self._supervisor, "secret_manager")
            self.grpc, self.rest = secret_manager["grpc"], secret_manager["rest"]
            if self._control_plane is not None:
                state = self._control_plane.up()
                self.cluster = Cluster("mgmt-1", state.url, state.token, state.ca)
            else:
                kubernetes = start_stand_in(self._supervisor, "kubernetes")
                self.cluster = Cluster("mgmt-1", kubernetes["url"], kubernetes["token"])
            self.kubeconfig = str(write_kubeconfig(self._directory / "kubeconfig", [self.cluster]))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_exc: object) -> None:
        for name in self._supervisor.names():
            self._supervisor.stop(name)
        if self._control_plane is not None:
            self._control_plane.down()

    def environment(self) -> dict[str, str]:
        """Return the environment with which ``ansible-playbook`` finds the services."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("ANSIBLE_", "GOOGLE_", "K8S_AUTH_"))}
        return {
            **kept,
            "KUBECONFIG": self.kubeconfig,
            "SECRET_MANAGER_EMULATOR_HOST": self.grpc,
            "ANSIBLE_NOCOLOR": "1",
        }

    def cpu(self) -> float:
        """Return the CPU seconds of the services, including a real control plane."""
        supervisors = [self._supervisor] + ([self._control_plane.supervisor] if self._control_plane else [])
        return sum(
            _cpu_of(supervisor.directory / f"{name}.pid")
            for supervisor in supervisors
            for name in supervisor.names()
        )

    def create_namespaces(self, names: Iterable[str]) -> None:
        """Create namespaces. In production, another component does this earlier, so it is not measured."""
        parts: list[list[str]] = [[] for dummy in range(_THREADS)]
        for index, name in enumerate(names):
            parts[index % _THREADS].append(name)
        with ThreadPoolExecutor(_THREADS) as pool:
            list(pool.map(self._create_namespaces, parts))

    def _create_namespaces(self, names: list[str]) -> None:
        connection = connect(self.cluster)
        for name in names:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            headers = {"Authorization": f"Bearer {self.cluster.token}", "Content-Type": "application/json"}
            connection.request("POST", "/api/v1/namespaces", json.dumps(body), headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status not in (201, 409):
                raise RuntimeError(f"namespace {name}: HTTP {answer.status}")
        connection.close()

    def calls(self) -> dict[str, int]:
        """Return the calls since the last time, by name; without those to a real API server."""
        counted = Counter(call["method"] for call in _lab_call(self.rest, "GET", "calls"))
        _lab_call(self.rest, "DELETE", "calls")
        if not self.real:
            counted.update(
                f"Kubernetes {call['verb'] or 'discovery'}"
                for call in _lab_call(self.cluster.url, "GET", "calls")
            )
            _lab_call(self.cluster.url, "DELETE", "calls")
        return dict(sorted(counted.items()))


def _cpu_of(record: Path) -> float:
    fields = (
        Path(f"/proc/{json.loads(record.read_text())['pid']}/stat").read_text().rpartition(")")[2].split()
    )
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def start_stand_in(supervisor: Supervisor, name: str) -> dict[str, Any]:
    """Start a stand-in as a process, and return its addresses."""
    ready = supervisor.directory / f"{name}.json"
    supervisor.start(name, stand_in_command(ready, name), cwd=ROOT)
    addresses: dict[str, Any] = json.loads(wait_for_file(ready, supervisor, name))
    return addresses


def connect(cluster: Cluster) -> http.client.HTTPConnection:
    url = urlsplit(cluster.url)
    assert url.hostname is not None
    if cluster.ca is None:
        return http.client.HTTPConnection(url.hostname, url.port, timeout=60)
    trust = ssl.create_default_context(cadata=cluster.ca.decode())
    return http.client.HTTPSConnection(url.hostname, url.port, timeout=60, context=trust)


def _lab_call(base: str, verb: str, what: str) -> Any:
    connection = connect(Cluster("", base, ""))
    connection.request(verb, f"/_lab/{what}", headers={"Content-Length": "0"})
    answer = connection.getresponse().read()
    connection.close()
    return json.loads(answer)
