# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Stores, places and removes the secrets of many clusters without Jobs.

It runs the two steps of ``workflows/provision`` in this process.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable

from ....model.cluster import Cluster
from ....model.naming import kubernetes_secret_address
from ....places.sources import cluster_store, parse_address
from ....runtime.batch import Failure
from ....runtime.calls import Calls, Spent
from ...provision.place import PHASE as PLACE
from ...provision.place import place
from ...provision.steps import Result, to_place, to_store
from ...provision.store import store
from ...run import StoreConnections
from ..model import FAILED, SUCCEEDED, Observed, Order, other_replication
from .decide import Apply
from .failure_reasons import is_retryable, reason_of
from .last_status import ManagementSecretName
from .run_results import request_counts

__all__ = ["InlineProvisioner", "SecretDeletion"]

_Step = Callable[..., dict[str, Any]]
# The fields of a result that are counted.
_COUNTED = (
    "result",
    "kind",
    "phase",
    "duration_seconds",
    "versions_created",
    "gcp_api_calls",
    "k8s_api_calls",
)


@dataclass(frozen=True)
class SecretDeletion:
    """The result of one removal.

    :param name: its full name.
    :param changed: whether it existed.
    :param kind: of the failure; None if it is confirmed to be gone.
    """

    name: str
    changed: bool = False
    kind: str | None = None
    message: str = ""


class InlineProvisioner:
    """Writes to the secret store and the management cluster, for a batch.

    ``calls`` has the requests that belong to no cluster's result: those for many clusters at once, and those
    of removals.

    :param options: those of ``run_options``, checked, with defaults.
    """

    def __init__(self, options: Mapping[str, Any], *, stop: threading.Event, check_mode: bool) -> None:
        self._options = options
        self._stop = stop
        self._check_mode = check_mode
        self.calls = Calls()

    def apply(self, wanted: Sequence[Apply]) -> list[Observed]:
        """Store each docker config, then copy it from the store to the management cluster."""
        # Both steps share connections, which are closed after the batch.
        shared: list[StoreConnections] = []
        clusters = [_with_document(apply) for apply in wanted]
        stored = self._run(store, [to_store(cluster) for cluster in clusters], shared)
        left = [index for index, entry in enumerate(stored) if not entry.get("failed")]
        placed = self._run(
            place, [to_place(clusters[index], stored[index], waits=True) for index in left], shared
        )
        second = dict(zip(left, placed))
        spent = shared[0].spent if shared else {}
        seen = []
        for index, apply in enumerate(wanted):
            took = spent.get(str(stored[index].get("id"))) or Spent()
            found = _observed(apply.order, Result(stored[index], second.get(index, {})), took)
            if found.state == FAILED or found.actions:
                # Counted like the end of a Job, with its requests.
                self.calls.merge(took.calls, -1)
                found = dataclasses.replace(found, ends=(_end(found),))
            seen.append(found)
        return seen

    def remove_stored(self, wanted: Sequence[tuple[str, str]]) -> list[SecretDeletion]:
        """Delete stored secrets.

        :param wanted: (cluster id, address); a secret is deleted only if it belongs to that cluster.
        """
        targets = [
            {**to_store(Cluster(cluster_id, state="absent")), **parse_address(address)[1]}
            for cluster_id, address in wanted
        ]
        return self._removed(store, targets, [address for _cluster_id, address in wanted])

    def remove_placed(self, wanted: Sequence[tuple[str, ManagementSecretName]]) -> list[SecretDeletion]:
        """Delete Secrets of the management cluster.

        :param wanted: (cluster id, Secret); a Secret is deleted only if it belongs to that cluster.
        """
        clusters = [
            Cluster(cluster_id, state="absent", management_namespace=one.namespace, k8s_secret_name=one.name)
            for cluster_id, one in wanted
        ]
        targets = [to_place(cluster, {}) for cluster in clusters]
        names = [kubernetes_secret_address(one.namespace, one.name) for _cluster_id, one in wanted]
        return self._removed(place, targets, names)

    def _removed(self, step: _Step, targets: list[dict[str, Any]], names: list[str]) -> list[SecretDeletion]:
        entries: dict[int, dict[str, Any]] = {}
        left = list(range(len(targets)))
        while left:
            # A status can name another cluster's secret, and a task refuses the same secret twice.
            first = {names[index]: index for index in reversed(left)}
            now = sorted(first.values())
            entries.update(zip(now, self._run(step, [targets[index] for index in now])))
            left = sorted(set(left) - set(now))
        return [
            SecretDeletion(name, bool(entry.get("changed")), entry.get("kind"), str(entry.get("msg") or ""))
            for name, entry in ((name, entries[index]) for index, name in enumerate(names))
        ]

    def _run(
        self, step: _Step, targets: list[dict[str, Any]], shared: list[StoreConnections] | None = None
    ) -> list[dict[str, Any]]:
        """Return each target's entry, in order. A failure of the whole run is each target's failure.

        :param shared: the connections of this run and of later runs that use them.
        """
        if not targets:
            return []
        shared = [] if shared is None else shared
        asked = Calls()
        try:
            if not shared:
                shared.append(StoreConnections(self._options, self._stop))
            asked.merge(shared[0].settings.calls, -1)
            answer = step(targets, self._options, check_mode=self._check_mode, connections=shared[0])
        except Exception as error:  # noqa: BLE001 - its message may hold a value
            failure = Failure.of(error)
            return [{"failed": True, "kind": failure.kind, "msg": failure.message} for _target in targets]
        finally:
            if shared:
                asked.merge(shared[0].settings.calls)
                self.calls.merge(asked)
        entries: list[dict[str, Any]] = answer["targets"]
        return entries


