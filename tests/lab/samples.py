# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What ``make lab-seed`` puts into a running lab, so that each result of a run can be seen.

Namespaces for four clusters in mgmt-1, pull secret files and a list of the clusters in ``.lab/samples``, and a
secret in Secret Manager that another owner made.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlencode

import kubernetes.client
import kubernetes.config
import urllib3
import yaml

from tests.lab.supervisor import LabError, write_private

# Cluster → project; the names of the last two say how they end.
CLUSTERS = {
    "cls-123": "customer-prod-12345",
    "cls-456": "customer-dev-67890",
    "cls-foreign": "customer-shop-13579",
    "cls-broken": "customer-edge-24680",
}
FOREIGN = "hyperfleet-cls-foreign-pull-secret"
BROKEN_FILE = "broken-pull-secret.json"

_NEXT = """\
Try next, in a shell that has read .lab/env and activated .venv:
  ansible-playbook hyperfleet.pull_secret.provision -e @{samples}/clusters.yml --check --diff
  ansible-playbook hyperfleet.pull_secret.provision -e @{samples}/clusters.yml
  kubectl get secrets -n clusters-cls-123
  cp {samples}/rotated-pull-secret.json {samples}/pull-secret.json
    (the next run then rotates cls-123 and cls-456)
  python -m tests.lab put PROJECT SECRET < FILE
    (adds a version to a secret in Secret Manager)"""


def add_samples(directory: Path, kubeconfig: Path, secret_manager: str) -> str:
    """Write the files afresh, add what is missing in the lab; return what to tell the user."""
    samples = directory / "samples"
    samples.mkdir(mode=0o700, exist_ok=True)
    for name, document in _documents().items():
        write_private(samples / name, json.dumps(document, indent=2) + "\n")
    clusters = [_cluster(name, samples) for name in CLUSTERS]
    write_private(samples / "clusters.yml", yaml.safe_dump({"clusters": clusters}, sort_keys=False))
    namespaces = [cluster["management_namespace"] for cluster in clusters]
    for namespace in namespaces:
        add_namespace(kubeconfig, str(namespace))
    if not _exists(secret_manager, CLUSTERS["cls-foreign"], FOREIGN):
        labels = {"managed-by": "shop-team"}
        put(secret_manager, CLUSTERS["cls-foreign"], FOREIGN, b"kept by the shop team", labels)
    return "\n".join(
        [
            f"lab: files in {samples}, which only you can read:",
            "  pull-secret.json          a pull secret with example values",
            "  rotated-pull-secret.json  the same with another password",
            f"  {BROKEN_FILE}   its 'auth' is not base64",
            "  clusters.yml              the clusters below",
            f"lab: namespaces in mgmt-1: {', '.join(map(str, namespaces))}",
            "lab: cls-123 and cls-456 can be provisioned; cls-broken has the broken pull secret, and somebody else",
            f"  made the secret of cls-foreign: {FOREIGN} in {CLUSTERS['cls-foreign']}",
            _NEXT.format(samples=_shown(samples)),
        ]
    )


def put(
    secret_manager: str, project: str, secret: str, data: bytes, labels: Mapping[str, str] | None = None
) -> str:
    """Add a version to a secret in Secret Manager, made if it does not exist; return the version's name."""
    body = {"replication": {"automatic": {}}, "labels": dict(labels or {})}
    url = f"{secret_manager}/v1/projects/{project}/secrets"
    made = urllib3.request("POST", f"{url}?{urlencode({'secretId': secret})}", json=body)
    if made.status not in (HTTPStatus.OK, HTTPStatus.CONFLICT):
        raise LabError(_refusal(made))
    payload = {"payload": {"data": base64.b64encode(data).decode()}}
    added = urllib3.request("POST", f"{url}/{secret}:addVersion", json=payload)
    if added.status != HTTPStatus.OK:
        raise LabError(_refusal(added))
    return str(added.json()["name"])


def _documents() -> dict[str, object]:
    def document(auth: str) -> object:
        return {"auths": {"quay.io": {"auth": auth}}}

    def encoded(password: str) -> str:
        return base64.b64encode(f"example-user:{password}".encode()).decode()

    return {
        "pull-secret.json": document(encoded("example-password")),
        "rotated-pull-secret.json": document(encoded("another-example-password")),
        BROKEN_FILE: document("not-base64"),
    }


def _cluster(name: str, samples: Path) -> dict[str, object]:
    file = BROKEN_FILE if name == "cls-broken" else "pull-secret.json"
    return {
        "cluster_id": name,
        "gcp_project_id": CLUSTERS[name],
        "management_namespace": f"clusters-{name}",
        "source": {"file": str(samples / file)},
    }


def add_namespace(kubeconfig: Path, name: str) -> None:
    """Make a namespace in mgmt-1 unless it is there."""
    client = kubernetes.config.new_client_from_config(str(kubeconfig), context="mgmt-1")
    try:
        kubernetes.client.CoreV1Api(client).create_namespace(
            kubernetes.client.V1Namespace(metadata=kubernetes.client.V1ObjectMeta(name=name))
        )
    except kubernetes.client.ApiException as error:
        if error.status != HTTPStatus.CONFLICT:
            raise LabError(f"namespace {name}: {error.reason}") from None


def _exists(secret_manager: str, project: str, secret: str) -> bool:
    found = urllib3.request("GET", f"{secret_manager}/v1/projects/{project}/secrets/{secret}")
    return found.status == HTTPStatus.OK


def _refusal(answer: urllib3.BaseHTTPResponse) -> str:
    return f"Secret Manager: {answer.json()['error']['message']}"


def _shown(path: Path) -> Path:
    """As short as the reader can use it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
