# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the owner of an additional secret is told, where the stand-in's API server would refuse the Secret."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import sensitive_forms
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.outcome import Outcome
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.hosted_cluster.cluster import (
    HostedCluster,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.hosted_cluster.deployment import (
    ExistingObjects,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.hosted_cluster.merge_decider import (
    MergeDecider,
)
from tests.support.docker_configs import KEY, auth, docker_config, encoded

WRAPPED = json.dumps({"pullSecret": json.dumps(docker_config(quay_io="tenant"))})


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({KEY: "{}"}, f"key {KEY} is not base64"),
        ({".dockercfg": "{}"}, "key .dockercfg is not base64"),
        ({"a": "e30="}, f"the secret has no key {KEY} (it has a); correct the key, or add it to the secret"),
        ({KEY: encoded(WRAPPED)}, "a docker config is inside of it; write the docker config alone"),
        (
            {KEY: encoded('{"apiVersion":"v1","kind":"Secret"}')},
            f"the secret's manifest has no key {KEY}; its keys: none; add the key",
        ),
    ],
)
def test_the_problem_of_an_additional_secret(data: dict[str, Any], problem: str) -> None:
    original = json.dumps(docker_config(quay_io="original")).encode()
    plane: Any = SimpleNamespace(original=lambda: (original, "kubernetes:a/b"))
    seen: list[bytes] = []
    decider = MergeDecider(HostedCluster("cls-1"), plane, Outcome("cls-1", "a"), seen)
    decision = decider.decide({"data": data}, ExistingObjects({}, {}))
    assert decision is not None
    assert (decision.state, decision.problem) == ("invalid", problem)
    secrets = {auth("original"), *([encoded(WRAPPED)] if encoded(WRAPPED) in data.values() else [])}
    assert secrets <= set().union(*map(sensitive_forms, seen))
