# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What becomes of a Job's pods when it is deleted: the garbage collector's part, done within the request.

The real one works a moment later, and the Job controller and a kubelet have a say.  Here a pod that runs on
a node stays, marked, until a test deletes it with a grace period of 0; all others go at once.
"""

from __future__ import annotations

from tests.stand_ins.kubernetes.resources import RESOURCES
from tests.stand_ins.kubernetes.store import Entry, Object, Store, entry_of, now

FOREGROUND = "foregroundDeletion"
_JOBS, _PODS = RESOURCES["jobs"], RESOURCES["pods"]


def lingers(pod: Object) -> bool:
    """Whether a kubelet has to end it first."""
    phase = (pod.get("status") or {}).get("phase")
    return bool((pod.get("spec") or {}).get("nodeName")) and phase not in ("Succeeded", "Failed")


def held(entry: Entry) -> Entry:
    """The object with the finalizer of a foreground deletion; not stored."""
    metadata = entry.obj["metadata"]
    finalizers = [*metadata.get("finalizers", []), FOREGROUND]
    return entry_of({**entry.obj, "metadata": {**metadata, "finalizers": list(dict.fromkeys(finalizers))}})


def mark(store: Store, pod: Entry) -> Entry:
    """Mark a pod as deleted."""
    metadata = pod.obj["metadata"]
    if metadata.get("deletionTimestamp"):
        return pod
    marked = {**metadata, "deletionTimestamp": now(), "deletionGracePeriodSeconds": 30}
    return store.replace(_PODS, {**pod.obj, "metadata": marked})


def collect(store: Store, job: Object, policy: str) -> None:
    """Do with a deleted Job's pods what the policy says."""
    for pod in _dependents(store, job["metadata"]["namespace"], job["metadata"]["uid"]):
        metadata = pod.obj["metadata"]
        if policy == "Orphan":
            others = [o for o in metadata["ownerReferences"] if o.get("uid") != job["metadata"]["uid"]]
            store.replace(_PODS, {**pod.obj, "metadata": {**metadata, "ownerReferences": others}})
        elif lingers(pod.obj):
            mark(store, pod)
        else:
            store.remove(_PODS, metadata["namespace"], metadata["name"])
    _release(store, job["metadata"]["namespace"], job["metadata"]["uid"])


def release(store: Store, pod: Object) -> None:
    """Let go of the Jobs that waited for this pod."""
    for owner in pod["metadata"].get("ownerReferences") or ():
        _release(store, pod["metadata"]["namespace"], owner.get("uid"))


def _dependents(store: Store, namespace: str, uid: str) -> list[Entry]:
    return [
        entry
        for entry in store.entries(_PODS, namespace)
        if any(owner.get("uid") == uid for owner in entry.obj["metadata"].get("ownerReferences") or ())
    ]


def _release(store: Store, namespace: str, uid: str) -> None:
    for entry in list(store.entries(_JOBS, namespace)):
        metadata = entry.obj["metadata"]
        if metadata["uid"] != uid or FOREGROUND not in metadata.get("finalizers", ()):
            continue
        if _dependents(store, namespace, uid):
            return
        left = [finalizer for finalizer in metadata["finalizers"] if finalizer != FOREGROUND]
        if left:
            store.replace(_JOBS, {**entry.obj, "metadata": {**metadata, "finalizers": left}})
        else:
            store.remove(_JOBS, namespace, metadata["name"])
