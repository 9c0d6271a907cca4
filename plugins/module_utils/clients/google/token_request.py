# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Token requests of google-auth, with a time limit."""

from __future__ import annotations

import time
from typing import Any

from ...runtime.waiting import within
from .errors import NoToken

__all__ = ["DeadlineRequest"]


class DeadlineRequest:
    """Makes google-auth's requests: all of them together take no longer than a number of seconds.

    It has the interface of ``google.auth.transport.Request``. As google-auth's own, which it calls, it takes
    proxies and CAs from the environment.
    """

    def __init__(self, seconds: float) -> None:
        from google.auth.transport.requests import Request

        self._end = time.monotonic() + seconds
        self._request = Request()

    def __call__(
        self,
        url: str,
        method: str = "GET",
        body: bytes | None = None,
        headers: Any = None,
        timeout: float | None = None,
        **options: Any,
    ) -> Any:
        """Make one request.

        :raises NoToken: the time is over. google-auth would wait and retry after an error of its own.
        :raises google.auth.exceptions.TransportError: no response.
        """
        late = NoToken("no answer in time", retryable=True)
        left = self._end - time.monotonic()
        if left <= 0:
            raise late
        limit = min(timeout or left, left)
        return within(
            left,
            lambda: self._request(url, method, body=body, headers=headers, timeout=limit, **options),
            late,
        )
