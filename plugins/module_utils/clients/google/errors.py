# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Translates the client library's exceptions to ours.

REST maps by HTTP status only and gRPC by code, so the parent classes are caught (``facts``: Conflict covers
ALREADY_EXISTS and ABORTED, BadRequest covers FAILED_PRECONDITION and INVALID_ARGUMENT).
"""

from __future__ import annotations

import re
from typing import Protocol

from ...model.errors import (
    ConfigurationError,
    Conflict,
    NotFound,
    PermissionDenied,
    PullSecretError,
    QuotaExceeded,
    Unavailable,
    ValueDisabled,
)
from ...runtime.retry import parse_retry_after
from ...runtime.wire import NoConnection, WireError

__all__ = [
    "PERMISSIONS",
    "FailedPrecondition",
    "GoogleCaller",
    "NoToken",
    "NotEnabled",
    "PlainApiRefused",
    "SecretAlreadyExists",
    "Unanswered",
    "http_status",
    "translate_google_error",
]


class SecretAlreadyExists(PullSecretError):
    """The secret already exists: another run was first, which is not a failure."""

    kind = "conflict"


class FailedPrecondition(PullSecretError):
    """The object's state, or its etag, does not allow the call."""

    kind = "precondition"


class NotEnabled(FailedPrecondition, ValueDisabled):
    """The version is disabled or destroyed."""


class Unanswered(Unavailable):
    """The time for the call is over, and the service may still execute it."""


class PlainApiRefused(Exception):
    """The error response to the plain transport.

    :param code: the HTTP status.
    :param status: its name, such as ``NOT_FOUND``, or None.
    :param message: the service's message.
    """

    def __init__(self, code: int, status: str | None, message: str, retry_after: float | None) -> None:
        super().__init__(code)
        self.code = code
        self.status = status
        self.message = message
        self.retry_after = retry_after


class NoToken(Exception):
    """The plain transport got no access token.

    :param reason: a word or two.
    :param retryable: whether a retry may help.
    :param hint: what to check, if it is not the caller's account.
    """

    def __init__(self, reason: str, *, retryable: bool, hint: str | None = None) -> None:
        super().__init__(reason)
        self.retryable = retryable
        self.hint = hint


class GoogleCaller(Protocol):
    """The account that the service sees, as text. Finding it may take a request."""

    @property
    def is_anonymous(self) -> bool:
        """Whether the caller is anonymous."""

    @property
    def binding(self) -> str | None:
        """The IAM binding to check; None if we have the account's own key or need no binding."""


PERMISSIONS = {
    "CreateSecret": "secretmanager.secrets.create",
    "GetSecret": "secretmanager.secrets.get",
    "ListSecrets": "secretmanager.secrets.list",
    "UpdateSecret": "secretmanager.secrets.update",
    "DeleteSecret": "secretmanager.secrets.delete",
    "AddSecretVersion": "secretmanager.versions.add",
    "AccessSecretVersion": "secretmanager.versions.access",
    "GetSecretVersion": "secretmanager.versions.get",
    "ListSecretVersions": "secretmanager.versions.list",
    "EnableSecretVersion": "secretmanager.versions.enable",
    "DisableSecretVersion": "secretmanager.versions.disable",
    "DestroySecretVersion": "secretmanager.versions.destroy",
}
"""Call to the permission that it needs, for the hint of a PERMISSION_DENIED and the page *Permissions*."""


# Google's sentence for a project that does not use the API. No role helps.
_API_DISABLED = re.compile(r"\bAPI has not been used in project\b|\bAPI\b.*\bis disabled\b")
# What the library puts before the service's words over REST.
_REQUEST = re.compile(r"[A-Z]+ https?://\S+: ")
_ENABLE_PAGE = "the collection's page google_cloud, section Enable the API"
_OF_VERSIONS = ("AccessSecretVersion", "GetSecretVersion")
_VERSION_HINT = (
    "check the project, the secret and the version; the playbook hyperfleet.pull_secret.inspect lists the "
    "versions that there are"
)


def translate_google_error(
    error: BaseException, method: str, resource: str, caller: GoogleCaller, *, detail: bool = True
) -> PullSecretError:
    """Translate one exception.

    :param detail: whether the service's own message may be quoted; not for a call with a payload.
    """
    where = f"{method} on {resource}"
    if isinstance(error, PlainApiRefused):
        said = _sentence(error) if detail else ""
        ours = _refusal(error.code, error.status, where, said, method, resource, caller)
        ours.retry_after = error.retry_after
        return ours
    if isinstance(error, WireError):
        late = not isinstance(error, NoConnection)
        return (Unanswered if late else Unavailable)(f"UNAVAILABLE: {where}: {error}")
    if isinstance(error, NoToken):
        return _no_token(str(error), error.retryable, where, caller, error.hint)
    ours = _error(error, method, resource, caller, detail)
    ours.retry_after = _retry_after(error)
    return ours


def _no_token(
    reason: str, retryable: bool, where: str, caller: GoogleCaller, hint: str | None = None
) -> PullSecretError:
    if retryable:
        return Unavailable(f"{where}: no access token for {caller} at the moment ({reason})")
    # A token needs no permission of Secret Manager.
    binding = caller.binding
    return PermissionDenied(
        f"{where}: no access token for {caller} ({reason})",
        hint
        or (
            f"check that {binding}"
            if binding
            else "check that the credentials are still valid, or log in again "
            "(gcloud auth application-default login)"
        ),
    )


def http_status(error: BaseException) -> int | None:
    """Return the HTTP status of the response, also for gRPC; None without a response."""
    # A bare gRPC error has a method of that name.
    code = getattr(error, "code", None)
    return int(code) if isinstance(code, int) else None


