# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What ``k8s_pull_secret`` does: one Secret in a management cluster per target."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from typing import Any

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.naming import kubernetes_secret_name
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.options import (
    check_places,
    document_options,
    resolve_targets,
    usable,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.target import (
    KubernetesTarget,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.kubernetes.writer import (
    KubernetesWriter,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.run import Run, Work
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.secrecy import quoted

__all__ = ["run", "target_options"]

_SUBDOMAIN = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?\Z")
_LABEL_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\Z")


def target_options() -> dict[str, Any]:
    """The options of one target."""
    return dict(
        id={"type": "str"},
        state={"type": "str", "choices": ["present", "absent"]},
        namespace={"type": "str"},
        name={"type": "str"},
        cluster_id={"type": "str"},
        cluster_name={"type": "str"},
        gcp_secret_path={"type": "str", "no_log": False},
        labels={"type": "dict"},
        annotations={"type": "dict"},
        adopt={"type": "bool"},
        immutable={"type": "bool"},
        service_accounts={"type": "list", "elements": "str"},
        context={"type": "str"},
        kubeconfig={"type": "path"},
        **document_options(),
    )


def run(
    params: Mapping[str, Any], *, check_mode: bool, diff: bool, stop: threading.Event | None = None
) -> dict[str, Any]:
    """Handle all targets; the module's result."""
    shared = Run(params, "k8s-secret", check_mode=check_mode, diff=diff, stop=stop)
    targets = resolve_targets(params, list(target_options()))
    check_places(targets, _full_place)
    writer = KubernetesWriter(shared.settings, shared.kubernetes, dry_run=check_mode)

    def work(current: Work) -> None:
        target = _target(current.target)
        if current.target["state"] == "absent":
            writer.remove(target, current.outcome, current.deadline)
            return
        document = shared.documents.read(current.target, current.deadline, current.seen)
        current.outcome.provenance = document.provenance
        current.outcome.warnings.extend(document.warnings)
        if document.conflicts:
            current.outcome.extra["conflicts"] = list(document.conflicts)
        writer.ensure(target, document.config, current.outcome, current.deadline)

    shared.documents.prepare([target for target in targets if target["state"] == "present"])
    writer.prepare(usable(targets, _target))
    return shared.over(targets, _place, work)


def _full_place(wanted: Mapping[str, Any]) -> str:
    target = _target(wanted)
    cluster = ":".join(part for part in (target.kubeconfig, target.context) if part)
    return f"{cluster}{':' if cluster else ''}namespaces/{target.namespace}/secrets/{target.name}"


def _place(target: Mapping[str, Any]) -> str:
    context = f"{target['context']}:" if target.get("context") else ""
    try:
        name: str | None = _name(target)
    except ConfigurationError:
        name = None
    return f"{context}namespaces/{target.get('namespace') or '?'}/secrets/{name or '?'}"


def _name(wanted: Mapping[str, Any]) -> str:
    name = wanted.get("name") or (
        kubernetes_secret_name(wanted["cluster_id"]) if wanted.get("cluster_id") else None
    )
    if not name:
        raise ConfigurationError("neither name nor cluster_id says which secret is meant")
    if not _SUBDOMAIN.match(name):
        raise ConfigurationError(f"name {quoted(name)} is not lower case letters, digits, dashes and dots")
    return str(name)


def _target(wanted: Mapping[str, Any]) -> KubernetesTarget:
    namespace = wanted.get("namespace")
    if not namespace:
        raise ConfigurationError("namespace is missing")
    if not _LABEL_NAME.match(namespace):
        raise ConfigurationError(
            f"namespace {quoted(namespace)} is not lower case letters, digits and dashes"
        )
    name = _name(wanted)
    for account in wanted.get("service_accounts") or ():
        if not _SUBDOMAIN.match(account):
            raise ConfigurationError(
                f"service account {quoted(account)} is not lower case letters, digits, dashes and dots"
            )
    if wanted["state"] == "present" and not (wanted.get("source") or wanted.get("layers")):
        raise ConfigurationError("one of source and layers has to say what the secret is to hold")
    return KubernetesTarget(
        id=str(wanted.get("id") or wanted.get("cluster_id") or name),
        namespace=namespace,
        name=name,
        cluster_id=wanted.get("cluster_id"),
        cluster_name=wanted.get("cluster_name"),
        gcp_secret_path=wanted.get("gcp_secret_path") or _path_of(wanted.get("source")),
        labels={str(key): str(value) for key, value in (wanted.get("labels") or {}).items()},
        annotations={str(key): str(value) for key, value in (wanted.get("annotations") or {}).items()},
        adopt=bool(wanted.get("adopt")),
        immutable=wanted.get("immutable"),
        service_accounts=tuple(wanted.get("service_accounts") or ()),
        context=wanted.get("context"),
        kubeconfig=wanted.get("kubeconfig"),
    )


def _path_of(source: Mapping[str, Any] | None) -> str | None:
    """The seed's annotation names ``latest``, whichever version was read: it says where to look again."""
    gcp = (source or {}).get("gcp")
    return f"projects/{gcp['project']}/secrets/{gcp['secret']}/versions/latest" if gcp else None
