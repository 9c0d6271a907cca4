# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``python -m …extensions.eda.watching.custom_resources``: starts runs of the Ansible Operator.

It is the second container of the controller's pod. The operator sees only its custom resources. This program
watches the Secrets that they name as sources, without their content, and writes an annotation on a custom resource
whose source changed, or whose status asks for another attempt by now. The operator then runs its playbook.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.batches import Batches
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.clusters import parse_clusters
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.fleet import Fleet
from ansible_collections.hyperfleet.pull_secret.extensions.eda.watching.settings import (
    SecretWatchSettings,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.client import (
    KubernetesClient,
    KubernetesClients,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.clients.kubernetes.errors import (
    Overtaken,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.errors import PullSecretError
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.kubernetes_time import (
    epoch_seconds,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.managed_object import (
    GROUP,
    RESOURCES,
    ManagedObject,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.model.naming import allows
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.retry import (
    Deadline,
    RetryPolicy,
)
from ansible_collections.hyperfleet.pull_secret.plugins.module_utils.runtime.run_settings import RunSettings

__all__ = ["Sources", "sources_of"]

LOGGER = logging.getLogger("hyperfleet.pull_secret.custom_resources")
CHANGED, ATTEMPT = f"{GROUP}/source-changed", f"{GROUP}/attempt"
# Seconds between two lists of the custom resources. A new one starts a run by itself.
_LIST_SECONDS = 5.0
_CALL_SECONDS = 30.0
# Seconds in which changes are collected: a change should start a run within 5 s.
_DELAY_SECONDS = 0.5


def sources_of(spec: Any) -> Iterator[tuple[str, str]]:
    """Yield namespace and name of every Secret that a spec names as a source, if there can be one."""
    if isinstance(spec, Mapping):
        secret = spec.get("kubernetes")
        if isinstance(secret, Mapping):
            namespace, name = str(secret.get("namespace")), str(secret.get("name"))
            if allows("namespace", namespace) and allows("name", name):
                yield namespace, name
        for value in spec.values():
            yield from sources_of(value)
    elif isinstance(spec, list):
        for value in spec:
            yield from sources_of(value)


class Sources:
    """Watches the sources of all custom resources."""

    def __init__(self, client: KubernetesClient) -> None:
        self._client = client
        self._items: dict[str, ManagedObject] = {}
        # Of each custom resource: the versions of its sources, and the annotations that are still to be written.
        # The first versions of many sources come in parts, and are taken together.
        self._versions: dict[str, dict[tuple[str, str], str]] = {}
        self._settled: set[str] = set()
        self._pending: dict[tuple[str, str], str] = {}
        self._attempted: dict[str, str] = {}

    async def put(self, event: dict[str, Any]) -> None:
        """Annotate the custom resources whose sources changed; called by the watches with their events."""
        for change in event["kubernetes_secret"].get("changes") or ():
            key, secret = change["cluster_id"], (change["namespace"], change["name"])
            self._versions.setdefault(key, {})[secret] = change["resourceVersion"]
            if key in self._settled:
                self._note(key)
        await self._annotate()

    async def run(self) -> None:
        """Never returns; cancel it."""
        batches = Batches(self, _DELAY_SECONDS, 500, lambda: False)
        fleet = Fleet(SecretWatchSettings([], resync=0), batches)
        tasks = [asyncio.create_task(batches.run()), asyncio.create_task(fleet.run())]
        followed: list[dict[str, Any]] = []
        try:
            while True:
                try:
                    self._items = await asyncio.to_thread(self._listed)
                    entries = self._entries()
                    if entries != followed:
                        followed = entries
                        fleet.follow(parse_clusters(followed, SecretWatchSettings([]).default))
                    for key in self._versions.keys() - self._settled:
                        self._settled.add(key)
                        self._note(key)
                    self._attempt(time.time())
                    await self._annotate()
                except PullSecretError as error:
                    LOGGER.error("the custom resources cannot be listed: %s", error)
                done, _pending = await asyncio.wait(tasks, timeout=_LIST_SECONDS)
                for task in done:
                    # Neither ends, but with an error. Then the pod's container starts again.
                    task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _listed(self) -> dict[str, ManagedObject]:
        deadline = Deadline(_CALL_SECONDS)
        items = {}
        for kind, resource in RESOURCES.items():
            for content in self._client.list_all(resource, "", deadline):
                item = ManagedObject.of({"kind": kind, **content})
                items[f"{kind}:{item.namespace}:{item.name}"] = item
        return items

    def _entries(self) -> list[dict[str, Any]]:
        return [
            {
                "cluster_id": key,
                "watches": [{"namespace": namespace, "name": name} for namespace, name in secrets],
            }
            for key, item in self._items.items()
            if (secrets := sorted(set(sources_of(item.spec))))
        ]

    def _note(self, key: str) -> None:
        versions = str(sorted(self._versions[key].items()))
        self._pending[key, CHANGED] = hashlib.sha256(versions.encode()).hexdigest()[:16]

    def _attempt(self, now: float) -> None:
        for key, item in self._items.items():
            moment = str(item.status.get("nextAttempt") or "")
            if moment and epoch_seconds(moment) <= now and self._attempted.get(key) != moment:
                self._attempted[key] = moment
                self._pending[key, ATTEMPT] = moment

    async def _annotate(self) -> None:
        """Write the annotations; what cannot be written is tried again after the next list."""
        for (key, annotation), value in list(self._pending.items()):
            item = self._items.get(key)
            if item is not None and not await self._is_written(item, annotation, value):
                continue
            # It may have another value by now.
            if self._pending.get((key, annotation)) == value:
                del self._pending[key, annotation]

    async def _is_written(self, item: ManagedObject, annotation: str, value: str) -> bool:
        body = {"metadata": {"annotations": {annotation: value}}}
        kind, deadline = RESOURCES[item.kind], Deadline(_CALL_SECONDS)
        try:
            await asyncio.to_thread(self._client.patch, item.namespace, kind, item.name, body, deadline)
        except Overtaken:
            # It is gone.
            return True
        except PullSecretError as error:
            LOGGER.error("%s cannot be annotated: %s", item, error)
            return False
        LOGGER.info("%s: %s is %s", item, annotation, value)
        return True


def main() -> None:
    """Run until the pod ends."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    options = {"timeout": _CALL_SECONDS, "api_timeout": _CALL_SECONDS, "concurrency": 4}
    settings = RunSettings.from_options(options, threading.Event(), {}, RetryPolicy())
    client = KubernetesClients(settings).get(Deadline(_CALL_SECONDS))
    asyncio.run(Sources(client).run())


if __name__ == "__main__":
    main()
