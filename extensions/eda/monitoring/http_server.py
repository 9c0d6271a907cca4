# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``/healthz``, ``/readyz`` and ``/metrics``, served by the event source's own loop."""

from __future__ import annotations

import asyncio
import logging

from aiohttp import web
from prometheus_client.exposition import choose_encoder

from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.recorder import MonitoringRecorder
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.http_limits import (
    KEEP_ALIVE_SECONDS,
    quiet_logger,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError

__all__ = ["MonitoringServer"]

_LOGGER = logging.getLogger("hyperfleet.pull_secret.monitoring")
# Seconds to finish responses at the end.
_LEAVE = 1.0
_NO_STORE = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class MonitoringServer:
    """Answers probes and Prometheus until it is closed.

    If the event loop hangs, it does not answer, and the liveness probe fails.

    :param host: None means all addresses, which a pod's probes need.
    :param port: 0 means any free port.
    """

    def __init__(self, recorder: MonitoringRecorder, *, port: int, host: str | None = None) -> None:
        self._recorder = recorder
        self._host = host
        self._port = port
        self._runner: web.AppRunner | None = None

    async def start(self) -> int:
        """Listen, and return the port.

        :raises ConfigurationError: the port cannot be used.
        """
        application = web.Application()
        application.router.add_get("/healthz", self._healthz)
        application.router.add_get("/readyz", self._readyz)
        application.router.add_get("/metrics", self._metrics)
        # Probes need no access log, and slow readers must not delay the end of the process.
        self._runner = web.AppRunner(
            application,
            access_log=None,
            logger=quiet_logger(_LOGGER),
            shutdown_timeout=_LEAVE,
            keepalive_timeout=KEEP_ALIVE_SECONDS,
        )
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self._host, self._port).start()
        except OSError as error:
            await self.close()
            reason = error.strerror or type(error).__name__
            raise ConfigurationError(
                f"spec.metrics.port: cannot listen on port {self._port}: {reason}"
            ) from None
        port: int = self._runner.addresses[0][1]
        return port

    async def close(self) -> None:
        """Stop listening."""
        runner, self._runner = self._runner, None
        if runner is not None:
            await runner.cleanup()

    async def _healthz(self, unused_request: web.Request) -> web.Response:
        return web.json_response({"status": "ok"}, headers=_NO_STORE)

    async def _readyz(self, unused_request: web.Request) -> web.Response:
        unready = self._recorder.unready()
        answer = {"status": "not ready", "problems": unready} if unready else {"status": "ok"}
        return web.json_response(answer, status=503 if unready else 200, headers=_NO_STORE)

    async def _metrics(self, request: web.Request) -> web.Response:
        encode, kind = choose_encoder(request.headers.get("Accept", ""))
        # With thousands of clusters this takes seconds, and the loop must continue.
        body = await asyncio.to_thread(encode, self._recorder.metrics.registry)
        return web.Response(body=body, headers={**_NO_STORE, "Content-Type": kind})
