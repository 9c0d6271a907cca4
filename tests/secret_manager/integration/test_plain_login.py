# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Workload Identity without google-auth: tokens of the metadata server, TLS, and their failures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.login import ACCESS, ACCOUNT, TOKEN_PATH, MetadataServer, TlsFront
from tests.support.secret_manager import PLAIN, Module


@pytest.fixture
def metadata(monkeypatch: pytest.MonkeyPatch) -> Iterator[MetadataServer]:
    server = MetadataServer()
    monkeypatch.setenv("GCE_METADATA_HOST", server.address)
    yield server
    server.stop()


@pytest.fixture
def secured(
    secret_manager: SecretManagerLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Module]:
    front = TlsFront(secret_manager.rest.removeprefix("http://"), tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(front.authority))
    module = Module(secret_manager, PLAIN)
    module.defaults["gcp"] = {"transport": PLAIN, "endpoint": front.url}
    yield module
    front.stop()


def test_one_token_serves_all_calls(secured: Module, metadata: MetadataServer) -> None:
    assert secured.put()["actions"] == ["created", "version added"]
    assert [request.path for request in metadata.asked] == [TOKEN_PATH]


def test_a_denied_call_names_the_pods_service_account(secured: Module, metadata: MetadataServer) -> None:
    secured.lab.faults.add("GetSecret", code="PERMISSION_DENIED")
    result = secured.put()
    assert f"as service account {ACCOUNT}" in result["msg"]
    assert f"check that service account {ACCOUNT} has secretmanager.secrets.get" in result["msg"]
    assert ACCESS not in json.dumps(result)


def test_without_a_binding_it_says_so_and_does_not_try_again(
    secured: Module, metadata: MetadataServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "answers", {})
    result = secured.put()
    assert result["kind"] == "permission_denied"
    assert "(the metadata server answered with HTTP 404)" in result["msg"]
    assert "roles/iam.workloadIdentityUser" in result["msg"]
    # One request for the token, one for the account's name in the message.
    assert len(metadata.asked) == 2
    assert secured.writes() == 0


@pytest.mark.parametrize("answer", [{}, {"access_token": "a\nb", "expires_in": 1}, {"access_token": 7}, []])
def test_an_answer_that_is_no_token_is_asked_for_again_and_not_shown(
    secured: Module, metadata: MetadataServer, monkeypatch: pytest.MonkeyPatch, answer: object
) -> None:
    monkeypatch.setattr(metadata, "answers", {TOKEN_PATH: answer})
    result = secured.put()
    assert result["kind"] == "unavailable"
    assert "(the metadata server's answer has no token)" in result["msg"]
    assert "tried 5 times" in result["msg"]


@pytest.mark.parametrize("lifetime", ["NaN", float("nan"), float("inf"), -3600, 0, 1e300, 86401, "soon"])
def test_a_token_of_no_possible_lifetime_is_not_used(
    secured: Module, metadata: MetadataServer, monkeypatch: pytest.MonkeyPatch, lifetime: object
) -> None:
    monkeypatch.setattr(metadata, "answers", {TOKEN_PATH: {"access_token": ACCESS, "expires_in": lifetime}})
    result = secured.put()
    assert result["kind"] == "unavailable"
    assert "tried 5 times" in result["msg"]
    assert secured.writes() == 0
    assert ACCESS not in json.dumps(result)


@pytest.mark.parametrize("headers", [{}, {"Metadata-Flavor": "Other"}])
def test_what_does_not_say_that_it_is_googles_is_not_believed(
    secured: Module, metadata: MetadataServer, monkeypatch: pytest.MonkeyPatch, headers: dict[str, str]
) -> None:
    monkeypatch.setattr(metadata, "headers", headers)
    result = secured.put()
    assert result["kind"] == "permission_denied"
    assert "(the answer is not from a metadata server)" in result["msg"]
    assert ACCOUNT not in json.dumps(result)
    assert len(metadata.asked) == 2
    assert secured.writes() == 0


def test_an_answer_that_never_ends_is_cut_off(
    secured: Module, metadata: MetadataServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "answers", {TOKEN_PATH: {"access_token": "x" * 70_000, "expires_in": 3600}})
    result = secured.put()
    assert result["kind"] == "unavailable"
    assert "(the metadata server does not answer)" in result["msg"]


def test_a_certificate_of_nobody_is_not_trusted(
    secured: Module, metadata: MetadataServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    result = secured.put()
    assert result["kind"] == "unavailable"
    assert "the TLS handshake with localhost" in result["msg"]
    assert secured.count("GetSecret") == 0
