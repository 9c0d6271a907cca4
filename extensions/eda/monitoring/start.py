# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Starts logging, health and metrics for as long as the event source lives."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring import logs
from ansible_collections.hyperfleet.pull_secret.extensions.eda.receiving.recorder import ActivityRecorder
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import missing_package

__all__ = ["start_monitoring"]


@asynccontextmanager
async def start_monitoring(config: Any | None) -> AsyncIterator[ActivityRecorder]:
    """Configure the log, and serve metrics and health on the port; with port 0, nothing is served.

    :param config: an AdapterConfig, of which ``metrics`` and ``logging`` are used. None: nothing is recorded
        or served, and the log is unchanged.
    :raises ConfigurationError: the port cannot be used, or a package is missing.
    """
    if config is None:
        yield ActivityRecorder()
        return
    try:
        from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.http_server import (
            MonitoringServer,
        )
        from ansible_collections.hyperfleet.pull_secret.extensions.eda.monitoring.recorder import (
            MonitoringRecorder,
        )
    except ModuleNotFoundError as error:
        raise missing_package(error, str(error.name)) from None
    metrics = config.metrics
    recorder = MonitoringRecorder(per_cluster=bool(metrics.per_cluster))
    recorder.configured()
    server = MonitoringServer(recorder, port=metrics.port, host=metrics.address or None)
    undo = logs.configure_logging(form=config.logging.format, level=config.logging.level)
    try:
        if metrics.port:
            await server.start()
        yield recorder
    finally:
        await server.close()
        undo()
