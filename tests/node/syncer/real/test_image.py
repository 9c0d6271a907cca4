# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The image that buildah builds, and its entry point."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytestmark = pytest.mark.real("nodes")


class Image(NamedTuple):
    """The image's files and its configuration."""

    root: Path
    config: dict[str, Any]

    def run(self, *options: str, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run the entry point in the image's files; the options are Python's."""
        python, *arguments = self.config["Entrypoint"]
        return subprocess.run(
            ["chroot", str(self.root), python, *options, *arguments],
            env={**dict(pair.split("=", 1) for pair in self.config["Env"]), **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    # Imported here: it needs root and Debian's packages, which the fast tests do without.
    from tests.lab.images import build_syncer, unpack

    directory = tmp_path_factory.mktemp("image")
    return Image(*unpack(build_syncer(), directory))


def test_it_runs_and_says_what_is_missing(image: Image) -> None:
    done = image.run(NODE_NAME="node-1")
    assert (done.returncode, done.stderr) == (2, "")
    assert json.loads(done.stdout)["why"] == "KUBERNETES_SERVICE_HOST is not set"


@pytest.mark.nightly
def test_nothing_is_compiled_when_it_starts(image: Image) -> None:
    """Otherwise every node would compile it at each start, and the process would keep the memory."""
    said = image.run("-v", NODE_NAME="node-1").stderr
    loaded = [line for line in said.splitlines() if line.startswith("# code object from")]
    assert len(loaded) > 60
    assert [line for line in loaded if not line.endswith(".pyc'")] == []


@pytest.mark.nightly
def test_it_holds_the_syncer_and_no_more_of_the_collection(image: Image) -> None:
    utils = image.root / "opt/syncer/ansible_collections/hyperfleet/pull_secret/plugins/module_utils"
    held = {str(path.relative_to(utils)) for path in utils.rglob("*.py")}
    layers = {"clients", "dockerconfig", "model", "places", "programs", "runtime"}
    assert {path.partition("/")[0] for path in held} == layers
    for layer, packages in (
        ("clients", {"kubernetes", "systemd"}),
        ("places", {"kubelet"}),
        ("programs", {"syncer"}),
    ):
        assert {path.split("/")[1] for path in held if path.startswith(f"{layer}/")} == packages
    assert {path for path in held if path.startswith("clients/kubernetes/")} == {
        "clients/kubernetes/service_account.py"
    }
    assert {path for path in held if path.startswith("runtime/")} == {
        "runtime/atomic_file.py",
        "runtime/clock.py",
        "runtime/wire.py",
    }
    assert not list((image.root / "opt/syncer").rglob("*.whl"))
    assert not (image.root / "opt/syncer/compile.py").exists()
    assert image.config["User"] == "0:0"
