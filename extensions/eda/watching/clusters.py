# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Parses the list of clusters, in the source's options or in a file: what to watch, and for which clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.api import COLLECTIONS
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.settings import (
    CONNECTION,
    Clusters,
    KubeconfigSecret,
    ServerOptions,
    Watched,
    parse_connection,
    parse_name,
    parse_only,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import ConfigurationError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.naming import LABEL_SELECTOR
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.shown import MISPLACED, shown_path
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.secrecy import misplaced
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.yaml_text import (
    NotYAML,
    load_json_or_yaml,
)

__all__ = ["Listed", "check_clusters", "parse_cluster_list", "parse_clusters"]

_ADDITIONAL = "additional-pull-secret"
# Maximum number of values in a file: enough for thirty thousand clusters.
_MOST = 1_000_000
# The playbook's options beside the list, which apply to all its clusters.
_COMMON = (
    "state",
    "management_context",
    "management_kubeconfig",
    "hosted_namespace",
    "precedence",
    "policy",
    "drop",
    "when_additional_is_gone",
    "adopt",
    "syncer_image",
    "syncer_image_pull_secrets",
    "syncer_node_selector",
    "syncer_tolerations",
    "syncer_priority_class",
    "syncer_host_network",
    "syncer_selinux_type",
    "syncer_resources",
    "max_restarting",
    "restart",
    "health_window",
    "healthz",
    "kubelet_unit",
    "kubelet_dir",
    "rollout_timeout",
)
# All clusters wait for the end of a run, so the rulebook, not an entry, limits the wait for nodes.
_NOT_OURS = ("wait", "rollout_timeout")


class Listed(NamedTuple):
    """The content of a list of clusters.

    :param targets: cluster ids to their entries, for the playbook; none for those with ``watches``.
    :param complaints: what is wrong with the entries that are left out.
    """

    clusters: Clusters
    targets: dict[str, dict[str, Any]]
    complaints: list[str]


def parse_cluster_list(text: bytes, path: str, default: ServerOptions) -> Listed:
    """Parse the clusters of a file, JSON or YAML: the list itself, or a mapping with the list under
    ``clusters``.

    Options beside the list apply to all its clusters, as in a file for ``ansible-playbook``.

    :raises ConfigurationError: names the file and what is wrong, and quotes only names.
    """
    where = shown_path(path)
    try:
        document = load_json_or_yaml(text, most=_MOST)
    except NotYAML as error:
        raise ConfigurationError(f"{where} {error}") from None
    common: dict[str, Any] = {}
    if isinstance(document, Mapping):
        common = {name: document[name] for name in _COMMON if _is_given(document.get(name))}
        document = document.get("clusters")
    if not isinstance(document, list):
        raise ConfigurationError(f"{where} must hold a list of clusters")
    return parse_clusters(document, default, common)


def check_clusters(entries: Any) -> None:
    """:raises ConfigurationError: names what is wrong with the entries of a rulebook."""
    if not isinstance(entries, list):
        raise ConfigurationError("clusters must be a list or the path of a file")
    complaints = parse_clusters(entries, ServerOptions()).complaints
    if complaints:
        raise ConfigurationError("; ".join(complaints[:5]))


def parse_clusters(
    entries: list[Any], default: ServerOptions, common: Mapping[str, Any] | None = None
) -> Listed:
    """Return what to watch, and for which clusters.

    An entry with ``watches`` lists them itself. Any other entry is a hosted cluster as the module
    ``hosted_cluster_pull_secret`` takes it; other options of it are not used here.
    """
    read: list[_Entry] = []
    complaints = []
    for number, entry in enumerate(entries, 1):
        where = f"entry {number} of clusters"
        try:
            if not isinstance(entry, Mapping):
                raise ConfigurationError(f"{where} must be a mapping")
            cluster = parse_name(entry.get("cluster_id"), f"{where}: cluster_id")
            where = f"cluster {cluster}"
            read.append(_read(cluster, entry, where, default, common or {}))
        except ConfigurationError as error:
            complaints.append(error.message)
        except RecursionError:
            complaints.append(f"{where}: it is nested too deeply")
    # As in the role: it is unknown which entry is the right one.
    often = {cluster: count for cluster, count in Counter(one.cluster for one in read).items() if count > 1}
    complaints += [
        f"cluster {cluster}: {count} entries have this cluster_id; all of them are ignored"
        for cluster, count in often.items()
    ]
    found: dict[Watched, set[str]] = {}
    targets: dict[str, dict[str, Any]] = {}
    for one in read:
        if one.cluster in often:
            continue
        for watched in one.watches:
            found.setdefault(watched, set()).add(one.cluster)
        if one.target is not None:
            targets[one.cluster] = one.target
    return Listed({watched: frozenset(ids) for watched, ids in found.items()}, targets, complaints)


class _Entry(NamedTuple):
    """One parsed entry; ``target`` is None for one with ``watches``."""

    cluster: str
    watches: list[Watched]
    target: dict[str, Any] | None


def _read(
    cluster: str, entry: Mapping[str, Any], where: str, default: ServerOptions, common: Mapping[str, Any]
) -> _Entry:
    if "watches" in entry:
        return _Entry(cluster, _explicit(entry, where, default), None)
    given = {**common, **{key: value for key, value in entry.items() if _is_given(value)}}
    # Targets will be in events, which are logged.
    if misplaced(given):
        raise ConfigurationError(f"{where}: {MISPLACED}")
    target = {name: value for name, value in given.items() if not _is_waiting(name, value)}
    return _Entry(cluster, _hosted(given, where, default), target)


def _is_given(value: Any) -> bool:
    """Return whether the option is set; an empty value does not count."""
    return value is not None and value != ""


def _is_waiting(name: str, value: Any) -> bool:
    """Return whether it makes a run wait for nodes; 0, which removes at once, does not."""
    return name in _NOT_OURS and str(value).strip() not in ("0", "0.0")


def _explicit(entry: Mapping[str, Any], where: str, default: ServerOptions) -> list[Watched]:
    """Parse ``{cluster_id, watches: [{namespace, name}]}``, both with the options of a connection.

    A watch with such options uses these alone, because a cluster may concern several API servers.
    """
    parse_only(entry, ("cluster_id", "watches", *CONNECTION), where)
    watches = entry["watches"]
    if not isinstance(watches, list) or not watches:
        raise ConfigurationError(f"{where}: watches must be a list of mappings with namespace and name")
    own = _connection(entry, where) or default
    found = []
    for watch in watches:
        if not isinstance(watch, Mapping):
            raise ConfigurationError(
                f"{where}: each entry of watches must be a mapping with namespace and name"
            )
        parse_only(watch, ("namespace", "name", "kind", "label_selector", *CONNECTION), f"{where}: watches")
        if watch.get("kind") is not None:
            found.append(_collection(watch, _connection(watch, where) or own, f"{where}: watches"))
            continue
        if watch.get("label_selector") is not None:
            raise ConfigurationError(f"{where}: watches: label_selector needs kind")
        namespace, name = (
            parse_name(watch.get(key), f"{where}: watches: {key}") for key in ("namespace", "name")
        )
        found.append(Watched(_connection(watch, where) or own, namespace, name))
    return found


def _collection(watch: Mapping[str, Any], connection: ServerOptions, where: str) -> Watched:
    """Parse ``{kind, label_selector}``."""
    kind, selector = watch["kind"], watch.get("label_selector") or ""
    selector = selector.strip() if isinstance(selector, str) else selector
    if kind not in COLLECTIONS:
        raise ConfigurationError(f"{where}: kind must be one of {', '.join(COLLECTIONS)}")
    if watch.get("namespace") or watch.get("name"):
        raise ConfigurationError(f"{where}: kind cannot be combined with namespace or name")
    if not isinstance(selector, str) or not (selector == "" or LABEL_SELECTOR.match(selector)):
        raise ConfigurationError(f"{where}: label_selector must be a label selector, such as team=example")
    return Watched(connection, "", None, kind=kind, selector=selector)


def _hosted(entry: Mapping[str, Any], where: str, default: ServerOptions) -> list[Watched]:
    """The original in the management cluster, and the additional one in the hosted cluster."""
    control_plane = _optional(entry, "control_plane_namespace", where)
    plane = _optional(entry, "hosted_control_plane", where)
    management = _other(entry, "management", where, default) or default
    original, kubeconfig = (_mapping(entry, name, where) for name in ("original", "hosted_kubeconfig_secret"))
    hosted = _other(entry, "hosted", where, default)
    # Without the control plane's namespace the original is unknown. A cluster with state=absent does not need it.
    absent = entry.get("state") == "absent"
    if control_plane is None and not ((original or absent) and (hosted or kubeconfig)):
        raise ConfigurationError(f"{where}: control_plane_namespace is missing")
    if hosted is None:
        secret = KubeconfigSecret(
            management,
            _namespace(kubeconfig, control_plane, where),
            _optional(kubeconfig, "name", where),
            _optional(kubeconfig, "key", where) or "kubeconfig",
            plane,
        )
        hosted = ServerOptions(secret=secret)
    watches = [Watched(hosted, _optional(entry, "hosted_namespace", where) or "kube-system", _ADDITIONAL)]
    if original or control_plane:
        name = _optional(original, "name", where)
        within = _namespace(original, control_plane, where)
        watches.append(Watched(management, within, name, None if name else plane))
    return watches


def _connection(options: Mapping[str, Any], where: str) -> ServerOptions | None:
    return parse_connection(options, where) if any(options.get(name) for name in CONNECTION) else None


def _other(entry: Mapping[str, Any], which: str, where: str, default: ServerOptions) -> ServerOptions | None:
    """Return the connection of WHICH_kubeconfig and WHICH_context; the latter alone uses the default
    kubeconfig.
    """
    kubeconfig, context = entry.get(f"{which}_kubeconfig"), entry.get(f"{which}_context")
    if not kubeconfig and not context:
        return None
    own = parse_connection({"kubeconfig": kubeconfig, "context": context}, where)
    return own if kubeconfig else replace(own, kubeconfig=default.kubeconfig)


def _mapping(entry: Mapping[str, Any], name: str, where: str) -> Mapping[str, Any]:
    given = entry.get(name) or {}
    if not isinstance(given, Mapping):
        raise ConfigurationError(f"{where}: {name} must be a mapping with namespace, name and key")
    return given


def _namespace(reference: Mapping[str, Any], control_plane: str | None, where: str) -> str:
    namespace = _optional(reference, "namespace", where) or control_plane
    if namespace is None:
        raise ConfigurationError(f"{where}: control_plane_namespace is missing")
    return namespace


def _optional(entry: Mapping[str, Any], name: str, where: str) -> str | None:
    return parse_name(entry[name], f"{where}: {name}") if _is_given(entry.get(name)) else None
