# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From options to a connection, and the file with the token."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet.connection import (
    TokenFile,
    hyperfleet_connection,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://api.example:8000", "http://api.example:8000/api/hyperfleet/v1"),
        ("https://api.example/", "https://api.example/api/hyperfleet/v1"),
        ("https://api.example/api/hyperfleet/v1/", "https://api.example/api/hyperfleet/v1"),
        ("https://api.example/fleet", "https://api.example/fleet/api/hyperfleet/v1"),
    ],
)
def test_the_address_may_be_given_with_and_without_its_path(url: str, base: str) -> None:
    assert hyperfleet_connection({"url": url}).base == base


def test_the_environment_stands_in_for_a_missing_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYPERFLEET_API_URL", "http://api.example")
    assert hyperfleet_connection({"url": None}).place == "http://api.example"
    assert hyperfleet_connection({"url": "http://task.example"}).place == "http://task.example", (
        "the option takes precedence"
    )
    monkeypatch.setenv("HYPERFLEET_TOKEN_FILE", "/etc/token")
    assert hyperfleet_connection({}).token_file == "/etc/token"
    assert hyperfleet_connection({"token_file": "/etc/other"}).token_file == "/etc/other"
    assert hyperfleet_connection({"url": "http://task.example"}).token_file is None, (
        "it is of the other address"
    )
    monkeypatch.delenv("HYPERFLEET_API_URL")
    with pytest.raises(ConfigurationError, match="HYPERFLEET_API_URL"):
        hyperfleet_connection({})


@pytest.mark.parametrize(
    "url",
    [
        "api.example",
        "ftp://api.example",
        "http://",
        "http://api.example:port",
        "http://[::1",
        "http://user:example-password@api.example",
        "http://api.example/?token=example-password",
        "http://api\0.example",
        "http://api.example/a b",
    ],
)
def test_an_address_that_cannot_be_used_is_not_quoted(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"hyperfleet\.url") as caught:
        hyperfleet_connection({"url": url})
    assert "example" not in str(caught.value)


@pytest.mark.parametrize("value", [None, {"a": "example-password"}, ["example-password"]])
def test_a_header_that_has_no_text_is_refused_by_its_name(value: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"^hyperfleet\.headers\.X-Tenant ") as caught:
        hyperfleet_connection({"url": "http://api.example", "headers": {"X-Tenant": value}})
    assert "example-password" not in str(caught.value)


@pytest.mark.parametrize(
    "headers", [{"X-Tenant": "example-password\r\nX: y"}, {"X Tenant": "v"}, {"": "v"}, {"X": "\u00e4"}]
)
def test_a_header_that_cannot_be_sent_is_refused_without_its_value(headers: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"hyperfleet\.headers") as caught:
        hyperfleet_connection({"url": "http://api.example", "headers": headers})
    assert "example-password" not in str(caught.value)


def test_a_connection_does_not_show_its_headers() -> None:
    connection = hyperfleet_connection(
        {"url": "http://api.example", "headers": {"X-Tenant": "example-password"}}
    )
    assert connection.headers == {"X-Tenant": "example-password"}
    assert "example-password" not in repr(connection)


def test_certificates_are_checked_by_default() -> None:
    assert hyperfleet_connection({"url": "https://api.example"}).validate_certs
    assert not hyperfleet_connection({"url": "https://api.example", "validate_certs": False}).validate_certs


def test_a_token_is_read_once_until_its_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("example-one")
    os.utime(path, ns=(1, 1))
    token = TokenFile(str(path))
    assert token.token() == "example-one"
    path.write_text("example-two")
    os.utime(path, ns=(1, 1))
    assert token.token() == "example-one", "same file, time and size: the file is not read again"
    os.utime(path, ns=(2, 2))
    assert token.token() == "example-two"


def test_a_swapped_link_is_a_new_token(tmp_path: Path) -> None:
    """Kubelet rotates a projected token in this way."""
    for name in ("one", "two"):
        (tmp_path / name).write_text(f"example-{name}")
        os.utime(tmp_path / name, ns=(1, 1))
    link = tmp_path / "token"
    link.symlink_to("one")
    token = TokenFile(str(link))
    assert token.token() == "example-one"
    (tmp_path / "next").symlink_to("two")
    (tmp_path / "next").replace(link)
    assert token.token() == "example-two"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b" \n", "is empty"),
        (b"example token", "not a bearer token"),
        (b"example\ntoken", "not a bearer token"),
        (b"\xff\xfe", "cannot be read: not text"),
    ],
)
def test_a_file_without_a_token_is_named_not_shown(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "token"
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=words) as caught:
        TokenFile(str(path)).token()
    assert "example" not in str(caught.value)
    path.write_text("example-token")
    os.utime(path, ns=(2, 2))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="nowhere cannot be read: No such file"):
        TokenFile(str(tmp_path / "nowhere")).token()


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "token"
    os.mkfifo(path)
    with pytest.raises(ConfigurationError, match="cannot be read: not a regular file"):
        TokenFile(str(path)).token()


@pytest.mark.parametrize("token", [f"eyJhbGciOiJub25lIn0.eyJ{'example' * 4}.", "Bearer example-password"])
def test_a_token_in_the_place_of_its_file_is_not_shown(token: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        TokenFile(token).token()
    assert "the bearer token's file (path not shown) cannot be read: No such file" in str(caught.value)
    assert "example" not in str(caught.value)
