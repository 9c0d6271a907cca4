# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""LIST: selectors, pages, all namespaces."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.kubernetes.contract.conftest import real_only
from tests.kubernetes.contract.support import Client, Place, names, pull_secret, secret
from tests.support.docker_configs import TYPE


@pytest.fixture
def filled(place: Place) -> Place:
    place.made(secret("c", labels={"env": "prod", "tier": "a"}))
    place.made(pull_secret("a", labels={"env": "prod"}))
    place.made(secret("b", labels={"env": "test", "flag": ""}))
    place.made(secret("d"))
    return place


def test_a_list_is_sorted_by_name_and_its_items_are_whole(admin: Client, filled: Place) -> None:
    listing = admin.get(filled.secrets).ok()
    assert (listing["kind"], listing["apiVersion"]) == ("SecretList", "v1")
    assert listing["metadata"]["resourceVersion"].isdigit()
    assert names(listing) == ["a", "b", "c", "d"]
    one = admin.get(filled.at("a")).ok()
    # Items have no kind and apiVersion.
    assert listing["items"][0] == {k: v for k, v in one.items() if k not in ("kind", "apiVersion")}


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("env=prod", "ac"),
        ("env==prod", "ac"),
        ("env!=prod", "bd"),
        ("env=prod,tier=a", "c"),
        ("env=prod,tier!=a", "a"),
        ("env in (prod,test)", "abc"),
        ("env in (prod), tier", "c"),
        ("env notin (prod)", "bd"),
        ("env", "abc"),
        ("!env", "d"),
        ("flag=", "b"),
        ("env=none", ""),
        ("", "abcd"),
    ],
)
def test_label_selectors(admin: Client, filled: Place, selector: str, found: str) -> None:
    assert names(admin.get(filled.secrets, labelSelector=selector).ok()) == list(found)


@pytest.mark.parametrize(
    "selector", ["env===prod", "bad key=1", "env=bad!value", "env in prod", "=x", "!env=prod"]
)
def test_a_selector_that_cannot_be_read_is_400(admin: Client, place: Place, selector: str) -> None:
    admin.get(place.secrets, labelSelector=selector).refused(400, "BadRequest")


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("metadata.name=a", "a"),
        ("metadata.name!=a", "bcd"),
        (f"type={TYPE}", "a"),
        ("type=Opaque,metadata.name!=b", "cd"),
    ],
)
def test_field_selectors(admin: Client, filled: Place, selector: str, found: str) -> None:
    assert names(admin.get(filled.secrets, fieldSelector=selector).ok()) == list(found)


@real_only
def test_an_unknown_field_selector_is_400(admin: Client, place: Place) -> None:
    status = admin.get(place.secrets, fieldSelector="data.k=v").refused(400, "BadRequest")
    assert status["message"] == "field label not supported: data.k"


@real_only
def test_pages_cover_everything_once_and_count_what_remains(admin: Client, place: Place) -> None:
    expected = [f"s{number:02}" for number in range(7)]
    for name in expected:
        place.made(secret(name))
    seen, remaining, mark = [], [], ""
    while True:
        page = admin.get(place.secrets, limit=3, **({"continue": mark} if mark else {})).ok()
        assert len(page["items"]) <= 3
        seen += names(page)
        remaining.append(page["metadata"].get("remainingItemCount"))
        mark = page["metadata"].get("continue", "")
        if not mark:
            break
    assert seen == expected
    assert remaining == [4, 1, None]


@real_only
def test_pages_show_one_moment(admin: Client, filled: Place) -> None:
    page = admin.get(filled.secrets, limit=2).ok()
    filled.made(secret("cc"))
    admin.delete(filled.at("d")).ok()
    rest = admin.get(filled.secrets, limit=10, **{"continue": page["metadata"]["continue"]}).ok()
    assert names(page) + names(rest) == ["a", "b", "c", "d"]
    assert rest["metadata"]["resourceVersion"] == page["metadata"]["resourceVersion"]


@real_only
def test_an_invalid_continue_token_is_400(admin: Client, place: Place) -> None:
    admin.get(place.secrets, limit=1, **{"continue": "no-token"}).refused(400, "BadRequest")


def test_one_list_across_all_namespaces(admin: Client, new_place: Callable[[], Place]) -> None:
    places = sorted((new_place() for dummy in range(2)), key=lambda place: place.namespace)
    mark = places[0].namespace
    for place in places:
        place.made(secret("s", labels={"run": mark}))
        place.made(secret("other"))
    listing = admin.get("/api/v1/secrets", labelSelector=f"run={mark}").ok()
    found = [(i["metadata"]["namespace"], i["metadata"]["name"]) for i in listing["items"]]
    assert found == [(place.namespace, "s") for place in places]
    chosen = admin.get("/api/v1/secrets", fieldSelector=f"metadata.namespace={mark}").ok()
    assert names(chosen) == ["other", "s"]


def test_the_version_of_a_list_is_not_older_than_its_items(admin: Client, place: Place) -> None:
    made = place.made(secret("s"))
    listing = admin.get(place.secrets).ok()
    assert int(listing["metadata"]["resourceVersion"]) >= int(made["metadata"]["resourceVersion"])
