# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The stand-in as a context manager."""

from __future__ import annotations

import asyncio
import socket
import ssl
import tempfile
import threading
from pathlib import Path
from types import TracebackType

from tests.stand_ins.certificate import write_certificate
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.stand_ins.kubernetes.api import Api
from tests.stand_ins.kubernetes.faults import CallLog, FaultTable
from tests.stand_ins.kubernetes.routing import ADMINS, User
from tests.stand_ins.kubernetes.store import Store
from tests.stand_ins.kubernetes.wire import Connection, World

ADMIN_TOKEN = "lab-admin-token"
VIEWER_TOKEN = "lab-viewer-token"


class KubernetesLab:
    """A Kubernetes API server on loopback, in a thread of this process.

    ``with KubernetesLab() as lab:`` gives ``lab.url`` (``http://127.0.0.1:port``), ``lab.admin_token`` and
    ``lab.viewer_token``, ``lab.faults`` (a ``FaultTable``), ``lab.calls`` (a ``CallLog``), ``lab.store``
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
        self.faults = FaultTable()
        self.calls = CallLog()
        self.ca: bytes | None = None
        self._tls = tls
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self.url = ""

    def start(self) -> KubernetesLab:
        """Listen and serve; returns when connections are accepted."""
        listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        context = self._make_context() if self._tls else None
        self.url = f"{'https' if context else 'http'}://{address}"
        tokens = {
            self.admin_token: User("admin", (ADMINS, "system:authenticated")),
            self.viewer_token: User("viewer", ("viewers", "system:authenticated")),
        }
        world = World(self.store, Api(self.store, tokens, address), self.faults, self.calls)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._run, args=(self._loop, listener, world, context), name="kubernetes-lab", daemon=True
        )
        self._thread.start()
        return self

    def _make_context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.TemporaryDirectory() as directory:
            certificate, key = write_certificate(Path(directory))
            context.load_cert_chain(certificate, key)
            self.ca = certificate.read_bytes()
        return context

    def _run(
        self,
        loop: asyncio.AbstractEventLoop,
        listener: socket.socket,
        world: World,
        context: ssl.SSLContext | None,
    ) -> None:
        asyncio.set_event_loop(loop)
        server = loop.run_until_complete(
            loop.create_server(lambda: Connection(world, loop), sock=listener, ssl=context)
        )
        try:
            loop.run_forever()
        finally:
            server.close()
            for connection in list(world.connections):
                connection.transport.abort()
            loop.run_until_complete(asyncio.sleep(0))
            loop.close()

    def stop(self) -> None:
        """Close every connection and wait for the thread to end."""
        if self._loop and self._thread and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()

    def kubeconfig(self, path: str | Path, *, token: str | None = None, context: str = "mgmt-1") -> Path:
        """Write a kubeconfig (mode 0600) for the admin, or for another token, and return its path."""
        return write_kubeconfig(path, [Cluster(context, self.url, token or self.admin_token, self.ca)])

    def __enter__(self) -> KubernetesLab:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
