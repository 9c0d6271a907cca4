# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Access tokens are fetched once, within a call's time limit, and have the shape of google-auth's
credentials.
"""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import google.auth.credentials
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.auth.transport.requests import AuthorizedSession

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.google.auth import (
    GoogleConnection,
    Tokens,
    credentials_for,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.google.errors import NoToken
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.google.metadata import (
    AnonymousCredentials,
    MetadataCredentials,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.google.token_request import (
    DeadlineRequest,
)
from tests.stand_ins.tcp_server import Server, dripping
from tests.support.login import ACCESS, MetadataServer, TokenService

# Every byte comes in time, but all of them take too long.
_LIMIT, _MUCH = 0.5, 120.0
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"


class Credentials:
    """Credentials that become valid after a refresh, which lasts until ``go`` is set."""

    def __init__(self) -> None:
        self.valid = False
        self.go = threading.Event()
        self.refreshed = 0

    def refresh(self, request: Any) -> None:
        self.refreshed += 1
        self.go.wait(_MUCH)
        self.valid = True


def test_threads_get_one_token_together() -> None:
    credentials = Credentials()
    tokens = Tokens(credentials, lambda _seconds: None)
    threads = [threading.Thread(target=tokens.renew, args=(_MUCH,)) for _number in range(8)]
    for thread in threads:
        thread.start()
    credentials.go.set()
    for thread in threads:
        thread.join(_MUCH)
    assert (credentials.refreshed, credentials.valid) == (1, True)


def test_nobody_waits_longer_for_another_thread_s_token_than_for_its_own() -> None:
    credentials = Credentials()
    tokens = Tokens(credentials, lambda _seconds: None)
    first = threading.Thread(target=tokens.renew, args=(_MUCH,))
    first.start()
    while not credentials.refreshed:
        time.sleep(0.01)
    with pytest.raises(NoToken, match="no answer in time"):
        tokens.renew(_LIMIT)
    assert not credentials.valid
    credentials.go.set()
    first.join(_MUCH)
    assert credentials.refreshed == 1


def test_a_refresh_that_waits_by_itself_ends_with_the_call_s_time() -> None:
    credentials = Credentials()
    with pytest.raises(NoToken, match="no answer in time"):
        Tokens(credentials, lambda _seconds: None).renew(_LIMIT)
    assert not credentials.valid
    credentials.go.set()


@pytest.mark.parametrize("begin", [b"HTTP/1.1 200 OK\r\nX: ", _HEAD], ids=["headers", "body"])
def test_all_requests_for_a_token_have_one_end(begin: bytes) -> None:
    with Server(dripping(begin, b"x")) as server:
        request = DeadlineRequest(_LIMIT)
        for _number in range(2):
            with pytest.raises(NoToken, match="no answer in time"):
                request(f"http://{server.address}/token")
        # No time was left for the second request.
        assert server.connections == 1


def test_google_auth_takes_the_metadata_server_s_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    server, service = MetadataServer(), TokenService()
    monkeypatch.setenv("GCE_METADATA_HOST", server.address)
    try:
        with AuthorizedSession(MetadataCredentials()) as session:
            for _number in range(2):
                session.get(f"{service.url}/v1/anything", timeout=_MUCH)
    finally:
        server.stop()
        service.stop()
    assert [request.headers["authorization"] for request in service.asked] == [f"Bearer {ACCESS}"] * 2
    assert len(server.asked) == 1


def test_the_shape_is_google_auth_s() -> None:
    for ours in (AnonymousCredentials, MetadataCredentials):
        public = {name for name in vars(ours) if not name.startswith("_")} - {"service_account_email"}
        assert public <= set(dir(google.auth.credentials.Credentials))


@pytest.mark.filterwarnings("ignore:The load_credentials_from_file method:DeprecationWarning")
def test_a_service_account_s_key_needs_no_token_service(tmp_path: Path) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    service = TokenService()
    path = tmp_path / "key.json"
    path.write_text(
        json.dumps(
            {
                "type": "service_account",
                "client_email": "pullsecret-manager@customer-prod-12345.iam.gserviceaccount.com",
                "private_key": key.decode(),
                "private_key_id": "1",
                "token_uri": f"{service.url}/v1/token",
            }
        )
    )
    credentials = credentials_for(GoogleConnection(credentials_file=str(path)))
    try:
        Tokens(credentials, DeadlineRequest).renew(_MUCH)
    finally:
        service.stop()
    assert credentials.valid
    assert service.asked == []
