# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Google Secret Manager as a store: ``gcp: {project, secret, version}``, and the rules of its targets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from ...clients.google.client import SecretManagerClients, version_number
from ...clients.google.errors import FailedPrecondition
from ...model.errors import ConfigurationError, NotFound, WrongOption
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
from ...model.stored_version import StoredVersion
from ...runtime.retry import Deadline
from ...runtime.run_settings import RunSettings
from ..base import ReadValue
from ..secret_store import SecretStore
from .access import access_enabled
from .claim import KEPT
from .inspector import SecretManagerInspector
from .metadata_rules import check_annotations, check_key, check_labels
from .retention import Retention
from .target import SecretManagerTarget
from .writer import SecretManagerWriter

__all__ = ["SecretManagerStore"]

_ADDRESS = re.compile(r"projects/([^/]+)/secrets/([^/]+)\Z")
_VERSION = re.compile(r"[1-9][0-9]*\Z")


class SecretManagerStore(SecretStore[SecretManagerTarget]):
    """A version of a secret; ``latest`` means the newest *enabled* one, as a consumer needs it."""

    NAME: ClassVar[str] = "gcp"
    SPEC: ClassVar[dict[str, Any]] = {
        "type": "dict",
        "options": {
            "project": {"type": "str", "required": True},
            "secret": {"type": "str", "required": True, "no_log": False},
            "version": {"type": "str", "default": "latest"},
            "impersonate_service_account": {"type": "str"},
        },
    }
    RULES: ClassVar[tuple[str, ...]] = ("project", "secret", "version")
    CONNECTION: ClassVar[dict[str, Any] | None] = {
        "type": "dict",
        "options": {
            "transport": {"type": "str", "choices": ["grpc", "rest"], "default": "grpc"},
            "endpoint": {"type": "str"},
            "credentials_file": {"type": "path"},
            "impersonate_service_account": {"type": "str"},
        },
    }
    PHASE: ClassVar[str] = "gcp-secret-manager"
    ADDRESS: ClassVar[str] = "projects/P/secrets/S"

    def __init__(self, settings: RunSettings) -> None:
        super().__init__(settings)
        self._clients = SecretManagerClients(settings)

    @classmethod
    def address(cls, options: Mapping[str, Any]) -> str:
        """The full resource name."""
        return f"projects/{options.get('project')}/secrets/{options.get('secret')}"

    @classmethod
    def parse_address(cls, text: str) -> dict[str, str] | None:
        """``project`` and ``secret``."""
        match = _ADDRESS.match(text)
        return {"project": match[1], "secret": match[2]} if match else None

    @classmethod
    def check_address(cls, options: Mapping[str, Any]) -> None:
        """Check for a project, and a secret or the cluster's id."""
        if not options.get("project"):
            raise WrongOption("project", "is missing")
        check_name("project", options["project"])
        check_name("secret", _secret(options))

    @classmethod
    def target(cls, options: Mapping[str, Any]) -> SecretManagerTarget:
        """Return the wanted secret."""
        project, cluster_id = options["project"], options.get("cluster_id")
        secret = _secret(options)
        if not _VERSION.match(options.get("restore_version") or "1"):
            raise WrongOption("restore_version", "must be the number of a version, such as 3")
        labels = texts("labels", options.get("labels"))
        annotations = texts("annotations", options.get("annotations"))
        ours = gcp_labels(cluster_id, options.get("cluster_name"))
        check_labels_not_kept(labels, ours)
        check_labels({**labels, **ours})
        check_not_kept(annotations, KEPT)
        check_annotations(annotations)
        return SecretManagerTarget(
            id=str(options.get("id") or cluster_id or secret),
            project=project,
            secret=secret,
            cluster_id=cluster_id,
            cluster_name=options.get("cluster_name"),
            labels=labels,
            annotations=annotations,
            replication=_replication(options),
            adopt=bool(options.get("adopt")),
            retention=_retention(options.get("retention")),
            impersonate=options.get("impersonate_service_account"),
        )

    def writer(self, *, dry_run: bool) -> SecretManagerWriter:
        """Return the writer, which uses claims."""
        return SecretManagerWriter(self.settings, self._clients, dry_run=dry_run)

    def inspector(self) -> SecretManagerInspector:
        """What looks at metadata and versions."""
        return SecretManagerInspector(self.settings, self._clients)

    def get(self, reference: Any, deadline: Deadline) -> ReadValue:
        """Return the payload, with its checksum verified, and the number of its version."""
        client = self._clients.get(deadline, reference.get("impersonate_service_account"))
        secret = self.address(reference)
        version = reference.get("version") or "latest"
        if version != "latest":
            name = f"{secret}/versions/{version}"
            return ReadValue(access_enabled(client, name, deadline), StoredVersion.parse(name))
        try:
            latest = client.access_latest(secret, deadline)
        except FailedPrecondition:
            # The newest version is disabled or destroyed: an older one may be in use.
            newest = client.newest_version(secret, deadline)
            if newest is not None:
                version = version_number(newest.name)
                data = client.access(f"{secret}/versions/{version}", deadline)
                return ReadValue(data, StoredVersion(secret, int(version)))
        else:
            if latest is not None:
                return ReadValue(latest[1], StoredVersion(secret, int(latest[0])))
        raise NotFound(
            f"{secret} does not exist or has no enabled version",
            "check the project and the secret, or add or enable a version",
        )

    def describe(self, reference: Any) -> str:
        """``gcp:projects/P/secrets/S/versions/V``."""
        return f"gcp:{self.address(reference)}/versions/{reference.get('version') or 'latest'}"


def _secret(options: Mapping[str, Any]) -> str:
    cluster_id = options.get("cluster_id")
    secret = options.get("secret") or (gcp_secret_id(cluster_id) if cluster_id else None)
    if not secret:
        raise ConfigurationError("secret or cluster_id is required")
    return str(secret)


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
        raise WrongOption("location_kms_keys", "must have a key for every location, or be left out")
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
