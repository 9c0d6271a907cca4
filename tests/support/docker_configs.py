# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Made-up docker configs, and the Secrets that hold them."""

from __future__ import annotations

import base64
import json
from typing import Any

KEY = ".dockerconfigjson"
TYPE = "kubernetes.io/dockerconfigjson"


def encoded(text: str | bytes) -> str:
    data = text if isinstance(text, bytes) else text.encode()
    return base64.b64encode(data).decode()


def held(secret: dict[str, Any] | None) -> Any:
    """The docker config that a Secret holds."""
    assert secret is not None
    return json.loads(base64.b64decode(secret["data"][KEY]))


def auth(text: str) -> str:
    """An ``auth`` value for an example password."""
    return encoded(f"user:example-password-{text}")


def docker_config(**registries: str) -> dict[str, Any]:
    """``docker_config(quay_io="one")``: underscores stand for dots."""
    return {"auths": {name.replace("_", "."): {"auth": auth(text)} for name, text in registries.items()}}
