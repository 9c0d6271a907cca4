# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Looks at many clusters' secrets in both places: the work of ``pull_secret_info``."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ...dockerconfig import DockerConfig, DockerConfigError, load
from ...model.errors import ConfigurationError, NotFound, PullSecretError, ValueDisabled
from ...model.naming import STORED_VERSION, kubernetes_secret_address, owner_problem
from ...model.shown import shown_sentence
from ...model.stored_version import StoredVersion
from ...places.kubernetes_secret.listing import KubernetesSecretListing
from ...places.kubernetes_secret.target import KubernetesTarget, docker_config_value, has_last_applied
from ...places.reader import check_references
from ...places.secret_store import SecretStore, StoreInspector, StoreTarget
from ...places.sources import cluster_store, version_reference
from ...runtime.batch import Failure
from ..options import with_defaults
from ..provision import place, store
from ..run import Run, Work, key_of_digests
from ..targets import Wanted, described
from .comparison import PLACED, SOURCE, STORED, ClusterFindings, FoundPlaced, FoundStored
from .pacing import Pace
from .unlisted import Unlisted

__all__ = ["DIGESTS", "InspectedTarget", "build_target", "inspect_clusters", "targets_of"]

DIGESTS = ("newest", "all", "none")
_PHASE = "inspect"
# Of every module's result, what says nothing about a target that nothing is done to.
_OF_WRITERS = ("actions", "registries", "operations")


@dataclass(frozen=True)
class InspectedTarget:
    """One cluster: its secret in the store, and its Secret in the management cluster."""

    stored: StoreTarget
    placed: KubernetesTarget


def build_target(wanted: Mapping[str, Any]) -> InspectedTarget:
    """What a target's options describe.

    :raises ConfigurationError: they describe none; also what ``problem`` says.
    """
    if wanted.get("problem"):
        raise ConfigurationError(shown_sentence(str(wanted["problem"])))
    if wanted["state"] == "present":
        check_references(wanted)
    # Nothing is written, so nothing has to be there to be written.
    named = {**wanted, "state": "absent"}
    return InspectedTarget(store.build_target(named), place.build_target(named))


def targets_of(options: Iterable[Mapping[str, Any]]) -> list[Wanted[InspectedTarget]]:
    """The targets that have these options.

    :raises ConfigurationError: two have one secret in the store.
    """
    return described(map(with_defaults, options), build_target, lambda target: target.stored.name)


def inspect_clusters(
    options: Iterable[Mapping[str, Any]],
    params: Mapping[str, Any],
    *,
    check_mode: bool,
    diff: bool = False,
    stop: threading.Event | None = None,
) -> dict[str, Any]:
    """Look at every target; the result of ``pull_secret_info``.

    :param options: each target's; :func:`..provision.steps.to_inspect` makes them of a cluster.
    :param params: the module's own options, and how the places are reached.
    :raises ConfigurationError: two targets are one secret.
    """
    shared = Run(params, _PHASE, check_mode=check_mode, diff=diff, stop=stop)
    targets = targets_of(options)
    built = [wanted.built for wanted in targets if wanted.built is not None]
    inspection = _Inspection(shared, params, len(built))
    inspection.prepare(built, [wanted.options for wanted in targets if wanted.built and wanted.present])
    answer = shared.over(targets, _place, inspection.work)
    for entry in answer["targets"]:
        for name in _OF_WRITERS:
            entry.pop(name, None)
    if params.get("unlisted"):
        answer.update(inspection.unlisted.found(built, {wanted.id for wanted in targets if not wanted.built}))
        if answer["unlisted_failed"]:
            answer["failed"] = True
            answer["msg"] = "; ".join([*filter(None, [answer.get("msg")]), *answer["unlisted_failed"]])
    return answer


