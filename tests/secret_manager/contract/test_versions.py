# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions: adding, reading, checksums, states, etags, lists."""

from __future__ import annotations

import pytest
from google_crc32c import value as crc32c

from tests.secret_manager.contract.support import State, Workspace, refused

DATA = b'{"auths":{"registry.example.com":{"auth":"example-password"}}}'


@pytest.fixture
def secret(work: Workspace) -> str:
    return str(work.create().name)


def test_crc32c_is_castagnoli() -> None:
    # The check value of the CRC catalogue, and lengths around a multiple of four.
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(b"") == 0
    assert crc32c(b"\x00" * 32) == 0x8A9136AA  # RFC 3720 B.4


def test_the_first_version_is_1_and_its_bytes_come_back(work: Workspace, secret: str) -> None:
    version = work.add(secret, DATA)
    assert version.name == f"{secret}/versions/1"
    assert version.state == State.ENABLED
    assert version.client_specified_payload_checksum is True
    assert version.etag.startswith('"')
    answer = work.client.access_secret_version(name=version.name)
    assert (answer.name, answer.payload.data, answer.payload.data_crc32c) == (
        version.name,
        DATA,
        crc32c(DATA),
    )
    assert work.client.get_secret_version(name=version.name) == version


def test_the_same_bytes_again_make_a_new_version(work: Workspace, secret: str) -> None:
    names = [work.add(secret, DATA).name for dummy in range(3)]
    assert names == [f"{secret}/versions/{number}" for number in (1, 2, 3)]


def test_adding_a_version_leaves_the_secret_as_it_was(work: Workspace, secret: str) -> None:
    before = work.client.get_secret(name=secret)
    work.add(secret, DATA)
    assert work.client.get_secret(name=secret) == before


def test_a_checksum_is_optional_and_reported(work: Workspace, secret: str) -> None:
    version = work.client.add_secret_version(parent=secret, payload={"data": DATA})
    assert version.client_specified_payload_checksum is False
    assert work.client.access_secret_version(name=version.name).payload.data_crc32c == crc32c(DATA)


@pytest.mark.parametrize("checksum", [0, crc32c(DATA) ^ 1])
def test_a_wrong_checksum_is_refused_without_a_word_of_the_payload(
    work: Workspace, secret: str, checksum: int
) -> None:
    with refused("INVALID_ARGUMENT") as error:
        work.client.add_secret_version(parent=secret, payload={"data": DATA, "data_crc32c": checksum})
    assert "example-password" not in str(error.value)
    assert work.versions(secret) == []


def test_a_payload_has_1_to_65536_bytes(work: Workspace, secret: str) -> None:
    for payload in ({}, {"data": b""}, {"data": b"x" * (64 * 1024 + 1)}):
        with refused("INVALID_ARGUMENT"):
            work.client.add_secret_version(parent=secret, payload=payload)
    largest = bytes(range(256)) * 256
    name = work.add(secret, largest).name
    assert work.client.access_secret_version(name=name).payload.data == largest


def test_latest_is_the_one_created_last_whatever_its_state(work: Workspace, secret: str) -> None:
    latest = f"{secret}/versions/latest"
    with refused("NOT_FOUND"):
        work.client.access_secret_version(name=latest)
    work.add(secret, b"example-1")
    work.add(secret, b"example-2")
    answer = work.client.access_secret_version(name=latest)
    assert (answer.name, answer.payload.data) == (f"{secret}/versions/2", b"example-2")
    for change in (work.client.disable_secret_version, work.client.destroy_secret_version):
        change(name=f"{secret}/versions/2")
        with refused("FAILED_PRECONDITION"):
            work.client.access_secret_version(name=latest)
        assert work.client.get_secret_version(name=latest).name == f"{secret}/versions/2"
    assert work.client.access_secret_version(name=f"{secret}/versions/1").payload.data == b"example-1"


def test_a_disabled_version_cannot_be_read_until_it_is_enabled(work: Workspace, secret: str) -> None:
    name = work.add(secret, DATA).name
    assert work.client.disable_secret_version(name=name).state == State.DISABLED
    with refused("FAILED_PRECONDITION"):
        work.client.access_secret_version(name=name)
    assert work.client.enable_secret_version(name=name).state == State.ENABLED
    assert work.client.access_secret_version(name=name).payload.data == DATA


