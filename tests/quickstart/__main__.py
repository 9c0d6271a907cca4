# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``make quickstart``: a small fleet, provisioned against stand-ins, in four runs of the real playbook."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.stand_ins.kubernetes.lab import KubernetesLab
from tests.stand_ins.secret_manager.lab import SecretManagerLab

FLEET = Path(__file__).parent / "fleet"
CHECKOUT = Path(__file__).parents[2]
# Made by hand before the first run: a secret with the same name, of another owner.
FOREIGN = {
    "project": "customer-shop-13579",
    "secret": "hyperfleet-cls-b5f8-pull-secret",
    "labels": {"managed-by": "shop-team"},
    "versions": [{"data": "kept by the shop team"}],
}
ROTATED = "cls-81c2"
# ansible-playbook's exit code where a host failed.
FAILED = 2

NEXT = """
The same playbook on a real project and a real management cluster, with your own clusters:

  {activate}
  gcloud auth application-default login          # or Workload Identity, or GOOGLE_APPLICATION_CREDENTIALS
  export KUBECONFIG=~/.kube/management-cluster   # and no SECRET_MANAGER_EMULATOR_HOST
  ansible-playbook hyperfleet.pull_secret.provision -e clusters_dir=path/to/cluster-files/ --check --diff
  ansible-playbook hyperfleet.pull_secret.provision -e clusters_dir=path/to/cluster-files/

More: docs/docsite/rst/provision.rst has a list of clusters, the HyperFleet API as the source, roles and modules.
"""


class Seen(NamedTuple):
    """After a run: how it ended, versions by cluster, management secrets by cluster."""

    code: int
    versions: dict[str, int]
    secrets: dict[str, Any]


def main() -> int:
    """Run all steps; 0 if each did what it says."""
    with (
        tempfile.TemporaryDirectory(prefix="quickstart-") as home,
        SecretManagerLab() as store,
        KubernetesLab(tls=True) as mgmt,
    ):
        directory = Path(home)
        fleet = Path(shutil.copytree(FLEET, directory / "fleet"))
        store.seed([FOREIGN])
        mgmt.kubeconfig(directory / "kubeconfig")
        for cluster in clusters(fleet):
            mgmt.store.create_namespace(namespace(cluster))
        environment = {
            **os.environ,
            "SECRET_MANAGER_EMULATOR_HOST": store.grpc,
            "KUBECONFIG": str(directory / "kubeconfig"),
            "ANSIBLE_CONFIG": str(CHECKOUT / "ansible.cfg"),
            "ANSIBLE_LOCALHOST_WARNING": "False",
        }

        def step(title: str, *options: str) -> Seen:
            print(f"\n== {title}", flush=True)
            code = provision(fleet, environment, *options)
            return Seen(code, versions(store, fleet), secrets(mgmt, fleet))

        print(f"{len(clusters(fleet))} clusters, their files in tests/quickstart/fleet:")
        print("one has a broken pull secret, and in one project somebody else has a secret of that name.")
        checked = step("1. What would happen (--check): nothing is written", "--check")
        first = step("2. The first run: what can be provisioned is, and the two others say why they are not")
        again = step("3. The same again: nothing changes")
        rotate(fleet / "staging-cluster.json")
        after = step("4. The pull secret of cls-81c2 was rotated: exactly that one changes")
        checks = verdicts(checked, first, again, after)
    print()
    for text, right in checks.items():
        print(f"{'ok' if right else 'NOT OK'}: {text}")
    activate = f". {shlex.quote(os.path.relpath(sys.prefix, CHECKOUT))}/bin/activate"
    print(NEXT.format(activate=activate))
    return 0 if all(checks.values()) else 1


