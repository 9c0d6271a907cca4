# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The second step, as ``k8s_pull_secret`` does it: one Secret in a management cluster per target."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping
from typing import Any

from ...dockerconfig import digest
from ...model.cluster import specs_of
from ...model.errors import ConfigurationError, NotFound, ValueDisabled, WrongOption
from ...model.limits import Limits
from ...model.naming import (
    KUBERNETES_ANNOTATIONS,
    KUBERNETES_NAME,
    check_labels_not_kept,
    check_name,
    check_not_kept,
    key_called,
    kubernetes_labels,
    kubernetes_secret_address,
    kubernetes_secret_name,
    shown_name,
    texts,
)
from ...model.shown import shown
from ...model.stored_version import StoredVersion
from ...places.kubernetes_secret.content import ContentChoice, SecretContent
from ...places.kubernetes_secret.target import KubernetesTarget, docker_config_value
from ...places.kubernetes_secret.writer import KubernetesWriter
from ...places.reader import Document, check_references
from ...places.sources import is_address, store_read_by, stores
from ...places.writing import parse_any
from ..options import document_options, with_defaults
from ..run import Run, StoreConnections, Work
from ..targets import Wanted, described

__all__ = ["PHASE", "build_target", "full_place", "place", "targets_of"]

PHASE = "k8s-secret"
"""The name of this step in the log and the result."""

# The API server's own rules, such as those for names.
_MAX_ANNOTATIONS = 256 * 1024
_LARGEST_NUMBER = 10**18 - 1
_VERSION = re.compile(r"/versions/[a-z0-9-]{1,63}\Z")
_WORD = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?\Z")
_ENDS = "with a letter or digit at both ends"
_LIMITS = Limits({**specs_of("place"), **document_options()})


def targets_of(options: Iterable[Mapping[str, Any]]) -> list[Wanted[KubernetesTarget]]:
    """Return the targets for these options.

    :raises ConfigurationError: two are the same Secret.
    """
    return described(map(with_defaults, options), build_target, full_place)


def place(
    options: Iterable[Mapping[str, Any]],
    params: Mapping[str, Any],
    *,
    check_mode: bool,
    diff: bool = False,
    stop: threading.Event | None = None,
    connections: StoreConnections | None = None,
) -> dict[str, Any]:
    """Handle every target, and return the result of ``k8s_pull_secret``.

    :param options: each target's; :func:`..steps.to_place` makes them from a cluster.
    :param params: how to connect, as ``run_options`` has it.
    :raises ConfigurationError: two targets are the same Secret.
    """
    shared = Run(params, PHASE, check_mode=check_mode, diff=diff, stop=stop, connections=connections)
    targets = targets_of(options)
    writer = KubernetesWriter(shared.settings, shared.kubernetes, dry_run=check_mode)

    def work(target: KubernetesTarget, current: Work) -> None:
        if current.options["state"] == "absent":
            writer.delete(target, current.outcome, current.deadline)
        else:
            _put(shared, writer, target, current)

    writer.prepare(shared.prepare(targets))
    return shared.over(targets, _place, work)


def _put(shared: Run, writer: KubernetesWriter, target: KubernetesTarget, current: Work) -> None:
    """Write the docker config, unless the Secret holds a newer version of the same stored secret."""
    source, outcome = current.options.get("source"), current.outcome
    read: dict[StoredVersion | None, Document] = {}

    def content(document: Document) -> SecretContent:
        read[document.version] = document
        return SecretContent(document.config, document.version)

    def newer(version: StoredVersion) -> SecretContent | None:
        # The option ``strict`` is about the version that the task names.
        options = {**current.options, "strict": False, "source": _pinned(source or {}, version)}
        try:
            return content(current.note(shared.documents.read(options, current.deadline, current.seen)))
        except (NotFound, ValueDisabled):
            return None

    def wanted(secret: Mapping[str, Any] | None) -> SecretContent:
        if version in read:
            return content(read[version])
        document = _document_in(secret, current, shared.digest_key)
        if document is None:
            document = shared.documents.read(current.options, current.deadline, current.seen)
        return content(current.note(document))

    version = _version_of(source)
    if version is None:
        version = wanted(None).version
    # A numbered version is read only if the Secret holds neither it nor a newer one, which another run may have
    # added when it disabled this one.
    choice = ContentChoice(version, wanted, newer)
    chosen = writer.put(target, choice, outcome, current.deadline, current.seen)
    outcome.provenance = read[chosen.version].provenance
    warning = choice.warning(chosen)
    if warning is not None:
        outcome.warnings.append(warning)


def _document_in(secret: Mapping[str, Any] | None, current: Work, digest_key: bytes) -> Document | None:
    """Return what the Secret holds if it has the digest of the source, which then need not be read.

    A digest that was made with another key differs.
    """
    options = current.options
    if not secret or not options.get("source_digest") or any(map(options.get, ("drop", "policy", "strict"))):
        return None
    kind, data = store_read_by(options["source"]), docker_config_value(secret)
    config = parse_any(data)
    # If the bytes differ, only the source says what was repaired.
    if config is None or kind is None or data is None or data != config.canonical():
        return None
    if digest(config, digest_key) != options["source_digest"]:
        return None
    current.seen.append(data)
    registries = dict.fromkeys(config.registries, kind.NAME)
    return Document(config, registries, (), list(map(str, config.warnings)), _version_of(options["source"]))


def _pinned(source: Mapping[str, Any], version: StoredVersion) -> dict[str, Any]:
    """Return the source with another version of its secret."""
    kind = store_read_by(source)
    return (
        {**source, kind.NAME: {**source[kind.NAME], "version": str(version.number)}} if kind else {**source}
    )


