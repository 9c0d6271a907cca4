# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Handles all clusters of the API without events, and removes what deleted clusters left.

A cluster counts as deleted only if a GET of it returns 404. No cluster counts as deleted if the list could
not be read completely, is empty, or may be that of one tenant.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Callable

from ....clients.hyperfleet.all_clusters import AllClusters
from ....clients.hyperfleet.client import HyperFleetClient
from ....model.errors import Conflict, NotFound, PullSecretError, Unavailable
from ....runtime.batch import Failure, run_batch
from ....runtime.run_settings import RunSettings
from .decide import removal_by_jobs
from .engine import Engine
from .inline import InlineProvisioner
from .lazy_jobs import LazyJobs
from .run_results import OUTCOME_FAILED, OUTCOME_GONE, ClusterResult
from .secret_removal import SecretRemoval, SecretRemovalResult, remove_secrets

__all__ = ["Sweep"]

_TENANT = (
    "the sweep removed nothing that deleted clusters left: with a tenant header (X-Tenant...) the API may hide "
    "living clusters of other tenants; remove that header from spec.hyperfleetAPI.headers or the override "
    "headers"
)


@dataclass
class _Leftover:
    """A cluster that has Jobs or Secrets of ours and was not listed.

    :param removing: what to remove; None if nothing is removed, or not yet.
    """

    result: ClusterResult
    secret_removal: SecretRemoval | None = None
    notes: list[str] = field(default_factory=list)


class Sweep:
    """One sweep; ``problems`` lists afterwards what could not be read, ``warnings`` what was left out.

    :param store: the deletion policy, ``delete`` or ``keep``.
    :param has_tenant_header: whether the API may answer for one tenant only.
    :param on_result: called with each leftover's result.
    """

    def __init__(
        self,
        engine: Engine,
        api: HyperFleetClient,
        jobs: LazyJobs,
        provisioner: InlineProvisioner,
        settings: RunSettings,
        *,
        store: str,
        has_tenant_header: bool,
        on_result: Callable[[ClusterResult], None],
    ) -> None:
        self._engine = engine
        self._api = api
        self._jobs = jobs
        self._provisioner = provisioner
        self._settings = settings
        self._store = store
        self._has_tenant_header = has_tenant_header
        self._on_result = on_result
        self.problems: list[PullSecretError] = []
        self.warnings: list[str] = []

    def run(self, chunk: int, *, leftovers: bool) -> list[ClusterResult]:
        """Handle every listed cluster, in batches, then what is left of unlisted clusters."""
        done: list[ClusterResult] = []
        listing = AllClusters(self._api, self._settings.deadline)
        clusters = iter(listing)
        while not self._settings.retrier.stop.is_set():
            given = {str(cluster["id"]): cluster for cluster in itertools.islice(clusters, chunk)}
            if not given:
                break
            done += self._engine.handle(list(given), given=given)
        self.problems += listing.problems
        if leftovers and self._has_tenant_header:
            self.warnings.append(_TENANT)
        elif leftovers and not self.problems and not self._settings.retrier.stop.is_set():
            try:
                done += self._leftovers({one.cluster_id for one in done})
            except PullSecretError as error:
                self.problems.append(error)
        return done

    def _leftovers(self, seen: set[str]) -> list[ClusterResult]:
        """Remove what is left of clusters that a GET confirms as deleted."""
        left = [
            _Leftover(ClusterResult(one))
            for one in sorted(self._jobs.cluster_ids(self._settings.deadline()) - seen)
        ]
        if left and not seen:
            raise Unavailable(
                f"the API lists no clusters, but Jobs or Secrets of {len(left)} clusters exist; nothing was "
                "removed",
                "check hyperfleetAPI.url and headers; if they are right, delete these objects by hand",
            )
        left = self._for_each(left, self._suspend_jobs)
        wanted = [one for one in left if one.secret_removal is not None]
        removal_result = remove_secrets(
            self._provisioner,
            [one.secret_removal for one in wanted if one.secret_removal is not None],
            store=self._store,
            lacks_namespace=lambda namespace: self._jobs.lacks_namespace(
                namespace, self._settings.deadline()
            ),
        )
        by_leftover = {id(one): back for one, back in zip(wanted, removal_result)}
        self._for_each(wanted, lambda one: self._remove_jobs(one, by_leftover[id(one)]))
        for one in left:
            self._on_result(one.result)
        return [one.result for one in left]

    def _for_each(
        self, leftovers: Sequence[_Leftover], work: Callable[[_Leftover], _Leftover | None]
    ) -> list[_Leftover]:
        """Return the results of ``work``, and the items that failed."""
        results = run_batch(
            leftovers, work, concurrency=self._settings.concurrency, stop=self._settings.retrier.stop
        )
        for leftover, result in zip(leftovers, results):
            if isinstance(result, Failure):
                _failed(leftover, result.kind, result.message)
        return [leftover for leftover, result in zip(leftovers, results) if result is not None]

    def _suspend_jobs(self, leftover: _Leftover) -> _Leftover | None:
        cluster_id = leftover.result.cluster_id
        try:
            self._api.get_cluster(cluster_id, self._settings.deadline())
        except NotFound:
            pass
        else:
            return None  # it was created after the listing
        leftover.result.outcome = OUTCOME_GONE
        suspended = self._jobs.suspend(cluster_id, self._settings.deadline())
        if suspended.busy and not self._engine.check_mode:
            raise Conflict(
                f"its job is being stopped, and {', '.join(suspended.busy)} still exist: the next sweep "
                f"continues"
            )
        places = removal_by_jobs(suspended.environments)
        if not places.made:
            leftover.notes.append(
                "no Job says where the cluster's secrets are, so the sweep does not delete them; look in "
                "Secret "
                "Manager and in the management namespace, and delete them by hand"
            )
        leftover.secret_removal = SecretRemoval(cluster_id, places, places.made)
        return leftover

    def _remove_jobs(self, leftover: _Leftover, removal_result: SecretRemovalResult) -> _Leftover:
        """Remove the Jobs last: they say where the secrets are."""
        result = leftover.result
        result.actions = tuple(removal_result.actions)
        if removal_result.failures:
            kind, _text = removal_result.failures[0]
            _failed(leftover, kind, "; ".join(text for _kind, text in removal_result.failures))
            return leftover
        if removal_result.kept:
            leftover.notes.append(f"kept by policy: {', '.join(removal_result.kept)}")
        if removal_result.foreign:
            leftover.notes.append(
                f"not deleted, because they do not belong to this cluster: "
                f"{', '.join(removal_result.foreign)}"
            )
        removal = self._jobs.remove(result.cluster_id, self._settings.deadline())
        result.ends = removal.ends
        result.actions = (*result.actions, *removal.actions)
        if not removal.gone and not self._engine.check_mode:
            raise Conflict(f"{', '.join(removal.left)} still exist: the next sweep continues")
        result.message = f"The cluster is gone; {'; '.join(leftover.notes)}" if leftover.notes else ""
        return leftover


def _failed(leftover: _Leftover, kind: str, message: str) -> None:
    leftover.secret_removal = None
    leftover.result.outcome, leftover.result.kind, leftover.result.message = OUTCOME_FAILED, kind, message
