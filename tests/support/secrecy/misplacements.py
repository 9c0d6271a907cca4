# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A docker config where it does not belong: in every option of every module."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.support.secrecy.canary import Canary

__all__ = ["TEXTS", "misplaced"]


def _login(canary: Canary) -> str:
    return f"{canary.entries[0].user}:{canary.entries[0].password}"


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


# In which form somebody pastes it.
TEXTS: Mapping[str, Callable[[Canary], str]] = {
    "compact": lambda canary: canary.text,
    "base64": lambda canary: base64.b64encode(canary.text.encode()).decode(),
    "indented": lambda canary: json.dumps(canary.document, indent=2),
    "lines": lambda canary: base64.encodebytes(canary.text.encode()).decode(),
    "auth": lambda canary: canary.entries[0].auth,
    "auth with a line break": lambda canary: _encoded(f"{_login(canary)}\n".encode()),
    "auth in Latin-1": lambda canary: _encoded(_login(canary).encode("latin-1")),
    "auth of a key file": lambda canary: _encoded(
        f"_json_key:{json.dumps({'private_key': canary.entries[0].password}, indent=2)}".encode()
    ),
    "auth in a sentence": lambda canary: f"refused: {canary.entries[0].auth}, see the log",
    "user and password": _login,
}

_NAMED = {
    "gcp_pull_secret": (
        "id project secret cluster_id cluster_name state replication kms_key restore_version adopt "
        "impersonate_service_account labels annotations retention locations location_kms_keys"
    ),
    "k8s_pull_secret": (
        "id namespace name cluster_id cluster_name state gcp_secret_path adopt immutable labels annotations "
        "service_accounts context kubeconfig"
    ),
    "pull_secret_info": (
        "id project secret namespace name cluster_id state problem digests impersonate_service_account "
        "context kubeconfig compare_source unlisted projects namespaces show_table"
    ),
    "dockerconfig_merge": "id state dest mode precedence policy drop images require_credentials",
    "kubelet_auth_sync": (
        "state path unit healthz systemd restart attempts backup rollback retry_failed backoff "
        "restart_timeout ready_timeout window lock_timeout precedence policy drop"
    ),
}
_RUN = ("concurrency", "timeout", "api_timeout", "retry", "digest_key", "gcp", "kubernetes", "hyperfleet")


def misplaced(module: str, secret: Any, document: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """(what, the options that replace those of a task that is right)."""
    for option in _NAMED[module].split():
        yield option, {option: secret}
    yield "an unknown option", {"souce": {"inline": document}}
    yield "an option's name", {secret: "x"}
    if module == "kubelet_auth_sync":
        yield from _shared(secret, document)
        return
    yield "targets", {"targets": secret}
    yield "a target", {"targets": [secret]}
    yield "an unknown option of a target", {"targets": [{"souce": document}]}
    if module == "dockerconfig_merge":
        for option in ("layer", "layers"):
            yield option, {option: secret, "source": None}
        yield "an image", {"images": [secret]}
        return
    if module == "pull_secret_info":
        yield "a project", {"projects": [secret], "unlisted": True}
        yield "a namespace", {"namespaces": [secret], "unlisted": True}
        yield from _shared(secret, document)
        return
    for option in ("labels", "annotations"):
        yield f"a value of {option}", {option: {"key": secret}}
        yield f"a key of {option}", {option: {secret: "x"}}
    if module == "k8s_pull_secret":
        yield "a service account", {"service_accounts": [secret]}
        return
    yield "retention.keep", {"retention": {"keep": secret}}
    yield "a location", {"replication": "user_managed", "locations": [secret]}
    yield "a location's key", {"location_kms_keys": {"europe-west1": secret}}
    yield from _shared(secret, document)


def _shared(secret: Any, document: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """What all modules have."""
    for option in _RUN:
        yield option, {option: secret}
    for option in ("tries", "delay"):
        yield f"retry.{option}", {"retry": {option: secret}}
    for option in ("transport", "endpoint", "credentials_file", "impersonate_service_account"):
        yield f"gcp.{option}", {"gcp": {option: secret}}
    for option in ("kubeconfig", "context", "host", "api_key", "ca_cert", "validate_certs"):
        reference = {"namespace": "sources", "name": "none"}
        yield f"kubernetes.{option}", {"kubernetes": {option: secret}, "source": {"kubernetes": reference}}
    for option in ("url", "token_file", "headers", "ca_cert"):
        reference = {"cluster_id": "cls-0"}
        yield f"hyperfleet.{option}", {"hyperfleet": {option: secret}, "source": {"hyperfleet": reference}}
    yield "a header", {"hyperfleet": {"headers": {"X-Tenant": secret}}}
    yield "source, a string", {"source": secret}
    yield "source, a mapping", {"source": document}
    yield "source, a list", {"source": [document]}
    yield "source, its registries", {"source": document["auths"]}
    for place in ("env", "file", "kubernetes", "gcp", "hyperfleet", "unknown"):
        yield f"source.{place}", {"source": {place: secret}}
    yield "source.unknown, a mapping", {"source": {"inlin": document}}
    yield "source.file, a mapping", {"source": {"file": document}}
    yield "source.gcp, a mapping", {"source": {"gcp": document}}
    yield "source.field", {"source": {"field": secret, "file": "/nowhere"}}
    yield "two sources", {"source": {"inline": document, "file": "/nowhere"}}
    yield "inline, a list", {"source": {"inline": [document]}}
    yield "inline, a list of text", {"source": {"inline": [secret]}}
    for name in ("namespace", "name", "key", "context", "kubeconfig"):
        reference = {"namespace": "sources", "name": "none", name: secret}
        yield f"source.kubernetes.{name}", {"source": {"kubernetes": reference}}
    for name in ("project", "secret", "version", "impersonate_service_account"):
        reference = {"project": "project-1", "secret": "none", name: secret}
        yield f"source.gcp.{name}", {"source": {"gcp": reference}}
    yield "source.hyperfleet.cluster_id", {"source": {"hyperfleet": {"cluster_id": secret}}}
    yield "layers", {"layers": secret, "source": None}
    yield "a layer", {"layers": [secret], "source": None}
    good = {"name": "one", "source": {"inline": document}}
    for name in ("name", "source", "optional"):
        yield f"a layer's {name}", {"layers": [{**good, name: secret}], "source": None}
    yield "source and layers", {"layers": [good]}
    yield "precedence", {"precedence": secret}
    yield "policy", {"layers": [good], "source": None, "policy": secret}
    yield "a policy's layer", {"layers": [good], "source": None, "policy": {"r0.example": secret}}
    yield "a policy's registry", {"layers": [good], "source": None, "policy": {secret: "one"}}
    yield "drop", {"layers": [good], "source": None, "drop": [secret]}
