# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one error of the stand-in, its HTTP status, and messages in the service's style."""

from __future__ import annotations

from grpc import StatusCode

# google.rpc.Code -> HTTP status, as documented in google/rpc/code.proto.
HTTP_STATUS: dict[StatusCode, int] = {
    StatusCode.CANCELLED: 499,
    StatusCode.UNKNOWN: 500,
    StatusCode.INVALID_ARGUMENT: 400,
    StatusCode.DEADLINE_EXCEEDED: 504,
    StatusCode.NOT_FOUND: 404,
    StatusCode.ALREADY_EXISTS: 409,
    StatusCode.PERMISSION_DENIED: 403,
    StatusCode.RESOURCE_EXHAUSTED: 429,
    StatusCode.FAILED_PRECONDITION: 400,
    StatusCode.ABORTED: 409,
    StatusCode.OUT_OF_RANGE: 400,
    StatusCode.UNIMPLEMENTED: 501,
    StatusCode.INTERNAL: 500,
    StatusCode.UNAVAILABLE: 503,
    StatusCode.DATA_LOSS: 500,
    StatusCode.UNAUTHENTICATED: 401,
}


class ApiError(Exception):
    """A call that fails with a status code. The message never holds a payload."""

    def __init__(self, code: StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def invalid(message: str) -> ApiError:
    return ApiError(StatusCode.INVALID_ARGUMENT, message)


def not_found(message: str) -> ApiError:
    return ApiError(StatusCode.NOT_FOUND, message)


def failed_precondition(message: str) -> ApiError:
    return ApiError(StatusCode.FAILED_PRECONDITION, message)


_PERMISSION: dict[str, str] = {
    "CreateSecret": "secretmanager.secrets.create",
    "GetSecret": "secretmanager.secrets.get",
    "UpdateSecret": "secretmanager.secrets.update",
    "DeleteSecret": "secretmanager.secrets.delete",
    "ListSecrets": "secretmanager.secrets.list",
    "AddSecretVersion": "secretmanager.versions.add",
    "GetSecretVersion": "secretmanager.versions.get",
    "AccessSecretVersion": "secretmanager.versions.access",
    "ListSecretVersions": "secretmanager.versions.list",
    "EnableSecretVersion": "secretmanager.versions.enable",
    "DisableSecretVersion": "secretmanager.versions.disable",
    "DestroySecretVersion": "secretmanager.versions.destroy",
}


def default_message(code: StatusCode, method: str, resource: str) -> str:
    """The text of an injected failure that has no text of its own."""
    if code is StatusCode.PERMISSION_DENIED:
        permission = _PERMISSION.get(method, "secretmanager.unknown")
        return f"Permission '{permission}' denied for resource '{resource}' (or it may not exist)."
    if code is StatusCode.RESOURCE_EXHAUSTED:
        return "Quota exceeded for quota metric of service 'secretmanager.googleapis.com'."
    return f"{code.name}: injected by the stand-in for {method}."
