# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The stand-in as a context manager: the API behind faults, and the record of the calls."""

from __future__ import annotations

import asyncio
import ssl
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from tests.stand_ins.certificate import write_certificate
from tests.stand_ins.http_server import Answer, Request, Response, Server
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.stand_ins.kubernetes.api import Api, Watch, failure
from tests.stand_ins.kubernetes.faults import Call, Fault
from tests.stand_ins.kubernetes.routing import ADMIN, Target, route
from tests.stand_ins.kubernetes.status import ApiError
from tests.stand_ins.kubernetes.store import Store
from tests.stand_ins.lab import Lab
from tests.stand_ins.rules import CallLog, RuleTable

ADMIN_TOKEN = "lab-admin-token"
VIEWER_TOKEN = "lab-viewer-token"


class KubernetesLab(Lab):
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
        self.admin_token = admin_token
        self.viewer_token = viewer_token
        self.store = Store()
        self.faults = RuleTable(Fault)
        self.calls = CallLog[Call]("verb", "path")
        self.ca: bytes | None = None
        self.server = Server(self._answer, context=self._make_context() if tls else None)
        self.url = self.server.url
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

    def reset(self) -> None:
        super().reset()
        self.store.reset()

    def _answer(self, request: Request) -> Answer | Coroutine[Any, Any, Answer]:
        if request.path.startswith("/_lab/"):
            return self.own_route(request)
        target = route(request)
        verb = target.verb if target else ""
        call = {"verb": verb, "method": request.method, "path": request.path}
        fault = self.faults.first(lambda rule: rule.matches(**call))
        if fault:
            return self._with_fault(request, target, fault)
        response, user = self._handle(request, target)
        return self._recorded(request, target, response, user)

    def _handle(self, request: Request, target: Target | None) -> tuple[Response, str]:
        with self.store.lock:
            return self._api.handle(request, target)

    def _recorded(self, request: Request, target: Target | None, answer: Answer, user: str) -> Answer:
        code = answer.code if answer else 0
        verb = target.verb if target else ""
        self.calls.add(Call(verb, request.method, request.path, request.query_string, user, code))
        return answer

    async def _with_fault(self, request: Request, target: Target | None, fault: Fault) -> Answer:
        answer: Answer = None
        user, fails = "", fault.drop or fault.status is not None
        if fault.phase == "before":
            await asyncio.sleep(fault.delay)
        if fault.phase == "after" or not fails:
            answer, user = self._handle(request, target)
        if fault.phase == "after":
            await asyncio.sleep(fault.delay)
        if fails:
            if answer and isinstance(answer.stream, Watch):
                answer.stream.close()
            error = ApiError(fault.status or 500, fault.message, reason=fault.reason)
            answer = None if fault.drop else failure(error, fault.headers)
        return self._recorded(request, target, answer, user)
