# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Values in YAML that JSON does not have: dates and vaulted strings."""

from __future__ import annotations

import textwrap

import pytest
from ansible.parsing.vault import VaultLib, VaultSecret

from tests.support.nightly import some
from tests.support.processes import Finished
from tests.variables.integration.world import World

_PASSWORD = "example-vault-password"
_QUOTES = "is a date; put it in quotes"


def _run(world: World, playbook: str, text: str, *without: str) -> Finished:
    """Run the playbook with its usual variables and a YAML file of these, which may have vaulted values."""
    password, extra = world.directory / "password", world.directory / "extra.yml"
    password.write_text(_PASSWORD)
    extra.write_text(text)
    usual = {name: value for name, value in world.usual[playbook].items() if name not in without}
    flags = ["-i", str(world.inventory), "-e", f"@{extra}", "--vault-password-file", str(password)]
    return world.ansible.playbook(f"hyperfleet.pull_secret.{playbook}", usual, flags=flags)


def _vaulted(text: str, *, damaged: bool = False) -> str:
    lines = VaultLib([("default", VaultSecret(_PASSWORD.encode()))]).encrypt(text).decode().splitlines()
    if damaged:
        lines[1] = f"0{lines[1][1:]}"
    return "!vault |\n" + textwrap.indent("\n".join(lines), " " * 8) + "\n"


@pytest.mark.parametrize(
    ("playbook", "text", "said"),
    some(
        [
            ("provision", "management_context: 2026-01-02", "management_context"),
            ("provision", "labels: {made: 2026-01-02}", "labels.made"),
            ("provision", "provision_gcp: {endpoint: 2026-01-02}", "provision_gcp.endpoint"),
            ("hosted_cluster", "hosted_context: 2026-01-02", "hosted_context"),
            ("adapter", "events: [{id: cls-1, time: 2026-01-02}]", "events.0.time"),
            ("adapter", "adapter_overrides: {a: .inf}", ""),
            ("node", "node_drop: [2026-01-02]", "node_drop.0"),
            (
                "provision",
                "clusters: [{cluster_id: cls-1, labels: {made: 2026-01-02}}]",
                "clusters.0.labels.made",
            ),
            (
                "provision",
                "layers: [{inline: {auths: {a: 2026-01-02}}}]",
                "layers.0.inline.(not shown).(not shown)",
            ),
            ("provision", "provision_clusters: [{2026-01-02: a}]", "a key of provision_clusters.0"),
        ],
        ("provision", "labels: {made: 2026-01-02}", "labels.made"),
        ("adapter", "events: [{id: cls-1, time: 2026-01-02}]", "events.0.time"),
        (
            "provision",
            "clusters: [{cluster_id: cls-1, labels: {made: 2026-01-02}}]",
            "clusters.0.labels.made",
        ),
    ),
)
@pytest.mark.nightly
def test_a_date_in_a_variable_is_refused_by_its_path(
    world: World, playbook: str, text: str, said: str
) -> None:
    finished = _run(world, playbook, text)
    assert finished.code != 0
    assert (f"{said} {_QUOTES}" if said else "adapter_overrides.a is not a finite number") in str(
        finished.result["msg"]
    )
    assert world.nothing_was_reached()


@pytest.mark.parametrize(
    ("playbook", "name", "text"),
    some(
        [
            ("provision", "management_context", "management_context: %s"),
            ("provision", "provision_gcp", "provision_gcp:\n  endpoint: %s"),
            ("provision", "labels", "labels:\n  a: %s"),
            ("node", "node_digest_key", "node_digest_key: %s"),
            ("adapter", "adapter_run", "adapter_run: %s"),
        ],
        ("provision", "provision_gcp", "provision_gcp:\n  endpoint: %s"),
    ),
)
@pytest.mark.cores
def test_a_vaulted_value_that_cannot_be_decrypted_is_refused(
    world: World, playbook: str, name: str, text: str
) -> None:
    finished = _run(world, playbook, text % _vaulted("example-text", damaged=True))
    assert finished.code != 0
    assert finished.result["msg"].startswith(f"{name}: a vaulted value in it cannot be decrypted")
    assert finished.tasks[-1].action.endswith("check_variables")
    assert world.nothing_was_reached()


@pytest.mark.nightly
def test_a_vaulted_value_is_a_value(world: World) -> None:
    """ansible-core 2.18 does not convert it to a string."""
    finished = _run(
        world,
        "node",
        "node_digest_key: " + _vaulted("example-key" * 4) + "node_unit: " + _vaulted("kubelet.service"),
    )
    assert finished.code == 0, finished.output
