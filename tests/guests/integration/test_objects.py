# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Further objects besides the pull secret, with both deliveries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import PullSecretError
from tests.guests.integration.world import World, rows
from tests.support.docker_configs import docker_config, encoded, held
from tests.support.kubernetes.world import Api
from tests.support.nightly import some

VALUE = "an-example-value"
REFERENCE = "valueFrom: {{secretKeyRef: {{namespace: {}, name: cloud, key: {}}}}}"
PLACED = REFERENCE.format("'{{ namespace }}'", "token")


class Objects:
    """A guest, and a file with a ConfigMap and a Secret for it."""

    def __init__(self, world: World, guest: Api, directory: Path) -> None:
        self.world, self.api = world, guest
        self.space = guest.namespace()
        self.file = directory / "objects.yml"
        self.namespace, self.name = world.reach(*world.guest(), guest)
        world.api.put_secret(world.source, "cloud", {"token": encoded(VALUE)})
        self.write(self.config_map(), self.secret())

    def config_map(self, *, data: str = '{cluster: "{{ cluster }} in {{namespace}}"}') -> str:
        metadata = f"{{name: about, namespace: {self.space}}}"
        return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {metadata}\ndata: {data}\n"

    def secret(self, key: str = "token") -> str:
        reference = REFERENCE.format(self.world.source, key)
        return (
            f"apiVersion: v1\nkind: Secret\nmetadata: {{name: cloud, namespace: {self.space}}}\n"
            f"data:\n  token:\n    {reference}\nstringData: {{user: '{{{{ cluster }}}}'}}\n"
        )

    def write(self, *documents: str) -> None:
        self.file.write_text("---\n".join(["# Of each guest.\n", *documents]))

    def run(self, **more: Any) -> dict[str, Any]:
        options = {"objects": [str(self.file)], "secret_namespaces": [self.space], **more}
        return self.world.run(**options)

    def direct(self, **more: Any) -> dict[str, Any]:
        """The guest's row after a direct delivery."""
        result = self.run(**{"delivery": "direct", **more})
        assert VALUE not in json.dumps(result)
        assert encoded(VALUE) not in json.dumps(result)
        return dict(result["targets"][0])

    def in_guest(self, kind: str, name: str) -> Any:
        return self.api.get(self.space, kind, name)


@pytest.fixture
def objects(world: World, guest: Api, tmp_path: Path) -> Objects:
    return Objects(world, guest, tmp_path)


def test_a_direct_delivery(objects: Objects) -> None:
    checked = objects.direct(check_mode=True, diff=True)
    assert checked["actions"] == ["created record", "created secret", "created configmap"]
    assert objects.in_guest("configmaps", "about") is None
    first = objects.direct(diff=True)
    assert (first["state"], first["actions"][-1]) == ("delivered", "updated record")
    about = objects.in_guest("configmaps", "about")
    assert about["data"] == {"cluster": f"{objects.name} in {objects.namespace}"}
    assert about["metadata"]["labels"]["hyperfleet.io/object-of"] == objects.world.set_name
    secret = objects.in_guest("secrets", "cloud")
    assert (secret["data"], secret["type"]) == (
        {"token": encoded(VALUE), "user": encoded(objects.name)},
        "Opaque",
    )
    assert held(objects.in_guest("secrets", "pull-secret")) == docker_config(registry_example_com="one")
    again = objects.direct()
    assert (again["changed"], again["state"]) == (False, "delivered")


