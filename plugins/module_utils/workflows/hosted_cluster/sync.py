# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Synchronises one hosted cluster: read the state, decide, write the difference, report the progress of the
nodes.

Nothing is stored between runs. A run may be killed anywhere, and the next one completes its work. Objects
that the syncer needs are created before the syncer. A removal first reverts the secret, then deletes the
objects. The secret is deleted last, because it shows that there is something to remove.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...clients.kubernetes.client import KubernetesClient, KubernetesClients
from ...clients.kubernetes.errors import NamespaceEnding, Overtaken
from ...dockerconfig import sensitive_forms
from ...model.errors import ConfigurationError, TimedOut
from ...model.outcome import Outcome
from ...places.kubernetes_secret.conflict_retry import retry_when_overtaken
from ...places.kubernetes_secret.owned_objects import OwnedObjects
from ...places.kubernetes_secret.target import is_being_deleted
from ...runtime.retry import Deadline
from ...runtime.run_settings import RunSettings
from ...runtime.secrecy import Mask
from .cluster import HostedCluster
from .control_plane import ControlPlane, ControlPlaneDeleting
from .decision import ABSENT, MERGED, MergeDecision
from .deployment import ExistingObjects, SyncerDeployment
from .merge_decider import MergeDecider, report_decision
from .names import ADDITIONAL
from .rollout import Rollout, slot_count
from .rollout_watch import RolloutWatch
from .tenant_notice import notify_tenant

__all__ = ["HostedClusters"]


class HostedClusters:
    """Handles many hosted clusters. Thread-safe.

    :param dry_run: check mode: everything is read, nothing is written.
    """

    def __init__(self, settings: RunSettings, clients: KubernetesClients, *, dry_run: bool) -> None:
        self._settings = settings
        self._clients = clients
        self._dry_run = dry_run

    def handle(
        self, cluster: HostedCluster, outcome: Outcome, deadline: Deadline, documents_read: list[bytes]
    ) -> None:
        """Synchronise one hosted cluster; what was done is written to ``outcome``.

        :param documents_read: receives every docker config that is read.
        """
        try:
            self._reach(cluster, outcome, deadline, documents_read)
        except (ControlPlaneDeleting, NamespaceEnding) as error:
            # All our objects are deleted with the cluster. Nothing may be created meanwhile.
            outcome.restart()
            outcome.warnings[:] = [f"left alone: {error.message}"]
            outcome.extra = {"skipped": error.message}
        finally:
            _mask(outcome, documents_read)

    def _reach(
        self, cluster: HostedCluster, outcome: Outcome, deadline: Deadline, documents_read: list[bytes]
    ) -> None:
        control_plane = ControlPlane(self._clients, cluster, deadline)
        hosted = control_plane.hosted()
        try:
            self._handle(cluster, control_plane, hosted, outcome, deadline, documents_read)
        finally:
            if not control_plane.is_same(hosted):
                self._clients.release(hosted)

    def _handle(
        self,
        cluster: HostedCluster,
        control_plane: ControlPlane,
        hosted: KubernetesClient,
        outcome: Outcome,
        deadline: Deadline,
        documents_read: list[bytes],
    ) -> None:
        objects = OwnedObjects(
            hosted, cluster.namespace, cluster.id, outcome, deadline, dry_run=self._dry_run
        )
        nodes = RolloutWatch(cluster, objects, deadline, self._settings.retrier.stop)
        work = _ClusterSync(cluster, control_plane, objects, nodes, outcome, deadline, documents_read)
        retry_when_overtaken(self._settings, outcome, deadline, work.once)
        outcome.settle()
        work.finish()


def _mask(outcome: Outcome, documents_read: Sequence[bytes]) -> None:
    """Remove credentials from texts that a tenant can write: a tenant who can write reports may copy them there."""
    if outcome.warnings or outcome.extra.get("rollout", {}).get("failed"):
        mask = Mask(form for read in documents_read for form in sensitive_forms(read))
        outcome.warnings[:] = mask.value(outcome.warnings)
        outcome.extra = mask.value(outcome.extra)


