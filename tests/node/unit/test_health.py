# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kubelet's health, from its healthz endpoint and its unit."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence

import pytest

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.systemd.manager import (
    SystemdError,
    UnitState,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.health import (
    Health,
    Healthz,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.clock import Clock
from tests.node.fake_systemd import UNIT, FakeSystemd, JumpingClock
from tests.node.unit.support import Answering


@pytest.fixture
def answer(request: pytest.FixtureRequest) -> Iterator[Answering]:
    server = Answering(request.param)
    yield server
    server.close()


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", ""),
        (b"HTTP/1.1 500 Internal Server Error\r\n\r\n", "healthz answers 500"),
        (b"SSH-2.0-OpenSSH\r\n", "healthz does not speak HTTP"),
        (b"", "healthz does not speak HTTP"),
        (b"HTTP/1.1 " + b"2" * 3000 + b" OK\r\n", "healthz does not speak HTTP"),
    ],
    indirect=["answer"],
)
def test_what_healthz_says(answer: Answering, problem: str) -> None:
    assert Healthz(answer.url).problem(Clock()) == problem
    assert answer.asked.startswith(b"GET /healthz HTTP/1.0\r\nHost: 127.0.0.1:")


def test_a_port_without_a_server() -> None:
    with socket.socket() as bound:  # it does not listen, and no server can take its port
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        assert "cannot be reached" in Healthz(f"http://127.0.0.1:{port}/healthz").problem(Clock())
    assert Healthz("").problem(Clock()) == ""


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1:10248/healthz",
        "127.0.0.1",
        "http://",
        "http://a:b/",
        "http://u@h/",
        "http://a b/",
        "http://a:0/",
        "http://a:65536/",
        "http://a:" + "9" * 5000,
        "http://a:\u00b2/",
        "http://a\x00b/",
        "http://h\u00e9/",
        "http://a/" + "b" * 1000,
    ],
)
def test_an_invalid_url(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^healthz"):
        Healthz(url)


def test_an_address_of_ipv6_needs_no_port() -> None:
    for url, port in (("http://[::1]/healthz", 80), ("http://[::1]:10248/healthz", 10248)):
        healthz = Healthz(url)
        assert (healthz._host, healthz._port) == ("::1", port)


UP = UnitState("loaded", "active", "running", "success", "2" * 32, 0, True, "notify")


def problem(given: Sequence[UnitState | None], window: float = 2.0) -> tuple[str, float]:
    """The problem found, and after how long, when the unit has these states in turn; None: systemd does not
    answer.
    """
    states = list(given)

    class Unit(FakeSystemd):
        def state(self, unit: str) -> UnitState:
            found = states.pop(0) if len(states) > 1 else states[0]
            if found is None:
                raise SystemdError(unit, "Disconnected", "the connection to D-Bus was lost")
            return found

    clock = JumpingClock()
    health = Health(Healthz(""), window, 10.0)
    said = health.problem(Unit(), UNIT, "1" * 32, clock, lambda: False)
    return said, clock.time - 1000.0


def test_well_means_for_the_whole_window() -> None:
    said, seconds = problem([UP])
    assert said == ""
    assert 2.0 <= seconds < 2.5


def test_getting_there_may_take_a_while_and_no_longer() -> None:
    starting = UP._replace(active="activating", sub="start")
    assert problem([starting] * 8 + [UP])[0] == ""
    said, seconds = problem([starting])
    assert said == "not healthy within 10 s: the unit is activating/start"
    assert seconds < 11


@pytest.mark.parametrize(
    ("ended", "says"),
    [
        (UP._replace(active="activating", sub="auto-restart", result="exit-code"), "result exit-code"),
        (UP._replace(active="failed", sub="failed", result="signal"), "result signal"),
        (UP._replace(active="inactive", sub="dead"), "inactive/dead"),
        (UP._replace(active="inactive", sub="dead", condition=False), "a condition of the unit is not met"),
        (UP._replace(invocation="3" * 32), "ended and was started again"),
        (UP._replace(restarts=1), "ended and was started again"),
    ],
)
def test_an_end_within_the_window(ended: UnitState, says: str) -> None:
    said, seconds = problem([UP, UP, UP, ended])
    assert says in said
    assert seconds < 2


def test_the_old_kubelet_is_no_new_one() -> None:
    assert "was not restarted" in problem([UP._replace(invocation="1" * 32)])[0]


def test_silence_of_the_bus_is_not_kubelets_end() -> None:
    assert problem([UP, None, None, None, None, None, None, UP])[0] == ""
    said, _seconds = problem([UP, None])
    assert "D-Bus was lost" in said