def test_a_direct_delivery_repairs_rotates_and_prunes(objects: Objects) -> None:
    objects.direct()
    objects.api.merge(objects.space, "configmaps", "about", {"data": {"cluster": "other", "own": "kept"}})
    checked = objects.direct(check_mode=True)
    # The second object differs in nothing.
    assert (checked["state"], checked["actions"]) == ("repaired", ["updated configmap"])
    assert objects.in_guest("configmaps", "about")["data"]["cluster"] == "other"
    assert objects.direct()["state"] == "repaired"
    expected = {"cluster": f"{objects.name} in {objects.namespace}", "own": "kept"}
    assert objects.in_guest("configmaps", "about")["data"] == expected
    objects.world.api.merge(
        objects.world.source, "secrets", "cloud", {"data": {"token": encoded("another-value")}}
    )
    assert objects.direct(check_mode=True)["actions"] == ["updated secret", "updated record"]
    rotated = objects.direct(diff=True)
    assert (rotated["state"], rotated["actions"][0]) == ("delivered", "updated secret")
    assert objects.in_guest("secrets", "cloud")["data"]["token"] == encoded("another-value")
    # Without its line, a value goes; without its manifest, an object.
    objects.write(objects.config_map(data="{more: a}"))
    objects.direct()
    assert objects.in_guest("configmaps", "about")["data"] == {"more": "a", "own": "kept"}
    assert objects.in_guest("secrets", "cloud") is None
    objects.direct(objects=[])
    assert objects.in_guest("configmaps", "about") is None
    assert objects.in_guest("secrets", "pull-secret") is not None


def test_without_the_option_a_guest_keeps_them(objects: Objects) -> None:
    """Somebody may have forgotten it."""
    objects.direct()
    kept = objects.direct(objects=None)
    assert (kept["state"], kept["changed"]) == ("delivered", False)
    names = f"ConfigMap {objects.space}/about, Secret {objects.space}/cloud"
    (warning,) = kept["warnings"]
    assert warning == f"without the option objects, the guest keeps {names}; an empty list deletes that"
    assert objects.in_guest("configmaps", "about") is not None
    assert objects.direct()["changed"] is False


def test_what_a_controller_makes_with_the_labels_of_an_object_stays(objects: Objects) -> None:
    objects.direct()
    labels = objects.in_guest("configmaps", "about")["metadata"]["labels"]
    objects.api.create(objects.space, "secrets", {"metadata": {"name": "made", "labels": labels}})
    assert objects.direct()["changed"] is False
    objects.direct(objects=[])
    assert objects.in_guest("secrets", "made") is not None
    assert objects.in_guest("configmaps", "about") is None


def test_an_object_that_becomes_the_pull_secret_stays(objects: Objects) -> None:
    objects.direct()
    objects.write(objects.config_map())
    assert objects.direct(secret_name="cloud")["state"] == "delivered"
    assert held(objects.in_guest("secrets", "cloud")) == docker_config(registry_example_com="one")
    assert objects.direct(secret_name="cloud")["changed"] is False


def test_an_object_in_the_place_of_the_former_pull_secret_stays(objects: Objects) -> None:
    objects.direct()
    reference = REFERENCE.format(objects.world.source, ".dockerconfigjson").replace(
        "cloud", "source-pull-secret"
    )
    objects.write(
        f"apiVersion: v1\nkind: Secret\nmetadata: {{name: pull-secret, namespace: {objects.space}}}\n"
        f"type: kubernetes.io/dockerconfigjson\ndata: {{.dockerconfigjson: {{{reference}}}}}\n"
    )
    for _run in range(2):
        row = objects.direct(secret_name="regcred")
        assert row["state"] == "delivered"
        assert objects.in_guest("secrets", "pull-secret") is not None
    assert row["changed"] is False
    objects.direct(secret_name="regcred", objects=[])
    assert objects.in_guest("secrets", "pull-secret") is None


def test_an_object_of_another_cluster_is_never_deleted(objects: Objects) -> None:
    """As in a guest that was restored from the backup of another one."""
    objects.direct()
    change = {"metadata": {"labels": {"cluster-id": "another"}}}
    objects.api.merge(objects.space, "configmaps", "about", change)
    (warning,) = objects.direct(objects=[])["warnings"]
    assert warning == f"ConfigMap {objects.space}/about is left alone, since it is not of this delivery"
    assert objects.in_guest("configmaps", "about") is not None


