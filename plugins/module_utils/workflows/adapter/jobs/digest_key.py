# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The key of the digests in the Jobs' annotations. Created once, and stored in a Secret beside the Jobs."""

from __future__ import annotations

import base64
import secrets
import threading

from ....clients.kubernetes.client import KubernetesClient
from ....clients.kubernetes.errors import ObjectAlreadyExists
from ....model.errors import ConfigurationError, PullSecretError, repeated_error
from ....model.naming import MANAGED_BY
from ....places.kubernetes_secret.target import secret_value
from ....runtime.retry import Deadline
from .. import names

__all__ = ["DigestKey"]

_KEY = "key"
_BYTES = 32


class DigestKey:
    """The key of the content digests, read once a run on first use. Thread-safe.

    If it is lost, another is created, and each cluster's Job is created once more, which changes nothing.
    """

    def __init__(self, client: KubernetesClient, namespace: str, adapter: str) -> None:
        self._client = client
        self._namespace = namespace
        self._adapter = adapter
        self._name = names.digest_key_name(adapter)
        self._lock = threading.Lock()
        self._key: bytes | None = None
        self._failure: PullSecretError | None = None

    def forget_failure(self) -> None:
        """Retry after an error. Called at the start of each batch."""
        with self._lock:
            self._failure = None

    def get(self, deadline: Deadline) -> bytes:
        """Return the key.

        :raises PullSecretError: it can neither be read nor created. All clusters of a batch share this error,
            because otherwise each would wait for its own.
        """
        with self._lock:
            if self._key is not None:
                return self._key
            if self._failure is not None:
                raise repeated_error(self._failure)
            try:
                self._key = self._read(deadline) or self._make(deadline)
            except PullSecretError as error:
                self._failure = error
                raise
            return self._key

    def _read(self, deadline: Deadline) -> bytes | None:
        found = self._client.get(self._namespace, "secrets", self._name, deadline)
        if found is None:
            return None
        place = self._client.place(self._namespace, "secrets", self._name)
        key = secret_value(found, _KEY, place)
        if len(key) < _BYTES:
            raise ConfigurationError(
                f"{place} holds no key of {_BYTES} bytes", "delete it, and the adapter creates another"
            )
        return key

    def _make(self, deadline: Deadline) -> bytes:
        key = secrets.token_bytes(_BYTES)
        body = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "name": self._name,
                "labels": {
                    "managed-by": MANAGED_BY,
                    "adapter": names.label_value(self._adapter),
                    "resource-type": "adapter-digest-key",
                },
            },
            "type": "Opaque",
            "immutable": True,
            "data": {_KEY: base64.b64encode(key).decode("ascii")},
        }
        try:
            self._client.create(self._namespace, "secrets", body, deadline)
        except ObjectAlreadyExists:
            made = self._read(deadline)
            if made is None:
                raise
            return made
        return key
