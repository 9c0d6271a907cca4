# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Logins with google-auth itself: Workload Identity Federation, impersonation, and their failures."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import google.auth.iam
import grpc
import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.google.auth import (
    google_connection,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.login import ACCESS, ACCOUNT, FEDERATED, LEAK, MetadataServer, TlsFront, TokenService
from tests.support.secret_manager import PROJECT, TRANSPORTS, Module

_OTHER = "pullsecret-other@customer-dev-67890.iam.gserviceaccount.com"


@pytest.fixture(params=TRANSPORTS)
def module(request: pytest.FixtureRequest, secret_manager: SecretManagerLab) -> Module:
    """Over the transports that use google-auth."""
    return Module(secret_manager, request.param)


@pytest.fixture
def tokens(monkeypatch: pytest.MonkeyPatch) -> Iterator[TokenService]:
    service = TokenService()
    monkeypatch.setattr(
        google.auth.iam,
        "_IAM_ENDPOINT",
        service.url + "/v1/projects/-/serviceAccounts/{}:generateAccessToken",
    )
    # google-auth asks Google, in a thread of its own, in which regions an account may be used.
    monkeypatch.setattr(
        "google.auth._regional_access_boundary_utils._RegionalAccessBoundaryManager.maybe_start_refresh",
        lambda *dummy: None,
    )
    monkeypatch.delenv("SECRET_MANAGER_EMULATOR_HOST", raising=False)
    yield service
    service.stop()


@pytest.fixture
def secured(
    module: Module, tokens: TokenService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Module]:
    """The module against the stand-in behind TLS; its credentials lead to ``tokens``."""
    lab = module.lab
    front = TlsFront(lab.grpc if module.transport == "grpc" else lab.rest.removeprefix("http://"), tmp_path)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(front.authority))
    trusted = grpc.ssl_channel_credentials(root_certificates=front.authority.read_bytes())
    # api_core uses these as Google's root certificates.
    monkeypatch.setattr(
        grpc,
        "compute_engine_channel_credentials",
        lambda call: grpc.composite_channel_credentials(trusted, call),
    )
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tokens.credentials(tmp_path, impersonate=True)))
    module.defaults["gcp"] = {"transport": module.transport, "endpoint": front.url}
    yield module
    front.stop()


def test_workload_identity_is_exchanged_for_the_service_accounts_token(
    secured: Module, tokens: TokenService
) -> None:
    assert secured.put()["actions"] == ["created", "version added"]
    paths = [request.path for request in tokens.asked]
    assert paths == ["/v1/token", f"/v1/projects/-/serviceAccounts/{ACCOUNT}:generateAccessToken"]
    assert b"example-subject-token" in tokens.asked[0].body
    assert tokens.asked[1].headers["authorization"] == f"Bearer {FEDERATED}"


