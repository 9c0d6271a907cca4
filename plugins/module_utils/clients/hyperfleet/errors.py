# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Translates the HyperFleet API's responses to our errors.

The API reports errors as RFC 9457 problem details. Only ``code`` and ``title`` are quoted, which are
constants of the API. A body may repeat the request, and that of a cluster holds its pull secret.
"""

from __future__ import annotations

import json
import re

from ...model.errors import (
    ConfigurationError,
    NotFound,
    PermissionDenied,
    PullSecretError,
    QuotaExceeded,
    Unavailable,
)
from ...runtime.retry import parse_retry_after

__all__ = ["BeingDeleted", "RequestRefused", "hyperfleet_error"]

_CODE = re.compile(r"HYPERFLEET-[A-Z]{3}-[0-9]{3}\Z")
_TITLE = re.compile(r"[A-Za-z][A-Za-z -]{0,60}\Z")
# The API has more than one code for a resource that does not exist, and one for a route that does not exist.
_NO_RESOURCE = re.compile(r"HYPERFLEET-NTF-00[1-9]\Z")


class BeingDeleted(PullSecretError):
    """The cluster still exists, with a ``deleted_time``: nothing new may be created for it."""

    kind = "being_deleted"


class RequestRefused(PullSecretError):
    """The API, or a proxy before it, refuses this request, such as a search by id."""

    kind = "request_refused"


def hyperfleet_error(
    status: int,
    content_type: str,
    body: bytes,
    what: str,
    place: str,
    retry_after: str | None = None,
) -> PullSecretError:
    """Translate an HTTP status other than 200.

    :param what: the requested object, such as ``cluster cls-123``.
    :param place: the API's URL, without credentials.
    :param retry_after: the header of that name, from the API or a gateway before it.
    """
    error = _error(status, content_type, body, what, place)
    error.retry_after = parse_retry_after(retry_after)
    return error


def _error(status: int, content_type: str, body: bytes, what: str, place: str) -> PullSecretError:
    code, title = _problem(content_type, body)
    said = " ".join(part for part in (f"HTTP {status}", code, title) if part)
    where = f"{said}: {what} at {place}"
    if status in (400, 413, 414, 431):
        return RequestRefused(where)
    if status == 401:
        return PermissionDenied(
            where,
            "the API requires a valid bearer token; check the file of hyperfleet.token_file, or set this option",
        )
    if status == 403:
        return PermissionDenied(
            where,
            "the API knows the caller but refuses the request; check the caller's tenant and hyperfleet.headers",
        )
    if status == 404 and code and _NO_RESOURCE.match(code):
        return NotFound(f"{what} does not exist at {place} ({code})")
    if status == 404 or 300 <= status < 400 or status == 405:
        return ConfigurationError(where, "there is no HyperFleet API at that address; check hyperfleet.url")
    if status == 429:
        return QuotaExceeded(where)
    if status == 408 or status >= 500:
        return Unavailable(where)
    return PullSecretError(where)


def _problem(content_type: str, body: bytes) -> tuple[str | None, str | None]:
    """(code, title) of a problem document, each None if the API does not write it like this."""
    if content_type.partition(";")[0].strip().lower() != "application/problem+json":
        return None, None
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None, None
    if not isinstance(document, dict):
        return None, None
    code, title = document.get("code"), document.get("title")
    return (
        code if isinstance(code, str) and _CODE.match(code) else None,
        title if isinstance(title, str) and _TITLE.match(title) else None,
    )
