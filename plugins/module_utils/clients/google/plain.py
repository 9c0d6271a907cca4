# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Secret Manager's REST API over the standard library, with the interface of Google's client as far as we use
it.

Google's own takes half a second and 50 MiB to load: more than all the rest of a job.
"""

from __future__ import annotations

import base64
import binascii
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote, urlencode

from ...runtime.plain_http import PlainTransport, server
from ...runtime.retry import parse_retry_after
from .auth import GoogleConnection
from .errors import PlainApiRefused
from .metadata import AnonymousCredentials, MetadataCredentials

__all__ = ["PlainApi", "credentials_of"]

_GOOGLE = "secretmanager.googleapis.com"
_JSON = "application/json"


def credentials_of(connection: GoogleConnection) -> AnonymousCredentials | MetadataCredentials:
    """Return the credentials of a connection."""
    return AnonymousCredentials() if connection.plaintext else MetadataCredentials()


@dataclass(frozen=True)
class _Version:
    """``state.name`` is ENABLED, DISABLED or DESTROYED."""

    name: str
    etag: str
    state: Any
    created: str = ""

    @property
    def create_time(self) -> Any:
        """A datetime, to the second."""
        # Only retention uses it.
        from datetime import datetime, timezone

        return datetime.strptime(self.created[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)


@dataclass(frozen=True)
class _Secret:
    name: str
    etag: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    replication: Any = field(repr=False)

    @staticmethod
    def pb(secret: _Secret) -> _Secret:
        """The plain message, which Google's classes wrap."""
        return secret


