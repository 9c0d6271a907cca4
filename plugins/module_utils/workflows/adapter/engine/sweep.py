# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""All clusters of the API, without events, and what is left of clusters that are gone.

Gone is only what the API, asked for this one cluster, says is not there; and nothing is looked at as gone
where the list of all could not be read whole, or has nothing in it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Callable, Optional

from ....clients.hyperfleet.client import HyperFleetClient
from ....clients.hyperfleet.listing import Listing
from ....model.errors import Conflict, NotFound, PullSecretError, Unavailable
from ....runtime.batch import Failure, run_batch
from ....runtime.settings import Settings
from .deciding import removal_by_jobs
from .engine import Engine
from .inline import Places
from .lazy_jobs import LazyJobs
from .run_results import OUTCOME_FAILED, OUTCOME_GONE, ClusterResult
from .secret_removal import SecretRemoval, SecretRemovalResult, remove_secrets

__all__ = ["Sweep"]


@dataclass
class _Leftover:
    """A cluster that has Jobs or Secrets of ours and was not listed.

    :param removing: what is to be taken back; None where nothing is, or not now.
    """

    handled: ClusterResult
    removing: Optional[SecretRemoval] = None
    notes: list[str] = field(default_factory=list)


class Sweep:
    """One sweep; ``problems`` says afterwards what could not be read.

    :param store: the deletion policy, ``delete`` or ``keep``.
    :param tell: given each leftover's result.
    """

    def __init__(
        self,
        engine: Engine,
        api: HyperFleetClient,
        work: LazyJobs,
        places: Places,
        settings: Settings,
        *,
        store: str,
        tell: Callable[[ClusterResult], None],
    ) -> None:
        self._engine = engine
        self._api = api
        self._work = work
        self._places = places
        self._settings = settings
        self._store = store
        self._tell = tell
        self.problems: list[PullSecretError] = []

    def run(self, chunk: int, *, leftovers: bool) -> list[ClusterResult]:
        """Every cluster that the API lists, so many at a time; then what is left of others."""
        done: list[ClusterResult] = []
        listing = Listing(self._api, self._settings.deadline)
        clusters = iter(listing)
        while not self._settings.retrier.stop.is_set():
            given = {str(cluster["id"]): cluster for cluster in itertools.islice(clusters, chunk)}
            if not given:
                break
            done += self._engine.handle(list(given), given=given)
        self.problems += listing.problems
        if leftovers and not self.problems and not self._settings.retrier.stop.is_set():
            try:
                done += self._leftovers({one.cluster_id for one in done})
            except PullSecretError as error:
                self.problems.append(error)
        return done

    def _leftovers(self, seen: set[str]) -> list[ClusterResult]:
        """Remove what is left of clusters that the API says are gone, each asked for by itself."""
        left = [
            _Leftover(ClusterResult(one))
            for one in sorted(self._work.known(self._settings.deadline()) - seen)
        ]
        if left and not seen:
            raise Unavailable(
                f"the API lists no cluster at all, and {len(left)} have Jobs or Secrets: nothing was removed",
                "check hyperfleetAPI.url and headers; if they are right, delete those by hand",
            )
        left = self._each(left, self._look)
        wanted = [one for one in left if one.removing is not None]
        taken = remove_secrets(
            self._places,
            [one.removing for one in wanted if one.removing is not None],
            store=self._store,
            is_without=lambda namespace: self._work.is_without(namespace, self._settings.deadline()),
        )
        by_case = {id(one): back for one, back in zip(wanted, taken)}
        self._each(wanted, lambda one: self._finish(one, by_case[id(one)]))
        for one in left:
            self._tell(one.handled)
        return [one.handled for one in left]

    def _each(
        self, cases: Sequence[_Leftover], work: Callable[[_Leftover], Optional[_Leftover]]
    ) -> list[_Leftover]:
        """Those that ``work`` gives back, and those that failed."""
        results = run_batch(
            cases, work, concurrency=self._settings.concurrency, stop=self._settings.retrier.stop
        )
        for case, result in zip(cases, results):
            if isinstance(result, Failure):
                _failed(case, result.kind, result.message)
        return [case for case, result in zip(cases, results) if result is not None]

    def _look(self, case: _Leftover) -> Optional[_Leftover]:
        cluster_id = case.handled.cluster_id
        try:
            self._api.get_cluster(cluster_id, self._settings.deadline())
        except NotFound:
            pass
        else:
            return None  # it was made after the listing
        case.handled.outcome = OUTCOME_GONE
        halted = self._work.halt(cluster_id, self._settings.deadline())
        if halted.busy and not self._engine.check_mode:
            raise Conflict(
                f"its job is being ended, and {', '.join(halted.busy)} still there: the next sweep goes on"
            )
        places = removal_by_jobs(halted.environments)
        if not places.made:
            case.notes.append(
                "no job says where its secrets are: if there are any, in Secret Manager or in its "
                "management namespace, they stay"
            )
        case.removing = SecretRemoval(cluster_id, places, places.made)
        return case

    def _finish(self, case: _Leftover, taken: SecretRemovalResult) -> _Leftover:
        """The Jobs last: they say where the rest is."""
        handled = case.handled
        handled.actions = tuple(taken.actions)
        if taken.failures:
            kind, _text = taken.failures[0]
            _failed(case, kind, "; ".join(text for _kind, text in taken.failures))
            return case
        if taken.kept:
            case.notes.append(f"kept by policy: {', '.join(taken.kept)}")
        if taken.foreign:
            case.notes.append(f"left as it is, since it is not this cluster's: {', '.join(taken.foreign)}")
        removal = self._work.remove(handled.cluster_id, self._settings.deadline())
        handled.actions = (*handled.actions, *removal.actions)
        if not removal.gone and not self._engine.check_mode:
            raise Conflict(f"{', '.join(removal.left)} still there: the next sweep goes on")
        handled.message = f"The cluster is gone; {'; '.join(case.notes)}" if case.notes else ""
        return case


def _failed(case: _Leftover, kind: str, message: str) -> None:
    case.removing = None
    case.handled.outcome, case.handled.kind, case.handled.message = OUTCOME_FAILED, kind, message
