# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""This node's ``config.json`` and kubelet, as used by the syncer."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from ...clients.systemd.manager import Systemd
from ...dockerconfig import DockerConfigError, load
from ...model.errors import PullSecretError
from ...places.kubelet.ledger import Pending
from ...places.kubelet.result import CACHE, FAILED, HELD, IN_SYNC, Options, SyncResult
from ...places.kubelet.store import Store
from ...places.kubelet.sync import Synchroniser
from ...runtime.clock import Clock
from .settings import SyncerSettings

__all__ = ["Invalid", "Node", "NodeError", "NodeOutcome"]

NodeError = PullSecretError
"""The node's file or systemd could not be used; a retry may help. The message consists of names only."""


class Invalid(Exception):
    """The Secret's content is refused: the message has rules and registries, and no value."""


class NodeOutcome(NamedTuple):
    """The result of a write or a restart.

    ``restart``: a restart is left to do; ``only_back``: it only finishes a rollback; ``begun``: kubelet may
    have been restarted with this content already; ``failed``: kubelet did not start with it, now or earlier;
    ``by_node``: nothing shows that the content was the reason; ``finished``: the result of the restart is
    known; ``may_be_down``: kubelet may have been restarted before, possibly with an earlier content.
    """

    changed: bool = False
    restart: bool = False
    only_back: bool = False
    begun: bool = False
    failed: bool = False
    by_node: bool = False
    finished: bool = False
    message: str = ""
    may_be_down: bool = False


class Node:
    """:param open_systemd: called for each restart; its modules are loaded on first use."""

    def __init__(
        self,
        settings: SyncerSettings,
        open_systemd: Callable[[], Systemd] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._path = os.path.join(settings.kubelet_dir, "config.json")
        self._options = Options(
            unit=settings.unit,
            healthz=settings.healthz,
            restart=settings.restart,
            window=settings.health_window,
            # Content that a tenant has withdrawn must not stay beside the file, where nothing would remove
            # it.
            backup=False,
        )
        self._open = open_systemd or _over_dbus
        self._clock = clock or Clock()
        self._store = Store(self._path, self._clock)
        self._writer = Synchroniser(self._path, self._options, None, self._clock)
        retrying = self._options._replace(retry_failed=True)
        self._retrier = Synchroniser(self._path, retrying, None, self._clock)

    def write(self, content: bytes | None, *, again: bool = False) -> NodeOutcome:
        """Write the content to the node's file, without touching kubelet.

        :param content: of the Secret's key; None: it has none.
        :param again: also if it has failed before.
        :raises Invalid: it is refused; the file is unchanged.
        :raises NodeError: the file could not be written; it is unchanged.
        """
        if content is None:
            raise Invalid("the Secret's .dockerconfigjson is missing or is not base64")
        try:
            config = load(content)
        except DockerConfigError as error:
            problem = str(error)
        else:
            problem = ""
        if problem:
            # Not chained: the frames of the parser hold the document.
            raise Invalid(problem)
        result = (self._retrier if again else self._writer).write(config)
        return _outcome(result, self._pending() if result.needed else None)._replace(restart=result.needed)

    def restart(self, stopping: Callable[[], bool]) -> NodeOutcome:
        """Restart and watch kubelet, or finish what an earlier run began. Roll back if it stays unhealthy.

        :param stopping: called several times a second; a rollback is always finished.
        :raises NodeError: nothing was restarted.
        """
        systemd = self._open()
        try:
            sync = Synchroniser(self._path, self._options, systemd, self._clock)
            result = sync.settle(stop=lambda: stopping() and not self._is_rolling_back())
            left = self._pending()
            # For a kubelet that is unhealthy with the previous file, too.
            return _outcome(result, left if left is not None and left.is_back else None)
        finally:
            systemd.close()

    def left(self) -> NodeOutcome:
        """Return what an earlier write has left to do; writes nothing."""
        try:
            ledger = self._store.ledger()
            pending = ledger.pending
            # If kubelet may be down, the file is not read, because it may be unreadable.
            if pending is None or (not pending.may_be_down and ledger.is_only_noted(self._store.file().data)):
                return NodeOutcome()
        except PullSecretError:
            return NodeOutcome()
        return NodeOutcome(
            restart=True,
            only_back=pending.is_back,
            begun=bool(pending.invocation),
            may_be_down=pending.may_be_down,
        )

    def stamp(self) -> tuple[int, ...] | None:
        """Return a value that changes whenever the file is written, or None without a file."""
        try:
            found = os.lstat(self._path)
        except OSError:
            return None
        return (found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode)

    def _is_rolling_back(self) -> bool:
        pending = self._pending()
        return pending is not None and pending.is_back

    def _pending(self) -> Pending | None:
        try:
            return self._store.ledger().pending
        except PullSecretError:
            return None


def _outcome(result: SyncResult, left: Pending | None) -> NodeOutcome:
    """:param left: the restart that is left to do."""
    failed = result.state in (FAILED, HELD)
    said = [result.message] if result.message else []
    if result.effective == CACHE:
        said.append(f"kubelet reads the file {CACHE}")
    return NodeOutcome(
        changed=result.changed,
        restart=left is not None,
        only_back=left is not None and left.is_back,
        begun=left is not None and bool(left.invocation),
        failed=failed,
        by_node=failed and result.by_node,
        finished=result.state in (IN_SYNC, FAILED),
        message="; ".join(said + result.warnings),
    )


def _over_dbus() -> Systemd:
    from ...clients.systemd.manager import open_systemd

    return open_systemd("dbus")
