# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a node remembers beside ``config.json``.

The ledger (``config.json.hyperfleet``) holds names and keyed digests only: which entries are ours, what is
written and not yet known to work, and what has failed.  The backup (``config.json.hyperfleet-backup``)
holds what was there: the file before the last write, and the entries of others that ours took the place
of.  Both are 0600.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
from typing import Any, NamedTuple, Optional

from . import fields
from .auth_file import Snapshot

__all__ = ["RESTART", "ROLLBACK", "Backup", "Failed", "Ledger", "Pending"]

RESTART, ROLLBACK = "restart", "rollback"

_VERSION = 1
_DIGITS = 32
_NOTHING = "absent"
_MODES = 0o7777
# The highest stands for "leave it as it is".
_IDS = 2**32 - 2
_MOST_TIMES = 10**9
_LATEST = 1e12


class Pending(NamedTuple):
    """A write whose effect is not known yet.

    ``id``: of this write; ``desired``: digest of what was asked for; ``content``: digest of the file's bytes;
    ``phase``: ``restart`` or ``rollback``; ``invocation``: kubelet's InvocationID before our restart, once
    there was one: if it has changed, kubelet has started with the file; ``undone``: of a roll-back, digest
    of the bytes that it takes away; ``touched``: whether it follows a restart of ours with something else;
    ``reason``: why kubelet is not well with it, where a roll-back was left to a later task; ``by_node``: as
    of ``Failed``.
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
        """Whether kubelet may have been restarted since it last was known to be well."""
        return self.touched or bool(self.invocation)

    @property
    def is_back(self) -> bool:
        """Whether the file is that of before, and kubelet is still to be brought back with it."""
        return self.phase == ROLLBACK

    @property
    def may_be_down(self) -> bool:
        """Whether kubelet may be, for what was written."""
        return self.has_restarted or self.is_back


class Failed(NamedTuple):
    """What kubelet did not come up with: digest, how often, when last (seconds since the epoch), and why.

    ``by_node``: nothing says that the docker config was the reason.
    """

    desired: str
    times: int
    at: float
    reason: str
    by_node: bool = False


class Ledger:
    """Read, changed and written whole, under the lock of ``Store``."""

    def __init__(self) -> None:
        self.salt = os.urandom(32)
        # Key of auths -> digests of what we wrote there; two while a write is not known to be done.
        self.entries: dict[str, list[str]] = {}
        # Likewise what of ours stands beside auths: "name", or "name/member" of a map.
        self.members: dict[str, list[str]] = {}
        self.was_absent = False
        # Digests of the file that kubelet is known to run with, or was left to find, and of what was asked
        # for then.
        self.verified = ""
        self.desired = ""
        self.pending: Optional[Pending] = None
        self.failed: Optional[Failed] = None

    def is_only_noted(self, here: Optional[bytes]) -> bool:
        """Whether the pending write was noted, and whoever did was killed before the file was replaced.

        :param here: what is in the file.
        """
        pending = self.pending
        return pending is not None and not pending.may_be_down and self.digest(here) == self.verified

    def digest(self, data: Optional[bytes]) -> str:
        """Keyed with a random key of this node, so that nobody can try passwords against it elsewhere."""
        if data is None:
            return _NOTHING
        return hmac.new(self.salt, data, hashlib.sha256).hexdigest()[:_DIGITS]

    def owns(self, key: str, digest: str) -> bool:
        """Whether the entry is ours, as we wrote it."""
        return digest in self.entries.get(key, ())

    def owns_member(self, name: str, digest: str) -> bool:
        """Likewise, what stands beside ``auths``."""
        return digest in self.members.get(name, ())

    @property
    def is_new(self) -> bool:
        """Whether this node has not been written to."""
        return not self.entries and not self.members and self.pending is None and self.failed is None

    def to_bytes(self) -> bytes:
        """JSON; not secret."""
        return _json(
            {
                "version": _VERSION,
                "salt": self.salt.hex(),
                "entries": self.entries,
                "members": self.members,
                "was_absent": self.was_absent,
                "verified": self.verified,
                "desired": self.desired,
                "pending": self.pending._asdict() if self.pending else None,
                "failed": self.failed._asdict() if self.failed else None,
            }
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Ledger:
        """:raises ValueError: it is none."""
        found = fields.document(data, _VERSION)
        ledger = cls()
        ledger.salt = fields.hexadecimal(found, "salt")
        ledger.entries = fields.lists(found, "entries")
        ledger.members = fields.lists(found, "members")
        ledger.was_absent = fields.flag(found, "was_absent")
        ledger.verified = fields.text(found, "verified")
        ledger.desired = fields.text(found, "desired")
        ledger.pending = _pending(found.get("pending"))
        ledger.failed = _failed(found.get("failed"))
        return ledger


def _pending(value: Any) -> Optional[Pending]:
    if value is None:
        return None
    found = fields.members(value)
    # Earlier ones have no reason.
    found = {"reason": "", "by_node": False, **found}
    flags = ("touched", "by_node")
    read: dict[str, Any] = {
        name: (fields.flag if name in flags else fields.text)(found, name) for name in Pending._fields
    }
    pending = Pending(**read)
    if pending.phase not in (RESTART, ROLLBACK):
        raise ValueError("no phase")
    return pending


def _failed(value: Any) -> Optional[Failed]:
    if value is None:
        return None
    found = fields.members(value)
    return Failed(
        fields.text(found, "desired"),
        fields.number(found, "times", _MOST_TIMES),
        fields.seconds(found, "at", _LATEST),
        fields.text(found, "reason"),
        fields.flag(found, "by_node"),
    )


class Backup:
    """``previous``: the file before the last write, None: nothing to go back to.

    ``displaced``, ``displaced_members``: entries of others, and what else, that are not in the file;
    ``displaced_file``: a file of others of which nothing could be understood.
    """

    def __init__(self) -> None:
        self.previous: Optional[Snapshot] = None
        self.displaced: dict[str, Any] = {}
        self.displaced_members: dict[str, Any] = {}
        self.displaced_file: Optional[bytes] = None

    def __bool__(self) -> bool:
        files = (self.previous, self.displaced_file)
        return files != (None, None) or bool(self.displaced or self.displaced_members)

    def to_bytes(self) -> bytes:
        """JSON.  Secret."""
        previous = None
        if self.previous is not None:
            previous = {
                "data": _encoded(self.previous.data),
                "mode": self.previous.mode,
                "uid": self.previous.uid,
                "gid": self.previous.gid,
                "label": _encoded(self.previous.label),
            }
        return _json(
            {
                "version": _VERSION,
                "previous": previous,
                "displaced": self.displaced,
                "displaced_members": self.displaced_members,
                "displaced_file": _encoded(self.displaced_file),
            }
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Backup:
        """:raises ValueError: it is none; the text has nothing of it."""
        found = fields.document(data, _VERSION)
        backup = cls()
        if found.get("previous") is not None:
            previous = fields.mapping(found, "previous")
            backup.previous = Snapshot(
                fields.encoded(previous, "data"),
                fields.number(previous, "mode", _MODES),
                # Whoever restores the file gives it to them.
                fields.number(previous, "uid", _IDS),
                fields.number(previous, "gid", _IDS),
                fields.encoded(previous, "label"),
            )
        backup.displaced = fields.mapping(found, "displaced")
        backup.displaced_members = fields.mapping(found, "displaced_members")
        backup.displaced_file = fields.encoded(found, "displaced_file")
        return backup


def _json(document: dict[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True).encode("utf-8")


def _encoded(data: Optional[bytes]) -> Optional[str]:
    return None if data is None else base64.b64encode(data).decode("ascii")
