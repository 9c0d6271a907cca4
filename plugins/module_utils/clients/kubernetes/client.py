# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The few Kubernetes calls that are needed, over the official client's transport.

The client provides kubeconfigs, exec plugins, token rotation, TLS and proxies. Requests use plain paths and
plain JSON: the models (0.65 s of imports) and a discovery request are not needed for a few kinds.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from ...model.errors import (
    ConfigurationError,
    NotFound,
    PermissionDenied,
    PullSecretError,
    TimedOut,
    Unavailable,
)
from ...model.naming import MANAGED_BY
from ...runtime.calls import Call, Calls, kubernetes_operation
from ...runtime.pages import all_pages
from ...runtime.retry import Deadline
from ...runtime.run_settings import RunSettings
from ...runtime.transport import Forbidden, Late, Transport
from ...runtime.waiting import within
from ..pool import ClientPool
from .addresses import is_forbidden
from .connection import Connection, check_address, describe_api_server, kubernetes_connection
from .embedded import astray, parse_embedded
from .errors import NamespaceMissing, Overtaken, decode_answer, distrust, mark_error
from .library import import_library
from .paths import list_path, object_path, plural_of

if TYPE_CHECKING:
    from .kubeconfig import Kubeconfigs

__all__ = ["KubernetesClient", "KubernetesClients"]

# Enough to hold a page of 3 kB secrets in memory twice.
_PAGE = 500
_JSON = "application/json"
_METADATA = f"{_JSON};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,{_JSON}"
_MERGE_PATCH = "application/merge-patch+json"
_APPLY_PATCH = "application/apply-patch+yaml"
# Of one object, or of an error: the largest that the API server stores has 1.5 MiB.
_LARGEST = 16 << 20


