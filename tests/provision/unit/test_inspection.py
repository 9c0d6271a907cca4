# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The differences between the two places in words, and the table that shows them."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import DockerConfig, load
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.naming import LAST_APPLIED
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.shown import shown_sentence
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.stored_version import StoredVersion
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_store import (
    SecretMetadata,
    VersionMetadata,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.batch import Failure
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import Deadline
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.inspection.comparison import (
    ClusterFindings,
    FoundPlaced,
    FoundStored,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.inspection.pacing import Pace
from ansible_collections.hyperfleet.pull_secret.plugins.plugin_utils.info_table import info_table

_SECRET, _PLACED = "projects/p/secrets/s", "namespaces/n/secrets/k"
_OURS = {"managed-by": "hyperfleet", "cluster-id": "cls-1"}
_KEY = b"example-digest-key"


def config(word: str) -> DockerConfig:
    return load(f'{{"auths": {{"quay.io": {{"username": "robot", "password": "{word}"}}}}}}'.encode())


_ONE, _TWO = config("one"), config("two")


def stored(
    *states: str, configs: dict[str, DockerConfig] | None = None, problem: str | None = None
) -> FoundStored:
    """A stored secret with versions in these states, oldest first."""
    versions = [VersionMetadata(str(number), state) for number, state in enumerate(states, start=1)][::-1]
    return FoundStored(SecretMetadata(_SECRET, _SECRET, _OURS), problem, versions, configs or {})


def placed(
    held: DockerConfig | None = _ONE, version: int | None = 1, problem: str | None = None
) -> FoundPlaced:
    named = StoredVersion(_SECRET, version) if version else None
    return FoundPlaced(_OURS, problem, named, held, immutable=False, created=None)


def findings(**more: Any) -> ClusterFindings:
    one = stored("enabled", configs={"1": _ONE})
    said: dict[str, Any] = {"stored": one, "placed": placed(), "is_wanted": True, **more}
    return ClusterFindings(_SECRET, _PLACED, **said)


_TWO_VERSIONS = stored("enabled", "enabled", configs={"2": _TWO})


@pytest.mark.parametrize(
    ("more", "drift"),
    [
        ({}, []),
        ({"stored": None, "placed": None}, [f"{_SECRET} does not exist", f"{_PLACED} does not exist"]),
        ({"stored": None, "placed": None, "is_wanted": False}, []),
        ({"placed": None, "is_wanted": False}, [f"{_SECRET} is still there"]),
        ({"stored": stored("disabled", "destroyed")}, [f"{_SECRET} has no enabled version"]),
        ({"stored": stored("enabled")}, ["version 1 is not a valid docker config"]),
        ({"stored": _TWO_VERSIONS}, [f"{_PLACED} holds version 1, and version 2 is the newest enabled"]),
        ({"stored": _TWO_VERSIONS, "placed": placed(_TWO, 2)}, []),
        (
            {"stored": _TWO_VERSIONS, "placed": placed(_TWO)},
            [f"{_PLACED} names version 1 instead of 2; both have the same content"],
        ),
        ({"placed": placed(_TWO)}, [f"{_PLACED} holds another pull secret than version 1"]),
        ({"placed": placed(_TWO, None)}, [f"{_PLACED} holds another pull secret than version 1"]),
        ({"placed": placed(None)}, [f"{_PLACED} does not hold a valid docker config"]),
        ({"placed": placed(problem="is managed by shop")}, [f"{_PLACED} is managed by shop"]),
        ({"stored": stored("enabled", problem="belongs to cluster b")}, [f"{_SECRET} belongs to cluster b"]),
        (
            {"placed": replace(placed(), has_last_applied=True)},
            [f"{_PLACED} has the annotation {LAST_APPLIED}, which may hold an old pull secret"],
        ),
        ({"source": _TWO}, ["the source holds another pull secret than version 1"]),
        ({"source": _ONE}, []),
        # Without digests the version numbers are compared.
        ({"stored": stored("enabled"), "placed": placed(None), "digests": False}, []),
        (
            {"stored": stored("enabled", "enabled"), "placed": placed(None), "digests": False},
            [f"{_PLACED} holds version 1, and version 2 is the newest enabled"],
        ),
        (
            {"stored": stored("enabled"), "placed": placed(None, None), "digests": False},
            [f"{_PLACED} does not name the version that it holds"],
        ),
    ],
)
def test_drift_is_what_a_run_would_not_leave_so(more: dict[str, Any], drift: list[str]) -> None:
    found = findings(**more)
    assert found.drift() == drift
    assert found.entry(_KEY)["in_sync"] == (not drift)


def test_an_entry_has_digests_and_no_value() -> None:
    entry = findings(stored=_TWO_VERSIONS, source=_TWO).entry(_KEY)
    newest, first = entry["secret_manager"]["versions"]
    assert newest["digest"] == entry["secret_manager"]["digest"] == entry["source"]["digest"]
    assert first["digest"] is None
    assert entry["management_secret"]["digest"] not in (None, newest["digest"])
    assert "robot" not in str(entry)
    assert "robot" not in repr(findings())


_REFUSED = {"failed": True, "kind": "permission_denied", "msg": "403; grant it"}


@pytest.mark.parametrize(
    ("part", "others"),
    [
        ("secret_manager", ("management_secret", "source")),
        ("management_secret", ("secret_manager", "source")),
        ("source", ("secret_manager", "management_secret")),
    ],
)
def test_a_part_that_is_refused_hides_no_other_part(part: str, others: tuple[str, ...]) -> None:
    refused = Failure("permission_denied", "403", "grant it")
    entry = findings(source=_ONE, failed={part: refused}).entry(_KEY)
    assert {name: entry[name] for name in _REFUSED} == _REFUSED
    assert {name: entry[part][name] for name in _REFUSED} == _REFUSED
    assert all(entry[name]["digest"].startswith("hmac-sha256:") for name in others)
    assert not {"in_sync", "drift"} & set(entry), "nothing was compared"


def test_what_all_parts_say_is_said_once() -> None:
    same, other = Failure("timeout", "the time is over"), Failure("unavailable", "503")
    entry = findings(failed={"secret_manager": same, "management_secret": same, "source": other}).entry(_KEY)
    assert (entry["kind"], entry["msg"]) == ("timeout", "the time is over; 503")


def test_a_version_whose_own_answer_differs_from_the_list() -> None:
    found = stored("enabled", "enabled").with_state("2", "disabled")
    assert found.newest is not None
    assert found.newest.number == "1"


def test_a_small_fleet_is_not_paced_and_a_large_one_is() -> None:
    small = Pace(300, threading.Event())
    for _call in range(300):
        small.wait(Deadline(0))
    assert small._next == 0.0, "no call may have had to wait for its turn"
    begun = time.monotonic()
    large = Pace(301, threading.Event())
    for _call in range(3):
        large.wait(Deadline(60))
    assert time.monotonic() - begun >= 0.24, "three calls at 500 in 60 s take two intervals"


_HINT = "to list versions, inspect one cluster, or up to 40 with inspect_digests=all (the module's digests)"
_FIRST = {
    "version": "1",
    "state": "disabled",
    "created": "2026-01-02T03:04:05Z",
    "digest": None,
}
_SECOND = {
    **_FIRST,
    "version": "2",
    "state": "enabled",
    "digest": "hmac-sha256:0f4a2a6a0c1b2d3e4f5061728394a5b6",
}


def inspected(name: str, versions: list[dict[str, Any]]) -> dict[str, Any]:
    """A target's entry whose secret has these versions, newest first."""
    entry: dict[str, Any] = {"id": name, **findings().entry(_KEY), "warnings": []}
    entry["secret_manager"]["versions"] = versions
    return entry


def test_a_single_clusters_versions_are_listed() -> None:
    lines = info_table({"targets": [inspected("cls-1", [_SECOND, _FIRST])]})
    assert lines[2:] == [
        "",
        "CLUSTER  VERSION  STATE     CREATED",
        "cls-1    2        enabled   2026-01-02T03:04:05Z",
        "cls-1    1        disabled  2026-01-02T03:04:05Z",
        "",
        "1 cluster: 1 in sync, 0 drift, 0 failed",
    ]


def test_versions_are_listed_with_their_digests_if_all_were_read() -> None:
    fleet = [inspected("cls-1", [_SECOND, _FIRST]), inspected("cls-22", [_FIRST]), inspected("cls-3", [])]
    assert info_table({"targets": fleet}, digests="all")[5:-2] == [
        "CLUSTER  VERSION  STATE     CREATED               DIGEST",
        "cls-1    2        enabled   2026-01-02T03:04:05Z  0f4a2a6a0c1b",
        "cls-1    1        disabled  2026-01-02T03:04:05Z  -",
        "cls-22   1        disabled  2026-01-02T03:04:05Z  -",
    ]


def test_the_many_versions_of_a_cluster_are_cut() -> None:
    versions = [{**_FIRST, "version": str(number)} for number in range(50, 0, -1)]
    lines = info_table({"targets": [inspected("cls-1", versions)]})
    assert lines[-4:-1] == [
        "cls-1    11       disabled  2026-01-02T03:04:05Z",
        "... and 10 more versions of cls-1",
        "",
    ]


@pytest.mark.parametrize(("count", "digests"), [(2, "newest"), (2, "none"), (41, "all")])
def test_a_fleets_table_says_how_to_list_versions(count: int, digests: str) -> None:
    lines = info_table({"targets": [inspected("cls-1", [_SECOND])] * count}, digests=digests)
    assert lines[-3:-1] == [_HINT, ""]
    assert not any("CREATED" in line for line in lines)


def test_without_a_version_nothing_is_said_of_versions() -> None:
    lines = info_table({"targets": [inspected("cls-1", [])] * 2})
    assert _HINT not in lines
    assert not any("CREATED" in line for line in info_table({"targets": [inspected("cls-1", [])]}))


@pytest.mark.parametrize(
    ("part", "row"),
    [
        ("management_secret", "cls-1    1       1 (1 enabled)  ours            not read           FAILED"),
        ("secret_manager", "cls-1    -       -         not read        version 1          FAILED"),
    ],
)
def test_the_row_of_a_cluster_with_one_refused_place_shows_the_other(part: str, row: str) -> None:
    refused = Failure("permission_denied", "403")
    entry = {"id": "cls-1", **findings(failed={part: refused}).entry(_KEY), "warnings": []}
    lines = info_table({"targets": [entry]})
    assert lines[1] == row
    assert lines[-3:] == ["cls-1 failed: 403", "", "1 cluster: 0 in sync, 0 drift, 1 failed"]


def test_the_table() -> None:
    entry = {"id": "cls-1", **findings().entry(_KEY), "warnings": []}
    drift = {"id": "cls-22", **findings(placed=None).entry(_KEY), "warnings": ["look"]}
    failed = {"id": "c", "failed": True, "msg": "it is so"}
    unlisted = [
        {"kind": "secret_manager", "place": "projects/p/secrets/x", "cluster_id": "cls-9", "created": None}
    ]
    result = {"targets": [entry, drift, failed], "unlisted": unlisted, "unlisted_failed": ["projects/q: no"]}
    assert info_table(result) == [
        "CLUSTER  NEWEST  VERSIONS       SECRET MANAGER  MANAGEMENT SECRET  RESULT",
        "cls-1    1       1 (1 enabled)  ours            version 1          in sync",
        "cls-22   1       1 (1 enabled)  ours            absent             drift",
        "c        -       -              -               -                  FAILED",
        "",
        "c failed: it is so",
        f"cls-22 drift: {_PLACED} does not exist",
        "cls-22 warning: look",
        "in no cluster of the list: projects/p/secrets/x (cluster cls-9)",
        "projects/q: no",
        _HINT,
        "",
        "3 clusters: 1 in sync, 1 drift, 1 failed; 1 in no cluster of the list",
    ]
    fleet = [entry] * 1000 + [drift]
    assert [line.split()[0] for line in info_table({"targets": fleet})[1:2]] == ["cls-22"]
    assert info_table({"targets": fleet})[-1] == "1001 clusters: 1000 in sync, 1 drift, 0 failed"


@pytest.mark.parametrize("text", ['{"auths": {}}', "amqp://user:example@host is wrong", "a\nb", ""])
def test_what_is_no_message_is_not_shown(text: str) -> None:
    assert shown_sentence(text) == "(not shown)"
