# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""``python -m tests.bench.job``: the cost of a run of the job, from its image and as the playbook ``job``.

A run has nothing to change, as nearly all runs of a fleet. The image uses TLS for the API server, as in a pod. It
uses neither TLS nor tokens for Secret Manager's stand-in. The stand-ins are threads of this process and do not
count. CPU and time are the minimum of all runs, because other work of the machine only adds to them. Memory is the
maximum of the single process.
"""

from __future__ import annotations

import argparse
import os
import py_compile
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.bench.figures import Goal, conclude
from tests.stand_ins.kubeconfig import Cluster, write_kubeconfig
from tests.stand_ins.kubernetes import KubernetesLab
from tests.stand_ins.secret_manager import SecretManagerLab
from tests.support.job.around import REQUIRED, give_packages, start
from tests.support.job.program import Program

ROOT = Path(__file__).resolve().parents[2]
# Measured figures of the Go job of hyperfleet-api.
_CACHES = shutil.ignore_patterns("__pycache__")
GO = {"cpu_ms": 19.5, "wall_ms": 24.0, "peak_mib": 21.0}


def _tree(target: Path) -> list[str]:
    """Do the steps of the Containerfile, and return the command of its entry point."""
    collection = target / "ansible_collections/hyperfleet/pull_secret/plugins"
    shutil.copytree(ROOT / "plugins/module_utils", collection / "module_utils", ignore=_CACHES)
    for name in ("main.py", "compile.py"):
        shutil.copy(ROOT / "extensions/job" / name, target)
    give_packages(target)
    (target / "wheels").mkdir()
    isolated = [sys.executable, "-I", "-S", "-OO"]
    subprocess.run([*isolated, str(target / "compile.py")], check=True)
    # A pod has its service account in a directory of root; this process needs another directory.
    path = start(target)
    py_compile.compile(
        str(path), f"{path}c", doraise=True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )
    return [*isolated, f"{path}c"]


def _once(command: Sequence[str], environment: Mapping[str, str], cwd: Path) -> dict[str, float]:
    started, peak = time.monotonic(), 0.0
    with subprocess.Popen(command, cwd=cwd, env=dict(environment), stdout=subprocess.DEVNULL) as process:
        # The peak of wait4 is at least that of the parent, which is this process. So read /proc instead.
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            peak = max(peak, _peak(process.pid))
            time.sleep(0.005)
        process.returncode = os.waitstatus_to_exitcode(ended[1])
    if process.returncode:
        raise SystemExit(f"it ended with {process.returncode}")
    used = ended[2]
    return {
        "cpu_ms": 1000 * (used.ru_utime + used.ru_stime),
        "wall_ms": 1000 * (time.monotonic() - started),
        "peak_mib": peak,
    }


def _peak(pid: int) -> float:
    """Return the peak memory of one process in MiB; 0 if it has ended."""
    with open(f"/proc/{pid}/status", encoding="ascii") as stream:
        return next((int(line.split()[1]) / 1024 for line in stream if line.startswith("VmHWM")), 0.0)


def _least(command: Sequence[str], environment: Mapping[str, str], cwd: Path, runs: int) -> dict[str, float]:
    done = [_once(command, environment, cwd) for dummy in range(runs)]
    least = {name: round(min(one[name] for one in done), 1) for name in done[0]}
    return {**least, "peak_mib": round(max(one["peak_mib"] for one in done), 1)}


def main() -> int:
    """Measure, and print the goals that the image misses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--results", type=Path, default=Path("build/bench"))
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as name,
        SecretManagerLab() as store,
        KubernetesLab() as management,
    ):
        directory = Path(name)
        management.store.create_namespace(REQUIRED["MANAGEMENT_NAMESPACE"])
        program = Program(directory, store, management)
        program.message.touch()
        image = {**program.env, **REQUIRED}
        command = _tree(directory / "image")
        _once(command, image, directory)
        kubeconfig = directory / "kubeconfig"
        write_kubeconfig(kubeconfig, [Cluster("mgmt-1", management.url, management.admin_token)])
        playbook = {
            **os.environ,
            **REQUIRED,
            "KUBECONFIG": str(kubeconfig),
            "SECRET_MANAGER_EMULATOR_HOST": store.grpc,
            "ANSIBLE_STDOUT_CALLBACK": "hyperfleet.pull_secret.job_log",
        }
        found: dict[str, Any] = {
            "image": _least(command, image, directory, options.runs),
            "playbook": _least(
                [str(Path(sys.executable).parent / "ansible-playbook"), "hyperfleet.pull_secret.job"],
                playbook,
                ROOT,
                max(1, options.runs // 5),
            ),
            "go": GO,
        }
    goals = [
        Goal("CPU of a run of the image", found["image"]["cpu_ms"], 200.0, "ms"),
        Goal("its memory", found["image"]["peak_mib"], 28.0, "MiB"),
    ]
    conclude(options.results, "job", found, goals)
    return 0


if __name__ == "__main__":
    sys.exit(main())
