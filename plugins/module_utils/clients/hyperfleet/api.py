# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sends requests to the HyperFleet API: URL, token, limits, retries, and the meaning of a response."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable, TypeVar
from urllib.parse import quote, urlencode

from ...model.errors import ConfigurationError, PullSecretError, Unavailable, missing_package
from ...runtime.pages import MOST_PAGES, endless
from ...runtime.retry import Deadline, Retrier
from ...runtime.transport import HttpAnswer, Late, Transport
from .connection import HyperFleetConnection, TokenFile
from .errors import RequestRefused, hyperfleet_error

__all__ = ["LARGEST_STATUSES", "PAGE", "HyperFleetApi", "import_urllib3", "is_last"]

_T = TypeVar("_T")

# The API's limit of items on a page.
PAGE = 100
# Bytes of a response. A cluster has a few KiB, and at most a pull secret of 1.5 MiB, which is etcd's limit. A
# page has a hundred, of which a search reads four at a time. Statuses are short.
_LARGEST_OBJECT = 4 << 20
_LARGEST_PAGE = 64 << 20
LARGEST_STATUSES = 8 << 20
# Bytes of a request.
_LARGEST_REQUEST = 1 << 20
_JSON = "application/json"


def is_last(page: int, found: int, total: int | None) -> bool:
    """Return whether this is the last page; without a total, the first page that is not full is the last.

    :param found: how many items are on it.
    """
    return found < PAGE if total is None else page * PAGE >= total


class _TooMuch(Unavailable):
    """Too long, too deep, or with too long a number to read; a retry does not help."""

    retryable = False


def import_urllib3() -> Any:
    """Import what a client needs, which most modules do not: each would pay 35 ms for it."""
    try:
        import urllib3
    except ImportError as error:
        raise missing_package(error, "urllib3") from None
    return urllib3