def test_the_last_object_is_deleted_first(objects: Objects) -> None:
    objects.write(objects.secret(), objects.config_map())
    objects.direct()
    objects.api.reset()
    objects.direct(objects=[])
    deleted = [call.path.rpartition("/")[2] for call in objects.api.calls.matching() if call.verb == "delete"]
    assert deleted == ["about", "cloud"]


@pytest.mark.parametrize(
    "finalizer",
    some(["example.com/wait", "finalizers.fluxcd.io", "service.kubernetes.io/load-balancer-cleanup"]),
)
def test_what_waits_for_its_finalizers_stays_recorded(objects: Objects, finalizer: str) -> None:
    """What was applied before it may be what ends it."""
    objects.write(objects.secret(), objects.config_map())
    objects.direct()
    objects.api.merge(objects.space, "configmaps", "about", {"metadata": {"finalizers": [finalizer]}})
    absent = {"state": "absent", "source": None, "namespace_selector": None}
    for _run in range(2):
        row = objects.direct(objects=[], check_mode=_run == 0)
        (warning,) = row["warnings"]
        assert warning.startswith(f"not gone yet: ConfigMap {objects.space}/about; a later run deletes what")
        assert objects.in_guest("secrets", "cloud") is not None
    assert objects.direct(objects=[])["changed"] is False
    assert objects.direct(objects=[], check_mode=True)["changed"] is False
    assert objects.direct()["kind"] == "dependency"
    assert objects.direct(**absent, check_mode=True)["state"] == "waiting"
    # The Secret was applied again.
    kept, waits = objects.direct(objects=None)["warnings"]
    name = f"Secret {objects.space}/cloud"
    assert kept == f"without the option objects, the guest keeps {name}; an empty list deletes that"
    assert "not gone yet" in waits
    assert objects.direct(**absent)["state"] == "waiting"
    assert objects.direct(**absent)["changed"] is False
    record = objects.world.api.get(objects.namespace, "configmaps", objects.world.set_name)
    # These do not count for the limit.
    lines = record["metadata"]["annotations"]["hyperfleet.io/objects"].splitlines()
    assert [line[-2:] for line in lines] == [" !", " !"]
    assert objects.world.api.get(objects.namespace, "configmaps", objects.world.set_name) is not None
    objects.api.merge(objects.space, "configmaps", "about", {"metadata": {"finalizers": None}})
    assert objects.direct(**absent)["state"] == "pruned"
    assert objects.in_guest("secrets", "cloud") is None
    assert objects.world.api.get(objects.namespace, "configmaps", objects.world.set_name) is None


def test_claims_on_volumes_end_beside_each_other(objects: Objects) -> None:
    """Each waits for pods, or for a controller that is late. Others wait for them, as their driver does."""
    claims = [f"{objects.space}/{name}" for name in ("data-2", "data-1")]
    manifest = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {{name: {}, namespace: {}}}\n"
    objects.write(objects.secret(), *(manifest.format(name, objects.space) for name in ("data-1", "data-2")))
    objects.direct()
    for name in ("data-1", "data-2"):
        protected = {"metadata": {"finalizers": ["kubernetes.io/pvc-protection"]}}
        objects.api.merge(objects.space, "persistentvolumeclaims", name, protected)
    row = objects.direct(objects=[])
    names = ", ".join(f"PersistentVolumeClaim {claim}" for claim in claims)
    assert (row["state"], row["warnings"]) == (
        "waiting",
        [f"not gone yet: {names}; a later run deletes what was applied before"],
    )
    assert objects.in_guest("secrets", "cloud") is not None
    for name in ("data-1", "data-2"):
        claim = objects.in_guest("persistentvolumeclaims", name)
        assert claim["metadata"]["deletionTimestamp"]
        objects.api.merge(objects.space, "persistentvolumeclaims", name, {"metadata": {"finalizers": None}})
    assert objects.direct(objects=[])["state"] == "delivered"
    assert objects.in_guest("secrets", "cloud") is None


