# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Requests to answers: discovery, access, the reading verbs, and the hand-over to the writing ones."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import traceback
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping

from tests.stand_ins.http_server import Request, Response
from tests.stand_ins.kubernetes import protobuf, tables, writes
from tests.stand_ins.kubernetes.resources import Resource, discovery
from tests.stand_ins.kubernetes.routing import Target, User, authenticate, authorize, is_admin
from tests.stand_ins.kubernetes.selectors import Predicate, field_selector, label_selector
from tests.stand_ins.kubernetes.status import ApiError, named
from tests.stand_ins.kubernetes.store import Entry, Event, Store

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
SNAPSHOTS_KEPT = 64
ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

# Turns a change into the line a watcher sees, or None when it sees nothing.
EventLine = Callable[[Event], bytes | None]


class Watch:
    """A stream: the first ``lines``, then those of the events, for ``seconds`` or until the client goes.

    Made in the server's thread with the store's lock held, so that it misses no event. ``close`` ends it.
    """

    def __init__(self, store: Store, seen: EventLine, lines: list[bytes], seconds: float | None) -> None:
        self.seen = seen
        self.lines = lines
        self._store = store
        self._seconds = seconds
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[bytes] = asyncio.Queue()
        store.watchers.append(self._saw)

    def _saw(self, event: Event) -> None:
        line = self.seen(event)
        if line:
            # A test may write to the store from its thread.
            self._loop.call_soon_threadsafe(self._queue.put_nowait, line)

    def close(self) -> None:
        with self._store.lock, contextlib.suppress(ValueError):
            self._store.watchers.remove(self._saw)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._seconds is not None:
            self._loop.call_later(self._seconds, self._queue.put_nowait, b"")
        try:
            for line in self.lines:
                yield line
            while line := await self._queue.get():
                yield line
        finally:
            self.close()


def failure(error: ApiError, headers: Mapping[str, str] | None = None) -> Response:
    return Response(error.code, error.body(), headers=headers or {})


def _prefix(resource: Resource) -> bytes:
    return b'{"kind":"%s","apiVersion":"%s",' % (resource.kind.encode(), resource.api_version.encode())


def single(resource: Resource, entry: Entry, code: int = 200) -> Response:
    return Response(code, _prefix(resource) + entry.tail)


def _read_json(request: Request, kind: str) -> None:
    """Have the body in JSON; 415 when it is in no known format."""
    media_type = request.headers.get("content-type", JSON).partition(";")[0]
    if media_type == JSON:
        return
    found = protobuf.decode_body(request.body, kind) if media_type == protobuf.CONTENT_TYPE else None
    if found is None:
        raise ApiError(
            415,
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json",
        )
    request.body = json.dumps(found).encode()


def _review(request: Request, user: User) -> Response:
    """Answer ``kubectl auth can-i``."""
    _read_json(request, "SelfSubjectAccessReview")
    review = writes.parse_json(request, "SelfSubjectAccessReview")
    review["status"] = {"allowed": is_admin(user)}
    return Response(201, json.dumps(review).encode())


def _make_table(response: Response) -> None:
    watch = response.stream
    if not isinstance(watch, Watch):
        response.body = json.dumps(tables.as_table(json.loads(response.body))).encode()
        return
    seen = watch.seen

    def seen_as_table(event: Event) -> bytes | None:
        line = seen(event)
        return tables.tabled_line(line) if line else None

    watch.seen = seen_as_table
    watch.lines = [tables.tabled_line(line) for line in watch.lines]


