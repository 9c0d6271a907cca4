# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A secret store in memory with versions; ``test_new_store`` copies this file into ``places/``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.dockerconfig import DockerConfig, load
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import (
    NotFound,
    ValueDisabled,
    WrongOption,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.naming import check_name
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.outcome import Outcome
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.ownership import foreign
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.stored_version import StoredVersion
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.base import ReadValue
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.places.secret_store import (
    SecretStore,
    StoreInspector,
    StoreWriter,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import Deadline


@dataclass(frozen=True)
class MadeUpTarget:
    id: str
    name: str
    cluster_id: str | None
    adopt: bool


@dataclass
class Held:
    """A secret; ``values`` has its versions from 1, None where one is disabled."""

    labels: dict[str, str]
    values: list[bytes | None] = field(default_factory=list)


SHELVES: dict[str, dict[str, Held]] = {}


class MadeUpWriter(StoreWriter[MadeUpTarget]):
    def __init__(self, shelf: dict[str, Held], *, dry_run: bool) -> None:
        self._shelf = shelf
        self._dry_run = dry_run

    def put(self, target: MadeUpTarget, config: DockerConfig, outcome: Outcome, deadline: Deadline) -> None:
        held = self._owned(target, delete=False)
        outcome.after = config
        values = held.values if held is not None else []
        newest = next((value for value in reversed(values) if value is not None), None)
        outcome.before = load(newest) if newest is not None else None
        if outcome.before is not None and outcome.before.same_meaning(config):
            outcome.version = str(len(values))
            return
        outcome.did("version added")
        if self._dry_run:
            return
        labels = {"managed-by": "hyperfleet", "cluster-id": str(target.cluster_id)}
        held = self._shelf.setdefault(target.name, Held(labels))
        held.values.append(config.canonical())
        outcome.version = str(len(held.values))
        outcome.settle()

    def restore(
        self, target: MadeUpTarget, version: str, outcome: Outcome, deadline: Deadline, seen: list[bytes]
    ) -> None:
        value = self._shelf[target.name].values[int(version) - 1]
        assert value is not None
        seen.append(value)
        config = load(value)
        outcome.provenance = dict.fromkeys(config.registries, f"version {version}")
        self.put(target, config, outcome, deadline)

    def delete(self, target: MadeUpTarget, outcome: Outcome, deadline: Deadline) -> None:
        if self._owned(target, delete=True) is not None:
            outcome.did("deleted")
            if not self._dry_run:
                del self._shelf[target.name]

    def _owned(self, target: MadeUpTarget, *, delete: bool) -> Held | None:
        held = self._shelf.get(target.name)
        if held is not None:
            refusal = foreign(held.labels, target.cluster_id, target.name, adopt=target.adopt, delete=delete)
            if refusal is not None:
                raise refusal
        return held


class MadeUpStore(SecretStore[MadeUpTarget]):
    NAME: ClassVar[str] = "made_up"
    SPEC: ClassVar[dict[str, Any]] = {
        "type": "dict",
        "options": {
            "secret": {"type": "str", "required": True, "no_log": False},
            "version": {"type": "str", "default": "latest"},
        },
    }
    RULES: ClassVar[tuple[str, ...]] = ("secret", "version")
    CONNECTION: ClassVar[dict[str, Any] | None] = {"type": "dict", "options": {"shelf": {"type": "str"}}}
    PHASE: ClassVar[str] = "made-up-store"
    ADDRESS: ClassVar[str] = "made-up:S"

    @classmethod
    def address(cls, options: Mapping[str, Any]) -> str:
        return f"made-up:{options.get('secret') or options.get('cluster_id')}"

    @classmethod
    def parse_address(cls, text: str) -> dict[str, str] | None:
        kind, _colon, secret = text.partition(":")
        return {"secret": secret} if kind == "made-up" else None

    @classmethod
    def check_address(cls, options: Mapping[str, Any]) -> None:
        check_name("secret", str(options.get("secret") or options.get("cluster_id") or ""))

    @classmethod
    def target(cls, options: Mapping[str, Any]) -> MadeUpTarget:
        if options.get("retention"):
            raise WrongOption("retention", "is nothing that this store knows")
        name = cls.address(options)
        return MadeUpTarget(
            str(options.get("id") or name), name, options.get("cluster_id"), bool(options.get("adopt"))
        )

    def writer(self, *, dry_run: bool) -> MadeUpWriter:
        return MadeUpWriter(self._shelf(), dry_run=dry_run)

    def inspector(self) -> StoreInspector[MadeUpTarget]:
        raise NotImplementedError

    def get(self, reference: Any, deadline: Deadline) -> ReadValue:
        name = self.address(reference)
        held = self._shelf().get(name)
        if held is None:
            raise NotFound(f"{name} does not exist")
        version = reference.get("version") or "latest"
        number = len(held.values) if version == "latest" else int(version)
        value = held.values[number - 1]
        if value is None:
            raise ValueDisabled(f"{name}/versions/{number} is disabled")
        return ReadValue(value, StoredVersion(name, number))

    def describe(self, reference: Any) -> str:
        return f"{self.address(reference)}/versions/{reference.get('version') or 'latest'}"

    def _shelf(self) -> dict[str, Held]:
        return SHELVES.setdefault(str(self.settings.connection(self.NAME).get("shelf")), {})
