# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Replaces a Secret that the API server would not change: deletes it, then creates the new one.

Finalizers may keep the old one, and so its name, for a while. It is read until it is gone. Meanwhile only the
replacement that was built from it still holds the data that others wrote.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from ...clients.kubernetes.client import KubernetesClient
from ...clients.kubernetes.errors import Overtaken
from ...model.errors import PullSecretError, VerificationFailed
from ...model.outcome import Outcome
from ...runtime.retry import Deadline
from ..writing import note
from .content import SecretContent
from .target import KubernetesTarget, delete_preconditions, verify_written

__all__ = ["SecretReplacement"]


class SecretReplacement:
    """The replacement of one target's Secret, kept in memory from the delete until the new one exists."""

    def __init__(
        self,
        client: KubernetesClient,
        target: KubernetesTarget,
        outcome: Outcome,
        deadline: Deadline,
    ) -> None:
        self._client = client
        self._target = target
        self._outcome = outcome
        self._deadline = deadline
        self._new: Mapping[str, Any] | None = None
        self._content: SecretContent | None = None
        self._actions: Sequence[str] = ()

    def replace(self, old: Mapping[str, Any], new: Mapping[str, Any], content: SecretContent) -> None:
        """Delete ``old`` and create ``new``.

        :param content: of the new one.
        :raises Overtaken: the name is taken, perhaps still by ``old``: call ``finish`` once it is free.
        """
        namespace, name = self._target.namespace, self._target.name
        # The server validates the new one now: between the two calls it would be too late. A free name is
        # used, because the target's own is taken until the delete.
        trial = {**new, "metadata": {**new["metadata"], "name": f"pull-secret-check-{secrets.token_hex(16)}"}}
        self._client.create(namespace, "secrets", trial, self._deadline, dry_run=True)
        self._actions = list(self._outcome.actions)
        self._content = content
        try:
            self._client.delete(namespace, "secrets", name, delete_preconditions(old), self._deadline)
        except Overtaken as error:
            # An earlier attempt without a response may have marked it as deleted, which changed its version.
            if error.unsure:
                self._new = new
            raise
        self._new = new
        self.finish()

    def finish(self) -> SecretContent | None:
        """Create the replacement of a Secret that is gone; return its content, or None if none was begun."""
        if self._new is None or self._content is None:
            return None
        outcome = self._outcome
        outcome.restart()
        outcome.did("deleted")
        outcome.settle()
        outcome.did("created")
        try:
            answer = self._client.create(self._target.namespace, "secrets", self._new, self._deadline)
            verify_written(answer, self._content.config, outcome.place)
        except Overtaken:
            raise
        except PullSecretError as error:
            outcome.restart()
            is_there = isinstance(error, VerificationFailed)
            now = (
                "the new one has other content; does an admission webhook change it?"
                if is_there
                else "the next run creates the new one"
            )
            error.message = f"{error.message} (the old secret is deleted; {now})"
            raise
        outcome.actions[:] = self._actions
        outcome.settle()
        where = {"namespace": self._target.namespace, "secret_name": self._target.name}
        note(outcome, "replace-secret", "Replaced Kubernetes secret", **where)
        return self._content

    def forget(self) -> None:
        """A Secret of any author exists again. It is not the old one, so it is not replaced."""
        self._new = None
