# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files the servers read: tokens, keys, the audit policy, who may come without a token."""

from __future__ import annotations

import json
from pathlib import Path

from tests.lab.supervisor import write_private

# Anonymous requests reach the health and version paths only; all others are 401 without a token.
_AUTHENTICATION = {
    "apiVersion": "apiserver.config.k8s.io/v1",
    "kind": "AuthenticationConfiguration",
    "anonymous": {
        "enabled": True,
        "conditions": [{"path": path} for path in ("/healthz", "/livez", "/readyz", "/version")],
    },
}


def write_tokens(path: Path, admin: str, viewer: str, nodes: dict[str, str]) -> Path:
    """``nodes`` is each kubelet's token, by the name of its node."""
    lines = [f'{admin},admin,admin,"system:masters"', f'{viewer},viewer,viewer,"viewers"']
    lines += [
        f'{token},system:node:{name},system:node:{name},"system:nodes"' for name, token in nodes.items()
    ]
    return write_private(path, "\n".join(lines) + "\n")


def write_authentication(path: Path) -> Path:
    return write_private(path, json.dumps(_AUTHENTICATION))


def write_audit_policy(path: Path) -> Path:
    """The log names each request; the levels above hold Secrets."""
    policy = {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [{"level": "Metadata"}],
    }
    return write_private(path, json.dumps(policy))


def write_signing_key(path: Path) -> Path:
    """The key that signs service account tokens."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    return write_private(path, pem)