@pytest.mark.filterwarnings("ignore:The load_credentials_from_file method:DeprecationWarning")
def test_a_credentials_file_is_used(
    secured: Module, tokens: TokenService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nonexistent.json")
    path = tokens.credentials(tmp_path, impersonate=False)
    secured.defaults["gcp"] = {**secured.defaults["gcp"], "credentials_file": str(path)}
    assert secured.put()["changed"]
    assert [request.path for request in tokens.asked] == ["/v1/token"]


def test_each_target_acts_as_its_own_service_account(secured: Module, tokens: TokenService) -> None:
    targets = [
        {"cluster_id": "cls-1", "project": PROJECT},
        {"cluster_id": "cls-2", "project": "customer-dev-67890", "impersonate_service_account": _OTHER},
    ]
    result = secured.run(targets=targets, source={"inline": '{"auths": {"quay.io": {"auth": "YTpi"}}}'})
    assert not result["failed_targets"], result
    asked = {request.path.rpartition("/")[2]: request.headers for request in tokens.asked}
    assert f"{_OTHER}:generateAccessToken" in asked
    assert asked[f"{_OTHER}:generateAccessToken"]["authorization"] == f"Bearer {ACCESS}"


@pytest.mark.parametrize(
    ("path", "account", "role", "arguments"),
    [
        pytest.param("/v1/token", ACCOUNT, "workloadIdentityUser", {}, id="exchange"),
        pytest.param(f"{ACCOUNT}:generateAccessToken", ACCOUNT, "workloadIdentityUser", {}, id="binding"),
        pytest.param(
            f"{_OTHER}:generateAccessToken",
            _OTHER,
            "serviceAccountTokenCreator",
            {"impersonate_service_account": _OTHER},
            id="impersonation",
        ),
    ],
)
def test_without_a_token_it_says_whose_binding_to_check_and_shows_none(
    secured: Module, tokens: TokenService, path: str, account: str, role: str, arguments: dict[str, Any]
) -> None:
    tokens.denied[path] = 403
    result = secured.put(**arguments)

    assert result["kind"] == "permission_denied", result["msg"]
    assert f"no access token for service account {account} (" in result["msg"]
    assert account in result["msg"].partition(f" has roles/iam.{role} on ")[0 if arguments else 2]
    assert result["retries"] == 0
    assert secured.lab.calls.count() == 0
    for secret in (LEAK, ACCESS, FEDERATED, "example-subject-token"):
        assert secret not in json.dumps(result)


def test_a_token_service_that_is_slow_ends_with_the_call_s_time(
    secured: Module, tokens: TokenService, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, over = tokens.answer, threading.Event()
    monkeypatch.setattr(tokens, "answer", lambda path: (over.wait(60), answer(path))[1])
    result = secured.put(api_timeout=1.0, retry={"tries": 2, "delay": 0.01})
    over.set()
    assert result["kind"] == "unavailable"
    assert f"no access token for service account {ACCOUNT} at the moment (" in result["msg"]
    assert "(tried 2 times)" in result["msg"]
    assert secured.lab.calls.count() == 0


def test_a_denied_call_names_the_service_account(secured: Module) -> None:
    fault = secured.lab.faults.add("AddSecretVersion", code="PERMISSION_DENIED")
    result = secured.put()
    assert f"PERMISSION_DENIED: AddSecretVersion on projects/{PROJECT}/secrets/" in result["msg"]
    assert f"as service account {ACCOUNT}" in result["msg"]
    assert "has secretmanager.versions.add in project" in result["msg"]
    assert fault.hits == 1


@pytest.fixture
def metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MetadataServer]:
    """The metadata server as the only way to log in."""
    server = MetadataServer()
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    monkeypatch.delenv("NO_GCE_CHECK", raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path / "gcloud"))
    monkeypatch.setenv("GCE_METADATA_IP", server.address)
    # google-auth reads GCE_METADATA_HOST and NO_GCE_CHECK when it is imported.
    monkeypatch.setattr("google.auth.compute_engine._metadata._GCE_METADATA_HOST", server.address)
    monkeypatch.setattr("google.auth.compute_engine._metadata._NO_GCE_CHECK", False)
    yield server
    server.stop()


def test_a_denied_call_names_the_service_account_of_a_pod_on_gke(
    secured: Module, metadata: MetadataServer, tokens: TokenService
) -> None:
    """The metadata server returns the account's address with the first token, after the client was made."""
    secured.lab.faults.add("GetSecret", code="PERMISSION_DENIED")
    result = secured.put()
    assert f"as service account {ACCOUNT}" in result["msg"]
    assert f"check that service account {ACCOUNT} has secretmanager.secrets.get" in result["msg"]
    assert ACCESS not in json.dumps(result)
    assert any(request.path.endswith("/token") for request in metadata.asked)
    assert tokens.asked == []


