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

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubelet.auth_file import Snapshot

__all__ = ["RESTART", "ROLLBACK", "Backup", "Failed", "Ledger", "Pending"]

RESTART, ROLLBACK = "restart", "rollback"

_VERSION = 1
_DIGITS = 32
_NOTHING = "absent"


class Pending(NamedTuple):
    """A write whose effect is not known yet.

    ``id``: of this write; ``desired``: digest of what was asked for; ``content``: digest of the file's bytes;
    ``phase``: ``restart`` or ``rollback``; ``invocation``: kubelet's InvocationID before our restart, once
    there was one: if it has changed, kubelet has started with the file; ``undone``: of a roll-back, digest
    of the bytes that it takes away; ``touched``: whether it follows a restart of ours.
    """

    id: str
    desired: str
    content: str
    phase: str = RESTART
    invocation: str = ""
    undone: str = ""
    touched: bool = False


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
        # What of ours stands beside auths: "name", or "name/member" of a map.
        self.extra: list[str] = []
        self.was_absent = False
        # Digests of the file that kubelet is known to run with, or was left to find, and of what was asked
        # for then.
        self.verified = ""
        self.desired = ""
        self.pending: Optional[Pending] = None
        self.failed: Optional[Failed] = None

    def digest(self, data: Optional[bytes]) -> str:
        """Keyed with a random key of this node, so that nobody can try passwords against it elsewhere."""
        if data is None:
            return _NOTHING
        return hmac.new(self.salt, data, hashlib.sha256).hexdigest()[:_DIGITS]

    def owns(self, key: str, digest: str) -> bool:
        """Whether the entry is ours, as we wrote it."""
        return digest in self.entries.get(key, ())

    @property
    def is_new(self) -> bool:
        """Whether this node has not been written to."""
        return not self.entries and not self.extra and self.pending is None and self.failed is None

    def to_bytes(self) -> bytes:
        """JSON; not secret."""
        return _json(
            {
                "version": _VERSION,
                "salt": self.salt.hex(),
                "entries": self.entries,
                "extra": self.extra,
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
        found = _object(data)
        ledger = cls()
        try:
            ledger.salt = bytes.fromhex(found["salt"])
            ledger.entries = {str(key): list(map(str, value)) for key, value in found["entries"].items()}
            ledger.extra = list(map(str, found["extra"]))
            ledger.was_absent = bool(found["was_absent"])
            ledger.verified = str(found["verified"])
            ledger.desired = str(found["desired"])
            ledger.pending = Pending(**found["pending"]) if found["pending"] else None
            ledger.failed = Failed(**found["failed"]) if found["failed"] else None
        except (AttributeError, KeyError, TypeError, ValueError):
            raise ValueError("no ledger") from None
        if not ledger.salt:
            raise ValueError("no ledger")
        return ledger


class Backup:
    """``previous``: the file before the last write, None: nothing to go back to; ``displaced``: entries."""

    def __init__(self) -> None:
        self.previous: Optional[Snapshot] = None
        self.displaced: dict[str, Any] = {}

    def __bool__(self) -> bool:
        return self.previous is not None or bool(self.displaced)

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
        return _json({"version": _VERSION, "previous": previous, "displaced": self.displaced})

    @classmethod
    def from_bytes(cls, data: bytes) -> Backup:
        """:raises ValueError: it is none; the text has nothing of it."""
        found = _object(data)
        backup = cls()
        try:
            previous = found["previous"]
            if previous is not None:
                backup.previous = Snapshot(
                    _decoded(previous["data"]),
                    int(previous["mode"]),
                    int(previous["uid"]),
                    int(previous["gid"]),
                    _decoded(previous["label"]),
                )
            backup.displaced = dict(found["displaced"])
        except (KeyError, TypeError, ValueError):
            raise ValueError("no backup") from None
        return backup


def _json(document: dict[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True).encode("utf-8")


def _object(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("version") != _VERSION:
        # json's own error would hold the document.
        raise ValueError("not ours") from None
    return found


def _encoded(data: Optional[bytes]) -> Optional[str]:
    return None if data is None else base64.b64encode(data).decode("ascii")


def _decoded(text: Optional[str]) -> Optional[bytes]:
    return None if text is None else base64.b64decode(text, validate=True)
