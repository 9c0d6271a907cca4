# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The two steps for a cluster, store and place: the options of each, and their results. Pure.

The role's filters, the Job and the adapter's inline execution build targets and results here. ``store`` and
``place`` do the work, and ``checking`` checks a cluster for both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ...model.cluster import Cluster, document_of, options_of
from ...model.outcome import adds_version
from ...model.summary import not_run, state_of
from ...places.sources import cluster_store, version_reference

__all__ = ["INSPECTED", "Result", "rows", "stored_at", "to_inspect", "to_place", "to_store"]

INSPECTED = (
    *("cluster_id", "state", "project", "secret", "impersonate_service_account"),
    *("namespace", "name", "context", "kubeconfig"),
)
"""The options of both modules that say whether and where a cluster's secrets are."""
_Entry = Mapping[str, Any]
"""The result of a step for one target."""


def to_store(cluster: Cluster) -> dict[str, Any]:
    """Return the options of ``gcp_pull_secret``."""
    target = {"id": cluster.cluster_id, **options_of(cluster, "store")}
    if cluster.state == "absent":
        return target
    # With a version to restore, the document is only compared with it, and only if one is given.
    return {**target, **(document_of(cluster) if cluster.restore_version else _document(cluster))}


def to_place(cluster: Cluster, stored: _Entry, *, waits: bool = False) -> dict[str, Any]:
    """Return the options of ``k8s_pull_secret``, which reads the stored version if its digest differs.

    :param stored: the cluster's result of the first step. After check mode the version may not exist and has
        no number; the original source is then used.
    :param waits: whether to wait for the namespace, because somebody is expected to create it. Not if a
        person waits for the run.
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
    kind, reference = version_reference(secret, options_of(cluster, "store"), str(version))
    source = {kind.NAME: reference}
    if not stored.get("version"):
        # The new version has no number yet, and the number of the restored one must not decide which is newer.
        return {**target, "layers": [{"name": f"version {version}", "source": source}]}
    digest = {"source_digest": stored["digest"]} if stored.get("digest") else {}
    return {**target, "source": source, **digest}


def to_inspect(cluster: Cluster) -> dict[str, Any]:
    """The options of ``pull_secret_info``: where both secrets are, and where the docker config comes from."""
    said = {**options_of(cluster, "store"), **options_of(cluster, "place")}
    target = {name: value for name, value in said.items() if name in INSPECTED}
    return {"id": cluster.cluster_id, **target, **_document(cluster)}


def stored_at(cluster: Cluster) -> str:
    """Return the address of a cluster's stored secret; the cluster has the names of its secrets."""
    return cluster_store().address(options_of(cluster, "store"))


def _document(cluster: Cluster) -> dict[str, Any]:
    """Return the source of the docker config, by default the cluster's spec in the HyperFleet API."""
    document = document_of(cluster)
    if "source" not in document and "layers" not in document:
        document["source"] = {"hyperfleet": {"cluster_id": cluster.cluster_id}}
    return document


class Result(NamedTuple):
    """The results of both steps for a cluster.

    :param stored: empty if the step did not handle the cluster.
    :param placed: empty in the same case.
    """

    stored: _Entry
    placed: _Entry

    @property
    def failed(self) -> _Entry | None:
        """The first failed step."""
        return next((entry for entry in self if entry.get("failed")), None)

    @property
    def changed(self) -> bool:
        """Whether anything was written, or would be in check mode."""
        return any(entry.get("changed") for entry in self)

    @property
    def version(self) -> str | None:
        """The version in the management cluster. A newer version of another run may have stayed there."""
        found = self.placed.get("version") or self.stored.get("version")
        return str(found) if found else None

    @property
    def added(self) -> int:
        """How many versions were added."""
        return sum(map(adds_version, self.stored.get("actions") or ()))

    @property
    def replication_differs(self) -> bool:
        """Whether the replication of an existing secret differs from the requested one."""
        return bool(self.stored.get("replication_differs"))


def rows(
    clusters: Iterable[tuple[str, str | None]], stored: Mapping[str, Any], placed: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return one row per cluster: both secrets, what changed, what failed and why.

    :param clusters: each one's name, and what is wrong with its description; then no step handled it.
    :param stored: the result of the first step.
    :param placed: the result of the second.
    """
    first, second = ({entry["id"]: entry for entry in step.get("targets") or ()} for step in (stored, placed))
    found = []
    for name, problem in clusters:
        result = Result({}, {}) if problem else Result(first.get(name) or {}, second.get(name) or {})
        failed = result.failed
        if problem:
            failed = {"kind": "configuration", "msg": problem}
        elif failed is None and not all(result):
            # A step that ended early has reported why.
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
