# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replication policies, customer-managed keys, delayed destruction."""

from __future__ import annotations

from typing import Any

import pytest

from tests.secret_manager.contract.support import REAL_PROJECT, State, Workspace, refused

needs_no_key_service = pytest.mark.skipif(bool(REAL_PROJECT), reason="a real project has no such keys")


def key(location: str, name: str = "k") -> dict[str, str]:
    return {"kms_key_name": f"projects/p-1/locations/{location}/keyRings/r/cryptoKeys/{name}"}


def user_managed(*replicas: dict[str, Any]) -> dict[str, Any]:
    return {"user_managed": {"replicas": list(replicas)}}


def test_user_managed_locations_show_in_secret_and_version(work: Workspace) -> None:
    places = ["us-central1", "us-east1"]
    secret = work.create(replication=user_managed(*({"location": place} for place in places)))
    assert [replica.location for replica in secret.replication.user_managed.replicas] == places
    status = work.add(secret.name, b"example-password").replication_status
    assert sorted(replica.location for replica in status.user_managed.replicas) == places


def test_a_location_twice_or_without_name_is_refused(work: Workspace) -> None:
    for replicas in ([{"location": "us-east1"}] * 2, [{"location": ""}], [{"location": "Not A Place"}]):
        with refused("INVALID_ARGUMENT"):
            work.create(replication=user_managed(*replicas))


@needs_no_key_service
def test_a_key_shows_in_the_version(work: Workspace) -> None:
    secret = work.create(replication={"automatic": {"customer_managed_encryption": key("global")}})
    assert (
        secret.replication.automatic.customer_managed_encryption.kms_key_name == key("global")["kms_key_name"]
    )
    status = work.add(secret.name, b"example-password").replication_status.automatic
    used = status.customer_managed_encryption.kms_key_version_name
    assert used.startswith(key("global")["kms_key_name"] + "/cryptoKeyVersions/")


@needs_no_key_service
def test_a_key_lies_where_the_data_lies(work: Workspace) -> None:
    replica = {"location": "us-east1", "customer_managed_encryption": key("us-east1")}
    work.create(replication=user_managed(replica))
    for replication in (
        {"automatic": {"customer_managed_encryption": key("us-east1")}},
        {"automatic": {"customer_managed_encryption": {"kms_key_name": "nonsense"}}},
        user_managed({**replica, "location": "us-west1"}),
        user_managed(replica, {"location": "us-west1"}),
    ):
        with refused("INVALID_ARGUMENT"):
            work.create(replication=replication)


@needs_no_key_service
def test_a_new_key_is_for_new_versions(work: Workspace) -> None:
    old = {"automatic": {"customer_managed_encryption": key("global")}}
    new = {"automatic": {"customer_managed_encryption": key("global", "k2")}}
    secret = work.create(replication=old)
    first = work.add(secret.name, b"example-1")
    work.client.update_secret(
        secret={"name": secret.name, "replication": new}, update_mask={"paths": ["replication"]}
    )
    second = work.add(secret.name, b"example-2")
    used = second.replication_status.automatic.customer_managed_encryption.kms_key_version_name
    assert "/cryptoKeys/k2/" in used
    assert work.client.get_secret_version(name=first.name) == first


def test_a_delayed_destruction_disables_first_and_can_be_taken_back(work: Workspace) -> None:
    secret = work.create(version_destroy_ttl={"seconds": 24 * 3600})
    name = work.add(secret.name, b"example-password").name
    planned = work.client.destroy_secret_version(name=name)
    assert planned.state == State.DISABLED
    assert planned.scheduled_destroy_time > planned.create_time
    enabled = work.client.enable_secret_version(name=name)
    assert (enabled.state, "scheduled_destroy_time" in enabled) == (State.ENABLED, False)
    assert work.client.access_secret_version(name=name).payload.data == b"example-password"


def test_a_delay_of_less_than_a_day_is_refused(work: Workspace) -> None:
    with refused("INVALID_ARGUMENT"):
        work.create(version_destroy_ttl={"seconds": 3600})
