# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One module run over many targets, from parameters to the result, without Ansible.

A module provides ``work``, which handles one target. Clients, time limits, failures, masking, digests, diffs
and counts are the same for all modules.
"""

from __future__ import annotations

import base64
import os
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, Callable, TypeVar

from ..dockerconfig import DockerConfig, sensitive_forms
from ..model.errors import ConfigurationError
from ..model.limits import Limits
from ..model.outcome import Journal, Outcome
from ..model.summary import whole
from ..places.kubernetes_secret.source import KubernetesSource
from ..places.reader import Document, DocumentReader
from ..places.sources import OpenSources, connection_options
from ..places.writing import parse_any
from ..runtime.batch import Failure, Progress, run_batch
from ..runtime.calls import Spent
from ..runtime.retry import Deadline, RetryPolicy
from ..runtime.run_settings import RunSettings
from ..runtime.secrecy import Mask
from .options import run_options
from .targets import Wanted

__all__ = ["Run", "StoreConnections", "Work", "key_of_digests"]

T = TypeVar("T")

_LIMITS = Limits(run_options())


class Work:
    """One target that is being worked on, the argument of ``work``.

    :param options: the target's.
    :param seen: the raw documents that were read; their forms are removed from output.
    """

    def __init__(self, options: Mapping[str, Any], outcome: Outcome, deadline: Deadline) -> None:
        self.options = options
        self.outcome = outcome
        self.deadline = deadline
        self.seen: list[bytes] = []

    def note(self, document: Document) -> Document:
        """Note the document that the target must hold, with its registries and warnings for the outcome."""
        self.outcome.provenance = document.provenance
        self.outcome.warnings.extend(document.warnings)
        if document.conflicts:
            self.outcome.extra["conflicts"] = list(document.conflicts)
        return document

    def parse_existing(self, data: bytes | None) -> DockerConfig | None:
        """Return the docker config that a place held before, and hide it from now on; None if it is none."""
        self.seen.extend([data] if data is not None else ())
        return parse_any(data)

    def mask(self) -> Mask:
        """Return the mask that replaces the forms of all documents that were read."""
        return Mask(form for read in self.seen for form in sensitive_forms(read))


class StoreConnections:
    """The connections, made from a module's validated parameters. A later run may share them.

    ``spent`` has the seconds of each target, by id, in all runs that share the connections.

    :param stop: once it is set, no call is retried.
    """

    def __init__(self, params: Mapping[str, Any], stop: threading.Event) -> None:
        _LIMITS.check(params)
        self.spent: dict[str, Spent] = {}
        connections = {name: params.get(name) or {} for name in connection_options()}
        self.settings = RunSettings.from_options(params, stop, connections, RetryPolicy())
        self.sources = OpenSources(self.settings)
        self.kubernetes = self.sources.of(KubernetesSource).clients
        # Without a key, digests are comparable within this process only, which is safe.
        self.digest_key = key_of_digests(params.get("digest_key"))


class Run:
    """The shared parts of a module run, made from its validated parameters.

    :param stop: once it is set, no further target is begun.
    :param connections: those of an earlier run, whose ``stop`` is then used.
    """

    def __init__(
        self,
        params: Mapping[str, Any],
        phase: str,
        *,
        check_mode: bool,
        diff: bool,
        stop: threading.Event | None = None,
        connections: StoreConnections | None = None,
    ) -> None:
        connections = connections or StoreConnections(params, stop or threading.Event())
        self.settings = connections.settings
        self.stop = connections.settings.retrier.stop
        self.sources, self.kubernetes = connections.sources, connections.kubernetes
        # Of this run alone: what an earlier one has read may be older than the event that began this one.
        self.documents = DocumentReader(self.sources)
        self.check_mode = check_mode
        self._spent = connections.spent
        self._diff = diff
        self._phase = phase
        self._progress_file = params.get("progress_file")
        self.digest_key = connections.digest_key

    def prepare(self, targets: Sequence[Wanted[T]]) -> list[T]:
        """Read ahead where possible, and return the valid targets. Invalid targets fail later, one by one."""
        self.documents.prepare([wanted.options for wanted in targets if wanted.built and wanted.present])
        return [wanted.built for wanted in targets if wanted.built is not None]

    def over(
        self,
        targets: Sequence[Wanted[T]],
        place: Callable[[Wanted[T]], str],
        work: Callable[[T, Work], None],
    ) -> dict[str, Any]:
        """Handle every target and return the result.

        :param place: returns the printable name of the target's secret or file, also if the options are invalid.
        """

        def one(wanted: Wanted[T]) -> dict[str, Any]:
            journal = Journal(self._phase)
            outcome = Outcome(wanted.id, place(wanted), journal=journal)
            spent = self._spent.setdefault(wanted.id, Spent())
            current = Work(wanted.options, outcome, self.settings.deadline(journal.retry, spent.calls))
            begun = time.monotonic()
            try:
                work(wanted.target(), current)
                result = outcome.result(self.digest_key)
                if self._diff and outcome.changed:
                    result["diff"] = outcome.diff(self.digest_key)
            except Exception as error:  # noqa: BLE001 - one target's failure stays one failure
                return self._failed(current, Failure.of(error))
            finally:
                spent.seconds += time.monotonic() - begun
            return result

        results = run_batch(
            targets,
            one,
            concurrency=self.settings.concurrency,
            stop=self.stop,
            progress=Progress(self._progress_file, len(targets)),
            failed=lambda result: isinstance(result, Failure) or bool(result.get("failed")),
        )
        entries = [
            _not_begun(wanted, result, place) if isinstance(result, Failure) else result
            for wanted, result in zip(targets, results)
        ]
        return whole(entries, [entry.pop("diff") for entry in entries if "diff" in entry])

    def _failed(self, current: Work, failure: Failure) -> dict[str, Any]:
        outcome = current.outcome
        result: dict[str, Any] = {
            "id": outcome.id,
            "place": outcome.place,
            "failed": True,
            # Work that was done before the failure remains, and is in the result.
            "changed": outcome.written,
            "actions": outcome.actions if outcome.written else [],
            "kind": failure.kind,
            # A second protection, because these errors should hold no value.
            "msg": current.mask().text(str(failure)),
            "registries": {},
            "warnings": outcome.warnings,
        }
        if outcome.journal is not None:
            outcome.journal.note("failed", result["msg"], level="error")
            result["operations"] = outcome.journal.entries
            result["retries"] = outcome.journal.retries
        return result


def key_of_digests(text: str | None) -> bytes:
    """Return the option ``digest_key`` as bytes, or a random key without one.

    :raises ConfigurationError: it cannot be encoded.
    """
    if not text:
        return os.urandom(32)
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        pass
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        # The exception would contain the key.
        raise ConfigurationError("digest_key must be a string that can be encoded as UTF-8") from None


def _not_begun(wanted: Wanted[T], failure: Failure, place: Callable[[Wanted[T]], str]) -> dict[str, Any]:
    return {
        "id": wanted.id,
        "place": place(wanted),
        "failed": True,
        "changed": False,
        "actions": [],
        "kind": failure.kind,
        "msg": str(failure),
        "registries": {},
        "warnings": [],
    }
