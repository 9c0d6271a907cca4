# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection to Google Cloud Pub/Sub, for receiving and for publishing."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...model.errors import (
    ConfigurationError,
    NotFound,
    PermissionDenied,
    PullSecretError,
    QuotaExceeded,
    Unavailable,
    missing_package,
)
from ...model.shown import is_name

__all__ = ["PubSubService", "import_pubsub", "pubsub_error", "subscription_path", "topic_path"]

_EMULATOR = "PUBSUB_EMULATOR_HOST"
_LOOPBACK = re.compile(r"(localhost|127\.[0-9.]+|\[::1\])(:[0-9]+)?\Z")


def import_pubsub() -> Any:
    """Import the generated client's package.

    :raises ConfigurationError: it is not installed.
    """
    try:
        import grpc  # noqa: F401 - used by transports
        from google import pubsub_v1
    except ImportError as error:
        raise missing_package(error, "google-cloud-pubsub") from None
    return pubsub_v1


@dataclass(frozen=True)
class PubSubService:
    """Google's own service, or an emulator.

    :param endpoint: host and port; None is Google's.
    :param plain: without TLS and credentials, as for emulators.
    """

    endpoint: str | None
    plain: bool

    @classmethod
    def of(cls, options: Mapping[str, Any], where: str) -> PubSubService:
        """Return the service at ``endpoint``, or at ``PUBSUB_EMULATOR_HOST``.

        :raises ConfigurationError: it is not a host and port, or the library is not installed.
        """
        import_pubsub()
        endpoint = options.get("endpoint")
        if not endpoint:
            emulator = os.environ.get(_EMULATOR)
            return cls(emulator or None, bool(emulator))
        if not isinstance(endpoint, str) or not is_name(endpoint) or "@" in endpoint:
            raise ConfigurationError(f"{where}.endpoint must be a host and a port")
        address = endpoint.rpartition("://")[2].rstrip("/")
        # Nothing secret is sent without TLS: credentials are left out then.
        is_emulator = address == os.environ.get(_EMULATOR) or bool(_LOOPBACK.match(address))
        plain = endpoint.startswith("http://") or ("://" not in endpoint and is_emulator)
        return cls(address, plain)

    def subscriber(self) -> Any:
        """Return an asynchronous client; its ``transport`` must be closed."""
        library = import_pubsub()
        if not self.plain:
            options = {"api_endpoint": self.endpoint} if self.endpoint else {}
            return library.SubscriberAsyncClient(client_options=options)
        import grpc.aio
        from google.pubsub_v1.services.subscriber.transports import SubscriberGrpcAsyncIOTransport

        channel = grpc.aio.insecure_channel(str(self.endpoint))
        return library.SubscriberAsyncClient(transport=SubscriberGrpcAsyncIOTransport(channel=channel))

    def publisher(self) -> Any:
        """Return a synchronous client; its ``transport`` must be closed."""
        library = import_pubsub()
        if not self.plain:
            options = {"api_endpoint": self.endpoint} if self.endpoint else {}
            return library.PublisherClient(client_options=options)
        import grpc
        from google.pubsub_v1.services.publisher.transports import PublisherGrpcTransport

        channel = grpc.insecure_channel(str(self.endpoint))
        return library.PublisherClient(transport=PublisherGrpcTransport(channel=channel))


def subscription_path(project: str, name: str) -> str:
    """Return the full name of a subscription; a full name stays unchanged.

    :raises ConfigurationError: a name is invalid.
    """
    return _path(project, "subscriptions", name, "subscription")


def topic_path(project: str, name: str) -> str:
    """Return the full name of a topic; a full name stays unchanged.

    :raises ConfigurationError: a name is invalid.
    """
    return _path(project, "topics", name, "topic")


def _path(project: str, kind: str, name: str, option: str) -> str:
    path = name if name.startswith("projects/") else f"projects/{project}/{kind}/{name}"
    parts = path.split("/")
    if len(parts) != 4 or parts[2] != kind or not all(parts) or not is_name(path) or " " in path:
        raise ConfigurationError(f"project_id and {option} must be the names of a project and a {option}")
    return path


_KINDS: Mapping[str, type[PullSecretError]] = {
    "NotFound": NotFound,
    "PermissionDenied": PermissionDenied,
    "Unauthenticated": PermissionDenied,
    "Forbidden": PermissionDenied,
    "DefaultCredentialsError": PermissionDenied,
    "RefreshError": PermissionDenied,
    "ResourceExhausted": QuotaExceeded,
}


def pubsub_error(error: BaseException, path: str) -> PullSecretError:
    """Translate one of the library's errors: its message may quote a request."""
    if isinstance(error, PullSecretError):
        return error
    name = type(error).__name__
    return _KINDS.get(name, Unavailable)(f"Pub/Sub: {path}: {name}")
