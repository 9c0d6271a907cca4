# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pool of clients; two threads import two cloud libraries at the same moment."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.pool import (
    IMPORTING,
    ClientPool,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    ConfigurationError,
    Internal,
    PermissionDenied,
    PullSecretError,
    TimedOut,
    Unavailable,
    WrongOption,
    missing_package,
    repeated_error,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import Deadline

# Both libraries import requests. Without the lock one thread would get a half-imported module.
_TWO_THREADS = """
import sys, threading
sys.path[:0] = %r
sys.setswitchinterval(1e-5)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.run_settings import RunSettings
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes import client as k8s
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.google import client as gcp

settings = RunSettings(connections={"gcp": {"endpoint": "http://127.0.0.1:1"},
                                    "kubernetes": {"host": "http://127.0.0.1:1"}})
together = threading.Barrier(2)
failures = []

def get(clients):
    together.wait()
    try:
        clients.get(settings.deadline())
    except Exception as error:
        failures.append(repr(error))

threads = [threading.Thread(target=get, args=(made(settings),))
           for made in (gcp.SecretManagerClients, k8s.KubernetesClients)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(failures)
"""


@pytest.mark.nightly
def test_two_places_are_first_used_at_the_same_moment() -> None:
    for _attempt in range(3):
        done = subprocess.run(
            [sys.executable, "-c", _TWO_THREADS % (sys.path,)], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stdout + done.stderr


def test_one_client_a_connection() -> None:
    made: list[str] = []

    def make(key: str) -> object:
        made.append(key)
        return object()

    pool: ClientPool[str, object] = ClientPool(make)
    found: list[object] = []
    threads = [
        threading.Thread(target=lambda: found.append(pool.get("a", Deadline(60)))) for _slot in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == ["a"]
    assert len(set(map(id, found))) == 1
    assert pool.get("b", Deadline(60)) is not found[0]


def test_a_connection_that_failed_is_asked_for_once() -> None:
    asked: list[str] = []

    def make(key: str) -> object:
        asked.append(key)
        raise PermissionDenied("no credentials", "log in")

    pool: ClientPool[str, object] = ClientPool(make)
    for _target in range(3):
        with pytest.raises(PermissionDenied) as caught:
            pool.get("a", Deadline(60))
        assert (caught.value.message, caught.value.hint) == ("no credentials", "log in")
    assert asked == ["a"]


def test_a_connection_that_hangs_holds_up_no_other() -> None:
    gate, asked = threading.Event(), []

    def make(key: str) -> str:
        asked.append(key)
        if key == "slow":
            assert gate.wait(60)
        return key

    pool: ClientPool[str, str] = ClientPool(make, seconds=2, describe=lambda key: f"cluster {key}")
    try:
        with pytest.raises(
            TimedOut, match=r"the connection to cluster slow was not ready within the limit of 2 s"
        ):
            pool.get("slow", Deadline(60))
        with pytest.raises(TimedOut):
            pool.get("slow", Deadline(60))
        assert pool.get("good", Deadline(60)) == "good"
    finally:
        gate.set()
    assert asked == ["slow", "good"]


def test_a_caller_waits_no_longer_than_its_own_time_limit() -> None:
    """Two slow connections, for example the source's and the target's, must not double a target's limit."""
    gate = threading.Event()

    def make(_connection: str) -> bool:
        return gate.wait(60)

    pool: ClientPool[str, bool] = ClientPool(make, seconds=60, describe=lambda dummy: "cluster slow")
    try:
        with pytest.raises(TimedOut, match=r"cluster slow was not ready within the limit of 0\.1 s"):
            pool.get("a", Deadline(0.1))
    finally:
        gate.set()
    # A timeout of one caller says nothing about the connection.
    assert pool.get("a", Deadline(60)) is True


def test_only_imports_are_under_the_lock_that_all_places_share() -> None:
    def free() -> bool:
        """Runs in another thread: the lock is reentrant."""
        found: list[bool] = []

        def take() -> None:
            found.append(IMPORTING.acquire(blocking=False))
            if found[0]:
                IMPORTING.release()

        thread = threading.Thread(target=take)
        thread.start()
        thread.join()
        return found[0]

    during: list[bool] = []
    pool: ClientPool[str, bool] = ClientPool(lambda dummy: free(), imports=lambda: during.append(free()))
    assert pool.get("a", Deadline(60)) is True
    assert during == [False]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ModuleNotFoundError("No module named 'x'", name="x"), "x is missing"),
        (ImportError("cannot import name 'y' from 'x'", name="x"), "x on the machine that runs the task is"),
    ],
)
def test_missing_and_broken_packages_are_told_apart(error: ImportError, words: str) -> None:
    problem = missing_package(error, "x")
    assert isinstance(problem, ConfigurationError)
    assert words in problem.message
    assert "pip install" in (problem.hint or "")


def test_a_library_that_ends_the_process_ends_one_connection() -> None:
    def make(_connection: str) -> str:
        raise SystemExit(3)

    pool: ClientPool[str, str] = ClientPool(make)
    with pytest.raises(Internal, match="SystemExit"):
        pool.get("a", Deadline(60))


@pytest.mark.parametrize(
    "error", [WrongOption("headers", "is empty"), Unavailable("no answer", "wait")], ids=repr
)
def test_who_asks_again_gets_the_same_error(error: PullSecretError) -> None:
    """Each caller gets a copy, because several threads raise it."""

    def make(_key: str) -> object:
        raise error

    pool: ClientPool[str, object] = ClientPool(make)
    caught = []
    for _target in range(2):
        with pytest.raises(type(error)) as found:
            pool.get("it", Deadline(5))
        caught.append(found.value)
    assert [str(one) for one in (*caught, repeated_error(error))] == [str(error)] * 3
    assert [one.kind for one in caught] == [error.kind] * 2
    assert caught[0] is not error
    assert not repeated_error(error).retryable
