# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The first step, which ``gcp_pull_secret`` does: one secret in Secret Manager per target."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from ...model.cluster import specs_of
from ...model.errors import ConfigurationError, WrongOption
from ...model.limits import Limits
from ...model.naming import (
    check_labels_not_kept,
    check_name,
    check_not_kept,
    gcp_labels,
    gcp_secret_id,
    shown_name,
    texts,
)
from ...model.replication import check_locations
from ...places.reader import check_references
from ...places.secret_manager.claim import KEPT
from ...places.secret_manager.metadata_rules import check_annotations, check_key, check_labels
from ...places.secret_manager.retention import Retention
from ...places.secret_manager.target import SecretManagerTarget
from ...places.secret_manager.writer import SecretManagerWriter
from ..options import document_options, with_defaults
from ..run import Run, StoreConnections, Work
from ..targets import Wanted, described

__all__ = ["PHASE", "build_target", "store", "targets_of"]

PHASE = "gcp-secret-manager"
"""As the log and the result call this step."""

_VERSION = re.compile(r"[1-9][0-9]*\Z")
_LIMITS = Limits({**specs_of("store"), **document_options()})


def targets_of(options: Iterable[Mapping[str, Any]]) -> list[Wanted[SecretManagerTarget]]:
    """The targets that have these options.

    :raises ConfigurationError: two are one secret.
    """
    return described(map(with_defaults, options), build_target, lambda target: target.name)


def store(
    options: Iterable[Mapping[str, Any]],
    params: Mapping[str, Any],
    *,
    check_mode: bool,
    diff: bool = False,
    stop: threading.Event | None = None,
    connections: StoreConnections | None = None,
) -> dict[str, Any]:
    """Handle every target; the result of ``gcp_pull_secret``.

    :param options: each target's; :func:`..steps.to_store` makes them of a cluster.
    :param params: how the places are reached, as ``run_options`` has it.
    :raises ConfigurationError: two targets are one secret.
    """
    shared = Run(params, PHASE, check_mode=check_mode, diff=diff, stop=stop, connections=connections)
    targets = targets_of(options)
    writer = SecretManagerWriter(shared.settings, shared.gcp, dry_run=check_mode)

    def work(target: SecretManagerTarget, current: Work) -> None:
        if current.options["state"] == "absent":
            writer.remove(target, current.outcome, current.deadline)
        elif current.options.get("restore_version"):
            version = current.options["restore_version"]
            writer.restore(target, version, current.outcome, current.deadline, current.seen)
        else:
            document = shared.documents.read(current.options, current.deadline, current.seen)
            writer.ensure(target, current.note(document).config, current.outcome, current.deadline)

    writer.prepare(shared.prepare(targets))
    return shared.over(targets, _place, work)


def _place(target: Mapping[str, Any]) -> str:
    try:
        return build_target(target).name
    except ConfigurationError:
        project, secret = target.get("project"), target.get("secret")
        return f"projects/{shown_name('project', project)}/secrets/{shown_name('secret', secret)}"


def build_target(wanted: Mapping[str, Any]) -> SecretManagerTarget:
    """What a target's options describe.

    :raises WrongOption: the first option that breaks a rule.
    :raises ConfigurationError: what is wrong with several, or with a reference.
    """
    _LIMITS.check(wanted)
    project, cluster_id = wanted.get("project"), wanted.get("cluster_id")
    if not project:
        raise WrongOption("project", "is missing")
    check_name("project", project)
    secret = wanted.get("secret") or (gcp_secret_id(cluster_id) if cluster_id else None)
    if not secret:
        raise ConfigurationError("secret or cluster_id is required")
    check_name("secret", secret)
    if wanted["state"] == "present" and not any(
        wanted.get(name) for name in ("source", "layers", "restore_version")
    ):
        raise ConfigurationError("one of source, layers and restore_version is required")
    if wanted["state"] == "present":
        check_references(wanted)
    if not _VERSION.match(wanted.get("restore_version") or "1"):
        raise WrongOption("restore_version", "must be the number of a version, such as 3")
    labels = texts("labels", wanted.get("labels"))
    annotations = texts("annotations", wanted.get("annotations"))
    ours = gcp_labels(cluster_id, wanted.get("cluster_name"))
    check_labels_not_kept(labels, ours)
    check_labels({**labels, **ours})
    check_not_kept(annotations, KEPT)
    check_annotations(annotations)
    return SecretManagerTarget(
        id=str(wanted.get("id") or cluster_id or secret),
        project=project,
        secret=secret,
        cluster_id=cluster_id,
        cluster_name=wanted.get("cluster_name"),
        labels=labels,
        annotations=annotations,
        replication=_replication(wanted),
        adopt=bool(wanted.get("adopt")),
        retention=_retention(wanted.get("retention")),
        impersonate=wanted.get("impersonate_service_account"),
    )


def _replication(wanted: Mapping[str, Any]) -> dict[str, Any] | None:
    locations = wanted.get("locations") or []
    keys = texts("location_kms_keys", wanted.get("location_kms_keys"))
    if (wanted.get("replication") or "automatic") == "automatic":
        if locations or keys:
            raise WrongOption("locations", "and {location_kms_keys} require {replication}: user_managed")
        key = wanted.get("kms_key")
        if not key and not wanted.get("replication"):
            return None
        if key:
            check_key("kms_key", key, "global")
        return {"automatic": {"customer_managed_encryption": {"kms_key_name": key}} if key else {}}
    if not locations:
        raise WrongOption("replication", "is user_managed, which needs {locations}")
    if wanted.get("kms_key"):
        rule = "requires {replication}: automatic; user_managed takes {location_kms_keys}"
        raise WrongOption("kms_key", rule)
    unknown = sorted(set(keys) - set(locations))
    if unknown:
        named = ", ".join(dict.fromkeys(shown_name("location", location) for location in unknown))
        raise WrongOption("location_kms_keys", f"names {named}, which is not among the {{locations}}")
    check_locations(locations)
    if keys and len(keys) != len(locations):
        raise WrongOption("location_kms_keys", "must name a key for every location, or none")
    replicas: list[dict[str, Any]] = []
    for location in locations:
        replica: dict[str, Any] = {"location": location}
        if location in keys:
            key = keys[location]
            check_key(f"location_kms_keys.{location}", key, location)
            replica["customer_managed_encryption"] = {"kms_key_name": key}
        replicas.append(replica)
    return {"user_managed": {"replicas": replicas}}


def _retention(options: Mapping[str, Any] | None) -> Retention | None:
    return (
        Retention(**{name: value for name, value in options.items() if value is not None})
        if options
        else None
    )
