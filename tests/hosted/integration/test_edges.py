# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tenant deletes their secret or makes it invalid, the original is invalid, or nodes never report."""

from __future__ import annotations

import base64
import itertools
import json
from typing import Any

import pytest

from tests.hosted.integration.world import ADDITIONAL, GLOBAL, OURS, STATUS, SYNCER, World
from tests.support.docker_configs import KEY, docker_config, encoded, held

PROBLEM = "hyperfleet.io/pull-secret-problem"
WRONG = {
    "no JSON": "example-password",
    "a list": "[]",
    "null entry": '{"auths":{"quay.io":null}}',
    "no colon": json.dumps({"auths": {"quay.io": {"auth": encoded("example-password")}}}),
    "token only": '{"auths":{"quay.io":{"identitytoken":"example-password"}}}',
    "auths is a list": '{"auths":["example-password"]}',
    "a date as a key": "kind: Secret\napiVersion: v1\nstringData:\n  a: {2024-01-01: example-password}\n",
}


def events(world: World) -> list[Any]:
    dummy, body = world.hosted.request("GET", f"/api/v1/namespaces/{world.namespace}/events")
    return [item for item in body["items"] if item["involvedObject"].get("name") == ADDITIONAL]


def annotation(world: World) -> str | None:
    found: str | None = (world.get("secrets", ADDITIONAL)["metadata"].get("annotations") or {}).get(PROBLEM)
    return found


def deployed(world: World, nodes: int = 2) -> list[str]:
    """Deploy the syncer to a cluster and let all nodes report."""
    world.additional(docker_config(registry_example_com="tenant"))
    names = world.add_nodes(nodes)
    assert not world.run().get("failed")
    for name in names:
        world.report(name)
    return names


@pytest.mark.parametrize("document", WRONG.values(), ids=WRONG)
def test_a_wrong_additional_secret_stops_nothing(world: World, document: str) -> None:
    deployed(world)
    world.additional(document)
    world.original(docker_config(cloud_openshift_com="new", quay_io="new"))
    result = world.run()
    assert not result.get("failed"), result
    assert result["additional"] == "kept"
    assert world.held() == {"cloud.openshift.com": "new", "quay.io": "new", "registry.example.com": "tenant"}
    assert any("is not valid, and its previous entries are kept" in text for text in result["warnings"])
    assert "example-password" not in json.dumps(result)


def test_earlier_entries_stay_over_many_runs_and_go_when_the_secret_is_valid_again(world: World) -> None:
    deployed(world)
    world.additional("{")
    for _run in range(3):
        world.run()
    assert world.held()["registry.example.com"] == "tenant"
    world.additional(docker_config(other_example_com="mended"))
    result = world.run()
    assert result["additional"] == "merged"
    assert set(world.held()) == {"cloud.openshift.com", "quay.io", "other.example.com"}
    assert annotation(world) is None
    assert "cleared the tenant's report" in result["actions"]


def test_the_tenant_gets_one_event(world: World) -> None:
    deployed(world)
    world.additional(WRONG["no colon"])
    assert "reported to the tenant" in world.run()["actions"]
    world.reset()
    assert not world.run()["changed"]
    assert world.writes() == []
    found = events(world)
    assert [(event["type"], event["reason"], event["count"]) for event in found] == [
        ("Warning", "InvalidPullSecret", 1)
    ]
    assert found[0]["involvedObject"]["uid"] == world.get("secrets", ADDITIONAL)["metadata"]["uid"]
    for text in (found[0]["message"], annotation(world) or ""):
        assert "quay.io" in text
        assert "[auth-no-colon]" in text
        assert "example-password" not in text


def test_a_secret_with_doubtful_entries_is_merged_and_its_tenant_gets_the_warnings(world: World) -> None:
    """A Google key file has line feeds; an entry without a password must not displace the original's."""
    key_file = '_json_key:{\n  "type": "service_account"\n}'
    auths = {"us-docker.pkg.dev": {"auth": encoded(key_file)}, "quay.io": {"auth": encoded("user:")}}
    world.additional(json.dumps({"auths": auths}))
    assert world.run()["additional"] == "merged"
    entries = held(world.get("secrets", GLOBAL))["auths"]
    assert entries["us-docker.pkg.dev"] == {"auth": encoded(key_file)}
    assert world.held()["quay.io"] == "original"
    (event,) = events(world)
    assert (event["type"], event["reason"]) == ("Warning", "PullSecretWarning")
    assert event["message"] == annotation(world)
    for part in (
        "merged, with warnings: ",
        "us-docker.pkg.dev: ",
        "jq -c . key.json",
        "quay.io: ",
        "[empty-password]",
    ):
        assert part in event["message"]
    world.reset()
    assert not world.run()["changed"]
    assert world.writes() == []


