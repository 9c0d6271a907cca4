# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compiles the collection and a wheel as the build of the image does, without a build."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.job.around import give_packages
from tests.tools.env import ROOT

_ISOLATED = [sys.executable, "-I", "-S", "-OO"]
_CHECKSUM = """
import sys
sys.path.insert(0, sys.argv[1])
import google_crc32c
print(google_crc32c.value(b"123456789"), google_crc32c.__file__)
"""


@pytest.mark.nightly
def test_the_wheel_lies_beside_the_program_and_only_what_is_loaded_stays(tmp_path: Path) -> None:
    tree = tmp_path / "job"
    plugins = tree / "ansible_collections/hyperfleet/pull_secret/plugins"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "plugins/module_utils", plugins / "module_utils", ignore=ignored)
    for name in ("main.py", "compile.py"):
        shutil.copy(ROOT / "extensions/job" / name, tree)
    give_packages(tmp_path / "wheel")
    (tree / "wheels").mkdir()
    archive = shutil.make_archive(str(tmp_path / "google_crc32c-0-any"), "zip", tmp_path / "wheel")
    shutil.copy(archive, tree / "wheels" / "google_crc32c-0-any.whl")

    command = tmp_path / "bin" / "pullsecret-job"
    # Compile Python's own files into a directory of this test.
    compiled = ["-X", f"pycache_prefix={tmp_path / 'compiled'}"]
    subprocess.run([*_ISOLATED, *compiled, str(tree / "compile.py"), str(command)], check=True, timeout=120)

    assert not (tree / "wheels").exists()
    assert not (tree / "compile.py").exists()
    kept = {str(path.relative_to(plugins / "module_utils")) for path in plugins.rglob("*.py")}
    assert "clients/google/plain.py" in kept
    assert not [name for name in kept if name.startswith(("programs/syncer/", "places/kubelet/"))]
    checksum = [*_ISOLATED, "-c", _CHECKSUM, str(tree)]
    said = subprocess.run(checksum, capture_output=True, text=True, check=True, timeout=60).stdout.split()
    assert said == ["3808858755", str(tree / "google_crc32c/__init__.py")]
    run = subprocess.run([str(command)], env={}, capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == 2
    assert "CLUSTER_ID" in json.loads(run.stdout)["message"]
