# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The manager's process, its network namespace, and the CRDs that send their conversions to it."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import json
import urllib.request
from functools import partial
from pathlib import Path

from tests.lab.cluster_api.build import build
from tests.lab.control_plane import State
from tests.lab.nodes.api import Api
from tests.lab.supervisor import Supervisor, run, wait_until
from tests.stand_ins.certificate import Certificate, write_certificate

__all__ = ["Link", "Manager"]

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_WEBHOOK_PORT, _HEALTH_PORT = 9443, 9440


class Link:
    """A network namespace that a veth connects with the host.

    The manager's webhook server listens on all interfaces, and no flag changes that. In this namespace only
    this machine reaches it. A namespace has a loopback of its own, so the API servers listen at ``host``
    instead of 127.0.0.1, and call the webhook at ``manager``.

    ``port`` is one of ``free_ports``: no other lab that runs has the same one, so none has these addresses.
    The names come from the lab's directory alone, so that ``down`` works after a crash.
    """

    def __init__(self, directory: Path, port: int) -> None:
        self.name = f"hfcapi{hashlib.sha256(str(directory).encode()).hexdigest()[:8]}"
        network = ipaddress.ip_address("10.214.0.0") + 4 * (port - 20000)
        self.host, self.manager = str(network + 1), str(network + 2)

    def up(self) -> None:
        self.down()
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", self.name, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        run("ip", "address", "add", f"{self.host}/30", "dev", self.name)
        run("ip", "link", "set", self.name, "up")
        run("ip", "-n", self.name, "address", "add", f"{self.manager}/30", "dev", "eth0")
        run("ip", "-n", self.name, "link", "set", "lo", "up")
        run("ip", "-n", self.name, "link", "set", "eth0", "up")

    def down(self) -> None:
        """Remove the veth and the namespace, if they exist."""
        for kind, key in (("link", "ifname"), ("netns", "name")):
            rows = json.loads(run("ip", "-json", kind, "list") or "[]")
            if self.name in [row[key] for row in rows]:
                run("ip", kind, "delete", self.name)


class Manager:
    """Cluster API's core manager on one management control plane."""

    def __init__(self, directory: Path, link: Link) -> None:
        self.directory = directory
        self._link = link
        self._supervisor = Supervisor(directory)

    def up(self, host: State) -> None:
        """Install the CRDs and start the manager; LabError when it does not become ready."""
        programs = build()
        self.directory.mkdir()
        certificate = write_certificate(self.directory, self._link.manager)
        _install_crds(Api(host), programs / "crds", self._link, certificate)
        self.start(host)

    def start(self, host: State, seconds: float = 180) -> None:
        self._supervisor.start(
            "manager",
            [
                *("ip", "netns", "exec", self._link.name, str(build() / "manager")),
                f"--kubeconfig={host.kubeconfig}",
                "--leader-elect=false",
                f"--webhook-port={_WEBHOOK_PORT}",
                f"--webhook-cert-dir={self.directory}",
                "--webhook-cert-name=ca.crt",
                "--webhook-key-name=ca.key",
                f"--health-addr={self._link.manager}:{_HEALTH_PORT}",
                "--diagnostics-address=127.0.0.1:8443",
                "--insecure-diagnostics",
            ],
        )
        self._supervisor.wait(self._is_ready, "manager", seconds=seconds)

    def stop(self) -> None:
        self._supervisor.stop("manager")

    def _is_ready(self) -> bool:
        try:
            url = f"http://{self._link.manager}:{_HEALTH_PORT}/readyz"
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=5) as reply:
                return bool(reply.status == 200)
        except OSError:
            return False


def _install_crds(api: Api, crds: Path, link: Link, certificate: Certificate) -> None:
    """Cluster API's release adds this conversion with kustomize. Without it, only v1beta2 can be read."""
    webhook = {
        "conversionReviewVersions": ["v1"],
        "clientConfig": {
            "url": f"https://{link.manager}:{_WEBHOOK_PORT}/convert",
            "caBundle": base64.b64encode(certificate.certificate.read_bytes()).decode(),
        },
    }
    names = []
    for path in sorted(crds.iterdir()):
        definition = json.loads(path.read_text())
        definition["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
        names.append(api.create(_CRDS, definition)["metadata"]["name"])
    for name in names:
        wait_until(partial(_is_established, api, name), f"{name} must be established")


def _is_established(api: Api, crd: str) -> bool:
    conditions = api.get(f"{_CRDS}/{crd}").get("status", {}).get("conditions") or []
    return ("Established", "True") in [(row["type"], row["status"]) for row in conditions]