class HyperFleetApi:
    """One API. Thread-safe.

    :param connections: maximum number of concurrent requests.
    """

    def __init__(
        self, connection: HyperFleetConnection, *, retrier: Retrier, api_timeout: float, connections: int
    ) -> None:
        self._urllib3 = urllib3 = import_urllib3()
        self.place = connection.place
        self._retrier = retrier
        self._api_timeout = api_timeout
        self._token = TokenFile(connection.token_file) if connection.token_file else None
        self._headers = {**connection.headers, "Accept": "application/json, application/problem+json"}
        options: dict[str, Any] = {"maxsize": max(connections, 1)}
        if connection.base.startswith("https:"):
            options["cert_reqs"] = "CERT_REQUIRED" if connection.validate_certs else "CERT_NONE"
            options["ca_certs"] = connection.ca_cert
        self._transport = Transport(connection.base, urllib3.PoolManager(**options))

    def get(
        self,
        path: str,
        what: str,
        deadline: Deadline,
        traceparent: str | None = None,
        *,
        largest: int = _LARGEST_OBJECT,
    ) -> dict[str, Any]:
        """Return a JSON object.

        :param what: its name for errors: ``cluster cls-123``.
        :param largest: maximum bytes.
        """

        def once(timeout: float) -> dict[str, Any]:
            answer = self.send("GET", path, what, timeout, traceparent=traceparent, largest=largest)
            if answer.status != 200:
                raise self.refusal(answer, what)
            return self._object(answer, what)

        return self.with_retries(once, deadline)

    def items(
        self,
        path: str,
        what: str,
        deadline: Deadline,
        query: Sequence[tuple[str, str]] = (),
        traceparent: str | None = None,
        *,
        largest: int = _LARGEST_PAGE,
    ) -> Iterator[Any]:
        """Yield the items of a list, page by page.

        :param what: a plural, such as ``clusters``.
        :raises PullSecretError: a page is repeated, or the pages do not end.
        """
        before: list[Any] = []
        for page in range(1, MOST_PAGES + 1):
            items, total = self.page(path, what, deadline, query, page, traceparent, largest=largest)
            if items and items == before:
                raise endless(f"{what} at {self.place}", f"page {page} is the same as page {page - 1}")
            yield from items
            if not items or is_last(page, len(items), total):
                return
            before = items
        raise endless(f"{what} at {self.place}", f"there are more than {MOST_PAGES} pages")

    def page(
        self,
        path: str,
        what: str,
        deadline: Deadline,
        query: Sequence[tuple[str, str]],
        number: int = 1,
        traceparent: str | None = None,
        *,
        largest: int = _LARGEST_PAGE,
    ) -> tuple[list[Any], int | None]:
        """(a page of a list, the total on all pages; None if it is not reported)"""
        asked = urlencode([("page", str(number)), ("size", str(PAGE)), *query], quote_via=quote)
        try:
            answer = self.get(f"{path}?{asked}", what, deadline, traceparent, largest=largest)
        except _TooMuch as error:
            # One tenant's doing: the caller can still get the other items one by one.
            raise RequestRefused(f"{error.message}, and cannot be read") from None
        items, total = answer.get("items"), answer.get("total")
        if not isinstance(items, list):
            raise Unavailable(f"{what} at {self.place}: the answer is not a list of {what}")
        known = isinstance(total, int) and not isinstance(total, bool) and total >= 0
        return items, total if known else None

    def with_retries(self, once: Callable[[float], _T], deadline: Deadline) -> _T:
        """Return the result of ``once(timeout)``, with retries."""
        return self._retrier.call(once, deadline=deadline, api_timeout=self._api_timeout)

    def send(
        self,
        method: str,
        path: str,
        what: str,
        timeout: float,
        *,
        body: Mapping[str, Any] | None = None,
        traceparent: str | None = None,
        largest: int = _LARGEST_OBJECT,
    ) -> HttpAnswer:
        """Send one request, and return any response.

        :param largest: maximum bytes to read.
        :raises Unavailable: no response.
        :raises ConfigurationError: the request cannot be sent.
        """
        headers, sent = dict(self._headers), None
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token.token()}"
        if traceparent is not None:
            headers["traceparent"] = traceparent
        if body is not None:
            headers["Content-Type"] = _JSON
            sent = json.dumps(body, separators=(",", ":")).encode()
            if len(sent) > _LARGEST_REQUEST:
                raise ConfigurationError(
                    f"{what} must be at most 1 MiB, not {len(sent)} bytes; shorten its data"
                )
        where = f"{what} at {self.place}"
        try:
            answer = self._transport.request(
                method,
                path,
                headers=headers,
                body=sent,
                seconds=timeout,
                largest=largest,
            )
        except Late:
            raise Unavailable(f"{where}: the answer was not complete within api_timeout") from None
        except self._urllib3.exceptions.HTTPError as error:
            raise self._no_answer(error, where) from None
        if len(answer.data) > largest:
            raise _TooMuch(f"{where}: the answer has more than {largest >> 20} MiB")
        return answer

    def refusal(self, answer: HttpAnswer, what: str) -> PullSecretError:
        """Return the error for a response."""
        content_type = answer.headers.get("Content-Type") or ""
        retry_after = answer.headers.get("Retry-After")
        return hyperfleet_error(answer.status, content_type, answer.data, what, self.place, retry_after)

    def _object(self, answer: HttpAnswer, what: str) -> dict[str, Any]:
        try:
            document = json.loads(answer.data)
        except (ValueError, RecursionError) as error:
            known = isinstance(error, (json.JSONDecodeError, UnicodeDecodeError))
            # The decoder's error holds the document.
            kind = Unavailable if known else _TooMuch
            raise kind(f"{what} at {self.place}: the answer is not JSON") from None
        if not isinstance(document, dict):
            raise Unavailable(f"{what} at {self.place}: the answer is not an object")
        return document

    def _no_answer(self, error: Exception, where: str) -> PullSecretError:
        """urllib3's message holds addresses and sometimes the URL with its search: its type is enough."""
        name = type(error).__name__
        if isinstance(error, self._urllib3.exceptions.SSLError):
            return ConfigurationError(
                f"{where}: no trusted connection ({name})", "check hyperfleet.url and ca_cert"
            )
        if isinstance(error, self._urllib3.exceptions.LocationParseError):
            return ConfigurationError(f"{where}: hyperfleet.url cannot be used ({name})")
        return Unavailable(
            f"{where}: no answer ({name})", "check hyperfleet.url and that this machine can reach the API"
        )
