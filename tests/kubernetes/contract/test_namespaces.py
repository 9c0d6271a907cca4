# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Namespaces and their service accounts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.kubernetes.contract.conftest import real_only, until
from tests.kubernetes.contract.support import (
    MERGE_PATCH,
    PROTECTED,
    STRATEGIC_PATCH,
    Client,
    Place,
    causes,
    names,
    pull_secret,
    version,
)


@pytest.fixture
def place(new_place: Callable[[], Place]) -> Place:
    """A new namespace for each test."""
    return new_place()


@pytest.fixture
def account(admin: Client, place: Place) -> str:
    """The path of the default service account, which a controller creates."""
    path = f"{place.accounts}/default"
    until(lambda: admin.get(path).code == 200, "the default service account")
    return path


def test_a_namespace_is_active_and_labelled_with_its_name(admin: Client, place: Place) -> None:
    namespace = admin.get(place.root).ok()
    assert namespace["status"] == {"phase": "Active"}
    assert namespace["metadata"]["labels"] == {"kubernetes.io/metadata.name": place.namespace}
    status = admin.post("/api/v1/namespaces", {"metadata": {"name": place.namespace}})
    assert status.refused(409, "AlreadyExists")["details"]["kind"] == "namespaces"


@pytest.mark.parametrize("name", ["Upper", "dot.ted", "x" * 64])
def test_an_invalid_name_is_422(admin: Client, name: str) -> None:
    status = admin.post("/api/v1/namespaces", {"metadata": {"name": name}}).refused(422, "Invalid")
    assert ("metadata.name", "FieldValueInvalid") in causes(status)
    assert status["message"].startswith(f'Namespace "{name}" is invalid: ')


def test_a_missing_namespace_is_404(admin: Client) -> None:
    status = admin.get("/api/v1/namespaces/not-there").refused(404, "NotFound")
    assert status["message"] == 'namespaces "not-there" not found'


@real_only
def test_default_is_there_and_may_not_be_deleted(admin: Client) -> None:
    admin.get("/api/v1/namespaces/default").ok()
    status = admin.delete("/api/v1/namespaces/default").refused(403, "Forbidden")
    assert status["message"] == 'namespaces "default" is forbidden: this namespace may not be deleted'


def test_a_deleted_namespace_takes_its_secrets_along(admin: Client, place: Place) -> None:
    place.made(pull_secret("s"))
    admin.delete(place.root).ok()
    until(lambda: admin.get(place.root).code == 404, "the namespace goes")
    admin.get(place.at("s")).refused(404, "NotFound")
    assert place.namespace not in names(admin.get("/api/v1/namespaces").ok())


def test_a_terminating_namespace_takes_nothing_new(admin: Client, place: Place) -> None:
    admin.patch(place.root, {"metadata": {"finalizers": [PROTECTED]}}).ok()
    answer = admin.delete(place.root).ok()
    assert (answer["kind"], answer["status"]["phase"]) == ("Namespace", "Terminating")
    status = admin.post(place.secrets, pull_secret("s")).refused(403, "Forbidden")
    assert status["message"] == (
        f'secrets "s" is forbidden: unable to create new content in namespace {place.namespace} '
        "because it is being terminated"
    )
    assert causes(status) == [("metadata.namespace", "NamespaceTerminating")]
    # Controllers change the namespace meanwhile: repeat the patch until it is the last change.
    until(
        lambda: (
            admin.patch(place.root, {"metadata": {"finalizers": None}}).code in (200, 404)
            and admin.get(place.root).code == 404
        ),
        "the namespace goes",
    )


@pytest.mark.parametrize("content_type", [MERGE_PATCH, STRATEGIC_PATCH])
def test_any_patch_replaces_the_image_pull_secrets(admin: Client, account: str, content_type: str) -> None:
    admin.patch(account, {"imagePullSecrets": [{"name": "a"}, {"name": "b"}]}, content_type).ok()
    done = admin.patch(account, {"imagePullSecrets": [{"name": "c"}]}, content_type).ok()
    assert done["imagePullSecrets"] == [{"name": "c"}]


def test_image_pull_secrets_are_read_changed_and_written_with_the_version(
    admin: Client, account: str
) -> None:
    read = admin.get(account).ok()
    patch = {"metadata": {"resourceVersion": version(read)}, "imagePullSecrets": [{"name": "a"}]}
    admin.patch(account, patch).ok()
    assert "modified" in admin.patch(account, patch).refused(409, "Conflict")["message"]
    read["imagePullSecrets"] = [{"name": "b"}]
    admin.put(account, read).refused(409, "Conflict")
    assert admin.get(account).ok()["imagePullSecrets"] == [{"name": "a"}]


def test_a_repeated_image_pull_secret_is_kept_and_the_version_too(admin: Client, account: str) -> None:
    first = admin.patch(account, {"imagePullSecrets": [{"name": "a"}]}).ok()
    assert version(admin.patch(account, {"imagePullSecrets": [{"name": "a"}]}).ok()) == version(first)


def test_an_empty_list_removes_the_field(admin: Client, account: str) -> None:
    admin.patch(account, {"imagePullSecrets": [{"name": "a"}]}).ok()
    assert "imagePullSecrets" not in admin.patch(account, {"imagePullSecrets": []}).ok()


def test_a_pull_secret_need_not_exist_to_be_named(admin: Client, account: str) -> None:
    done = admin.patch(account, {"imagePullSecrets": [{"name": "not-there"}]}).ok()
    assert done["imagePullSecrets"] == [{"name": "not-there"}]


def test_a_missing_service_account_is_404(admin: Client, place: Place) -> None:
    status = admin.patch(f"{place.accounts}/none", {"imagePullSecrets": []}).refused(404, "NotFound")
    assert status["message"] == 'serviceaccounts "none" not found'


def test_deleting_a_service_account_answers_with_it(admin: Client, place: Place) -> None:
    admin.post(place.accounts, {"metadata": {"name": "builder"}}).ok()
    deleted = admin.delete(f"{place.accounts}/builder").ok()
    assert (deleted["kind"], deleted["metadata"]["name"]) == ("ServiceAccount", "builder")
    admin.get(f"{place.accounts}/builder").refused(404, "NotFound")


def test_events_are_accepted(admin: Client, place: Place) -> None:
    event = {
        "metadata": {"name": "e"},
        "involvedObject": {"apiVersion": "v1", "kind": "Secret", "namespace": place.namespace, "name": "s"},
        "reason": "Synchronised",
        "message": "1 registry",
        "type": "Normal",
    }
    admin.post(f"{place.root}/events", event).ok()
    listing = admin.get(f"{place.root}/events", fieldSelector="involvedObject.name=s").ok()
    assert [item["reason"] for item in listing["items"]] == ["Synchronised"]
