# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The secrets of all projects, in memory, safe for concurrent use.

One lock: each call holds it for microseconds, and the interpreter runs one thread at a time anyway.
Messages handed out are never changed afterwards, so callers serialise them outside the lock.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator

from google_crc32c import value as crc32c
from grpc import StatusCode

from .errors import ApiError, failed_precondition, not_found
from .names import Projects, parse_secret, parse_version
from .past import Past
from .protos import DESTROYED, DISABLED, STATE_NAME, Message, ReplicationStatus, Secret
from .records import NANO, Record, Version, stamp

__all__ = ["Store"]


class _Project:
    def __init__(self) -> None:
        self.by_id: dict[str, Record] = {}
        self.order: list[Record] = []  # ascending sequence

    def position(self, sequence: int) -> int:
        return bisect_left(self.order, sequence, key=lambda record: record.sequence)


class Store:
    """Secrets by project number and id. `clock` gives nanoseconds since the epoch."""

    def __init__(
        self,
        *,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self.lock = threading.RLock()
        self.projects = Projects()
        self._clock = clock
        self._projects: dict[str, _Project] = {}
        self._sequence = 0
        self._last = 0
        self._past = Past()

    def reset(self) -> None:
        """Forget every secret. Etags and times go on rising."""
        with self.lock:
            self._projects.clear()
            self._past = Past()

    def __len__(self) -> int:
        with self.lock:
            return sum(len(project.order) for project in self._projects.values())

    def now(self) -> int:
        """Strictly rising in microseconds, as resources are ordered by their time of creation."""
        with self.lock:
            self._last = max(self._clock() // 1000 * 1000, self._last + 1000)
            return self._last

    def etag(self, now: int) -> str:
        """A fresh entity tag; AIP-154: the quotes belong to it."""
        return f'"{now // 1000:x}"'

    # Secrets

    def secret_name(self, project: str, secret_id: str) -> str:
        return f"projects/{self.projects.number(project)}/secrets/{secret_id}"

    def find(self, project: str, secret_id: str) -> Record | None:
        found = self._projects.get(self.projects.number(project))
        record = found.by_id.get(secret_id) if found else None
        if record is not None and record.due:
            record.settle(self._clock())
        return record

    def get(self, project: str, secret_id: str) -> Record:
        record = self.find(project, secret_id)
        if record is None:
            raise not_found(f"Secret [{self.secret_name(project, secret_id)}] not found.")
        return record

    def create(self, project: str, secret_id: str, message: Message) -> Record:
        """Publish `message`, which becomes the store's own; ALREADY_EXISTS if the id is taken."""
        with self.lock:
            number = self.projects.number(project)
            name = self.secret_name(project, secret_id)
            home = self._projects.setdefault(number, _Project())
            if secret_id in home.by_id:
                raise ApiError(StatusCode.ALREADY_EXISTS, f"Secret [{name}] already exists.")
            self._sequence += 1
            now = self.now()
            message.name = name
            message.etag = self.etag(now)
            stamp(message.create_time, now)
            expire(message, now)
            record = Record(self._sequence, message, replication_status(message.replication))
            home.by_id[secret_id] = record
            home.order.append(record)
            self.changed(record)
            return record

    def changed(self, record: Record, *, gone: bool = False) -> None:
        """Keep what a secret is now, where the past has to be known."""
        if self._past:
            project, secret_id = parse_secret(record.message.name)
            self._past.keep(self._clock(), (project, secret_id), None if gone else record)

    def remember(self) -> None:
        """From now on `ago` knows the past; what is there now has always been there."""
        with self.lock:
            if not self._past:
                self._past = Past.beginning(
                    {
                        (number, secret_id): record
                        for number, home in self._projects.items()
                        for secret_id, record in home.by_id.items()
                    }
                )

    def ago(self, seconds: float) -> Store:
        """The store as it was so long ago, to be read only."""
        if not seconds:
            return self
        with self.lock:
            then = Store(clock=self._clock)
            then.projects = self.projects
            for (number, secret_id), record in self._past.at(self._clock() - int(seconds * NANO)).items():
                home = then._projects.setdefault(number, _Project())
                home.by_id[secret_id] = record
                home.order.append(record)
            for home in then._projects.values():
                home.order.sort(key=lambda record: record.sequence)
            return then

    def delete(self, project: str, secret_id: str) -> None:
        with self.lock:
            record = self.get(project, secret_id)
            home = self._projects[self.projects.number(project)]
            del home.by_id[secret_id]
            del home.order[home.position(record.sequence)]
            self.changed(record, gone=True)

    def newest_first(self, project: str, before: int | None = None) -> Iterator[Record]:
        """Secrets of a project from the newest, or from the newest made before sequence `before`."""
        home = self._projects.get(self.projects.number(project))
        if home is None:
            return
        start = len(home.order) if before is None else home.position(before)
        for index in range(start - 1, -1, -1):
            yield home.order[index]

    def count(self, project: str) -> int:
        home = self._projects.get(self.projects.number(project))
        return len(home.order) if home else 0

    # Versions

    def add_version(self, record: Record, payload: bytes, *, crc: int | None, checked: bool) -> Version:
        with self.lock:
            now = self.now()
            version = Version(
                number=len(record.versions) + 1,
                payload=payload,
                crc=crc32c(payload) if crc is None else crc,
                created=now,
                etag=self.etag(now),
                checked=checked,
                status=record.status,
            )
            record.append(version)
            self.changed(record)
            return version

    def get_version(self, name: str, *, aliases: bool) -> tuple[Record, Version]:
        """The version of that name; `latest` is the one created last, whatever its state."""
        project, secret_id, wanted = parse_version(name)
        record = self.find(project, secret_id)
        full = self.secret_name(project, secret_id)
        if record is None or (not record.versions and not wanted.isdigit()):
            raise not_found(f"Secret [{full}] not found or has no versions.")
        if aliases and wanted == "latest":
            return record, record.versions[-1]
        number = 0
        if wanted.isdigit():
            number = int(wanted)
        elif aliases and wanted in record.message.version_aliases:
            number = record.message.version_aliases[wanted]
        if not 1 <= number <= len(record.versions):
            raise not_found(f"Secret Version [{full}/versions/{wanted}] not found.")
        return record, record.versions[number - 1]

    def set_version_state(self, record: Record, version: Version, state: int) -> None:
        """Enable, disable or destroy; a destroyed version stays so."""
        with self.lock:
            if version.state == DESTROYED:
                raise wrong_state(record, version)
            now = self.now()
            ttl = record.message.version_destroy_ttl.seconds
            if state == DESTROYED and ttl:
                record.set_state(version, DISABLED)
                version.due = now + ttl * NANO
                record.due = True
            elif state == DESTROYED:
                record.destroy(version, now)
            else:
                record.set_state(version, state)
                version.due = 0  # enabling or disabling takes a planned destruction back
            version.etag = self.etag(now)
            self.changed(record)


def wrong_state(record: Record, version: Version) -> ApiError:
    name = f"{record.message.name}/versions/{version.number}"
    return failed_precondition(f"Secret Version [{name}] is in {STATE_NAME[version.state]} state.")


def replication_status(replication: Message) -> Message:
    """What a version made under this policy reports; key versions are numbered 1, there is no key service."""
    status = ReplicationStatus()
    if replication.WhichOneof("replication") == "automatic":
        status.automatic.SetInParent()
        _copy_key(replication.automatic, status.automatic)
    else:
        for replica in replication.user_managed.replicas:
            _copy_key(replica, status.user_managed.replicas.add(location=replica.location))
    return status


def expire(message: Message, now: int) -> None:
    """Answers carry the moment of expiry, never the time to live. (The stand-in lets no secret expire.)"""
    if message.HasField("ttl"):
        stamp(message.expire_time, now + message.ttl.seconds * NANO)  # one oneof: this clears ttl


def _copy_key(policy: Message, status: Message) -> None:
    if policy.HasField("customer_managed_encryption"):
        key = policy.customer_managed_encryption.kms_key_name
        status.customer_managed_encryption.kms_key_version_name = f"{key}/cryptoKeyVersions/1"


def new_secret(source: Message) -> Message:
    """A copy without the fields that only the service sets."""
    message = Secret()
    message.CopyFrom(source)
    for field in ("name", "create_time", "etag", "policy_member"):
        message.ClearField(field)
    return message
