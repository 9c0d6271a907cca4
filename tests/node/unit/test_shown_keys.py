# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A credential used as the key of an entry, foreign or ours, appears in no result and no warning."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import load
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.outcome import Outcome
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.ledger import (
    Backup,
    Ledger,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.merge import (
    FOREIGN,
    OURS,
    merge_file,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.kubelet_auth_sync import (
    with_layers,
)
from tests.node.unit.support import auth

MINE = load({"auths": {"quay.io": auth("a"), "quay.io/0c4f9a1e77b3d25086a1c4e29b": auth("b")}})


@pytest.mark.parametrize(
    "key", ["robot:CanaryPassw0rd78", "robot@example.com:CanaryPassw0rd78", "quay.io/CanaryPassw0rd78"]
)
@pytest.mark.parametrize("entry", [auth("theirs"), {"auth": "!"}, {"auth": 1e999}])
def test_a_foreign_entry_with_a_credential_as_key(key: str, entry: dict[str, Any]) -> None:
    made = merge_file(json.dumps({"auths": {key: entry}}).encode(), MINE, Ledger(), Backup())
    outcome = Outcome("", "file", before=made.before, after=made.after, provenance=made.provenance)
    printed = f"{made.warnings} {outcome.result(b'key')} {outcome.diff(b'key')} {made.after}"
    assert "Canary" not in printed
    assert "0c4f9a1e77b3d25086a1c4e29b" not in printed


def test_a_layer_is_told_of_the_registry_that_it_brought() -> None:
    """The node numbers the hidden keys of foreign entries; the controller numbers its own."""
    hidden = "entry 2 (quay.io, the rest not shown)"
    result = {"registries": {"ecr.example": FOREIGN, hidden: OURS, "quay.io": OURS}}
    said = {"provenance": {"quay.io": "spec"}, "warnings": (), "conflicts": ()}
    assert with_layers(result, said)["registries"] == {
        "ecr.example": FOREIGN,
        hidden: OURS,
        "quay.io": "spec",
    }


@pytest.mark.parametrize(
    "members",
    [{"credHelpers": {"robot:CanaryPassw0rd78": 7}}, {"CanaryPassw0rd78\n": "\ud800"}],
)
def test_a_credential_as_the_name_of_a_foreign_member(members: dict[str, Any]) -> None:
    made = merge_file(json.dumps({**members, "auths": {}}).encode(), MINE, Ledger(), Backup())
    (warning,) = made.warnings
    assert "removed this field of another program" in warning
    assert "Canary" not in warning
