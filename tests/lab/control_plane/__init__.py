# Copyright: (c) 2026, HyperFleet contributors
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A real Kubernetes control plane: etcd, kube-apiserver, kube-controller-manager, with nodes a scheduler.

Needs Go for the first build, and no root.
"""

from __future__ import annotations

from tests.lab.control_plane.cluster import ControlPlane, Serving, State
from tests.lab.control_plane.lease import keep, leased

__all__ = ["ControlPlane", "Serving", "State", "keep", "leased"]
