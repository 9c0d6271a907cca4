# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A small Kubernetes API server for the quickstart and fast tests.

It serves the kinds the collection meets (Secrets, ServiceAccounts, Namespaces, Events, Jobs, Pods …) with
the codes, reasons and messages of the real server, and is held to ``tests/kubernetes/contract``, which the
real kube-apiserver passes too. ``tests/stand_ins/README.md`` lists what it leaves out.
"""

from __future__ import annotations

from tests.stand_ins.kubernetes.faults import Call, Fault
from tests.stand_ins.kubernetes.lab import KubernetesLab

__all__ = ["Call", "Fault", "KubernetesLab"]