def test_a_destroyed_version_stays_destroyed_and_listed(work: Workspace, secret: str) -> None:
    name = work.add(secret, DATA).name
    destroyed = work.client.destroy_secret_version(name=name)
    assert destroyed.state == State.DESTROYED
    assert destroyed.destroy_time >= destroyed.create_time
    for call in (
        work.client.access_secret_version,
        work.client.enable_secret_version,
        work.client.disable_secret_version,
    ):
        with refused("FAILED_PRECONDITION"):
            call(name=name)
    assert work.versions(secret) == ["1"]


@pytest.mark.parametrize("version", ["2", "0", "999999"])
def test_a_version_that_never_was_is_not_found(work: Workspace, secret: str, version: str) -> None:
    work.add(secret, DATA)
    with refused("NOT_FOUND", "INVALID_ARGUMENT"):
        work.client.access_secret_version(name=f"{secret}/versions/{version}")


@pytest.mark.parametrize("verb", ["enable", "disable", "destroy"])
def test_a_stale_etag_is_refused_and_changes_nothing(work: Workspace, secret: str, verb: str) -> None:
    version = work.add(secret, DATA)
    # Enabling an enabled version changes only the etag.
    enabled = work.client.enable_secret_version(request={"name": version.name, "etag": version.etag})
    assert enabled.etag != version.etag
    change = getattr(work.client, f"{verb}_secret_version")
    with refused("FAILED_PRECONDITION"):
        change(request={"name": version.name, "etag": version.etag})
    assert work.client.get_secret_version(name=version.name) == enabled
    changed = change(request={"name": version.name, "etag": enabled.etag})
    assert changed.etag != enabled.etag


def test_lists_are_newest_first_and_filtered_by_state(work: Workspace, secret: str) -> None:
    for number in range(1, 6):
        work.add(secret, b"example-%d" % number)
    work.client.disable_secret_version(name=f"{secret}/versions/5")
    work.client.disable_secret_version(name=f"{secret}/versions/2")
    work.client.destroy_secret_version(name=f"{secret}/versions/1")
    assert work.versions(secret) == ["5", "4", "3", "2", "1"]
    assert work.versions(secret, "state:ENABLED") == ["4", "3"]
    assert work.versions(secret, "state=ENABLED") == ["4", "3"]
    assert work.versions(secret, "state:DISABLED") == ["5", "2"]
    assert work.versions(secret, "state:DESTROYED") == ["1"]
    work.client.enable_secret_version(name=f"{secret}/versions/2")
    work.client.enable_secret_version(name=f"{secret}/versions/5")
    assert work.versions(secret, "state:ENABLED") == ["5", "4", "3", "2"]


@pytest.mark.parametrize("where", ["", "state:ENABLED"])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_pages_hold_every_version_once(work: Workspace, secret: str, where: str, size: int) -> None:
    for number in range(1, 6):
        work.add(secret, b"example-%d" % number)
    request = {"parent": secret, "filter": where, "page_size": size}
    pages = [list(page.versions) for page in work.client.list_secret_versions(request=request).pages]
    assert [v.name.rpartition("/")[2] for page in pages for v in page] == ["5", "4", "3", "2", "1"]
    assert all(len(page) <= size for page in pages)


def test_the_newest_enabled_version_is_the_first_of_a_page_of_one(work: Workspace, secret: str) -> None:
    for number in range(1, 4):
        work.add(secret, b"example-%d" % number)
    work.client.disable_secret_version(name=f"{secret}/versions/3")
    request = {"parent": secret, "filter": "state:ENABLED", "page_size": 1}
    page = next(work.client.list_secret_versions(request=request).pages)
    assert [v.name for v in page.versions] == [f"{secret}/versions/2"]
    assert page.next_page_token


def test_a_version_filter_that_cannot_be_read_is_refused(work: Workspace, secret: str) -> None:
    for where in ("state:NOPE", "labels.a=b", "state:ENABLED AND"):
        with refused("INVALID_ARGUMENT"):
            work.versions(secret, where)
