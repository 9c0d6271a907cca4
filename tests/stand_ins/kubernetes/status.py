# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kubernetes ``Status`` objects: every refusal of the stand-in is one ``ApiError``.

Codes, reasons, messages and details follow what kube-apiserver 1.34 answers; the contract suite
(``tests/kubernetes/contract``) holds both to the same expectations.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    406: "NotAcceptable",
    409: "Conflict",
    410: "Expired",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


class ApiError(Exception):
    """A request that is answered with a ``Status`` object of ``status: Failure``."""

    def __init__(
        self, code: int, message: str, *, reason: str | None = None, details: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.reason = REASONS.get(code, "") if reason is None else reason
        self.details = details

    def body(self) -> bytes:
        """Return the ``Status`` object as JSON."""
        out: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            out["reason"] = self.reason
        if self.details is not None:
            out["details"] = self.details
        out["code"] = self.code
        return json.dumps(out, separators=(",", ":")).encode()


class FieldError(NamedTuple):
    """One cause of a 422: a field, a kind of fault and a sentence (never a secret value)."""

    field: str
    reason: str
    message: str


def field_invalid(field: str, value: object, detail: str) -> FieldError:
    shown = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)
    return FieldError(field, "FieldValueInvalid", f"Invalid value: {shown}: {detail}")


def field_required(field: str, detail: str = "") -> FieldError:
    message = f"Required value: {detail}" if detail else "Required value"
    return FieldError(field, "FieldValueRequired", message)


def field_forbidden(field: str, detail: str) -> FieldError:
    return FieldError(field, "FieldValueForbidden", f"Forbidden: {detail}")


def field_too_long(field: str, limit: int) -> FieldError:
    return FieldError(field, "FieldValueTooLong", f"Too long: may not be more than {limit} bytes")


def invalid(kind: str, name: str, errors: list[FieldError], *, group: str = "") -> ApiError:
    """422 with one cause for each field error."""
    texts = list(dict.fromkeys(f"{error.field}: {error.message}" for error in errors))
    joined = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    named = {"name": name, "group": group, "kind": kind}
    details: dict[str, Any] = {key: value for key, value in named.items() if value}
    details["causes"] = [error._asdict() for error in errors]
    return ApiError(422, f'{kind}{"." * bool(group)}{group} "{name}" is invalid: {joined}', details=details)


def named(plural: str, name: str) -> dict[str, Any]:
    """The details of a ``Status``; ``plural`` with its group, as in ``daemonsets.apps``."""
    kind, _dot, group = plural.partition(".")
    found = {"name": name, "group": group, "kind": kind}
    return {key: value for key, value in found.items() if value}


def not_found(plural: str, name: str) -> ApiError:
    return ApiError(404, f'{plural} "{name}" not found', details=named(plural, name))


def already_exists(plural: str, name: str) -> ApiError:
    details = named(plural, name)
    return ApiError(409, f'{plural} "{name}" already exists', reason="AlreadyExists", details=details)


def conflict(plural: str, name: str, why: str = "") -> ApiError:
    text = (
        why or "the object has been modified; please apply your changes to the latest version and try again"
    )
    message = f'Operation cannot be fulfilled on {plural} "{name}": {text}'
    return ApiError(409, message, details=named(plural, name))


def forbidden(plural: str, name: str, why: str) -> ApiError:
    subject = f'{plural} "{name}"' if name else plural
    return ApiError(403, f"{subject} is forbidden: {why}", details=named(plural, name))
