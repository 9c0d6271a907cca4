# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sends the calls of google.cloud's modules to the stand-in.

``google.cloud.gcp_secret_manager`` has a fixed address of Google. So this file is on the PYTHONPATH of the loop's
processes. It changes the host of each request as soon as a process imports google-auth's transport. The loop
therefore has neither the cost of TLS nor Google's latency.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
from types import ModuleType
from typing import Any

_TRANSPORT = "google.auth.transport.requests"
_GOOGLE = "https://secretmanager.googleapis.com"


class _Redirect(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads the module normally, and then wraps its ``request`` method."""

    def __init__(self, to: str) -> None:
        self._to = to
        self._loader: Any = None

    def find_spec(self, name: str, path: Any = None, _target: Any = None) -> Any:
        if name != _TRANSPORT:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None:
            self._loader, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        session: Any = module.AuthorizedSession
        request = session.request

        def redirected(this: Any, method: str, url: str, *arguments: Any, **options: Any) -> Any:
            if url.startswith(_GOOGLE):
                url = self._to + url.removeprefix(_GOOGLE)
            return request(this, method, url, *arguments, **options)

        session.request = redirected


if os.environ.get("BENCH_SECRET_MANAGER_REST"):
    sys.meta_path.insert(0, _Redirect(os.environ["BENCH_SECRET_MANAGER_REST"]))
