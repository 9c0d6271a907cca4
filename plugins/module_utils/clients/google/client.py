# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Calls Secret Manager with our timeouts, retries and errors.

The library retries some calls by itself and others never (``facts``), so its own retry is switched off: one
policy for all. ``AddSecretVersion`` must not be repeated blindly, because a failed call may have happened. It
is called once here, and ``adding.py`` decides.
"""

from __future__ import annotations

import importlib
import itertools
import os
import time
from collections.abc import Iterator, Mapping
from typing import Any, Callable, TypeVar

from ...model.errors import NotFound, PullSecretError, Unavailable, missing_package
from ...runtime.calls import Call, Calls, snake
from ...runtime.pages import all_pages
from ...runtime.retry import Deadline
from ...runtime.run_settings import RunSettings
from ...runtime.waiting import within
from ..pool import ClientPool
from .auth import CallerIdentity, GoogleConnection, Tokens, credentials_for, google_connection
from .errors import FailedPrecondition, Unanswered, http_status, translate_google_error

__all__ = ["PLAIN", "SecretManagerClient", "SecretManagerClients", "version_number"]

# The transport without a library; only the job's program uses it.
PLAIN = "plain"

T = TypeVar("T")

_LIBRARIES = (
    "google_crc32c",
    "google.cloud.secretmanager_v1",
    "google.protobuf.field_mask_pb2",
    "google.api_core.client_options",
    "google.auth.transport.requests",
    "grpc",
)
# The service's own limit, and the page that fetches most secrets in one call.
_LIST_PAGE = 1000
# Connections that requests keeps by default.
_KEPT = 10
# Seconds for a call whose token took all the time.
_SHORTEST = 0.001
_CHECK_ENDPOINT = "check that it runs, and SECRET_MANAGER_EMULATOR_HOST or gcp.endpoint, which names it"
_STATE_AFTER = {"enable": "ENABLED", "disable": "DISABLED", "destroy": "DESTROYED"}
# As the library sets it for its own channels.
_CHANNEL = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


def version_number(version_name: str) -> str:
    """``4`` of ``projects/p/secrets/s/versions/4``."""
    return version_name.rsplit("/", 1)[-1]


class SecretManagerClient:
    """One connection. Thread-safe. Resource names are full names: ``projects/P/secrets/S[/versions/N]``."""

    def __init__(self, connection: GoogleConnection, settings: RunSettings) -> None:
        self._endpoint = connection.endpoint
        self._settings = settings
        self._connection = connection
        # Not at the top of the file: see _imports, which has been run.
        from google_crc32c import value

        self._crc32c = value
        if connection.transport == PLAIN:
            self._use_plain(connection)
        else:
            self._use_library(connection)

    def _use_library(self, connection: GoogleConnection) -> None:
        from google.cloud import secretmanager_v1
        from google.protobuf import field_mask_pb2

        from .token_request import DeadlineRequest

        self._types: Any = secretmanager_v1
        self._mask: Any = field_mask_pb2.FieldMask
        self._credentials: Any = credentials_for(connection)
        self._tokens = Tokens(self._credentials, DeadlineRequest)
        # requests keeps ten connections of a client, and drops the others with a warning.
        clients = -(-self._settings.concurrency // _KEPT) if connection.transport == "rest" else 1
        self._apis: Iterator[Any] = itertools.cycle(
            [_library_client(secretmanager_v1, connection, self._credentials) for dummy in range(clients)]
        )

    def _use_plain(self, connection: GoogleConnection) -> None:
        # A module that has Google's library does not load this.
        from . import plain
        from .metadata import PlainRequest

        self._mask = lambda paths: paths
        self._credentials = plain.credentials_of(connection)
        self._tokens = Tokens(self._credentials, PlainRequest)
        self._types = plain.PlainApi(connection, self._credentials)
        self._apis = itertools.repeat(self._types)

    @property
    def _api(self) -> Any:
        """Return Google's client, or one with its interface; if there are several, the next one each time."""
        return next(self._apis)

    def _call(
        self,
        method: str,
        resource: str,
        deadline: Deadline,
        request: Callable[[float], T],
        *,
        once: bool = False,
    ) -> T:
        def attempt(timeout: float) -> T:
            with self._settings.calls.timed(Calls.GCP, snake(method), deadline.calls) as call:
                answer = answered(timeout, call)
                call.status = 200
                return answer

        def answered(timeout: float, call: Call) -> T:
            late = Unanswered(
                f"UNAVAILABLE: {method} on {resource}: the answer was not complete within api_timeout"
            )
            end = time.monotonic() + timeout
            try:
                self._tokens.renew(timeout)
                left = max(end - time.monotonic(), _SHORTEST)
                if self._connection.transport == "rest":
                    return within(left, lambda: request(left), late)
                # gRPC keeps the limit by itself.
                return request(left)
            except PullSecretError:
                raise
            except Exception as error:  # noqa: BLE001 - four libraries raise here; translate sorts them
                call.status = http_status(error) or call.status
                caller = CallerIdentity(self._credentials, self._connection)
                ours = translate_google_error(
                    error, method, resource, caller, detail=method != "AddSecretVersion"
                )
                if isinstance(ours, Unavailable) and self._endpoint:
                    # Not from Google: the address may be wrong.
                    ours.message = f"{ours.message} at {self._endpoint}"
                    ours.hint = ours.hint or _CHECK_ENDPOINT
                raise ours from None

        if once:
            return attempt(min(self._settings.api_timeout, max(deadline.remaining(), 0.001)))
        return self._settings.retrier.call(attempt, deadline=deadline, api_timeout=self._settings.api_timeout)

    def get_secret(self, name: str, deadline: Deadline) -> Any:
        """Return the secret's metadata, or None if it does not exist."""
        try:
            return self._call(
                "GetSecret", name, deadline, lambda t: self._api.get_secret(name=name, retry=None, timeout=t)
            )
        except NotFound:
            return None

    def list_secrets(self, project: str, filter_: str, deadline: Deadline) -> list[Any]:
        """Return all secrets of ``projects/P`` that match the filter, from all pages."""
        return list(
            self._pages("ListSecrets", f"projects/{project}", "secrets", deadline, _LIST_PAGE, filter_)
        )

    def _pages(
        self, method: str, parent: str, items: str, deadline: Deadline, page_size: int, filter_: str = ""
    ) -> Iterator[Any]:
        verb, kind = {
            "ListSecrets": (self._api.list_secrets, self._types.ListSecretsRequest),
            "ListSecretVersions": (self._api.list_secret_versions, self._types.ListSecretVersionsRequest),
        }[method]

        def one(token: str) -> tuple[Any, Any]:
            request = kind(parent=parent, page_size=page_size, page_token=token, filter=filter_)
            page = self._call(
                method,
                parent,
                deadline,
                lambda t: next(verb(request=request, retry=None, timeout=t).pages),
            )
            return getattr(page, items), page.next_page_token

        return all_pages(one, f"{method} on {parent}")

    def create_secret(
        self, project: str, secret_id: str, secret: Mapping[str, Any], deadline: Deadline
    ) -> Any:
        """Create a secret atomically; raises ``SecretAlreadyExists`` if another run was first."""
        return self._call(
            "CreateSecret",
            f"projects/{project}/secrets/{secret_id}",
            deadline,
            lambda t: self._api.create_secret(
                request={"parent": f"projects/{project}", "secret_id": secret_id, "secret": dict(secret)},
                retry=None,
                timeout=t,
            ),
        )

    def update_secret(self, name: str, changes: Mapping[str, Any], etag: str, deadline: Deadline) -> Any:
        """Set complete fields, only if the secret is as it was read; raises ``FailedPrecondition`` otherwise.

        Called once: after an ambiguous failure, our own update may have used up the etag.
        """
        return self._call(
            "UpdateSecret",
            name,
            deadline,
            lambda t: self._api.update_secret(
                secret={"name": name, "etag": etag, **changes},
                update_mask=self._mask(paths=sorted(changes)),
                retry=None,
                timeout=t,
            ),
            once=True,
        )

    def delete_secret(self, name: str, etag: str, deadline: Deadline) -> bool:
        """Delete it and all its versions; False if it did not exist."""
        tries = 0

        def once(timeout: float) -> None:
            nonlocal tries
            tries += 1
            self._api.delete_secret(request={"name": name, "etag": etag}, retry=None, timeout=timeout)

        try:
            self._call("DeleteSecret", name, deadline, once)
        except NotFound:
            # An earlier attempt whose response was lost may have deleted it.
            return tries > 1
        return True

    def newest_version(self, name: str, deadline: Deadline, *, enabled: bool = True) -> Any:
        """Return the version created last (of the enabled ones), or None.

        Not the alias ``latest``: that is the newest in any state, and fails if it is disabled.
        """
        filter_ = "state:ENABLED" if enabled else ""
        try:
            # A page may be empty without being the last, because the filter is applied to a page.
            return next(self._pages("ListSecretVersions", name, "versions", deadline, 1, filter_), None)
        except NotFound:
            return None

    def versions(self, name: str, deadline: Deadline, *, enabled: bool = False) -> Iterator[Any]:
        """Return every (enabled) version, newest first; pages are fetched on demand."""
        filter_ = "state:ENABLED" if enabled else ""
        return self._pages("ListSecretVersions", name, "versions", deadline, _LIST_PAGE, filter_)

    def access(self, version_name: str, deadline: Deadline) -> bytes:
        """Return a version's payload, with its CRC32C checked; a damaged response is requested again."""
        return self._access(version_name, deadline)[1]

    def access_latest(self, name: str, deadline: Deadline) -> tuple[str, bytes] | None:
        """Return number and payload of the version created last, in one call; None if there is none.

        :raises FailedPrecondition: it is not enabled; an older one may be.
        """
        try:
            return self._access(f"{name}/versions/latest", deadline)
        except NotFound:
            return None

    def _access(self, version_name: str, deadline: Deadline) -> tuple[str, bytes]:
        def once(timeout: float) -> tuple[str, bytes]:
            answer = self._api.access_secret_version(name=version_name, retry=None, timeout=timeout)
            payload = answer.payload
            data = bytes(payload.data)
            if payload.data_crc32c and int(payload.data_crc32c) != self._crc32c(data):
                raise Unavailable(
                    f"DATA_LOSS: AccessSecretVersion on {version_name}: the payload does not match its CRC32C"
                )
            return version_number(answer.name), data

        return self._call("AccessSecretVersion", version_name, deadline, once)

    def get_version(self, version_name: str, deadline: Deadline) -> Any:
        """Return a version's metadata; raises ``NotFound``."""
        return self._call(
            "GetSecretVersion",
            version_name,
            deadline,
            lambda t: self._api.get_secret_version(name=version_name, retry=None, timeout=t),
        )

    def add_version_once(self, name: str, payload: bytes, deadline: Deadline) -> str:
        """Add a version with its CRC32C in exactly one call; return the new version's name."""
        request = {
            "parent": name,
            "payload": {"data": payload, "data_crc32c": self._crc32c(payload)},
        }
        version = self._call(
            "AddSecretVersion",
            name,
            deadline,
            lambda t: self._api.add_secret_version(request=request, retry=None, timeout=t),
            once=True,
        )
        return str(version.name)

    def set_state(self, version_name: str, etag: str, verb: str, deadline: Deadline) -> None:
        """``enable``, ``disable`` or ``destroy`` a version if it is as it was read.

        :raises FailedPrecondition: another client has changed it since.
        """
        method = f"{verb.capitalize()}SecretVersion"
        call = getattr(self._api, f"{verb}_secret_version")
        request = {"name": version_name, "etag": etag}
        try:
            self._call(method, version_name, deadline, lambda t: call(request=request, retry=None, timeout=t))
        except FailedPrecondition:
            # An earlier attempt of ours may have happened and used up the etag.
            if self.get_version(version_name, deadline).state.name != _STATE_AFTER[verb]:
                raise


