# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Google's side of logging in, on loopback: a token service, and TLS in front of the stand-in."""

from __future__ import annotations

import datetime
import json
import socket
import ssl
from pathlib import Path
from typing import Any, ClassVar

from tests.stand_ins import http_server
from tests.stand_ins.certificate import write_certificate
from tests.stand_ins.tcp_server import Server, forward

ACCOUNT = "pullsecret-manager@customer-prod-12345.iam.gserviceaccount.com"
FEDERATED = "example-federated-token"
ACCESS = "example-access-token"
LEAK = "example-leaked-token"
TOKEN_PATH = "/computeMetadata/v1/instance/service-accounts/default/token"


class _JsonServer(http_server.Server):
    """An HTTP server on loopback that answers with JSON, and keeps what it was ``asked``."""

    headers: ClassVar[dict[str, str]] = {}

    def __init__(self) -> None:
        self.asked: list[http_server.Request] = []
        super().__init__(self._respond)
        self.start()

    async def _respond(self, request: http_server.Request) -> http_server.Response:
        self.asked.append(request)
        status, answer = self.answer(request.path)
        return http_server.Response(status, json.dumps(answer).encode(), headers=self.headers)

    def answer(self, path: str) -> tuple[int, dict[str, Any]]:
        raise NotImplementedError


class TokenService(_JsonServer):
    """STS and IAM Credentials as one HTTP server; ``denied`` maps a path's end to the status it answers."""

    def __init__(self) -> None:
        self.denied: dict[str, int] = {}
        super().__init__()

    def answer(self, path: str) -> tuple[int, dict[str, Any]]:
        for end, status in self.denied.items():
            if path.endswith(end):
                text = f"Permission 'iam.serviceAccounts.getAccessToken' denied ({LEAK})"
                return status, {"error": {"code": status, "message": text, "status": "PERMISSION_DENIED"}}
        if path.endswith(":generateAccessToken"):
            expires = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)
            return 200, {"accessToken": ACCESS, "expireTime": expires.strftime("%Y-%m-%dT%H:%M:%SZ")}
        kind = "urn:ietf:params:oauth:token-type:access_token"
        token = {"access_token": FEDERATED, "issued_token_type": kind, "token_type": "Bearer"}
        return 200, {**token, "expires_in": 3600}

    def credentials(self, directory: Path, *, impersonate: bool) -> Path:
        """A configuration of Workload Identity Federation that leads here."""
        token = directory / "subject-token"
        token.write_text("example-subject-token")
        configuration = {
            "type": "external_account",
            "audience": "//iam.googleapis.com/projects/1/locations/global/"
            "workloadIdentityPools/pool/providers/kubernetes",
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
            "token_url": f"{self.url}/v1/token",
            "credential_source": {"file": str(token)},
        }
        if impersonate:
            configuration["service_account_impersonation_url"] = (
                f"{self.url}/v1/projects/-/serviceAccounts/{ACCOUNT}:generateAccessToken"
            )
        path = directory / "credentials.json"
        path.write_text(json.dumps(configuration))
        return path


class MetadataServer(_JsonServer):
    """What a pod of GKE asks for its service account and for tokens; everything else it does not know."""

    headers: ClassVar[dict[str, str]] = {"Metadata-Flavor": "Google"}
    answers: ClassVar[dict[str, Any]] = {
        "/": {},
        "/computeMetadata/v1/instance/service-accounts/default/": {"email": ACCOUNT, "scopes": []},
        TOKEN_PATH: {"access_token": ACCESS, "expires_in": 3600, "token_type": "Bearer"},
    }

    def answer(self, path: str) -> tuple[int, dict[str, Any]]:
        return (200, self.answers[path]) if path in self.answers else (404, {})


class TlsFront(Server):
    """TLS on localhost before a plain-text address; ``authority`` is the certificate to trust."""

    def __init__(self, backend: str, directory: Path) -> None:
        host, port = backend.rsplit(":", 1)
        address = (host, int(port))
        self.authority, key = write_certificate(directory)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.authority, key)
        # gRPC insists on h2; a REST client asks for http/1.1 or nothing.
        context.set_alpn_protocols(["h2", "http/1.1"])

        def serve(connection: socket.socket) -> None:
            with (
                context.wrap_socket(connection, server_side=True) as front,
                socket.create_connection(address) as back,
            ):
                forward(front, back)

        super().__init__(serve)
        self.url = f"https://localhost:{self.port}"

    stop = Server.close
