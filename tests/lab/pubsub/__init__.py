# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Google's own Pub/Sub emulator (a part of the cloud SDK) on loopback, for the time of a block."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.lab.scratch import supervised
from tests.lab.supervisor import LabError, Supervisor, free_ports

__all__ = ["Emulator", "PubSub", "is_here", "pubsub"]

# Where Debian's packages of the SDK lay it; an SDK of one's own is named by CLOUDSDK_ROOT_DIR.
_ROOTS = ("/usr/lib/google-cloud-sdk", "/opt/google-cloud-sdk", "/usr/share/google-cloud-sdk")


def _program() -> Path | None:
    for root in (os.environ.get("CLOUDSDK_ROOT_DIR"), *_ROOTS):
        found = (
            sorted(Path(root).glob("platform/pubsub-emulator/lib/cloud-pubsub-emulator-*.jar"))
            if root
            else []
        )
        if found:
            return found[-1]
    return None


def is_here() -> bool:
    """Whether the emulator is installed."""
    return _program() is not None


class Emulator:
    """The process. ``host`` is ``127.0.0.1:port``; what it holds goes with it."""

    def __init__(self, directory: Path) -> None:
        self._supervisor = Supervisor(directory)
        self.host = ""

    def up(self, seconds: float = 120) -> None:
        """Start it; on the port that it had before. LabError when it does not listen in time."""
        program = _program()
        if program is None:
            raise LabError("the Pub/Sub emulator of the Google Cloud SDK is not installed")
        self.host = self.host or f"127.0.0.1:{free_ports(1)[0]}"
        port = self.host.rpartition(":")[2]
        log = self._supervisor.log("pubsub")
        log.unlink(missing_ok=True)
        command = ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-jar", str(program)]
        self._supervisor.start("pubsub", [*command, "--host=127.0.0.1", f"--port={port}"])
        self._supervisor.wait(
            lambda: log.exists() and "Server started, listening on" in log.read_text(),
            "pubsub",
            seconds=seconds,
        )

    def down(self) -> None:
        """End it."""
        self._supervisor.stop("pubsub", 5)


@dataclass
class PubSub:
    """A topic and a subscription of an emulator, as the sentinel's operator would have made them."""

    emulator: Emulator
    project: str = "lab-project"
    topic: str = "hyperfleet-clusters"

    @cached_property
    def publisher(self) -> Any:
        """Google's generated client, without credentials."""
        import grpc
        from google.pubsub_v1 import PublisherClient
        from google.pubsub_v1.services.publisher.transports import PublisherGrpcTransport

        channel = grpc.insecure_channel(self.emulator.host)
        return PublisherClient(transport=PublisherGrpcTransport(channel=channel))

    @cached_property
    def subscriber(self) -> Any:
        """Return a client of the emulator that subscribes and pulls."""
        import grpc
        from google.pubsub_v1 import SubscriberClient
        from google.pubsub_v1.services.subscriber.transports import SubscriberGrpcTransport

        channel = grpc.insecure_channel(self.emulator.host)
        return SubscriberClient(transport=SubscriberGrpcTransport(channel=channel))

    @property
    def topic_path(self) -> str:
        return f"projects/{self.project}/topics/{self.topic}"

    def subscription_path(self, name: str) -> str:
        return f"projects/{self.project}/subscriptions/{name}"

    def create(self, *subscriptions: str, ack_deadline: int = 10) -> None:
        """Make the topic, and these subscriptions to it."""
        self.publisher.create_topic(name=self.topic_path)
        for name in subscriptions:
            self.subscribe(name, ack_deadline)

    def subscribe(self, name: str, ack_deadline: int = 10) -> None:
        """One more subscription."""
        self.subscriber.create_subscription(
            request={
                "name": self.subscription_path(name),
                "topic": self.topic_path,
                "ack_deadline_seconds": ack_deadline,
            }
        )

    def publish(self, *bodies: bytes, attributes: dict[str, str] | None = None) -> None:
        """Publish messages in one request."""
        messages = [{"data": body, "attributes": attributes or {}} for body in bodies]
        self.publisher.publish(topic=self.topic_path, messages=messages)

    def left(self, name: str) -> int:
        """How many messages a subscription gives out just now; it keeps them from others for its deadline."""
        request = {
            "subscription": self.subscription_path(name),
            "max_messages": 1000,
            "return_immediately": True,
        }
        found = 0
        with warnings.catch_warnings():
            # Deprecated, since the service may say so although there are some; the emulator does not.
            warnings.simplefilter("ignore", DeprecationWarning)
            while count := len(self.subscriber.pull(request=request).received_messages):
                found += count
        return found


@contextmanager
def pubsub() -> Iterator[PubSub]:
    """An emulator for the time of the block."""
    with supervised("pubsub") as directory:
        emulator = Emulator(directory)
        emulator.up()
        yield PubSub(emulator)
