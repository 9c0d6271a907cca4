# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replication policies and customer-managed keys."""

from __future__ import annotations

from typing import Any

import pytest

from tests.secret_manager.contract.support import REAL_PROJECT, Workspace, refused

needs_no_key_service = pytest.mark.skipif(bool(REAL_PROJECT), reason="a real project has no such keys")


def key(location: str, name: str = "k") -> dict[str, str]:
    return {"kms_key_name": f"projects/p-1/locations/{location}/keyRings/r/cryptoKeys/{name}"}


def user_managed(*replicas: dict[str, Any]) -> dict[str, Any]:
    return {"user_managed": {"replicas": list(replicas)}}


def test_user_managed_locations_show_in_the_secret(work: Workspace) -> None:
    places = ["us-central1", "us-east1"]
    secret = work.create(replication=user_managed(*({"location": place} for place in places)))
    assert [replica.location for replica in secret.replication.user_managed.replicas] == places


def test_a_location_twice_or_without_name_is_refused(work: Workspace) -> None:
    for replicas in ([{"location": "us-east1"}] * 2, [{"location": ""}], [{"location": "Not A Place"}]):
        with refused("INVALID_ARGUMENT"):
            work.create(replication=user_managed(*replicas))


@needs_no_key_service
def test_a_key_shows_in_the_secret(work: Workspace) -> None:
    secret = work.create(replication={"automatic": {"customer_managed_encryption": key("global")}})
    assert (
        secret.replication.automatic.customer_managed_encryption.kms_key_name == key("global")["kms_key_name"]
    )


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
