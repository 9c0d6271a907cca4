# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Plays scheduler, kubelet and Job controller for the adapter's Jobs, and starts the Job's real program."""

from __future__ import annotations

import base64
import os
import subprocess
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from urllib3.exceptions import HTTPError

from tests.adapter.chaos.world import ChaosWorld
from tests.adapter.world import NAMESPACE
from tests.support.job.around import Pod as Around

_PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"


@dataclass
class _Pod:
    process: subprocess.Popen[bytes]
    message: Path
    job: str
    name: str


class Kubelet:
    """Runs Jobs until the ``with`` block ends. ``kill`` acts as the out-of-memory killer."""

    def __init__(self, world: ChaosWorld, directory: Path) -> None:
        self.world = world
        self.directory = directory / "kubelet"
        self.started = 0
        self.trouble: list[str] = []
        self._pods: dict[str, _Pod] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self.directory.mkdir()
        self._around = Around(self.directory, world.kubernetes)

    def __enter__(self) -> Kubelet:
        self._thread.start()
        return self

    def __exit__(self, *_unused: object) -> None:
        self._stop.set()
        self._thread.join()
        for pod in self._pods.values():
            pod.process.kill()
            pod.process.wait()
        self._around.stop()

    def running(self) -> list[subprocess.Popen[bytes]]:
        """The processes that run."""
        return [pod.process for pod in list(self._pods.values()) if pod.process.poll() is None]

    def kill(self, number: int) -> None:
        """Kill one of the processes that run, if there is one."""
        if found := self.running():
            found[number % len(found)].kill()

    def _work(self) -> None:
        while not self._stop.wait(0.05):
            try:
                self._round()
            except (AssertionError, HTTPError, KeyError, TypeError, ValueError) as error:
                # An object was deleted after it was listed, or a fault occurred: the next round tries again.
                self.trouble.append(f"{type(error).__name__}: {error}")

    def _round(self) -> None:
        world = self.world
        pods = {pod["metadata"]["uid"]: pod for pod in world.admin.items(NAMESPACE, "pods")}
        for uid, found in list(self._pods.items()):
            pod = pods.get(uid)
            if pod is None or pod["metadata"].get("deletionTimestamp"):
                self._end(uid, found, there=pod is not None)
            elif found.process.poll() is not None:
                self._tell(uid, found)
        for pod in pods.values():
            # It has no process.
            if pod["metadata"].get("deletionTimestamp") and pod["metadata"]["uid"] not in self._pods:
                self._forget(pod["metadata"]["name"])
        jobs = world.admin.items(NAMESPACE, "jobs")
        self._collect(pods.values(), {job["metadata"]["uid"]: job for job in jobs})
        for job in jobs:
            ended = any(
                one["type"] in ("Complete", "Failed") for one in job["status"].get("conditions") or ()
            )
            if not ended and not job["metadata"].get("deletionTimestamp"):
                self._start(job["metadata"]["name"])

    def _collect(self, pods: Iterable[dict[str, Any]], jobs: dict[str, dict[str, Any]]) -> None:
        """Delete pods that were created while their Job was deleted, as the garbage collector does.

        Otherwise such a Job would stay. The stand-in deletes only the pods that exist when the Job is deleted.
        """
        for pod in pods:
            metadata = pod["metadata"]
            owners = [jobs.get(owner["uid"]) for owner in metadata.get("ownerReferences") or ()]
            going = [owner is None or "deletionTimestamp" in owner["metadata"] for owner in owners]
            if all(going) and "deletionTimestamp" not in metadata:
                self.world.request("DELETE", f"{_PODS}/{metadata['name']}", {}, "application/json")

    def _start(self, job: str) -> None:
        pod = self.world.playing.begin(job)
        uid, name = pod["metadata"]["uid"], pod["metadata"]["name"]
        if uid in self._pods:
            return
        environment = self._environment(pod)
        if environment is None:
            self.world.playing.stick(job, "CreateContainerConfigError", "secret not found")
            return
        self.world.playing.run(job, node="node-1")
        message = self.directory / f"message-{uid}"
        message.write_bytes(b"")
        process = subprocess.Popen(
            self._around.command,
            cwd="/proc",
            env={**environment, "TERMINATION_MESSAGE_PATH": str(message)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.started += 1
        self._pods[uid] = _Pod(process, message, job, name)

    def _environment(self, pod: dict[str, Any]) -> dict[str, str] | None:
        """The container's environment; None if a Secret does not exist."""
        found = {
            "PATH": os.environ["PATH"],
            "SECRET_MANAGER_EMULATOR_HOST": self.world.manager.rest,
            **self._around.environment,
        }
        for item in pod["spec"]["containers"][0]["env"]:
            reference = (item.get("valueFrom") or {}).get("secretKeyRef")
            if reference is None:
                found[item["name"]] = item.get("value", "").replace("$$", "$")
                continue
            secret = self.world.kubernetes.store.find("secrets", NAMESPACE, reference["name"])
            if secret is None:
                return None
            found[item["name"]] = base64.b64decode(secret["data"][reference["key"]]).decode()
        return found

    def _tell(self, uid: str, found: _Pod) -> None:
        code = found.process.returncode
        said = found.message.read_text()
        self.world.playing.finish(found.job, said, exit_code=code if code >= 0 else 128 - code)
        self._drop(uid, found)

    def _end(self, uid: str, found: _Pod, *, there: bool) -> None:
        """Terminate the program of a deleted pod, and remove the pod when the program has ended."""
        found.process.terminate()
        if found.process.poll() is None:
            return
        if there:
            self._forget(found.name)
        self._drop(uid, found)

    def _forget(self, name: str) -> None:
        self.world.request("DELETE", f"{_PODS}/{name}", {"gracePeriodSeconds": 0}, "application/json")

    def _drop(self, uid: str, found: _Pod) -> None:
        del self._pods[uid]
        found.message.unlink(missing_ok=True)