def test_an_event_that_grows_old_is_counted_up(world: World) -> None:
    deployed(world)
    world.additional("{")
    world.run()
    name = events(world)[0]["metadata"]["name"]
    world.merge("events", name, {"lastTimestamp": "2026-01-01T00:00:00Z"})
    assert not world.run()["changed"]
    assert [event["count"] for event in events(world)] == [2]


def test_an_invalid_secret_alone_deploys_nothing_and_is_reported(world: World) -> None:
    world.additional("{")
    result = world.run()
    assert result["additional"] == "invalid"
    assert world.there() == set()
    assert annotation(world)
    assert len(events(world)) == 1


def test_a_secret_without_the_key_is_reported(world: World) -> None:
    keys = dict.fromkeys(["config.json", "b", "c", "d", "e", "f"], "e30=")
    world.hosted.create(world.namespace, "secrets", {"metadata": {"name": ADDITIONAL}, "data": keys})
    assert world.run()["additional"] == "invalid"
    named = "it has b, c, config.json, d, e and 1 more"
    remedy = "correct the key, or add it to the secret"
    assert annotation(world) == f"the secret has no key .dockerconfigjson ({named}); {remedy}"


OTHER_FORMS: dict[str, tuple[bytes, str]] = {
    "YAML": (b"auths:\n  quay.io: {}\n", "it is YAML; convert it to JSON, for example with yq -o json"),
    "UTF-16": ('{"auths":{}}'.encode("utf-16"), "it is UTF-16; save it as UTF-8"),
    "wrapper": (
        b'{"pullSecret":"{\\"auths\\":{}}"}',
        "a docker config is inside of it; write the docker config alone",
    ),
    "line": (b'{"auths":\n  {"a": {} "b": {}}}', "(expecting ',' delimiter at line 2 column 12)"),
}


@pytest.mark.parametrize("form", OTHER_FORMS)
def test_another_form_is_named_to_its_owner_and_removes_nothing(world: World, form: str) -> None:
    data, problem = OTHER_FORMS[form]
    value = {KEY: encoded(data)}
    deployed(world)
    before = world.held()
    world.hosted.put_secret(world.namespace, ADDITIONAL, value)
    assert world.run()["additional"] == "kept"
    assert world.held() == before
    assert str(annotation(world)).endswith(problem)
    assert not str(annotation(world)).startswith(":")
    assert events(world)[0]["message"] == f"not merged: {annotation(world)}"
    # The API server refuses some of them in a secret of the docker config type.
    world.management.delete(world.control_plane, "secrets", "pull-secret")
    opaque = {"metadata": {"name": "pull-secret"}, "data": value}
    world.management.create(world.control_plane, "secrets", opaque)
    result = world.run()
    assert result["kind"] == "invalid_document"
    assert f"{world.control_plane}/secrets/pull-secret" in result["msg"]
    assert problem in result["msg"]
    assert "`field`" not in result["msg"]


@pytest.mark.parametrize("document", ["", "{}", '{"auths":{}}', '{"auths":null}'])
def test_an_empty_additional_secret_is_the_original_alone(world: World, document: str) -> None:
    deployed(world)
    world.additional(document)
    result = world.run()
    assert (result.get("failed"), result["additional"]) == (None, "empty")
    assert set(world.held()) == {"cloud.openshift.com", "quay.io"}
    assert "daemonsets" in world.there()


@pytest.mark.parametrize("document", ["{}", '{"auths":null}', '{"auths":{}}', "null", "[]", "{"])
def test_a_wrong_original_is_reported_and_the_nodes_keep_what_they_have(world: World, document: str) -> None:
    if document in ("[]", "{"):
        # The API server refuses these documents in a secret of the docker config type.
        world.management.delete(world.control_plane, "secrets", "pull-secret")
        opaque = {"metadata": {"name": "pull-secret"}, "data": {".dockerconfigjson": encoded(document)}}
        world.management.create(world.control_plane, "secrets", opaque)
        world.additional(docker_config(registry_example_com="tenant"))
        assert world.run()["kind"] == "invalid_document"
        assert world.there() == set()
        return
    deployed(world)
    world.original(document)
    world.additional(docker_config(registry_example_com="new"))
    world.reset()
    result = world.run()
    assert (result["failed"], result["changed"], result["kind"]) == (True, False, "invalid_document")
    assert "the original pull secret" in result["msg"]
    assert world.writes() == []
    assert set(world.held()) == {"cloud.openshift.com", "quay.io", "registry.example.com"}


