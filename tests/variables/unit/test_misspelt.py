# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Distinguishes misspelt names of the collection's variables from foreign names."""

from __future__ import annotations

import re

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.cluster import CLUSTER_KEYS
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.misspelt import (
    meant,
    meant_or_cut,
    nearest,
    slip_of,
)
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.clusters import OTHER_WORDS
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.role_options import (
    known_names,
    registered_by,
)
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.templates import is_referred_to
from tests.support import names
from tests.tools.env import ROOT

# The names come from the roles, so that no list repeats them.
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
def test_foreign_variables_are_left_alone(name: str) -> None:
    assert meant(name, KNOWN) is None


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("provision_retries", "provision_retry"),
        ("provision_retyr", "provision_retry"),
        ("provision_api_timeut", "provision_api_timeout"),
        ("provision_apitimeout", "provision_api_timeout"),
        ("hosted_clusters_retry", "hosted_cluster_retry"),
        ("node-source", "node_source"),
        ("managment_context", "management_context"),
        ("clusters_dirs", "clusters_dir"),
    ],
)
def test_a_slip_that_nobody_addressed_differs_in_one_letter_an_underscore_or_a_plural(
    name: str, wanted: str
) -> None:
    assert slip_of(name, [*KNOWN, *_OWN]) == wanted


@pytest.mark.parametrize(
    "name",
    [
        *("node_status", "node_labels", "node_name", "node_role", "node_port", "nodes"),
        *(
            "provision_registry",
            "provision_user",
            "hosted_cluster_role",
            "hosted_cluster_name",
            "adapter_name",
        ),
        *(
            "stage",
            "label",
            "sources",
            "layer",
            "want",
            "restarts",
            "clusters_by_region",
            "ansible_node_source",
        ),
        *("management_contexts_path", "cluster_ids", "manegmnt_contxt"),
    ],
)
def test_what_nobody_addressed_and_is_only_near_is_left_alone(name: str) -> None:
    assert slip_of(name, [*KNOWN, *_OWN]) is None


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("adpot", "adopt"),
        ("soruce", "source"),
        ("precedenc", "precedence"),
        ("gcp_project", "gcp_project_id"),
        ("restore", "restore_version"),
        ("project", "gcp_project_id"),
        ("kubeconfig", "management_kubeconfig"),
        ("managment_context", "management_context"),
        # Other words, parts of several names, and common names.
        *((name, None) for name in ("stage", "cluster", "secrets", "name", "version", "env", "state")),
    ],
)
def test_a_name_given_to_a_playbook_may_be_cut_or_the_modules(name: str, wanted: str | None) -> None:
    assert meant_or_cut(name, CLUSTER_KEYS, OTHER_WORDS) == wanted


def test_a_name_of_any_playbook_or_role_is_known() -> None:
    assert {*KNOWN, *_OWN} <= known_names()
    assert {"cluster_id", "cluster_ids", "node_hosts", "job_retry"} <= known_names()
    # No other name is known, because a known name is never refused as misspelt.
    assert known_names() == {*KNOWN, *_OWN}


@pytest.mark.parametrize("role", names.ROLES)
def test_a_roles_results_are_no_slips(role: str) -> None:
    """``adapter_result`` and ``node_restarted`` exist when a role is used a second time."""
    paths = (ROOT / "roles" / role).rglob("*.yml")
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
