# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Jobs of the stand-in that end by themselves, for tests and measurements of whoever makes them.

``with Finisher(lab.store, lambda job: '{"result":"success"}'):`` lets each new Job have a pod that has
succeeded, or failed where the function gives an exit code as well.  Nothing goes over HTTP.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

from tests.stand_ins.kubernetes.resources import RESOURCES
from tests.stand_ins.kubernetes.store import Event, Object, Store, now

# A Job to its termination message, or to that and an exit code.
Ending = Callable[[Object], str | tuple[str, int]]

_JOBS, _PODS = RESOURCES["jobs"], RESOURCES["pods"]


class Finisher:
    """Ends each Job that is made, in a thread.

    :param seconds: that a Job takes.
    """

    def __init__(self, store: Store, ending: Ending, *, seconds: float = 0.0) -> None:
        self._store = store
        self._ending = ending
        self._seconds = seconds
        self._made: queue.SimpleQueue[tuple[str, str] | None] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="job-finisher", daemon=True)

    def __enter__(self) -> Finisher:
        self._store.watchers.append(self._saw)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._store.watchers.remove(self._saw)
        self._stop.set()
        self._made.put(None)
        self._thread.join()

    def _saw(self, event: Event) -> None:
        if event.plural == "jobs" and event.type == "ADDED":
            # Not now: whoever writes holds the store, and waits for its answer.
            self._made.put((event.namespace, event.new.obj["metadata"]["name"]))

    def _work(self) -> None:
        while (found := self._made.get()) is not None:
            if self._seconds and self._stop.wait(self._seconds):
                return
            with self._store.lock:
                job = self._store.find("jobs", *found)
                if job is not None and not job["metadata"].get("deletionTimestamp"):
                    self._end(job)

    def _end(self, job: Object) -> None:
        told = self._ending(job)
        message, code = told if isinstance(told, tuple) else (told, 0)
        moment = now()
        self._store.create(_PODS, _pod(job, message, code, moment))
        kind, reason = ("Failed", "BackoffLimitExceeded") if code else ("Complete", "CompletionsReached")
        condition = {"type": kind, "status": "True", "reason": reason, "lastTransitionTime": moment}
        status: dict[str, Any] = {
            "startTime": moment,
            "active": 0,
            "failed" if code else "succeeded": 1,
            "conditions": [condition],
        }
        self._store.replace(_JOBS, {**job, "status": status})


def _pod(job: Object, message: str, code: int, moment: str) -> Object:
    metadata, template = job["metadata"], job["spec"]["template"]
    container = template["spec"]["containers"][0]
    terminated = {"exitCode": code, "message": message, "startedAt": moment, "finishedAt": moment}
    return {
        "metadata": {
            "name": f"{metadata['name']}-0",
            "namespace": metadata["namespace"],
            "labels": template["metadata"].get("labels", {}),
            "ownerReferences": [{"kind": "Job", "name": metadata["name"], "uid": metadata["uid"]}],
        },
        "spec": template["spec"],
        "status": {
            "phase": "Failed" if code else "Succeeded",
            "containerStatuses": [{"name": container["name"], "state": {"terminated": terminated}}],
        },
    }
