# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The clients of one module run, made at first use, one per connection."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from concurrent.futures import Future, wait
from typing import Callable, Generic, TypeVar

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import (
    Internal,
    PullSecretError,
    TimedOut,
)

__all__ = ["IMPORTING", "ClientPool", "within"]

K = TypeVar("K", bound=Hashable)
C = TypeVar("C")
T = TypeVar("T")

# The cloud libraries are imported when they are needed, which is in a worker's thread. Two threads
# that import two packages with a dependency in common can each wait for the other; Python then hands
# one of them a half-made module. So all places share this lock, and do nothing but import under it.
IMPORTING = threading.RLock()


class ClientPool(Generic[K, C]):
    """Thread-safe.  A connection that could not be made is not tried again: a thousand targets ask once.

    One connection's making holds up no other's.

    :param make: makes the client of a connection.
    :param imports: run first, under ``IMPORTING``: imports what ``make`` needs.
    :param seconds: how long a caller waits for a client; None is without limit.
    :param describe: a connection's printable name.
    """

    def __init__(
        self,
        make: Callable[[K], C],
        *,
        imports: Callable[[], None] = lambda: None,
        seconds: float | None = None,
        describe: Callable[[K], str] = lambda dummy: "the service",
    ) -> None:
        self._make = make
        self._imports = imports
        self._seconds = seconds
        self._describe = describe
        self._lock = threading.Lock()
        self._clients: dict[K, Future[C]] = {}
        self._late: set[K] = set()

    def get(self, connection: K) -> C:
        """The connection's client; raises what its making raised, anew for each caller.

        :raises TimedOut: it is not ready in time.
        """
        with self._lock:
            client = self._clients.get(connection)
            if client is None:
                client = self._clients[connection] = _begin(lambda: self._made(connection))
            # Somebody has waited the whole time already: whoever comes after him does not wait again.
            seconds = 0 if connection in self._late else self._seconds
        if not client.done():
            wait([client], seconds)
        if not client.done():
            self._late.add(connection)
            raise TimedOut(
                f"the connection to {self._describe(connection)} was not ready in {self._seconds:g} s "
                f"(an exec plugin?)"
            )
        error = client.exception()
        if isinstance(error, PullSecretError):
            raise type(error)(error.message, error.hint)
        if error is not None:
            # A defect, which is not known to be this connection's.
            with self._lock:
                if self._clients.get(connection) is client:
                    del self._clients[connection]
        return client.result()

    def _made(self, connection: K) -> C:
        with IMPORTING:
            self._imports()
        return self._make(connection)


def within(seconds: float, call: Callable[[], T], what: str) -> T:
    """What ``call`` gives, or raises.

    :param what: what is said where it takes longer, such as ``no token for HOST:PORT``.
    :raises TimedOut: it takes longer.
    """
    answer = _begin(call)
    wait([answer], seconds)
    if not answer.done():
        raise TimedOut(f"{what} in {seconds:g} s (an exec plugin?)")
    return answer.result()


def _begin(call: Callable[[], T]) -> Future[T]:
    """Start a call in a thread of its own.

    Libraries that wait in there (for an exec plugin, or a metadata server) cannot be told to stop: the thread
    goes on, unheeded, and ends with the process at the latest.
    """
    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(call())
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            answer.set_exception(error)
        except BaseException as error:  # noqa: BLE001 - a library that ends the process ends one target instead
            answer.set_exception(Internal(f"internal error: {type(error).__name__}", "please report this"))

    threading.Thread(target=run, daemon=True).start()
    return answer
