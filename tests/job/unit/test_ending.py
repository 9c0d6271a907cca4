# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The termination message and the exit code."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.cluster import Cluster
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.job.ending import (
    LARGEST,
    exit_code,
    outcome,
    written,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.programs.job.work import (
    GCP,
    KUBERNETES,
    Ended,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.provision.environment import (
    JobSettings,
)
from tests.support.nightly import some

CLUSTER = Cluster(
    cluster_id="cls-1",
    cluster_name="one",
    gcp_project_id="customer-prod-12345",
    secret_name="hyperfleet-cls-1-pull-secret",
    management_namespace="clusters-cls-1",
    k8s_secret_name="cls-1-pull-secret",
)
SETTINGS = JobSettings(CLUSTER)


def calls(number: int) -> list[dict[str, Any]]:
    return [
        {"operation": f"operation_{index}", "status_code": "200", "count": index + 1, "seconds": 0.1}
        for index in range(number)
    ]


def test_a_success_names_what_there_is_now() -> None:
    ended = Ended(SETTINGS, phase=KUBERNETES, changed=True, version="3", versions=1)
    assert exit_code(ended) == 0
    assert outcome(ended, 1.23456, calls(1), []) == {
        "result": "success",
        "message": "Pull secret provisioned",
        "phase": "k8s-secret",
        "version": "3",
        "secret": "projects/customer-prod-12345/secrets/hyperfleet-cls-1-pull-secret",
        "management_secret": {"namespace": "clusters-cls-1", "name": "cls-1-pull-secret"},
        "changed": True,
        "versions_created": 1,
        "duration_seconds": 1.235,
        "gcp_api_calls": calls(1),
        "k8s_api_calls": [],
    }


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("configuration", 2),
        ("invalid_document", 2),
        ("ownership", 2),
        ("permission_denied", 1),
        ("unavailable", 1),
        ("dependency", 1),
        ("verification", 1),
        ("internal", 1),
        ("stopped", 1),
    ],
)
def test_what_no_other_try_mends_has_a_code_of_its_own(kind: str, code: int) -> None:
    ended = Ended(SETTINGS, "why", kind, GCP)
    assert exit_code(ended) == code
    said = outcome(ended, 0)
    assert (said["result"], said["kind"], said["message"]) == ("failure", kind, "why")


def test_unchecked_names_are_not_reported() -> None:
    said = outcome(Ended(SETTINGS, "SECRET_NAME is none", "configuration"), 0)
    assert "customer-prod-12345" not in json.dumps(said)
    assert "phase" not in said


@pytest.mark.parametrize("text", ["m", "\U0001f511", "\udc80", '"'])
def test_it_fits_whatever_it_has_to_say(text: str) -> None:
    ended = Ended(SETTINGS, text * 5000, "unavailable", GCP)
    data = written(outcome(ended, 1, calls(60), calls(60)))
    assert len(data) <= LARGEST
    said = json.loads(data)
    assert said["secret"].endswith("hyperfleet-cls-1-pull-secret")
    assert 1 < len(said["message"]) <= 1000
    assert said["calls_left_out"] is True


def test_the_most_frequent_calls_are_left_out_last() -> None:
    said = json.loads(written(outcome(Ended(SETTINGS, phase=GCP), 1, calls(3), calls(60))))
    assert said["gcp_api_calls"] == calls(3)
    assert 0 < len(said["k8s_api_calls"]) < 60
    assert said["k8s_api_calls"][-1]["count"] == 60


def test_the_few_calls_of_one_place_do_not_go_for_the_many_of_the_other() -> None:
    said = json.loads(written(outcome(Ended(SETTINGS, phase=KUBERNETES), 1, calls(64), calls(3))))
    assert said["k8s_api_calls"] == calls(3)
    assert 0 < len(said["gcp_api_calls"]) < 64


@pytest.mark.parametrize("length", [500, 2000, 100_000])
@pytest.mark.parametrize("letter", some(["m", "\u00e9", "\x1b"], "\x1b"))
def test_it_fits_whatever_the_names_are(length: int, letter: str) -> None:
    name = letter * length
    cluster = dataclasses.replace(
        CLUSTER, gcp_project_id=name, secret_name=name, management_namespace=name, k8s_secret_name=name
    )
    ended = Ended(JobSettings(cluster), letter * 5000, "unavailable", KUBERNETES, version=name)
    data = written(outcome(ended, 1, calls(64), calls(64)))
    assert len(data) <= LARGEST
    said = json.loads(data)
    assert (said["result"], said["kind"], said["phase"]) == ("failure", "unavailable", "k8s-secret")
    assert len(said["message"]) >= 200


def test_what_fits_is_left_as_it_is() -> None:
    said = outcome(Ended(SETTINGS, phase=KUBERNETES, version="1"), 1, calls(4), calls(3))
    assert json.loads(written(said)) == said
