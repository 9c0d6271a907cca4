# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One JSON request to a stand-in, or to the real server that it stands for, and its answer."""

from __future__ import annotations

import json
import ssl
from typing import Any

import urllib3

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
    usual = "application/merge-patch+json" if method == "PATCH" else "application/json"
    headers = {"Content-Type": content or usual, **({"Authorization": f"Bearer {token}"} if token else {})}
    sent = None if body is None else json.dumps(body)
    with urllib3.PoolManager(ssl_context=ca, retries=False, timeout=60) as pool:
        answer = pool.request(method, url + path, body=sent, headers=headers)
    # A Kubernetes API server answers with text outside of every API group.
    is_json = "json" in answer.headers.get("Content-Type", "")
    return answer.status, answer.json() if is_json and answer.data else answer.data.decode() or None