class Api:
    """The API of one store. ``handle`` is called with the store's lock held."""

    def __init__(self, store: Store, tokens: dict[str, User], address: str) -> None:
        self.store = store
        self.tokens = tokens
        self.documents = discovery(address)
        # What remains of paged lists, by continue token: pages show one moment, as in the real server.
        self._pages: OrderedDict[str, tuple[int, list[Entry]]] = OrderedDict()

    def handle(self, request: Request, target: Target | None) -> tuple[Response, str]:
        """Return the answer and the name of the user ('' when unknown)."""
        name = ""
        try:
            user = authenticate(request, self.tokens)
            name = user.name if user else ""
            if user and (request.method, request.path) == ("POST", ACCESS_REVIEWS):
                return _review(request, user), name
            if user is None or target is None:
                return self._document(request), name
            authorize(user, target)
            response = self._resource(request, target)
            if target.verb in ("get", "list", "watch") and tables.is_asked_for(
                request.headers.get("accept", "")
            ):
                _make_table(response)
            return response, name
        except ApiError as error:
            return failure(error), name
        except Exception as error:  # noqa: BLE001 - a bug of the stand-in must not look like a network fault
            traceback.print_exc()
            return failure(ApiError(500, f"the stand-in failed: {type(error).__name__}")), name

    def _document(self, request: Request) -> Response:
        path = request.path.rstrip("/") or "/"
        if path in ("/healthz", "/livez", "/readyz"):
            return Response(200, b"ok", TEXT)
        if path in self.documents:
            return Response(200, self.documents[path])
        if any(path.startswith(f"{known}/") for known in self.documents if known != "/apis"):
            raise ApiError(404, "the server could not find the requested resource", details={})
        return Response(404, b"404 page not found\n", TEXT)

    def _resource(self, request: Request, target: Target) -> Response:
        store, resource, verb = self.store, target.resource, target.verb
        if verb not in resource.verbs:
            raise ApiError(405, "the server does not allow this method on the requested resource", details={})
        if verb in ("create", "update"):
            _read_json(request, resource.kind)
        if verb == "get":
            return single(resource, store.get(resource, target.space, target.name))
        if verb == "list":
            return self._list(request, target)
        if verb == "watch":
            return self._watch(request, target)
        if verb == "create":
            return single(resource, writes.create(store, target, request), 201)
        if verb == "update":
            return single(resource, writes.update(store, target, request))
        if verb == "patch":
            return single(resource, writes.patch(store, target, request))
        if verb == "delete":
            return self._delete(request, target)
        deleted = writes.delete_collection(store, target, request, self._chosen(request, target))
        return self._as_list(resource, deleted, self.store.version)

    def _delete(self, request: Request, target: Target) -> Response:
        resource = target.resource
        deleted = writes.delete(self.store, target, request)
        if not deleted.gone or resource.returns_deleted or resource.plural == "namespaces":
            return single(resource, deleted.entry)
        details = {
            **named(resource.qualified, target.name),
            "uid": deleted.entry.obj["metadata"]["uid"],
        }
        status = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": details,
        }
        return Response(200, json.dumps(status, separators=(",", ":")).encode())

    def _predicates(self, request: Request, target: Target) -> list[Predicate]:
        found = label_selector(request.query.get("labelSelector", ""))
        found += field_selector(request.query.get("fieldSelector", ""), target.resource)
        if target.name:
            found.append(lambda obj: obj["metadata"]["name"] == target.name)
        return found

    def _chosen(self, request: Request, target: Target) -> list[Entry]:
        predicates = self._predicates(request, target)
        entries = self.store.entries(
            target.resource, target.namespace if target.resource.namespaced else None
        )
        if not predicates:
            return list(entries)
        return [e for e in entries if all(p(e.obj) for p in predicates)]

    def _list(self, request: Request, target: Target) -> Response:
        try:
            limit = int(request.query.get("limit") or 0)
        except ValueError:
            limit_text = request.query["limit"]
            raise ApiError(400, f'strconv.ParseInt: parsing "{limit_text}": invalid syntax') from None
        token = request.query.get("continue", "")
        version, entries = (
            self._continued(token) if token else (self.store.version, self._chosen(request, target))
        )
        if limit <= 0 or len(entries) <= limit:
            return self._as_list(target.resource, entries, version)
        page, rest = entries[:limit], entries[limit:]
        last = page[-1].obj["metadata"]
        mark = {
            "v": "meta.k8s.io/v1",
            "rv": version,
            "start": f"{last.get('namespace', '')}/{last['name']}",
        }
        following = base64.urlsafe_b64encode(json.dumps(mark).encode()).decode().rstrip("=")
        self._pages[following] = version, rest
        while len(self._pages) > SNAPSHOTS_KEPT:
            self._pages.popitem(last=False)
        selected = request.query.get("labelSelector") or request.query.get("fieldSelector")
        return self._as_list(target.resource, page, version, following, 0 if selected else len(rest))

    def _continued(self, token: str) -> tuple[int, list[Entry]]:
        if token in self._pages:
            return self._pages[token]
        try:
            padded = token + "=" * (-len(token) % 4)
            known = "rv" in json.loads(base64.urlsafe_b64decode(padded))
        except (ValueError, TypeError):
            known = False
        if not known:
            raise ApiError(400, "continue key is not valid")
        raise ApiError(410, "The provided continue parameter is too old to display a consistent list result.")

    def _as_list(
        self, resource: Resource, entries: list[Entry], version: int, following: str = "", remaining: int = 0
    ) -> Response:
        metadata: dict[str, str | int] = {"resourceVersion": str(version)}
        if following:
            metadata["continue"] = following
        if remaining:
            metadata["remainingItemCount"] = remaining
        head = b'{"kind":"%sList","apiVersion":"%s","metadata":%s,"items":[' % (
            resource.kind.encode(),
            resource.api_version.encode(),
            json.dumps(metadata, separators=(",", ":")).encode(),
        )
        return Response(200, head + b",".join([b"{" + entry.tail for entry in entries]) + b"]}")

    def _watch(self, request: Request, target: Target) -> Response:
        resource, store = target.resource, self.store
        predicates = self._predicates(request, target)
        namespace = target.namespace if resource.namespaced else None
        prefix = _prefix(resource)

        def line_of(kind: str, entry: Entry) -> bytes:
            return b'{"type":"%s","object":' % kind.encode() + prefix + entry.tail + b"}\n"

        def seen(event: Event) -> bytes | None:
            if event.plural != resource.plural or namespace not in (None, event.namespace):
                return None
            was = event.old is not None and all(p(event.old.obj) for p in predicates)
            if event.type == "DELETED":
                return line_of("DELETED", event.new) if was else None
            now_in = all(p(event.new.obj) for p in predicates)
            if now_in:
                return line_of("MODIFIED" if was else "ADDED", event.new)
            return line_of("DELETED", event.new) if was else None

        version = request.query.get("resourceVersion", "")
        if version in ("", "0"):
            lines = [line_of("ADDED", entry) for entry in self._chosen(request, target)]
        elif not version.isdigit():
            parse = f'strconv.ParseUint: parsing "{version}": invalid syntax'
            raise ApiError(500, f'resourceVersion: Invalid value: "{version}": {parse}', reason="")
        elif int(version) < store.oldest:
            error = ApiError(410, f"too old resource version: {version} ({store.version})")
            lines = [b'{"type":"ERROR","object":' + error.body() + b"}\n"]
            return Response(200, stream=Watch(store, lambda _event: None, lines, 0))
        else:
            after = [e for e in store.history if e.version > int(version)]
            lines = [line for line in map(seen, after) if line]
        seconds = request.query.get("timeoutSeconds", "")
        timeout = float(seconds) if seconds.isdigit() and int(seconds) else None
        return Response(200, stream=Watch(store, seen, lines, timeout))