class _Inspection:
    """One run."""

    def __init__(self, shared: Run, params: Mapping[str, Any], count: int) -> None:
        self._shared = shared
        self._digests = params["digests"]
        self._compares = bool(params.get("compare_source"))
        self._key = key_of_digests(params.get("digest_key"))
        self._store: SecretStore[Any] = shared.sources.of(cluster_store())
        self._inspector: StoreInspector[Any] = self._store.inspector()
        self._listing = KubernetesSecretListing(shared.settings, shared.kubernetes)
        self._pace = Pace(count, shared.stop)
        self.unlisted = Unlisted(shared, params, self._inspector)

    def prepare(self, targets: list[InspectedTarget], present: list[Mapping[str, Any]]) -> None:
        self._inspector.prepare([target.stored for target in targets])
        self._listing.prepare([target.placed for target in targets])
        if self._compares:
            self._shared.documents.prepare(present)

    def work(self, target: InspectedTarget, current: Work) -> None:
        """Look at one cluster. A part that cannot be read fails the cluster and hides no other part."""
        is_wanted = current.options["state"] == "present"
        stored, placed, source = None, None, None
        failed: dict[str, Failure] = {}
        with _kept(failed, STORED, current):
            stored = self._stored(target.stored, current)
        with _kept(failed, PLACED, current):
            placed = self._placed(target.placed, current)
        with _kept(failed, SOURCE, current):
            source = self._source(current) if self._compares and is_wanted else None
        found = ClusterFindings(
            target.stored.name,
            kubernetes_secret_address(target.placed.namespace, target.placed.name),
            is_wanted,
            stored,
            placed,
            source,
            digests=self._digests != "none",
            failed=failed,
        )
        current.outcome.extra.update(found.entry(self._key))

    def _source(self, current: Work) -> DockerConfig:
        document = self._shared.documents.read(current.options, current.deadline, current.seen)
        current.outcome.warnings.extend(document.warnings)
        return document.config

    def _stored(self, target: StoreTarget, current: Work) -> FoundStored | None:
        secret = self._inspector.secret(target, current.deadline)
        if secret is None:
            return None
        self.unlisted.saw(secret.identity)
        problem = owner_problem(secret.labels, current.options.get("cluster_id"))
        self._pace.wait(current.deadline)
        found = FoundStored(secret, problem, self._inspector.versions(target, current.deadline))
        # What is somebody else's is not read.
        return found if problem is not None else self._with_configs(found, current)

    def _with_configs(self, found: FoundStored, current: Work) -> FoundStored:
        """The docker configs of the versions whose digests are wanted."""
        configs: dict[str, DockerConfig] = {}
        for version in found.versions if self._digests != "none" else ():
            if version.state != "enabled":
                continue
            _kind, reference = version_reference(found.secret.address, current.options, version.number)
            try:
                data = self._store.get(reference, current.deadline).data
            except (NotFound, ValueDisabled) as error:
                # The list of versions may be old, what a version answers is not.
                is_gone = isinstance(error, NotFound)
                found = found.with_state(version.number, "destroyed" if is_gone else "disabled")
                continue
            config = _parsed(data, current)
            if config is not None:
                configs[version.number] = config
            if self._digests == "newest":
                break
        return FoundStored(found.secret, found.problem, found.versions, configs)

    def _placed(self, target: KubernetesTarget, current: Work) -> FoundPlaced | None:
        secret = self._listing.secret(target)
        if secret is None:
            client = self._shared.kubernetes.get(current.deadline, target.context, target.kubeconfig)
            secret = client.get(target.namespace, "secrets", target.name, current.deadline)
        if secret is None:
            return None
        metadata = secret["metadata"]
        self.unlisted.saw(str(metadata.get("uid")))
        labels = metadata.get("labels") or {}
        problem = owner_problem(labels, target.cluster_id)
        data = docker_config_value(secret) if problem is None and self._digests != "none" else None
        return FoundPlaced(
            labels,
            problem,
            StoredVersion.parse((metadata.get("annotations") or {}).get(STORED_VERSION)),
            _parsed(data, current) if data is not None else None,
            bool(secret.get("immutable")),
            metadata.get("creationTimestamp"),
            has_last_applied(secret),
        )


@contextmanager
def _kept(failed: dict[str, Failure], part: str, current: Work) -> Iterator[None]:
    """Keep the error of reading a part, so that the other parts are read, too."""
    try:
        yield
    except PullSecretError as error:
        failed[part] = Failure(error.kind, current.mask().text(str(error)))


def _parsed(data: bytes, current: Work) -> DockerConfig | None:
    current.seen.append(data)
    try:
        return load(data, allow_empty=True)
    except DockerConfigError:
        return None


def _place(wanted: Wanted[Any]) -> str:
    # Nothing is stored, so the name does not depend on a source.
    return store.printable_place({**wanted.options, "state": "absent"})
