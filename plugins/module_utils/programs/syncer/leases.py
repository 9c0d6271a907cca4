# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Restart slots: existing Leases. A node restarts its kubelet while it holds one of them.

There are as many Leases as nodes may restart at the same time. A holder is identified by its node's name, so
that a restarted syncer keeps its slot. As in client-go, our own clock decides whether a holder has died: its
record has not changed for its ``leaseDurationSeconds``. Clocks of nodes differ. A record is trusted only as
far as a syncer could have written it, so that nobody can block a slot forever.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from ...model.syncer_limits import LONGEST_LEASE
from ...runtime.wire import WireError
from .api import ApiError, PodApi
from .backoff import random_between

__all__ = ["RestartSlots"]

_RECORD = ("holderIdentity", "renewTime", "acquireTime", "leaseTransitions")
# How many slots one search reads: a thousand waiting nodes must not read a hundred Leases each.
_AT_ONCE = 3
# Attempts to release a slot.
_TRIES = 3
_PATIENCE = 5.0
_LARGEST_INT32 = 2**31 - 1


class RestartSlots:
    """The slots, as seen by one node. One thread at a time.

    :param names: the Leases' names; without names there is no limit, and every node always has a slot.
    :param duration: seconds after which others may take the slot of a dead node.
    """

    def __init__(
        self,
        api: PodApi,
        namespace: str,
        names: Sequence[str],
        node: str,
        *,
        duration: int = 60,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._api = api
        self._path = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/"
        self._names = tuple(names)
        self._node = node
        self._duration = duration
        self._clock = clock
        # Name to the record as it was first seen, and when.
        self._seen: dict[str, tuple[str, float]] = {}
        self._next = int(random_between(0, max(len(names) - 1, 0)) + 0.5)
        self._held: dict[str, Any] | None = None
        # Slots that could not be released.
        self._owed: dict[str, Any] | None = None
        self._owed_at = 0.0
        self._renewed = 0.0
        self._asked = 0.0
        self.trouble = ""
        """Why the last search found no slot, unless others hold all of them."""

    @property
    def is_held(self) -> bool:
        """Whether a slot is ours; not so any more once others may have taken it."""
        if not self._names:
            return True
        return self._held is not None and self._clock() < self._renewed + self._duration

    @property
    def renew_at(self) -> float:
        """The monotonic time at which a held slot wants to be renewed."""
        return max(self._renewed + self._duration / 4, self._asked + self._duration / 12)

    def take(self) -> bool:
        """Look at a few slots and take the first that is free; True if one is held then."""
        if self.is_held:
            return True
        self._held = None
        self.trouble = ""
        if self.owed_at is None:
            self._owed = None
        if self._owed is not None:
            # That one first: two would be ours otherwise.
            self._next = self._names.index(self._owed["metadata"]["name"])
        for dummy in range(min(_AT_ONCE, len(self._names))):
            name = self._names[self._next % len(self._names)]
            self._next += 1
            try:
                is_taken, self._owed = self._take(name), None
                if is_taken:
                    return True
            except ApiError as error:
                if error.status in (404, 409):
                    self._owed = None
                if error.status != 409:
                    self.trouble = f"Lease {name}: {error}"
                    if self._owed is not None:
                        break
                elif self._look_again(name):
                    # Our own write, whose answer was lost.
                    return True
            except WireError as error:
                self.trouble = f"Lease {name}: {error}"
                break
        return False

    def renew(self) -> bool:
        """Say that the holder lives; False if the slot is lost. Unanswered, it stays ours for a while."""
        self._asked = self._clock()
        if not self._names:
            return True
        if self._held is None:
            return False
        try:
            self._write(self._held, self._node)
        except ApiError as error:
            if error.status in (404, 409):
                return self._look_again(str(self._held["metadata"]["name"]))
        except WireError:
            pass
        return self.is_held

    def release(self) -> None:
        """Give the slot back. What the server does not take now is to be given back ``owed_at``."""
        owed, self._held = self._held or self._owed, None
        self._owed = None
        end = self._clock() + _PATIENCE
        is_stale, wait = False, 0.0
        for dummy in range(_TRIES):
            # A server that is silent keeps each try waiting, and with it all that this node has to do.
            if owed is None or self._clock() >= end:
                break
            try:
                if is_stale:
                    owed, is_stale = self._ours(str(owed["metadata"]["name"])), False
                if owed is not None:
                    self._write(owed, "")
                return
            except ApiError as error:
                is_stale, wait = error.status == 409, error.retry_after
                if error.status == 404:
                    return
                if not is_stale:
                    break
            except WireError:
                pass
        self._owed, self._owed_at = owed, self._clock() + max(self._duration / 12, wait)

    @property
    def owed_at(self) -> float | None:
        """The monotonic time at which ``release`` is to be tried again; once others may have it, None."""
        if self._owed is None or self._owed_at >= self._renewed + self._duration:
            return None
        return self._owed_at

    def _ours(self, name: str) -> dict[str, Any] | None:
        """The Lease as it is now, if our name is still in it."""
        found = self._read(name)
        return found if _spec(found).get("holderIdentity") == self._node else None

    def _look_again(self, name: str) -> bool:
        """Another client wrote the Lease that we hold; it is still ours if our name is in it."""
        self._held = None
        try:
            lease = self._ours(name)
            if lease is not None:
                self._write(lease, self._node)
        except (ApiError, WireError):
            pass
        return self._held is not None

    def _read(self, name: str) -> dict[str, Any]:
        return _checked(self._api.call("GET", self._path + name), name)

    def _take(self, name: str) -> bool:
        lease = self._read(name)
        if not self._is_free(name, lease):
            return False
        self._write(lease, self._node)
        return True

    def _is_free(self, name: str, lease: dict[str, Any]) -> bool:
        spec = _spec(lease)
        holder = spec.get("holderIdentity")
        if not holder or holder == self._node:
            return True
        # Not the object's version: another client may put a label on it every minute.
        record = " ".join(repr(spec.get(name))[:200] for name in _RECORD)
        now = self._clock()
        seen = self._seen.get(name)
        if seen is None or seen[0] != record:
            self._seen[name] = (record, now)
            return False
        lasts = _count(spec.get("leaseDurationSeconds")) or self._duration
        return now >= seen[1] + min(lasts, max(LONGEST_LEASE, self._duration))

    def _write(self, lease: dict[str, Any], holder: str) -> None:
        """PUT with the version that was read: 409 if another client was faster."""
        before, stamp = _spec(lease), _now()
        spec = {"holderIdentity": holder, "renewTime": stamp, "leaseDurationSeconds": self._duration}
        # What else stands there (a strategy, a preferred holder) would hand the slot on to others.
        taken = _count(before.get("leaseTransitions"))
        if holder and before.get("holderIdentity") != holder:
            spec["acquireTime"] = stamp
            taken = min(taken + 1, _LARGEST_INT32)
        elif isinstance(before.get("acquireTime"), str):
            spec["acquireTime"] = before["acquireTime"]
        spec["leaseTransitions"] = taken
        metadata = {key: value for key, value in lease["metadata"].items() if key != "managedFields"}
        body = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata, "spec": spec}
        # Counted from before the call: others count from when they see the record, which is later.
        asked = self._clock()
        written = self._api.call("PUT", self._path + metadata["name"], body)
        self._held = _checked(written, metadata["name"]) if holder else None
        self._renewed = asked


def _checked(lease: dict[str, Any], name: str) -> dict[str, Any]:
    metadata = lease.get("metadata")
    if not isinstance(metadata, dict) or metadata.get("name") != name:
        raise WireError(f"Lease {name}: the answer is another object")
    return lease


def _count(thing: Any) -> int:
    """A number that a record may have; 0 for anything else."""
    is_one = isinstance(thing, int) and not isinstance(thing, bool)
    return min(max(int(thing), 0), _LARGEST_INT32) if is_one else 0


def _spec(lease: dict[str, Any]) -> dict[str, Any]:
    spec = lease.get("spec")
    return spec if isinstance(spec, dict) else {}


def _now() -> str:
    """Kubernetes' MicroTime. For people: nobody's clock is compared with it."""
    seconds = time.time()
    return (
        time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1e6) % 1_000_000:06d}Z"
    )
