# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Credentials for Google Cloud: application default credentials, a file, impersonation, or none."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Callable

from ...model.errors import ConfigurationError, PermissionDenied, WrongOption
from ...model.shown import shown_path
from ...runtime.waiting import within
from .errors import NoToken

__all__ = ["CallerIdentity", "GoogleConnection", "Tokens", "credentials_for", "google_connection"]

_VARIABLE = "GOOGLE_APPLICATION_CREDENTIALS"
_SCOPES = ("https://www.googleapis.com/auth/cloud-platform",)
# Its e-mail address, or its number.
_ACCOUNT = re.compile(r"(?=.{1,254}\Z)(?:[0-9]+|[A-Za-z0-9][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.:-]*)\Z")
_ADDRESS = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.%]+\])(?::([0-9]{1,5}))?\Z")


@dataclass(frozen=True)
class GoogleConnection:
    """The key of a client.

    :param endpoint: ``host:port`` without a scheme, or None for Google's own.
    :param plaintext: no TLS and no credentials, as for an emulator.
    :param impersonate: the service account to impersonate, or None.
    """

    transport: str = "grpc"
    endpoint: str | None = None
    plaintext: bool = False
    impersonate: str | None = None
    credentials_file: str | None = None


def google_connection(options: Mapping[str, Any], impersonate: str | None = None) -> GoogleConnection:
    """Return the connection that a module's ``gcp`` options describe.

    Only ``http://host:port`` selects a connection without TLS. As with Google's other clients,
    ``SECRET_MANAGER_EMULATOR_HOST`` names an emulator if no endpoint is given.
    """
    endpoint = options.get("endpoint")
    if not endpoint and os.environ.get("SECRET_MANAGER_EMULATOR_HOST"):
        endpoint = "http://" + os.environ["SECRET_MANAGER_EMULATOR_HOST"].split("://")[-1]
    plaintext = False
    if endpoint:
        scheme, separator, rest = endpoint.partition("://")
        if separator and scheme not in ("http", "https"):
            raise WrongOption("gcp.endpoint", f"must begin with https:// or http://, not {scheme}://")
        plaintext = bool(separator) and scheme == "http"
        endpoint = (rest if separator else endpoint).rstrip("/")
        if not endpoint:
            raise WrongOption("gcp.endpoint", "has no host")
        # Not quoted: the URL can hold a password.
        shape = _ADDRESS.match(endpoint)
        if shape is None or int(shape.group(1) or 443) > 65535:
            raise WrongOption("gcp.endpoint", "must be a host, or a host and a port")
    account = impersonate or options.get("impersonate_service_account") or None
    if account is not None and not _ACCOUNT.match(account):
        # It is a part of the URL that its token is requested from.
        raise ConfigurationError(
            "impersonate_service_account must be the e-mail address of a service account",
            "give it as NAME@PROJECT.iam.gserviceaccount.com",
        )
    return GoogleConnection(
        transport=options.get("transport") or "grpc",
        endpoint=endpoint or None,
        plaintext=plaintext,
        impersonate=account,
        credentials_file=options.get("credentials_file") or None,
    )


def credentials_for(connection: GoogleConnection) -> Any:
    """Return the google-auth credentials of a connection; ``CallerIdentity`` names their account."""
    import google.auth
    import google.auth.credentials
    import google.auth.exceptions

    if connection.plaintext:
        return google.auth.credentials.AnonymousCredentials()
    try:
        # Scopes are added afterwards. Given here, google-auth would log in at once and request an unneeded
        # project id from Resource Manager, which may not even be reachable.
        if connection.credentials_file:
            credentials, _project = google.auth.load_credentials_from_file(connection.credentials_file)
        else:
            credentials, _project = google.auth.default()
        credentials = google.auth.credentials.with_scopes_if_required(credentials, _SCOPES)
    except google.auth.exceptions.GoogleAuthError as error:
        kind, missing = type(error).__name__, _missing_file(connection)
        if missing is not None and not connection.credentials_file:
            raise PermissionDenied(
                f"no Google Cloud credentials: {_VARIABLE} names a file that does not exist: {missing}",
                "correct the path, or unset the variable to use Workload Identity or gcloud's login",
            ) from None
        if connection.credentials_file:
            reason = f"it does not exist: {missing}" if missing is not None else kind
            raise PermissionDenied(
                f"gcp.credentials_file cannot be used ({reason})",
                "check that the file exists and contains Google Cloud credentials",
            ) from None
        if os.environ.get(_VARIABLE):
            raise PermissionDenied(
                f"no Google Cloud credentials ({kind}): {_VARIABLE} names {shown_path(os.environ[_VARIABLE])}",
                "name a key file or a configuration of Workload Identity Federation, or unset the variable",
            ) from None
        raise PermissionDenied(
            f"no Google Cloud credentials ({kind})",
            "use Workload Identity, GOOGLE_APPLICATION_CREDENTIALS, or gcloud auth application-default login",
        ) from None
    except (OSError, ValueError) as error:
        file = "the application default credentials"
        if connection.credentials_file:
            file = "gcp.credentials_file"
        elif os.environ.get(_VARIABLE):
            file = f"the file that {_VARIABLE} names, {shown_path(os.environ[_VARIABLE])},"
        reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
        raise ConfigurationError(
            f"{file} cannot be used ({reason})", "name a readable file with Google Cloud credentials"
        ) from None
    if connection.impersonate:
        from google.auth import impersonated_credentials

        credentials = impersonated_credentials.Credentials(
            source_credentials=credentials,
            target_principal=connection.impersonate,
            target_scopes=list(_SCOPES),
        )
    # As in the client library: a service account's key signs its tokens here, without a request.
    elif hasattr(credentials, "with_always_use_jwt_access"):
        credentials = credentials.with_always_use_jwt_access(True)
    return credentials