def test_a_kind_of_another_group_is_no_secret(objects: Objects) -> None:
    objects.write(
        f"apiVersion: example.com/v1\nkind: Secret\nmetadata: {{name: a, namespace: {objects.space}}}\n"
    )
    objects.run()
    (_pull_secret, manifest) = objects.world.manifests(objects.namespace)
    assert "data" not in manifest


def test_an_update_whose_answer_is_lost_is_reported(objects: Objects) -> None:
    objects.direct()
    objects.api.merge(objects.space, "configmaps", "about", {"data": {"cluster": "other"}})
    objects.api.faults.add(verb="patch", path="*/configmaps/about", drop=True, phase="after")
    repaired = objects.direct()
    assert (repaired["state"], repaired["actions"]) == ("repaired", ["updated configmap"])


@pytest.mark.parametrize("at", [1, 2])
def test_what_another_run_has_recorded_meanwhile_stays_recorded(objects: Objects, at: int) -> None:
    """Before this run wrote anything, or at its end."""
    world, place = objects.world, (objects.namespace, "configmaps", objects.world.set_name)
    objects.direct()
    line = f"v1 ConfigMap {objects.space} of-another-run 1234"
    annotations = world.api.get(*place)["metadata"]["annotations"]["hyperfleet.io/objects"]

    def overtake() -> None:
        world.api.merge(
            *place, {"metadata": {"annotations": {"hyperfleet.io/objects": f"{annotations}\n{line}"}}}
        )

    world.api.before("patch", f"*/configmaps/{world.set_name}", overtake)
    new = [objects.config_map().replace("about", "new")] if at == 1 else []
    objects.write(objects.config_map(data="{cluster: other}"), objects.secret(), *new)
    assert objects.direct()["state"] == "delivered"
    assert line in world.api.get(*place)["metadata"]["annotations"]["hyperfleet.io/objects"]


def test_a_guest_that_left_loses_them(objects: Objects) -> None:
    objects.world.guest()
    objects.direct()
    objects.world.select(objects.namespace, selected=False)
    assert "pruned" in rows(objects.run(delivery="direct")).values()
    names = [("configmaps", "about"), ("secrets", "cloud"), ("secrets", "pull-secret")]
    assert [objects.in_guest(*name) for name in names] == [None] * 3