@pytest.mark.usefixtures("tokens")
@pytest.mark.filterwarnings("ignore:The load_credentials_from_file method:DeprecationWarning")
@pytest.mark.parametrize("content", [None, "{", '{"type": "x"}'], ids=["missing", "broken", "unknown"])
def test_credentials_that_cannot_be_used_fail_every_target_once(
    module: Module, tmp_path: Path, content: str | None
) -> None:
    path = tmp_path / "credentials.json"
    if content is not None:
        path.write_text(content)
    module.defaults["gcp"] = {
        "transport": module.transport,
        "endpoint": "https://localhost:1",
        "credentials_file": str(path),
    }
    result = module.run(
        project=PROJECT,
        source={"inline": '{"auths": {"quay.io": {"auth": "YTpi"}}}'},
        targets=[{"cluster_id": f"cls-{number}"} for number in range(5)],
    )
    assert {entry["kind"] for entry in result["failed_targets"]} == {"permission_denied"}, result["msg"]
    assert len(result["failed_targets"]) == 5
    assert "gcp.credentials_file cannot be used (" in result["msg"]


@pytest.mark.parametrize(
    "content", ["{", '{"auths": {}}', None], ids=["no JSON", "no credentials", "a directory"]
)
def test_the_file_that_the_variable_names_is_named(
    module: Module, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    path = tmp_path / "credentials.json"
    path.mkdir() if content is None else path.write_text(content)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
    module.defaults["gcp"] = {"transport": module.transport, "endpoint": "https://localhost:1"}
    result = module.one(source={"inline": '{"auths": {"quay.io": {"auth": "YTpi"}}}'})
    assert str(path) in result["msg"]
    assert "GOOGLE_APPLICATION_CREDENTIALS names" in result["msg"]
    assert "; " in result["msg"]


@pytest.mark.parametrize(
    ("options", "emulator", "endpoint", "plaintext"),
    [
        ({}, "", None, False),
        ({}, "127.0.0.1:1", "127.0.0.1:1", True),
        ({}, "http://127.0.0.1:1", "127.0.0.1:1", True),
        ({"endpoint": "https://sm.example.com/"}, "127.0.0.1:1", "sm.example.com", False),
        ({"endpoint": "sm.example.com:443"}, "", "sm.example.com:443", False),
        ({"endpoint": "http://127.0.0.1:2"}, "", "127.0.0.1:2", True),
    ],
)
def test_only_http_is_spoken_in_plain_text(
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, str],
    emulator: str,
    endpoint: str | None,
    plaintext: bool,
) -> None:
    monkeypatch.setenv("SECRET_MANAGER_EMULATOR_HOST", emulator)
    connection = google_connection(options)
    assert (connection.endpoint, connection.plaintext) == (endpoint, plaintext)


@pytest.mark.parametrize(
    "endpoint",
    [
        *("ftp://x", "https://", "http:///"),
        *("http://h:99999", "h:port", "http://user:example-password@h", "h/p", "a b"),
    ],
)
def test_an_invalid_endpoint(endpoint: str) -> None:
    with pytest.raises(ConfigurationError, match=r"gcp\.endpoint") as caught:
        google_connection({"endpoint": endpoint})
    assert "example-password" not in str(caught.value)


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:9", None])
@pytest.mark.parametrize("account", ["adapter", "user:alice@example.com", "a b@example.com", "a@"])
def test_an_invalid_service_account_is_refused(account: str, endpoint: str | None) -> None:
    with pytest.raises(ConfigurationError, match=r"impersonate_service_account .*; give it as NAME@PROJECT"):
        google_connection({"endpoint": endpoint}, account)


@pytest.mark.parametrize(
    "account", ["a@p.iam.gserviceaccount.com", "a@p.example.com.iam.gserviceaccount.com", "7"]
)
def test_a_service_account_is_an_address_or_a_number(account: str) -> None:
    assert google_connection({}, account).impersonate == account


def test_a_targets_service_account_comes_before_the_tasks() -> None:
    options = {"impersonate_service_account": "task@example.com"}
    assert google_connection(options).impersonate == "task@example.com"
    assert google_connection(options, "target@example.com").impersonate == "target@example.com"
