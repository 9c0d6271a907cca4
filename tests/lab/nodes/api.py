# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Requests to a control plane of the lab as its admin, for tests: objects in, objects out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import requests

from tests.lab.control_plane.cluster import State
from tests.lab.supervisor import LabError

Object = dict[str, Any]


class ApiError(LabError):
    """The server refused; ``code`` is its status."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code


class Api:
    """A client with one connection. Paths begin with /api or /apis."""

    def __init__(self, state: State, token: str | None = None) -> None:
        self.url = state.url
        self._session = requests.Session()
        self._session.trust_env = False  # no proxy lies between
        self._session.verify = state.ca_file
        self._session.headers["Authorization"] = f"Bearer {token or state.token}"

    def get(self, path: str, **parameters: str) -> Object:
        return self._send("GET", path, params=parameters)

    def find(self, path: str) -> Object | None:
        """Return the object, None when there is none of that name."""
        try:
            return self.get(path)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def items(self, path: str, **parameters: str) -> list[Object]:
        found: list[Object] = self.get(path, **parameters)["items"]
        return found

    def create(self, path: str, body: Object) -> Object:
        return self._send("POST", path, json=body)

    def apply(self, path: str, body: Object) -> Object:
        """Create the object of this path or give it these fields (server-side apply)."""
        kind = {"Content-Type": "application/apply-patch+yaml"}
        forced = {"fieldManager": "lab", "force": "true"}
        return self._send("PATCH", path, json=body, headers=kind, params=forced)

    def merge(self, path: str, body: Object) -> Object:
        """Give the object these fields (JSON merge patch)."""
        return self._send("PATCH", path, json=body, headers={"Content-Type": "application/merge-patch+json"})

    def replace(self, path: str, body: Object) -> Object:
        """Give the object these fields and no others."""
        return self._send("PUT", path, json=body)

    def delete(self, path: str, **parameters: str) -> bool:
        """Remove the object; return whether there was one."""
        try:
            self._send("DELETE", path, params=parameters)
        except ApiError as error:
            if error.code == 404:
                return False
            raise
        return True

    def log(self, namespace: str, pod: str) -> str:
        """What a pod's container wrote; it comes from its kubelet."""
        reply = self._session.get(f"{self.url}/api/v1/namespaces/{namespace}/pods/{pod}/log", timeout=60)
        if reply.status_code != 200:
            raise ApiError(reply.status_code, reply.text)
        return reply.text

    def _send(self, method: str, path: str, **options: Any) -> Object:
        headers: Mapping[str, str] = options.pop("headers", {})
        reply = self._session.request(method, self.url + path, headers=headers, timeout=60, **options)
        if reply.status_code >= 300:
            raise ApiError(reply.status_code, reply.text)
        answer: Object = reply.json()
        return answer
