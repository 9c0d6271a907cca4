# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The stand-in ``Finisher`` ends Jobs without a test's help."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.client import (
    KubernetesClients,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import Deadline
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.run_settings import RunSettings
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.jobs.jobs import Jobs
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.model import Observed
from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.kubernetes.finishing import Finisher
from tests.support.adapter_jobs.world import DOCUMENT, FAILURE, SUCCESS, config, order


@pytest.fixture
def lab() -> Iterator[KubernetesLab]:
    with KubernetesLab() as lab:
        yield lab


def ended(jobs: Jobs, cluster_id: str) -> Observed:
    deadline = Deadline(20)
    while True:
        seen = jobs.apply(order(cluster_id=cluster_id), DOCUMENT.encode(), deadline)
        if seen.state in ("succeeded", "failed"):
            return seen
        assert seen.state in ("created", "pending", "running")


def test_jobs_end_with_the_given_result(lab: KubernetesLab) -> None:
    settings = RunSettings(connections={"kubernetes": {"host": lab.url, "api_key": lab.admin_token}})
    client = KubernetesClients(settings).get(Deadline(20))
    jobs = Jobs(client, config("default", backoff_limit=0))

    def ending(job: dict[str, dict[str, str]]) -> str | tuple[str, int]:
        return (json.dumps(FAILURE), 1) if "c-2" in job["metadata"]["name"] else json.dumps(SUCCESS)

    with Finisher(lab.store, ending):
        first, second = ended(jobs, "c-1"), ended(jobs, "c-2")
    assert (first.state, first.result) == ("succeeded", SUCCESS)
    assert (second.state, second.reason) == ("failed", "PermissionDenied")
    # The finisher has stopped: no Job ends any more.
    assert jobs.apply(order(cluster_id="c-3"), DOCUMENT.encode(), Deadline(20)).state == "created"
    assert jobs.apply(order(cluster_id="c-3"), DOCUMENT.encode(), Deadline(20)).state == "pending"
