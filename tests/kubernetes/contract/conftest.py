# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the collection expects of a Kubernetes API server. Fixtures: the server, its users, a namespace.

    pytest tests/kubernetes/contract                    the stand-in, and kube-apiserver if Go is there
    pytest tests/kubernetes/contract -m "not real"      the stand-in only
    K8S_CONTRACT_URL=... K8S_CONTRACT_TOKEN=... [K8S_CONTRACT_VIEWER_TOKEN=... K8S_CONTRACT_CA=file]
                                                        that server only (the token is a cluster admin's)

The tests use the ``kubernetes`` client and no function of the stand-in.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.kubernetes.contract.support import Client, Place, names
from tests.lab.session import REAL, STAND_IN, KubernetesEnv, kubernetes

GIVEN = os.environ.get("K8S_CONTRACT_URL")
SERVERS = (
    [pytest.param("given", id="given")]
    if GIVEN
    else [pytest.param(STAND_IN, id="stand-in"), pytest.param(REAL, id="real", marks=pytest.mark.real("go"))]
)


# For what the stand-in leaves out, since no other test needs it.
real_only = pytest.mark.parametrize(
    "server", SERVERS if GIVEN else SERVERS[1:], indirect=True, scope="session"
)


@pytest.fixture(scope="session", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[KubernetesEnv]:
    """The server under test."""
    if not GIVEN:
        with ExitStack() as stack:
            yield stack.enter_context(kubernetes(request.param))
        return
    yield KubernetesEnv(
        "given",
        GIVEN.rstrip("/"),
        os.environ["K8S_CONTRACT_TOKEN"],
        os.environ.get("K8S_CONTRACT_VIEWER_TOKEN", ""),
        ca_file=os.environ.get("K8S_CONTRACT_CA"),
    )


@pytest.fixture(scope="session")
def admin(server: KubernetesEnv) -> Client:
    return Client(server, server.token)


@pytest.fixture(scope="session")
def viewer(server: KubernetesEnv) -> Client:
    """A user who can log in and has no rights."""
    if not server.viewer_token:
        pytest.skip("K8S_CONTRACT_VIEWER_TOKEN is not set")
    return Client(server, server.viewer_token)


@pytest.fixture(scope="session")
def anyone(server: KubernetesEnv) -> Callable[[str | None], Client]:
    """A client with another token, or without one."""
    return lambda token: Client(server, token)


def until(condition: Callable[[], bool], what: str, seconds: float = 180) -> None:
    """Wait for a controller to do its work."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds:.0f} s: {what}"
        time.sleep(0.02)


def _new_place(client: Client) -> Place:
    place = Place(client, f"contract-{uuid.uuid4().hex[:10]}")
    client.post("/api/v1/namespaces", {"metadata": {"name": place.namespace}}).ok()
    return place


@pytest.fixture
def new_place(admin: Client) -> Iterator[Callable[[], Place]]:
    """Create namespaces, and delete them after the test."""
    made: list[Place] = []

    def make() -> Place:
        made.append(_new_place(admin))
        return made[-1]

    yield make
    for place in made:
        admin.delete(place.root)


@pytest.fixture(scope="session")
def shared_place(admin: Client) -> Iterator[Place]:
    """One namespace for many tests, because a real cluster takes seconds to delete one."""
    place = _new_place(admin)
    yield place
    admin.delete(place.root)


@pytest.fixture
def place(admin: Client, shared_place: Place) -> Iterator[Place]:
    """A namespace without Secrets."""
    yield shared_place
    for left in names(admin.get(shared_place.secrets).ok()):
        if admin.delete(shared_place.at(left)).ok()["kind"] == "Secret":
            admin.patch(shared_place.at(left), {"metadata": {"finalizers": None}})