def test_removal_restores_the_original_and_then_deletes_all_objects(world: World) -> None:
    names = deployed(world)
    world.additional(None)

    def follow() -> None:
        for name in names:
            world.report(name)
        assert set(world.held()) == {"cloud.openshift.com", "quay.io"}
        assert "daemonsets" in world.there()

    world.reset()
    # The nodes report while the run reads their reports for the second time.
    at = f"*/configmaps/{STATUS}"
    looks = itertools.count()
    world.hosted.before("get", at, lambda: follow() if next(looks) == 2 else None, times=10)
    result = world.run(rollout_timeout=30)
    assert not result.get("failed"), result
    assert result["additional"] == "absent"
    assert world.there() == set()
    writes = [write.split(" ")[0] + " " + write.split("/")[-2] for write in world.hosted.writes()]
    assert writes[0] == "patch secrets"
    assert writes[1:] == [
        f"delete {kind}"
        for kind in (
            "daemonsets",
            "rolebindings",
            "roles",
            "serviceaccounts",
            "configmaps",
            "leases",
            "secrets",
        )
    ]
    world.reset()
    assert not world.run()["changed"]
    assert world.writes() == []


def test_nodes_that_never_report_keep_the_syncers_and_are_named(world: World) -> None:
    names = deployed(world, 3)
    world.additional(None)
    result = world.run(rollout_timeout=0.2)
    assert not result.get("failed"), result
    assert world.there() == {*OURS, "leases"}
    assert set(world.held()) == {"cloud.openshift.com", "quay.io"}
    assert any(
        text.startswith(
            "the syncers stay until all nodes have the original pull secret again: 0 of 3 nodes have it"
        )
        for text in result["warnings"]
    )
    assert result["rollout"]["pending_nodes"] == sorted(names)
    # Two nodes report again, one is removed from the cluster: the next run continues.
    for name in names[:2]:
        world.report(name)
    world.hosted.request("DELETE", f"/api/v1/nodes/{names[2]}")
    result = world.run(rollout_timeout=0.2)
    assert world.there() == set(), result


@pytest.mark.parametrize("wait", [False, True])
def test_only_the_run_that_reverts_waits_for_nodes(world: World, wait: bool) -> None:
    """Some of thousands of hosted clusters always have a node that is away."""
    deployed(world)
    world.additional(None)

    def looks(**more: Any) -> int:
        world.reset()
        assert not world.run(rollout_timeout=0.3, **more).get("failed")
        return len(world.hosted.calls.matching("get", f"*/configmaps/{STATUS}"))

    # The run reads the current objects, and then reads the reports once or more often.
    assert looks() > 2
    assert (looks(wait=wait) > 2) is wait
    assert world.there() == {*OURS, "leases"}


def test_a_secret_that_is_there_again_before_the_removal_stops_it(world: World) -> None:
    names = deployed(world)
    world.additional(None)

    def back() -> None:
        for name in names:
            world.report(name)
        world.additional(docker_config(registry_example_com="again"))

    looks = itertools.count()
    at = f"*/configmaps/{STATUS}"
    world.hosted.before("get", at, lambda: back() if next(looks) == 1 else None, times=10)
    result = world.run(rollout_timeout=30)
    assert (result.get("failed"), result["additional"]) == (None, "merged")
    assert world.held()["registry.example.com"] == "again"
    assert not [write for write in world.hosted.writes() if write.startswith("delete")]


def test_nodes_that_lost_their_syncers_get_them_back_to_be_reverted(world: World) -> None:
    names = deployed(world)
    world.delete("daemonsets", SYNCER)
    world.additional(None)
    result = world.run(rollout_timeout=0.2)
    assert "created daemonset" in result["actions"]
    assert result["rollout"]["pending"] == 2
    for name in names:
        world.report(name)
    world.run(rollout_timeout=0.2)
    assert world.there() == set()


def test_the_role_never_is_one_for_all_leases(world: World) -> None:
    deployed(world)
    for lease in world.leases():
        world.delete("leases", lease)
    world.additional(None)
    world.run(rollout_timeout=0.2)
    assert all(rule["resourceNames"] for rule in world.get("roles", SYNCER)["rules"])


def test_with_no_time_for_the_nodes_all_is_removed(world: World) -> None:
    deployed(world)
    world.additional(None)
    world.run(rollout_timeout=0)
    assert world.there() == set()


