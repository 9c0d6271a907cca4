# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A docker config pasted into any option of any module is never shown."""

from __future__ import annotations

import importlib
import json
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import whole_spec
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.options import (
    document_options,
    run_options,
)
from tests.secrecy.watcher import Watcher
from tests.secrecy.world import World, as_lines, one_task
from tests.support.nightly import some
from tests.support.secrecy.labs import MANAGED, PROJECT, Labs
from tests.support.secrecy.misplacements import TEXTS, misplaced

_TASKS = "ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks"
_GOOD = {"auths": {"quay.io": {"auth": "ZXhhbXBsZTpleGFtcGxl"}}}
_BASE = {
    "gcp_pull_secret": {"project": PROJECT, "secret": "there"},
    "k8s_pull_secret": {"namespace": MANAGED, "name": "there"},
    "pull_secret_info": {"project": PROJECT, "secret": "there", "namespace": MANAGED, "name": "there"},
    "dockerconfig_merge": {},
    "kubelet_auth_sync": {"path": "/nowhere/config.json", "restart": "never"},
    "hosted_cluster_pull_secret": {"cluster_id": "cls-1", "control_plane_namespace": MANAGED},
}
# Modules for which the test also tries the options that many modules share.
_WHOLE = ("gcp_pull_secret", "pull_secret_info", "kubelet_auth_sync")


def _spec(module: str) -> dict[str, Any]:
    task = importlib.import_module(f"{_TASKS}.{module}")
    whole = task.spec() if hasattr(task, "spec") else whole_spec(task.target_options)
    shared = {} if module in _WHOLE else {**document_options(), **run_options()}
    return {name: option for name, option in whole.items() if name not in shared}


@pytest.mark.parametrize("module", some(_BASE, "k8s_pull_secret"))
@pytest.mark.nightly
def test_a_misplaced_docker_config_shows_nowhere(watcher: Watcher, labs: Labs, module: str) -> None:
    good = watcher.inputs / "good.json"
    good.write_text(json.dumps(_GOOD))
    world, spec, cases = World(watcher, labs), _spec(module), {}
    source = {} if module == "hosted_cluster_pull_secret" else {"source": {"file": str(good)}}
    for index, (where, _options) in enumerate(misplaced(spec, "", {"auths": {"r0.example": {}}})):
        form = list(TEXTS)[index % len(TEXTS)]
        canary = world.canary(f"{module}: {form} as {where}")
        placed = dict(misplaced(spec, TEXTS[form](canary), canary.document))[where]
        options = {**_BASE[module], **labs.options(), **source, **placed}
        cases[canary.name] = {name: value for name, value in options.items() if value is not None}
    tasks = [one_task(name, module, {}, args="{{ cases[name] }}", vars={"name": name}) for name in cases]
    recording = watcher.play(tasks, {"cases": cases}, options=["-vvvv", "--diff"])
    assert set(recording.results) == set(cases)
    leaks = world.leaks(recording)
    assert leaks == [], as_lines(leaks)
