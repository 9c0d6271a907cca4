# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the store holds. Payloads stay out of every repr."""

from __future__ import annotations

from bisect import bisect_left, insort
from copy import copy

from .protos import DESTROYED, DISABLED, ENABLED, Message, SecretVersion

NANO = 1_000_000_000


class Version:
    """One version's state. Times in nanoseconds since the epoch, 0 = unset."""

    __slots__ = (
        "checked",
        "crc",
        "created",
        "destroyed",
        "due",
        "etag",
        "number",
        "payload",
        "state",
        "status",
    )

    def __init__(
        self, number: int, payload: bytes, crc: int, created: int, etag: str, checked: bool, status: Message
    ) -> None:
        self.number = number
        self.payload = payload
        self.crc = crc
        self.state = ENABLED
        self.created = created
        self.destroyed = 0
        self.due = 0  # when a delayed destruction happens
        self.etag = etag
        self.checked = checked  # the client sent a checksum and it fitted
        self.status = status  # ReplicationStatus, shared by versions with the same policy

    def __repr__(self) -> str:
        return f"<Version {self.number}>"


class Record:
    """One secret: its published message, which is replaced and never changed in place, and its versions."""

    __slots__ = ("due", "enabled", "message", "sequence", "status", "versions")

    def __init__(self, sequence: int, message: Message, status: Message) -> None:
        self.sequence = sequence  # order of creation in the store
        self.message = message
        self.versions: list[Version] = []  # number n at index n - 1
        self.enabled: list[int] = []  # numbers of the enabled ones, ascending
        self.status = status
        self.due = False  # some version waits for its destruction

    def __repr__(self) -> str:
        return f"<Record {self.message.name}>"

    def copy(self) -> Record:
        """As it is now, whatever becomes of this one."""
        same = Record(self.sequence, self.message, self.status)
        same.versions = [copy(version) for version in self.versions]
        same.enabled = list(self.enabled)
        same.due = self.due
        return same

    def append(self, version: Version) -> None:
        self.versions.append(version)
        self.enabled.append(version.number)

    def set_state(self, version: Version, state: int) -> None:
        """Change a version's state and keep the index of enabled ones right."""
        if version.state == ENABLED and state != ENABLED:
            del self.enabled[bisect_left(self.enabled, version.number)]
        elif version.state != ENABLED and state == ENABLED:
            insort(self.enabled, version.number)
        version.state = state

    def destroy(self, version: Version, now: int) -> None:
        self.set_state(version, DESTROYED)
        version.payload = b""
        version.destroyed = now
        version.due = 0

    def settle(self, now: int) -> None:
        """Carry out delayed destructions that are due."""
        if self.due:
            for version in self.versions:
                if version.due and version.due <= now:
                    self.destroy(version, version.due)
            self.due = any(version.due for version in self.versions)

    def version_message(self, version: Version) -> Message:
        message = SecretVersion(
            name=f"{self.message.name}/versions/{version.number}",
            state=version.state,
            etag=version.etag,
            client_specified_payload_checksum=version.checked,
        )
        stamp(message.create_time, version.created)
        if version.destroyed:
            stamp(message.destroy_time, version.destroyed)
        if version.due and version.state == DISABLED:
            stamp(message.scheduled_destroy_time, version.due)
        message.replication_status.CopyFrom(version.status)
        return message


def stamp(field: Message, nanoseconds: int) -> None:
    field.seconds, field.nanos = divmod(nanoseconds, NANO)
