# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A client for a pod's own API server, over the standard library, with the pod's own account.

The official client takes half a second and 50 MiB to load: more than all the rest of a job.
"""

from __future__ import annotations

import os
import ssl
from typing import Any

from ...model.errors import ConfigurationError, PermissionDenied
from ...runtime.plain_http import PlainTransport
from ...runtime.run_settings import RunSettings
from ...runtime.wire import WireError
from .client import KubernetesClient
from .connection import Connection
from .service_account import ACCOUNT, api_server

__all__ = ["PodClient"]


class PodClient(KubernetesClient):
    """The pod's service account, whose token and CA are files that kubelet renews."""

    def __init__(self, connection: Connection, settings: RunSettings) -> None:
        self.connection = connection
        self._settings = settings
        self._prefix = ""
        self._transport_error: Any = WireError
        self._directory = ACCOUNT
        host, port = api_server(os.environ)
        self._address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self._transport: Any = PlainTransport(host, port, self._trust)

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        self._transport.close()

    def _authorization(self, seconds: float) -> dict[str, str]:
        path = os.path.join(self._directory, "token")
        try:
            with open(path, encoding="ascii") as stream:
                token = stream.read().strip()
        except (OSError, ValueError) as error:
            raise PermissionDenied(
                f"the service account token {path} cannot be read ({type(error).__name__})"
            ) from None
        if not token or not token.isprintable() or " " in token:
            raise PermissionDenied(
                f"the service account token {path} is empty or has a space or control character"
            )
        return {"Authorization": f"Bearer {token}"}

    def _trust(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            # Trust the cluster's own CA only.
            context.load_verify_locations(cafile=os.path.join(self._directory, "ca.crt"))
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise ConfigurationError(f"the pod's CA cannot be used ({reason})") from None
        return context
