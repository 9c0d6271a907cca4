# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The three ways into the workflow, in this process: the playbook's tasks, the Job, the inline adapter."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.job.work import GCP, Job
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import (
    gcp_pull_secret,
    k8s_pull_secret,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import validated_by_spec
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.engine.decide import (
    Apply,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.engine.inline import (
    InlineProvisioner,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.options import run_options
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.provision import (
    gcp_targets,
    kubernetes_targets,
    summary_rows,
)
from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.adapter_jobs.world import order
from tests.support.docker_configs import docker_config, held
from tests.support.kubernetes.running import FAST_RETRY, run_task
from tests.support.secret_manager import Module

WAYS = ("playbook", "job", "inline")
CLUSTER = "cls-1"
PROJECT = "customer-prod-12345"
NAMESPACE = f"clusters-{CLUSTER}"
NAME = f"{CLUSTER}-pull-secret"
SECRET = f"projects/{PROJECT}/secrets/hyperfleet-{CLUSTER}-pull-secret"
ANNOTATION = "hyperfleet.io/gcp-secret-version"


def job_environment(word: str) -> dict[str, str]:
    """What a Job for this pull secret is given."""
    return {
        "CLUSTER_ID": CLUSTER,
        "CLUSTER_NAME": CLUSTER,
        "GCP_PROJECT_ID": PROJECT,
        "PULL_SECRET_DATA": document(word),
        "MANAGEMENT_NAMESPACE": NAMESPACE,
    }


@dataclass(frozen=True)
class Ran:
    """How a run ended: ``failure`` says why, ``said`` has its warnings and messages for people."""

    failure: str | None
    version: str | None
    said: str
    changed: bool


@dataclass
class World:
    """One cluster in both places."""

    manager: SecretManagerLab
    kubernetes: KubernetesLab
    directory: Path

    def __post_init__(self) -> None:
        self.kubernetes.store.create_namespace(NAMESPACE)
        self._kubeconfig = str(self.kubernetes.kubeconfig(self.directory / "kubeconfig"))
        self.store = Module(self.manager, "plain")

    # -- runs -------------------------------------------------------------------------------------

    def put(self, way: str, word: str, **cluster: Any) -> Ran:
        """Bring a pull secret to both places; ``cluster`` goes to the playbook's only."""
        ran: Ran = getattr(self, f"_{way}")(word, **cluster)
        return ran

    def _options(self) -> dict[str, Any]:
        return {
            "gcp": {"transport": "rest", "endpoint": self.manager.rest},
            "kubernetes": {"kubeconfig": self._kubeconfig},
            "retry": FAST_RETRY,
            "timeout": 300,
        }

    def _task(self, task: Any, **arguments: Any) -> dict[str, Any]:
        return run_task(task, {**self._options(), **arguments})

    def _playbook(self, word: str, **cluster: Any) -> Ran:
        identity = {"cluster_id": CLUSTER, "gcp_project_id": PROJECT, "management_namespace": NAMESPACE}
        clusters = [{**identity, "source": {"inline": document(word)}, **cluster}]
        stored = self._task(gcp_pull_secret, targets=gcp_targets(clusters))
        placed = self._task(k8s_pull_secret, targets=kubernetes_targets(clusters, stored))
        (row,) = summary_rows(clusters, stored, placed)
        return Ran(row["reason"], row["version"], " ".join(row["warnings"]), row["changed"])

    def _job(self, word: str) -> Ran:
        lines: list[str] = []

        def ask(phase: str, target: dict[str, Any], run: dict[str, Any]) -> Mapping[str, Any]:
            given = {**target, **run}
            if "env" in (given.get("source") or {}):
                # The variable is not this process's.
                given["source"] = {"inline": document(word)}
            return self._task(gcp_pull_secret if phase == GCP else k8s_pull_secret, **given)

        ended = Job(ask, lines.append).run(job_environment(word), self._options())
        return Ran(ended.problem, ended.version, "\n".join(lines), ended.changed)

    def _inline(self, word: str) -> Ran:
        wanted = order(cluster_id=CLUSTER, cluster_name=CLUSTER, project=PROJECT, namespace=NAMESPACE)
        options = validated_by_spec(run_options(), self._options())
        provisioner = InlineProvisioner(options, stop=threading.Event(), check_mode=False)
        (seen,) = provisioner.apply([Apply(wanted, document(word).encode())])
        result = dict(seen.result or {})
        failure = None if result.get("result") == "success" else seen.message
        return Ran(failure, result.get("version"), seen.message, bool(seen.actions))

    # -- what came of it --------------------------------------------------------------------------

    def placed(self) -> Any:
        """What the Secret holds."""
        return held(self._secret())

    def placed_version(self) -> str | None:
        """What its annotation says."""
        annotations: dict[str, str] = self._secret()["metadata"]["annotations"]
        return annotations.get(ANNOTATION)

    def _secret(self) -> dict[str, Any]:
        found = self.kubernetes.store.find("secrets", NAMESPACE, NAME)
        assert found is not None
        return found

    def is_right(self) -> bool:
        """Whether the Secret holds the newest version that is enabled, and says so."""
        newest = len(self.store.states()) - self.store.states()[::-1].index("ENABLED")
        payload = json.loads(self.store.payloads()[newest - 1])
        return bool(self.placed() == payload and self.placed_version() == f"{SECRET}/versions/{newest}")


def meanwhile(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, act: Callable[[], Any]) -> list[Any]:
    """Do something right before the first call of a function; the list will hold its result."""
    original: Callable[..., Any] = getattr(owner, name)
    calls = itertools.count()
    results: list[Any] = []

    def called(*args: Any, **options: Any) -> Any:
        if next(calls) == 0:
            results.append(act())
        return original(*args, **options)

    monkeypatch.setattr(owner, name, called)
    return results


def document(word: str) -> str:
    return json.dumps(docker_config(quay_io=word))
