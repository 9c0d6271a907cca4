# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Builds etcd, the three servers of Kubernetes, the kubelet and kubectl from their Go modules, once a machine.

A cold build takes about seven minutes on two cores.
"""

from __future__ import annotations

from pathlib import Path

from tests.lab.cache import made_once
from tests.lab.go_programs import GoPrograms

KUBERNETES_VERSION = "v1.34.4"
PROGRAMS = GoPrograms(
    name="control-plane",
    module=Path(__file__).resolve().parent,
    packages={
        "etcd": "go.etcd.io/etcd/server/v3",
        "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
        "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
        "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
        "kubectl": "k8s.io/kubernetes/cmd/kubectl",
        "kubelet": "k8s.io/kubernetes/cmd/kubelet",
    },
    # A build without git knows no version; clients and the servers themselves read it.
    ldflags=f"-s -w -X k8s.io/component-base/version.gitVersion={KUBERNETES_VERSION}",
)


def build() -> Path:
    """Build what is not there yet, with a line a program; return the directory of the binaries."""
    return made_once(PROGRAMS.cache_name, PROGRAMS.build)
