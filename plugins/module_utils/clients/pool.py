# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The clients of one module run, created at first use, one per connection."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from concurrent.futures import Future, wait
from typing import Callable, Generic, TypeVar

from ..model.errors import PullSecretError, TimedOut, copied_error
from ..runtime.retry import Deadline
from ..runtime.waiting import begin

__all__ = ["IMPORTING", "ClientPool"]

K = TypeVar("K", bound=Hashable)
C = TypeVar("C")

# The cloud libraries are imported on demand, in a worker's thread. Two threads that import two packages with
# a common dependency can wait for each other; Python then gives one of them an incomplete module. So all
# clients share this lock, and do nothing but import under it.
IMPORTING = threading.RLock()


class ClientPool(Generic[K, C]):
    """Thread-safe. A failed connection is not tried again: a thousand targets try once.

    Making one connection does not delay another.

    :param make: makes the client of a connection.
    :param imports: run first, under ``IMPORTING``: imports what ``make`` needs.
    :param seconds: how long the making may take. A later call does not wait again.
    :param describe: returns a connection's printable name.
    :param hint: the probable reason if one is not ready in time.
    """

    def __init__(
        self,
        make: Callable[[K], C],
        *,
        imports: Callable[[], None] = lambda: None,
        seconds: float = 300.0,
        describe: Callable[[K], str] = lambda dummy: "the service",
        hint: str = "",
    ) -> None:
        self._make = make
        self._imports = imports
        self._seconds = seconds
        self._describe = describe
        self._hint = hint
        self._lock = threading.Lock()
        self._clients: dict[K, tuple[Future[C], Deadline]] = {}

    def get(self, connection: K, deadline: Deadline) -> C:
        """Return the connection's client, or raise its error, a new one for each caller.

        :param deadline: the caller's, who waits no longer than that.
        :raises TimedOut: it is not ready in time.
        """
        with self._lock:
            begun = self._clients.get(connection)
            if begun is None:
                begun = begin(lambda: self._made(connection)), Deadline(self._seconds)
                self._clients[connection] = begun
        client, ready_by = begun
        if not client.done():
            wait([client], min(ready_by.remaining(), deadline.remaining()))
        if not client.done():
            raise TimedOut(
                f"the connection to {self._describe(connection)} was not ready within the limit of "
                f"{min(ready_by.seconds, deadline.seconds):g} s{self._hint}"
            )
        error = client.exception()
        if isinstance(error, PullSecretError):
            raise copied_error(error)
        if error is not None:
            # A defect, which may not be this connection's.
            with self._lock:
                if self._clients.get(connection) is begun:
                    del self._clients[connection]
        return client.result()

    def drop(self, connection: K) -> None:
        """Forget a client; the next call makes a new one."""
        with self._lock:
            self._clients.pop(connection, None)

    def _made(self, connection: K) -> C:
        with IMPORTING:
            self._imports()
        return self._make(connection)
