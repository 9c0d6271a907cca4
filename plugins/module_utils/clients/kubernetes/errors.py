# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Translates the API server's responses to our errors.

Only messages of known form are quoted from a Status, because the server may repeat the request: a 422 an
invalid value (its fields and reasons are kept), an admission webhook's 403 the complete object.
"""

from __future__ import annotations

import json
import re
import ssl
from typing import Any

from ...model.errors import (
    ConfigurationError,
    Conflict,
    DependencyMissing,
    NotFound,
    PermissionDenied,
    PullSecretError,
    QuotaExceeded,
    Unavailable,
)
from ...runtime.retry import parse_retry_after
from ...runtime.transport import HttpAnswer

__all__ = [
    "NamespaceEnding",
    "NamespaceMissing",
    "ObjectAlreadyExists",
    "Overtaken",
    "decode_answer",
    "distrust",
    "mark_error",
    "translate_kubernetes_error",
]

# Messages of RBAC, ResourceQuota, admission webhooks and policies, up to where they may quote.
_SENTENCES = re.compile(
    r"""User\ "[^"{}]{1,253}"\ cannot\ [a-z]+\ resource\ "[a-z./]+"
        (?:\ in\ API\ group\ "[a-z0-9.]*")?\ (?:in\ the\ namespace\ "[a-z0-9-]+"|at\ the\ cluster\ scope)
      | exceeded\ quota:\ [a-z0-9.-]+(?:,\ (?:requested|used|limited):\ [a-z0-9./=-]+(?:,[a-z0-9./=-]+)*)*
      | admission\ webhook\ "[a-z0-9.-]+"\ denied\ the\ request
      | ValidatingAdmissionPolicy\ '[a-z0-9.-]+'\ with\ binding\ '[a-z0-9.-]+'\ denied\ request
      | because\ it\ is\ being\ terminated""",
    re.VERBOSE,
)
_WORD = re.compile(r"[A-Za-z]{1,40}\Z")
_FIELD = re.compile(r"[A-Za-z0-9_.\[\]/-]{1,120}\Z")


# A field of a manifest that server-side apply cannot read, and why, without its value.
_SCHEMA = re.compile(
    r"typed patch object(?: \([^()]*\):(?: errors:)? (\.[\w.\[\]\"=,:/-]{1,300}): "
    r"(field not declared in schema|expected [a-z]+))?"
)

# The parts of RBAC's message: verb, resource, API group, namespace.
_DENIED = re.compile(
    r"""cannot\ ([a-z]+)\ resource\ "([a-z./]+)"(?:\ in\ API\ group\ "([a-z0-9.]*)")?
        (?:\ in\ the\ namespace\ "([a-z0-9-]+)")?""",
    re.VERBOSE,
)


class Overtaken(Conflict):
    """The object has changed since it was read.

    ``unsure``: perhaps by ourselves, because an earlier attempt of the same write got no response.
    """

    unsure: bool = False


class ObjectAlreadyExists(Overtaken):
    """The object already exists."""


class NamespaceMissing(DependencyMissing):
    """The namespace does not exist. Somebody else may create it soon."""


class NamespaceEnding(DependencyMissing):
    """The namespace is being deleted: nothing can be created in it until it is created again."""


def mark_error(error: PullSecretError, *, unanswered: bool, waits: bool) -> bool:
    """Add to a call's error what its earlier tries have shown.

    :param unanswered: whether one of them got no answer: the server may have done it all the same.
    :param waits: whether a namespace that is missing is waited for.
    :returns: ``unanswered`` for the next try.
    """
    if isinstance(error, Overtaken):
        # Perhaps by ourselves.
        error.unsure = unanswered
    elif isinstance(error, NamespaceMissing):
        error.retryable = waits
    return unanswered or isinstance(error, Unavailable)


def decode_answer(answer: HttpAnswer, method: str, place: str, largest: int | None) -> dict[str, Any]:
    """Return the object of a response.

    :param largest: bytes; None for any size.
    :raises PullSecretError: an error response, or no object.
    """
    where = f"{method} {place}"
    if answer.status >= 300:
        retry_after = answer.headers.get("retry-after")
        raise translate_kubernetes_error(answer.status, answer.data, method, place, retry_after)
    if largest is not None and len(answer.data) > largest:
        raise PullSecretError(f"{where}: the answer has more than {largest >> 20} MiB")
    try:
        document = json.loads(answer.data)
    except (ValueError, RecursionError):
        raise Unavailable(f"{where}: the answer is not JSON") from None
    return document if isinstance(document, dict) else {}


def translate_kubernetes_error(
    status: int, body: bytes, verb: str, place: str, retry_after: str | None = None
) -> PullSecretError:
    """Translate an HTTP status and a Status body.

    :param place: ``namespaces/NS/secrets/NAME``, prefixed with the context if several are in use.
    :param retry_after: the header of that name, which a 429 of priority and fairness has; other responses
        have it in the Status.
    """
    answer = _status(body)
    error = _error(status, answer, verb, place)
    seconds = _details(answer).get("retryAfterSeconds")
    error.retry_after = parse_retry_after(retry_after or (str(seconds) if seconds else None))
    return error


def _error(status: int, answer: dict[str, Any], verb: str, place: str) -> PullSecretError:
    reason, message = _shaped(_WORD, answer.get("reason")), _line(answer.get("message"))
    where = f"{verb} {place}"
    if status == 401:
        return PermissionDenied(
            f"Unauthorized: {where}: the API server does not accept these credentials",
            "renew the token, or log in to the cluster again",
        )
    if status == 403:
        if "being terminated" in message:
            return NamespaceEnding(f"Forbidden: {where}: the namespace is being terminated")
        return PermissionDenied(
            f"Forbidden: {where}{message}",
            # A quota or an admission plugin also refuses with 403.
            _missing_right(message),
        )
    if status == 404:
        details = _details(answer)
        if details.get("kind") == "namespaces":
            return NamespaceMissing(
                f"NotFound: {where}: namespace {_shaped(_FIELD, details.get('name'))} does not exist",
                "create the namespace (in HyperFleet the placement adapter does), or check its name",
            )
        return NotFound(f"NotFound: {where}")
    if status == 409:
        return (
            ObjectAlreadyExists(f"AlreadyExists: {where}")
            if reason == "AlreadyExists"
            else Overtaken(f"Conflict: {where}")
        )
    if status == 422:
        return ConfigurationError(f"Invalid: {where}: {_causes(answer)}")
    if status == 429:
        return QuotaExceeded(f"TooManyRequests: {where}")
    schema = _SCHEMA.search(" ".join(str(answer.get("message") or "").split())) if status == 500 else None
    if schema is not None:
        # Server-side apply has no other answer for it (kubernetes#122480).
        field = f": {schema[1]}: {schema[2]}" if schema[1] else ": the manifest does not fit its kind"
        return ConfigurationError(f"Invalid: {where}{field}", "correct the manifest")
    if status in (408, 500, 502, 503, 504):
        return Unavailable(f"{reason or status}: {where}")
    return PullSecretError(f"{reason or status}: {where}")


def _missing_right(message: str) -> str | None:
    """Return what to grant after RBAC's refusal; None for another refusal."""
    denied = _DENIED.search(message)
    if denied is None:
        return None
    verb, resource, group, namespace = denied.groups()
    what = f"{verb} on {resource}{f' ({group})' if group else ''}"
    if namespace:
        return f"give that user a Role that allows {what} in this namespace"
    return f"give that user a ClusterRole that allows {what}"


