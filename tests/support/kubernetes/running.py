# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Running a task's function in this process, and the API servers that integration tests run it against."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.tasks.entry import validated
from tests.lab.session import REAL, STAND_IN, kubernetes
from tests.support.kubernetes.world import Api

# The real delays of 1 s and more would only make the tests slow.
FAST_RETRY = {"tries": 5, "delay": 0.01, "max_delay": 0.02}
SERVERS = [pytest.param(STAND_IN, id="stand-in"), pytest.param(REAL, id="real", marks=pytest.mark.real("go"))]


def run_task(
    task: Any, params: dict[str, Any], *, check_mode: bool = False, diff: bool = False
) -> dict[str, Any]:
    """The result that the module would end with."""
    # As JSON, as Ansible sends it: the validator fills in nested options in place.
    given = json.loads(json.dumps({"retry": FAST_RETRY, "timeout": 60, **params}))
    result: dict[str, Any] = task.run(validated(task.target_options, given), check_mode=check_mode, diff=diff)
    return result


@contextmanager
def api_server(kind: str) -> Iterator[Api]:
    """The stand-in, in this process, or the real control plane that tests share."""
    with kubernetes(kind) as env, Api(env) as api:
        yield api
