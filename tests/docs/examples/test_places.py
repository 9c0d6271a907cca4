# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The examples of the plugins that merge, store and place one or more docker configs."""

from __future__ import annotations

import json
import os

import pytest

from tests.docs.examples.world import World, auths, config
from tests.stand_ins.secret_manager.protos import ENABLED

PROD = ("customer-prod-12345", "cls-123")
DEV = ("customer-dev-67890", "cls-456")
PLATFORM = auths(quay_io="platform", registry_redhat_io="platform")
TEAM = auths(quay_io="team", registry_example_com="team")
NODE = auths(registry_redhat_io="node")
KUBELET_FILE = "/var/lib/kubelet/config.json"
# It counts the restarts.
SYSTEMCTL = """#!/bin/sh
count=$(cat {count})
case $1 in
  show) printf 'LoadState=loaded\\nActiveState=active\\nSubState=running\\nResult=success\\nNRestarts=0\\n'
        printf 'ConditionResult=yes\\nType=notify\\nInvocationID=%s\\n' "$count" ;;
  restart) echo $((count + 1)) > {count} ;;
esac
"""


def write_files_to_merge(world: World) -> None:
    world.write("/etc/pull-secrets/platform.json", json.dumps({"auths": PLATFORM}))
    world.ansible.env["TEAM_PULL_SECRET"] = json.dumps({"auths": TEAM})
    world.path("/run/pull-secrets").mkdir(parents=True)


@pytest.mark.nightly
def test_modules_dockerconfig_merge(world: World) -> None:
    write_files_to_merge(world)
    run = world.path("/run/pull-secrets")

    done = world.example("Check a docker config")
    assert not done.result["changed"]
    assert set(done.result["targets"][0]["registries"]) == set(PLATFORM)
    assert world.variables["checked"]["targets"][0]["warnings"] == []
    assert not list(run.iterdir())

    done = world.example("Merge two docker configs, the team's wins but for quay.io")
    written = run / "merged.json"
    assert written.stat().st_mode & 0o777 == 0o600
    assert json.loads(written.read_text())["auths"] == {**TEAM, **PLATFORM}
    assert done.result["targets"][0]["registries"]["quay.io"] == "original"

    world.example("Tell which credential would pull the images of a deployment, and fail if there is none")
    rows = world.variables["pulled"]["targets"][0]["images"]
    assert [row["image"] for row in rows] == ["quay.io/team/app:1.4", "registry.redhat.io/ubi9/ubi"]
    for row, registry in zip(rows, PLATFORM, strict=True):
        answer = {"found": True, "registry": registry, "rule": "host", "layer": "file", "others": []}
        assert row["kubelet"] == row["containers_image"] == answer

    done = world.example("Delete the file; anything but a docker config would be left alone")
    assert done.result["targets"][0]["actions"] == ["deleted"]
    assert not list(run.iterdir())


@pytest.mark.nightly
def test_filter_credential_for(world: World) -> None:
    write_files_to_merge(world)
    done = world.example("Show the entry that kubelet would pull an image with")
    assert done.result["msg"]["kubelet"]["registry"] == "quay.io"

    done = world.example("Fail if CRI-O and Podman would pull an image without a credential", code=2)
    assert done.result["evaluated_to"] is False
    assert "example-password" not in done.output


@pytest.mark.nightly
def test_modules_gcp_pull_secret(world: World) -> None:
    spec = {"pullSecret": {"data": config(quay_io="hyperfleet")}}
    world.hyperfleet.store.seed([{"id": "cls-123", "name": "production-cluster", "spec": spec}])
    done = world.example("Store the pull secret of one cluster")
    assert done.result["changed"]
    assert world.versions(*PROD) == [auths(quay_io="hyperfleet")]
    expected = {"managed-by": "hyperfleet", "cluster-id": "cls-123", "cluster-name": "production-cluster"}
    assert world.stored(*PROD).message.labels.items() >= expected.items()

    world.store(*PROD, *(config(quay_io=f"version-{number}") for number in (2, 3, 4)))
    world.namespace("hyperfleet-system")
    world.put_secret("hyperfleet-system", "cluster-cls-123-pullsecret-data", config(quay_io="kubernetes"))
    world.write("/etc/pull-secrets/cls-456.json", config(quay_io="file"))
    done = world.example("Store the pull secrets of many clusters, each in its customer's project")
    assert done.result["summary"] == {"total": 2, "changed": 2, "failed": 0}
    assert world.versions(*PROD)[4:] == [auths(quay_io="kubernetes")]
    versions = world.stored(*PROD).versions
    assert [version.number for version in versions if version.state == ENABLED] == [3, 4, 5]
    assert world.versions(*DEV) == [auths(quay_io="file")]

    done = world.example("Go back to version 3")
    assert done.result["targets"][0]["version"] == "6"
    assert world.versions(*PROD)[5] == auths(quay_io="version-3")

    done = world.example("Remove the secret of a deleted cluster")
    assert done.result["changed"]
    assert world.stored(*DEV) is None
    assert len(world.versions(*PROD)) == 6