def test_a_namespace_is_created_first_and_stays(objects: Objects) -> None:
    name = objects.api.new_name("team")
    objects.write(objects.config_map(), f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n")
    spaces = [objects.space, name]
    assert objects.direct(check_mode=True, secret_namespaces=spaces).get("msg") is None
    assert objects.direct(secret_namespaces=spaces)["state"] == "delivered"
    assert objects.api.secret(name, "pull-secret") is not None
    assert objects.direct(secret_namespaces=spaces)["changed"] is False
    objects.direct()
    assert objects.direct()["changed"] is False
    objects.direct(secret_namespaces=spaces)
    objects.write(objects.config_map())
    row = objects.direct()
    assert f"Namespace {name} stays, since what depends on it would go" in row["warnings"][0]
    assert objects.api.secret(name, "pull-secret") is None
    assert objects.direct()["warnings"] == []
    # Another delivery may have it.
    objects.write(f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n")
    other = objects.direct(set_name=f"{objects.world.set_name}-b", secret_name="other")
    assert other["state"] == "delivered"


def test_what_is_not_ours_is_refused_and_the_rest_is_done(objects: Objects) -> None:
    metadata = {"metadata": {"name": "about"}, "data": {"own": "value"}}
    objects.api.create(objects.space, "configmaps", metadata)
    refused = objects.direct()
    assert "has no label managed-by=hyperfleet" in refused["msg"]
    assert objects.in_guest("configmaps", "about")["data"] == {"own": "value"}
    assert objects.in_guest("secrets", "cloud") is not None
    assert objects.direct(adopt=True)["state"] == "delivered"
    assert set(objects.in_guest("configmaps", "about")["data"]) == {"own", "cluster"}


def test_an_object_that_was_refused_is_never_deleted(objects: Objects) -> None:
    """Not by the delivery that could not have it, and it does not keep that delivery from anything."""
    objects.direct()
    other = f"{objects.world.set_name}-b"
    refused = objects.direct(set_name=other, secret_name="other")
    assert f"belongs to the delivery {objects.world.set_name}; " in refused["msg"]
    assert "it was not changed; remove it from the manifests of one of them" in refused["msg"]
    objects.write(objects.config_map().replace("about", "of-b"))
    pruned = objects.direct(set_name=other, secret_name="other")
    assert (pruned["state"], len(pruned["warnings"])) == ("delivered", 2)
    assert (
        f"ConfigMap {objects.space}/about is left alone, since it is not of this delivery"
        in pruned["warnings"]
    )
    assert objects.in_guest("configmaps", "about") is not None
    assert objects.direct(set_name=other, secret_name="other")["warnings"] == []
    objects.direct(set_name=other, state="absent", source=None, namespace_selector=None)
    assert objects.in_guest("configmaps", "of-b") is None


def test_another_version_of_a_manifest_is_the_same_object(objects: Objects) -> None:
    pod = "{restartPolicy: Never, containers: [{name: main, image: example}]}"
    metadata = f"{{name: once, namespace: {objects.space}}}"
    objects.write(
        f"apiVersion: batch/v1\nkind: Job\nmetadata: {metadata}\nspec: {{template: {{spec: {pod}}}}}\n"
    )
    assert objects.direct()["state"] == "delivered"
    uid = objects.in_guest("jobs", "once")["metadata"]["uid"]
    record = objects.world.api.get(objects.namespace, "configmaps", objects.world.set_name)["metadata"]
    older = record["annotations"]["hyperfleet.io/objects"].replace("batch/v1", "batch/v1beta1")
    change = {"metadata": {"annotations": {"hyperfleet.io/objects": older}}}
    objects.world.api.merge(objects.namespace, "configmaps", objects.world.set_name, change)
    assert objects.direct()["actions"] == ["updated record"]
    assert objects.in_guest("jobs", "once")["metadata"]["uid"] == uid
    # A controller writes the status.
    status = {"status": {"active": 1}}
    path = f"/apis/batch/v1/namespaces/{objects.space}/jobs/once/status"
    objects.api.request("PATCH", path, status)
    unchanged = objects.direct()
    assert (unchanged["changed"], unchanged["state"]) == (False, "delivered")
    # Also to delete it, after an upgrade of the guest.
    objects.world.api.merge(objects.namespace, "configmaps", objects.world.set_name, change)
    assert objects.direct(objects=[])["warnings"] == []
    assert objects.in_guest("jobs", "once") is None


def test_what_the_guest_no_longer_serves_is_forgotten(objects: Objects) -> None:
    objects.direct()
    change = {"metadata": {"annotations": {"hyperfleet.io/objects": "cats/v1 Cat - felix 1234"}}}
    objects.world.api.merge(objects.namespace, "configmaps", objects.world.set_name, change)
    (warning,) = objects.direct()["warnings"]
    assert warning == "objects: Cat felix: the guest serves no Cat in cats/v1, so it was not deleted"
    assert objects.direct()["warnings"] == []


def test_a_deletion_that_fails_keeps_the_record(objects: Objects) -> None:
    objects.direct()
    objects.api.faults.add(verb="delete", path="*/secrets/cloud", status=403)
    failed = objects.direct(objects=[])
    assert failed["kind"] == "permission_denied"
    assert objects.in_guest("secrets", "cloud") is not None
    # What was applied before it may be needed to end it.
    assert objects.in_guest("configmaps", "about") is not None
    assert objects.direct(objects=[])["state"] == "delivered"
    assert objects.in_guest("configmaps", "about") is None


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("apiVersion: v1\nkind: Cat\nmetadata: {name: a}\n", "Cat a: the guest serves no Cat in v1"),
        (
            "apiVersion: cats/v1\nkind: Cat\nmetadata: {name: a}\n",
            "Cat a: the guest serves no Cat in cats/v1",
        ),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "ConfigMap a: its kind needs a namespace"),
        (
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: a, namespace: b}\n",
            "Namespace b/a: its kind has no namespace",
        ),
        (
            "apiVersion: v1\nkind: Secret\nmetadata: {name: pull-secret, namespace: SPACE}\n",
            "Secret SPACE/pull-secret is a pull secret, too",
        ),
    ],
)
def test_what_no_guest_can_have_fails_the_guest(objects: Objects, document: str, message: str) -> None:
    objects.write(document.replace("SPACE", objects.space))
    assert message.replace("SPACE", objects.space) in objects.direct()["msg"]


