# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One JSON request to a stand-in, or to the real server that it stands for, and its answer."""

from __future__ import annotations

import http.client
import json
import ssl
from typing import Any
from urllib.parse import urlsplit

__all__ = ["ask"]


def ask(
    url: str,
    method: str,
    path: str,
    body: Any = None,
    *,
    token: str = "",
    content: str = "",
    ca: ssl.SSLContext | None = None,
) -> tuple[int, Any]:
    """Send ``body`` as JSON; return the status and the decoded answer, a text where it is not JSON.

    :param content: the body's type; by default JSON, and a JSON merge patch for PATCH.
    :param ca: whom to trust where ``url`` is one of https.
    """
    address = urlsplit(url)
    connection = (
        http.client.HTTPSConnection(address.netloc, timeout=60, context=ca)
        if address.scheme == "https"
        else http.client.HTTPConnection(address.netloc, timeout=60)
    )
    usual = "application/merge-patch+json" if method == "PATCH" else "application/json"
    headers = {"Content-Type": content or usual, **({"Authorization": f"Bearer {token}"} if token else {})}
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        data = answer.read()
    finally:
        connection.close()
    # A Kubernetes API server answers with text outside of every API group.
    is_json = "json" in (answer.getheader("Content-Type") or "")
    return answer.status, json.loads(data) if is_json and data else data.decode() or None
