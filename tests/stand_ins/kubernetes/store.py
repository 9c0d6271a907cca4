# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The objects: versioned, serialised once per write, with a history that WATCH reads.

Stored objects are never changed in place, so a LIST, a page of it or a watch event may keep one for as
long as it likes.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from tests.stand_ins.kubernetes.resources import RESOURCES, Resource
from tests.stand_ins.kubernetes.status import ApiError, already_exists, not_found

Object = dict[str, Any]

# Versions start here, so that the version 1 is always too old for a watch, as in a real cluster.
FIRST_VERSION = 200
HISTORY = 20_000
NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


class Entry(NamedTuple):
    """A stored object and its JSON without the opening brace.

    With ``{`` in front the JSON is an item of a list, with ``{"kind":…,"apiVersion":…,`` a single object.
    """

    obj: Object
    tail: bytes


class Event(NamedTuple):
    """One change: ``old`` is the entry before it (None when it was created).

    Of the type ERROR it is no change: ``new`` is the ``Status`` with which a watch ends.
    """

    version: int
    type: str
    plural: str
    namespace: str
    new: Entry
    old: Entry | None


def entry_of(obj: Object) -> Entry:
    return Entry(obj, json.dumps(obj, separators=(",", ":"), ensure_ascii=False).encode()[1:])


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Store:
    """All objects of one stand-in. The server holds ``lock`` for each request; so does any other thread."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.watchers: list[Callable[[Event], None]] = []
        # What server-side apply wrote last: plural, namespace and name to the uid and the manifest.
        self.applied: dict[tuple[str, str, str], tuple[str, Object]] = {}
        self.reset()

    def reset(self) -> None:
        """Forget everything and make the namespaces a new cluster has."""
        with self.lock:
            self.version = getattr(self, "version", FIRST_VERSION) + 1
            self.oldest = self.version
            self.history: deque[Event] = deque(maxlen=HISTORY)
            self._objects: dict[str, dict[str, dict[str, Entry]]] = {name: {} for name in RESOURCES}
            for namespace in NAMESPACES:
                self.create_namespace(namespace)

    def compact(self, *, open_watches: bool = False) -> None:
        """Forget the history: a watch from an older version gets 410, with ``open_watches`` each open one too."""
        with self.lock:
            self.history.clear()
            self.oldest = self.version
            if open_watches:
                self._tell(self.too_old(self.version))

    def too_old(self, version: int) -> Event:
        """How a watch from a forgotten version ends."""
        status = ApiError(410, f"too old resource version: {version} ({self.version})").body()
        return Event(self.version, "ERROR", "", "", entry_of(json.loads(status)), None)

    def get(self, resource: Resource, namespace: str, name: str) -> Entry:
        try:
            return self._objects[resource.plural][namespace][name]
        except KeyError:
            raise not_found(resource.qualified, name) from None

    def find(self, plural: str, namespace: str, name: str) -> Object | None:
        """Return the object (do not change it) or None."""
        entry = self._objects[plural].get(namespace, {}).get(name)
        return entry.obj if entry else None

    def entries(self, resource: Resource, namespace: str | None) -> Iterator[Entry]:
        """Yield in the order of namespace and name; ``namespace=None`` means all."""
        by_namespace = self._objects[resource.plural]
        for space in sorted(by_namespace) if namespace is None else [namespace]:
            inside = by_namespace.get(space, {})
            for name in sorted(inside):
                yield inside[name]

    def create_namespace(self, name: str) -> Entry:
        """Make a namespace; the caller has checked it."""
        return self.create(
            RESOURCES["namespaces"],
            {
                "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
                "spec": {"finalizers": ["kubernetes"]},
                "status": {"phase": "Active"},
            },
        )

    def create(self, resource: Resource, obj: Object, *, dry_run: bool = False) -> Entry:
        """Store a new object (409 when there is one); a namespace gets its service account."""
        metadata = dict(obj["metadata"])
        namespace, name = metadata.get("namespace", ""), metadata["name"]
        if name in self._objects[resource.plural].get(namespace, {}):
            raise already_exists(resource.qualified, name)
        # A Job's selector has it already.
        metadata["uid"] = metadata.get("uid") or str(uuid.uuid4())
        metadata["creationTimestamp"] = now()
        stored = {**obj, "metadata": metadata}
        if dry_run:
            return entry_of(stored)
        entry = self._put(resource, namespace, name, stored, "ADDED")
        if resource.plural == "namespaces":
            # In a real cluster the controller manager does this a moment later.
            account = {"metadata": {"name": "default", "namespace": name}}
            self.create(RESOURCES["serviceaccounts"], account)
        return entry

    def replace(self, resource: Resource, obj: Object) -> Entry:
        """Store a new state of an object that is there."""
        metadata = obj["metadata"]
        return self._put(resource, metadata.get("namespace", ""), metadata["name"], obj, "MODIFIED")

    def remove(self, resource: Resource, namespace: str, name: str) -> Entry:
        """Remove an object; a namespace takes everything in it along."""
        old = self.get(resource, namespace, name)
        if resource.plural == "namespaces":
            self.empty_namespace(name)
        del self._objects[resource.plural][namespace][name]
        if not self._objects[resource.plural][namespace]:
            del self._objects[resource.plural][namespace]
        self.version += 1
        last = entry_of(self._versioned(old.obj))
        self._announce(Event(self.version, "DELETED", resource.plural, namespace, last, old))
        return old

    def empty_namespace(self, namespace: str) -> None:
        for resource in RESOURCES.values():
            if resource.namespaced:
                for entry in list(self.entries(resource, namespace)):
                    self.remove(resource, namespace, entry.obj["metadata"]["name"])

    def _versioned(self, obj: Object) -> Object:
        return {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.version)}}

    def _put(self, resource: Resource, namespace: str, name: str, obj: Object, change: str) -> Entry:
        inside = self._objects[resource.plural].setdefault(namespace, {})
        old = inside.get(name)
        self.version += 1
        entry = entry_of(self._versioned(obj))
        inside[name] = entry
        self._announce(Event(self.version, change, resource.plural, namespace, entry, old))
        return entry

    def _announce(self, event: Event) -> None:
        if len(self.history) == HISTORY:
            self.oldest = self.history[0].version
        self.history.append(event)
        self._tell(event)

    def _tell(self, event: Event) -> None:
        for watcher in list(self.watchers):
            watcher(event)