@pytest.mark.nightly
def test_modules_k8s_pull_secret(world: World) -> None:
    world.store(*PROD, config(quay_io="secret-manager"))
    world.namespace("clusters-cls-123")
    done = world.example("Give the management cluster what Secret Manager holds")
    assert done.result["changed"]
    assert world.placed("clusters-cls-123", "cls-123-pull-secret") == auths(quay_io="secret-manager")
    labels = world.secret("clusters-cls-123", "cls-123-pull-secret")["metadata"]["labels"]
    assert labels["cluster-name"] == "production-cluster"

    world.namespace("clusters-cls-456", "mgmt-2")
    world.write("/etc/pull-secrets/cls-456.json", config(quay_io="file"))
    done = world.example("Two management clusters in one task")
    assert [target["changed"] for target in done.result["targets"]] == [False, True]
    assert world.placed("clusters-cls-456", "cls-456-pull-secret", "mgmt-2") == auths(quay_io="file")
    assert world.secret("clusters-cls-456", "cls-456-pull-secret", "mgmt-1") is None

    world.namespace("team-a")
    write_files_to_merge(world)
    done = world.example("Merge two docker configs for a namespace and let its pods pull with them")
    assert done.result["changed"]
    assert world.placed("team-a", "team-pull-secret") == {**PLATFORM, **TEAM}
    account = world.clusters["mgmt-1"].store.find("serviceaccounts", "team-a", "default")
    assert account is not None
    assert account["imagePullSecrets"] == [{"name": "team-pull-secret"}]

    done = world.example("Remove the Secret of a deleted cluster")
    assert done.result["changed"]
    assert world.secret("clusters-cls-456", "cls-456-pull-secret", "mgmt-2") is None
    assert world.secret("clusters-cls-123", "cls-123-pull-secret") is not None


@pytest.mark.nightly
def test_modules_kubelet_auth_sync(world: World) -> None:
    """On a directory, with a ``systemctl`` that counts; this machine's kubelet is not touched."""
    file, count, systemctl = (world.path(one) for one in (KUBELET_FILE, "/run/count", "/usr/bin/systemctl"))
    world.write(KUBELET_FILE, json.dumps({"auths": NODE}))
    world.write("/run/count", "0")
    world.write("/usr/bin/systemctl", SYSTEMCTL.format(count=count))
    systemctl.chmod(0o755)
    world.ansible.env["PATH"] = f"{systemctl.parent}{os.pathsep}{os.environ['PATH']}"
    module = "hyperfleet.pull_secret.kubelet_auth_sync"
    world.defaults[module] = {"path": str(file), "healthz": "", "systemd": "systemctl", "window": 0}
    world.store(*PROD, config(quay_io="original"))
    world.put_secret("kube-system", "additional-pull-secret", config(ghcr_io="additional"))

    done = world.example("Update the file and restart kubelet")
    assert done.result["actions"] == ["written", "restarted"]
    assert json.loads(file.read_text())["auths"] == {
        **NODE,
        **auths(quay_io="original", ghcr_io="additional"),
    }
    assert int(count.read_text()) == 1

    world.write("/etc/pull-secrets/platform.json", config(quay_io="platform"))
    done = world.example("Write the file and let kubelet detect it within 5 minutes")
    assert done.result["actions"] == ["written"]
    assert done.result["restart"]["effective"] == "within 5 minutes"
    assert json.loads(file.read_text())["auths"] == {**NODE, **auths(quay_io="platform")}
    assert int(count.read_text()) == 1

    done = world.example("Remove our entries again")
    assert done.result["changed"]
    assert json.loads(file.read_text())["auths"] == NODE
    assert [path.name for path in file.parent.iterdir()] == ["config.json"]
    assert int(count.read_text()) == 2

    rotated = world.run({"name": "Rotate", module: {"source": {"file": "/etc/pull-secrets/platform.json"}}})
    assert rotated.result["actions"] == ["written", "restarted"]
    done = world.example("Go back to the previous file")
    assert done.result["actions"] == ["rolled back", "restarted"]
    assert json.loads(file.read_text())["auths"] == NODE
    assert int(count.read_text()) == 4
