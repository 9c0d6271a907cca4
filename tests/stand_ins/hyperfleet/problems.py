# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API's errors: RFC 9457 problem details with a code."""

from __future__ import annotations

from typing import Any

__all__ = ["ApiError"]

_ERRORS = "https://api.hyperfleet.io/errors/"

# code -> (HTTP status, end of the type's URI, title)
_KNOWN: dict[str, tuple[int, str, str]] = {
    "HYPERFLEET-AUT-001": (401, "authentication-error", "Authentication Required"),
    "HYPERFLEET-AUT-002": (401, "authentication-error", "Invalid Credentials"),
    "HYPERFLEET-AUZ-001": (403, "permission-denied", "Permission Denied"),
    "HYPERFLEET-VAL-000": (400, "validation-error", "Validation Failed"),
    "HYPERFLEET-VAL-005": (400, "bad-request", "Bad Request"),
    "HYPERFLEET-VAL-006": (400, "malformed-request", "Malformed Request"),
    "HYPERFLEET-NTF-000": (404, "not-found", "Endpoint Not Found"),
    "HYPERFLEET-NTF-001": (404, "not-found", "Resource Not Found"),
    "HYPERFLEET-CNF-001": (409, "conflict", "Resource Conflict"),
    "HYPERFLEET-CNF-003": (409, "conflict", "State Conflict"),
    "HYPERFLEET-LMT-001": (429, "rate-limit", "Rate Limit Exceeded"),
    "HYPERFLEET-INT-001": (500, "internal-error", "Internal Server Error"),
    "HYPERFLEET-SVC-001": (503, "service-unavailable", "Service Unavailable"),
    "HYPERFLEET-SVC-002": (504, "service-unavailable", "Service Timeout"),
}
_OF_STATUS = {status: code for code, (status, _uri, _title) in reversed(_KNOWN.items())}


class ApiError(Exception):
    """An answer that is an error; `detail` is what the API says of it."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = "HYPERFLEET-" + code
        self.detail = detail

    @classmethod
    def of_status(cls, status: int) -> ApiError:
        """The error that stands for an injected HTTP status (500 for one the API never answers)."""
        code = _OF_STATUS.get(status, "HYPERFLEET-INT-001")
        return cls(code.removeprefix("HYPERFLEET-"), "injected by the stand-in")

    @property
    def status(self) -> int:
        return _KNOWN[self.code][0]

    def body(
        self, *, instance: str, timestamp: str, trace_id: str, status: int | None = None
    ) -> dict[str, Any]:
        """The problem+json document; `instance` is the request's path."""
        known, uri, title = _KNOWN[self.code]
        return {
            "type": _ERRORS + uri,
            "title": title,
            "status": status or known,
            "detail": self.detail,
            "instance": instance,
            "code": self.code,
            "timestamp": timestamp,
            "trace_id": trace_id,
        }