def _library_client(library: Any, connection: GoogleConnection, credentials: Any) -> Any:
    from google.api_core.client_options import ClientOptions

    client = library.SecretManagerServiceClient
    if connection.transport == "rest":
        scheme = "http://" if connection.plaintext else "https://"
        options = ClientOptions(api_endpoint=scheme + connection.endpoint) if connection.endpoint else None
        return client(credentials=credentials, transport="rest", client_options=options)
    if connection.plaintext:
        # With only an endpoint the library insists on TLS.
        import grpc
        from google.cloud.secretmanager_v1.services.secret_manager_service.transports import (
            SecretManagerServiceGrpcTransport,
        )

        return client(
            transport=SecretManagerServiceGrpcTransport(
                channel=grpc.insecure_channel(connection.endpoint, options=_CHANNEL)
            )
        )
    options = ClientOptions(api_endpoint=connection.endpoint) if connection.endpoint else None
    return client(credentials=credentials, transport="grpc", client_options=options)


def _imports(transport: str | None) -> None:
    """Import what a client needs: a module without Secret Manager does not pay 0.3 s and 50 MiB for it."""
    # gRPC would wait in each fork for its own threads, and write into the output of commands of the same
    # process (such as systemctl). No forked process continues to use gRPC.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "false")
    packages = "google-crc32c" if transport == PLAIN else "google-cloud-secret-manager google-crc32c"
    try:
        for name in ("google_crc32c",) if transport == PLAIN else _LIBRARIES:
            importlib.import_module(name)
    except ImportError as error:
        raise missing_package(error, packages) from None


class SecretManagerClients:
    """The clients of one module run, by impersonated service account."""

    def __init__(self, settings: RunSettings) -> None:
        self._settings = settings
        self._pool: ClientPool[GoogleConnection, SecretManagerClient] = ClientPool(
            lambda connection: SecretManagerClient(connection, settings),
            imports=lambda: _imports(settings.connection("gcp").get("transport")),
            seconds=settings.timeout,
            describe=lambda dummy: "Secret Manager",
        )

    def get(self, deadline: Deadline, impersonate: str | None = None) -> SecretManagerClient:
        """Return the client that impersonates this service account (None: the module's own)."""
        return self._pool.get(google_connection(self._settings.connection("gcp"), impersonate), deadline)
