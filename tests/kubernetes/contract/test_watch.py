# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""WATCH, through the ``Watch`` class of the kubernetes client."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kubernetes.dynamic import DynamicClient

from tests.kubernetes.contract.support import Client, Place, secret
from tests.support.docker_configs import encoded

Change = tuple[str, str]


@pytest.fixture(scope="session")
def dynamic(admin: Client) -> DynamicClient:
    return DynamicClient(admin.api())


@pytest.fixture
def watch(dynamic: DynamicClient, place: Place) -> Callable[..., Iterator[dict[str, Any]]]:
    """Watch the test's Secrets for one second, or until the test stops reading."""
    resource = dynamic.resources.get(api_version="v1", kind="Secret")

    def start(**options: Any) -> Iterator[dict[str, Any]]:
        yield from dynamic.watch(resource, namespace=place.namespace, **{"timeout": 1, **options})

    return start


def changes(events: Iterator[dict[str, Any]]) -> list[Change]:
    return [(event["type"], event["raw_object"]["metadata"]["name"]) for event in events]


def list_version(admin: Client, place: Place) -> str:
    found: str = admin.get(place.secrets).ok()["metadata"]["resourceVersion"]
    return found


def test_from_a_version_on_every_change_arrives_in_order(
    admin: Client, place: Place, watch: Callable[..., Iterator[dict[str, Any]]]
) -> None:
    place.made(secret("old"))
    start = list_version(admin, place)
    place.made(secret("a"))
    admin.patch(place.at("a"), {"data": {"k": encoded("v")}}).ok()
    admin.patch(place.at("a"), {"data": {"k": encoded("v")}}).ok()  # the same value again
    admin.delete(place.at("old")).ok()
    events = list(watch(resource_version=start))
    assert changes(iter(events)) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "old")]
    objects = [event["raw_object"] for event in events]
    assert all((o["kind"], o["apiVersion"]) == ("Secret", "v1") for o in objects)
    assert objects[1]["data"] == {"k": encoded("v")}
    versions = [int(o["metadata"]["resourceVersion"]) for o in objects]
    assert versions == sorted(set(versions))
    assert versions[0] > int(start)


def test_without_a_version_it_begins_with_what_is_there(
    place: Place, watch: Callable[..., Iterator[dict[str, Any]]]
) -> None:
    place.made(secret("a"))
    place.made(secret("b"))
    assert sorted(changes(watch())) == [("ADDED", "a"), ("ADDED", "b")]


def test_a_change_arrives_while_watching(
    place: Place, watch: Callable[..., Iterator[dict[str, Any]]], admin: Client
) -> None:
    place.made(secret("a"))
    events = watch(timeout=30, resource_version="0")
    assert changes(iter([next(events)])) == [("ADDED", "a")]
    # The watch is established: later changes must arrive through it.
    admin.patch(place.at("a"), {"metadata": {"labels": {"n": "1"}}}).ok()
    event = next(events)
    assert (event["type"], event["raw_object"]["metadata"]["labels"]) == ("MODIFIED", {"n": "1"})


def test_a_watch_of_one_name(
    admin: Client, place: Place, watch: Callable[..., Iterator[dict[str, Any]]]
) -> None:
    start = list_version(admin, place)
    place.made(secret("a"))
    place.made(secret("b"))
    assert changes(watch(resource_version=start, field_selector="metadata.name=b")) == [("ADDED", "b")]


def test_an_object_that_leaves_a_selector_is_deleted(
    admin: Client, place: Place, watch: Callable[..., Iterator[dict[str, Any]]]
) -> None:
    start = list_version(admin, place)
    place.made(secret("a", labels={"n": "1"}))
    place.made(secret("b"))
    admin.patch(place.at("a"), {"metadata": {"labels": {"n": "2"}}}).ok()
    admin.patch(place.at("b"), {"metadata": {"labels": {"n": "1"}}}).ok()
    admin.delete(place.at("a")).ok()
    seen = changes(watch(resource_version=start, label_selector="n=1"))
    assert seen == [("ADDED", "a"), ("DELETED", "a"), ("ADDED", "b")]
