# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A real RabbitMQ on loopback: Debian's rabbitmq-server, with a node, an epmd and a directory of its own.

Two processes: Erlang's name server, which would otherwise stay for ever, and the broker. Both are ended
by their records, also those that a killed session left (``tests.lab.scratch``).
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.lab.scratch import supervised
from tests.lab.supervisor import Supervisor, free_ports, write_private

__all__ = ["PASSWORD", "USER", "RabbitMQ", "rabbitmq"]

COMMANDS = ("rabbitmq-server",)
USER = "lab"
PASSWORD = "example-broker-password"
# The one on PATH changes to the user rabbitmq first, where it is started by root.
_SERVER = "/usr/lib/rabbitmq/bin/rabbitmq-server"
_READY = "Server startup complete"


class RabbitMQ:
    """The broker of one directory; what it holds outlives ``down`` and ``kill``."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._supervisor = Supervisor(directory)
        self.port = 0

    @property
    def url(self) -> str:
        """With user and password."""
        return f"amqp://{USER}:{PASSWORD}@127.0.0.1:{self.port}/"

    def up(self, seconds: float = 120) -> None:
        """Start it, on the port that it had before. LabError when it is not ready in time."""
        self.down()
        self.directory.mkdir(parents=True, exist_ok=True)
        self.port, epmd, distribution = self._ports()
        self._configure()
        self._supervisor.start("epmd", ["epmd", "-port", str(epmd), "-address", "127.0.0.1"])
        log = self._supervisor.log("rabbitmq")
        log.unlink(missing_ok=True)
        self._supervisor.start("rabbitmq", [_SERVER], env=self._environment(epmd, distribution))
        self._supervisor.wait(
            lambda: log.exists() and _READY in log.read_text(errors="replace"), "rabbitmq", seconds=seconds
        )

    def down(self) -> None:
        """End both processes, in order."""
        self._supervisor.stop("rabbitmq", 30)
        self._supervisor.stop("epmd")

    def kill(self) -> None:
        """End the broker as a crash would."""
        pid = json.loads((self.directory / "rabbitmq.pid").read_text())["pid"]
        if self._supervisor.running("rabbitmq"):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.down()

    def clear(self) -> None:
        """End it, and forget all that it held."""
        self.down()
        self._supervisor.clear()

    def _ports(self) -> tuple[int, int, int]:
        path = self.directory / "ports.json"
        if path.exists():
            ports = json.loads(path.read_text())
        else:
            ports = free_ports(3)
            path.write_text(json.dumps(ports))
        return int(ports[0]), int(ports[1]), int(ports[2])

    def _configure(self) -> None:
        settings = (
            f"listeners.tcp.1 = 127.0.0.1:{self.port}",
            "loopback_users = none",
            f"default_user = {USER}",
            f"default_pass = {PASSWORD}",
            "log.console = true",
            "log.file = false",
        )
        write_private(self.directory / "rabbitmq.conf", "\n".join(settings) + "\n")
        (self.directory / "enabled_plugins").write_text("[].\n")

    def _environment(self, epmd: int, distribution: int) -> dict[str, str]:
        here = self.directory
        return {
            "HOME": str(here),
            "LANG": "C.UTF-8",
            "ERL_EPMD_PORT": str(epmd),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"lab-{self.port}@localhost",
            "RABBITMQ_DIST_PORT": str(distribution),
            "RABBITMQ_MNESIA_BASE": str(here / "mnesia"),
            "RABBITMQ_LOG_BASE": str(here / "log"),
            "RABBITMQ_CONFIG_FILE": str(here / "rabbitmq.conf"),
            "RABBITMQ_CONF_ENV_FILE": str(here / "none"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(here / "enabled_plugins"),
            # Without a shell between us and the virtual machine, which takes SIGTERM itself.
            "RUNNING_UNDER_SYSTEMD": "1",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": (
                "-kernel inet_dist_use_interface {127,0,0,1} +sbwt none +S 2:2"
            ),
        }


@contextmanager
def rabbitmq() -> Iterator[RabbitMQ]:
    """A broker for the time of the block, installed first where we are root."""
    from tests.tools import apt

    apt.provide(COMMANDS)
    with supervised("rabbitmq") as directory:
        broker = RabbitMQ(directory)
        broker.up()
        yield broker
