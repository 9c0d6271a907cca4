# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The data that a node stores beside ``config.json``.

The ledger (``config.json.hyperfleet``) holds names and keyed digests only: which entries are ours, what is
written and not yet known to work, and what has failed. The backup (``config.json.hyperfleet-backup``) holds
the file before the last write, and the foreign entries that ours replaced. Both have mode 0600.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from typing import Any, NamedTuple, cast

from . import records
from .auth_file import Snapshot
from .records import encoded, flag, key, lists, mapping, number, one_of, optional, record, text

__all__ = ["RESTART", "ROLLBACK", "Backup", "FailedVersion", "Ledger", "Pending"]

RESTART, ROLLBACK = "restart", "rollback"

_DIGITS = 32
_NOTHING = "absent"


class Pending(NamedTuple):
    """A write whose effect is not known yet.

    ``id``: of this write; ``desired``: digest of the requested content; ``content``: digest of the file's
    bytes; ``phase``: ``restart`` or ``rollback``; ``invocation``: kubelet's InvocationID before our restart:
    if it has changed, kubelet has started with the file; ``undone``: digest of the bytes that a rollback
    removes; ``touched``: whether it follows a restart of ours with another content; ``reason``: why kubelet
    is unhealthy with it, if a rollback was left to a later task; ``by_node``: as in ``FailedVersion``.
    """

    id: str
    desired: str
    content: str
    phase: str = RESTART
    invocation: str = ""
    undone: str = ""
    touched: bool = False
    reason: str = ""
    by_node: bool = False

    @property
    def has_restarted(self) -> bool:
        """Whether kubelet may have been restarted since it was last known to be healthy."""
        return self.touched or bool(self.invocation)

    @property
    def is_back(self) -> bool:
        """Whether the previous file is restored, and kubelet must still be restarted with it."""
        return self.phase == ROLLBACK

    @property
    def may_be_down(self) -> bool:
        """Whether kubelet may be down because of the written content."""
        return self.has_restarted or self.is_back


class FailedVersion(NamedTuple):
    """A content with which kubelet did not start: digest, how often, when last (seconds since the epoch), and
    why.

    ``by_node``: nothing shows that the docker config was the reason.
    """

    desired: str
    times: int
    at: float
    reason: str
    by_node: bool = False


class Ledger:
    """Read, changed and written as one file, under the lock of ``Store``."""

    def __init__(self, **fields: Any) -> None:
        self.salt = os.urandom(32).hex()
        # Key of auths to digests of what we wrote there; two while a write is not known to be done.
        self.entries: dict[str, list[str]] = {}
        # The same for members beside auths, see ``merge.MEMBERS``.
        self.members: dict[str, list[str]] = {}
        self.was_absent = False
        # Digests of the file that kubelet is known to run with, or was left to detect, and of the requested
        # content.
        self.verified = ""
        self.desired = ""
        self.pending: Pending | None = None
        self.failed: FailedVersion | None = None
        vars(self).update(fields)

    def is_only_noted(self, here: bytes | None) -> bool:
        """Whether the pending write was noted, and its run was killed before the file was replaced.

        :param here: the current content of the file.
        """
        pending = self.pending
        return pending is not None and not pending.may_be_down and self.digest(here) == self.verified

    def digest(self, data: bytes | None) -> str:
        """Return a digest with a random key of this node, so that nobody can test passwords against it
        elsewhere.
        """
        if data is None:
            return _NOTHING
        return hmac.new(bytes.fromhex(self.salt), data, hashlib.sha256).hexdigest()[:_DIGITS]

    def owns(self, key: str, digest: str) -> bool:
        """Whether the entry is ours, as we wrote it."""
        return digest in self.entries.get(key, ())

    def owns_member(self, name: str, digest: str) -> bool:
        """Whether a member beside ``auths`` is ours, as we wrote it."""
        return digest in self.members.get(name, ())

    @property
    def is_new(self) -> bool:
        """Whether this node has not been written to."""
        return not self.entries and not self.members and self.pending is None and self.failed is None

    def to_bytes(self) -> bytes:
        """JSON; not secret."""
        return records.record_bytes(vars(self))

    @classmethod
    def from_bytes(cls, data: bytes) -> Ledger:
        """:raises ValueError: it is not a ledger."""
        return cast(Ledger, _LEDGER(records.parse_record(data)))


class Backup:
    """``previous``: the file before the last write, None: nothing to go back to.

    ``displaced``: foreign entries that ours replaced; ``has_lost``: an earlier release kept a foreign file or
    foreign members, which are lost once this backup is saved.
    """

    def __init__(self, **fields: Any) -> None:
        self.previous: Snapshot | None = None
        self.displaced: dict[str, Any] = {}
        self.has_lost = False
        vars(self).update(fields)

    def __bool__(self) -> bool:
        return self.previous is not None or bool(self.displaced)

    def to_bytes(self) -> bytes:
        """JSON.  Secret."""
        # An earlier release reads no backup without this.
        earlier: dict[str, Any] = {"displaced_members": {}}
        return records.record_bytes({"previous": self.previous, "displaced": self.displaced, **earlier})

    @classmethod
    def from_bytes(cls, data: bytes) -> Backup:
        """:raises ValueError: it is not a backup; the message quotes nothing of it."""
        found = records.parse_record(data)
        backup = cast(Backup, _BACKUP(found))
        backup.has_lost = bool(found.get("displaced_members") or found.get("displaced_file"))
        return backup


# A restored file is given to this user. The highest id means "leave it unchanged".
_ID = number(2**32 - 2)
_PENDING = record(
    Pending,
    id=text,
    desired=text,
    content=text,
    phase=one_of(RESTART, ROLLBACK),
    invocation=text,
    undone=text,
    touched=flag,
    reason=optional(text, ""),
    by_node=optional(flag, False),
)
_FAILED = record(
    FailedVersion, desired=text, times=number(10**9), at=number(1e12, int, float), reason=text, by_node=flag
)
_SNAPSHOT = record(
    Snapshot, data=optional(encoded), mode=number(0o7777), uid=_ID, gid=_ID, label=optional(encoded)
)
_LEDGER = record(
    Ledger,
    salt=key,
    entries=lists,
    members=lists,
    was_absent=flag,
    verified=text,
    desired=text,
    pending=optional(_PENDING),
    failed=optional(_FAILED),
)
_BACKUP = record(Backup, previous=optional(_SNAPSHOT), displaced=mapping)
