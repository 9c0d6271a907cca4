# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Builds etcd, the three servers of Kubernetes, the kubelet and kubectl from their Go modules, once a machine.

The binaries lie outside the checkout, under a name made from ``go.mod``, ``go.sum`` and the build's flags;
what is there is never built again. A cold build takes about seven minutes on two cores.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import time
from pathlib import Path

from tests.lab.supervisor import LabError, locked

HERE = Path(__file__).resolve().parent
KUBERNETES_VERSION = "v1.34.4"
PROGRAMS = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
    "kubelet": "k8s.io/kubernetes/cmd/kubelet",
}
# A build without git knows no version; clients and the servers themselves read it.
LDFLAGS = f"-s -w -X k8s.io/component-base/version.gitVersion={KUBERNETES_VERSION}"
FLAGS = ["-trimpath", "-buildvcs=false", f"-ldflags={LDFLAGS}"]


def cache_root() -> Path:
    """Where this collection keeps what is costly to make."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "hyperfleet-pull-secret"


def binaries() -> Path:
    """Return the directory the binaries lie in, or will lie in."""
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        digest.update((HERE / name).read_bytes())
    digest.update("\0".join([*FLAGS, *PROGRAMS, platform.system(), platform.machine()]).encode())
    return cache_root() / f"control-plane-{digest.hexdigest()[:16]}"


def build() -> Path:
    """Build what is not there yet, with a line a program; return the directory of the binaries."""
    target = binaries()
    if target.is_dir():
        return target
    go = shutil.which("go")
    if go is None:
        raise LabError("the real control plane is built from source and needs Go (1.24 or newer) on PATH")
    with locked(cache_root() / "control-plane.lock"):
        if target.is_dir():  # another run built it while this one waited
            return target
        partial = target.with_name(f"{target.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        print("control plane: the first build takes some minutes, later runs none", flush=True)
        for number, (name, package) in enumerate(PROGRAMS.items(), 1):
            started = time.monotonic()
            print(f"control plane: building {name} ({number}/{len(PROGRAMS)}) ...", flush=True)
            _go_build(go, package, partial / name)
            size = (partial / name).stat().st_size / 1e6
            print(f"control plane: {name}: {time.monotonic() - started:.0f} s, {size:.0f} MB", flush=True)
        partial.rename(target)
    return target


def _go_build(go: str, package: str, output: Path) -> None:
    command = [go, "build", *FLAGS, "-o", str(output), package]
    done = subprocess.run(
        command, cwd=HERE, env={**os.environ, "CGO_ENABLED": "0"}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = "\n".join(done.stderr.splitlines()[-20:])
        raise LabError(f"go build {package} failed:\n{last}")
