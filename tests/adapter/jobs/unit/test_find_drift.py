# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How a management Secret differs from the stored document."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import load
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.naming import LAST_APPLIED
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.adapter.jobs.drift import (
    find_drift,
)
from tests.support.adapter_jobs.world import CANARY, DOCUMENT, order

USER = '{"auths":{"quay.io":{"username":"u","password":"p"}}}'
LABELS = {"managed-by": "hyperfleet", "cluster-id": "c-1"}


def secret(value: str | bytes = DOCUMENT, **changes: Any) -> dict[str, Any]:
    data = base64.b64encode(value.encode() if isinstance(value, str) else value).decode()
    return {
        "metadata": {"labels": {**LABELS, "team": "a"}, **changes.pop("metadata", {})},
        "type": "kubernetes.io/dockerconfigjson",
        "data": {".dockerconfigjson": data, "other": "eA=="},
        **changes,
    }


@pytest.mark.parametrize(
    ("value", "document"),
    [
        (DOCUMENT, DOCUMENT),
        (json.dumps(json.loads(DOCUMENT), indent=1), DOCUMENT),
        # The job writes the canonical form of a document.
        (load(USER).canonical().decode(), USER),
    ],
)
def test_the_same_meaning_is_no_drift(value: str, document: str) -> None:
    assert find_drift(secret(value), order(), document.encode()) is None


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (None, "ManagementSecretMissing"),
        (secret(metadata={"deletionTimestamp": "2026-01-02T03:04:05Z"}), "ManagementSecretMissing"),
        (secret(metadata={"labels": {}}), "ManagementSecretChanged"),
        (secret(metadata={"labels": {**LABELS, "cluster-id": CANARY}}), "ManagementSecretChanged"),
        (secret(metadata={"annotations": {LAST_APPLIED: CANARY}}), "ManagementSecretChanged"),
        (secret(type="Opaque"), "ManagementSecretChanged"),
        (secret(data=None), "ManagementSecretChanged"),
        (secret(data={".dockerconfigjson": "%"}), "ManagementSecretChanged"),
        (secret(data={".dockerconfigjson": 7}), "ManagementSecretChanged"),
        (secret('{"auths":{}}'), "ManagementSecretChanged"),
        (secret(DOCUMENT.replace("quay.io", "q.io")), "ManagementSecretChanged"),
        (secret(b"\xff\xfe"), "ManagementSecretChanged"),
        (secret("[" * 100_000), "ManagementSecretChanged"),
        (secret(CANARY), "ManagementSecretChanged"),
    ],
)
def test_a_difference_is_described_without_a_value(found: Any, reason: str) -> None:
    drift = find_drift(found, order(), DOCUMENT.encode())
    assert drift is not None
    assert drift[0] == reason
    assert drift[1].startswith("namespaces/clusters-c-1/secrets/c-1-pull-secret ")
    assert CANARY not in drift[1]
