# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One hosted cluster: look at what is, decide what should be, change the difference, say how far nodes are.

Nothing is remembered between runs.  A run that is killed anywhere leaves objects that the next one completes:
what the syncer needs is made before the syncer, the secret is reverted before anything is removed, and it is
removed last, since it is what says that there is something to be removed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import (
    DockerConfig,
    DockerConfigError,
    load,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import (
    PullSecretError,
    TimedOut,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.hosted_cluster.cluster import Cluster
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.hosted_cluster.desired import (
    Wanted,
    account_objects,
    daemon_set,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.hosted_cluster.merging import (
    ABSENT,
    EMPTY,
    KEPT,
    MERGED,
    Additional,
    Decision,
    decide,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.hosted_cluster.names import (
    ADDITIONAL,
    ADDITIONAL_REGISTRIES,
    GLOBAL,
    STATUS,
    SYNCER,
    labels,
    slot_number,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.hosted_cluster.nodes import (
    Rollout,
    expected_nodes,
    rollout,
    slots,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.outcome import Outcome
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.base import Settings
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.hosted_cluster.management import (
    Management,
    secret_value,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.hosted_cluster.objects import (
    Objects,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.hosted_cluster.tenant import tell
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.client import (
    KubernetesClients,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.converge import (
    converge,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.errors import Overtaken
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.target import (
    KEY,
    TYPE,
    encode,
    value_of,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.writing import (
    parse_held,
    same_meaning,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.retry import Deadline

__all__ = ["HostedClusters"]

# Seconds between two looks at the nodes' reports.
_LOOK = 0.5
_SINGLE = (
    ("serviceaccounts", SYNCER),
    ("roles", SYNCER),
    ("rolebindings", SYNCER),
    ("configmaps", STATUS),
    ("secrets", GLOBAL),
    ("daemonsets", SYNCER),
)
_Object = dict[str, Any]


class HostedClusters:
    """Handles many hosted clusters; thread-safe.

    :param dry_run: check mode: everything is read, nothing is written.
    """

    def __init__(self, settings: Settings, clients: KubernetesClients, *, dry_run: bool) -> None:
        self._settings = settings
        self._clients = clients
        self._dry_run = dry_run

    def handle(self, cluster: Cluster, outcome: Outcome, deadline: Deadline, seen: list[bytes]) -> None:
        """Bring one hosted cluster to what it should be; what was done is written to ``outcome``.

        :param seen: every docker config that is read is appended.
        """
        management = Management(self._clients, cluster, deadline)
        objects = Objects(
            management.hosted(), cluster.namespace, cluster.id, outcome, deadline, dry_run=self._dry_run
        )
        work = _Work(self._settings, cluster, management, objects, outcome, deadline, seen)
        converge(self._settings, outcome, deadline, work.once)
        outcome.settle()
        work.finish()


class _Work:
    """The work on one hosted cluster; ``once`` is begun again whenever somebody else was faster."""

    def __init__(
        self,
        settings: Settings,
        cluster: Cluster,
        management: Management,
        objects: Objects,
        outcome: Outcome,
        deadline: Deadline,
        seen: list[bytes],
    ) -> None:
        self._settings = settings
        self._cluster = cluster
        self._management = management
        self._objects = objects
        self._outcome = outcome
        self._deadline = deadline
        self._seen = seen
        self._before: tuple[DockerConfig | None] | None = None
        self._nodes: list[str] = []
        self._version: str | None = None
        self._going = False

    def once(self, _fresh: bool) -> None:
        """Read, decide, write."""
        cluster, outcome = self._cluster, self._outcome
        outcome.restart()
        outcome.warnings.clear()
        self._version = None
        tenants = self._objects.get("secrets", ADDITIONAL) if cluster.present else None
        there, leases = self._read()
        if tenants is None and not there and not leases:
            outcome.extra.update(additional=ABSENT)
            return
        for (kind, _name), found in there.items():
            self._objects.guard(kind, found, adopt=cluster.adopt, delete=False)
        for lease in leases.values():
            self._objects.guard("leases", lease, adopt=cluster.adopt, delete=False)
        going = tenants is None and cluster.remove
        if going and ("secrets", GLOBAL) not in there and ("daemonsets", SYNCER) not in there:
            # A run that was killed has left the rest, and no node follows any more.
            outcome.extra.update(additional=ABSENT)
            self._remove(there, leases)
            return
        decision = self._decide(tenants, there.get(("secrets", GLOBAL)))
        self._tell_outcome(decision)
        self._going = going
        deployed = ("secrets", GLOBAL) in there or ("daemonsets", SYNCER) in there
        if deployed or decision.state == MERGED:
            self._nodes = self._expected(there.get(("daemonsets", SYNCER)))
            act = self._leave if going else self._deploy
            act(decision, there, leases)
        if tenants is not None:
            tell(self._objects, tenants, decision.problem, outcome, self._deadline)

    def finish(self) -> None:
        """Say how far the nodes are; wait for them where that is asked for."""
        if self._version is None:
            return
        # Those that were waited for before the removal are not waited for again.
        wait = self._cluster.wait and not self._going
        state = self._wait(self._version) if wait else self._look(self._version)
        self._report(state)
        if wait and not state.done and not self._objects.dry_run:
            raise TimedOut(
                f"{self._outcome.place}: {state.sentence()}",
                f"they were waited for {self._cluster.rollout_timeout:g} s; the syncers go on by themselves",
            )

    # -- reading --------------------------------------------------------------------------------

    def _read(self) -> tuple[dict[tuple[str, str], _Object], dict[int, _Object]]:
        there: dict[tuple[str, str], _Object] = {}
        for kind, name in _SINGLE:
            found = self._objects.get(kind, name)
            if found is not None:
                there[kind, name] = found
        leases: dict[int, _Object] = {}
        for lease in self._objects.client.list_all("leases", "", self._deadline, self._cluster.namespace):
            number = slot_number(lease["metadata"]["name"])
            if number is not None:
                leases[number] = lease
        return there, leases

    def _expected(self, syncers: Mapping[str, Any] | None) -> list[str]:
        """The nodes that have, or are to have, a syncer."""
        nodes = self._objects.client.list_all("nodes", "", self._deadline)
        syncer = self._cluster.syncer
        if syncer is not None and not self._going:
            return expected_nodes(nodes, syncer.node_selector, syncer.tolerations)
        pod = ((syncers or {}).get("spec") or {}).get("template", {}).get("spec") or {}
        return expected_nodes(nodes, pod.get("nodeSelector") or {}, pod.get("tolerations") or [])

    def _decide(self, tenants: _Object | None, ours: _Object | None) -> Decision:
        data, where = self._management.original()
        self._seen.append(data)
        held_data = value_of(ours) if ours else None
        if held_data is not None:
            self._seen.append(held_data)
        cluster = self._cluster
        held = _parsed(held_data)
        decision = decide(
            data,
            self._additional(tenants),
            where=where,
            held=held,
            held_registries=_registries(ours),
            precedence=cluster.precedence,
            policy=cluster.policy,
            drop=cluster.drop,
        )
        if self._before is None or not self._outcome.written:
            self._before = (held,)
        self._outcome.before = self._before[0]
        return decision

    def _additional(self, tenants: _Object | None) -> Additional | None:
        if tenants is None:
            return None
        try:
            data = secret_value(tenants, KEY, "")
        except PullSecretError:
            return Additional(problem=f"the secret has no key {KEY}")
        self._seen.append(data)
        return Additional(data)

    # -- writing --------------------------------------------------------------------------------

    def _deploy(
        self, decision: Decision, there: Mapping[tuple[str, str], _Object], leases: Mapping[int, _Object]
    ) -> None:
        """All of ours as it should be, what the syncer needs before the syncer."""
        syncer = self._cluster.syncer
        if syncer is None:
            raise TypeError("a cluster that is to be present has a syncer")
        count = slots(syncer.max_restarting, len(self._nodes))
        for wanted in account_objects(self._cluster, count):
            self._objects.apply(wanted, _found(wanted, there, leases))
        self._put(decision, there)
        wanted = daemon_set(self._cluster, syncer, count)
        self._objects.apply(wanted, _found(wanted, there, leases))
        for number, lease in leases.items():
            if number >= count:
                self._objects.delete("leases", lease)
        self._forget_nodes(there.get(("configmaps", STATUS)))

    def _put(self, decision: Decision, there: Mapping[tuple[str, str], _Object]) -> None:
        """The global secret."""
        ours = there.get(("secrets", GLOBAL))
        held = parse_held(value_of(ours), decision.config) if ours else None
        added = decision.additional_registries
        body: dict[str, Any] = {
            "metadata": {
                "name": GLOBAL,
                "namespace": self._cluster.namespace,
                "labels": labels(self._cluster.id),
                "annotations": {ADDITIONAL_REGISTRIES: json.dumps(added) if added else None},
            },
            "type": TYPE,
        }
        if not same_meaning(held, decision.config) or (ours or {}).get("type") != TYPE:
            body["data"] = {KEY: encode(decision.config)}
        stored = self._objects.apply(Wanted("secrets", GLOBAL, body, fixed=["type"]), ours)
        self._outcome.after = decision.config
        self._version = stored["metadata"]["resourceVersion"] if stored else None

    def _leave(
        self, decision: Decision, there: Mapping[tuple[str, str], _Object], leases: Mapping[int, _Object]
    ) -> None:
        """No additional secret any more: the nodes get the original back, and then all of ours goes."""
        syncers = there.get(("daemonsets", SYNCER))
        if syncers is not None and not syncers["metadata"].get("deletionTimestamp"):
            # The syncers need their rights and their ConfigMap to follow.
            for wanted in account_objects(self._cluster, len(leases)):
                self._objects.apply(wanted, _found(wanted, there, leases))
            self._put(decision, there)
            if not self._followed():
                return
            # Written since they were read.
            there, leases = self._read() if not self._objects.dry_run else (there, leases)
        self._version = None
        self._remove(there, leases)

    def _followed(self) -> bool:
        """Whether every node has the original back, or is not to be waited for."""
        if self._objects.dry_run or self._cluster.rollout_timeout == 0 or self._version is None:
            return True
        state = self._wait(self._version)
        if state.done:
            return True
        self._outcome.warnings.append(
            f"not removed yet: {state.sentence()}; the next run goes on, and with rollout_timeout: 0 it does "
            "not wait for nodes"
        )
        return False

    def _remove(self, there: Mapping[tuple[str, str], _Object], leases: Mapping[int, _Object]) -> None:
        """The syncers first, the secret last."""
        order = ("daemonsets", "rolebindings", "roles", "serviceaccounts", "configmaps", "secrets")
        found = {kind: item for (kind, _name), item in there.items()}
        # All or nothing of what is ours: adopt is for writing only.
        for kind, item in found.items():
            self._objects.guard(kind, item, adopt=False, delete=True)
        for kind in order[:-1]:
            if kind in found:
                self._objects.delete(kind, found[kind])
        for _number, lease in sorted(leases.items()):
            self._objects.guard("leases", lease, adopt=False, delete=True)
            self._objects.delete("leases", lease)
        if "secrets" in found:
            self._objects.delete("secrets", found["secrets"])
        self._outcome.after = None

    def _forget_nodes(self, status: _Object | None) -> None:
        """Entries of nodes that are gone; each node writes its own only, so others' are not touched."""
        gone = sorted(set((status or {}).get("data") or {}) - set(self._nodes))
        if status is None or not gone:
            return
        body = {
            "metadata": {"name": STATUS, "resourceVersion": status["metadata"]["resourceVersion"]},
            "data": dict.fromkeys(gone),
        }
        self._outcome.did("forgot nodes that are gone")
        if self._objects.dry_run:
            return
        try:
            self._objects.client.patch(self._cluster.namespace, "configmaps", STATUS, body, self._deadline)
        except Overtaken:
            # A syncer has reported meanwhile, as they do all at once: the next run finds these still there.
            self._outcome.restart()
            return
        self._outcome.settle()

    # -- nodes ----------------------------------------------------------------------------------

    def _look(self, version: str) -> Rollout:
        status = self._objects.get("configmaps", STATUS)
        return rollout(self._nodes, (status or {}).get("data"), version)

    def _wait(self, version: str) -> Rollout:
        """Look until every node has settled, for as long as may be waited."""
        end = time.monotonic() + min(self._cluster.rollout_timeout, self._deadline.remaining())
        while True:
            state = self._look(version)
            left = end - time.monotonic()
            if state.settled or left <= 0 or self._objects.dry_run or self._settings.retrier.stop.is_set():
                return state
            self._settings.retrier.stop.wait(min(_LOOK, left))

    def _report(self, state: Rollout) -> None:
        self._outcome.extra["rollout"] = state.as_dict()
        if state.failed:
            self._outcome.warnings.append(f"nodes: {state.sentence()}")

    def _tell_outcome(self, decision: Decision) -> None:
        outcome = self._outcome
        outcome.provenance = decision.provenance
        outcome.extra["additional"] = decision.state
        if decision.conflicts:
            outcome.extra["conflicts"] = list(decision.conflicts)
        else:
            outcome.extra.pop("conflicts", None)
        outcome.warnings.extend(decision.warnings)
        if decision.problem is not None:
            kept = "what it brought before is kept" if decision.state == KEPT else "it is left out"
            outcome.warnings.append(f"{ADDITIONAL} is not valid, and {kept}: {decision.problem}")
        elif decision.state == EMPTY:
            outcome.warnings.append(f"{ADDITIONAL} is empty")


def _found(
    wanted: Wanted, there: Mapping[tuple[str, str], _Object], leases: Mapping[int, _Object]
) -> _Object | None:
    if wanted.kind == "leases":
        number = slot_number(wanted.name)
        return leases.get(number) if number is not None else None
    return there.get((wanted.kind, wanted.name))


def _registries(ours: Mapping[str, Any] | None) -> list[str]:
    """Which registries of the global secret were the additional one's."""
    text = ((ours or {}).get("metadata", {}).get("annotations") or {}).get(ADDITIONAL_REGISTRIES)
    try:
        names = json.loads(text or "[]")
    except ValueError:
        return []
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _parsed(data: bytes | None) -> DockerConfig | None:
    try:
        return load(data, allow_empty=True) if data is not None else None
    except DockerConfigError:
        return None
