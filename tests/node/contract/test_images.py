# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The images that the lab builds run on its nodes."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from tests.lab.images import build_syncer, pause_archive, small_image
from tests.lab.nodes.cluster import ClusterLab
from tests.lab.nodes.kubelet import PAUSE
from tests.lab.supervisor import wait_until

pytestmark = pytest.mark.real("nodes", "go")

CONTAINERFILE = """ARG BASE
FROM ${BASE}
COPY extensions/syncer/main.py /main.py
COPY build/wheels/jeepney-*.whl /tmp/
RUN python3 -m zipfile -e /tmp/jeepney-*.whl /packages
ENTRYPOINT ["python3", "-I", "/main.py"]
"""
PROGRAM = """import http.client, json, os, ssl, sys
sys.path.append("/packages")
import jeepney
print(json.dumps({"version": jeepney.__version__, "uid": os.getuid(), "name": os.environ["NODE_NAME"]}))
"""


def config_digest(archive: Path) -> str:
    with tarfile.open(archive) as tar:
        manifest = tar.extractfile("manifest.json")
        assert manifest
        return str(json.load(manifest)[0]["Config"])


def test_small_images_differ_and_come_out_the_same(tmp_path: Path) -> None:
    first, again = (small_image(tmp_path / name, "private/app:1") for name in ("first", "again"))
    other = small_image(tmp_path / "other", "private/app:2")
    assert first.read_bytes() == again.read_bytes()
    assert config_digest(first) != config_digest(other)
    assert pause_archive(PAUSE) == pause_archive(PAUSE)


@pytest.mark.nightly
def test_an_image_with_python_is_built_and_runs_without_any_right(
    cluster: ClusterLab, tmp_path: Path
) -> None:
    (tmp_path / "plugins" / "module_utils").mkdir(parents=True)
    syncer = tmp_path / "extensions" / "syncer"
    syncer.mkdir(parents=True)
    (syncer / "Containerfile").write_text(CONTAINERFILE)
    (syncer / "main.py").write_text(PROGRAM)
    archive = build_syncer(tmp_path)
    assert build_syncer(tmp_path) == archive
    image = cluster.registry.push(f"docker-archive:{archive}", "lab/python:1")
    archive.unlink()
    cluster.registry.set_account("tenant", "example-password")
    node = cluster.nodes[0]
    node.write(
        "/var/lib/kubelet/config.json", cluster.registry.docker_config("tenant", "example-password"), 0o600
    )
    node.run(["systemctl", "restart", "kubelet"], check=True)
    container = {
        "name": "main",
        "image": image,
        "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
        "securityContext": {
            "runAsUser": 0,
            "readOnlyRootFilesystem": True,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    cluster.run_pod("python", image, node=node.name, containers=[container], restartPolicy="Never")
    wait_until(lambda: cluster.phase("python") == "Succeeded", "the program to end")
    told = json.loads(cluster.api.log("default", "python"))
    assert told == {"version": told["version"], "uid": 0, "name": "node-1"}