class KubernetesClient:
    """One connection.  Thread-safe."""

    def __init__(self, connection: Connection, settings: RunSettings, kubeconfigs: Kubeconfigs) -> None:
        # Not at the top of the file: see import_library, which has been run. A client of the pod needs none of it.
        from kubernetes.client.rest import RESTClientObject
        from urllib3.exceptions import HTTPError

        from .configuration import configure

        self._transport_error = HTTPError
        self.connection = connection
        self._settings = settings
        named = connection.embedded.name if connection.embedded else connection.context
        self._prefix = f"{named}:" if named else ""
        self._configuration, self._plugin = configure(connection, settings.concurrency, kubeconfigs)
        self._host = str(self._configuration.host).rstrip("/")
        url = check_address(self._host, "kubernetes.host or the kubeconfig's server")
        # Without the rest of the URL.
        self._address = f"{url.host}:{url.port or {'https': 443}.get(url.scheme, 80)}"
        try:
            pool = RESTClientObject(self._configuration).pool_manager
        except Exception as error:  # noqa: BLE001 - urllib3's, and of what a kubeconfig should not hold
            raise ConfigurationError(
                f"no connection to {self._address}: the settings of {describe_api_server(connection)} "
                f"cannot be used ({type(error).__name__})",
                f"check {connection.proxy_setting()}",
            ) from None
        if connection.embedded is not None and url.scheme == "https":
            pool.connection_pool_kw["ssl_context"] = connection.embedded.trust()
        if connection.embedded is not None and self._configuration.proxy:
            connection.embedded.check_beyond_proxy()
        # A kubeconfig that was read from a Secret belongs to another owner.
        self._transport = Transport(self._host, pool, forbidden=is_forbidden if connection.embedded else None)

    def close(self) -> None:
        """Close idle connections; the next call opens another."""
        self._transport.close()

    def place(self, namespace: str, kind: str, name: str) -> str:
        """The printable name of an object; kinds without a namespace have an empty one."""
        return f"{self._prefix}{f'namespaces/{namespace}/' if namespace else ''}{plural_of(kind)}/{name}"

    def get(self, namespace: str, kind: str, name: str, deadline: Deadline) -> dict[str, Any] | None:
        """Return the object, or None if it does not exist."""
        path, place = object_path(namespace, kind, name), self.place(namespace, kind, name)
        try:
            return self._json("GET", path, place, deadline, waits=False)
        except (NamespaceMissing, NotFound):
            return None

    def has_namespace(self, name: str, deadline: Deadline) -> bool:
        """Return whether a namespace of this name exists, also if it is being deleted."""
        return self.get("", "namespaces", name, deadline) is not None

    def list_all(
        self,
        kind: str,
        selector: str,
        deadline: Deadline,
        namespace: str | None = None,
        *,
        page: int = _PAGE,
        largest: int | None = None,
        metadata_only: bool = False,
    ) -> Iterator[dict[str, Any]]:
        """Yield every object of a kind that matches the label selector, page by page.

        :param namespace: None means all, and is for kinds without a namespace.
        :param page: maximum objects of a page, of at most ``largest`` bytes.
        :param metadata_only: only metadata are needed, and a server that can leaves out the rest.
        :raises NotFound: the API server does not know the kind.
        :raises PullSecretError: a page is larger, or the list does not end.
        """
        path = list_path(namespace, kind)
        where = self.place(namespace or "", kind, "").rstrip("/")
        query = [("labelSelector", selector), ("limit", str(page))]
        accept = _METADATA if metadata_only else _JSON

        def one(token: str) -> tuple[list[dict[str, Any]], Any]:
            asked = [*query, ("continue", token)] if token else query
            answer, headers = self._ask(
                "GET", path, where, deadline, query=asked, accept=accept, largest=largest
            )
            following = None if _is_whole(headers) else (answer.get("metadata") or {}).get("continue")
            return answer.get("items") or [], following

        return all_pages(one, f"GET {where}")

    def create(
        self,
        namespace: str,
        kind: str,
        body: Mapping[str, Any],
        deadline: Deadline,
        *,
        dry_run: bool = False,
        waits: bool = True,
    ) -> dict[str, Any]:
        """Create an object. Raises ``ObjectAlreadyExists``, or ``NamespaceMissing``.

        :param dry_run: the server checks everything and stores nothing.
        :param waits: whether to retry while the namespace is missing.
        """
        place, path = self.place(namespace, kind, str(body["metadata"]["name"])), list_path(namespace, kind)
        query = [("dryRun", "All")] if dry_run else []
        return self._json("POST", path, place, deadline, query=query, body=body, waits=waits)

    def patch(
        self, namespace: str, kind: str, name: str, body: Mapping[str, Any], deadline: Deadline
    ) -> dict[str, Any]:
        """Send a merge patch; with a ``resourceVersion`` in it the server refuses a stale one.

        :raises Overtaken: the object was changed or deleted since it was read.
        """
        place, path = self.place(namespace, kind, name), object_path(namespace, kind, name)
        try:
            return self._json("PATCH", path, place, deadline, body=body, content=_MERGE_PATCH)
        except NotFound as error:
            raise Overtaken(error.message) from None

    def discover(self, path: str, deadline: Deadline) -> dict[str, Any]:
        """Return the discovery of ``api/v1``, ``apis/GROUP`` or ``apis/GROUP/VERSION``. Raises ``NotFound``."""
        return self._json("GET", f"/{path}", f"{self._prefix}{path}", deadline)

    def apply(
        self,
        namespace: str,
        kind: str,
        body: Mapping[str, Any],
        deadline: Deadline,
        *,
        dry_run: bool,
        subresource: str = "",
    ) -> dict[str, Any]:
        """Apply a manifest, or its subresource, as ``kubectl apply --server-side --force-conflicts`` does."""
        name = str(body["metadata"]["name"])
        query = [("fieldManager", MANAGED_BY), ("force", "true"), *([("dryRun", "All")] if dry_run else [])]
        place, path = self.place(namespace, kind, name), object_path(namespace, kind, name, subresource)
        return self._json(
            "PATCH", path, place, deadline, query=query, body=body, content=_APPLY_PATCH, waits=False
        )

    def delete(
        self,
        namespace: str,
        kind: str,
        name: str,
        preconditions: Mapping[str, str],
        deadline: Deadline,
        *,
        propagation: str | None = None,
    ) -> bool:
        """Delete exactly the object that was read; False if it did not exist.

        :param propagation: ``Foreground``: it stays until its dependents are gone; ``Background``: it is
            deleted first. None is the server's default, which leaves a Job's pods.
        """
        body: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": dict(preconditions),
        }
        if propagation:
            body["propagationPolicy"] = propagation
        try:
            self._json(
                "DELETE",
                object_path(namespace, kind, name),
                self.place(namespace, kind, name),
                deadline,
                body=body,
            )
        except NotFound:
            return False
        return True

    def _json(self, method: str, path: str, place: str, deadline: Deadline, **options: Any) -> dict[str, Any]:
        return self._ask(method, path, place, deadline, **options)[0]

    def _ask(
        self,
        method: str,
        path: str,
        place: str,
        deadline: Deadline,
        *,
        query: Sequence[tuple[str, str]] = (),
        body: Mapping[str, Any] | None = None,
        content: str = _JSON,
        accept: str = _JSON,
        largest: int | None = _LARGEST,
        waits: bool = True,
    ) -> tuple[dict[str, Any], Mapping[str, str]]:
        """The object that is answered, and the headers."""
        target = path + ("?" + urlencode(query) if query else "")
        sent = json.dumps(body).encode() if body is not None else None
        where = f"{method} {place}"
        operation = kubernetes_operation(method, path)
        unanswered = False

        def attempt(timeout: float) -> tuple[dict[str, Any], Mapping[str, str]]:
            nonlocal unanswered
            try:
                with self._settings.calls.timed(Calls.KUBERNETES, operation, deadline.calls) as call:
                    return once(timeout, call)
            except PullSecretError as error:
                unanswered = mark_error(error, unanswered=unanswered, waits=waits)
                raise

        def once(timeout: float, call: Call) -> tuple[dict[str, Any], Mapping[str, str]]:
            try:
                headers = {"Accept": accept, "Content-Type": content, **self._authorization(timeout)}
                answer = self._transport.request(
                    method,
                    target,
                    headers=self.connection.acting_as(headers),
                    body=sent,
                    seconds=timeout,
                    largest=largest,
                )
                call.status = answer.status
            except Forbidden:
                raise astray(where) from None
            except Late:
                raise Unavailable(
                    f"{where}: the answer of the API server {self._address} was not complete within api_timeout"
                ) from None
            except self._transport_error as error:
                # urllib3's message holds an object's address and sometimes the URL; its type is enough.
                raise self._no_answer(error, where) from None
            return decode_answer(answer, method, place, largest), answer.headers

        return self._settings.retrier.call(attempt, deadline=deadline, api_timeout=self._settings.api_timeout)

    def _no_answer(self, error: Exception, where: str) -> PullSecretError:
        reason = distrust(error)
        if reason is None:
            message = f"{where}: no answer from the API server {self._address} ({type(error).__name__})"
            return Unavailable(message, "check that it runs and that this machine can reach it")
        return ConfigurationError(
            f"{where}: the certificate of the API server {self._address} is not trusted ({reason})",
            self.connection.trust_hint(),
        )

    def _authorization(self, seconds: float) -> dict[str, str]:
        # Requested for each call: tokens of exec plugins and service accounts rotate.
        try:
            settings = (
                within(
                    seconds,
                    self._configuration.auth_settings,
                    TimedOut(f"no token for {self._address} in {seconds:g} s (does an exec plugin hang?)"),
                )
                if self._plugin
                else self._configuration.auth_settings()
            )
            token = (settings.get("BearerToken") or {}).get("value")
        except PullSecretError:
            raise
        except Exception as error:  # noqa: BLE001 - an exec plugin may raise anything
            why = f"no token for {self._address} ({type(error).__name__})"
            raise PermissionDenied(why, self.connection.token_hint()) from None
        # Files and plugins often end it with a line break.
        token = str(token or "").strip()
        if not (token.isascii() and token.isprintable()):
            raise PermissionDenied(
                f"the token for {self._address} has a character that no HTTP header can carry",
                self.connection.token_hint(),
            )
        return {"Authorization": token} if token else {}


