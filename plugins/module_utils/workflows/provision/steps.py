# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cluster's two steps, store and place: the options of each, and what came of them.  Pure.

The role's filters, the Job and the adapter's inline execution make their targets and results here. The work is
in ``store`` and ``place``, and ``checking`` holds a cluster against the rules of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ...model.cluster import Cluster, document_of, options_of
from ...model.outcome import adds_version
from ...model.summary import not_run, state_of
from ...places.sources import cluster_store, parse_address

__all__ = ["Result", "rows", "stored_at", "to_place", "to_store"]

_Entry = Mapping[str, Any]
"""What a step says of one target."""


def to_store(cluster: Cluster) -> dict[str, Any]:
    """The options of ``gcp_pull_secret``."""
    target = {"id": cluster.cluster_id, **options_of(cluster, "store")}
    if cluster.state == "absent":
        return target
    # Beside a version to restore, the document is only compared with it, and only if somebody has named one.
    return {**target, **(document_of(cluster) if cluster.restore_version else _document(cluster))}


def to_place(cluster: Cluster, stored: _Entry, *, waits: bool = False) -> dict[str, Any]:
    """The options of ``k8s_pull_secret``, which reads the version that was stored.

    :param stored: what storing said of the cluster. After a check mode the version may not be there yet, and has
        no number; then its original source stands in for it.
    :param waits: whether somebody is expected to create the namespace. Nobody is where a person waits.
    """
    target = {"id": cluster.cluster_id, **options_of(cluster, "place")}
    if cluster.state == "absent":
        return target
    if waits:
        target["wait_for_namespace"] = True
    secret = str(stored["place"])
    target["gcp_secret_path"] = f"{secret}/versions/latest"
    version = stored.get("version") or cluster.restore_version
    if not version:
        return {**target, **_document(cluster)}
    kind, named = parse_address(secret)
    # Such as the account that both write and read as.
    said = options_of(cluster, "store").items()
    both = {name: value for name, value in said if value and name in kind.SPEC["options"]}
    return {**target, "source": {kind.NAME: {**both, **named, "version": str(version)}}}


def stored_at(cluster: Cluster) -> str:
    """The address of a cluster's stored secret; the cluster has the names of its secrets."""
    return cluster_store().address(options_of(cluster, "store"))


def _document(cluster: Cluster) -> dict[str, Any]:
    """Where the docker config is; by default in seed 003's own place, the cluster's spec in the HyperFleet API."""
    document = document_of(cluster)
    if "source" not in document and "layers" not in document:
        document["source"] = {"hyperfleet": {"cluster_id": cluster.cluster_id}}
    return document


class Result(NamedTuple):
    """What both steps said of a cluster.

    :param stored: empty where the step did not come to the cluster; so is ``placed``.
    """

    stored: _Entry
    placed: _Entry

    @property
    def failed(self) -> _Entry | None:
        """The first step that failed."""
        return next((entry for entry in self if entry.get("failed")), None)

    @property
    def changed(self) -> bool:
        """Whether anything was written, or would be in check mode."""
        return any(entry.get("changed") for entry in self)

    @property
    def version(self) -> str | None:
        """What the management cluster holds: a newer version of another run may have stayed there."""
        found = self.placed.get("version") or self.stored.get("version")
        return str(found) if found else None

    @property
    def added(self) -> int:
        """How many versions were made."""
        return sum(map(adds_version, self.stored.get("actions") or ()))

    @property
    def replication_differs(self) -> bool:
        """Whether the secret was there and is replicated otherwise than was asked."""
        return bool(self.stored.get("replication_differs"))


def rows(
    clusters: Iterable[tuple[str, str | None]], stored: Mapping[str, Any], placed: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """One row a cluster: what is in both places, what changed, what failed and why.

    :param clusters: each one's name, and what is wrong with its description: then no step came to it.
    :param stored: the result of the first step, :param placed: of the second.
    """
    first, second = ({entry["id"]: entry for entry in step.get("targets") or ()} for step in (stored, placed))
    found = []
    for name, problem in clusters:
        result = Result({}, {}) if problem else Result(first.get(name) or {}, second.get(name) or {})
        failed = result.failed
        if problem:
            failed = {"kind": "configuration", "msg": problem}
        elif failed is None and not all(result):
            # A step that ended early has said why.
            step, does = (placed, "places") if result.stored else (stored, "stores")
            failed = not_run(
                step.get("msg")
                or f"the step that {does} the pull secret ended before it came to this cluster"
            )
        found.append(_row(name, result, failed))
    return found


def _row(name: str, result: Result, failed: _Entry | None) -> dict[str, Any]:
    one, two = result
    return {
        "cluster": name,
        "changed": result.changed,
        "failed": failed is not None,
        "version": result.version,
        "secret_manager": state_of(one),
        "management_secret": state_of(two),
        "actions": [*one.get("actions", ()), *(f"management: {action}" for action in two.get("actions", ()))],
        "kind": failed["kind"] if failed else None,
        "reason": failed["msg"] if failed else None,
        "warnings": list(dict.fromkeys([*one.get("warnings", ()), *two.get("warnings", ())])),
    }
