# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The API server that a pod runs under, over the standard library, with the pod's own account.

The official client takes half a second and 50 MiB to load: more than all the rest of a job.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import (
    ConfigurationError,
    PermissionDenied,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.base import Settings
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.client import (
    KubernetesClient,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.connection import (
    Connection,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.plain import (
    Answer,
    PlainTransport,
    server,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.syncer.wire import WireError

__all__ = ["PodClient"]

_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


class PodClient(KubernetesClient):
    """The pod's service account, whose token and CA are files that the kubelet renews.

    ``JOB_KUBERNETES_API`` (``http://127.0.0.1:PORT``) and ``JOB_ACCOUNT_DIR`` are for tests: an API server on
    loopback without TLS.
    """

    def __init__(self, connection: Connection, settings: Settings) -> None:
        self.connection = connection
        self._settings = settings
        self._prefix = ""
        self._transport_error: Any = WireError
        self._directory = os.environ.get("JOB_ACCOUNT_DIR") or _ACCOUNT
        host, port, secure = _server(os.environ)
        self._address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self._transport: Any = _Transport(PlainTransport(host, port, self._trust if secure else None))

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        self._transport.close()

    def _authorization(self, seconds: float) -> dict[str, str]:
        path = os.path.join(self._directory, "token")
        try:
            with open(path, encoding="ascii") as stream:
                token = stream.read().strip()
        except (OSError, ValueError) as error:
            raise PermissionDenied(f"the pod's token cannot be read ({type(error).__name__})") from None
        if not token or not token.isprintable() or " " in token:
            raise PermissionDenied("the pod's token is none")
        return {"Authorization": f"Bearer {token}"}

    def _trust(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            # The cluster's own CA and no other.
            context.load_verify_locations(cafile=os.path.join(self._directory, "ca.crt"))
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise ConfigurationError(f"the pod's CA cannot be used ({reason})") from None
        return context


class _Transport:
    """In the shape that the client has its transport in."""

    def __init__(self, plain: PlainTransport) -> None:
        self._plain = plain
        self.close = plain.close

    def request(
        self,
        method: str,
        target: str,
        *,
        headers: Mapping[str, str],
        seconds: float,
        body: bytes | None = None,
        largest: int | None = None,
    ) -> Answer:
        """Ask once; what is too large is refused by the transport itself."""
        answer = self._plain.request(method, target, headers=headers, seconds=seconds, body=body)
        wait = answer.headers.get("retry-after")
        return Answer(answer.status, {"Retry-After": wait} if wait else {}, answer.data)


def _server(environ: Mapping[str, str]) -> tuple[str, int, bool]:
    """The host, the port, and whether to speak TLS."""
    given = environ.get("JOB_KUBERNETES_API", "")
    if given:
        host, port = server(given.partition("http://")[2].rstrip("/"), 0)
        if host != "127.0.0.1":
            raise ConfigurationError("JOB_KUBERNETES_API is for tests: http://127.0.0.1:PORT")
        return host, port, False
    inside, number = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT") or "443"
    if not inside or not number.isdigit():
        raise ConfigurationError("KUBERNETES_SERVICE_HOST is not set: this runs in a pod")
    return inside, int(number), True
