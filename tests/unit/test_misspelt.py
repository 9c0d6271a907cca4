# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which names are slips of the collection's variables, and which are other people's."""

from __future__ import annotations

import re

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.misspelt import (
    is_referred_to,
    meant,
    nearest,
)
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.role_options import registered_by
from tests.integration.variables import names

# Read from the roles: what is known must not be listed twice.
KNOWN = {name: role for role in names.ROLES for name in names.role_options(role)}
_OWN = [name for playbook in names.PLAYBOOKS for name in names.own(playbook)]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("provison_retry", "provision_retry"),
        ("provision_retries", "provision_retry"),
        ("provision_retires", "provision_retry"),
        ("provision_api_timeut", "provision_api_timeout"),
        ("provision_apitimeout", "provision_api_timeout"),
        ("provision-retry", "provision_retry"),
        ("Provision_Retry", "provision_retry"),
        ("hosted_clusters_retry", "hosted_cluster_retry"),
        ("node_sources", "node_source"),
        ("adapter_timeouts", "adapter_timeout"),
    ],
)
def test_a_slip_is_told_from_what_was_meant(name: str, wanted: str) -> None:
    assert meant(name, KNOWN) == wanted


@pytest.mark.parametrize(
    "name",
    [
        "node_exporter_version",
        "node_labels",
        "node_name",
        "node_port",
        "node_role",
        "node_taints",
        "node_pool",
        "node_version",
        "nodes",
        "adapter_config_map",
        "adapter_image",
        "adapter_name",
        "provision_host",
        "provision_user",
        "provision_vm_size",
        "hosted_cluster_name",
        "hosted_cluster_namespace",
        "hosted_cluster_domain",
        "hosted_clusters_file",
        "adapter_playbook",
        "adapter_run_dir",
        "adapter_start_timeout",
        "adapter_tries",
        "hosted_cluster_playbook",
        "ansible_node_source",
        "awx_node_sources",
    ],
)
def test_variables_of_others_are_left_alone(name: str) -> None:
    assert meant(name, KNOWN) is None


def test_no_known_name_is_a_slip_of_another() -> None:
    for role in names.ROLES:
        mine = names.role_options(role)
        assert [name for name in {*KNOWN, *_OWN} if name not in mine and meant(name, mine)] == []


@pytest.mark.parametrize("role", names.ROLES)
def test_a_roles_results_are_no_slips(role: str) -> None:
    """``adapter_result`` and ``node_restarted`` are there when a role is used a second time."""
    paths = (names.ROOT / "roles" / role).rglob("*.yml")
    registered = {name for path in paths for name in re.findall(r"register: (\w+)", path.read_text())}
    assert registered == registered_by(role)
    assert registered


def test_the_nearest_is_named_even_if_it_is_far() -> None:
    assert nearest("provision_max_retry_delay", names.role_options("provision")) in KNOWN


def test_a_variable_that_another_one_reads_has_an_effect() -> None:
    variables = {"node_sources": "a", "node_source": {"file": ["{{ node_sources }}/b"]}, "text": "node_paths"}
    assert is_referred_to("node_sources", variables)
    assert not is_referred_to("node_paths", variables)
    assert not is_referred_to("node_source", variables)