def _error(
    error: BaseException, method: str, resource: str, caller: GoogleCaller, detail: bool
) -> PullSecretError:
    # Imported here: a module without Secret Manager does not pay for it.
    import google.api_core.exceptions as core
    import google.auth.exceptions as auth
    import requests.exceptions

    where = f"{method} on {resource}"
    if isinstance(error, auth.InvalidOperation) and caller.is_anonymous:
        # After a 401 google-auth renews the token, which such a caller cannot.
        return _refusal(401, None, where, "", method, resource, caller)
    if isinstance(error, auth.GoogleAuthError):
        # RefreshError's message can hold a token endpoint's complete response: its type is enough.
        retryable = isinstance(error, auth.TransportError) or bool(getattr(error, "retryable", False))
        return _no_token(type(error).__name__, retryable, where, caller)
    if isinstance(error, requests.exceptions.RequestException):
        late = isinstance(error, requests.exceptions.Timeout)
        return (Unanswered if late else Unavailable)(f"UNAVAILABLE: {where}: {type(error).__name__}")
    if not isinstance(error, core.GoogleAPICallError):
        return Unavailable(f"{where}: {type(error).__name__}")
    said = _sentence(error) if detail else ""
    # UNKNOWN and DATA_LOSS have no number.
    code = http_status(error) or (500 if isinstance(error, core.ServerError) else 0)
    kind = type(error).__name__
    return _refusal(code, _status(error), where, said, method, resource, caller, kind)


def _refusal(
    code: int,
    word: str | None,
    where: str,
    said: str,
    method: str,
    resource: str,
    caller: GoogleCaller,
    kind: str = "",
) -> PullSecretError:
    """Translate an HTTP status and the service's name for it, if there is one."""
    named = word or kind or f"HTTP {code}"
    if code == 403 and _API_DISABLED.search(said):
        return PermissionDenied(
            f"PERMISSION_DENIED: {where}{said}",
            f"enable the API with `gcloud services enable secretmanager.googleapis.com --project="
            f"{_project(resource).rpartition(' ')[2]}`, and wait some minutes ({_ENABLE_PAGE})",
        )
    if code == 403:
        return PermissionDenied(
            f"PERMISSION_DENIED: {where} as {caller}", _binding_hint(caller, method, resource)
        )
    if code == 401:
        return PermissionDenied(
            f"UNAUTHENTICATED: {where} as {caller}", _binding_hint(caller, method, resource)
        )
    if code == 429:
        return QuotaExceeded(
            f"RESOURCE_EXHAUSTED: {where}",
            f"the quota of {_project(resource)} for Secret Manager is used up; raise it",
        )
    if code == 404:
        return NotFound(f"NOT_FOUND: {where}{said}", _VERSION_HINT if method in _OF_VERSIONS else None)
    if code == 409:
        if word == "ABORTED":
            return Conflict(f"ABORTED: {where}{said}")
        # REST uses 409 for both ABORTED and ALREADY_EXISTS; only a create can cause the latter.
        return (
            SecretAlreadyExists(f"ALREADY_EXISTS: {where}")
            if method == "CreateSecret"
            else Conflict(f"CONFLICT: {where}{said}")
        )
    if code == 412:
        return FailedPrecondition(f"PRECONDITION_FAILED: {where}{said}")
    if code == 400:
        if word == "FAILED_PRECONDITION":
            return FailedPrecondition(f"FAILED_PRECONDITION: {where}{said}")
        return ConfigurationError(f"INVALID_ARGUMENT: {where}{said}")
    if code == 504:
        return Unanswered(f"{named}: {where}")
    if code >= 500:
        return Unavailable(f"{named}: {where}")
    if code == 408:
        return Unavailable(f"REQUEST_TIMEOUT: {where}")
    return PullSecretError(f"{named}: {where}{said}")


def _status(error: BaseException) -> str | None:
    code = getattr(error, "grpc_status_code", None)
    if code is not None:
        return str(code.name)
    for item in getattr(error, "errors", None) or ():
        if isinstance(item, dict) and item.get("status"):
            return str(item["status"])
    # REST keeps the parsed response only in the response object.
    response = getattr(error, "response", None)
    try:
        status = response.json()["error"]["status"] if response is not None else None
    except Exception:  # noqa: BLE001 - whatever the reply is, it only adds a word
        return None
    return str(status) if status else None


def _retry_after(error: BaseException) -> float | None:
    """REST has it in a header, gRPC in a detail of type google.rpc.RetryInfo."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    if headers is not None:
        return parse_retry_after(headers.get("Retry-After"))
    details = getattr(error, "details", None)
    # A bare gRPC error has a method of that name.
    for detail in details if isinstance(details, (list, tuple)) else ():
        delay = getattr(detail, "retry_delay", None)
        if delay is not None:
            return float(delay.seconds + delay.nanos / 1e9)
    return None


def _sentence(error: BaseException) -> str:
    text = _REQUEST.sub("", " ".join(str(getattr(error, "message", "") or "").split()))
    return f": {text[:300]}" if text else ""


def _project(resource: str) -> str:
    parts = resource.split("/")
    return f"project {parts[1]}" if len(parts) > 1 and parts[0] == "projects" else "the project"


def _binding_hint(caller: GoogleCaller, method: str, resource: str) -> str:
    permission = PERMISSIONS.get(method, "secretmanager.*")
    binding = caller.binding
    return (
        f"check that {caller} has {permission} in {_project(resource)} (roles/secretmanager.admin includes it)"
        + (f"; check also that {binding}" if binding else "")
    )