def _status(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _details(answer: dict[str, Any]) -> dict[str, Any]:
    details = answer.get("details")
    return details if isinstance(details, dict) else {}


def _line(message: Any) -> str:
    found = _SENTENCES.search(" ".join(str(message or "").split()))
    return f": {found.group()}" if found else ""


def _shaped(shape: re.Pattern[str], value: Any) -> str:
    return value if isinstance(value, str) and shape.match(value) else ""


def _causes(answer: dict[str, Any]) -> str:
    causes = _details(answer).get("causes") or []
    return (
        ", ".join(
            f"{_shaped(_FIELD, cause.get('field')) or 'a field'} ({_shaped(_WORD, cause.get('reason'))})"
            for cause in causes
        )
        or "the object is not valid"
    )


def distrust(error: BaseException) -> str | None:
    """Return why a certificate was not trusted, in OpenSSL's terms; a retry does not help.

    None for any other error: urllib3 also raises an SSLError for a connection that was cut.
    """
    causes, seen = [error], set()
    while causes:
        cause = causes.pop()
        if isinstance(cause, ssl.SSLCertVerificationError):
            return str(cause.verify_message)
        if id(cause) not in seen:
            seen.add(id(cause))
            linked = (*cause.args, cause.__cause__, cause.__context__)
            causes += [other for other in linked if isinstance(other, BaseException)]
    return None
