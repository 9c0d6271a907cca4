# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The clients of one module run, made at first use, one per connection."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Callable, Generic, TypeVar

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import PullSecretError

__all__ = ["IMPORTING", "ClientPool"]

K = TypeVar("K", bound=Hashable)
C = TypeVar("C")

# The cloud libraries are imported when they are needed, which is in a worker's thread. Two threads
# that import two packages with a dependency in common can each wait for the other; Python then hands
# one of them a half-made module. So all places share this lock.
IMPORTING = threading.RLock()


class ClientPool(Generic[K, C]):
    """Thread-safe.  A connection that could not be made is not tried again: a thousand targets ask once.

    :param make: makes the client of a connection; may import.
    """

    def __init__(self, make: Callable[[K], C]) -> None:
        self._make = make
        self._clients: dict[K, C] = {}
        self._failed: dict[K, PullSecretError] = {}

    def get(self, connection: K) -> C:
        """The connection's client; raises what its making raised, anew for each caller."""
        client = self._clients.get(connection)
        if client is not None:
            return client
        with IMPORTING:
            failed = self._failed.get(connection)
            if failed is not None:
                raise type(failed)(failed.message, failed.hint)
            if connection not in self._clients:
                try:
                    self._clients[connection] = self._make(connection)
                except PullSecretError as error:
                    self._failed[connection] = error
                    raise
            return self._clients[connection]