def _end(found: Observed) -> dict[str, Any]:
    """Return what is counted of the work, in the form of a Job's end (``job_end``)."""
    result = dict(found.result or {})
    return {
        **{name: result[name] for name in _COUNTED if name in result},
        "program_seconds": [result["duration_seconds"]],
    }


def _with_document(apply: Apply) -> Cluster:
    document = apply.document.decode("utf-8", "surrogatepass")
    return dataclasses.replace(apply.order.cluster, source={"inline": document})


def _observed(order: Order, done: Result, spent: Spent) -> Observed:
    """:param spent: seconds for this cluster in Secret Manager and Kubernetes."""
    secret, stored = order.stored_at, done.stored
    places = (secret, kubernetes_secret_address(order.namespace, order.placed_as))
    actions = tuple(
        f"{action}: {name}" for name, entry in zip(places, done) for action in entry.get("actions") or ()
    )
    # All fields of a Job's termination message (the job contract).
    result: dict[str, Any] = {
        "phase": PLACE if done.placed else cluster_store().PHASE,
        "secret": secret,
        "management_secret": {"namespace": order.namespace, "name": order.placed_as},
        "changed": bool(actions),
        "versions_created": done.added,
        "duration_seconds": round(spent.seconds, 3),
        **request_counts(spent.calls),
    }
    version = done.version
    if version:
        result["version"] = version
    if done.failed is not None:
        kind, message = str(done.failed.get("kind")), str(done.failed.get("msg"))
        result.update(result="failure", kind=kind, message=message[:1000])
        retry = is_retryable(kind)
        return Observed(
            FAILED, reason_of(kind), message, actions=actions, result=result, retry=retry, kind=kind
        )
    result["result"] = "success"
    if done.replication_differs:
        result["replication_differs"] = True
    # In check mode a version has no number yet.
    which = f"Version {version}" if version else "A version"
    message = f"{which} of {secret} is stored and placed in namespace {order.namespace}"
    stored_version = str(stored.get("version") or "")
    if stored_version and stored_version != version:
        message = f"{message}; it is newer than version {stored_version} of this run, and is kept"
    message += other_replication(order, result)
    return Observed(SUCCEEDED, "PullSecretStored", message, actions=actions, result=result)