def test_a_failed_node_is_named_with_its_syncers_message(world: World) -> None:
    names = deployed(world)
    world.report(names[0], "failed", "kubelet ended [code 1]; the file was rolled back")
    world.report(names[1], "held", '{"auth": "example-password"}')
    result = world.run()
    assert result["rollout"]["failed_nodes"] == {
        names[0]: "failed: kubelet ended [code 1]; the file was rolled back",
        names[1]: "held: (not shown)",
    }
    assert any("0 of 2 nodes" in text for text in result["warnings"])


@pytest.mark.parametrize("wait", [False, True])
def test_a_report_that_repeats_a_credential_is_masked(world: World, wait: bool) -> None:
    """The tenant can write the nodes' reports, and knows the original's credentials from the nodes."""
    names = deployed(world)
    document = world.get("secrets", GLOBAL)["data"][".dockerconfigjson"]
    auth = json.loads(base64.b64decode(document))["auths"]["quay.io"]["auth"]
    password = base64.b64decode(auth).decode().partition(":")[2]
    world.report(names[0], "failed", f"kubelet said {password}")
    world.report(names[1], "held", "x" * 495 + password)
    result = world.run(wait=wait, rollout_timeout=0.2)
    assert bool(result.get("failed")) == wait
    assert password not in json.dumps(result)
    assert any("kubelet said ********" in text for text in [*result["warnings"], result.get("msg", "")])


def test_waiting_for_the_rollout_is_an_option(world: World) -> None:
    names = deployed(world)
    assert world.run(wait=True)["rollout"]["in_sync"] == 2
    world.additional(docker_config(registry_example_com="new"))
    result = world.run(wait=True, rollout_timeout=0.2)
    assert (result["kind"], result["changed"]) == ("timeout", True)
    assert f"; not finished: {names[0]}" in result["msg"]
    assert "the task stopped waiting (at rollout_timeout, 0.2 s, or at timeout)" in result["msg"]
    for name in names:
        world.report(name)
    assert not world.run(wait=True, rollout_timeout=0.2).get("failed")


def test_a_wait_ends_at_once_when_only_failed_nodes_are_left(world: World) -> None:
    names = deployed(world)
    world.report(names[0], "failed", "kubelet did not become ready")
    result = world.run(wait=True, rollout_timeout=600)
    assert result["kind"] == "timeout"
    assert "correct the nodes that are named; the syncers continue" in result["msg"]
    assert "stopped waiting" not in result["msg"]


def test_reverting_keeps_the_syncers(world: World) -> None:
    deployed(world)
    world.additional(None)
    result = world.run(when_additional_is_gone="revert")
    assert result["actions"] == ["updated secret"]
    assert set(world.held()) == {"cloud.openshift.com", "quay.io"}
    assert world.there() == {*OURS, "leases"}
    assert not world.run(when_additional_is_gone="revert")["changed"]


def test_absent_removes_whatever_the_tenant_has(world: World) -> None:
    deployed(world)
    result = world.run(state="absent", syncer_image=None, rollout_timeout=0)
    assert not result.get("failed"), result
    assert world.there() == set()
    assert world.get("secrets", ADDITIONAL) is not None


def test_nodes_that_are_gone_are_forgotten(world: World) -> None:
    names = deployed(world)
    world.hosted.request("DELETE", f"/api/v1/nodes/{names[0]}")
    assert world.run()["actions"] == ["removed reports of nodes that are gone"]
    assert set(world.get("configmaps", STATUS)["data"]) == {names[1]}
    assert not world.run()["changed"]


def test_a_foreign_secret_of_that_name_is_refused_and_nothing_is_written(world: World) -> None:
    world.additional(docker_config(registry_example_com="tenant"))
    world.hosted.create(world.namespace, "secrets", {"metadata": {"name": GLOBAL}, "type": "Opaque"})
    result = world.run()
    assert result["kind"] == "ownership"
    assert world.writes() == []
    result = world.run(adopt=True)
    assert not result.get("failed"), result
    assert "replaced secret" in result["actions"]
    assert set(world.held()) == {"cloud.openshift.com", "quay.io", "registry.example.com"}


@pytest.mark.parametrize("kind", [*OURS, "leases"])
def test_a_foreign_object_is_never_deleted(world: World, kind: str) -> None:
    deployed(world)
    name = f"{SYNCER}-restart-0" if kind == "leases" else OURS[kind]
    world.merge(kind, name, {"metadata": {"labels": {"managed-by": "somebody"}}})
    world.additional(None)
    world.reset()
    result = world.run(rollout_timeout=0, adopt=False)
    assert result["kind"] == "ownership"
    assert world.writes() == []