def test_what_kubectl_prints_is_a_manifest(objects: Objects) -> None:
    """With what only an API server writes; and braces of another language."""
    metadata = {
        "uid": "1c1e",
        "resourceVersion": "12",
        "managedFields": [{"manager": "kubectl"}],
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "own": "kept"},
        "name": "exported",
        "namespace": objects.space,
    }
    data = {"legend": "{{ '{{pod}}' }} of {{ cluster }}"}
    exported = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    objects.write(json.dumps({**exported, "status": {"phase": "Active"}}))
    assert objects.direct()["state"] == "delivered"
    applied = objects.in_guest("configmaps", "exported")
    assert applied["data"] == {"legend": "{{pod}} of " + objects.name}
    assert (applied["metadata"]["annotations"], applied.get("status")) == ({"own": "kept"}, None)
    assert objects.direct()["changed"] is False


def test_what_cluster_api_leaves_in_a_guest_is_said(objects: Objects) -> None:
    objects.run()
    objects.write(objects.config_map())
    (row,) = objects.run(secret_name="regcred")["targets"]
    names = f"Secret {objects.space}/pull-secret, Secret {objects.space}/cloud"
    assert row["warnings"][0] == f"{names} stays in the guest, where Cluster API deletes nothing"


def test_most_guests_never_lose_their_objects_at_once(objects: Objects) -> None:
    """A glob that finds no file is an empty list."""
    world = objects.world
    world.reach(*world.guest(), world.api)
    world.api.request("POST", "/api/v1/namespaces", {"metadata": {"name": objects.space}})
    world.namespaces.append(objects.space)
    objects.run(delivery="direct")
    refused = objects.run(delivery="direct", objects=[])
    assert "objects would be deleted in 2 guests" in refused["msg"]
    assert "more than prune_limit (10%); none was deleted" in refused["msg"]
    assert refused["refused"] == [refused["msg"]]
    assert set(rows(refused).values()) == {"delivered"}
    assert objects.in_guest("configmaps", "about") is not None
    assert not objects.run(delivery="direct")["changed"]

    def wait(finalizers: list[str]) -> None:
        for api in (objects.api, world.api):
            api.merge(objects.space, "configmaps", "about", {"metadata": {"finalizers": finalizers}})

    wait(["example.com/wait"])
    assert not objects.run(delivery="direct", objects=[], prune_limit="100%").get("failed")
    # What was confirmed goes on.
    assert not objects.run(delivery="direct", objects=[]).get("failed")
    wait([])
    assert not objects.run(delivery="direct", objects=[]).get("failed")
    for api in (objects.api, world.api):
        assert api.get(objects.space, "configmaps", "about") is None
    # A manifest that no guest ever had is no loss.
    objects.write(objects.config_map().replace("ConfigMap", "Confgmap"))
    assert "serves no Confgmap" in str(objects.run(delivery="direct")["targets"])
    objects.write(objects.config_map())
    assert not objects.run(delivery="direct").get("failed")