def verdicts(checked: Seen, first: Seen, again: Seen, after: Seen) -> dict[str, bool]:
    """What the four runs said they do, as it is found in both places."""
    stored = {name for name, count in first.versions.items() if count == 1}
    placed = {name for name, secret in first.secrets.items() if secret is not None}
    codes = [run.code for run in (checked, first, again, after)]
    new_versions, new_secrets = moved(again.versions, after.versions), moved(again.secrets, after.secrets)
    return {
        "every run ended with an error, since two clusters fail each time": codes == [FAILED] * 4,
        "--check wrote nothing": not any(checked.versions.values()) and not any(checked.secrets.values()),
        "the first run stored and placed the same three of five": len(stored) == 3 and stored == placed,
        "the second run changed neither a version nor a management secret": again == first,
        "the rotation added a version to exactly cls-81c2": new_versions == [ROTATED],
        "the rotation changed the management secret of exactly cls-81c2": new_secrets == [ROTATED],
    }


def moved(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The clusters that differ."""
    return sorted(name for name in after if after[name] != before[name])


def clusters(fleet: Path) -> list[dict[str, Any]]:
    """The clusters' files, parsed."""
    return [json.loads(path.read_text()) for path in sorted(fleet.glob("*.json"))]


def namespace(cluster: Mapping[str, Any]) -> str:
    """Where its management secret belongs: one of the fleet has been placed by hand."""
    placed = cluster.get("status")
    name = placed["adapters"]["placement"]["data"]["namespace"] if placed else f"clusters-{cluster['id']}"
    return str(name)


def provision(fleet: Path, environment: dict[str, str], *options: str) -> int:
    """One run of the playbook as a user starts it; its exit code."""
    command = [
        "ansible-playbook",
        "hyperfleet.pull_secret.provision",
        "-e",
        f"clusters_dir={fleet.name}/",
        *options,
    ]
    print("$ " + shlex.join(command), flush=True)
    program = Path(sys.executable).with_name("ansible-playbook")
    done = subprocess.run([str(program), *command[1:]], env=environment, cwd=fleet.parent, check=False)
    return done.returncode


def versions(store: SecretManagerLab, fleet: Path) -> dict[str, int]:
    """How many versions each cluster has in the store, not counting what others put there."""
    counted = {}
    for cluster in clusters(fleet):
        project = cluster["spec"]["gcp"]["projectId"]
        name = f"projects/{project}/secrets/hyperfleet-{cluster['id']}-pull-secret"
        counted[cluster["id"]] = count_versions(store, name)
    return counted


def secrets(mgmt: KubernetesLab, fleet: Path) -> dict[str, Any]:
    """What the management cluster holds of each cluster: a Secret's revision and data, or None."""
    found = {}
    for cluster in clusters(fleet):
        name = cluster["id"]
        secret = mgmt.store.find("secrets", namespace(cluster), f"{name}-pull-secret")
        found[name] = (secret["metadata"]["resourceVersion"], secret["data"]) if secret else None
    return found


def count_versions(store: SecretManagerLab, name: str) -> int:
    """Asked with Google's own client."""
    import grpc
    from google.cloud import secretmanager_v1
    from google.cloud.secretmanager_v1.services.secret_manager_service.transports import (
        SecretManagerServiceGrpcTransport,
    )

    channel = grpc.insecure_channel(store.grpc)
    client = secretmanager_v1.SecretManagerServiceClient(
        transport=SecretManagerServiceGrpcTransport(channel=channel)
    )
    secrets = {
        secret.name.rsplit("/", 1)[1]: secret for secret in client.list_secrets(parent=name.rsplit("/", 2)[0])
    }
    secret = secrets.get(name.rsplit("/", 1)[1])
    if secret is None or secret.labels.get("managed-by") != "hyperfleet":
        return 0
    return len(list(client.list_secret_versions(parent=secret.name)))


def rotate(path: Path) -> None:
    """Give the cluster in this file another password for quay.io."""
    cluster = json.loads(path.read_text())
    document = json.loads(cluster["spec"]["pullSecret"]["data"])
    document["auths"]["quay.io"] = {"username": "staging+puller", "password": "another-example-password"}
    cluster["spec"]["pullSecret"]["data"] = json.dumps(document)
    path.write_text(json.dumps(cluster, indent=2))


if __name__ == "__main__":
    sys.exit(main())
