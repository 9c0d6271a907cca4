# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The first step, as ``gcp_pull_secret`` does it: one secret in a store per target.

Only the store knows which options name a secret and which values a secret accepts (``places/secret_store``).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any

from ...model.cluster import specs_of
from ...model.errors import ConfigurationError, PullSecretError
from ...model.limits import Limits
from ...model.naming import shown_name
from ...places.reader import check_references
from ...places.secret_store import SecretStore, StoreTarget
from ...places.sources import cluster_store
from ...places.writing import same_meaning
from ..options import document_options, with_defaults
from ..run import Run, StoreConnections, Work
from ..targets import Wanted, described

__all__ = ["build_target", "printable_place", "store", "targets_of"]

_LIMITS = Limits({**specs_of("store"), **document_options()})

_Kind = type[SecretStore[Any]]


def targets_of(options: Iterable[Mapping[str, Any]], kind: _Kind | None = None) -> list[Wanted[StoreTarget]]:
    """Return the targets for these options.

    :param kind: the store; None is the default store.
    :raises ConfigurationError: two are the same secret.
    """
    return described(
        map(with_defaults, options), lambda wanted: build_target(wanted, kind), lambda target: target.name
    )


def store(
    options: Iterable[Mapping[str, Any]],
    params: Mapping[str, Any],
    *,
    check_mode: bool,
    diff: bool = False,
    stop: threading.Event | None = None,
    connections: StoreConnections | None = None,
    kind: _Kind | None = None,
) -> dict[str, Any]:
    """Handle every target, and return the result of ``gcp_pull_secret``.

    :param options: each target's; :func:`..steps.to_store` makes them from a cluster.
    :param params: how to connect, as ``run_options`` has it.
    :param kind: the store; None is the default store.
    :raises ConfigurationError: two targets are the same secret.
    """
    kind = kind or cluster_store()
    shared = Run(params, kind.PHASE, check_mode=check_mode, diff=diff, stop=stop, connections=connections)
    targets = targets_of(options, kind)
    writer = shared.sources.of(kind).writer(dry_run=check_mode)

    def name_of(wanted: Wanted[StoreTarget]) -> str:
        return wanted.built.name if wanted.built else printable_place(wanted.options, kind)

    def work(target: StoreTarget, current: Work) -> None:
        if current.options["state"] == "absent":
            writer.delete(target, current.outcome, current.deadline)
        elif current.options.get("restore_version"):
            version = current.options["restore_version"]
            writer.restore(target, version, current.outcome, current.deadline, current.seen)
            _compare_source(shared, current)
        else:
            document = shared.documents.read(current.options, current.deadline, current.seen)
            writer.put(target, current.note(document).config, current.outcome, current.deadline)

    writer.prepare(shared.prepare(targets))
    return shared.over(targets, name_of, work)


def _compare_source(shared: Run, current: Work) -> None:
    """Report whether the next run without ``restore_version`` undoes the restore."""
    options, outcome = current.options, current.outcome
    if outcome.after is None or not (options.get("source") or options.get("layers")):
        return
    try:
        document = shared.documents.read(options, current.deadline, current.seen)
    except PullSecretError as error:
        said = current.mask().text(error.message)
        outcome.warnings.append(f"the source could not be compared with the restored version: {said}")
        return
    if not same_meaning(outcome.after, document.config):
        outcome.warnings.append(
            "the source still holds another pull secret; the next run without restore_version puts it back: "
            "change the source"
        )


def printable_place(wanted: Mapping[str, Any], kind: _Kind | None = None) -> str:
    """The address that a target's options name, right or wrong, for messages."""
    kind = kind or cluster_store()
    try:
        return build_target(wanted, kind).name
    except ConfigurationError:
        return kind.address({name: shown_name(name, wanted.get(name)) for name in kind.RULES})


def build_target(wanted: Mapping[str, Any], kind: _Kind | None = None) -> StoreTarget:
    """Return the target that the options describe.

    :param kind: the store; None is the default store.
    :raises WrongOption: the first option that breaks a rule.
    :raises ConfigurationError: a problem of several options, or of a reference.
    """
    kind = kind or cluster_store()
    _LIMITS.check(wanted)
    kind.check_address(wanted)
    if wanted["state"] == "present":
        if not any(wanted.get(name) for name in ("source", "layers", "restore_version")):
            raise ConfigurationError("one of source, layers and restore_version is required")
        check_references(wanted)
    target: StoreTarget = kind.target(wanted)
    return target
