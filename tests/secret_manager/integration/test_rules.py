# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module rejects what Secret Manager would reject, before any call, so that check mode shows it too."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from google.api_core.exceptions import InvalidArgument

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager import claim
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager.metadata_rules import (
    MARKS_SIZE,
)
from tests.secret_manager.contract.support import lab_client
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.secret_manager import OURS, PROJECT, Module

_ROOM = 16 * 1024 - MARKS_SIZE


def _key(location: str) -> str:
    return f"projects/customer-prod-12345/locations/{location}/keyRings/ring/cryptoKeys/one"


def _replicas(*locations: str, **keys: str) -> dict[str, Any]:
    options: dict[str, Any] = {"replication": "user_managed", "locations": list(locations)}
    return {**options, "location_kms_keys": {name.replace("_", "-"): key for name, key in keys.items()}}


CASES: list[tuple[dict[str, Any], bool]] = [
    *(
        ({"labels": labels}, right)
        for labels, right in [
            ({"k": ""}, True),
            ({"k" * 63: "v" * 63}, True),
            ({"k-_9": "9a_b-1"}, True),
            # Five more are ours.
            ({f"k{number}": "v" for number in range(59)}, True),
            ({f"k{number}": "v" for number in range(60)}, False),
            ({"": "v"}, False),
            ({"1k": "v"}, False),
            ({"-k": "v"}, False),
            ({"_k": "v"}, False),
            ({"k.dot": "v"}, False),
            ({"Upper": "v"}, False),
            ({"k": "Upper"}, False),
            ({"k": "a b"}, False),
            ({"k" * 64: "v"}, False),
            ({"k": "v" * 64}, False),
        ]
    ),
    *(
        ({"annotations": annotations}, right)
        for annotations, right in [
            ({"A.b-c_9": "Any Text: \u00fcnicode, {}"}, True),
            ({"k" * 63: ""}, True),
            ({"k": "v" * (_ROOM - 2)}, True),
            ({"k": "v" * (_ROOM - 1)}, False),
            ({"k": "\u00fc" * (_ROOM // 2)}, False),
            ({"k1": "v" * 8192, "k2": "v" * 8192}, False),
            ({"": "v"}, False),
            ({".k": "v"}, False),
            ({"k-": "v"}, False),
            ({"a/b": "v"}, False),
            ({"\u00e9": "v"}, False),
            ({"k" * 64: "v"}, False),
        ]
    ),
    (_replicas("us-east1", "europe-west12"), True),
    (_replicas("us-east1", "us-east1"), False),
    (_replicas("us-east1", ""), False),
    (_replicas("Not A Place"), False),
    (_replicas("us-east1", us_east1=_key("us-east1")), True),
    (_replicas("us-east1", us_east1=_key("us-west1")), False),
    (_replicas("us-east1", us_east1="nonsense"), False),
    ({"kms_key": _key("global")}, True),
    ({"kms_key": _key("us-east1")}, False),
    ({"kms_key": "nonsense"}, False),
    ({"kms_key": f"{_key('global')}/cryptoKeyVersions/1"}, False),
    ({"kms_key": _key("global").replace("customer-prod-12345", "")}, False),
]


@pytest.fixture(scope="module")
def service() -> Iterator[Any]:
    """Google's client library, connected to a stand-in."""
    with SecretManagerLab() as lab:
        yield lab_client("grpc", lab.grpc, lab.rest)


def _encrypted(key: str | None) -> dict[str, Any]:
    return {"customer_managed_encryption": {"kms_key_name": key}} if key else {}


def _request(options: dict[str, Any]) -> dict[str, Any]:
    """The secret as the service gets it, including our own labels and annotations."""
    if "locations" in options:
        keys = options["location_kms_keys"]
        replicas = [{"location": place, **_encrypted(keys.get(place))} for place in options["locations"]]
        replication: dict[str, Any] = {"user_managed": {"replicas": replicas}}
    else:
        replication = {"automatic": _encrypted(options.get("kms_key"))}
    return {
        "replication": replication,
        "labels": {**options.get("labels", {}), **OURS, "cluster-id": "cls-1"},
        "annotations": {**options.get("annotations", {}), "marks": "m" * (MARKS_SIZE - len("marks"))},
    }


@pytest.mark.parametrize(("options", "right"), CASES, ids=range(len(CASES)))
def test_ours_are_the_services_rules(
    module: Module, service: Any, options: dict[str, Any], right: bool
) -> None:
    """The module and the service must agree."""
    try:
        name = f"s-{uuid.uuid4()}"
        service.create_secret(parent=f"projects/{PROJECT}", secret_id=name, secret=_request(options))
        taken = True
    except InvalidArgument:
        taken = False
    assert taken is right
    for check in (True, False):
        result = module.put(**options, check=check)
        assert bool(result.get("failed")) is not right, result
        if not right:
            assert result["kind"] == "configuration"
    if not right:
        assert module.lab.calls.count() == 0


def test_a_label_is_ascii_since_kubernetes_takes_no_other(module: Module) -> None:
    assert module.put(labels={"\u00e9": "v"})["kind"] == "configuration"


def test_both_marks_have_room_beside_the_users_annotations() -> None:
    longest = claim.Claim(10**17, claim.Claim.new_owner(), 9_999_999_999.0)
    marks = {claim.ANNOTATION: str(longest), claim.RESTORING: "9" * 18}
    assert sum(len(key) + len(value) for key, value in marks.items()) <= MARKS_SIZE


def test_a_wrong_location_key_is_told_by_its_location(module: Module) -> None:
    result = module.put(**_replicas("us-east1", us_east1="nonsense"))
    assert result["msg"].startswith("location_kms_keys.us-east1 must be projects/P/locations/L/")


def test_a_boolean_is_written_as_yaml_writes_it(module: Module) -> None:
    module.put(labels={"b": True}, annotations={"b": False})
    assert (module.secret().labels["b"], module.secret().annotations["b"]) == ("true", "false")
