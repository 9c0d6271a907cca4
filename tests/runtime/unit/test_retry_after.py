# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The time at which a server wants the next request, as each server reports it."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from google.api_core import exceptions as core
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.google import (
    errors as secret_manager,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.google.auth import (
    CallerIdentity,
    GoogleConnection,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.hyperfleet import (
    errors as hyperfleet,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes import (
    errors as kubernetes,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    PullSecretError,
    QuotaExceeded,
    Unavailable,
)


def _kubernetes(status: int, body: Any = "Too many requests", header: str | None = None) -> PullSecretError:
    data = (body if isinstance(body, str) else json.dumps(body)).encode()
    return kubernetes.translate_kubernetes_error(status, data, "GET", "namespaces/a/secrets/b", header)


@pytest.mark.parametrize(("status", "kind"), [(429, QuotaExceeded), (503, Unavailable)])
def test_an_api_server_says_it_in_a_header(status: int, kind: type[PullSecretError]) -> None:
    # API priority and fairness answers in plain text.
    error = _kubernetes(status, header="1")
    assert isinstance(error, kind)
    assert error.retry_after == 1
    assert _kubernetes(status).retry_after is None


def test_an_api_server_says_it_in_the_status() -> None:
    assert _kubernetes(503, {"details": {"retryAfterSeconds": 10}}).retry_after == 10
    assert _kubernetes(503, {"details": {"retryAfterSeconds": 10}}, "2").retry_after == 2


@pytest.mark.parametrize("details", [None, {}, [], "x", {"retryAfterSeconds": "soon"}])
def test_a_status_without_it_is_no_obstacle(details: Any) -> None:
    assert _kubernetes(503, {"details": details}).retry_after is None


def test_the_hyperfleet_api_says_it_in_a_header() -> None:
    asked = ("application/problem+json", b"{}", "clusters", "http://127.0.0.1")
    assert hyperfleet.hyperfleet_error(429, *asked, "7").retry_after == 7
    assert hyperfleet.hyperfleet_error(503, *asked, "7").retry_after == 7
    assert hyperfleet.hyperfleet_error(503, *asked).retry_after is None


def _secret_manager(error: BaseException) -> PullSecretError:
    caller = CallerIdentity(None, GoogleConnection(plaintext=True))
    return secret_manager.translate_google_error(error, "GetSecret", "projects/p/secrets/s", caller)


def test_secret_manager_says_it_in_a_header_over_rest() -> None:
    response = SimpleNamespace(headers={"Retry-After": "3"}, json=dict)
    assert _secret_manager(core.TooManyRequests("x", response=response)).retry_after == 3
    response.headers.clear()
    assert _secret_manager(core.TooManyRequests("x", response=response)).retry_after is None


def test_secret_manager_says_it_in_a_detail_over_grpc() -> None:
    details = [ErrorInfo(reason="QUOTA"), RetryInfo(retry_delay=Duration(seconds=2, nanos=500_000_000))]
    error = _secret_manager(core.ResourceExhausted("x", details=details))
    assert isinstance(error, QuotaExceeded)
    assert error.retry_after == 2.5
    assert _secret_manager(core.ResourceExhausted("x")).retry_after is None


def test_a_bare_grpc_error_says_nothing() -> None:
    class Bare(Exception):
        def details(self) -> str:
            return "x"

    assert _secret_manager(Bare()).retry_after is None
