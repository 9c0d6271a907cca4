# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The secrets of all projects, in memory, safe for concurrent use.

One lock: each call holds it for microseconds, and the interpreter runs one thread at a time anyway.
Messages are replaced and never changed in place, so callers serialise them outside the lock.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from google.api_core.exceptions import AlreadyExists, FailedPrecondition, NotFound

from .names import Projects, parse
from .protos import DESTROYED, ENABLED, STATE_NAME, Message, SecretVersion

__all__ = ["NANO", "Record", "Store", "Version", "changed", "wrong_state"]

NANO = 1_000_000_000

# Project number and secret id.
_Key = tuple[str, str]


@dataclass(frozen=True)
class Version:
    message: Message
    payload: bytes = field(repr=False)

    @property
    def number(self) -> int:
        return int(self.message.name.rpartition("/")[2])

    @property
    def state(self) -> int:
        return int(self.message.state)


@dataclass
class Record:
    """One secret: its message, and its versions, number n at index n - 1."""

    message: Message
    versions: list[Version]


class Store:
    """Secrets by project number and id. `clock` gives nanoseconds since the epoch."""

    def __init__(self, *, clock: Callable[[], int] = time.time_ns) -> None:
        self.lock = threading.RLock()
        self.projects = Projects()
        self._clock = clock
        self._secrets: dict[_Key, Record] = {}
        self._last = 0
        # Each change with its time and the secret after it; None before `remember`.
        self._past: list[tuple[int, _Key, Record | None]] | None = None

    def reset(self) -> None:
        """Forget every secret. Etags and times go on rising."""
        with self.lock:
            self._secrets.clear()
            self._past = None

    def __len__(self) -> int:
        return len(self._secrets)

    def now(self) -> int:
        """Strictly rising in microseconds, as resources are ordered by their time of creation."""
        with self.lock:
            self._last = max(self._clock() // 1000 * 1000, self._last + 1000)
            return self._last

    def etag(self) -> str:
        """A fresh entity tag; AIP-154: the quotes belong to it."""
        return f'"{self.now() // 1000:x}"'

    # The past

    def remember(self) -> None:
        """From now on `ago` knows the past; what is there now has always been there."""
        with self.lock:
            if self._past is None:
                self._past = []
                for key in self._secrets:
                    self._keep(key, since=0)

    def _keep(self, key: _Key, since: int | None = None) -> None:
        if self._past is not None:
            record = self._secrets.get(key)
            kept = Record(record.message, record.versions.copy()) if record else None
            self._past.append((self._clock() if since is None else since, key, kept))

    def ago(self, seconds: float) -> Store:
        """The store as it was so long ago, to be read only."""
        if not seconds or self._past is None:
            return self
        then = Store(clock=self._clock)
        then.projects = self.projects
        with self.lock:
            moment = self._clock() - int(seconds * NANO)
            for at, key, record in self._past:
                if at > moment:
                    break
                if record is None:
                    del then._secrets[key]
                else:
                    then._secrets[key] = record
        return then

    # Secrets

    def secret_name(self, project: str, secret_id: str) -> str:
        return f"projects/{self.projects.number(project)}/secrets/{secret_id}"

    def find(self, project: str, secret_id: str) -> Record | None:
        return self._secrets.get((self.projects.number(project), secret_id))

    def get(self, project: str, secret_id: str) -> Record:
        record = self.find(project, secret_id)
        if record is None:
            raise NotFound(f"Secret [{self.secret_name(project, secret_id)}] not found.")
        return record

    def newest_first(self, project: str) -> list[Record]:
        """The secrets of a project."""
        number = self.projects.number(project)
        return [record for (home, _id), record in reversed(self._secrets.items()) if home == number]

    def create(self, project: str, secret_id: str, message: Message) -> None:
        """Publish `message`, which becomes the store's own; AlreadyExists if the id is taken."""
        with self.lock:
            message.name = self.secret_name(project, secret_id)
            if self.find(project, secret_id):
                raise AlreadyExists(f"Secret [{message.name}] already exists.")
            message.etag = self.etag()
            message.create_time.FromNanoseconds(self.now())
            key = (self.projects.number(project), secret_id)
            self._secrets[key] = Record(message, [])
            self._keep(key)

    def update(self, record: Record, message: Message) -> None:
        """Put `message` in the place of the record's, with another etag."""
        with self.lock:
            message.etag = self.etag()
            record.message = message
            self._keep(_key(record))

    def delete(self, project: str, secret_id: str) -> None:
        with self.lock:
            self.get(project, secret_id)
            key = (self.projects.number(project), secret_id)
            del self._secrets[key]
            self._keep(key)

    # Versions

    def add_version(self, record: Record, payload: bytes, *, checked: bool = True) -> Version:
        with self.lock:
            message = SecretVersion(
                name=f"{record.message.name}/versions/{len(record.versions) + 1}",
                state=ENABLED,
                etag=self.etag(),
                client_specified_payload_checksum=checked,
            )
            message.create_time.FromNanoseconds(self.now())
            record.versions.append(Version(message, payload))
            self._keep(_key(record))
            return record.versions[-1]

    def get_version(self, name: str, *, latest: bool) -> tuple[Record, Version]:
        """The version of that name; `latest` is the one created last, whatever its state."""
        project, secret_id, wanted = parse(name, 3)
        record = self.find(project, secret_id)
        full = self.secret_name(project, secret_id)
        if record is None or not (record.versions or wanted.isdigit()):
            raise NotFound(f"Secret [{full}] not found or has no versions.")
        if latest and wanted == "latest":
            return record, record.versions[-1]
        number = int(wanted) if wanted.isdigit() else 0
        if not 1 <= number <= len(record.versions):
            raise NotFound(f"Secret Version [{full}/versions/{wanted}] not found.")
        return record, record.versions[number - 1]

    def set_version_state(self, record: Record, version: Version, state: int) -> Version:
        """Enable, disable or destroy; a destroyed version stays so."""
        with self.lock:
            version = record.versions[version.number - 1]
            if version.state == DESTROYED:
                raise wrong_state(version)
            message = changed(version.message, state=state, etag=self.etag())
            if state == DESTROYED:
                message.destroy_time.FromNanoseconds(self.now())
            new = Version(message, b"" if state == DESTROYED else version.payload)
            record.versions[version.number - 1] = new
            self._keep(_key(record))
            return new


def _key(record: Record) -> _Key:
    project, secret_id = parse(record.message.name, 2)
    return project, secret_id


def wrong_state(version: Version) -> FailedPrecondition:
    state = STATE_NAME[version.state]
    return FailedPrecondition(f"Secret Version [{version.message.name}] is in {state} state.")


def changed(message: Message, **fields: Any) -> Message:
    """A copy of a message with other values in these fields."""
    copy = type(message)()
    copy.CopyFrom(message)
    copy.MergeFrom(type(message)(**fields))
    return copy
