# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The name of a target in results."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import (
    gcp_pull_secret,
    hosted_cluster_pull_secret,
    k8s_pull_secret,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.options import resolve_targets
from tests.support.kubernetes.running import run_task

PASTED = [
    json.dumps({"auths": {"quay.io": {"auth": "ZXhhbXBsZTpleGFtcGxlLXBhc3N3b3Jk"}}}),
    "ZXhhbXBsZTpleGFtcGxlLXBhc3N3b3Jk",
    "red \x1b[31m",
    "x" * 300,
]


@pytest.mark.parametrize("pasted", PASTED)
@pytest.mark.parametrize("option", ["id", "cluster_id"])
@pytest.mark.parametrize("task", [gcp_pull_secret, hosted_cluster_pull_secret, k8s_pull_secret])
def test_what_was_pasted_as_an_id_is_not_shown(task: Any, option: str, pasted: str) -> None:
    (target,) = run_task(task, {"targets": [{option: pasted}]})["targets"]
    assert target["failed"]
    assert target["id"] == "(not shown)"
    assert pasted not in json.dumps(target)


def test_nor_is_it_where_two_are_the_same() -> None:
    targets = [{"cluster_id": PASTED[0]}, {"cluster_id": PASTED[0]}]
    with pytest.raises(ConfigurationError) as caught:
        resolve_targets({"targets": targets}, ["cluster_id"])
    assert str(caught.value) == "targets 1 and 2 have the same id (not shown)"
