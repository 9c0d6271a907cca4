# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A docker config pasted into any option of any module shows nowhere."""

from __future__ import annotations

import json

import pytest

from tests.secrecy.watcher import Watcher
from tests.support.exhaustive import some
from tests.support.secrecy.canary import Canary
from tests.support.secrecy.labs import MANAGED, PROJECT, Labs
from tests.support.secrecy.misplacements import TEXTS, misplaced
from tests.support.secrecy.needles import Needles

_COLLECTION = "hyperfleet.pull_secret"
_GOOD = {"auths": {"quay.io": {"auth": "ZXhhbXBsZTpleGFtcGxl"}}}
_BASE = {
    "gcp_pull_secret": {"project": PROJECT, "secret": "there"},
    "k8s_pull_secret": {"namespace": MANAGED, "name": "there"},
    "pull_secret_info": {"project": PROJECT, "secret": "there", "namespace": MANAGED, "name": "there"},
    "dockerconfig_merge": {},
    "kubelet_auth_sync": {"path": "/nowhere/config.json", "restart": "never"},
}


@pytest.mark.parametrize("module", some(_BASE, "k8s_pull_secret"))
def test_a_misplaced_docker_config_shows_nowhere(watcher: Watcher, labs: Labs, module: str) -> None:
    good = watcher.inputs / "good.json"
    good.write_text(json.dumps(_GOOD))
    tasks, canaries, cases = [], [], {}
    forms = list(TEXTS)
    for index, (where, _options) in enumerate(misplaced(module, "", {"auths": {}})):
        form = forms[index % len(forms)]
        canary = Canary.make(f"{module}: {form} as {where}")
        placed = dict(misplaced(module, TEXTS[form](canary), canary.document))[where]
        options = {**_BASE[module], **labs.options(), "source": {"file": str(good)}, **placed}
        cases[canary.name] = {name: value for name, value in options.items() if value is not None}
        canaries.append(canary)
        tasks.append(
            {
                "name": canary.name,
                f"{_COLLECTION}.{module}": "{{ cases[name] }}",
                "vars": {"name": canary.name},
                "ignore_errors": True,
            }
        )
    recording = watcher.play(tasks, {"cases": cases}, options=["-vvvv", "--diff"])
    assert set(recording.results) == set(cases)
    leaks = Needles(canaries).leaks([*recording.evidence, *labs.logs()])
    assert leaks == [], "\n" + "\n".join(map(str, leaks))
