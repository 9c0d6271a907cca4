# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A test plays the kubelet, the scheduler and, where there is none, the Job controller.

It speaks to the API as these do, through ``…/pods`` and ``…/status``.  On a real server the controller
manager makes the pods and says how a Job ended; on the stand-in that is played, too.
"""

from __future__ import annotations

import secrets
from typing import Any

from tests.lab.supervisor import wait_until
from tests.stand_ins.kubernetes.store import Object, now
from tests.support.kubernetes.world import Admin, path

_DONE = ("Complete", "Failed")
_PAUSE = 0.05  # seconds between two looks at what the real controller does


class Playing:
    """Plays scheduler, kubelet and Job controller for one namespace.

    :param controllers: whether a real Job controller runs.
    """

    def __init__(self, admin: Admin, namespace: str, *, controllers: bool = False) -> None:
        self._admin = admin
        self._controllers = controllers
        self._namespace = namespace

    # -- reading ----------------------------------------------------------------------------------

    def job(self, name: str) -> Object | None:
        """The Job, or None."""
        found: Object | None = self._admin.get(self._namespace, "jobs", name)
        return found

    def pods(self, job: str | None = None) -> list[Object]:
        """The pods, or a Job's, the newest last."""
        chosen = [
            pod
            for pod in self._admin.items(self._namespace, "pods")
            if job is None or (pod["metadata"].get("labels") or {}).get("job-name") == job
        ]
        return sorted(
            chosen,
            key=lambda pod: (pod["metadata"]["creationTimestamp"], int(pod["metadata"]["resourceVersion"])),
        )

    # -- playing ----------------------------------------------------------------------------------

    def begin(self, job: str) -> Object:
        """Return the Job's active pod; create one if there is none."""
        if self._controllers:
            return wait_until(lambda: self._active(job), f"a pod of {job}", pause=_PAUSE)
        found = self._active(job)
        if found is not None:
            return found
        made = self._make_pod(job)
        self._job_status(job, {"active": 1, "ready": 0, "startTime": now(), "terminating": 0})
        return made

    def run(self, job: str, *, node: str | None = None) -> Object:
        """Let the Job's container run.

        :param node: on a node, a deleted pod stays until ``end_deleted``; only on the stand-in.
        """
        pod = self.begin(job)
        if node is not None:
            self._admin.merge(self._namespace, "pods", _name(pod), {"spec": {"nodeName": node}})
        return self._pod_status(pod, "Running", {"running": {"startedAt": now()}})

    def finish(self, job: str, message: str = "", *, exit_code: int = 0, reason: str = "") -> Object:
        """Let the Job's container end, and the Job too if its controller would end it.

        :param message: the termination message; :param reason: for example ``OOMKilled``.
        """
        pod = self.begin(job)
        ended = now()
        terminated = {
            "exitCode": exit_code,
            "reason": reason or ("Completed" if exit_code == 0 else "Error"),
            "message": message,
            "startedAt": ended,
            "finishedAt": ended,
        }
        phase = "Succeeded" if exit_code == 0 else "Failed"
        pod = self._pod_status(pod, phase, {"terminated": terminated})
        self._count(job, exit_code)
        return pod

    def stick(self, job: str, reason: str, message: str = "") -> Object:
        """Let the Job's container wait: ``ImagePullBackOff``, ``CreateContainerConfigError`` …"""
        pod = self.begin(job)
        return self._pod_status(pod, "Pending", {"waiting": {"reason": reason, "message": message}})

    def unschedulable(self, job: str, message: str = "0/3 nodes are available", *, since: str = "") -> Object:
        """Mark the Job's pod as unschedulable."""
        condition = _condition("PodScheduled", "Unschedulable", message, status="False")
        condition["lastTransitionTime"] = since or condition["lastTransitionTime"]
        return self._pod_status(self.begin(job), "Pending", conditions=[condition])

    def evict(self, job: str, message: str = "The node was low on resource: memory.") -> Object:
        """Evict the Job's pod; podFailurePolicy does not count this as a failure."""
        pod = self.begin(job)
        condition = _condition("DisruptionTarget", "TerminationByKubelet", message)
        said: Object = {"reason": "Evicted", "message": message, "conditions": [condition]}
        pod = self._pod_status(pod, "Failed", **said)
        self._job_status(job, {"active": 0})
        return pod

    def fail(self, job: str, reason: str, message: str = "") -> None:
        """Let the Job fail as its controller does, for example with ``DeadlineExceeded``. Only on the stand-in."""
        assert not self._controllers, "the real controller has its own mind"
        self._end(job, "Failed", reason, {"active": 0}, message)

    def end_deleted(self) -> None:
        """Remove the deleted pods, as the kubelet does when their containers have ended."""
        for pod in self.pods():
            if pod["metadata"].get("deletionTimestamp"):
                at = path(self._namespace, "pods", _name(pod))
                self._admin.request("DELETE", at, {"gracePeriodSeconds": 0})

    # -- the Job controller -------------------------------------------------------------------------

    def _active(self, job: str) -> Object | None:
        """The Job's newest active pod. An earlier Job of the same name may still have pods: they do not count."""
        uid, ended = self._known(job)["metadata"]["uid"], ("Succeeded", "Failed")
        active = [
            pod
            for pod in self.pods(job)
            if pod.get("status", {}).get("phase") not in ended
            and any(owner["uid"] == uid for owner in pod["metadata"].get("ownerReferences") or ())
        ]
        return active[-1] if active else None

    def _make_pod(self, name: str) -> Object:
        job = self._known(name)
        template = job["spec"]["template"]
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": job["metadata"]["uid"]}
        body = {
            "metadata": {
                "name": f"{name[:57]}-{len(self.pods(name)):02}{secrets.token_hex(1)}",
                "labels": template["metadata"].get("labels", {}),
                "annotations": template["metadata"].get("annotations", {}),
                "ownerReferences": [{**owner, "controller": True, "blockOwnerDeletion": True}],
            },
            "spec": template["spec"],
        }
        return dict(self._admin.create(self._namespace, "pods", body))

    def _count(self, name: str, exit_code: int) -> None:
        """Update the Job after a pod has ended."""
        if self._controllers:
            wait_until(lambda: self._settled(name), f"the end of a pod of {name}", pause=_PAUSE)
            return
        job = self._known(name)
        status, spec = job.get("status") or {}, job["spec"]
        if exit_code == 0:
            ended = {"active": 0, "succeeded": 1, "completionTime": now()}
            self._end(name, "Complete", "CompletionsReached", ended)
            return
        failed = int(status.get("failed") or 0) + 1
        if _fails_at_once(spec, exit_code):
            self._end(name, "Failed", "PodFailurePolicy", {"active": 0, "failed": failed})
        elif failed > spec["backoffLimit"]:
            self._end(name, "Failed", "BackoffLimitExceeded", {"active": 0, "failed": failed})
        else:
            self._job_status(name, {"active": 0, "failed": failed})

    def _settled(self, name: str) -> Object | None:
        job = self._known(name)
        status = job.get("status") or {}
        counted = not (status.get("uncountedTerminatedPods") or {})
        if any(c["type"] in _DONE and c["status"] == "True" for c in status.get("conditions") or ()):
            return job
        return job if status.get("failed") and counted else None

    def _end(self, name: str, kind: str, reason: str, status: Object, message: str = "") -> None:
        condition = _condition(kind, reason, message)
        condition["lastProbeTime"] = condition["lastTransitionTime"]
        self._job_status(name, {**status, "conditions": [condition]})

    # -- requests -----------------------------------------------------------------------------------

    def _known(self, name: str) -> Object:
        job = self.job(name)
        assert job is not None, f"there is no job {name}"
        return job

    def _job_status(self, name: str, status: Object) -> None:
        self._admin.merge(self._namespace, "jobs", f"{name}/status", {"status": status})

    def _pod_status(self, pod: Object, phase: str, state: Object | None = None, **status: Any) -> Object:
        """Write it; ``state`` is its container's."""
        if state is not None:
            (container, *_others) = pod["spec"]["containers"]
            known = {name: container[name] for name in ("name", "image")}
            running = {"imageID": "", "ready": "running" in state, "restartCount": 0, "state": state}
            status["containerStatuses"] = [{**known, **running}]
        body = {"status": {"phase": phase, **status}}
        return dict(self._admin.merge(self._namespace, "pods", f"{_name(pod)}/status", body))


def _fails_at_once(spec: Object, exit_code: int) -> bool:
    rules = (spec.get("podFailurePolicy") or {}).get("rules") or ()
    return any(
        rule["action"] == "FailJob" and exit_code in (rule.get("onExitCodes") or {}).get("values", ())
        for rule in rules
    )


def _condition(kind: str, reason: str, message: str, status: str = "True") -> Object:
    said = {"type": kind, "status": status, "reason": reason, "message": message}
    return {**said, "lastTransitionTime": now()}


def _name(pod: Object) -> str:
    return str(pod["metadata"]["name"])
