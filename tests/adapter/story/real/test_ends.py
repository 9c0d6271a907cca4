# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Five ways for a Job to end on a real cluster, what the adapter exports of them, and the alerts that follow."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.metrics import AdapterMetrics
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.calls import Calls
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.config.defaults import (
    fill_job,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.engine.run_results import (
    ClusterResult,
    result_document,
)
from tests.lab.prometheus import promtool
from tests.lab.session import REAL, KubernetesEnv
from tests.lab.supervisor import wait_until
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support import monitoring
from tests.support.adapter_jobs.place import PLACE, SYSTEM, adapter_namespaces
from tests.support.adapter_jobs.world import World
from tests.support.kubernetes.world import Api

if TYPE_CHECKING:
    from tests.lab.nodes.cluster import ClusterLab

pytestmark = pytest.mark.real("nodes", "go", "apt-get")

_PODS = f"/api/v1/namespaces/{SYSTEM}/pods"
_LIMIT = 120
# Seconds, longer than any test waits.
_HANGS = 600.0


class Ends:
    """Runs Jobs to their ends, and counts them as the event source does."""

    def __init__(self, world: World, manager: SecretManagerLab, template: dict[str, Any]) -> None:
        self.world, self.manager, self._template = world, manager, template
        self.metrics = AdapterMetrics()

    def run(
        self, cluster_id: str, meanwhile: Callable[[str], object] = bool, **template: Any
    ) -> dict[str, Any]:
        """Create a cluster's Job, look until its end is counted, and return what is counted.

        :param meanwhile: called with the name of the Job.
        """
        given = fill_job({**self._template, "backoffLimit": 0, **template})
        jobs = self.world.adapter(**vars(given))

        def look() -> tuple[Any, ...]:
            seen = self.world.apply(
                by=jobs, cluster_id=cluster_id, project="customer-prod-12345", namespace=PLACE
            )
            result = ClusterResult(cluster_id, "reported", 1, ends=seen.ends, job_created=seen.made)
            self.metrics.count(json.loads(json.dumps(result_document([result], "", "", Calls()))))
            return seen.ends

        assert look() == ()
        meanwhile(f"pullsecret-{cluster_id}-gen1")
        (end,) = wait_until(look, f"the end of the job of {cluster_id}", _LIMIT, 0.5)
        assert look() == ()
        found: dict[str, Any] = end
        return found

    def evict(self, job: str) -> None:
        """Evict the Job's running pod as ``kubectl drain`` does, and let Secret Manager answer the next one."""
        pod = wait_until(lambda: self._running(job), f"a pod of {job} runs", _LIMIT)
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}}
        code, answer = self.world.api.request("POST", f"{_PODS}/{pod}/eviction", body, "application/json")
        assert code == 201, answer
        self.manager.faults.clear()

    def _running(self, job: str) -> str | None:
        _code, found = self.world.api.request("GET", f"{_PODS}?labelSelector=job-name={job}")
        names = [pod["metadata"]["name"] for pod in found["items"] if pod["status"]["phase"] == "Running"]
        return names[0] if names else None


@pytest.fixture
def ends(cluster: ClusterLab) -> Iterator[Ends]:
    state = cluster.hosted
    server = KubernetesEnv(REAL, state.url, state.token, state.viewer_token, state.ca_file)
    with (
        SecretManagerLab(rest_address=cluster.network.host) as manager,
        adapter_namespaces(cluster, manager) as template,
        Api(server) as api,
    ):
        yield Ends(World(api, SYSTEM), manager, template)


def series(metrics: AdapterMetrics) -> dict[str, float]:
    """What the adapter exports of Jobs, in promtool's notation."""
    found = {}
    for family in text_string_to_metric_families(generate_latest(metrics.registry).decode()):
        for sample in family.samples:
            labels = ", ".join(
                f'{key}="{value}"' for key, value in {**sample.labels, **monitoring.NAMES}.items()
            )
            found[f"{sample.name}{{{labels}}}"] = sample.value
    return found


def fired(directory: Path, rules: str, before: dict[str, float], after: dict[str, float]) -> str:
    """What promtool says of a test that expects no alert of Jobs, ten minutes after these ends."""
    (directory / "alerts.yml").write_text(rules)
    document = {
        "rule_files": ["alerts.yml"],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [
                    {"series": name, "values": f"{before.get(name, 0.0)}x2 {value}x20"}
                    for name, value in after.items()
                ],
                "alert_rule_test": [
                    {"alertname": name, "eval_time": "10m", "exp_alerts": []}
                    for name in ("PullSecretJobHighFailureRate", "PullSecretJobSlow")
                ],
            }
        ],
    }
    (directory / "test.yml").write_text(json.dumps(document))
    done = promtool("test", "rules", "test.yml", cwd=directory)
    return done.stdout + done.stderr


@pytest.mark.nightly
def test_five_ways_to_end(ends: Ends, tmp_path: Path) -> None:
    before = series(ends.metrics)

    done = ends.run("done")
    assert done["result"] == "success"
    assert (done["versions_created"], len(done["program_seconds"])) == (1, 1)
    assert done["duration_seconds"] >= done["program_seconds"][0] - 1
    calm = series(ends.metrics)
    rules = monitoring.ALERTS.read_text()
    assert "SUCCESS" in fired(tmp_path, rules, before, calm)

    fault = {"method": "*", "code": "PERMISSION_DENIED"}
    ends.manager.faults.add(**fault)
    exited = ends.run("exited")
    assert (exited["result"], exited["kind"]) == ("failure", "permission_denied")
    assert exited["gcp_api_calls"][0]["status_code"] == "403"

    ends.manager.faults.clear()
    ends.manager.faults.add(method="*", delay=_HANGS)
    late = ends.run("late", activeDeadlineSeconds=10)
    assert (late["result"], late["kind"]) == ("failure", "deadline_exceeded")
    assert 9 <= late["duration_seconds"] <= 60

    memory = {"limits": {"memory": "12Mi"}, "requests": {"memory": "12Mi"}}
    killed = ends.run("killed", resources=memory)
    assert (killed["result"], killed["kind"]) == ("failure", "out_of_memory")
    assert killed["program_seconds"] == []

    evicted = ends.run("evicted", ends.evict)
    assert evicted["result"] == "success"
    # None if the call of the evicted pod took effect after all.
    assert evicted["versions_created"] <= 1

    after = series(ends.metrics)
    names = ", ".join(f'{key}="{value}"' for key, value in monitoring.NAMES.items())
    assert after[f'pullsecret_job_total{{result="success", {names}}}'] == 2
    assert after[f'pullsecret_job_total{{result="failure", {names}}}'] == 3
    for kind in ("deadline_exceeded", "out_of_memory"):
        assert after[f'pullsecret_job_failures_total{{kind="{kind}", phase="other", {names}}}'] == 1
    said = fired(tmp_path, rules, before, after)
    assert "alertname: PullSecretJobHighFailureRate" in said
    assert "alertname: PullSecretJobSlow" not in said
    # The longest Job of this story is shorter than five minutes: the rule sees it with a smaller limit.
    slow = rules.replace("pullsecret_job_duration_seconds > 300", "pullsecret_job_duration_seconds > 8")
    assert "alertname: PullSecretJobSlow" in fired(tmp_path, slow, before, after)