class _ClusterSync:
    """The work on one hosted cluster. ``once`` starts again whenever another client was faster."""

    def __init__(
        self,
        cluster: HostedCluster,
        control_plane: ControlPlane,
        objects: OwnedObjects,
        nodes: RolloutWatch,
        outcome: Outcome,
        deadline: Deadline,
        documents_read: list[bytes],
    ) -> None:
        self._cluster = cluster
        self._objects = objects
        self._deployment = SyncerDeployment(cluster, objects, outcome, deadline)
        self._decider = MergeDecider(cluster, control_plane, outcome, documents_read)
        self._nodes = nodes
        self._outcome = outcome
        self._deadline = deadline
        # The digest of the secret, if it exists in the end.
        self._version: str | None = None
        self._status: dict[str, Any] | None = None
        self._rollout: Rollout | None = None

    def once(self, _fresh: bool) -> None:
        """Read, decide, write."""
        outcome = self._outcome
        outcome.restart()
        outcome.warnings.clear()
        self._version, self._rollout = None, None
        tenants = self._tenants()
        there = self._deployment.read(tenants=tenants is not None)
        self._status = there.single.get("configmaps")
        going = tenants is None and self._cluster.remove
        if tenants is None and not (there.deployed or (there and going)):
            outcome.extra.update(additional=ABSENT)
            return
        self._deployment.guard(there)
        if going and not there.deployed:
            # A killed run has left the rest, and no node follows any more.
            outcome.extra.update(additional=ABSENT)
            self._deployment.remove(there)
            return
        decision = self._decider.decide(tenants, there)
        if decision is None:
            outcome.extra.update(additional=ABSENT)
            self._deployment.remove(there)
            return
        report_decision(decision, outcome)
        if going:
            self._remove_additional(decision, there)
        elif there.deployed or decision.state == MERGED:
            self._nodes.find(None)
            self._version = self._put_all(decision, there)
        if tenants is not None:
            notify_tenant(self._objects, tenants, decision.notice, outcome, self._deadline)

    def finish(self) -> None:
        """Report the progress of the nodes, and wait for them if requested."""
        if self._version is None:
            return
        wait = self._cluster.wait and self._rollout is None
        if self._rollout is not None:
            state = self._rollout
        elif wait:
            state = self._nodes.wait(self._version)
        elif self._outcome.changed:
            state = self._nodes.read(self._version)
        else:
            # It has just been read.
            state = self._nodes.from_reports(self._status, self._version)
        self._outcome.extra["rollout"] = state.as_dict()
        if state.failed:
            self._outcome.warnings.append(f"nodes: {state.sentence()}")
        if wait and not state.done and not self._objects.dry_run:
            limit = f"rollout_timeout, {self._cluster.rollout_timeout:g} s"
            hint = (
                "correct the nodes that are named"
                if state.settled
                else f"the task stopped waiting (at {limit}, or at timeout)"
            )
            raise TimedOut(
                f"{self._outcome.place}: {state.sentence()}",
                f"{hint}; the syncers continue in the background",
            )

    def _tenants(self) -> dict[str, Any] | None:
        """Return the additional secret. A secret that is being deleted counts as deleted, whatever its
        finalizers wait for.
        """
        found = self._objects.get("secrets", ADDITIONAL) if self._cluster.present else None
        return None if found is None or is_being_deleted(found) else found

    def _put_all(self, decision: MergeDecision, there: ExistingObjects) -> str | None:
        syncer = self._cluster.syncer
        if syncer is None:
            raise ConfigurationError("syncer_image is missing")
        count = slot_count(syncer.max_restarting, len(self._nodes.names), there.slots)
        return self._deployment.put_all(there, decision, syncer, count, self._nodes.names)

    def _remove_additional(self, decision: MergeDecision, there: ExistingObjects) -> None:
        """Without an additional secret, give the nodes the original back, then remove all our objects."""
        version = None
        if there.syncers is not None:
            self._nodes.find(there.syncers)
            version = self._deployment.put_secret(there, decision, there.slots)
        elif there.additional_registries() and self._cluster.syncer is not None:
            # Somebody else has deleted the syncers, and the nodes still have entries to remove.
            self._nodes.find(None)
            version = self._put_all(decision, there)
        if version is not None and not self._objects.dry_run:
            self._version = version
            if not self._is_reverted_everywhere(version):
                return
            there = self._read_again(version)
        self._version = None
        self._deployment.remove(there)

    def _is_reverted_everywhere(self, version: str) -> bool:
        """Return whether every node has the original back, or need not be waited for."""
        if self._cluster.rollout_timeout == 0:
            return True
        # Nodes that did not follow the run that gave them the original would delay every later run.
        wait = self._outcome.changed or self._cluster.wait
        state = self._nodes.wait(version) if wait else self._nodes.read(version)
        self._rollout = state
        if not state.done:
            self._outcome.warnings.append(
                "the syncers stay until all nodes have the original pull secret again: "
                f"{state.sentence('it')}; the next run continues; set rollout_timeout: 0 to remove them "
                "without waiting for the nodes"
            )
        return state.done

    def _read_again(self, version: str) -> ExistingObjects:
        """Return the state after the wait.

        :raises Overtaken: the tenant, or another run, has changed the input of the decision meanwhile.
        """
        if self._tenants() is not None:
            raise Overtaken(f"{ADDITIONAL} exists again")
        there = self._deployment.read(tenants=False)
        if there.secret is None or there.secret["metadata"]["resourceVersion"] != version:
            raise Overtaken(f"{self._outcome.place} has changed")
        return there
