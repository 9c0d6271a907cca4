# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run in a process of its own, which may be killed: ``go`` is called through a fork server."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import threading
from collections.abc import Mapping
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any
from unittest import mock

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_manager import claim
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.batch import stop_on_signals
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks import gcp_pull_secret as task

# Imports cost most of a process's second: the server makes them once.
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload([__name__, "google.cloud.secretmanager_v1", "grpc", "google_crc32c"])


def go(parameters: Mapping[str, Any], answer: str, margin: float) -> None:
    """Run the module; its result is written to the file ``answer``."""
    claim.MARGIN = margin
    stop = threading.Event()
    with stop_on_signals(stop):
        result = task.run(parameters, check_mode=False, diff=False, stop=stop)
    Path(answer).write_text(json.dumps(result))


def start(parameters: Mapping[str, Any], answer: Path, *, margin: float = 10.0) -> BaseProcess:
    """Begin a run elsewhere; ``margin`` shortens its claims."""
    with mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)):
        # Before Python 3.14 the server does not get our path, and imports nothing of ours.
        forkserver.ensure_running()
    process = _CONTEXT.Process(target=go, args=(dict(parameters), str(answer), margin), daemon=True)
    process.start()
    return process
