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
import time
from pathlib import Path

from tests.lab.cache import made_once
from tests.lab.supervisor import LabError, run
from tests.tools import env

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


def binaries() -> Path:
    """Return the directory the binaries lie in, or will lie in."""
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        digest.update((HERE / name).read_bytes())
    digest.update("\0".join([*FLAGS, *PROGRAMS, platform.system(), platform.machine()]).encode())
    return env.CACHE / f"control-plane-{digest.hexdigest()[:16]}"


def build() -> Path:
    """Build what is not there yet, with a line a program; return the directory of the binaries."""
    return made_once(binaries().name, _build)


def _build(target: Path) -> None:
    go = shutil.which("go")
    if go is None:
        raise LabError("the real control plane is built from source and needs Go (1.24 or newer) on PATH")
    target.mkdir()
    print("control plane: the first build takes some minutes, later runs none", flush=True)
    for number, (name, package) in enumerate(PROGRAMS.items(), 1):
        started = time.monotonic()
        print(f"control plane: building {name} ({number}/{len(PROGRAMS)}) ...", flush=True)
        command = (go, "build", *FLAGS, "-o", str(target / name), package)
        run(*command, cwd=HERE, env={**os.environ, "CGO_ENABLED": "0"})
        size = (target / name).stat().st_size / 1e6
        print(f"control plane: {name}: {time.monotonic() - started:.0f} s, {size:.0f} MB", flush=True)