def _is_whole(headers: Mapping[str, str]) -> bool:
    """Return whether a list comes from the cache of the Ansible Operator's proxy.

    It holds every object, ignores ``limit``, and has a ``continue`` that leads to the same list again.
    """
    return (headers.get("x-cache") or "").strip().upper() == "HIT"


class KubernetesClients:
    """The clients of one module run, by context and kubeconfig."""

    def __init__(self, settings: RunSettings) -> None:
        self._settings = settings
        plain = bool(settings.connection("kubernetes").get("plain"))
        # Thousands of targets have the same, and the environment is the same for the whole run.
        self._connection = cache(partial(kubernetes_connection, settings.connection("kubernetes")))
        self._pool: ClientPool[Connection, KubernetesClient] = ClientPool(
            _maker(settings, plain),
            imports=(lambda: None) if plain else import_library,
            seconds=settings.timeout,
            describe=describe_api_server,
            hint=" (does an exec plugin hang?)",
        )

    def get(
        self, deadline: Deadline, context: str | None = None, kubeconfig: str | None = None
    ) -> KubernetesClient:
        """Return the client of this context (None: the module's own)."""
        return self._pool.get(self._connection(context, kubeconfig), deadline)

    def other(
        self, deadline: Deadline, context: str | None = None, kubeconfig: str | None = None
    ) -> KubernetesClient:
        """As ``get``; but the module's own context is not used with another kubeconfig."""
        if not kubeconfig:
            return self.get(deadline, context)
        closed = self._settings.connection("kubernetes").get("k8s_auth")
        connection = kubernetes_connection({"k8s_auth": closed, "kubeconfig": kubeconfig})
        return self._pool.get(replace(connection, context=context), deadline)

    def release(self, client: KubernetesClient) -> None:
        """Close and forget a client that nobody else is known to use: thousands would not fit one process."""
        self._pool.drop(client.connection)
        client.close()

    def embedded(self, document: bytes, name: str, where: str, deadline: Deadline) -> KubernetesClient:
        """Return the client of a kubeconfig that was read from a Secret, without touching the disk.

        :param name: the cluster's name for messages.
        :param where: the kubeconfig's printable name.
        :raises ConfigurationError: it holds more than addresses and credentials.
        """
        return self._pool.get(Connection(embedded=parse_embedded(document, name, where)), deadline)


def _maker(settings: RunSettings, plain: bool) -> Callable[[Connection], KubernetesClient]:
    """Return the maker of a client; each kind loads only what it needs."""
    if plain:
        from .pod import PodClient

        return lambda connection: PodClient(connection, settings)
    from .kubeconfig import Kubeconfigs

    kubeconfigs = Kubeconfigs()
    return lambda connection: KubernetesClient(connection, settings, kubeconfigs)
