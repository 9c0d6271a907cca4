# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The steps from one state of a node's files to the next, in an order that is safe when interrupted.

First the old state is saved, then the intention is noted, then the file is replaced. All of it under the
store's lock of ``writing``.
"""

from __future__ import annotations

import os

from ...dockerconfig import registry_identity
from .auth_file import Snapshot
from .ledger import RESTART, ROLLBACK, Backup, FailedVersion, Ledger, Pending
from .merge import MergedFile, ownership, revert
from .node_file import parse_file
from .store import Store

__all__ = [
    "claim",
    "note_invocation",
    "note_reason",
    "note_retry",
    "note_verified",
    "note_write",
    "restore_backup",
    "roll_back",
]


def note_write(
    store: Store, ledger: Ledger, backup: Backup, found: Snapshot, merged: MergedFile, wanted: str
) -> None:
    """Before the file is replaced: save its state, and note the new content.

    :param wanted: digest of the requested content.
    """
    here = ledger.digest(found.data)
    # The content of a pending write is not known to work, so the file before it stays the one to go back to.
    if ledger.pending is None or backup.previous is None or here == ledger.verified:
        backup.previous = found
        ledger.verified = here
    else:
        _bring_on(ledger, backup, found)
    claim(ledger, backup, found, merged)
    store.save_backup(backup)
    _intend(ledger, wanted, ledger.digest(merged.data))
    store.save_ledger(ledger)


def note_retry(store: Store, ledger: Ledger, wanted: str) -> None:
    """The file holds content that failed and could not be rolled back: it is tried once more."""
    _intend(ledger, wanted, ledger.digest(store.file().data))
    store.save_ledger(ledger)


def _intend(ledger: Ledger, wanted: str, content: str) -> None:
    touched = ledger.pending is not None and ledger.pending.has_restarted
    ledger.pending = Pending(os.urandom(8).hex(), wanted, content, touched=touched)


def _bring_on(ledger: Ledger, backup: Backup, found: Snapshot) -> None:
    """Copy what others have written since our write into the saved file, too."""
    known = ledger.pending.content if ledger.pending is not None else ledger.verified
    if backup.previous is not None and ledger.digest(found.data) != known:
        backup.previous = _reverted(found, backup.previous, ledger)


def _reverted(found: Snapshot, previous: Snapshot, ledger: Ledger) -> Snapshot:
    data = revert(found.data, previous.data, ledger)
    return previous if data == previous.data else found._replace(data=data)


def claim(ledger: Ledger, backup: Backup, found: Snapshot, merged: MergedFile) -> None:
    """Note which entries are ours or will be. Our entries that the file still holds stay noted until they are
    removed.
    """
    if ledger.is_new:
        ledger.was_absent = found.data is None
    # Entries that are restored stay in the backup until they are in the file.
    coming = {key: entry for key, entry in backup.displaced.items() if key in merged.foreign}
    backup.displaced = {**coming, **merged.displaced}
    _add(ledger.entries, merged.entries)
    _add(ledger.members, merged.members)
    # A foreign entry that equals our former one stays when ours is removed.
    for key, digest in merged.foreign.items():
        left = [other for other in ledger.entries.pop(key, ()) if other != digest]
        if left:
            ledger.entries[key] = left


def _add(known: dict[str, list[str]], digests: dict[str, str]) -> None:
    for name, digest in digests.items():
        known[name] = list(dict.fromkeys([*known.get(name, ()), digest]))


def note_verified(store: Store, ledger: Ledger, backup: Backup, *, keep: bool) -> None:
    """Note that the content is right, and kubelet runs with it or is left to detect it.

    :param keep: whether the previous file stays in the backup.
    """
    found = store.file()
    _bring_on(ledger, backup, found)
    pending, ledger.pending = ledger.pending, None
    is_back = pending is not None and pending.is_back
    if not is_back:
        ledger.failed = None
    if pending is not None:
        ledger.desired = pending.desired
    previous = ownership(backup.previous.data if keep and backup.previous is not None else None, ledger)
    _settled(ledger, backup, found)
    if not keep or is_back:
        # After a rollback the file is the previous one: there is nothing to go back to.
        backup.previous = None
    elif not ledger.is_new:
        # Our part of it becomes ours again once ``rolled_back`` has restored it.
        _add(ledger.entries, {name: digests[0] for name, digests in previous.entries.items()})
        _add(ledger.members, {name: digests[0] for name, digests in previous.members.items()})
    if ledger.is_new:
        # Nothing of ours is left on the node.
        store.forget()
        return
    store.save_backup(backup)
    store.save_ledger(ledger)


def _settled(ledger: Ledger, backup: Backup, found: Snapshot) -> None:
    there = ownership(found.data, ledger)
    ledger.entries, ledger.members = there.entries, there.members
    ledger.verified = ledger.digest(found.data)
    backup.displaced = {key: entry for key, entry in backup.displaced.items() if key not in there.foreign}


def roll_back(
    store: Store, ledger: Ledger, backup: Backup, reason: str, now: float, *, by_node: bool = False
) -> bool:
    """Restore the file from before the last write, and record the content as failed.

    :returns: False: there is no backup, and the file is unchanged.
    """
    pending = ledger.pending
    desired = pending.desired if pending is not None else ledger.desired
    # A content with which no kubelet was started has not failed.
    if pending is None or pending.invocation:
        times = ledger.failed.times if ledger.failed is not None and ledger.failed.desired == desired else 0
        ledger.failed = FailedVersion(desired, times + 1, now, reason, by_node)
    if backup.previous is None:
        _give_up(store, ledger)
        return False
    ledger.pending = Pending(
        os.urandom(8).hex(),
        desired,
        ledger.digest(backup.previous.data),
        ROLLBACK,
        undone=pending.content if pending is not None else ledger.verified,
        touched=pending is not None and pending.has_restarted,
    )
    store.save_ledger(ledger)
    return restore_backup(store, ledger, backup)


def _displace(ledger: Ledger, backup: Backup, here: bytes | None) -> None:
    """Save the foreign entries that ours replaces in the previous file, as in a write."""
    found = parse_file(here)
    ours = ownership(backup.previous.data if backup.previous is not None else None, ledger)
    replaced = {registry_identity(key) for key in ours.entries}
    for key in ownership(here, ledger).foreign:
        if registry_identity(key) in replaced:
            backup.displaced[key] = found.auths[key]


def restore_backup(store: Store, ledger: Ledger, backup: Backup) -> bool:
    """The second half of a rollback, which a killed run may have left to do.

    :returns: False: there is no backup, and the file is unchanged.
    """
    while (pending := ledger.pending) is not None:
        found = store.file()
        here = ledger.digest(found.data)
        if here == pending.content:
            break
        if backup.previous is None:
            _give_up(store, ledger)
            return False
        if here == pending.undone:
            _displace(ledger, backup, found.data)
            store.save_backup(backup)
        else:
            # Another program has written since: its part stays, also for a later rollback; ours is reverted.
            backup.previous = _reverted(found, backup.previous, ledger)
            store.save_backup(backup)
            ledger.pending = pending._replace(content=ledger.digest(backup.previous.data))
            store.save_ledger(ledger)
        # Notes take time: changes that others made meanwhile count, too.
        if store.file() == found:
            store.put(backup.previous)
            break
    return True


def _give_up(store: Store, ledger: Ledger) -> None:
    """No rollback: failed content is not tried again and again, untried content is."""
    pending = ledger.pending
    if pending is not None:
        has_failed = ledger.failed is not None and ledger.failed.desired == pending.desired
        here = ledger.digest(store.file().data)
        ledger.pending = None if has_failed else pending._replace(content=here, phase=RESTART, undone="")
    store.save_ledger(ledger)


def note_reason(store: Store, ledger: Ledger, reason: str, *, by_node: bool = False) -> None:
    """Note why kubelet is unhealthy with the pending content, or nothing, for a later rollback."""
    if ledger.pending is not None:
        ledger.pending = ledger.pending._replace(reason=reason, by_node=by_node)
        store.save_ledger(ledger)


def note_invocation(store: Store, pending: Pending, invocation: str) -> bool:
    """Note which kubelet runs before it is restarted; False if something newer was written."""
    with store.writing():
        ledger = store.ledger()
        if ledger.pending is None or ledger.pending.id != pending.id:
            return False
        if not ledger.pending.invocation:
            ledger.pending = ledger.pending._replace(invocation=invocation)
            store.save_ledger(ledger)
    return True