class PlainApi:
    """One connection. Thread-safe. The methods are ``SecretManagerServiceClient``'s, without its retry.

    :param credentials: have a valid token (``Tokens.renew``).
    :raises PlainApiRefused: a response other than 2xx.
    :raises WireError: no response, or an invalid one.
    """

    ListSecretsRequest = ListSecretVersionsRequest = dict

    def __init__(
        self, connection: GoogleConnection, credentials: AnonymousCredentials | MetadataCredentials
    ) -> None:
        host, port = server(connection.endpoint or _GOOGLE, 80 if connection.plaintext else 443)
        self._transport = PlainTransport(
            host, port, None if connection.plaintext else ssl.create_default_context
        )
        self._credentials = credentials

    def get_secret(self, *, name: str, timeout: float, retry: None) -> _Secret:
        """A secret's metadata."""
        return _secret(self._ask("GET", name, timeout))

    def list_secrets(self, *, request: Mapping[str, Any], timeout: float, retry: None) -> Any:
        """One page, as ``pages``."""
        answer = self._list(request, "secrets", timeout)
        page = SimpleNamespace(
            secrets=[_secret(item) for item in answer.get("secrets") or ()],
            next_page_token=answer.get("nextPageToken") or "",
        )
        return SimpleNamespace(pages=iter([page]))

    def list_secret_versions(self, *, request: Mapping[str, Any], timeout: float, retry: None) -> Any:
        """One page, as ``pages``."""
        answer = self._list(request, "versions", timeout)
        page = SimpleNamespace(
            versions=[_version(item) for item in answer.get("versions") or ()],
            next_page_token=answer.get("nextPageToken") or "",
        )
        return SimpleNamespace(pages=iter([page]))

    def create_secret(self, *, request: Mapping[str, Any], timeout: float, retry: None) -> _Secret:
        """The new secret."""
        secret = request["secret"]
        sent = {**secret, "replication": _camel(secret["replication"])}
        query = {"secretId": request["secret_id"]}
        return _secret(self._ask("POST", f"{request['parent']}/secrets", timeout, query, sent))

    def update_secret(
        self, *, secret: Mapping[str, Any], update_mask: list[str], timeout: float, retry: None
    ) -> _Secret:
        """Set the fields of the mask."""
        query = {"updateMask": ",".join(update_mask)}
        return _secret(self._ask("PATCH", secret["name"], timeout, query, dict(secret)))

    def delete_secret(self, *, request: Mapping[str, Any], timeout: float, retry: None) -> None:
        """With all its versions."""
        self._ask("DELETE", request["name"], timeout, {"etag": request["etag"]})

    def get_secret_version(self, *, name: str, timeout: float, retry: None) -> _Version:
        """A version's metadata."""
        return _version(self._ask("GET", name, timeout))

    def access_secret_version(self, *, name: str, timeout: float, retry: None) -> Any:
        """A version's name and payload."""
        answer = self._ask("GET", f"{name}:access", timeout)
        payload = answer.get("payload") or {}
        try:
            data = base64.b64decode(payload.get("data") or "", validate=True)
        except (ValueError, binascii.Error, TypeError):
            # Not chained: the error would hold the payload.
            raise PlainApiRefused(502, "DATA_LOSS", "", None) from None
        found = SimpleNamespace(data=data, data_crc32c=payload.get("dataCrc32c") or "")
        return SimpleNamespace(name=str(answer.get("name") or ""), payload=found)

    def add_secret_version(self, *, request: Mapping[str, Any], timeout: float, retry: None) -> _Version:
        """The new version."""
        payload = request["payload"]
        sent = {
            "payload": {
                "data": base64.b64encode(payload["data"]).decode("ascii"),
                "dataCrc32c": str(payload["data_crc32c"]),
            }
        }
        return _version(self._ask("POST", f"{request['parent']}:addVersion", timeout, None, sent))

    def enable_secret_version(self, *, request: Mapping[str, Any], timeout: float, retry: None) -> None:
        """If it is as the etag says."""
        self._ask("POST", f"{request['name']}:enable", timeout, None, {"etag": request["etag"]})

    def disable_secret_version(self, *, request: Mapping[str, Any], timeout: float, retry: None) -> None:
        """If it is as the etag says."""
        self._ask("POST", f"{request['name']}:disable", timeout, None, {"etag": request["etag"]})

    def destroy_secret_version(self, *, request: Mapping[str, Any], timeout: float, retry: None) -> None:
        """If it is as the etag says."""
        self._ask("POST", f"{request['name']}:destroy", timeout, None, {"etag": request["etag"]})

    def _list(self, request: Mapping[str, Any], below: str, timeout: float) -> dict[str, Any]:
        query = {
            "pageSize": str(request["page_size"]),
            "pageToken": request.get("page_token") or "",
            "filter": request.get("filter") or "",
        }
        return self._ask(
            "GET", f"{request['parent']}/{below}", timeout, {key: text for key, text in query.items() if text}
        )

    def _ask(
        self,
        method: str,
        resource: str,
        timeout: float,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        headers = {"Accept": _JSON}
        self._credentials.apply(headers)
        sent = None
        if body is not None:
            headers["Content-Type"] = _JSON
            sent = json.dumps(body).encode()
        target = f"/v1/{quote(resource, safe='/:')}" + (f"?{urlencode(query)}" if query else "")
        answer = self._transport.request(method, target, headers=headers, seconds=timeout, body=sent)
        try:
            said = json.loads(answer.data)
        except (ValueError, RecursionError):
            said = None
        if not 200 <= answer.status < 300:
            raise _refused(answer.status, said, answer.headers.get("retry-after"))
        if not isinstance(said, dict):
            # Not chained: the decoder's error holds the document.
            raise PlainApiRefused(502, "NO_JSON", "", None) from None
        return said


def _refused(code: int, said: Any, retry_after: str | None) -> PlainApiRefused:
    error = said.get("error") if isinstance(said, dict) else None
    error = error if isinstance(error, dict) else {}
    word = error.get("status")
    return PlainApiRefused(
        code,
        word if isinstance(word, str) and word.isupper() and len(word) < 40 else None,
        str(error.get("message") or ""),
        parse_retry_after(retry_after) if retry_after else None,
    )


def _secret(said: Mapping[str, Any]) -> _Secret:
    return _Secret(
        str(said.get("name") or ""),
        str(said.get("etag") or ""),
        dict(said.get("labels") or {}),
        dict(said.get("annotations") or {}),
        _replication(said.get("replication") or {}),
    )


def _version(said: Mapping[str, Any]) -> _Version:
    name, etag = str(said.get("name") or ""), str(said.get("etag") or "")
    state = SimpleNamespace(name=str(said.get("state") or ""))
    return _Version(name, etag, state, str(said.get("createTime") or ""))


def _replication(said: Mapping[str, Any]) -> Any:
    kind = next((ours for ours, theirs in _KINDS.items() if theirs in said), None)
    replicas = (said.get("userManaged") or {}).get("replicas") or ()
    return SimpleNamespace(
        WhichOneof=lambda dummy: kind,
        automatic=_encrypted(said.get("automatic") or {}),
        user_managed=SimpleNamespace(
            replicas=[_encrypted(place, location=place.get("location") or "") for place in replicas]
        ),
    )


_KINDS = {"automatic": "automatic", "user_managed": "userManaged"}


def _encrypted(said: Mapping[str, Any], **more: str) -> Any:
    key = (said.get("customerManagedEncryption") or {}).get("kmsKeyName") or ""
    return SimpleNamespace(customer_managed_encryption=SimpleNamespace(kms_key_name=key), **more)


def _camel(value: Any) -> Any:
    """Return a message's field names in JSON's notation."""
    if isinstance(value, Mapping):
        return {_camel_name(name): _camel(item) for name, item in value.items()}
    return [_camel(item) for item in value] if isinstance(value, (list, tuple)) else value


def _camel_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
