# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""CreateSecret, GetSecret, UpdateSecret, DeleteSecret."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.secret_manager.contract.support import AUTOMATIC, Workspace, refused

LABELS = {"managed-by": "hyperfleet", "cluster-id": "cls-123"}


def test_create_answers_what_was_asked_with_name_time_and_etag(work: Workspace) -> None:
    secret_id = work.secret_id()
    secret = work.create(secret_id, labels=LABELS, annotations={"note.x": "Y z"})
    assert secret.name.endswith(f"/secrets/{secret_id}")
    assert dict(secret.labels) == LABELS
    assert dict(secret.annotations) == {"note.x": "Y z"}
    assert "automatic" in secret.replication
    assert secret.create_time.timestamp() > 0
    assert secret.etag.startswith('"')
    assert work.client.get_secret(name=secret.name) == secret


def test_names_in_answers_carry_the_project_number_and_both_forms_are_accepted(work: Workspace) -> None:
    secret_id = work.secret_id()
    by_number = work.create(secret_id).name
    assert by_number.split("/")[1].isdigit()
    assert work.client.get_secret(name=work.name(secret_id)).name == by_number
    assert work.client.get_secret(name=by_number).name == by_number


@pytest.mark.parametrize("field", ["name", "etag"])
def test_create_sets_output_fields_itself(work: Workspace, field: str) -> None:
    secret = work.create(**{field: "projects/x/secrets/y"})
    assert getattr(secret, field) != "projects/x/secrets/y"


def test_create_needs_a_replication_policy(work: Workspace) -> None:
    with refused("INVALID_ARGUMENT"):
        work.client.create_secret(parent=work.parent, secret_id=work.secret_id(), secret={})
    with refused("INVALID_ARGUMENT"):
        work.client.create_secret(
            parent=work.parent, secret_id=work.secret_id(), secret={"replication": {"user_managed": {}}}
        )


@pytest.mark.parametrize("secret_id", ["with.dot", "with space", "ünicode", "x" * 256])
def test_create_refuses_ids_outside_the_character_set(work: Workspace, secret_id: str) -> None:
    with refused("INVALID_ARGUMENT"):
        work.client.create_secret(parent=work.parent, secret_id=secret_id, secret=AUTOMATIC)


def test_create_takes_an_id_of_255_characters_of_every_kind(work: Workspace) -> None:
    secret_id = f"{work.prefix}_Az09-".ljust(255, "x")
    assert work.create(secret_id).name.endswith(secret_id)


def test_a_second_create_is_refused_and_changes_nothing(work: Workspace) -> None:
    secret_id = work.secret_id()
    first = work.create(secret_id, labels=LABELS)
    with refused("ALREADY_EXISTS"):
        work.create(secret_id, labels={"managed-by": "other"})
    assert work.client.get_secret(name=first.name) == first


def test_a_missing_secret_is_not_found_by_any_call(work: Workspace) -> None:
    name = work.name(work.secret_id())
    calls: list[Callable[[], Any]] = [
        lambda: work.client.get_secret(name=name),
        lambda: work.client.delete_secret(name=name),
        lambda: work.client.update_secret(secret={"name": name}, update_mask={"paths": ["labels"]}),
        lambda: work.add(name, b"example-password"),
        lambda: work.versions(name),
        lambda: work.client.access_secret_version(name=f"{name}/versions/latest"),
        lambda: work.client.get_secret_version(name=f"{name}/versions/1"),
        lambda: work.client.disable_secret_version(name=f"{name}/versions/1"),
    ]
    for call in calls:
        with refused("NOT_FOUND"):
            call()


def test_update_changes_only_the_fields_of_the_mask(work: Workspace) -> None:
    secret = work.create(labels=LABELS, annotations={"a": "1", "b": "2"})
    updated = work.client.update_secret(
        secret={"name": secret.name, "labels": {"team": "x"}, "annotations": {"c": "3"}},
        update_mask={"paths": ["annotations"]},
    )
    assert dict(updated.annotations) == {"c": "3"}  # a map is replaced, not merged
    assert dict(updated.labels) == LABELS
    assert updated.create_time == secret.create_time
    assert work.client.get_secret(name=secret.name) == updated


def test_update_clears_a_field_that_is_named_but_empty(work: Workspace) -> None:
    secret = work.create(labels=LABELS)
    updated = work.client.update_secret(secret={"name": secret.name}, update_mask={"paths": ["labels"]})
    assert dict(updated.labels) == {}


@pytest.mark.parametrize("paths", [[], ["name"], ["create_time"], ["no_such_field"]])
def test_update_refuses_a_mask_without_a_field_that_can_change(work: Workspace, paths: list[str]) -> None:
    secret = work.create()
    with refused("INVALID_ARGUMENT"):
        work.client.update_secret(secret={"name": secret.name}, update_mask={"paths": paths})


def test_update_refuses_another_replication_policy(work: Workspace) -> None:
    secret = work.create()
    other = {"user_managed": {"replicas": [{"location": "us-central1"}]}}
    with refused("INVALID_ARGUMENT", "FAILED_PRECONDITION"):
        work.client.update_secret(
            secret={"name": secret.name, "replication": other}, update_mask={"paths": ["replication"]}
        )


def test_update_with_a_stale_etag_is_refused_and_changes_nothing(work: Workspace) -> None:
    secret = work.create()
    request = {"name": secret.name, "labels": {"by": "first"}, "etag": secret.etag}
    first = work.client.update_secret(secret=request, update_mask={"paths": ["labels"]})
    assert first.etag != secret.etag
    with refused("FAILED_PRECONDITION"):
        work.client.update_secret(
            secret={**request, "labels": {"by": "second"}}, update_mask={"paths": ["labels"]}
        )
    assert dict(work.client.get_secret(name=secret.name).labels) == {"by": "first"}


def test_an_update_that_changes_nothing_still_changes_the_etag(work: Workspace) -> None:
    secret = work.create(labels=LABELS)
    updated = work.client.update_secret(secret=secret, update_mask={"paths": ["labels"]})
    assert (dict(updated.labels), updated.etag != secret.etag) == (LABELS, True)


def test_delete_with_a_stale_etag_is_refused(work: Workspace) -> None:
    secret = work.create()
    current = work.client.update_secret(secret=secret, update_mask={"paths": ["labels"]})
    with refused("FAILED_PRECONDITION"):
        work.client.delete_secret(request={"name": secret.name, "etag": secret.etag})
    work.client.delete_secret(request={"name": secret.name, "etag": current.etag})
    with refused("NOT_FOUND"):
        work.client.get_secret(name=secret.name)


def test_a_deleted_secret_takes_its_versions_along(work: Workspace) -> None:
    secret_id = work.secret_id()
    name = work.create(secret_id).name
    work.add(name, b"example-password")
    work.client.delete_secret(name=name)
    with refused("NOT_FOUND"):
        work.client.access_secret_version(name=f"{name}/versions/1")
    work.create(secret_id)
    assert work.versions(name) == []
    assert work.add(name, b"example-password-2").name.endswith("/versions/1")
