# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From clusters to targets, and from results to the summary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.errors import AnsibleLookupError

from ansible_collections.hyperfleet.pull_secret.plugins.lookup.cluster_variables import LookupModule
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.cluster import CLUSTER_KEYS
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import (
    gcp_pull_secret,
    k8s_pull_secret,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.options import with_targets
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.problems import ClusterError
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.provision import (
    gcp_targets,
    kubernetes_targets,
    summary_rows,
)

CLUSTER: dict[str, Any] = {
    "cluster_id": "cls-1",
    "cluster_name": "one",
    "gcp_project_id": "customer-prod-12345",
    "management_namespace": "clusters-cls-1",
}
PLACE = "projects/customer-prod-12345/secrets/hyperfleet-cls-1-pull-secret"
STORED: dict[str, Any] = {"targets": [{"id": "cls-1", "place": PLACE, "version": "4", "changed": False}]}


@pytest.mark.parametrize(
    "stored",
    [
        *("x", 7, None, [], {"targets": "x"}, {"targets": [None]}, {"targets": [{"id": "cls-1"}]}),
    ],
)
def test_what_is_no_result_of_a_module_is_refused(stored: Any) -> None:
    with pytest.raises(ClusterError, match="must be the registered result of a module"):
        kubernetes_targets([CLUSTER], stored)


def test_a_report_refuses_what_it_could_not_show() -> None:
    wrong = {"targets": [{"id": "cls-1", "place": PLACE, "actions": [{"a": "b"}]}]}
    with pytest.raises(ClusterError, match="placed must be the registered result of a module"):
        summary_rows([CLUSTER], STORED, wrong)


def test_a_cluster_becomes_a_target_of_secret_manager() -> None:
    assert gcp_targets([CLUSTER]) == [
        {
            "id": "cls-1",
            "cluster_id": "cls-1",
            "cluster_name": "one",
            "project": "customer-prod-12345",
            "source": {"hyperfleet": {"cluster_id": "cls-1"}},
        }
    ]


def test_a_cluster_becomes_a_target_of_kubernetes_that_reads_the_stored_version() -> None:
    assert kubernetes_targets([CLUSTER], STORED) == [
        {
            "id": "cls-1",
            "cluster_id": "cls-1",
            "cluster_name": "one",
            "namespace": "clusters-cls-1",
            "gcp_secret_path": f"{PLACE}/versions/latest",
            "source": {
                "gcp": {
                    "project": "customer-prod-12345",
                    "secret": "hyperfleet-cls-1-pull-secret",
                    "version": "4",
                }
            },
        }
    ]


# Each value contains the name of its key, where the key's type and rules allow it.
FULL: dict[str, Any] = {
    **{key: f"value-of-{key.replace('_', '-')}" for key in CLUSTER_KEYS},
    "cluster_id": "cls-1",
    "gcp_project_id": "customer-prod-12345",
    "state": "present",
    "labels": {"key": "value-of-labels"},
    "annotations": {"key": "value-of-annotations"},
    "replication_policy": "user_managed",
    "replication_locations": ["value-of-replication-locations"],
    "kms_key": "projects/p/locations/global/keyRings/r/cryptoKeys/value-of-kms-key",
    "location_kms_keys": {
        "value-of-replication-locations": (
            "projects/p/locations/value-of-replication-locations/keyRings/r/cryptoKeys/"
            "value-of-location-kms-keys"
        )
    },
    "retention": {"keep": 7},
    "restore_version": "12",
    "adopt": True,
    "k8s_immutable": False,
    "service_accounts": ["value-of-service-accounts"],
    "layers": [{"name": "value-of-layers", "source": {"env": "A"}}],
    "precedence": "original",
    "policy": {"quay.io": "value-of-policy"},
    "drop": ["value-of-drop"],
    "strict": True,
}


def test_every_key_of_a_cluster_reaches_an_option_that_a_module_has() -> None:
    reached: set[str] = set()
    # Some keys exclude each other, so three clusters cover all keys.
    for without in ({"source", "restore_version", "kms_key"}, {"layers"}, {"source", "layers"}):
        full = {key: value for key, value in FULL.items() if key not in without}
        if "kms_key" in full:
            full.update(replication_policy=None, replication_locations=None, location_kms_keys=None)
        if "source" in full:
            full.update(source={"env": "value-of-source"}, restore_version=None)
        one, two = gcp_targets([full])[0], kubernetes_targets([full], STORED)[0]
        assert one["strict"] is True
        for target, task in ((one, gcp_pull_secret), (two, k8s_pull_secret)):
            known = with_targets(task.target_options())["targets"]["options"]
            assert set(target) <= set(known)
        told = f"{one.values()} {two.values()}"
        reached |= {key for key in full if f"value-of-{key.replace('_', '-')}" in told}
        reached |= {key for key in full if full[key] in [*one.values(), *two.values()]}
    assert reached == CLUSTER_KEYS


def test_impersonation_is_used_for_writing_and_for_reading_back() -> None:
    cluster = {**CLUSTER, "impersonate_service_account": "adapter@example.com"}
    assert gcp_targets([cluster])[0]["impersonate_service_account"] == "adapter@example.com"
    (target,) = kubernetes_targets([cluster], STORED)
    assert target["source"]["gcp"]["impersonate_service_account"] == "adapter@example.com"


@pytest.mark.parametrize(
    "given",
    [
        {"source": {"env": "A"}},
        {"layers": [{"name": "a", "source": {"env": "A"}}], "policy": {"q": "a"}},
    ],
)
def test_a_source_of_its_own(given: dict[str, Any]) -> None:
    (target,) = gcp_targets([{**CLUSTER, **given}])
    assert {key: target[key] for key in given} == given
    assert "hyperfleet" not in str(target.get("source"))


@pytest.mark.parametrize("empty", [None, ""])
def test_an_empty_value_says_nothing(empty: Any) -> None:
    full = {**dict.fromkeys(CLUSTER_KEYS, empty), **CLUSTER}
    assert gcp_targets([full]) == gcp_targets([CLUSTER])
    assert kubernetes_targets([full], STORED) == kubernetes_targets([CLUSTER], STORED)


def test_false_is_a_value() -> None:
    (target,) = kubernetes_targets([{**CLUSTER, "k8s_immutable": False}], STORED)
    assert target["immutable"] is False


def test_a_source_beside_a_version_to_restore_is_there_to_be_compared() -> None:
    (target,) = gcp_targets([{**CLUSTER, "restore_version": "2", "source": {"env": "A"}}])
    assert (target["restore_version"], target["source"]) == ("2", {"env": "A"})


def test_no_source_is_made_up_to_be_compared() -> None:
    (target,) = gcp_targets([{**CLUSTER, "restore_version": "2"}])
    assert "source" not in target


def test_absent_needs_no_source() -> None:
    cluster = {**CLUSTER, "state": "absent"}
    assert "source" not in gcp_targets([cluster])[0]
    (target,) = kubernetes_targets([cluster], STORED)
    assert target["state"] == "absent"
    assert "source" not in target
    assert "gcp_secret_path" not in target


@pytest.mark.parametrize("known", [{}, {"version": "4"}])
def test_check_mode_reads_what_is_not_stored_yet_at_its_source(known: dict[str, str]) -> None:
    """A version that was not written has no number, so check mode cannot read it."""
    stored = {"targets": [{"id": "cls-1", "place": PLACE, "changed": True, **known}]}
    (target,) = kubernetes_targets([CLUSTER], stored)
    assert list(target["source"]) == (["gcp"] if known else ["hyperfleet"])


def test_what_could_not_be_stored_is_not_placed() -> None:
    failed = {"targets": [{"id": "cls-1", "place": PLACE, "failed": True}]}
    assert kubernetes_targets([CLUSTER], failed) == []
    assert kubernetes_targets([CLUSTER], {"msg": "it ended early"}) == []


def row(stored: dict[str, Any], placed: dict[str, Any]) -> dict[str, Any]:
    (found,) = summary_rows([CLUSTER], stored, placed)
    return found


def test_a_row_of_a_cluster_that_went_well() -> None:
    one = {
        "id": "cls-1",
        "changed": True,
        "version": "1",
        "actions": ["created", "version added"],
        "warnings": ["w"],
    }
    two = {"id": "cls-1", "changed": False, "actions": [], "warnings": ["w", "v"]}
    assert row({"targets": [one]}, {"targets": [two]}) == {
        "cluster": "cls-1",
        "changed": True,
        "failed": False,
        "version": "1",
        "secret_manager": "created, version added",
        "management_secret": "unchanged",
        "actions": ["created", "version added"],
        "kind": None,
        "reason": None,
        "warnings": ["w", "v"],
    }


@pytest.mark.parametrize(
    ("one", "two", "kind", "states"),
    [
        ({"failed": True, "kind": "quota", "msg": "m"}, None, "quota", ("failed", "not reached")),
        ({}, {"failed": True, "kind": "dependency", "msg": "m"}, "dependency", ("unchanged", "failed")),
        ({}, None, "not_run", ("unchanged", "not reached")),
        (None, None, "not_run", ("not reached", "not reached")),
    ],
)
def test_a_row_of_a_cluster_that_failed(
    one: dict[str, Any] | None, two: dict[str, Any] | None, kind: str, states: tuple[str, str]
) -> None:
    results = [
        {"targets": [{"id": "cls-1", **result}] if result is not None else []} for result in (one, two)
    ]
    found = row(*results)
    assert (found["failed"], found["kind"]) == (True, kind)
    assert (found["secret_manager"], found["management_secret"]) == states
    assert found["reason"]


def test_one_cluster_by_variables_can_have_every_key() -> None:
    """The playbook builds one cluster from the variables of the same names."""
    play = yaml.safe_load((Path(__file__).parents[3] / "playbooks" / "provision.yml").read_text())[0]
    variables = play["vars"]["provision_cluster_variables"]
    assert variables == "{{ query('hyperfleet.pull_secret.cluster_variables') }}"
    assert sorted(LookupModule().run([], {})) == sorted(CLUSTER_KEYS)


@pytest.mark.parametrize(("terms", "options"), [(["cluster_id"], {}), ([], {"values": True})])
def test_the_variables_of_a_cluster_cannot_be_asked_for_by_name(terms: list[str], options: Any) -> None:
    with pytest.raises(AnsibleLookupError, match="takes no terms and no options"):
        LookupModule().run(terms, {}, **options)


def test_a_restore_in_check_mode_reads_the_version_that_would_be_restored() -> None:
    cluster = {**CLUSTER, "restore_version": "3"}
    stored = {"targets": [{"id": "cls-1", "place": PLACE, "changed": True, "version": None}]}
    (target,) = kubernetes_targets([cluster], stored)
    (layer,) = target["layers"]
    assert layer["source"]["gcp"]["version"] == "3"
    assert "source" not in target


def test_a_step_that_ended_early_is_quoted() -> None:
    (row,) = summary_rows([CLUSTER], {"targets": [], "msg": "the host went away"}, {})
    assert row["failed"]
    assert "the host went away" in row["reason"]


def test_a_cluster_that_changed_between_the_steps_is_one_failed_row() -> None:
    """Ansible may evaluate a variable again and get another value. The other clusters continue."""
    changed = {**CLUSTER, "cluster_id": "cls-2", "k8s_immutable": "perhaps"}
    stored = {"targets": [{"id": name, "place": PLACE, "version": "1"} for name in ("cls-1", "cls-2")]}
    (target,) = kubernetes_targets([CLUSTER, changed], stored)
    assert target["id"] == "cls-1"
    first, second = summary_rows([CLUSTER, changed], stored, {"targets": [{"id": "cls-1", "place": "k8s"}]})
    assert (first["failed"], second["failed"]) == (False, True)
    assert "k8s_immutable" in second["reason"]
