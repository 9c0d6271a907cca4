# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The stand-in as a context manager: the API of one store, behind faults."""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path

from tests.stand_ins.certificate import write_certificate
from tests.stand_ins.http_server import Request, Response
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.stand_ins.kubernetes.api import Api
from tests.stand_ins.kubernetes.faults import FaultyServer
from tests.stand_ins.kubernetes.routing import ADMIN, Target
from tests.stand_ins.kubernetes.store import Store

ADMIN_TOKEN = "lab-admin-token"
VIEWER_TOKEN = "lab-viewer-token"


class KubernetesLab(FaultyServer):
    """A Kubernetes API server on loopback, in a thread of this process.

    ``with KubernetesLab() as lab:`` gives ``lab.url`` (``http://127.0.0.1:port``), ``lab.admin_token`` and
    ``lab.viewer_token``, ``lab.faults`` (a ``RuleTable``), ``lab.calls`` (a ``CallLog``), ``lab.store``
    (a ``Store``) and ``lab.kubeconfig(path)``.

    With ``tls`` the URL is ``https://`` and ``lab.ca`` is the CA certificate (PEM) of this start: kubectl
    sends no token over plain HTTP.
    """

    def __init__(
        self,
        *,
        admin_token: str = ADMIN_TOKEN,
        viewer_token: str = VIEWER_TOKEN,
        tls: bool = False,
    ) -> None:
        self.ca: bytes | None = None
        super().__init__(self._make_context() if tls else None)
        self.admin_token = admin_token
        self.viewer_token = viewer_token
        self.store = Store()
        self.tokens = {admin_token: ADMIN, viewer_token: "viewer"}
        self._api = Api(self.store, self.tokens)

    def _make_context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.TemporaryDirectory() as directory:
            certificate, key = write_certificate(Path(directory))
            context.load_cert_chain(certificate, key)
            self.ca = certificate.read_bytes()
        return context

    def kubeconfig(self, path: str | Path, *, token: str | None = None, context: str = "mgmt-1") -> Path:
        """Write a kubeconfig (mode 0600) for the admin, or for another token, and return its path."""
        return write_kubeconfig(path, [Cluster(context, self.url, token or self.admin_token, self.ca)])

    def address(self) -> dict[str, str | None]:
        ca = self.ca.decode() if self.ca else None
        return {"url": self.url, "ca": ca, "token": self.admin_token, "viewer_token": self.viewer_token}

    async def handle(self, request: Request, target: Target | None) -> Response:
        with self.store.lock:
            return self._api.handle(request, target)
