# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The host's side of the nodes' network: a bridge, and for each node a network namespace with a veth on it.

Everything carries the lab's number, so that labs do not meet and one that was killed can be cleared away.
The bridge also has the first address of the lab's service range: pods reach the API server without a proxy.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from tests.lab.supervisor import run

MOST_NODES = 15


@dataclass(frozen=True)
class Network:
    """The addresses of one lab, from its number (1 to 250)."""

    number: int

    @property
    def bridge(self) -> str:
        return f"hfbr{self.number}"

    @property
    def host(self) -> str:
        """The host's address on the bridge."""
        return f"10.213.{self.number}.1"

    @property
    def service_range(self) -> str:
        return f"10.96.{self.number}.0/24"

    @property
    def service(self) -> str:
        """The API server's address, for pods and everyone else."""
        return f"10.96.{self.number}.1"

    def namespace(self, place: int) -> str:
        return f"hf{self.number}-{place}"

    def address(self, place: int) -> str:
        return f"10.213.{self.number}.{10 + place}"

    def pods(self, place: int) -> str:
        """The range a node gives its pods addresses from."""
        return f"10.{224 + self.number // 16}.{self.number % 16 * 16 + place}.0/24"

    def up(self) -> None:
        """Make the bridge."""
        _ip("link", "add", self.bridge, "type", "bridge")
        _ip("address", "add", f"{self.host}/24", "dev", self.bridge)
        _ip("address", "add", f"{self.service}/32", "dev", self.bridge)
        _ip("link", "set", self.bridge, "up")

    def add(self, place: int) -> str:
        """Replace a node's namespace and return its path. Routes lead to the pods of its neighbours."""
        name = self.namespace(place)
        self._drop(name)
        _ip("netns", "add", name)
        _ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
        _ip("link", "set", name, "master", self.bridge, "up")
        _ip("-n", name, "address", "add", f"{self.address(place)}/24", "dev", "eth0")
        _ip("-n", name, "link", "set", "lo", "up")
        _ip("-n", name, "link", "set", "eth0", "up")
        _ip("-n", name, "route", "add", "default", "via", self.host)
        for other in range(1, MOST_NODES + 1):
            if other != place:
                _ip("-n", name, "route", "add", self.pods(other), "via", self.address(other))
        run("ip", "netns", "exec", name, "sysctl", "-qw", "net.ipv4.ip_forward=1")
        _ip("route", "replace", self.pods(place), "via", self.address(place))
        return f"/run/netns/{name}"

    def down(self) -> None:
        """Remove all of it, whatever there is."""
        for name in self.namespaces():
            self._drop(name)
        if self.has_bridge():
            _ip("link", "delete", self.bridge)

    def namespaces(self) -> list[str]:
        """The namespaces of this lab."""
        told = json.loads(_ip("-json", "netns", "list") or "[]")
        prefix = self.namespace(0)[:-1]
        return [row["name"] for row in told if row["name"].startswith(prefix)]

    def has_bridge(self) -> bool:
        return self._has_link(self.bridge)

    def _drop(self, name: str) -> None:
        """Remove a namespace, its veth first: other nodes' mounts may hold the namespace a while."""
        if self._has_link(name):
            _ip("link", "delete", name)
        if name in self.namespaces():
            _ip("netns", "delete", name)

    @staticmethod
    def _has_link(name: str) -> bool:
        return any(row["ifname"] == name for row in json.loads(_ip("-json", "link", "show")))


def _ip(*arguments: str) -> str:
    return run("ip", *arguments)
