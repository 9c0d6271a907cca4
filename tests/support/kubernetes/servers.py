# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The API servers that integration tests run against, each behind a ``FaultProxy``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.lab.session import REAL, STAND_IN, kubernetes
from tests.support.kubernetes.proxy import FaultProxy
from tests.support.kubernetes.world import Api

SERVERS = [pytest.param(STAND_IN, id="stand-in"), pytest.param(REAL, id="real", marks=pytest.mark.real("go"))]


@contextmanager
def api_server(kind: str) -> Iterator[Api]:
    """The stand-in, in this process, or the real control plane that tests share."""
    with ExitStack() as stack:
        env = stack.enter_context(kubernetes(kind))
        proxy = stack.enter_context(FaultProxy(env.url, env.ca_file))
        yield Api(proxy, env.token, env.viewer_token, real=env.kind == REAL)
