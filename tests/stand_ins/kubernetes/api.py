# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Requests to answers: discovery, access reviews, the reading verbs, and the hand-over to the writing ones."""

from __future__ import annotations

import asyncio
import contextlib
import json
import traceback
from collections.abc import AsyncIterator, Callable, Mapping

from tests.stand_ins.http_server import Request, Response
from tests.stand_ins.kubernetes import tables, writes
from tests.stand_ins.kubernetes.decoding import read_body
from tests.stand_ins.kubernetes.resources import Resource, discovery
from tests.stand_ins.kubernetes.routing import ADMIN, Target, authenticate, authorize, selected
from tests.stand_ins.kubernetes.status import ApiError, named
from tests.stand_ins.kubernetes.store import Entry, Event, Store

_ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_TEXT = "text/plain; charset=utf-8"
# Kinds whose DELETE answers with the object instead of a ``Status``.
_RETURNED = ("namespaces", "pods", "serviceaccounts")

# Turns a change into the line a watcher sees, or None when it sees nothing.
EventLine = Callable[[Event], bytes | None]


class Watch:
    """A stream: the first ``lines``, then those of the events, for ``seconds`` or until the client goes.

    Made in the server's thread with the store's lock held, so that it misses no event. ``close`` ends it.
    """

    def __init__(self, store: Store, seen: EventLine, lines: list[bytes], seconds: float | None) -> None:
        self._seen = seen
        self._lines = lines
        self._store = store
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[bytes] = asyncio.Queue()
        store.watchers.append(self._saw)

    def _saw(self, event: Event) -> None:
        line = self._seen(event)
        if line:
            # A test may write to the store from its thread.
            self._loop.call_soon_threadsafe(self._queue.put_nowait, line)
        if event.type == "ERROR":
            self._loop.call_soon_threadsafe(self._queue.put_nowait, b"")

    def close(self) -> None:
        with self._store.lock, contextlib.suppress(ValueError):
            self._store.watchers.remove(self._saw)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._seconds is not None:
            self._loop.call_later(self._seconds, self._queue.put_nowait, b"")
        try:
            for line in self._lines:
                yield line
            while line := await self._queue.get():
                yield line
        finally:
            self.close()


def failure(error: ApiError, headers: Mapping[str, str] | None = None) -> Response:
    return Response(error.code, error.body(), headers=headers or {})


def _prefix(resource: Resource) -> bytes:
    return b'{"kind":"%s","apiVersion":"%s",' % (resource.kind.encode(), resource.api_version.encode())


def _single(resource: Resource, entry: Entry, code: int = 200) -> Response:
    return Response(code, _prefix(resource) + entry.tail)


def _access_review(request: Request, user: str) -> Response:
    """Answer ``kubectl auth can-i``."""
    review = read_body(request, "SelfSubjectAccessReview")
    return Response(201, json.dumps({**review, "status": {"allowed": user == ADMIN}}).encode())


class Api:
    """The API of one store. ``handle`` is called with the store's lock held.

    :param tokens: bearer tokens and their users.
    """

    def __init__(self, store: Store, tokens: dict[str, str]) -> None:
        self._store = store
        self._tokens = tokens
        self._documents = discovery()

    def handle(self, request: Request, target: Target | None) -> Response:
        try:
            user = authenticate(request, self._tokens)
            if user and (request.method, request.path) == ("POST", _ACCESS_REVIEWS):
                return _access_review(request, user)
            if not user or target is None:
                return self._document(request)
            authorize(user, target)
            response = self._resource(request, target)
            if target.verb in ("get", "list") and tables.is_asked_for(request):
                response.body = tables.as_table(json.loads(response.body), request)
            return response
        except ApiError as error:
            return failure(error)
        except Exception as error:  # noqa: BLE001 - a bug of the stand-in must not look like a network fault
            traceback.print_exc()
            return failure(ApiError(500, f"the stand-in failed: {type(error).__name__}"))

    def _document(self, request: Request) -> Response:
        if request.path in ("/healthz", "/livez", "/readyz"):
            return Response(200, b"ok", _TEXT)
        if request.path in self._documents:
            return Response(200, self._documents[request.path])
        if any(request.path.startswith(f"{known}/") for known in self._documents if known != "/apis"):
            raise ApiError(404, "the server could not find the requested resource", details={})
        return Response(404, b"404 page not found\n", _TEXT)

    def _resource(self, request: Request, target: Target) -> Response:
        store, resource = self._store, target.resource
        match target.verb:
            case "get":
                return _single(resource, store.get(resource, target.space, target.name))
            case "list":
                return self._list(request, target)
            case "watch":
                return self._watch(request, target)
            case "create":
                return _single(resource, writes.create(store, target, request), 201)
            case "update":
                return _single(resource, writes.update(store, target, request))
            case "patch":
                return _single(resource, writes.patch(store, target, request))
            case "delete":
                return self._delete(request, target)
        raise ApiError(405, "the server does not allow this method on the requested resource", details={})

    def _delete(self, request: Request, target: Target) -> Response:
        resource = target.resource
        deleted = writes.delete(self._store, target, request)
        if not deleted.gone or resource.plural in _RETURNED:
            return _single(resource, deleted.entry)
        uid = deleted.entry.obj["metadata"]["uid"]
        status = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": {**named(resource.qualified, target.name), "uid": uid},
        }
        return Response(200, json.dumps(status, separators=(",", ":")).encode())

    def _chosen(self, request: Request, target: Target) -> list[Entry]:
        predicates = selected(request)
        namespace = target.namespace if target.resource.namespaced else None
        entries = self._store.entries(target.resource, namespace)
        return [entry for entry in entries if all(fits(entry.obj) for fits in predicates)]

    def _list(self, request: Request, target: Target) -> Response:
        """The whole list: a server may ignore ``limit``, and this one does."""
        kind, version = target.resource.kind, target.resource.api_version
        head = b'{"kind":"%sList","apiVersion":"%s","metadata":{"resourceVersion":"%d"},"items":[' % (
            kind.encode(),
            version.encode(),
            self._store.version,
        )
        items = [b"{" + entry.tail for entry in self._chosen(request, target)]
        return Response(200, head + b",".join(items) + b"]}")

    def _watch(self, request: Request, target: Target) -> Response:
        resource, store = target.resource, self._store
        predicates = selected(request)
        namespace = target.namespace if resource.namespaced else None
        prefix = _prefix(resource)

        def line_of(kind: str, entry: Entry) -> bytes:
            shown = prefix + entry.tail
            if tables.is_asked_for(request):
                shown = tables.as_table(json.loads(shown), request)
            return b'{"type":"%s","object":' % kind.encode() + shown + b"}\n"

        def seen(event: Event) -> bytes | None:
            if event.type == "ERROR":
                return b'{"type":"ERROR","object":{' + event.new.tail + b"}\n"
            if event.plural != resource.plural or namespace not in (None, event.namespace):
                return None
            was = event.old is not None and all(p(event.old.obj) for p in predicates)
            if event.type != "DELETED" and all(p(event.new.obj) for p in predicates):
                return line_of("MODIFIED" if was else "ADDED", event.new)
            return line_of("DELETED", event.new) if was else None

        seconds = float(request.query.get("timeoutSeconds") or 0) or None
        version = int(request.query.get("resourceVersion") or 0)
        if not version:
            lines = [line_of("ADDED", entry) for entry in self._chosen(request, target)]
        else:
            after = [event for event in store.history if event.version > version]
            if version < store.oldest:
                after, seconds = [store.too_old(version)], 0
            lines = [line for line in map(seen, after) if line]
        return Response(200, stream=Watch(store, seen, lines, seconds))