def _missing_file(connection: GoogleConnection) -> str | None:
    """Return the path of the credentials, for a message, if the file does not exist."""
    path = connection.credentials_file or os.environ.get(_VARIABLE)
    return shown_path(path) if path and not os.path.exists(path) else None


class Tokens:
    """Keeps an access token for one connection's credentials. Thread-safe.

    google-auth renews an expired token during a call, without a time limit, and gRPC then hides why there is
    none. So the token is renewed before the call.

    :param credentials: google-auth's, or others with ``valid`` and ``refresh``.
    :param request: makes a ``google.auth.transport.Request`` whose requests end within a number of seconds.
    """

    def __init__(self, credentials: Any, request: Callable[[float], Any]) -> None:
        self._credentials = credentials
        self._request = request
        self._lock = threading.Lock()

    def renew(self, seconds: float) -> None:
        """Get a token unless there is a valid one.

        :raises NoToken: there is none in time, or the metadata server returns none.
        :raises google.auth.exceptions.GoogleAuthError: google-auth gets none.
        """
        if self._credentials.valid:
            return
        late, end = NoToken("no answer in time", retryable=True), time.monotonic() + seconds
        if not self._lock.acquire(timeout=seconds):
            raise late
        try:
            left = end - time.monotonic()
            # Another thread may have got it meanwhile.
            if not self._credentials.valid:
                # Not only requests take time: google-auth waits between two of them, and runs programs.
                within(left, lambda: self._credentials.refresh(self._request(left)), late)
        finally:
            self._lock.release()


class CallerIdentity:
    """The account that the service sees, for error messages: its email address if it is known.

    The metadata server's account (GKE Workload Identity) is known only after the first token, and finding it
    may take a request. So it is looked up only when a message needs it.
    """

    def __init__(self, credentials: Any, connection: GoogleConnection) -> None:
        self._credentials = credentials
        self._connection = connection

    @property
    def is_anonymous(self) -> bool:
        """Whether the caller is anonymous."""
        return self._connection.plaintext

    def __str__(self) -> str:
        if self.is_anonymous:
            return "an anonymous caller (connection without TLS)"
        address = self._connection.impersonate or self._address
        return (
            f"service account {address}" if address else "the identity of the application default credentials"
        )

    @property
    def binding(self) -> str | None:
        """The IAM binding to check; None if we have the account's own key or need no binding."""
        if self.is_anonymous:
            return None
        signer = getattr(self._credentials, "signer", None)
        # Impersonated credentials, which a file may also hold, sign by themselves: the service does it.
        if signer is not None and signer is self._credentials:
            address = self._connection.impersonate or self._address
            return (
                f"the account that impersonates {address} has roles/iam.serviceAccountTokenCreator on it, and "
                "that its own credentials are still valid"
            )
        # A person's credentials have no such address, and the account's own key signs its tokens.
        if signer is not None or not hasattr(type(self._credentials), "service_account_email"):
            return None
        return (
            "the Kubernetes service account of the pod, if this runs in one, has "
            f"roles/iam.workloadIdentityUser on {self._address or 'the Google service account'}"
        )

    @cached_property
    def _address(self) -> str | None:
        address = getattr(self._credentials, "service_account_email", None)
        # The metadata server's name of a Kubernetes account without a Google account has no @.
        return str(address) if "@" in (address or "") else None
