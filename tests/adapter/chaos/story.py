# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Random steps of users, sentinel and faults: clusters are created, changed and deleted, events are repeated."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.adapter.chaos.kubelet import Kubelet
from tests.adapter.chaos.world import ChaosWorld
from tests.support.docker_configs import docker_config

if TYPE_CHECKING:
    from tests.adapter.chaos.parts import Parts
    from tests.adapter.chaos.real_parts import Real

_SAME_EVENT = 50
# A delay of 3 s exceeds the adapter's timeout.
_FAULTS: list[dict[str, Any]] = [{"status": code} for code in (500, 503, 409)]
_FAULTS += [{"drop": True}, {"delay": 3.0}, {"delay": 0.3}]


@dataclass
class Wanted:
    """The expected final state of a cluster."""

    config: Any
    ready: bool = True
    deleted: bool = False


class Story:
    """The random steps of one seed.

    :param machine: the adapter's processes, with methods to kill them.
    """

    def __init__(self, world: ChaosWorld, machine: Parts | Real, kubelet: Kubelet, seed: int) -> None:
        self.world = world
        self.machine = machine
        self.kubelet = kubelet
        self.random = random.Random(seed)
        self.seed = seed
        self.clusters: dict[str, Wanted] = {}
        # The time of each cluster's last event.
        self.published: dict[str, float] = {}
        self.did: list[str] = []
        self._contents = 0
        self._begun = time.monotonic()

    def __str__(self) -> str:
        return f"seed {self.seed}: " + "; ".join(self.did)

    # -- steps ------------------------------------------------------------------------------------

    def go_on(self, seconds: float, *, faults: bool, pause: float) -> None:
        """Take random steps for this many seconds."""
        kinds: list[Callable[[], object]] = [
            *[self.create] * 4,
            *[self.edit] * 4,
            *[self.label, self.ready, self.requeue_after, self.garbage, self.short_lived],
            *[self.delete] * 2,
            *[self.kill] * 8,
        ]
        if faults:
            kinds += [self.fault] * 6 + [self.sentinel] * 4
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.random.choice(kinds)()
            # The next step happens at a random moment of the adapter's work.
            time.sleep(self.random.uniform(0.0, 2 * pause))

    def calm(self) -> None:
        """Remove all faults."""
        self.world.hyperfleet.faults.clear()
        self.world.kubernetes.faults.clear()
        self.world.manager.faults.clear()
        self.note("calm")

    def last(self) -> None:
        """Take the last steps: edits, two new clusters (one is deleted soon), and an event for each cluster."""
        for dummy in range(3):
            self.edit()
        self.create()
        self.short_lived()
        self.publish(list(self.clusters))

    def create(self) -> str:
        ready = self.random.random() < 0.8
        config = self._content()
        cluster_id = self.world.cluster(config, ready=ready)
        self.clusters[cluster_id] = Wanted(config, ready)
        self.changed("create" if ready else "create, not ready,", cluster_id)
        return cluster_id

    def edit(self) -> None:
        if (cluster_id := self._one(ready=True)) is not None:
            config = self._content()
            self.clusters[cluster_id].config = config
            self.world.edit(cluster_id, config)
            self.changed("edit", cluster_id)

    def label(self) -> None:
        if (cluster_id := self._one(ready=True)) is not None:
            self.world.edit(cluster_id, None, round=str(len(self.did)))
            self.changed("label", cluster_id)

    def ready(self) -> None:
        if (cluster_id := self._one(ready=False)) is not None:
            self.world.namespace(f"clusters-{cluster_id}")
            self.world.depend(cluster_id)
            self.clusters[cluster_id].ready = True
            self.changed("ready", cluster_id)

    def delete(self, cluster_id: str | None = None) -> None:
        living = [one for one, wanted in self.clusters.items() if not wanted.deleted]
        if cluster_id is None and len(living) > 3:
            cluster_id = self.random.choice(living)
        if cluster_id is not None:
            self.clusters[cluster_id].deleted = True
            self.world.delete(cluster_id)
            self.changed("delete", cluster_id)

    def short_lived(self) -> None:
        """Create a cluster, and delete it at most 1.5 s later."""
        cluster_id = self.create()
        time.sleep(self.random.uniform(0.0, 1.5))  # at a random moment of the adapter's work
        self.delete(cluster_id)

    def requeue_after(self) -> None:
        """Publish the same event many times."""
        if (cluster_id := self._one()) is not None:
            self.note(f"{_SAME_EVENT} times {cluster_id}")
            self.publish([cluster_id] * _SAME_EVENT)

    def garbage(self) -> None:
        self.note("garbage")
        self.machine.publish(["../garbage", ""])

    def sentinel(self) -> None:
        """Publish the clusters that are not Reconciled, as the sentinel does every few seconds."""
        self.publish(self.world.unfinished())

    def fault(self) -> None:
        """Let some requests to the HyperFleet API, or sometimes to another service, fail."""
        kind: dict[str, Any] = self.random.choice(_FAULTS)
        method, path = self.random.choice(
            (("*", "*"), ("GET", "*/clusters"), ("GET", "*/statuses"), ("PUT", "*/statuses"))
        )
        times = self.random.choice((3, 20, 60))
        place = self.random.choice(("hyperfleet",) * 4 + ("kubernetes", "secret manager"))
        if place == "hyperfleet":
            self.world.hyperfleet.faults.add(method=method, path=path, times=times, **kind)
        elif place == "kubernetes":
            verb, path = self.random.choice((("create", "*/jobs"), ("create", "*/secrets"), ("delete", "*")))
            phase = self.random.choice(("before", "after"))
            self.world.kubernetes.faults.add(verb=verb, path=path, times=3, phase=phase, **kind)
        else:
            self.world.manager.faults.add(method="*", code="UNAVAILABLE", times=5)
        self.note(f"{place} {kind} {times} times {method} {path}")

    def kill(self) -> None:
        """Kill a run, the rulebook or a pod, or restart the broker."""
        kinds: list[tuple[str, Callable[[], object]]] = [
            *[("kill a run", self.machine.kill_run)] * 3,
            *[("kill the rulebook", self.machine.kill_source)] * 2,
            ("restart the broker", self.machine.restart_broker),
            *[("kill a pod", lambda: self.kubelet.kill(self.random.randrange(100)))] * 2,
        ]
        what, kill = self.random.choice(kinds)
        self.note(what)
        kill()

    # -- parts ------------------------------------------------------------------------------------

    def changed(self, what: str, cluster_id: str) -> None:
        """Note what the user did with a cluster, and publish its event."""
        self.note(f"{what} {cluster_id}")
        self.publish([cluster_id])

    def publish(self, cluster_ids: list[str]) -> None:
        """Publish an event for each cluster."""
        now = time.time()
        self.machine.publish(cluster_ids)
        self.published.update(dict.fromkeys(cluster_ids, now))

    def note(self, what: str) -> None:
        self.did.append(f"{time.monotonic() - self._begun:.1f} {what}")

    def _one(self, *, ready: bool | None = None) -> str | None:
        living = [
            one
            for one, wanted in self.clusters.items()
            if not wanted.deleted and ready in (None, wanted.ready)
        ]
        return self.random.choice(living) if living else None

    def _content(self) -> Any:
        self._contents += 1
        return docker_config(quay_io=f"content-{self._contents}")