def full_place(target: KubernetesTarget) -> str:
    """Return the full name of a target's Secret, including the cluster."""
    cluster = ":".join(part for part in (target.kubeconfig, target.context) if part)
    return f"{cluster}{':' if cluster else ''}{kubernetes_secret_address(target.namespace, target.name)}"


def _place(wanted: Wanted[KubernetesTarget]) -> str:
    target = wanted.options
    context = f"{shown(target['context'])}:" if target.get("context") else ""
    try:
        name = _name(target)
    except ConfigurationError:
        name = "?"
    namespace = shown_name("namespace", target.get("namespace"))
    return f"{context}{kubernetes_secret_address(namespace, name)}"


def _name(wanted: Mapping[str, Any]) -> str:
    name = wanted.get("name") or (
        kubernetes_secret_name(wanted["cluster_id"]) if wanted.get("cluster_id") else None
    )
    if not name:
        raise ConfigurationError("name or cluster_id is required")
    return check_name("name", name)


def build_target(wanted: Mapping[str, Any]) -> KubernetesTarget:
    """Return the target that the options describe.

    :raises WrongOption: the first option that breaks a rule.
    :raises ConfigurationError: a problem of several options, or of a reference.
    """
    _LIMITS.check(wanted)
    namespace = wanted.get("namespace")
    if not namespace:
        raise WrongOption("namespace", "is missing")
    check_name("namespace", namespace)
    name = _name(wanted)
    for index, account in enumerate(wanted.get("service_accounts") or ()):
        check_name("name", account, f"service_accounts[{index}]")
    path = wanted.get("gcp_secret_path")
    if path and not is_address(_VERSION.sub("", path)):
        addresses = " or ".join(kind.ADDRESS for kind in stores())
        raise WrongOption("gcp_secret_path", f"must be {addresses}, with or without /versions/V")
    if wanted["state"] == "present" and not (wanted.get("source") or wanted.get("layers")):
        raise ConfigurationError("source or layers is required")
    if wanted["state"] == "present":
        check_references(wanted)
    labels = texts("labels", wanted.get("labels"))
    annotations = texts("annotations", wanted.get("annotations"))
    check_labels_not_kept(labels, kubernetes_labels(wanted.get("cluster_id"), wanted.get("cluster_name")))
    check_not_kept(annotations, KUBERNETES_ANNOTATIONS)
    _check_metadata(labels, annotations)
    target = KubernetesTarget(
        id=str(wanted.get("id") or wanted.get("cluster_id") or name),
        namespace=namespace,
        name=name,
        cluster_id=wanted.get("cluster_id"),
        cluster_name=wanted.get("cluster_name"),
        gcp_secret_path=wanted.get("gcp_secret_path") or _path_of(wanted.get("source")),
        labels=labels,
        annotations=annotations,
        adopt=bool(wanted.get("adopt")),
        immutable=wanted.get("immutable"),
        service_accounts=tuple(wanted.get("service_accounts") or ()),
        context=wanted.get("context"),
        kubeconfig=wanted.get("kubeconfig"),
        waits_for_namespace=bool(wanted.get("wait_for_namespace")),
    )
    annotated = target.new_annotations(_longest_version(wanted.get("source")))
    size = sum(len(key.encode()) + len(value.encode()) for key, value in annotated.items())
    if annotations and size > _MAX_ANNOTATIONS:
        raise WrongOption(
            "annotations",
            f"must have at most {_MAX_ANNOTATIONS} bytes, "
            "keys and values together, including those of this collection",
        )
    return target


def _check_metadata(labels: Mapping[str, str], annotations: Mapping[str, str]) -> None:
    """Check Kubernetes' own rules for keys and for label values."""
    keys = [*(("label", *pair) for pair in enumerate(labels))]
    keys += [*(("annotation", *pair) for pair in enumerate(annotations))]
    for kind, position, key in keys:
        if not _is_key(key.lower() if kind == "annotation" else key):
            raise ConfigurationError(
                f"{kind} {position + 1}: a key must be at most 63 letters, digits, dashes, underscores and dots, "
                f"{_ENDS}; a domain and a slash may precede it (example.com/name)"
            )
    for position, (key, value) in enumerate(labels.items()):
        if value and not _WORD.match(value):
            called = key_called("label", key, position)
            raise ConfigurationError(
                f"{called}: its value must be at most 63 letters, digits, dashes, underscores and dots, {_ENDS}"
            )


def _is_key(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    return bool(_WORD.match(name)) and (not slash or bool(KUBERNETES_NAME.match(prefix)))


def _path_of(source: Mapping[str, Any] | None) -> str | None:
    """Return the annotation's value. It ends in ``latest`` whichever version was read: it says where to look
    again.
    """
    secret = _stored_in(source)
    return f"{secret}/versions/latest" if secret else None


def _version_of(source: Mapping[str, Any] | None) -> StoredVersion | None:
    """Return the number of the version that the source names."""
    kind = store_read_by(source)
    if kind is None or source is None:
        return None
    return StoredVersion.parse(f"{_stored_in(source)}/versions/{source[kind.NAME].get('version')}")


def _longest_version(source: Mapping[str, Any] | None) -> StoredVersion | None:
    """Return the longest version name that the source can be read from."""
    secret = _stored_in(source)
    return StoredVersion(secret, _LARGEST_NUMBER) if secret else None


def _stored_in(source: Mapping[str, Any] | None) -> str | None:
    """Return the address of the stored secret that is read, or None for another source."""
    kind = store_read_by(source)
    return kind.address((source or {})[kind.NAME]) if kind else None