def test_by_cluster_resource_set(objects: Objects) -> None:
    world = objects.world
    first = objects.run(diff=True)
    assert VALUE not in json.dumps(first)
    manifests = world.manifests(objects.namespace)
    assert [manifest["metadata"]["name"] for manifest in manifests] == ["pull-secret", "about", "cloud"]
    assert manifests[2]["data"] == {"token": encoded(VALUE), "user": encoded(objects.name)}
    for manifest, kind in zip(manifests, ("secrets", "configmaps", "secrets"), strict=True):
        objects.api.create(objects.space, kind, manifest)
    world.apply(objects.namespace, objects.name)
    (row,) = objects.run()["targets"]
    assert (row["state"], row["changed"], row["warnings"]) == ("delivered", False, [])
    objects.api.merge(objects.space, "configmaps", "about", {"data": {"cluster": "other"}})
    (row,) = objects.run()["targets"]
    assert f"ConfigMap {objects.space}/about is not as it was delivered" in row["warnings"][0]


def test_an_object_that_cannot_be_looked_at_hides_no_drift(objects: Objects) -> None:
    objects.run()
    objects.world.apply(objects.namespace, objects.name)
    objects.api.faults.add(verb="patch", path="*/configmaps/about", status=403, times=None)
    objects.api.create(objects.space, "configmaps", {"metadata": {"name": "about"}})
    (row,) = objects.run()["targets"]
    assert ["is not as it was delivered" in warning for warning in row["warnings"]] == [True, False, True]
    assert row["warnings"][1].startswith(f"ConfigMap {objects.space}/about could not be looked at: Forbidden")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("kind: ConfigMap\nmetadata: {name: a}\n", "document 1: apiVersion, kind and metadata.name of one"),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\ndata: {x: y}\ndata: {x: z}\n",
            "document 1: data occurs twice (line 6 of it); remove one of them",
        ),
        (
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b, ownerReferences: [{name: c}]}\n",
            "document 1: metadata.ownerReferences is of another cluster; remove it",
        ),
        (
            f"{{apiVersion: v1, kind: Secret, metadata: {{name: a}}, data: {{c: {{{PLACED}}}}}}}",
            "data.c: the reference has a placeholder",
        ),
        ("[]\n", "document 1: apiVersion, kind and metadata.name of one"),
        ("a: [\n", "document 1: is not YAML"),
        ("# nothing\n", "has no manifest"),
        (
            'apiVersion: v1\nkind: Namespace\nmetadata: {name: "{{ clutser }}"}\n',
            "unknown placeholder clutser; it may have cluster and namespace; write {{ '{{ clutser }}' }} for",
        ),
        ("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\nspec: 2026-01-02\n", "such as a date"),
        (
            "---\n".join(["apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n"] * 2),
            "2: Namespace a occurs twice",
        ),
        (
            "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: b}\ndata: {key: an-example-value}\n",
            "document 1: data.key is not base64; write plain text to stringData",
        ),
        (
            "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: b}\ndata: {key: {name: a}}\n",
            "document 1: data.key is not a string; or valueFrom.secretKeyRef with namespace, name and key",
        ),
    ],
)
def test_a_wrong_file_fails_the_run(objects: Objects, document: str, message: str) -> None:
    objects.write(document.replace("SPACE", objects.space))
    with pytest.raises(PullSecretError) as failure:
        objects.run()
    assert message.replace("SPACE", objects.space) in str(failure.value)
    assert VALUE not in str(failure.value)
    assert objects.world.api.writes() == []


def test_a_value_that_is_missing_fails_the_run(objects: Objects) -> None:
    objects.write(objects.secret("password"))
    with pytest.raises(PullSecretError, match=r"the secret has no key password \(it has token\)"):
        objects.run()
    objects.world.api.delete(objects.world.source, "secrets", "cloud")
    with pytest.raises(PullSecretError, match="secrets/cloud does not exist; correct the reference"):
        objects.run()
    objects.file.unlink()
    with pytest.raises(PullSecretError, match="does not exist; check the path"):
        objects.run()
