# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From the client library's exceptions to ours.

REST maps by HTTP status only and gRPC by code, so the parent classes are caught
(``facts``: Conflict covers ALREADY_EXISTS and ABORTED, BadRequest covers
FAILED_PRECONDITION and INVALID_ARGUMENT).
"""

from __future__ import annotations

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import (
    ConfigurationError,
    Conflict,
    NotFound,
    PermissionDenied,
    PullSecretError,
    QuotaExceeded,
    Unavailable,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.retry import parse_retry_after

__all__ = ["AlreadyExists", "FailedPrecondition", "Unanswered", "status_code", "translate"]


class AlreadyExists(PullSecretError):
    """The secret is there already: another run was first, which is no failure."""

    kind = "conflict"


class FailedPrecondition(PullSecretError):
    """The object's state, or its etag, does not allow the call."""

    kind = "precondition"


class Unanswered(Unavailable):
    """The time for the call is over, and the service may still be carrying it out."""


# What each call needs, for the hint of a PERMISSION_DENIED.
_PERMISSIONS = {
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


def translate(
    error: BaseException, method: str, resource: str, identity: str, *, detail: bool = True
) -> PullSecretError:
    """One of ours for one of theirs.

    :param detail: whether the service's own sentence may be quoted; not for a call that carries a payload.
    """
    ours = _error(error, method, resource, identity, detail)
    ours.retry_after = _retry_after(error)
    return ours


def status_code(error: BaseException) -> int | None:
    """What HTTP calls the answer, over gRPC likewise; None where there was none."""
    # A bare gRPC error has a method of that name.
    code = getattr(error, "code", None)
    return int(code) if isinstance(code, int) else None


def _error(error: BaseException, method: str, resource: str, identity: str, detail: bool) -> PullSecretError:
    # Imported here: a module that never meets Secret Manager does not pay for it.
    import google.api_core.exceptions as core
    import google.auth.exceptions as auth
    import requests.exceptions

    where = f"{method} on {resource}"
    if isinstance(error, auth.GoogleAuthError):
        # RefreshError's text can hold a token endpoint's whole reply: its type is enough.
        retryable = isinstance(error, auth.TransportError) or bool(getattr(error, "retryable", False))
        if retryable:
            return Unavailable(f"no access token for {identity} just now ({type(error).__name__}), {where}")
        return PermissionDenied(
            f"no access token for {identity} ({type(error).__name__}), {where}",
            _binding_hint(identity, method, resource),
        )
    if isinstance(error, requests.exceptions.RequestException):
        late = isinstance(error, requests.exceptions.Timeout)
        return (Unanswered if late else Unavailable)(f"UNAVAILABLE: {where}: {type(error).__name__}")
    if not isinstance(error, core.GoogleAPICallError):
        return Unavailable(f"{where}: {type(error).__name__}")

    said = _sentence(error) if detail else ""
    if isinstance(error, core.Forbidden):
        return PermissionDenied(
            f"PERMISSION_DENIED: {where} as {identity}", _binding_hint(identity, method, resource)
        )
    if isinstance(error, core.Unauthorized):
        return PermissionDenied(
            f"UNAUTHENTICATED: {where} as {identity}", _binding_hint(identity, method, resource)
        )
    if isinstance(error, core.TooManyRequests):
        return QuotaExceeded(
            f"RESOURCE_EXHAUSTED: {where}",
            f"the quota of {_project(resource)} for Secret Manager is used up; raise it",
        )
    if isinstance(error, core.NotFound):
        return NotFound(f"NOT_FOUND: {where}{said}")
    if isinstance(error, core.Aborted):
        return Conflict(f"ABORTED: {where}{said}")
    if isinstance(error, core.Conflict):
        # REST says 409 for both ABORTED and ALREADY_EXISTS; only a create can meet the latter.
        return (
            AlreadyExists(f"ALREADY_EXISTS: {where}")
            if method == "CreateSecret"
            else Conflict(f"CONFLICT: {where}{said}")
        )
    if isinstance(error, core.FailedPrecondition):
        return FailedPrecondition(f"FAILED_PRECONDITION: {where}{said}")
    if isinstance(error, core.PreconditionFailed):
        return FailedPrecondition(f"PRECONDITION_FAILED: {where}{said}")
    if isinstance(error, core.BadRequest):
        if _status(error) == "FAILED_PRECONDITION":
            return FailedPrecondition(f"FAILED_PRECONDITION: {where}{said}")
        return ConfigurationError(f"INVALID_ARGUMENT: {where}{said}")
    if isinstance(error, core.GatewayTimeout):
        return Unanswered(f"{_status(error) or type(error).__name__}: {where}")
    if isinstance(error, core.ServerError):
        return Unavailable(f"{_status(error) or type(error).__name__}: {where}")
    if isinstance(error, core.ClientError) and error.code == 408:
        return Unavailable(f"REQUEST_TIMEOUT: {where}")
    return PullSecretError(f"{_status(error) or type(error).__name__}: {where}{said}")


def _status(error: BaseException) -> str | None:
    code = getattr(error, "grpc_status_code", None)
    if code is not None:
        return str(code.name)
    for item in getattr(error, "errors", None) or ():
        if isinstance(item, dict) and item.get("status"):
            return str(item["status"])
    # REST keeps the parsed reply only in the response.
    response = getattr(error, "response", None)
    try:
        status = response.json()["error"]["status"] if response is not None else None
    except Exception:  # noqa: BLE001 - whatever the reply is, it only adds a word
        return None
    return str(status) if status else None


def _retry_after(error: BaseException) -> float | None:
    """REST says it in a header, gRPC in a detail of type google.rpc.RetryInfo."""
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
    text = " ".join(str(getattr(error, "message", "") or "").split())
    return f": {text[:300]}" if text else ""


def _project(resource: str) -> str:
    parts = resource.split("/")
    return f"project {parts[1]}" if len(parts) > 1 and parts[0] == "projects" else "the project"


def _binding_hint(identity: str, method: str, resource: str) -> str:
    permission = _PERMISSIONS.get(method, "secretmanager.*")
    return (
        f"check that {identity} has {permission} in {_project(resource)} (roles/secretmanager.admin holds "
        "it) and, with Workload Identity, that the Kubernetes service account (pullsecret-adapter-job in "
        "hyperfleet-system) has roles/iam.workloadIdentityUser on it"
    )
