# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page *Permissions* names what the code needs: each row is tried with only its permissions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.google.errors import (
    PERMISSIONS,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes_secret.owned_objects import (
    KINDS,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import (
    gcp_pull_secret,
    k8s_pull_secret,
    pull_secret_info,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.workflows.options import with_targets
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.kubernetes.resources import RESOURCES
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support import doc_tables as tables

PAGE = tables.page("permissions")
PREFIX = "secretmanager."
ROWS = dict(tables.table(PAGE, "What you do", "Permissions, in the project of the secret"))
RIGHTS = {row[0]: row[1:] for row in tables.table(PAGE, "What you do", "Resource", "Verbs")}
# Maps the row for Google to the row for Kubernetes.
INSPECTING = {
    "inspect (``pull_secret_info``)": "inspect (``pull_secret_info``)",
    "inspect with ``unlisted: true``": "inspect with ``unlisted: true``, in all namespaces",
}
PROJECT = "customer-prod-12345"
CLUSTER = {"cluster_id": "cls-1", "project": PROJECT}
SECRET = "hyperfleet-cls-1-pull-secret"
NAMESPACE = "clusters-cls-1"

Run = Callable[..., dict[str, Any]]


def _document(word: str) -> dict[str, str]:
    return {"inline": json.dumps({"auths": {"quay.io": {"username": "example-user", "password": word}}})}


def _run(task: Any, *, check: bool, **arguments: Any) -> dict[str, Any]:
    spec = with_targets(task.target_options())
    checked = ArgumentSpecValidator(spec, mutually_exclusive=[("source", "layers")]).validate(arguments)
    assert not checked.error_messages, checked.error_messages
    (row,) = task.run(dict(checked.validated_parameters), check_mode=check, diff=False)["targets"]
    return dict(row)


# Secret Manager: perform each row of the page, after two versions were stored.


@pytest.fixture
def secret_manager() -> Iterator[SecretManagerLab]:
    with SecretManagerLab() as lab:
        yield lab


@pytest.fixture
def store(secret_manager: SecretManagerLab) -> Run:
    connection = {"transport": "grpc", "endpoint": f"http://{secret_manager.grpc}"}

    def run(*, check: bool = False, **arguments: Any) -> dict[str, Any]:
        return _run(gcp_pull_secret, check=check, gcp=connection, **{**CLUSTER, **arguments})

    return run


def _provision(store: Run) -> None:
    assert store(source=_document("new"))["actions"] == ["version added"]
    assert store(cluster_id="cls-2", source=_document("new"))["actions"] == ["created", "version added"]


def _check(store: Run) -> None:
    assert store(check=True, source=_document("new"))["actions"] == ["version added"]


def _keep(store: Run) -> None:
    actions = store(source=_document("new"), retention={"keep": 1})["actions"]
    assert "version 1 disabled" in actions


def _destroy(store: Run) -> None:
    store(source=_document("new"), retention={"keep": 1})
    row = store(source=_document("new"), retention={"keep": 1, "destroy_after": 0})
    assert "version 1 destroyed" in row["actions"]


def _restore(store: Run) -> None:
    assert store(restore_version="1")["actions"] == ["restored from 1"]


def _restore_disabled(store: Run) -> None:
    assert store(restore_version="2")["actions"] == ["restored from 2"]


def _remove(store: Run) -> None:
    assert store(state="absent")["actions"] == ["deleted"]
    assert not store(state="absent")["changed"]


def _read(store: Run) -> None:
    source = {"gcp": {"project": PROJECT, "secret": SECRET}}
    assert "failed" not in store(check=True, cluster_id="cls-2", project="customer-dev-67890", source=source)


GOOGLE: dict[str, Callable[[Run], None]] = {
    "provision and rotate": _provision,
    "see what a run would change (``--check``)": _check,
    "retain (``retention.keep``)": _keep,
    "retain (``retention.destroy_after``)": _destroy,
    "restore a version that is enabled": _restore,
    "restore a version that is disabled": _restore_disabled,
    "remove (``state: absent``)": _remove,
    "read a secret (``source: gcp``, a worker)": _read,
}


def _permissions(row: str) -> set[str]:
    words = {f"{PREFIX}{word}" for word in tables.literals(ROWS[row])}
    return words | (_permissions("provision and rotate") if ROWS[row].startswith("as provision") else set())


def test_calls_and_permissions_are_those_of_the_code() -> None:
    rows = tables.table(PAGE, "Call", "Permission")
    assert {call.strip("`"): permission.strip("`") for call, permission in rows} == PERMISSIONS


@pytest.mark.parametrize("row", GOOGLE)
def test_google_row_suffices(row: str, store: Run, secret_manager: SecretManagerLab) -> None:
    """Deny every other call in the project of the secret."""
    for word in ("one", "two", "three"):
        store(source=_document(word))
    if "disabled" in row:
        store(source=_document("four"), retention={"keep": 2})
    here = f"projects/{PROJECT}*"
    for call in PERMISSIONS:
        if PERMISSIONS[call] not in _permissions(row):
            secret_manager.faults.add(call, here, code="PERMISSION_DENIED")
    GOOGLE[row](store)


@pytest.mark.parametrize("row", GOOGLE)
def test_google_row_has_no_permission_too_many(
    row: str, store: Run, secret_manager: SecretManagerLab
) -> None:
    for word in ("one", "two", "three"):
        store(source=_document(word))
    if "disabled" in row:
        store(source=_document("four"), retention={"keep": 2})
    secret_manager.calls.clear()
    GOOGLE[row](store)
    called = {PERMISSIONS[call.method] for call in secret_manager.calls.matching()}
    # The provision row includes creating the secret; the rows that build on it need not create it.
    base = set() if row == "provision and rotate" else _permissions("provision and rotate")
    assert _permissions(row) - base <= called


def test_every_google_row_is_tried() -> None:
    assert sorted(ROWS) == sorted([*GOOGLE, *INSPECTING])


def test_role_for_writers_is_the_smallest() -> None:
    (created,) = _given_by("roles create pullSecretWriter", "--permissions=")
    assert created == _permissions("provision and rotate")


def test_what_is_added_to_the_role_are_the_other_rows() -> None:
    remove, retain, restore, listing = _given_by("roles update pullSecretWriter", "--add-permissions=")
    base = _permissions("provision and rotate")
    assert remove == _permissions("remove (``state: absent``)") - base
    assert retain == _permissions("retain (``retention.destroy_after``)") - base
    assert restore == _permissions("restore a version that is disabled") - base
    assert base | remove | retain | restore | listing == set(PERMISSIONS.values())


def _given_by(command: str, option: str) -> list[set[str]]:
    """The permissions of each such command of gcloud on the page."""
    commands = PAGE.replace("\\\n   ", "").splitlines()
    return [set(line.split(option)[1].split(",")) for line in commands if f"gcloud iam {command} " in line]


# Kubernetes: compare the requests to the API server with each row of the page.


@pytest.fixture
def cluster() -> Iterator[KubernetesLab]:
    with KubernetesLab() as lab:
        for namespace in (NAMESPACE, "sources"):
            lab.store.create(RESOURCES["namespaces"], {"metadata": {"name": namespace}})
        yield lab


@pytest.fixture
def place(cluster: KubernetesLab, tmp_path: Path) -> Run:
    kubeconfig = write_kubeconfig(
        tmp_path / "kubeconfig", [Cluster("mgmt-1", cluster.url, cluster.admin_token)]
    )
    target = {"cluster_id": "cls-1", "namespace": NAMESPACE, "kubernetes": {"kubeconfig": str(kubeconfig)}}

    def run(*, check: bool = False, **arguments: Any) -> dict[str, Any]:
        row = _run(k8s_pull_secret, check=check, **{**target, **arguments})
        assert "failed" not in row, row
        return row

    return run


def _placed(place: Run, _cluster: KubernetesLab) -> None:
    for word in ("one", "two"):
        place(source=_document(word))


def _looked_at(place: Run, _cluster: KubernetesLab) -> None:
    place(check=True, source=_document("one"))


def _replaced(place: Run, cluster: KubernetesLab) -> None:
    place(source=_document("one"), immutable=True)
    cluster.calls.clear()
    assert place(source=_document("two"))["actions"] == ["replaced"]


def _removed(place: Run, cluster: KubernetesLab) -> None:
    place(source=_document("one"))
    cluster.calls.clear()
    place(state="absent")


def _linked(place: Run, _cluster: KubernetesLab) -> None:
    place(source=_document("one"), service_accounts=["default"])


def _sourced(place: Run, cluster: KubernetesLab) -> None:
    place(namespace="sources", name="pull-secret", source=_document("one"))
    cluster.calls.clear()
    place(check=True, source={"kubernetes": {"namespace": "sources", "name": "pull-secret"}})


KUBERNETES: dict[str, Callable[[Run, KubernetesLab], None]] = {
    "provision and rotate": _placed,
    "see what a run would change (``--check``)": _looked_at,
    "replace an immutable Secret, or one of another type": _replaced,
    "remove (``state: absent``)": _removed,
    "link service accounts (``service_accounts``)": _linked,
    "read a source (``source: kubernetes``), in its namespace": _sourced,
}


@pytest.mark.parametrize("row", KUBERNETES)
def test_kubernetes_row_matches_the_requests(row: str, place: Run, cluster: KubernetesLab) -> None:
    resource, verbs = RIGHTS[row]
    KUBERNETES[row](place, cluster)
    (name,) = tables.literals(resource)
    calls = cluster.calls.matching("*", f"/api/v1/namespaces/*/{name}*")
    assert {call.verb for call in calls} == set(tables.literals(verbs))


def test_cluster_role_is_the_smallest() -> None:
    bound, added = tables.yaml_blocks(PAGE)[:2]
    (rule,) = yaml.safe_load(bound)["items"][0]["rules"]
    assert (rule["resources"], rule["verbs"]) == (["secrets"], _verbs("provision and rotate"))
    removal, links = yaml.safe_load(added)
    more = {
        *_verbs("remove (``state: absent``)"),
        *_verbs("replace an immutable Secret, or one of another type"),
    }
    assert set(removal["verbs"]) == more - set(rule["verbs"])
    assert links["verbs"] == _verbs("link service accounts (``service_accounts``)")


def _verbs(row: str) -> list[str]:
    return tables.literals(RIGHTS[row][1])


def test_every_kubernetes_row_is_tried() -> None:
    assert sorted(RIGHTS) == sorted([*KUBERNETES, *INSPECTING.values()])


@pytest.mark.parametrize("row", INSPECTING)
def test_inspecting_needs_only_what_the_rows_name(
    row: str, store: Run, place: Run, secret_manager: SecretManagerLab, cluster: KubernetesLab, tmp_path: Path
) -> None:
    """It looks at both places; every other call to Secret Manager is denied."""
    store(source=_document("one"))
    place(source=_document("one"))
    cluster.calls.clear()
    secret_manager.calls.clear()
    for call in PERMISSIONS:
        if PERMISSIONS[call] not in _permissions(row):
            secret_manager.faults.add(call, code="PERMISSION_DENIED")
    arguments = {
        **CLUSTER,
        "namespace": NAMESPACE,
        "gcp": {"endpoint": f"http://{secret_manager.grpc}"},
        "kubernetes": {"kubeconfig": str(tmp_path / "kubeconfig")},
        "unlisted": "unlisted" in row,
    }
    checked = ArgumentSpecValidator(pull_secret_info.target_options()).validate(arguments)
    assert not checked.error_messages, checked.error_messages
    done = pull_secret_info.run(dict(checked.validated_parameters), check_mode=False, diff=False)
    assert not done.get("failed"), done
    assert {PERMISSIONS[call.method] for call in secret_manager.calls.matching()} == _permissions(row)
    resource, verbs = RIGHTS[INSPECTING[row]]
    assert tables.literals(resource) == ["secrets"]
    assert {call.verb for call in cluster.calls.matching("*", "*/secrets*")} == set(tables.literals(verbs))


def test_kinds_in_a_hosted_cluster_are_those_of_the_code() -> None:
    start = PAGE.index("In the hosted cluster, in ``kube-system``:")
    rows = tables.tables(PAGE[start:])[0]
    named = {
        word
        for resources, verbs in rows[1:]
        if "``delete``" in verbs
        for word in tables.literals(resources)
        if "." not in word and word != "apps"
    }
    assert named == set(KINDS)
