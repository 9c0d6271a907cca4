# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Entries that kubelet reads, but with which a pull probably fails."""

from __future__ import annotations

import json

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import load
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.kubelet_auth_sync import (
    with_layers,
)
from tests.node.unit.support import Place, auth, config
from tests.support.docker_configs import encoded


def test_a_foreign_one_stays_and_is_listed_with_its_warning(place: Place) -> None:
    theirs = {"auth": encoded("user:example-password\n")}
    place.put({"auths": {"ecr.example": theirs}})
    result = place.sync().apply(config(quay_io="new"))
    assert json.loads(place.path.read_bytes())["auths"]["ecr.example"] == theirs
    assert result.provenance == {"ecr.example": "node", "quay.io": "pull secret"}
    (warning,) = result.warnings
    assert warning.startswith("ecr.example: ")
    assert warning.endswith("[trailing-newline]")


def test_ours_does_not_displace_a_foreign_one_that_works(place: Place) -> None:
    theirs = auth("theirs")
    place.put({"auths": {"quay.io": theirs}})
    ours = load({"auths": {"quay.io": {"auth": encoded("user:")}, "a.example": auth("ours")}})
    result = place.sync().apply(ours)
    assert json.loads(place.path.read_bytes())["auths"] == {
        "quay.io": theirs,
        "a.example": auth("ours"),
    }
    assert result.warnings == [
        "quay.io: the node's own entry stays, because the user name or password of the pull secret's entry is empty"
    ]
    shown = with_layers(
        {"registries": dict(result.provenance)},
        {"provenance": {"quay.io": "team", "a.example": "team"}, "warnings": [], "conflicts": []},
    )
    assert shown["registries"] == {"quay.io": "node", "a.example": "team"}
    assert place.sync().apply(ours).actions == []
    # Once ours works, it replaces the foreign one, and that returns when ours no longer works.
    place.sync().apply(config(quay_io="new"))
    assert json.loads(place.path.read_bytes())["auths"] == {"quay.io": config(quay_io="new").auths["quay.io"]}
    place.sync().apply(ours)
    assert json.loads(place.path.read_bytes())["auths"] == {
        "quay.io": theirs,
        "a.example": auth("ours"),
    }


def test_another_spelling_of_ours_that_works_displaces_a_foreign_one(place: Place) -> None:
    place.put({"auths": {"quay.io": auth("theirs")}})
    ours = load({"auths": {"quay.io": {"auth": encoded("user:")}, "https://quay.io": auth("ours")}})
    result = place.sync().apply(ours)
    assert json.loads(place.path.read_bytes())["auths"] == {"https://quay.io": auth("ours")}
    assert result.warnings == []
