# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A client for the suite: raw requests through the kubernetes client's own connection pool."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import urlencode

import kubernetes.client
from kubernetes.client.rest import RESTClientObject

from tests.lab.session import KubernetesEnv
from tests.support.docker_configs import KEY, TYPE, encoded

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

PROTECTED = "hyperfleet.example/held"

Body = dict[str, Any]


def unb64(text: str) -> str:
    return base64.b64decode(text).decode()


DOCKER_CONFIG = '{"auths":{"registry.example.com":{"username":"example-user","password":"example-password"}}}'


def secret(name: str, **fields: Any) -> Body:
    """A Secret's body; ``labels``, ``annotations`` and the like go to its metadata."""
    top: Body = {k: fields.pop(k) for k in ("data", "stringData", "type", "immutable") if k in fields}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, **fields}, **top}


def pull_secret(name: str, document: str = DOCKER_CONFIG, **metadata: Any) -> Body:
    return secret(name, type=TYPE, data={KEY: encoded(document)}, **metadata)


class Answer:
    """A status code and the decoded body (text when it is not JSON)."""

    def __init__(self, code: int, raw: bytes) -> None:
        self.code = code
        self.text = raw.decode()
        try:
            self.body: Any = json.loads(raw)
        except ValueError:
            self.body = None

    def ok(self) -> Body:
        """The object of a 2xx answer."""
        assert 200 <= self.code < 300, f"{self.code}: {self.text}"
        found: Body = self.body
        return found

    def refused(self, code: int, reason: str | None) -> Body:
        """The ``Status`` of a refusal, after checking what all of them have; reason None: it has none."""
        assert self.code == code, f"{self.code}: {self.text}"
        status: Body = self.body
        assert status["kind"] == "Status"
        assert status["apiVersion"] == "v1"
        assert status["status"] == "Failure"
        assert status["code"] == code
        assert status.get("reason") == reason
        assert status["message"]
        return status


class Client:
    """One user of the server."""

    def __init__(self, env: KubernetesEnv, token: str | None, acting_as: str = "") -> None:
        self.configuration = kubernetes.client.Configuration()
        self.configuration.host = env.url
        self.configuration.ssl_ca_cert = env.ca_file
        self.configuration.verify_ssl = env.ca_file is not None
        # One attempt a request: a hidden retry would hide a broken connection.
        self.configuration.retries = 0
        if token is not None:
            self.configuration.api_key = {"authorization": f"Bearer {token}"}
        self._pool = RESTClientObject(self.configuration).pool_manager
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        if acting_as:
            self._headers["Impersonate-User"] = acting_as

    def api(self) -> kubernetes.client.ApiClient:
        return kubernetes.client.ApiClient(self.configuration)

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        content_type: str = JSON,
        accept: str = JSON,
        **query: Any,
    ) -> Answer:
        """Send one request; ``body`` is an object to encode, or text or bytes to send as they are."""
        headers = {**self._headers, "Accept": accept}
        if body is not None:
            headers["Content-Type"] = content_type
            body = body if isinstance(body, str | bytes) else json.dumps(body)
        url = f"{self.configuration.host}{path}" + (f"?{urlencode(query)}" if query else "")
        answer = self._pool.request(method, url, body=body, headers=headers, timeout=60)
        return Answer(answer.status, answer.data)

    def get(self, path: str, **query: Any) -> Answer:
        return self.call("GET", path, **query)

    def post(self, path: str, body: Any, **query: Any) -> Answer:
        return self.call("POST", path, body, **query)

    def put(self, path: str, body: Any, **query: Any) -> Answer:
        return self.call("PUT", path, body, **query)

    def patch(self, path: str, body: Any, content_type: str = MERGE_PATCH, **query: Any) -> Answer:
        return self.call("PATCH", path, body, content_type, **query)

    def delete(self, path: str, body: Any = None, **query: Any) -> Answer:
        return self.call("DELETE", path, body, **query)


class Place:
    """A namespace of a test's own, and the admin's client."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.client = client
        self.namespace = namespace
        self.root = f"/api/v1/namespaces/{namespace}"
        self.secrets = f"{self.root}/secrets"
        self.accounts = f"{self.root}/serviceaccounts"

    def at(self, name: str) -> str:
        return f"{self.secrets}/{name}"

    def made(self, body: Body) -> Body:
        """Create a Secret."""
        return self.client.post(self.secrets, body).ok()


def version(obj: Body) -> str:
    found: str = obj["metadata"]["resourceVersion"]
    return found


def causes(status: Body) -> list[tuple[str, str]]:
    """Field and reason of each cause of a 422, each once."""
    return list(dict.fromkeys((cause["field"], cause["reason"]) for cause in status["details"]["causes"]))


def names(listing: Body) -> list[str]:
    return [item["metadata"]["name"] for item in listing["items"]]
